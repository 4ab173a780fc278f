#pragma once

#include "commands.hpp"
#include "compute.hpp"
#include "motion.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "search_result.hpp"

#include <memory>

namespace nearfield::app
{
  /// What computes for `nearfield run` and `nearfield search`: this process or, over MPI, ranks, which override all of
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
    /// Searches, by a back-end that is not automatic. Throws nearfield::error for a list that exceeds the
    /// memory limit, before allocating it.
    [[nodiscard]] virtual search_result search(search_options const& options,
                                               named_points const& points) const;

  private:
    app::ranks const& all_;
    std::shared_ptr<void> runtime_;
  };
}
