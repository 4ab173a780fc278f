#pragma once

#include "../keys.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace nearfield::detail
{
  /// What the kernels find in leaves and lists, which may be made again.
  struct list_report
  {
    std::uint32_t leaves;              ///< the number of leaves
    std::uint32_t usable;              ///< the same if leaves and lists fit the arrays, otherwise 0
    std::uint32_t depth, largest;      ///< as in cuda_tree
    std::uint32_t long_rows;           ///< rows of more neighbours than a warp sorts
    std::uint32_t leaves_of_size[32];  ///< as in device_leaves
    std::uint64_t ranges, half_ranges; ///< in the lists
    unsigned long long neighbours;     ///< pairs of leaves that meet, in both orders
    unsigned long long pairs;          ///< of a target and a source
  };

  /// What the kernels of a build find.
  template <int Dim>
  struct tree_report
  {
    list_report lists;
    double centre[Dim], half_width; ///< the root
    std::uint32_t
        invalid; ///< not 0: a point is not finite or outside the root, or the root is too large
    std::uint32_t heads[2]; ///< leaves with targets, and with sources
    std::uint32_t done;     ///< not 0 once the host may read the others
  };

  /// The lengths of arrays.
  struct tree_capacity
  {
    std::size_t leaves = 0, neighbours = 0, ranges = 0, half_ranges = 0;

    [[nodiscard]] bool holds(list_report const& found) const
    {
      return found.leaves <= leaves && found.neighbours <= neighbours && found.ranges <= ranges &&
             found.half_ranges <= half_ranges;
    }
  };

  /// The tables of a tree, in arrays that may be longer.
  template <int Dim>
  struct tree_tables
  {
    device_array<std::uint64_t> keys; ///< the smallest key of each leaf
    device_array<leaf_cell<Dim>> cells;
    device_array<index_type> target_offsets, source_offsets;
    device_array<index_type> target_order, source_order;
    device_array<source_range> own;
    device_array<index_type> range_offsets, half_offsets;
    device_array<source_range> ranges, half_ranges;
    device_array<tree_report<Dim>> report;
    tree_capacity capacity;                   ///< what the arrays have room for
    std::size_t n_targets = 0, n_sources = 0; ///< the latter 0 for one set
  };

  /// A tree in device memory: what a cuda_tree owns. Functions are those of cuda_tree.
  template <int Dim>
  class device_tree
  {
  public:
    /// Throws nearfield::error if there is no GPU, or if nearfield was built without CUDA.
    static std::unique_ptr<device_tree> make(cuda_stream stream, tree_options<Dim> const& options);
    virtual ~device_tree() = default;

    virtual void build(device_positions<float, Dim> const& points) = 0;
    virtual void build(device_positions<double, Dim> const& points) = 0;
    virtual void enqueue(device_positions<float, Dim> const& points) = 0;
    virtual void enqueue(device_positions<double, Dim> const& points) = 0;
    virtual void finish() = 0;
    virtual void reserve(double factor) = 0;

    [[nodiscard]] virtual cuda_stream stream() const = 0;
    [[nodiscard]] virtual tree_options<Dim> const& options() const = 0;
    [[nodiscard]] virtual cube<Dim> const& root() const = 0;
    [[nodiscard]] virtual tree_pieces<Dim> const& pieces() const = 0;
    [[nodiscard]] virtual tree_report<Dim> const& found() const = 0;
    [[nodiscard]] virtual tree_tables<Dim> const& tables() const = 0;
    [[nodiscard]] virtual bool one_set() const = 0;
    /// Of the lists, in device memory; none without periods.
    [[nodiscard]] virtual std::span<std::array<double, 3> const> shifts() const = 0;
    /// As device_leaves::target_moves, and source_moves.
    [[nodiscard]] virtual std::array<std::array<double, 3> const*, 2> moves() const = 0;
    [[nodiscard]] virtual bool is_known() const = 0;
    /// Sets what the host knows of the numbers of leaves.
    virtual void limit(device_leaves& leaves) const = 0;
  };
}
