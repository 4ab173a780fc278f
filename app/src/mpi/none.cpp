#include "launch.hpp"

#include <nearfield/core/error.hpp>

namespace nearfield::app
{
  exit_status on_all_ranks(std::string const& command, std::string const&,
                           std::function<exit_status(run_host&)> const&)
  {
    throw error(command + ": found " + std::to_string(launched().ranks) +
                " ranks of MPI, but this program was built without it; build it by ./dev mpi, or "
                "start it without mpirun or srun");
  }
}
