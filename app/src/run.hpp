#pragma once

#include "compute.hpp"
#include "options.hpp"

#include <nearfield/io/points.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

/// \file
/// The parts of `nearfield run` that do not depend on whether it runs on one rank or on several.

namespace nearfield::app
{
  /// The checks that need no input file. Starts CUDA, if it is asked for.
  void check_early(run_options const& options);

  /// Throws nearfield::error for an --output that cannot hold points that move.
  void check_motion(run_options const& options);

  /// Throws nearfield::error if frames cannot be written, or would overwrite other files of the run.
  void check_frames(run_options const& options);

  /// Reads a file, or the part of it that is given.
  using part_reader = std::function<named_points(std::optional<file_part> const& part)>;

  /// INPUT and, if there is one, the file of --sources. read_file(read) gives what read() does for a file.
  std::pair<named_points, std::optional<named_points>>
  read_both(run_options const& options,
            std::function<named_points(part_reader const&)> const& read_file);

  /// The box of --box, otherwise that of the file; with two files only if they have the same one. The box of a
  /// file says nothing of points that move.
  std::optional<bounding_box> choose_box(run_options const& options, point_set const& targets,
                                         point_set const* sources);

  /// Removes velocities and masses if --output is of a format without them.
  void leave_out_velocities(run_options const& options, point_set& of);

  inline file_precision of_file(run_options const& options)
  {
    return options.precision == precision::f32 && !options.has_origin ? file_precision::f32
                                                                      : file_precision::f64;
  }

  void count_not_finite(run_result& result);

  /// Says on stderr how many results are not finite.
  void report_not_finite(run_options const& options, run_result const& result);

  /// Says on stderr how much rounding the coordinates to f32 changes, if the check passes only because it excuses that.
  void report_rounding(run_options const& options, run_result const& result);
}
