#pragma once

#include "commands.hpp"
#include "options.hpp"
#include "run_host.hpp"

#include <nearfield/io/points.hpp>

/// \file
/// `nearfield run`, and what its hosts have in common.

namespace nearfield::app
{
  inline file_precision of_file(run_options const& options)
  {
    return options.precision == precision::f32 && !options.has_origin ? file_precision::f32
                                                                      : file_precision::f64;
  }

  /// `nearfield run` where the points of `on` are.
  exit_status run(run_host& on, run_options const& options);
}
