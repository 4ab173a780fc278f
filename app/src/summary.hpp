#pragma once

#include "compute.hpp"
#include "options.hpp"

namespace nearfield::app
{
  /// Prints points, tree, near field and check of a run, and, but for a time loop, print_not_kept().
  void print_summary(run_options const& options, int dim, run_result const& result);

  /// Says, last of all, that the results are not kept, unless they are.
  void print_not_kept(run_options const& options);
}
