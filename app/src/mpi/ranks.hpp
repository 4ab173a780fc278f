#pragma once

#include "files.hpp"

#include "runtime/mpi/src/ranks.hpp"

#include <nearfield/core/error.hpp>

#include <functional>
#include <new>
#include <string>

namespace nearfield::app
{
  /// What all ranks have agreed went wrong on the first of them that failed.
  using starpu_mpi::detail::agreed_error;

  /// MPI, running as long as this lives.
  class mpi_process
  {
  public:
    mpi_process();
    ~mpi_process();
    mpi_process(mpi_process const&) = delete;
    mpi_process& operator=(mpi_process const&) = delete;

  private:
    int provided_ = 0;
    friend class ranks;
  };

  /// The library's, of all ranks that were launched. All but abort() is collective.
  class ranks : mpi_process, public starpu_mpi::detail::ranks
  {
  public:
    /// Ends the program if MPI does not allow every thread to call it, or does not know the ranks that were launched.
    ranks();

    [[nodiscard]] bool is_first() const { return rank() == 0; }
    /// How many of the ranks are on the machine of this one.
    [[nodiscard]] int on_this_machine() const;

    /// Calls f, and throws agreed_error on all ranks if it throws on any.
    template <class F>
    void attempt(F const& f) const
    {
      starpu_mpi::detail::ranks::attempt(
          [&]
          {
            try
            {
              f();
            }
            catch (std::bad_alloc const&)
            {
              throw error("this needs more memory than there is; give fewer points, or more ranks");
            }
          });
    }

    /// The texts of all ranks, one after the other, on all of them.
    [[nodiscard]] std::string join(std::string const& mine) const
    {
      auto const joined = gather_all<char>(mine);
      return {joined.values.begin(), joined.values.end()};
    }
    /// Calls write(put) on every rank. What it gives to put(bytes) comes to take(bytes) on the first rank, in the order
    /// of ranks.
    void pass_to_first(std::function<void(byte_sink const&)> const& write,
                       byte_sink const& take) const;
    void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

    /// For what fails on this rank alone: prints the message, and ends all ranks.
    [[noreturn]] void abort(std::string const& message) const;
  };
}
