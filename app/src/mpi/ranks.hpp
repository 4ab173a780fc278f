#pragma once

#include "files.hpp"

#include <nearfield/core/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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
    /// How many of the ranks are on the machine of this one.
    [[nodiscard]] int on_this_machine() const;

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
    /// The value of every rank.
    [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) const;
    /// Sends values [offsets[r], offsets[r + 1]) to rank r; what comes is in the order of ranks. Throws agreed_error if
    /// a rank would have 2^31 values or more.
    template <class T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::vector<T> exchange(std::vector<T> const& values,
                                          std::vector<std::size_t> const& offsets) const
    {
      auto const coming = exchange_counts(offsets);
      std::vector<T> received;
      attempt([&] { received.resize(coming.back()); });
      exchange_bytes(values.data(), offsets, received.data(), coming, sizeof(T));
      return received;
    }
    /// Calls write(put) on every rank. What it gives to put(bytes) comes to take(bytes) on the first rank, in the order
    /// of ranks.
    void pass_to_first(std::function<void(byte_sink const&)> const& write,
                       byte_sink const& take) const;
    void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

    /// For what fails on this rank alone: prints the message, and ends all ranks.
    [[noreturn]] void abort(std::string const& message) const;

  private:
    void agree(std::exception_ptr const& mine) const;
    [[nodiscard]] std::vector<std::size_t>
    exchange_counts(std::vector<std::size_t> const& offsets) const;
    void exchange_bytes(void const* values, std::vector<std::size_t> const& offsets, void* received,
                        std::vector<std::size_t> const& coming, std::size_t size) const;

    int rank_ = 0, size_ = 1;
  };
}
