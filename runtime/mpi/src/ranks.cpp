#include "ranks.hpp"

#include <nearfield/core/error.hpp>

#include <limits>
#include <new>

namespace nearfield::starpu_mpi::detail
{
  ranks::ranks(MPI_Comm comm) : comm_(comm)
  {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  void check_number(std::size_t n)
  {
    if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw error("points: " + std::to_string(n) +
                      " of them on one rank; give fewer than 2^31, on more ranks",
                  error_kind::out_of_memory);
  }

  void ranks::agree(std::exception_ptr const& mine) const
  {
    int const failed = mine ? rank_ : size_;
    int first = size_;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm_);
    if (first == size_) return;
    std::string what;
    int facts[3]{0, static_cast<int>(error_kind::starpu_failure), 0}; // length, kind, code
    if (first == rank_)
    {
      try
      {
        std::rethrow_exception(mine);
      }
      catch (error const& failure)
      {
        what = failure.what();
        facts[1] = static_cast<int>(failure.kind());
        facts[2] = failure.code();
      }
      catch (std::bad_alloc const&)
      {
        what = "out of memory; use more ranks";
        facts[1] = static_cast<int>(error_kind::out_of_memory);
      }
      catch (std::exception const& failure)
      {
        what = failure.what();
      }
      catch (...)
      {
        what = "an exception of unknown type";
      }
      facts[0] = static_cast<int>(what.size());
    }
    MPI_Bcast(facts, 3, MPI_INT, first, comm_);
    what.resize(static_cast<std::size_t>(facts[0]));
    MPI_Bcast(what.data(), facts[0], MPI_CHAR, first, comm_);
    throw agreed_error(first, what, static_cast<error_kind>(facts[1]), facts[2]);
  }

  std::uint64_t ranks::sum_before(std::uint64_t value) const
  {
    std::uint64_t before = 0; // MPI leaves that of rank 0 alone
    MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, comm_);
    return rank_ == 0 ? 0 : before;
  }

  by_rank<std::uint64_t> ranks::gather_all(std::span<std::uint64_t const> mine) const
  {
    int const n = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(size_)), places;
    MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_);
    by_rank<std::uint64_t> all;
    all.offsets.push_back(0);
    for (int const count : counts)
    {
      places.push_back(static_cast<int>(all.offsets.back()));
      all.offsets.push_back(all.offsets.back() + static_cast<std::size_t>(count));
    }
    all.values.resize(all.offsets.back());
    MPI_Allgatherv(mine.data(), n, MPI_UINT64_T, all.values.data(), counts.data(), places.data(),
                   MPI_UINT64_T, comm_);
    return all;
  }

  std::vector<std::size_t> ranks::offsets_of_coming(std::span<std::size_t const> offsets) const
  {
    auto const n = static_cast<std::size_t>(size_);
    std::vector<std::uint64_t> to(n), from(n);
    for (std::size_t r = 0; r < n; ++r) to[r] = offsets[r + 1] - offsets[r];
    MPI_Alltoall(to.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
    std::vector<std::size_t> coming{0};
    for (std::uint64_t const count : from) coming.push_back(coming.back() + count);
    return coming;
  }

  void ranks::exchange_bytes(void const* values, std::span<std::size_t const> offsets,
                             void* received, std::span<std::size_t const> received_offsets,
                             std::size_t size) const
  {
    auto const counts_of = [this](std::span<std::size_t const> of, std::vector<int>& places)
    {
      std::vector<int> counts;
      for (std::size_t r = 0; r < static_cast<std::size_t>(size_); ++r)
      {
        places.push_back(static_cast<int>(of[r]));
        counts.push_back(static_cast<int>(of[r + 1] - of[r]));
      }
      return counts;
    };
    std::vector<int> places, received_places;
    std::vector<int> const counts = counts_of(offsets, places);
    std::vector<int> const received_counts = counts_of(received_offsets, received_places);
    MPI_Datatype type;
    MPI_Type_contiguous(static_cast<int>(size), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(values, counts.data(), places.data(), type, received, received_counts.data(),
                  received_places.data(), type, comm_);
    MPI_Type_free(&type);
  }
}
