#include <nearfield/starpu_mpi/near_field.hpp>

#include "ranks.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

namespace nearfield::starpu_mpi
{
  namespace
  {
    [[noreturn]] void end(MPI_Comm communicator, std::string const& line)
    {
      std::fputs(line.c_str(), stderr);
      std::fflush(stderr);
      MPI_Abort(communicator, EXIT_FAILURE);
      std::_Exit(EXIT_FAILURE); // MPI need not
    }
  }

  void end_together(MPI_Comm communicator, char const* program, std::function<void()> const& f)
  {
    std::string const name(program);
    try
    {
      f();
    }
    catch (detail::agreed_error const& failure)
    {
      // all ranks are here: the one that failed speaks, and ends the others
      bool const failed_here = failure.rank() == detail::ranks(communicator).rank();
      if (!failed_here) std::this_thread::sleep_for(std::chrono::seconds(5));
      end(communicator, failed_here ? name + ": " + failure.what() + "\n" : "");
    }
    catch (std::exception const& failure)
    {
      end(communicator, name + ": rank " + std::to_string(detail::ranks(communicator).rank()) +
                            ": " + failure.what() + "\n");
    }
  }
}
