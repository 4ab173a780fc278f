#include "builtins.hpp"

#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  builtin_p2p const& scalar_builtins()
  {
    static constexpr builtin_p2p all = make_builtins(
        []<class K, class T>() { return scalar_kernels<K, T>(); }, builtin_interactions{});
    return all;
  }
}
