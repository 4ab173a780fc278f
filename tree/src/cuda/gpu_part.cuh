#pragma once

#include "../keys.hpp"
#include "device_tree.cuh"
#include "part_lists.hpp"
#include "staging.hpp"

#include <nearfield/core/executor.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// Which leaves of a part meet which, on the current device.
  template <int Dim>
  class gpu_part
  {
  public:
    /// The leaves of the part, n of them, that touch boxes outside the owned range, ascending. Waits for the stream.
    std::vector<index_type> find_border(tree_tables<Dim> const& own, std::size_t n,
                                        key_layout const& layout, curve_range const& owned,
                                        std::array<double, Dim> const& period, cuda_stream stream);

    /// After find_border(). Copies over `bus`, and waits for the stream.
    met_leaves meet(part_leaves<Dim> const& known, tree_tables<Dim> const& own, staging& bus,
                    executor& on);

    /// Of what was met last, which must outlive them. `order` is that of the part's points.
    [[nodiscard]] part_lists<Dim> lists(pair_form form, std::span<index_type const> order) const;

  private:
    cuda_stream stream_ = nullptr;
    key_layout layout_;
    std::array<double, Dim> period_{};
    device_array<index_type> border_;
    std::size_t n_border_ = 0;
    std::vector<index_type> chunks_;
    std::vector<std::uint16_t> sets_; ///< of the chunks
    std::size_t own_ = 0;
    std::uint32_t n_known_ = 0;
    device_array<std::uint64_t> keys_;
    device_array<leaf_cell<Dim>> cells_;
    device_array<index_type> targets_,
        sources_; ///< offsets; leaves of other chunks have no targets
    device_array<list_report> report_;
    device_array<std::uint64_t> offsets_; ///< of rows
    device_array<index_type> rows_;
    device_array<std::uint32_t> chunks_met_; ///< as met_leaves::chunks
    device_array<index_type> n_own_;         ///< the number of own leaves
    device_array<std::array<double, 3>> shifts_;
  };
}
