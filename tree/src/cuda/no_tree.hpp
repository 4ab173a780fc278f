#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// The tree of a build without CUDA: the constructor says how to get one with it, so that none is ever made.
  template <int Dim>
  class device_tree
  {
  public:
    device_tree(cuda_stream, tree_options<Dim> const&)
    {
      throw error("cuda: " + cuda_problem(), error_kind::not_available);
    }

    struct tables_of_tree
    {
      std::span<leaf_cell<Dim> const> cells;
      std::span<index_type const> target_offsets, source_offsets, target_order, source_order;
      std::span<index_type const> range_offsets, half_offsets;
      std::span<source_range const> own, ranges, half_ranges;
      std::size_t n_targets = 0, n_sources = 0;
    };
    struct report_of_tree
    {
      struct
      {
        std::uint32_t leaves, depth, largest;
        std::uint64_t ranges, half_ranges, pairs;
      } lists;
    };
    template <class T>
    void build(device_positions<T, Dim> const&)
    {}
    template <class T>
    void enqueue(device_positions<T, Dim> const&)
    {}
    void finish() {}
    void reserve(double) {}
    void limit(device_leaves&) const {}
    [[nodiscard]] cuda_stream stream() const { return nullptr; }
    [[nodiscard]] tree_options<Dim> const& options() const { return options_; }
    [[nodiscard]] cube<Dim> const& root() const { return root_; }
    [[nodiscard]] std::array<std::vector<axis_piece>, Dim> const& pieces() const { return pieces_; }
    [[nodiscard]] report_of_tree const& found() const { return found_; }
    [[nodiscard]] tables_of_tree const& tables() const { return tables_; }
    [[nodiscard]] std::span<std::array<double, 3> const> shifts() const { return {}; }
    [[nodiscard]] bool one_set() const { return true; }
    [[nodiscard]] bool is_known() const { return true; }
    [[nodiscard]] index_type const* leaves_on_device() const { return nullptr; }

  private:
    tree_options<Dim> options_;
    cube<Dim> root_;
    std::array<std::vector<axis_piece>, Dim> pieces_;
    report_of_tree found_{};
    tables_of_tree tables_;
  };
}
