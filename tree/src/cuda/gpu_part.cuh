#pragma once

#include "../keys.hpp"
#include "../part_lists.hpp"
#include "staging.hpp"
#include "tree_on_gpu.cuh"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nearfield::detail
{
  template <int Dim>
  struct leaf_view; // tree_lists.cuh

  /// Which leaves of a part meet which, on the current device. `own` has their keys, cells and offsets.
  template <int Dim>
  class gpu_part
  {
  public:
    /// Works and frees memory in the order of the stream.
    gpu_part(std::shared_ptr<CUstream_st> const& stream, key_layout const& layout,
             std::array<double, Dim> const& period)
        : stream_(stream), layout_(layout), period_(period)
    {}

    /// As gpu_points::find_border(). Waits for the stream.
    page_vector<border_leaf<Dim>> find_border(tree_tables<Dim> const& own,
                                              std::span<curve_range const> parts, std::size_t part,
                                              staging& bus, executor& on);

    /// After find_border(). Copies over `bus`, and waits for the stream.
    met_leaves meet(part_leaves<Dim> const& known, tree_tables<Dim> const& own, staging& bus,
                    executor& on);

    /// Of what was met last, which must outlive them. `order` is that of the part's points.
    [[nodiscard]] part_lists<Dim> lists(pair_form form, std::span<index_type const> order) const;

  private:
    met_leaves look_at(leaf_view<Dim> const& view, part_leaves<Dim> const& known, staging& bus,
                       executor& on);

    std::shared_ptr<CUstream_st> stream_; // outlives the arrays
    key_layout layout_;
    std::array<double, Dim> period_;
    device_array<index_type> border_;
    std::size_t n_border_ = 0;
    // of known leaves
    std::vector<index_type> chunks_;
    std::size_t own_ = 0;
    device_array<index_type> targets_,
        sources_;                         ///< offsets; leaves of other chunks have no targets
    device_array<std::uint64_t> offsets_; ///< of rows
    device_array<index_type> rows_;
    device_array<std::uint64_t> chunks_met_; ///< by own leaf, as met_leaves::chunks
    device_array<index_type> n_own_;         ///< the number of own leaves
    device_array<std::array<double, 3>> shifts_;
  };
}
