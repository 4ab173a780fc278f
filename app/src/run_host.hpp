#pragma once

#include "compute.hpp"
#include "files.hpp"
#include "motion.hpp"
#include "options.hpp"

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
  /// Reads a file, or the part of it that is given.
  using part_reader = std::function<named_points(std::optional<file_part> const& part)>;

  /// Who has the points of `nearfield run`: this process alone, or ranks, which override all of this. Every function but
  /// is_first() is called by all of them.
  class run_host
  {
  public:
    virtual ~run_host() = default;

    [[nodiscard]] virtual int ranks() const { return 1; }
    /// Whether it says how far the run is, and what came of it.
    [[nodiscard]] virtual bool is_first() const { return true; }
    /// Calls f, which must not communicate. If f throws on one rank, all ranks throw that error.
    virtual void attempt(std::function<void()> const& f) const { f(); }
    /// On each rank that has the error, throws it again with `before` in front of its message.
    [[noreturn]] virtual void rethrow(error const& e, std::string const& before) const
    {
      throw error(before + e.what(), e.kind(), e.code());
    }
    [[nodiscard]] virtual bool any(bool here) const { return here; }
    virtual void sum(std::span<double>) const {}
    /// The greatest.
    [[nodiscard]] virtual double slowest(double seconds) const { return seconds; }

    /// Makes the checks that need no input file, without communication. Starts CUDA if the options ask for it.
    virtual void check_early(run_options const& options) const;
    /// The points of the file that are to be here.
    [[nodiscard]] virtual named_points read(std::filesystem::path const&,
                                            part_reader const& read) const
    {
      return read(std::nullopt);
    }
    /// As rounding_origins() for float, of all points.
    [[nodiscard]] virtual std::vector<double>
    rounding_origins(named_points const& targets, named_points const* sources,
                     std::vector<double> const& period) const;
    /// Finds and reports those of all points.
    [[nodiscard]] virtual std::uint64_t report_merged(named_points const& targets,
                                                      named_points const* sources,
                                                      std::span<double const> origin) const;
    /// Chooses where steps run, before StarPU starts. If the leaf size is automatic, chooses it or measures its costs.
    virtual void prepare(run_options& options, named_points const& targets,
                         named_points const* sources, cut_options& cut);
    /// The near field, as compute().
    [[nodiscard]] virtual run_result compute(run_options const& options,
                                             named_points const& targets,
                                             named_points const* sources,
                                             cut_options const& cut) const;
    /// Counts outputs that are not finite, of points from the first here on.
    virtual void count_not_finite(run_result& result, std::uint64_t first_here) const;

    /// Starts what must run as long as a time loop; its errors are not those of a step.
    virtual void start_runtime(run_options const& options);
    /// As make_motion().
    [[nodiscard]] virtual std::unique_ptr<motion> start(run_options const& options,
                                                        named_points& of, cut_options const& cut,
                                                        std::vector<double> factors) const;
    /// Writes a frame. The file that shows all of it, where this is the first.
    [[nodiscard]] virtual std::optional<std::filesystem::path>
    write_frame(std::filesystem::path const& path, point_set const& points,
                write_options const& how) const;

    /// Writes the points to --output, which gets its name with --json in commit().
    virtual void write(run_options const& options, named_points const& of);
    virtual void commit(run_options const& options, std::string const& json);

  private:
    std::shared_ptr<void> runtime_;
    output_files files_;
  };
}
