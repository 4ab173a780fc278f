#pragma once

#include "files.hpp"

#include <nearfield/core/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace nearfield::app
{
  struct point_key;

  /// The processes of a run: this one alone or, over MPI, ranks, which override all of this. All of them call every
  /// function but rank(), size() and is_first().
  class ranks
  {
  public:
    virtual ~ranks() = default;

    [[nodiscard]] virtual int rank() const { return 0; }
    [[nodiscard]] virtual int size() const { return 1; }
    /// Whether this one says how far the run is, and what came of it.
    [[nodiscard]] bool is_first() const { return rank() == 0; }

    /// Calls f, which must not communicate. If f throws on one rank, all ranks throw that error.
    virtual void attempt(std::function<void()> const& f) const { f(); }
    /// On each rank that has the error, throws it again with `before` in front of its message.
    [[noreturn]] virtual void rethrow(error const& e, std::string const& before) const
    {
      throw error(before + e.what(), e.kind(), e.code());
    }

    [[nodiscard]] virtual double greatest(double value) const { return value; }
    [[nodiscard]] virtual std::uint64_t greatest(std::uint64_t value) const { return value; }
    [[nodiscard]] double least(double value) const { return -greatest(-value); }
    [[nodiscard]] std::uint64_t least(std::uint64_t value) const { return ~greatest(~value); }
    [[nodiscard]] virtual std::uint64_t sum(std::uint64_t value) const { return value; }
    [[nodiscard]] virtual double sum(double value) const { return value; }
    /// Of the ranks before this one.
    [[nodiscard]] virtual std::uint64_t sum_before(std::uint64_t) const { return 0; }
    [[nodiscard]] bool any(bool here) const { return sum(std::uint64_t(here)) > 0; }

    /// The names that any rank has, as they first appear, rank by rank.
    [[nodiscard]] virtual std::vector<std::string> united(std::vector<std::string> names) const
    {
      return names;
    }
    /// Brings keys[r] of all ranks to rank r, where `keys` is then one list; of one process it stays as it is.
    virtual void exchange(std::vector<std::vector<point_key>>&) const {}
    /// Throws unless all ranks find the same bytes in the file.
    virtual void require_same_file(std::filesystem::path const&) const {}
    /// Calls write(put) on every rank. The first rank calls take(bytes) with the bytes that each write() puts, rank by
    /// rank.
    virtual void pass_to_first(std::function<void(byte_sink const&)> const& write,
                               byte_sink const& take) const
    {
      write(take);
    }
  };
}
