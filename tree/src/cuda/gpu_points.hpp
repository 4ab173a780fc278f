#pragma once

#include "../column_bounds.hpp"
#include "../keys.hpp"
#include "../leaves.hpp"
#include "../part_lists.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/core/executor.hpp>
#include <nearfield/core/soa.hpp>

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
    /// On a device of gpus(); `on` copies to it and back. Throws nearfield::error if there is no such device.
    gpu_points(int device, executor& on);
    gpu_points(gpu_points const&) = delete;
    gpu_points& operator=(gpu_points const&) = delete;
    ~gpu_points();

    /// Copies points, at least one, and finds their bounds; none if a coordinate is not finite or, on a periodic axis,
    /// outside [0, L).
    std::optional<point_bounds<T, Dim>> load(strided<T const, Dim> const& points,
                                             std::array<double, Dim> const& period);
    /// Sorts them stably.
    void sort(std::array<key_axis, Dim> const& axes, key_layout const& layout);
    /// The keys of the sorted points.
    void read_keys(std::uint64_t* to);
    /// The number of points with a smaller key, for each of these.
    std::vector<std::size_t> places_of(std::span<std::uint64_t const> keys);
    /// The coordinates of the sorted points from `first` on, and their indices among the points that were loaded.
    void read(std::size_t first, strided<T, Dim> const& x, strided_column<index_type> const& index);

    /// Takes the sorted points [first, first + n) and others, in the order of their keys. Where keys are equal, the first
    /// n_before others come before these points and the rest after them. Others are at the positions places[k], which
    /// ascend: each is number rows[k], if all are counted in that order.
    void unite(std::size_t first, std::size_t n, strided<T const, Dim> const& others,
               std::size_t n_before, index_type* places, index_type* rows);
    /// Their coordinates, until points are united again.
    void read_united(std::array<T*, Dim> const& x);
    /// Their indices, no_row for the others.
    void read_indices(index_type* index);
    /// Both in device memory.
    [[nodiscard]] std::array<T const*, Dim> united() const;
    [[nodiscard]] index_type const* indices() const;
    /// Makes their leaves, in device memory: adaptive ones with at most max_leaf_size points, or with 0 those of the keys'
    /// level. Once for each unite(). Returns how many.
    index_type make_leaves(index_type max_leaf_size, curve_range const& owned);
    /// The keys from the first leaf on to the end of the last; none without leaves.
    curve_range extent();
    /// Those that may touch leaves of others, in their order. The leaves of each part of the tree are in the range that it
    /// has in `parts`, which ascend; that of this one reaches to the others.
    std::optional<page_vector<border_leaf<Dim>>> find_border(std::span<curve_range const> parts,
                                                             std::size_t part);
    /// Appends the leaves; they have as many sources as targets.
    void read_leaves(leaf_set<Dim>& to);

    /// What these leaves meet: of `known` they are the own chunk, and have a point at least.
    std::optional<met_leaves> meet(part_leaves<Dim> const& known);
    /// The lists of the leaves that met last. They use memory of this object, until it meets others.
    [[nodiscard]] part_lists<Dim> lists(pair_form form) const;

    /// Frees all memory, but for a little for the next points and, if they are to stay, that of united ones and of what
    /// their leaves meet.
    void release(bool keeps_united) noexcept;

  private:
    class device;
    std::unique_ptr<device> device_;
  };
}
