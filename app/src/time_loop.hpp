#pragma once

#include "commands.hpp"
#include "compute.hpp"
#include "motion.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

  /// Who has the points of a time loop: this process alone (run_steps() makes one), or ranks. Every function but
  /// is_first() is called by all of them.
  class loop_host
  {
  public:
    virtual ~loop_host() = default;

    [[nodiscard]] virtual int ranks() const = 0;
    /// Whether it says how far the loop is, and what came of it.
    [[nodiscard]] virtual bool is_first() const = 0;
    /// Calls f, which asks nothing of others; what it throws on one it throws on all.
    virtual void attempt(std::function<void()> const& f) const = 0;
    /// Throws the error anew with words before it, on those that have it.
    [[noreturn]] virtual void rethrow(error const& e, std::string const& before) const = 0;
    [[nodiscard]] virtual bool any(bool here) const = 0;
    virtual void sum(std::span<double> values) const = 0;

    /// Starts what must run as long as the loop; its errors are not those of a step.
    virtual void prepare(run_options const& options) = 0;
    /// As make_motion().
    [[nodiscard]] virtual std::unique_ptr<motion> start(run_options const& options,
                                                        named_points& of, cut_options const& cut,
                                                        std::vector<double> factors) = 0;
    /// Writes a frame. The file that shows all of it, where this is the first.
    [[nodiscard]] virtual std::optional<std::filesystem::path>
    write_frame(std::filesystem::path const& path, point_set const& points,
                write_options const& how) const = 0;
    /// Writes the last state to --output, which gets its name with --json in commit().
    virtual void write_last(run_options const& options, named_points const& of) = 0;
    virtual void commit(run_options const& options, std::string const& json) = 0;
  };

  /// `nearfield run --move`: moves the points, which need not lie in the box of their file, and writes frames and
  /// the last state. Throws nearfield::error, for a step with its number. `early_seconds` count as setup; `merged` is
  /// that of run_result at first.
  exit_status run_steps(run_options const& options, named_points&& points, cut_options const& cut,
                        double read_seconds, double early_seconds, std::uint64_t merged);
  /// The same where the points of `host` are.
  exit_status run_steps(loop_host& host, run_options const& options, named_points&& points,
                        cut_options const& cut, double read_seconds, double early_seconds,
                        std::uint64_t merged);
}
