#pragma once

#include "commands.hpp"
#include "options.hpp"

#include <string>

/// \file
/// What a program knows of the processes that mpirun or srun has started it as, before MPI starts.

namespace nearfield::app
{
  struct launch
  {
    int ranks = 1;
    int rank = 0;
  };

  /// From the environment of OpenMPI, MPICH and Slurm; one rank without them.
  launch launched();

  /// Prints "nearfield: " and the message to stderr, as one line.
  void print_error(std::string message);

  /// As print_error() on the first rank. On others it returns later, since a launcher ends all ranks when one ends.
  void print_error_once(std::string const& message);

  /// Throws nearfield::error if there are several ranks: the command runs on one.
  void refuse_ranks(std::string const& command);

  /// `nearfield run` over all ranks. Throws nearfield::error where the program was built without MPI, and for options
  /// that are not for several ranks, before MPI starts. `written`: the lines that must be the same on all ranks.
  exit_status run_over_ranks(run_options const& options, std::string const& written);

  /// `nearfield search` in the same way.
  exit_status search_over_ranks(search_options const& options, std::string const& written);
}
