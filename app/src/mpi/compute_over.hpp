#pragma once

#include "compute.hpp"
#include "mpi/ranks.hpp"

#include <cstddef>

namespace nearfield::app
{
  /// The near field of the points of all ranks in precision T, as compute(): the outputs are those of the targets of
  /// this rank, all else is of all ranks. Collective; throws agreed_error.
  template <class T>
  run_result compute_over(ranks const& all, named_points const& targets,
                          named_points const* sources, interaction_choice const& interaction,
                          cut_options const& cut, execution_options const& step,
                          std::size_t n_check);
  extern template run_result compute_over<float>(ranks const&, named_points const&,
                                                 named_points const*, interaction_choice const&,
                                                 cut_options const&, execution_options const&,
                                                 std::size_t);
  extern template run_result compute_over<double>(ranks const&, named_points const&,
                                                  named_points const*, interaction_choice const&,
                                                  cut_options const&, execution_options const&,
                                                  std::size_t);
}
