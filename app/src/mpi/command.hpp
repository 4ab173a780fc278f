#pragma once

#include "commands.hpp"
#include "launch.hpp"
#include "mpi/agreement.hpp"
#include "mpi/mpi_ranks.hpp"

#include <cstdlib>
#include <string>

/// \file
/// What the commands that run over ranks have in common.

namespace nearfield::app
{
  /// Before StarPU starts: it would bind the first worker of each rank of a machine to the same core. Threads stay on
  /// the cores of their process.
  inline void leave_binding_to_the_launcher()
  {
    if (!std::getenv("STARPU_WORKERS_GETBIND")) ::setenv("STARPU_WORKERS_NOBIND", "1", 0);
  }

  /// Calls f(ranks), which gives the exit status of all of them. What it throws is said once, and ends all. `written`:
  /// lines that all ranks must have.
  template <class F>
  exit_status on_all_ranks(std::string const& written, F const& f)
  {
    mpi_ranks const all;
    try
    {
      require_same_options(all, written);
      exit_status const status = f(all);
      all.wait_for_all(); // a launcher ends all ranks when one ends by another status
      return status;
    }
    catch (agreed_error const& failure)
    {
      if (all.is_first()) print_error(failure.said());
      all.wait_for_all();
      return failed;
    }
    catch (std::exception const& failure)
    {
      all.abort(failure.what());
    }
  }
}
