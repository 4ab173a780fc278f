#pragma once

#include "compute.hpp"
#include "options.hpp"

#include <nearfield/io/points.hpp>

namespace nearfield::app
{
  /// Prints points, tree, near field and check of a run, and, but for a time loop, print_not_kept(). Null sources: the
  /// targets are the sources.
  void print_summary(run_options const& options, point_set const& targets, point_set const* sources,
                     run_result const& result);

  /// Says, last of all, that the results are not kept, unless they are.
  void print_not_kept(run_options const& options);
}
