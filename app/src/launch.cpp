#include "launch.hpp"

#include <nearfield/core/error.hpp>

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <thread>

namespace nearfield::app
{
  namespace
  {
    // The number in the first of these variables that has one; -1 without.
    int number_in(std::initializer_list<char const*> variables)
    {
      for (char const* const name : variables)
        if (char const* const text = std::getenv(name))
          if (auto const number = nearfield::detail::read_number<int>(text); number && *number >= 0)
            return *number;
      return -1;
    }
  }

  launch launched()
  {
    int ranks = number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
    // srun --mpi=pmix; without --mpi, Slurm's tasks are programs of their own
    if (ranks < 0 && std::getenv("PMIX_RANK")) ranks = number_in({"SLURM_STEP_NUM_TASKS"});
    int const rank = number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"});
    if (ranks <= 1 || rank < 0) return {};
    return {ranks, rank};
  }

  void print_error(std::string message)
  {
    for (char& c : message)
      if (c == '\n' || c == '\r') c = ' ';
    std::cerr << "nearfield: " << message << std::endl;
  }

  void print_error_once(std::string const& message)
  {
    if (launched().rank == 0)
      print_error(message);
    else
      std::this_thread::sleep_for(std::chrono::seconds(2));
  }

  void refuse_ranks(std::string const& command)
  {
    if (int const n = launched().ranks; n > 1)
      throw error(command + ": found " + std::to_string(n) +
                  " ranks of MPI, expected one process; start it without mpirun or srun");
  }
}
