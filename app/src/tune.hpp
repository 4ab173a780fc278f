#pragma once

#include "problem.hpp"

#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <string>

namespace nearfield::app
{
  /// The leaf size chosen for the points of a run, and what it was chosen by.
  struct tuning
  {
    std::string worker; ///< what pairs were timed on: "avx512", "cuda"
    pair_form form = pair_form::automatic;
    pair_cost cost;
    leaf_costs::choice choice = {};
    double cost_seconds = 0;   ///< to measure the cost, or to read it
    double choice_seconds = 0; ///< to try the sizes
    /// groups of leaves of StarPU's tasks; 0: no tasks
    index_type groups = 0;
  };

  /// What pairs cost in the precision and by the interaction of the options, on a core or on a GPU.
  pair_cost cost_of_pairs(run_options const& options, int dim, bool on_gpu);

  /// Chooses it in the precision and by the interaction of the options. Null sources: one set. Counts groups if asked.
  tuning tune_leaves(run_options const& options, named_points const& targets,
                     named_points const* sources, std::optional<point_set::bounding_box> const& box,
                     bool counts_groups);

  /// Prints both tables and the choice.
  void print_tuning(run_options const& options, point_set const& targets, tuning const& found);
}
