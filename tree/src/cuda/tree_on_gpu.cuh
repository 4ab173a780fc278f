#pragma once

#include "../images.hpp"
#include "../leaves.hpp"
#include "bounds.cuh"
#include "device_tree.hpp"
#include "pinned.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// \file
/// A tree in device memory. The kernels of a build learn the numbers of leaves, neighbours and ranges from each other,
/// in device memory. The host gives them arrays about as long as those of the last build, and learns the numbers when
/// all is done; if an array was too short, leaves and lists are made again.

namespace nearfield::detail
{
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
  class tree_on_gpu final : public device_tree<Dim>
  {
  public:
    tree_on_gpu(cuda_stream stream, tree_options<Dim> const& options)
        : stream_((check(options), stream)), given_(options), options_(options),
          frame_(options.cell), built_("build_tree: pinned memory"),
          enqueued_("build_tree: pinned memory")
    {
      auto const shifts = has_cell() ? shifts_of(frame_) : shifts_of(options.period);
      if (has_cell())
      {
        options_.cell = {};
        options_.period = frame_.thickness;
      }
      if (!shifts.empty()) shifts_ = device_array<std::array<double, 3>>(std::span(shifts), stream);
    }

    void build(device_positions<float, Dim> const& points) override { build_points(points); }
    void build(device_positions<double, Dim> const& points) override { build_points(points); }
    void enqueue(device_positions<float, Dim> const& points) override { enqueue_points(points); }
    void enqueue(device_positions<double, Dim> const& points) override { enqueue_points(points); }
    void finish() override;
    void reserve(double factor) override;

    /// Makes the leaves of one set of sorted points of a part of a tree in `tables`, which have room for no more; this
    /// object keeps nothing of them.
    void make_part(device_array<std::uint64_t>&& keys, curve_range const& owned,
                   tree_tables<Dim>& tables);

    [[nodiscard]] cuda_stream stream() const override { return stream_; }
    [[nodiscard]] tree_options<Dim> const& options() const override { return options_; }
    [[nodiscard]] cube<Dim> const& root() const override { return root_; }
    [[nodiscard]] tree_pieces<Dim> const& pieces() const override { return pieces_; }
    [[nodiscard]] tree_report<Dim> const& found() const override { return found_; }
    [[nodiscard]] tree_tables<Dim> const& tables() const override { return tables_; }
    [[nodiscard]] bool one_set() const override { return one_set_; }
    [[nodiscard]] std::span<std::array<double, 3> const> shifts() const override
    {
      return {shifts_.data(), shifts_.size()};
    }
    [[nodiscard]] std::array<std::array<double, 3> const*, 2> moves() const override
    {
      return {moves_[0].data(), moves_[one_set_ ? 0 : 1].data()};
    }
    [[nodiscard]] bool is_known() const override { return is_known_; }
    void limit(device_leaves& leaves) const override;

    // compiled for each T apart
    template <class T>
    void build_points(device_positions<T, Dim> const& points);
    template <class T>
    void enqueue_points(device_positions<T, Dim> const& points);

  private:
    static void check(tree_options<Dim> const& options)
    {
      if (auto const problem = cuda_problem(); !problem.empty())
        throw error("build_tree: " + problem, error_kind::not_available);
      // the CPU's errors, for a tree without points
      static_cast<void>(nearfield::build_tree(soa<double const, Dim>(), options));
    }

    using sets = std::array<sorted_keys, 2>; ///< targets, sources

    [[nodiscard]] bool has_cell() const { return given_.cell.is_periodic(); }
    /// Where points are along the normals of the box, and what brings them into it.
    template <class T>
    device_positions<double, Dim> place(device_positions<T, Dim> const& points);
    template <class T>
    void build_placed(device_positions<T, Dim> const& points,
                      std::function<void()> const& complain);
    template <class T>
    void enqueue_placed(device_positions<T, Dim> const& points);

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
    tree_options<Dim> given_;
    tree_options<Dim> options_; ///< of a tree of places
    cell_frame<Dim> frame_;
    device_array<std::array<double, 3>> shifts_;
    /// of targets and sources in a box; empty without
    std::array<device_array<double>, 2> places_;
    std::array<device_array<std::array<double, 3>>, 2> moves_;
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

  extern template class tree_on_gpu<2>;
  extern template class tree_on_gpu<3>;

  /// How a tree with these options numbers its boxes. The options are valid.
  template <int Dim>
  key_layout layout_of_valid(tree_options<Dim> const& options)
  {
    if (options.level) return {options.order.value_or(leaf_order::row_major), *options.level};
    return {leaf_order::morton, max_level<Dim>};
  }
}
