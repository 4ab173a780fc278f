#include "pair_columns.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/search/outputs.hpp>

#include <string>

namespace nearfield::detail
{
  void check_bytes(std::uint64_t n_pairs, std::uint64_t bytes, std::uint64_t max_bytes)
  {
    if (bytes > max_bytes)
      throw error("radius_search: the result has " + std::to_string(n_pairs) + " pairs in " +
                      std::to_string(bytes) + " bytes, more than max_bytes, " +
                      std::to_string(max_bytes) + "; raise it, or use a smaller cutoff",
                  error_kind::out_of_memory);
  }

  void check_table_size(to_table const& what, std::uint64_t n)
  {
    if (what.width == 0) throw error("radius_search: the width of the table is 0; give 1 or more");
    std::uint64_t const row = sizeof(index_type) * (what.width + std::uint64_t(1));
    if (n > what.max_bytes / row)
      throw error("radius_search: the table of " + std::to_string(n) + " rows and width " +
                      std::to_string(what.width) + " takes " + std::to_string(n) + " x " +
                      std::to_string(row) + " bytes, max_bytes is " +
                      std::to_string(what.max_bytes) + "; raise it, or use a smaller width",
                  error_kind::out_of_memory);
  }

  template <class T, int Dim>
  void sort_rows(csr<T, Dim>& list, std::size_t first, std::size_t last)
  {
    row_sorter<T, Dim> sort(list);
    for (std::size_t i = first; i < last; ++i)
      sort(list.columns.data(), list.offsets[i], list.offsets[i + 1]);
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void sort_rows(csr<T, Dim>&, std::size_t, std::size_t);
  NEARFIELD_INSTANTIATE(float, 2)
  NEARFIELD_INSTANTIATE(float, 3)
  NEARFIELD_INSTANTIATE(double, 2)
  NEARFIELD_INSTANTIATE(double, 3)
#undef NEARFIELD_INSTANTIATE
}
