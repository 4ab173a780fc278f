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
    // Threads that wait for messages leave their core to a worker (docs/scale.md). OpenMPI does so by itself only where
    // mpirun has started more ranks than there are cores.
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (int const there = launched().ranks; size_ != there)
      abort("mpirun: found " + std::to_string(there) + " ranks that were launched, but " +
            std::to_string(size_) +
            " of MPI; start it by the mpirun of the MPI that it was built "
            "with, or by srun --mpi=pmix");
    if (provided < MPI_THREAD_MULTIPLE)
      abort(
          "mpirun: this MPI does not let every thread call it (MPI_THREAD_MULTIPLE); use another");
  }

  ranks::~ranks()
  {
    MPI_Finalize();
  }

  int ranks::on_this_machine() const
  {
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    int n = 1;
    MPI_Comm_size(machine, &n);
    MPI_Comm_free(&machine);
    return n;
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

  std::vector<std::uint64_t> ranks::gather(std::uint64_t mine) const
  {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(size_));
    MPI_Allgather(&mine, 1, MPI_UINT64_T, values.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    return values;
  }

  std::vector<std::size_t> ranks::exchange_counts(std::vector<std::size_t> const& offsets) const
  {
    auto const n = static_cast<std::size_t>(size_);
    std::vector<std::uint64_t> to(n), from(n);
    for (std::size_t r = 0; r < n; ++r) to[r] = offsets[r + 1] - offsets[r];
    MPI_Alltoall(to.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<std::size_t> coming{0};
    for (std::uint64_t const count : from) coming.push_back(coming.back() + count);
    attempt(
        [&]
        {
          for (std::size_t const all : {offsets[n], coming[n]})
            if (all > static_cast<std::size_t>(std::numeric_limits<int>::max()))
              throw error("mpirun: found " + std::to_string(all) +
                          " values that a rank sends or receives, expected less than 2^31; use "
                          "more ranks");
        });
    return coming;
  }

  void ranks::exchange_bytes(void const* values, std::vector<std::size_t> const& offsets,
                             void* received, std::vector<std::size_t> const& coming,
                             std::size_t size) const
  {
    auto const counts_of = [](std::vector<std::size_t> const& of, std::vector<int>& places)
    {
      std::vector<int> counts;
      for (std::size_t r = 0; r + 1 < of.size(); ++r)
      {
        places.push_back(static_cast<int>(of[r]));
        counts.push_back(static_cast<int>(of[r + 1] - of[r]));
      }
      return counts;
    };
    std::vector<int> to, from;
    auto const n_to = counts_of(offsets, to), n_from = counts_of(coming, from);
    MPI_Datatype type;
    MPI_Type_contiguous(static_cast<int>(size), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(values, n_to.data(), to.data(), type, received, n_from.data(), from.data(), type,
                  MPI_COMM_WORLD);
    MPI_Type_free(&type);
  }

  void ranks::pass_to_first(std::function<void(byte_sink const&)> const& write,
                            byte_sink const& take) const
  {
    constexpr int tag = 0;
    constexpr std::size_t most = 1 << 24; // bytes of a message; one without bytes is the last
    attempt(
        [&]
        {
          if (is_first()) write(take);
        });
    std::exception_ptr failure; // the others are waited for all the same
    auto const go_on = [&](auto const& f)
    {
      if (!failure) try
        {
          f();
        }
        catch (...)
        {
          failure = std::current_exception();
        }
    };
    if (!is_first())
    {
      auto const send = [&](std::string_view bytes)
      {
        for (std::size_t i = 0; i < bytes.size(); i += most)
          MPI_Send(bytes.data() + i, static_cast<int>(std::min(most, bytes.size() - i)), MPI_BYTE,
                   0, tag, MPI_COMM_WORLD);
      };
      go_on([&] { write(send); });
      MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
    std::vector<char> piece(is_first() ? most : 0);
    for (int r = 1; r < size_ && is_first(); ++r)
      for (int n = 1; n > 0;)
      {
        MPI_Status status;
        MPI_Recv(piece.data(), static_cast<int>(most), MPI_BYTE, r, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        go_on([&] { take({piece.data(), static_cast<std::size_t>(n)}); });
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
