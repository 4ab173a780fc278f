#include "mpi/ranks.hpp"

#include "launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace nearfield::app
{
  namespace
  {
    std::string message_of(std::exception_ptr const& failure)
    {
      try
      {
        std::rethrow_exception(failure);
      }
      catch (std::bad_alloc const&)
      {
        return "this needs more memory than there is; give fewer points, or more ranks";
      }
      catch (std::exception const& e)
      {
        return e.what();
      }
    }
  }

  ranks::ranks()
  {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (int const there = launched().ranks; size_ != there)
      abort("run: found " + std::to_string(there) + " ranks that were launched, but " +
            std::to_string(size_) +
            " of MPI; start it by the mpirun of the MPI that it was built "
            "with, or by srun --mpi=pmix");
    if (provided < MPI_THREAD_MULTIPLE)
      abort("run: this MPI does not let every thread call it (MPI_THREAD_MULTIPLE); use another");
  }

  ranks::~ranks()
  {
    MPI_Finalize();
  }

  std::uint64_t ranks::sum(std::uint64_t value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }

  std::uint64_t ranks::sum_before(std::uint64_t value) const
  {
    std::uint64_t before = 0; // MPI leaves that of rank 0 alone
    MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return rank_ == 0 ? 0 : before;
  }

  std::uint64_t ranks::least(std::uint64_t value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return value;
  }

  double ranks::least(double value) const
  {
    return -greatest(-value);
  }

  double ranks::greatest(double value) const
  {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  }

  void ranks::sum(std::span<long double> values) const
  {
    constexpr std::size_t most = 1 << 24; // counts of MPI are int
    for (std::size_t i = 0; i < values.size(); i += most)
    {
      auto const part = values.subspan(i, std::min(most, values.size() - i));
      MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_LONG_DOUBLE,
                    MPI_SUM, MPI_COMM_WORLD);
    }
  }

  std::string ranks::join(std::string_view mine) const
  {
    auto const all = sum(mine.size());
    attempt(
        [&]
        {
          if (all > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
            throw error("run: found " + std::to_string(all) +
                        " bytes that every rank needs, expected less than 2^31; use --check with "
                        "fewer points");
        });
    int const n = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(size_)), places(counts.size());
    MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < counts.size(); ++r) places[r] = places[r - 1] + counts[r - 1];
    std::string joined(static_cast<std::size_t>(all), '\0');
    MPI_Allgatherv(mine.data(), n, MPI_BYTE, joined.data(), counts.data(), places.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    return joined;
  }

  void ranks::pass_to_first(std::string_view mine,
                            std::function<void(std::string_view)> const& take) const
  {
    constexpr int tag = 0;
    constexpr std::size_t most = 1 << 26; // bytes of a message
    attempt(
        [&]
        {
          if (is_first()) take(mine);
        });
    if (!is_first())
    {
      std::uint64_t const n = mine.size();
      MPI_Send(&n, 1, MPI_UINT64_T, 0, tag, MPI_COMM_WORLD);
      for (std::size_t i = 0; i < n; i += most)
        MPI_Send(mine.data() + i, static_cast<int>(std::min(most, n - i)), MPI_BYTE, 0, tag,
                 MPI_COMM_WORLD);
    }
    std::exception_ptr failure; // the others send all the same
    std::vector<char> piece;
    for (int r = 1; r < size_ && is_first(); ++r)
    {
      std::uint64_t n = 0;
      MPI_Recv(&n, 1, MPI_UINT64_T, r, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (std::uint64_t i = 0; i < n; i += most)
      {
        piece.resize(std::min<std::uint64_t>(most, n - i));
        MPI_Recv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, r, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (!failure) try
          {
            take({piece.data(), piece.size()});
          }
          catch (...)
          {
            failure = std::current_exception();
          }
      }
    }
    agree(failure);
  }

  void ranks::abort(std::string const& message) const
  {
    print_error(message);
    MPI_Abort(MPI_COMM_WORLD, failed);
    std::_Exit(failed); // MPI need not
  }

  void ranks::agree(std::exception_ptr const& mine) const
  {
    int const me = mine ? rank_ : size_;
    int first = size_;
    MPI_Allreduce(&me, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == size_) return;
    auto const said = join(first == rank_ ? message_of(mine) : std::string());
    throw agreed_error(said);
  }
}
