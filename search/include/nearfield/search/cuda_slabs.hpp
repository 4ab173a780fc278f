#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/stream.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace nearfield::detail
{
  template <class T, int Dim>
  class device_cells;

  /// Searches on a GPU for some positions at a time, where the host has a cell list of the same points: its
  /// grid is taken as it is, so that a range of positions is the same points here and there. What a task
  /// needs: results go to memory of the caller's, and only what sorts the points waits, for its own stream.
  ///
  /// The points are those that the host's list was built from; they are not checked again. Memory is that of
  /// a cuda_cell_list. One thread at a time uses an object, and the device of its stream is the current one.
  template <class T, int Dim>
  class NEARFIELD_API cuda_slabs
  {
  public:
    using columns = soa<T const, Dim>;

    /// For one set targets and sources are the same. Throws error as cuda_cell_list does for the device and
    /// for the number of points.
    cuda_slabs(cuda_stream stream, cell_grid<T, Dim> const& grid, columns const& targets,
               columns const& sources, bool one_set);
    ~cuda_slabs();
    cuda_slabs(cuda_slabs const&) = delete;
    cuda_slabs& operator=(cuda_slabs const&) = delete;

    /// Other points, or the same after they moved, as the constructor has them.
    void rebuild(cell_grid<T, Dim> const& grid, columns const& targets, columns const& sources,
                 bool one_set);

    /// From now on the same values are in these columns.
    void bind(columns const& targets, columns const& sources);

    /// For the positions [first, last) of targets: the row of position p has offsets[p - first] ...
    /// offsets[p - first + 1], the last of them, their sum, in *size too.
    void count(pairs which, index_type first, index_type last, std::uint64_t* offsets,
               std::uint64_t* size);

    /// The pairs of those rows, where the offsets say; i may be null. The caller's indices.
    void fill(pairs which, index_type first, index_type last, std::uint64_t const* offsets,
              index_type* i, index_type* j);

  private:
    class items;

    std::unique_ptr<device_cells<T, Dim>> cells_;
    /// where the items of a search start, on the host
    std::vector<index_type> item_begin_;
  };

  extern template class cuda_slabs<float, 2>;
  extern template class cuda_slabs<float, 3>;
  extern template class cuda_slabs<double, 2>;
  extern template class cuda_slabs<double, 3>;
}
