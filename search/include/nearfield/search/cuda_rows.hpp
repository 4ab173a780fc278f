#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfield::detail
{
  template <class T, int Dim>
  class device_cells;

  /// Searches on a GPU for a range of positions at a time, if the host has a cell list of the same points. It
  /// takes the grid of that list as it is, so a range of positions means the same points on both sides. It is
  /// made for tasks: results go to memory that the caller provides, and only building waits, for its own stream.
  ///
  /// The points are those that the host's list was built from; they are not checked again. Memory is that of a
  /// cuda_cell_list. One thread at a time may use an object, with the device of its stream as the current one.
  template <class T, int Dim>
  class NEARFIELD_API cuda_rows
  {
  public:
    using columns = soa<T const, Dim>;

    /// For one set, targets and sources are the same. Throws nearfield::error as cuda_cell_list does for the
    /// device and for the number of points.
    cuda_rows(cuda_stream stream, cell_grid<T, Dim> const& grid, columns const& targets,
              columns const& sources, bool one_set);
    ~cuda_rows();
    cuda_rows(cuda_rows const&) = delete;
    cuda_rows& operator=(cuda_rows const&) = delete;

    /// Sorts other points, or the same ones after they moved; arguments are those of the constructor.
    void rebuild(cell_grid<T, Dim> const& grid, columns const& targets, columns const& sources,
                 bool one_set);

    /// The same values are in these columns from now on.
    void bind(columns const& targets, columns const& sources);

    /// For the targets at positions [first, last): the row of position p takes the places
    /// [offsets[p - first], offsets[p - first + 1]). The last offset, the total, is also written to *size.
    void count(pairs which, index_type first, index_type last, std::uint64_t* offsets,
               std::uint64_t* size);

    /// Writes the pairs of those rows where the offsets say, as indices in the given columns; i may be null.
    void fill(pairs which, index_type first, index_type last, std::uint64_t const* offsets,
              index_type* i, index_type* j);

  private:
    class items;

    std::unique_ptr<device_cells<T, Dim>> cells_;
    /// the first position of each item, on the host
    std::vector<index_type> item_begin_;
  };

  extern template class cuda_rows<float, 2>;
  extern template class cuda_rows<float, 3>;
  extern template class cuda_rows<double, 2>;
  extern template class cuda_rows<double, 3>;
}
