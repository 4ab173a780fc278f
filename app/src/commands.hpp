#pragma once

#include "options.hpp"

namespace nearfield::app
{
  /// The exit statuses of the program.
  enum exit_status : int
  {
    success = 0,
    check_failed = 1, ///< a row of the demo, --check, or results that are not finite
    failed = 2        ///< any other error
  };

  class run_host;

  /// `nearfield run`: reads, computes, checks, writes. Like the other commands, throws nearfield::error.
  exit_status run(run_host& on, run_options const& options);

  /// `nearfield tune`: reads, times pairs, chooses a leaf size.
  exit_status tune(run_options const& options);

  /// `nearfield search`: reads, searches, writes.
  exit_status search(run_host& on, search_options const& options);

  /// `nearfield demo`: computes the near field of a protein on every back-end and draws it.
  exit_status demo(demo_options const& options);

  /// `nearfield info`: describes the build and the machine, or the interactions that are named.
  exit_status info(info_options const& options);

  /// Prints one line: version, commit, instruction sets.
  void print_version();

  /// Parses the command line and runs the command.
  exit_status run_command(int argc, char** argv);
}
