#pragma once

#include "commands.hpp"
#include "compute.hpp"
#include "motion.hpp"
#include "options.hpp"
#include "ranks.hpp"

#include <memory>

namespace nearfield::app
{
  /// Where the near fields of `nearfield run` are computed: in this process or, over MPI, by ranks, which override all of
  /// this. Every function is collective.
  class run_host
  {
  public:
    explicit run_host(app::ranks const& all) : all_(all) {}
    virtual ~run_host() = default;

    [[nodiscard]] app::ranks const& ranks() const { return all_; }

    /// Chooses where steps run and, before StarPU starts, the leaf size if it is automatic, or measures its costs. Starts
    /// what must run as long as a time loop.
    virtual void prepare(run_options& options, named_points const& targets,
                         named_points const* sources, cut_options& cut);
    /// The near field: outputs are those of the targets here, all else is of all ranks.
    [[nodiscard]] virtual run_result compute(run_options const& options,
                                             named_points const& targets,
                                             named_points const* sources,
                                             cut_options const& cut) const;
    /// What moves `of` from its present state: the points, which outlive it, have accelerations then. `factors` are
    /// those from near fields to accelerations.
    [[nodiscard]] virtual std::unique_ptr<motion> start(run_options const& options,
                                                        named_points& of, cut_options const& cut,
                                                        std::vector<double> factors) const;

  private:
    app::ranks const& all_;
    std::shared_ptr<void> runtime_;
  };

  /// `nearfield run` where the points of `on` are.
  exit_status run(run_host& on, run_options const& options);
}
