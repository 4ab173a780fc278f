#pragma once

#include "commands.hpp"
#include "compute.hpp"
#include "options.hpp"
#include "run_host.hpp"

#include <nearfield/io/points.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

/// \file
/// `nearfield run`, and what its hosts have in common.

namespace nearfield::app
{
  /// The checks that need no input file. Starts CUDA, if it is asked for.
  void check_early(run_options const& options);

  /// Throws nearfield::error for an --output that cannot hold points that move.
  void check_motion(run_options const& options);

  /// Throws nearfield::error if frames cannot be written, or would overwrite other files of the run.
  void check_frames(run_options const& options);

  inline file_precision of_file(run_options const& options)
  {
    return options.precision == precision::f32 && !options.has_origin ? file_precision::f32
                                                                      : file_precision::f64;
  }

  /// `nearfield run` where the points of `on` are.
  exit_status run(run_host& on, run_options const& options);
}
