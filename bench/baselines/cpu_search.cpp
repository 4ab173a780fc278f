// Compiled once per instruction set: CPU_SEARCH_TABLE is the name of the only function that the library
// exports.

#include "cpu_search.hpp"

#include "cell_pairs.hpp"
#ifdef NEARFIELD_WITH_NANOFLANN
#include "nanoflann_pairs.hpp"
#endif

namespace baseline
{
  namespace
  {
    template <class T>
    constexpr cpu_search_functions<T> functions()
    {
#ifdef NEARFIELD_WITH_NANOFLANN
      return {&find_cell_pairs<T>, &find_nanoflann_pairs<T>};
#else
      return {&find_cell_pairs<T>, nullptr};
#endif
    }
  }

  cpu_search_table const& CPU_SEARCH_TABLE()
  {
    static constexpr cpu_search_table table{functions<float>(), functions<double>()};
    return table;
  }
}
