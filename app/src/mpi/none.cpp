#include "launch.hpp"

#include <nearfield/core/error.hpp>

namespace nearfield::app
{
  exit_status run_over_ranks(run_options const&)
  {
    throw error("run: found " + std::to_string(launched().ranks) +
                " ranks of MPI, but this program was built without it; build it by ./dev mpi, or "
                "start it without mpirun or srun");
  }
}
