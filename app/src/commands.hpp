#pragma once

#include "options.hpp"

namespace nearfield::app
{
  /// The exit statuses of the program.
  enum exit_status : int
  {
    success = 0,
    check_failed = 1, ///< a row of the demo, --check, or results that are not finite
    failed = 2        ///< every other error
  };

  /// Reads, computes, checks, writes. Throws error.
  exit_status run(run_options const& options);

  /// Reads, searches, writes. Throws error.
  exit_status search(search_options const& options);

  /// Computes the near field of a protein on every back-end, and draws it. Throws error.
  exit_status demo(demo_options const& options);

  /// What is built in, and what this machine has.
  exit_status info();

  /// One line: version, commit, instruction sets.
  void print_version();

  /// Reads the command line and runs its command. Throws error.
  exit_status run_command(int argc, char** argv);
}
