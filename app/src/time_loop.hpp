#pragma once

#include "commands.hpp"
#include "run_host.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nearfield::app
{
  /// What forces between pairs keep.
  struct conserved
  {
    /// of all pairs; none for a near field, whose pairs change
    std::optional<double> energy;
    std::vector<double> momentum;
  };

  /// The result of a time loop.
  struct time_loop_result
  {
    run_result last; ///< of the last step; seconds and tasks of all steps
    std::uint64_t steps = 0;
    bool interrupted = false; ///< a signal came before the last of the steps asked for
    std::size_t frames = 0;
    conserved at_first, at_last;
    double step_seconds = 0;  ///< of all steps, without frames
    double setup_seconds = 0; ///< before the first near field
    double move_seconds = 0, write_seconds = 0, energy_seconds = 0;
  };

  /// `nearfield run --move`: moves the points of a host, which need not lie in the box of their file, and writes
  /// frames and the last state. Throws nearfield::error, for a step with its number. `early_seconds` count as setup; `merged` is
  /// that of run_result at first.
  exit_status run_steps(run_host& host, run_options const& options, named_points&& points,
                        cut_options const& cut, double read_seconds, double early_seconds,
                        std::uint64_t merged);
}
