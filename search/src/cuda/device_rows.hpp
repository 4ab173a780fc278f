#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nearfield::detail
{
  /// Searches on a GPU for ranges of positions, the slabs, in steps made for tasks: results go to memory that the
  /// caller provides, and only sort(), and the first count() of part of the positions, wait for the stream. Pairs and
  /// order are those of a cuda_cell_list, and so is the memory; from count() to fill(), or to the next sort(), a slab
  /// has its masks too. One thread at a time may use an object, but for what is said below, with the device of its
  /// stream as the current one.
  template <class T, int Dim>
  class NEARFIELD_API device_rows
  {
  public:
    using columns = strided<T const, Dim>;

    /// Throws nearfield::error as cuda_cell_list does for the device.
    static std::unique_ptr<device_rows>
    make(cuda_stream stream, cell_list_options<T, Dim> const& options, std::size_t n_slabs);
    virtual ~device_rows() = default;

    /// Sorts points; slabs are to be counted again. For one set, targets and sources are the same. Throws
    /// nearfield::error as cuda_cell_list does.
    virtual void sort(columns const& targets, columns const& sources, bool one_set, T cutoff) = 0;

    /// The same values are in these columns from now on.
    virtual void bind(columns const& targets, columns const& sources) = 0;

    /// Slab k is the targets at positions [first, last): row r belongs to point rows[r], and its pairs take the
    /// places [offsets[r], offsets[r + 1]).
    virtual void count(std::size_t k, pairs which, index_type first, index_type last,
                       index_type* rows, std::uint64_t* offsets) = 0;

    /// The pairs of slab k, once the stream has done the work of count(). Any thread may ask for it.
    [[nodiscard]] virtual std::uint64_t n_pairs(std::size_t k) const = 0;

    /// Announces that others will allocate `bytes` of device memory for the pairs of slab k before its fill(). Where
    /// the bytes announced since sort() are more than is free, the slab's masks go, so that fill() tests again, and
    /// from then on fill() gives all unused memory of the pools back. One thread at a time may call it, with any
    /// device, while others use other slabs, when the stream has finished count().
    virtual void leave_room(std::size_t k, std::uint64_t bytes) = 0;

    /// Writes the pairs of slab k, once after each count(), when the stream has finished it, as indices in the given
    /// columns; i may be null.
    virtual void fill(std::size_t k, index_type* i, index_type* j) = 0;
  };
}
