#pragma once

#include "../images.hpp"
#include "../keys.hpp"
#include "../leaves.hpp"
#include "bounds.cuh"
#include "pinned.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>

/// \file
/// A tree in device memory. The kernels of a build learn the numbers of leaves, neighbours and ranges from each other,
/// in device memory. The host gives them arrays about as long as those of the last build, and learns the numbers when
/// all is done; if an array was too short, leaves and lists are made again.

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

  /// Makes the array at least n values long.
  template <class T>
  void fit(device_array<T>& array, std::size_t n, cuda_stream stream, char const* what)
  {
    if (array.size() >= n) return;
    array = {}; // or both would be there
    array = device_array<T>(n, stream, what);
  }

  /// Points sorted by key, and where their leaves begin.
  struct sorted_keys
  {
    device_array<std::uint64_t> keys;
    device_array<std::uint8_t> levels; ///< of the leaf of each point; empty for a uniform tree
    device_array<std::uint32_t> heads; ///< the first point of each leaf
  };

  template <int Dim>
  struct leaf_heads;

  template <int Dim>
  class device_tree
  {
  public:
    device_tree(cuda_stream stream, tree_options<Dim> const& options)
        : stream_((check(options), stream)), options_(options), built_("build_tree: pinned memory"),
          enqueued_("build_tree: pinned memory")
    {
      auto const shifts = shifts_of(options.period);
      if (!shifts.empty()) shifts_ = device_array<std::array<double, 3>>(std::span(shifts), stream);
    }

    template <class T>
    void build(device_positions<T, Dim> const& points);
    template <class T>
    void enqueue(device_positions<T, Dim> const& points);
    void finish();
    void reserve(double factor);

    /// Makes the leaves of one set of sorted points of a part of a tree in `tables`, which have room for no more; this
    /// object keeps nothing of them.
    void make_part(device_array<std::uint64_t>&& keys, curve_range const& owned,
                   tree_tables<Dim>& tables);

    [[nodiscard]] cuda_stream stream() const { return stream_; }
    [[nodiscard]] tree_options<Dim> const& options() const { return options_; }
    [[nodiscard]] cube<Dim> const& root() const { return root_; }
    [[nodiscard]] tree_pieces<Dim> const& pieces() const { return pieces_; }
    [[nodiscard]] tree_report<Dim> const& found() const { return found_; }
    [[nodiscard]] tree_tables<Dim> const& tables() const { return tables_; }
    [[nodiscard]] bool one_set() const { return one_set_; }
    [[nodiscard]] index_type const* leaves_on_device() const
    {
      return &tables_.report.data()->lists.usable;
    }
    /// Of the lists, in device memory; none without periods.
    [[nodiscard]] std::span<std::array<double, 3> const> shifts() const
    {
      return {shifts_.data(), shifts_.size()};
    }
    [[nodiscard]] bool is_known() const { return is_known_; }
    /// Sets what the host knows of the numbers of leaves.
    void limit(device_leaves& leaves) const;

  private:
    static void check(tree_options<Dim> const& options)
    {
      if (auto const problem = cuda_problem(); !problem.empty())
        throw error("build_tree: " + problem, error_kind::not_available);
      // the CPU's errors, for a tree without points
      static_cast<void>(nearfield::build_tree(soa<double const, Dim>(), options));
    }

    using sets = std::array<sorted_keys, 2>; ///< targets, sources

    /// A root without the gaps that are left out.
    struct cut_root
    {
      cube<Dim> root{};
      tree_pieces<Dim> pieces{};
    };

    template <class T>
    void sort(device_positions<T, Dim> const& points, sets& sorted, tree_tables<Dim>& to,
              cut_root const* cut = nullptr);
    /// Whether leaves of the last level are crowded, and there are gaps to be cut.
    template <class T>
    bool cut_gaps_of(device_positions<T, Dim> const& points, tree_tables<Dim> const& tables,
                     cut_root& cut) const;
    /// The rest does not depend on T: leaves, lists and numbers.
    void find_heads(sets& sorted, tree_tables<Dim>& to, curve_range const& owned = {});
    leaf_heads<Dim> heads_of(sorted_keys const& set, int s, tree_tables<Dim>& to) const;
    void make_tables(sets const& sorted, bool one_set, tree_tables<Dim>& to);
    void make_leaves(sets const& sorted, bool one_set, tree_tables<Dim>& to);
    void make_lists(bool one_set, tree_tables<Dim>& to);
    void report(tree_tables<Dim> const& tables, pinned<tree_report<Dim>> const& to);
    /// What the next trees get, from what was found with `had`.
    [[nodiscard]] tree_capacity capacity_for(list_report const& found,
                                             tree_capacity const& had) const;
    /// Takes over what the host was told.
    void learn(tree_report<Dim> const& told);

    cuda_stream stream_;
    tree_options<Dim> options_;
    device_array<std::array<double, 3>> shifts_;
    cube<Dim> root_;
    tree_pieces<Dim> pieces_;
    bool one_set_ = true;
    tree_tables<Dim> tables_;
    tree_report<Dim> found_{};
    pinned<tree_report<Dim>> built_,
        enqueued_; ///< what the kernels tell of build() and of enqueue()
    /// of two sets: sums, zero between builds, then results
    device_array<device_bounds<Dim>> bounds_;
    double slack_ = 1.25; ///< arrays are longer than what they held by this factor
    tree_capacity next_;  ///< of the next build
    /// of the points of enqueue(), from its beginning until the next build: throws what they are refused for
    std::function<void()> complain_;
    bool is_whole_ = true; ///< no enqueue() ended halfway
    bool is_known_ = true; ///< what the host knows is of the tables
  };

  /// How a tree with these options numbers its boxes. The options are valid.
  template <int Dim>
  key_layout layout_of_valid(tree_options<Dim> const& options)
  {
    if (options.level) return {options.order.value_or(leaf_order::row_major), *options.level};
    return {leaf_order::morton, max_level<Dim>};
  }
}
