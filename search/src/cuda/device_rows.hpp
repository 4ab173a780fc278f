#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace nearfield::detail
{
  /// What slabs are searched for. It refers to the systems and to the filter.
  template <class T, int Dim>
  struct slab_query
  {
    cell_list_options<T, Dim> grid{};
    T cutoff = 0; ///< of one system
    bool is_batch = false;
    systems<Dim> batch{}; ///< several systems
    bool one_set = true;
    pairs which = pairs::half;
    row_filter<T> const* filter = nullptr; ///< null: all pairs within the cutoff count
    // columns of pairs, as of to_coo
    bool distances = false, displacements = false;
    image_columns images = image_columns::none;
  };

  /// Where the pairs of a slab are written; null: not asked for.
  template <class T, int Dim>
  struct slab_columns
  {
    index_type *i = nullptr, *j = nullptr;
    T* r2 = nullptr;
    std::array<T*, Dim> displacements{};
    std::array<std::int32_t*, Dim> images{};
    std::uint32_t* packed_images = nullptr;
  };

  /// Searches on a GPU for ranges of positions, the slabs, in steps made for tasks: results go to memory that the
  /// caller provides, and only sort(), the first count() of part of the positions, and a fill() with packed images that
  /// may be too large wait for the stream. Pairs and order are those of a cuda_cell_list, and so is the memory; from
  /// count() to fill(), or to the next sort(), a slab has its masks too. One thread at a time may use an object, but for
  /// what is said below, with the device of its stream as the current one.
  template <class T, int Dim>
  class NEARFIELD_API device_rows
  {
  public:
    using columns = strided<T const, Dim>;

    /// Throws nearfield::error as cuda_cell_list does for the device.
    static std::unique_ptr<device_rows> make(cuda_stream stream, slab_query<T, Dim> const& query,
                                             std::size_t n_slabs);
    virtual ~device_rows() = default;

    /// Sorts points; slabs are to be counted again. For one set, targets and sources are the same. Throws
    /// nearfield::error as cuda_cell_list does.
    virtual void sort(columns const& targets, columns const& sources) = 0;

    /// The same values are in these columns from now on.
    virtual void bind(columns const& targets, columns const& sources) = 0;

    /// Slab k is the targets at positions [first, last): row r belongs to point rows[r], and its pairs take the
    /// places [offsets[r], offsets[r + 1]).
    virtual void count(std::size_t k, index_type first, index_type last, index_type* rows,
                       std::uint64_t* offsets) = 0;

    /// The pairs of slab k, once the stream has done the work of count(). Any thread may ask for it.
    [[nodiscard]] virtual std::uint64_t n_pairs(std::size_t k) const = 0;

    /// Announces that others will allocate `bytes` of device memory for the pairs of slab k before its fill(). Where
    /// the bytes announced since sort() are more than is free, the slab's masks go, so that fill() tests again, and
    /// from then on fill() gives all unused memory of the pools back. One thread at a time may call it, with any
    /// device, while others use other slabs, when the stream has finished count().
    virtual void leave_room(std::size_t k, std::uint64_t bytes) = 0;

    /// Writes the pairs of slab k, once after each count(), when the stream has finished it. Throws nearfield::error for
    /// images that cannot be packed.
    virtual void fill(std::size_t k, slab_columns<T, Dim> const& to) = 0;
  };
}
