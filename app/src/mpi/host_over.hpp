#pragma once

#include "mpi/mpi_ranks.hpp"
#include "mpi/runtime_over.hpp"
#include "run_host.hpp"

#include <nearfield/tree/leaf_size.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace nearfield::app
{
  /// All ranks. Points stay on the rank that has read them. Throws agreed_error.
  class host_over final : public run_host
  {
  public:
    explicit host_over(mpi_ranks const& all) : run_host(all), all_(all) {}

    void prepare(run_options& options, named_points const& targets, named_points const* sources,
                 cut_options& cut) override;
    [[nodiscard]] run_result compute(run_options const& options, named_points const& targets,
                                     named_points const* sources,
                                     cut_options const& cut) const override;
    [[nodiscard]] std::unique_ptr<motion> start(run_options const& options, named_points& of,
                                                cut_options const& cut,
                                                std::vector<double> factors) const override;
    [[nodiscard]] search_result search(search_options const& options,
                                       named_points const& mine) const override;

  private:
    mpi_ranks const& all_;
    leaf_costs costs_;
    std::optional<runtime_over> runtime_;
  };
}
