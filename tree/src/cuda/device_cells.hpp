#pragma once

#include <nearfield/tree/cuda.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace nearfield::detail
{
  /// One or two sets of points on a GPU, sorted by cell: what a cuda_cell_list owns.
  template <class T, int Dim>
  class device_cells
  {
  public:
    using columns = strided<T const, Dim>;

    /// Throws nearfield::error if there is no GPU, or if nearfield was built without CUDA.
    static std::unique_ptr<device_cells> make(cuda_stream stream,
                                              cell_list_options<T, Dim> const& options);
    virtual ~device_cells() = default;

    /// One set is both targets and sources. If the points are refused, the list is unchanged.
    virtual void build(columns const& targets, columns const& sources, bool one_set, T cutoff) = 0;
    /// The same for several systems.
    virtual void build(columns const& targets, columns const& sources, bool one_set,
                       systems<Dim> const& of) = 0;

    /// With the same cutoff or systems, in these boxes; none: the last ones.
    virtual void rebuild(columns const& targets, columns const& sources, bool one_set,
                         std::span<cell<Dim> const> cells) = 0;
    /// As those of cuda_cell_list.
    virtual std::uint32_t const* needs_rebuild(columns const& targets, columns const& sources,
                                               bool one_set, std::span<cell<Dim> const> cells) = 0;
    virtual bool update(columns const& targets, columns const& sources, bool one_set,
                        std::span<cell<Dim> const> cells, bool is_checked) = 0;

    virtual void fix_capacity(double factor) = 0;
    [[nodiscard]] virtual found_cells const* found() const = 0;
    virtual void check_capacity() = 0;

    [[nodiscard]] virtual cuda_stream stream() const = 0;
    [[nodiscard]] virtual bool one_set() const = 0;
    [[nodiscard]] virtual bool is_batch() const = 0;
    /// Those of a batch, as given.
    [[nodiscard]] virtual systems<Dim> given_systems() const = 0;
    /// Of a list of one system: when its capacity was not fixed.
    [[nodiscard]] virtual cell_grid<T, Dim> const& grid() const = 0;
    [[nodiscard]] virtual cell_grid<T, Dim> const& grid_of_system(std::size_t s) = 0;
    [[nodiscard]] virtual T cutoff_of_system(std::size_t s) const = 0;
    [[nodiscard]] virtual columns const& target_x() const = 0;
    [[nodiscard]] virtual columns const& source_x() const = 0;
    /// The cells and their lists, valid until the next build; with fixed capacity, until the next call.
    [[nodiscard]] virtual device_leaves leaves() = 0;
    /// Of the last leaves().
    [[nodiscard]] virtual index_type n_leaves() = 0;
    /// In device memory, ascending inside cells.
    [[nodiscard]] virtual std::span<index_type const> target_order() = 0;
    [[nodiscard]] virtual std::span<index_type const> source_order() = 0;
  };
}
