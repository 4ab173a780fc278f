#pragma once

#include "../column_bounds.hpp"
#include "../keys.hpp"
#include "../leaves.hpp"
#include "../part_lists.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// Points of the host on a GPU while a tree over several processes is made of them: sorted along a curve, some go to
  /// other processes and some come from there, and the rest gets leaves. To the bit what write_keys(), sort_keys(),
  /// merge_keys(), a gather and adaptive_leaves() or uniform_leaves() make on the host.
  ///
  /// Called in the order of declaration; unite() and what follows it may be repeated. There are fewer than 2^31 points.
  /// Functions throw nearfield::error of kind out_of_memory where the device has too little, but find_border() and meet(),
  /// which then return nothing.
  template <class T, int Dim>
  class NEARFIELD_API gpu_points
  {
  public:
    /// On a device of gpus(); `on` copies to it and back. Throws nearfield::error if there is no such device, or if
    /// nearfield was built without CUDA.
    static std::unique_ptr<gpu_points> make(int device, executor& on);
    virtual ~gpu_points() = default;

    /// Copies points, at least one, and finds their bounds; none if a coordinate is not finite or, on a periodic axis,
    /// outside [0, L).
    virtual std::optional<point_bounds<T, Dim>> load(strided<T const, Dim> const& points,
                                                     std::array<double, Dim> const& period) = 0;
    /// Sorts them stably.
    virtual void sort(std::array<key_axis, Dim> const& axes, key_layout const& layout) = 0;
    /// The keys of the sorted points.
    virtual void read_keys(std::uint64_t* to) = 0;
    /// The number of points with a smaller key, for each of these.
    virtual std::vector<std::size_t> places_of(std::span<std::uint64_t const> keys) = 0;
    /// The coordinates of the sorted points from `first` on, and their indices among the points that were loaded.
    virtual void read(std::size_t first, strided<T, Dim> const& x,
                      strided_column<index_type> const& index) = 0;

    /// Takes the sorted points [first, first + n) and others, in the order of their keys. Where keys are equal, the first
    /// n_before others come before these points and the rest after them. Others are at the positions places[k], which
    /// ascend: each is number rows[k], if all are counted in that order.
    virtual void unite(std::size_t first, std::size_t n, strided<T const, Dim> const& others,
                       std::size_t n_before, index_type* places, index_type* rows) = 0;
    /// Their coordinates, until points are united again.
    virtual void read_united(std::array<T*, Dim> const& x) = 0;
    /// Their indices, no_row for the others.
    virtual void read_indices(index_type* index) = 0;
    /// Both in device memory.
    [[nodiscard]] virtual std::array<T const*, Dim> united() const = 0;
    [[nodiscard]] virtual index_type const* indices() const = 0;
    /// Makes their leaves, in device memory: adaptive ones with at most max_leaf_size points, or with 0 those of the keys'
    /// level. Once for each unite(). Returns how many.
    virtual index_type make_leaves(index_type max_leaf_size, curve_range const& owned) = 0;
    /// The keys from the first leaf on to the end of the last; none without leaves.
    virtual curve_range extent() = 0;
    /// Those that may touch leaves of others, in their order. The leaves of each part of the tree are in the range that it
    /// has in `parts`, which ascend; that of this one reaches to the others.
    virtual std::optional<page_vector<border_leaf<Dim>>>
    find_border(std::span<curve_range const> parts, std::size_t part) = 0;
    /// Appends the leaves; they have as many sources as targets.
    virtual void read_leaves(leaf_set<Dim>& to) = 0;

    /// What these leaves meet: of `known` they are the own chunk, and have a point at least.
    virtual std::optional<met_leaves> meet(part_leaves<Dim> const& known) = 0;
    /// The lists of the leaves that met last. They use memory of this object, until it meets others.
    [[nodiscard]] virtual part_lists<Dim> lists(pair_form form) const = 0;

    /// Frees all memory, but for a little for the next points and, if they are to stay, that of united ones and of what
    /// their leaves meet.
    virtual void release(bool keeps_united) noexcept = 0;
  };
}
