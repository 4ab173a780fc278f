#pragma once

#include "options.hpp"

#include <cstddef>
#include <cstdint>

namespace nearfield::app
{
  /// Whether a run may compute on the calling thread though nothing says so, if its pairs are few: on the CPU, of so
  /// many points, where nothing asks for StarPU.
  bool may_be_small(execution_options const& step, std::size_t n_points);

  /// `step`, on the calling thread if the start of StarPU takes longer than its workers would save in so many steps
  /// of `seconds` on one core, or its tasks in each.
  execution_options where_it_is_faster(execution_options step, double seconds,
                                       std::uint64_t n_steps);
}
