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

  std::vector<std::size_t> ranks::offsets_of(std::span<std::size_t const> counts)
  {
    std::vector<std::size_t> offsets{0};
    for (std::size_t const count : counts) offsets.push_back(offsets.back() + count);
    return offsets;
  }

  std::vector<std::size_t> ranks::offsets_of_coming(std::span<std::size_t const> offsets) const
  {
    auto const n = static_cast<std::size_t>(size_);
    std::vector<std::size_t> to(n), from(n);
    for (std::size_t r = 0; r < n; ++r) to[r] = offsets[r + 1] - offsets[r];
    MPI_Alltoall(to.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
    return offsets_of(from);
  }

  namespace
  {
    /// Of the values of each rank.
    struct counts_and_places
    {
      std::vector<int> counts, places;

      explicit counts_and_places(std::span<std::size_t const> offsets)
      {
        for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
        {
          places.push_back(static_cast<int>(offsets[r]));
          counts.push_back(static_cast<int>(offsets[r + 1] - offsets[r]));
        }
      }
    };

    /// Calls f with a type for values of so many bytes: counts of MPI are int.
    template <class F>
    void with_type_of(std::size_t size, F const& f)
    {
      MPI_Datatype type;
      MPI_Type_contiguous(static_cast<int>(size), MPI_BYTE, &type);
      MPI_Type_commit(&type);
      f(type);
      MPI_Type_free(&type);
    }
  }

  void ranks::gather_bytes(void const* mine, void* all, std::span<std::size_t const> offsets,
                           std::size_t size) const
  {
    counts_and_places const of(offsets);
    with_type_of(size,
                 [&](MPI_Datatype type)
                 {
                   MPI_Allgatherv(mine, of.counts[static_cast<std::size_t>(rank_)], type, all,
                                  of.counts.data(), of.places.data(), type, comm_);
                 });
  }

  void ranks::exchange_bytes(void const* values, std::span<std::size_t const> offsets,
                             void* received, std::span<std::size_t const> received_offsets,
                             std::size_t size) const
  {
    counts_and_places const to(offsets), from(received_offsets);
    with_type_of(size,
                 [&](MPI_Datatype type)
                 {
                   MPI_Alltoallv(values, to.counts.data(), to.places.data(), type, received,
                                 from.counts.data(), from.places.data(), type, comm_);
                 });
  }
}
