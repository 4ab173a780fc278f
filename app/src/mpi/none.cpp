#include "launch.hpp"

#include <nearfield/core/error.hpp>

namespace nearfield::app
{
  namespace
  {
    [[noreturn]] void refuse(std::string const& command)
    {
      throw error(command + ": found " + std::to_string(launched().ranks) +
                  " ranks of MPI, but this program was built without it; build it by ./dev mpi, or "
                  "start it without mpirun or srun");
    }
  }

  exit_status run_over_ranks(run_options const&, std::string const&)
  {
    refuse("run");
  }

  exit_status search_over_ranks(search_options const&, std::string const&)
  {
    refuse("search");
  }
}
