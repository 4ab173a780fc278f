#pragma once

#include "commands.hpp"
#include "ranks.hpp"

#include "runtime/mpi/src/ranks.hpp"

#include <functional>
#include <string>

namespace nearfield::app
{
  /// What all ranks have agreed went wrong on the first of them that failed.
  using starpu_mpi::detail::agreed_error;

  /// The library's, of all ranks that were launched. All but abort() is collective.
  class mpi_ranks final : public ranks, public starpu_mpi::detail::ranks
  {
    using library = starpu_mpi::detail::ranks;

  public:
    mpi_ranks() : library(MPI_COMM_WORLD) {}

    [[nodiscard]] int rank() const override { return library::rank(); }
    [[nodiscard]] int size() const override { return library::size(); }
    /// How many of the ranks are on the machine of this one.
    [[nodiscard]] int on_this_machine() const;

    /// What f throws all ranks throw, as agreed_error.
    void attempt(std::function<void()> const& f) const override;
    [[noreturn]] void rethrow(error const& e, std::string const& before) const override;

    using app::ranks::least;
    using library::exchange, library::sum;
    [[nodiscard]] double greatest(double value) const override { return library::greatest(value); }
    [[nodiscard]] std::uint64_t greatest(std::uint64_t value) const override
    {
      return library::greatest(value);
    }
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const override
    {
      return library::sum(value);
    }
    [[nodiscard]] double sum(double value) const override
    {
      return static_cast<double>(library::sum(static_cast<long double>(value)));
    }
    [[nodiscard]] std::uint64_t sum_before(std::uint64_t value) const override
    {
      return library::sum_before(value);
    }

    [[nodiscard]] std::vector<std::string> united(std::vector<std::string> names) const override;
    void exchange(std::vector<std::vector<point_key>>& keys) const override;
    /// Throws agreed_error unless all ranks have the same lines; it names the first that differ.
    void require_same_options(std::string const& lines) const;
    void require_same_file(std::filesystem::path const& path) const override;
    void pass_to_first(std::function<void(byte_sink const&)> const& write,
                       byte_sink const& take) const override;
    void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

    /// For what fails on this rank alone: prints the message, and ends all ranks.
    [[noreturn]] void abort(std::string const& message) const;
  };
}
