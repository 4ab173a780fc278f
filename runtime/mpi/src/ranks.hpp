#pragma once

#include "tree/src/sort.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// What all ranks of a communicator do together. Every function is collective. What MPI itself finds wrong goes to the
/// error handler of the communicator.

namespace nearfield::starpu_mpi::detail
{
  /// The error that all ranks throw for what went wrong on one of them.
  class NEARFIELD_API agreed_error : public error
  {
  public:
    agreed_error(int rank, std::string const& what, error_kind kind, int code)
        : error(name_of(rank) + what, kind, code), rank_(rank)
    {}
    [[nodiscard]] int rank() const { return rank_; }
    /// The message of that rank, which what() names.
    [[nodiscard]] std::string said() const { return what() + name_of(rank_).size(); }

  private:
    static std::string name_of(int rank) { return "rank " + std::to_string(rank) + ": "; }

    int rank_;
  };

  /// Values in the order of ranks: those of rank r are [offsets[r], offsets[r + 1]).
  template <class T>
  struct by_rank
  {
    nearfield::detail::page_vector<T> values;
    std::vector<std::size_t> offsets;

    [[nodiscard]] std::span<T const> of(int rank) const
    {
      auto const r = static_cast<std::size_t>(rank);
      return std::span(values).subspan(offsets[r], offsets[r + 1] - offsets[r]);
    }
  };

  /// Throws nearfield::error if a rank would have 2^31 points or more.
  NEARFIELD_API void check_number(std::size_t n);

  /// The ranks, as a caller's communicator has them. Of the program too: app/src/mpi/mpi_ranks.hpp.
  class NEARFIELD_API ranks
  {
  public:
    explicit ranks(MPI_Comm comm);

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    /// If `mine` is set on any rank, throws nearfield::error on all: that of the first such rank, which it names.
    void agree(std::exception_ptr const& mine) const;
    /// Calls f, and agrees.
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

    /// The least, the greatest and the sum over the ranks: of a number, or of each value of an array or a vector.
    template <class Values>
    [[nodiscard]] Values least(Values values) const
    {
      return combine(std::move(values), MPI_MIN);
    }
    template <class Values>
    [[nodiscard]] Values greatest(Values values) const
    {
      return combine(std::move(values), MPI_MAX);
    }
    template <class Values>
    [[nodiscard]] Values sum(Values values) const
    {
      return combine(std::move(values), MPI_SUM);
    }
    /// The sum of the values of the ranks before this one.
    [[nodiscard]] std::uint64_t sum_before(std::uint64_t value) const;

    /// The value of each rank.
    template <class T>
      requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::vector<T> gather(T const& mine) const
    {
      std::vector<T> all(static_cast<std::size_t>(size_));
      MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, comm_);
      return all;
    }
    /// The values of all ranks, as many as each has. Throws nearfield::error as exchange() does.
    template <class T>
      requires std::is_trivially_copyable_v<T>
    [[nodiscard]] by_rank<T> gather_all(std::span<T const> mine) const
    {
      by_rank<T> all;
      all.offsets = offsets_of(gather(mine.size()));
      attempt(
          [&]
          {
            check_number(all.offsets.back());
            all.values.resize(all.offsets.back());
          });
      gather_bytes(mine.data(), all.values.data(), all.offsets, sizeof(T));
      return all;
    }

    /// Sends values [offsets[r], offsets[r + 1]) to rank r. Throws nearfield::error, on all ranks, if a rank would have
    /// 2^31 values or more.
    template <class T>
      requires std::is_trivially_copyable_v<T>
    [[nodiscard]] by_rank<T> exchange(std::span<T const> values,
                                      std::span<std::size_t const> offsets) const
    {
      by_rank<T> received;
      exchange<T>(values, offsets, received);
      return received;
    }
    /// The same, in the memory of `received`.
    template <class T>
      requires std::is_trivially_copyable_v<T>
    void exchange(std::span<T const> values, std::span<std::size_t const> offsets,
                  by_rank<T>& received) const
    {
      received.offsets = offsets_of_coming(offsets);
      attempt(
          [&]
          {
            check_number(offsets.back());
            check_number(received.offsets.back());
            nearfield::detail::renew(received.values, received.offsets.back());
          });
      exchange_bytes(values.data(), offsets, received.values.data(), received.offsets, sizeof(T));
    }

    /// The same for values of `size` bytes, where it is known what comes.
    void exchange_bytes(void const* values, std::span<std::size_t const> offsets, void* received,
                        std::span<std::size_t const> received_offsets, std::size_t size) const;

    template <class T>
    using addressed = std::vector<std::pair<int, T>>;
    /// Sends each value of some lists to the rank beside it; values for one rank keep their order.
    template <class T>
    [[nodiscard]] by_rank<T> send(std::span<addressed<T> const> lists) const
    {
      std::vector<std::size_t> offsets(static_cast<std::size_t>(size_) + 1, 0);
      for (auto const& list : lists)
        for (auto const& [rank, value] : list) ++offsets[static_cast<std::size_t>(rank) + 1];
      std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      nearfield::detail::page_vector<T> values(offsets.back());
      auto next = offsets;
      for (auto const& list : lists)
        for (auto const& [rank, value] : list)
          values[next[static_cast<std::size_t>(rank)]++] = value;
      return exchange<T>(values, offsets);
    }

  private:
    template <class Values>
    Values combine(Values values, MPI_Op operation) const
    {
      auto const in_place = [&](auto const& all)
      {
        using T = typename std::remove_cvref_t<decltype(all)>::value_type;
        static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                      std::is_same_v<T, long double> || std::is_same_v<T, std::uint64_t>);
        MPI_Datatype const type = std::is_same_v<T, float>         ? MPI_FLOAT
                                  : std::is_same_v<T, double>      ? MPI_DOUBLE
                                  : std::is_same_v<T, long double> ? MPI_LONG_DOUBLE
                                                                   : MPI_UINT64_T;
        MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), type, operation,
                      comm_);
      };
      if constexpr (std::is_arithmetic_v<Values>)
        in_place(std::span(&values, 1));
      else
        in_place(std::span(values));
      return values;
    }
    [[nodiscard]] static std::vector<std::size_t> offsets_of(std::span<std::size_t const> counts);
    [[nodiscard]] std::vector<std::size_t>
    offsets_of_coming(std::span<std::size_t const> offsets) const;
    void gather_bytes(void const* mine, void* all, std::span<std::size_t const> offsets,
                      std::size_t size) const;

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1;
  };
}
