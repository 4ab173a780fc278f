#pragma once

#include "check_outputs.hpp"
#include "problem.hpp"
#include "step.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// The result of a run in any precision and dimension.
  struct run_result
  {
    std::vector<std::vector<double>> outputs;
    std::vector<std::string> output_names; ///< one per column of outputs, or empty
    /// the number of outputs that are not finite, and the first point that has one
    std::uint64_t not_finite = 0;
    std::uint64_t first_not_finite = 0;
    /// points that float does not tell from others, though the file does
    std::uint64_t merged = 0;
    std::uint64_t leaves = 0;
    int depth = 0;
    std::uint64_t max_leaf = 0;
    std::uint64_t interactions = 0;
    double tree_seconds = 0;
    /// what else it took: the start of StarPU or CUDA, loading of kernels, leaf groups and handles, memory for inputs
    /// and outputs, an attempt that failed; compute() leaves it to the caller, who knows all of that
    double setup_seconds = 0;
    double check_seconds = 0;
    step_report step;
    std::optional<check_report> check;
    /// of MPI; with more than one, counts are those of all ranks, and times those of the slowest
    int ranks = 1;
    std::uint64_t points = 0, sources = 0; ///< targets, and sources, which may be the same
  };

  /// phi and gx gy [gz] for a potential or a gradient. Empty (phi1 phi2 ...) for other outputs and for several right-hand
  /// sides.
  std::vector<std::string> output_names(interaction_info const& of, std::size_t n_rhs);

  /// Throws nearfield::error unless the points have n_in columns of inputs for each of one or more right-hand sides.
  void check_inputs(named_points const& from, interaction_info const& of);

  /// The options of a run on a GPU alone, if these ask for one, or if `auto` chooses it: where there is one GPU, and
  /// nothing asks for StarPU. None: StarPU, or the calling thread.
  std::optional<execution_options> gpu_alone(execution_options const& asked);

  /// Where the steps of a time loop from these positions run: as the options say, or on the calling thread if pairs are
  /// few.
  execution_options place_of_loop(run_options const& options, named_points const& of,
                                  cut_options const& cut);

  /// The near field of the points: builds the tree, runs the step where `step` says, checks the targets.
  run_result compute(run_options const& options, execution_options const& step,
                     named_points const& targets, named_points const* sources,
                     cut_options const& cut);
}
