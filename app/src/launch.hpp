#pragma once

#include "commands.hpp"

#include <functional>
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

  /// Starts MPI, and calls f(host) for the host of all ranks that were launched, on each of them. If it throws, one rank
  /// prints the error, and all ranks end, as they do if MPI does not allow every thread to call it, or does not know the
  /// ranks. `written`: lines that all ranks must have. Throws nearfield::error where the program was built without MPI.
  exit_status on_all_ranks(std::string const& command, std::string const& written,
                           std::function<exit_status(run_host&)> const& f);
}
