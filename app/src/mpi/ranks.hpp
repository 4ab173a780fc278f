#pragma once

#include <nearfield/core/error.hpp>

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::app
{
  /// What all ranks have agreed went wrong on the first of them that failed.
  class agreed_error : public error
  {
    using error::error;
  };

  /// MPI, running as long as this lives. All but abort() is collective.
  class ranks
  {
  public:
    /// Throws nearfield::error if MPI does not allow every thread to call it, or does not know the ranks that were
    /// launched.
    ranks();
    ~ranks();
    ranks(ranks const&) = delete;
    ranks& operator=(ranks const&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] bool is_first() const { return rank_ == 0; }

    /// Calls f, and throws agreed_error on all ranks if it throws on any.
    template <class F>
    void attempt(F const& f) const
    {
      std::exception_ptr mine;
      try
      {
        f();
      }
      catch (...)
      {
        mine = std::current_exception();
      }
      agree(mine);
    }

    /// Over all ranks, on all of them.
    [[nodiscard]] std::uint64_t sum(std::uint64_t value) const;
    [[nodiscard]] std::uint64_t
    sum_before(std::uint64_t value) const; ///< of the ranks before this one
    [[nodiscard]] std::uint64_t least(std::uint64_t value) const;
    [[nodiscard]] double least(double value) const;
    [[nodiscard]] double greatest(double value) const;
    void sum(std::span<long double> values) const;

    /// The bytes of all ranks, one after the other, on all of them: fewer than 2^31.
    [[nodiscard]] std::string join(std::string_view mine) const;
    /// On the first rank, calls take(bytes) with those of all ranks in order, piece by piece.
    void pass_to_first(std::string_view mine,
                       std::function<void(std::string_view)> const& take) const;
    void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

    /// For what fails on this rank alone: prints the message, and ends all ranks.
    [[noreturn]] void abort(std::string const& message) const;

  private:
    void agree(std::exception_ptr const& mine) const;

    int rank_ = 0, size_ = 1;
  };
}
