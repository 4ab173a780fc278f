// Which rooms the headers of are found with the include folders of a target: CMakeLists.txt says which should be.
#if __has_include(<nearfield/core/soa.hpp>) != SEES_core
#error "core"
#elif __has_include(<nearfield/p2p/p2p.hpp>) != SEES_kernels
#error "kernels"
#elif __has_include(<nearfield/tree/build_tree.hpp>) != SEES_tree
#error "tree"
#elif __has_include(<nearfield/search/pairs.hpp>) != SEES_search
#error "search"
#elif __has_include(<nearfield/scalfmm.hpp>) != SEES_adapters
#error "adapters"
#elif __has_include(<nearfield/io/points.hpp>) != SEES_io
#error "io"
#elif __has_include(<nearfield/starpu/runtime.hpp>) != SEES_runtime
#error "runtime"
#endif
