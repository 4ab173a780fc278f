#pragma once

#include <Kokkos_Core.hpp>
#if !defined(KOKKOS_ENABLE_CUDA)
#include <Kokkos_SIMD.hpp>
#endif

#include <cstddef>

/// \file
/// The bodies of the strategies, as function objects: nvcc would call a lambda of the host through a pointer.
/// NEARFIELD_KOKKOS_MATH, of `math`, is in the names of all: files with different flags share no function.

namespace baseline::detail
{
  inline namespace NEARFIELD_KOKKOS_MATH
  {
    /// Where the sums are computed: the GPU, or the threads of the host.
    using space = Kokkos::DefaultExecutionSpace;
    using team_policy = Kokkos::TeamPolicy<space>;
    using team_member = team_policy::member_type;
    template <class T>
    using column = Kokkos::View<T*, space>;
    template <class T>
    using scratch_column =
        Kokkos::View<T*, space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

    using index = int;

    /// Of a register of the instruction set that Kokkos was configured for.
#if defined(KOKKOS_ARCH_AVX512XEON)
    constexpr int register_bytes = 64;
#elif defined(KOKKOS_ARCH_AVX2)
    constexpr int register_bytes = 32;
#elif defined(KOKKOS_ARCH_ARM_NEON)
    constexpr int register_bytes = 16;
#else
    constexpr int register_bytes = 0;
#endif

    template <class T, int Dim>
    struct place
    {
      T x[Dim];
    };

    /// Columns of coordinates and charges, in the memory of the space or in scratch memory.
    template <class T, int Dim, class Column = column<T>>
    struct charges
    {
      Column x[Dim], q;

      KOKKOS_INLINE_FUNCTION place<T, Dim> at(index i) const
      {
        place<T, Dim> result;
        for (int d = 0; d < Dim; ++d) result.x[d] = x[d](i);
        return result;
      }

      /// What source j adds at a target.
      KOKKOS_INLINE_FUNCTION T term(place<T, Dim> const& target, index j) const
      {
        T r2 = 0;
        for (int d = 0; d < Dim; ++d)
        {
          T const r = target.x[d] - x[d](j);
          r2 += r * r;
        }
        return q(j) * Kokkos::rsqrt(r2);
      }
    };

    /// What the strategies know: n sources, targets and their sums. Inner: the targets are the sources.
    template <class T, int Dim, bool Inner>
    struct problem
    {
      charges<T, Dim> targets, sources;
      column<T> out;
      index n_targets, n_sources;

      /// The term of source j at target i, 0 if they are the same point: a choice, since g++ vectorises no branch here.
      KOKKOS_INLINE_FUNCTION T term(place<T, Dim> const& target, index i, index j) const
      {
        T const term = sources.term(target, j);
        return Inner && i == j ? T(0) : term;
      }
    };

    template <class T, int Dim, bool Inner>
    struct flat_range : problem<T, Dim, Inner>
    {
      KOKKOS_INLINE_FUNCTION void operator()(index i) const
      {
        auto const target = this->targets.at(i);
        T sum = 0;
        index const self = Inner ? i : this->n_sources;
        for (index j = 0; j < self; ++j) sum += this->sources.term(target, j);
        for (index j = self + 1; j < this->n_sources; ++j) sum += this->sources.term(target, j);
        this->out(i) = sum;
      }
    };

    /// The reduction of one target.
    template <class T, int Dim, bool Inner>
    struct reduce : problem<T, Dim, Inner>
    {
      index i;
      KOKKOS_INLINE_FUNCTION void operator()(index j, T& sum) const
      {
        sum += this->term(this->targets.at(i), i, j);
      }
    };

    template <class T, int Dim, bool Inner>
    struct nested_teams : problem<T, Dim, Inner>
    {
      KOKKOS_INLINE_FUNCTION void operator()(team_member const& member) const
      {
        index const i = member.league_rank();
        auto const target = this->targets.at(i);
        T total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(member, this->n_sources),
            [&](index j, T& sum) { sum += this->term(target, i, j); }, total);
        Kokkos::single(Kokkos::PerTeam(member), [&] { this->out(i) = total; });
      }
    };

    template <class T, int Dim, bool Inner>
    struct nested_vectors : problem<T, Dim, Inner>
    {
      index targets_per_team;

      KOKKOS_INLINE_FUNCTION void operator()(team_member const& member) const
      {
        index const first = member.league_rank() * targets_per_team;
        index const last = Kokkos::min(first + targets_per_team, this->n_targets);
        Kokkos::parallel_for(
            Kokkos::TeamThreadRange(member, first, last),
            [&](index i)
            {
              auto const target = this->targets.at(i);
              T total = 0;
              Kokkos::parallel_reduce(
                  Kokkos::ThreadVectorRange(member, this->n_sources),
                  [&](index j, T& sum) { sum += this->term(target, i, j); }, total);
              Kokkos::single(Kokkos::PerThread(member), [&] { this->out(i) = total; });
            });
      }
    };

    /// A team's scratch memory for `chunk` sources.
    template <class T, int Dim>
    struct scratch : charges<T, Dim, scratch_column<T>>
    {
      static std::size_t bytes(int chunk)
      {
        return (Dim + 1) * scratch_column<T>::shmem_size(chunk);
      }

      KOKKOS_INLINE_FUNCTION scratch(team_member const& member, int chunk)
      {
        for (int d = 0; d < Dim; ++d) this->x[d] = scratch_column<T>(member.team_scratch(0), chunk);
        this->q = scratch_column<T>(member.team_scratch(0), chunk);
      }

      /// Copies the sources [first, first + count), and waits for all threads.
      KOKKOS_INLINE_FUNCTION void fill(team_member const& member, charges<T, Dim> const& from,
                                       index first, index count) const
      {
        member.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamVectorRange(member, count),
                             [&](index j)
                             {
                               for (int d = 0; d < Dim; ++d) this->x[d](j) = from.x[d](first + j);
                               this->q(j) = from.q(first + j);
                             });
        member.team_barrier();
      }
    };

    /// partial(i, c) is the sum of chunk c at target i.
    template <class T>
    using partial_sums = Kokkos::View<T**, Kokkos::LayoutLeft, space>;

    template <class T, int Dim, bool Inner>
    struct hierarchical : problem<T, Dim, Inner>
    {
      partial_sums<T> partial;
      index chunk;

      KOKKOS_INLINE_FUNCTION void operator()(team_member const& member) const
      {
        index const c = member.league_rank(), first = c * chunk;
        index const count = Kokkos::min(chunk, this->n_sources - first);
        scratch<T, Dim> const near(member, chunk);
        near.fill(member, this->sources, first, count);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(member, this->n_targets),
                             [&](index i)
                             {
                               auto const target = this->targets.at(i);
                               T total = 0;
                               Kokkos::parallel_reduce(
                                   Kokkos::ThreadVectorRange(member, count),
                                   [&](index j, T& sum)
                                   {
                                     T const term = near.term(target, j);
                                     sum += Inner && i == first + j ? T(0) : term;
                                   },
                                   total);
                               Kokkos::single(Kokkos::PerThread(member),
                                              [&] { partial(i, c) = total; });
                             });
      }
    };

    template <class T>
    struct sum_of_chunks
    {
      partial_sums<T> partial;
      column<T> out;
      index n_chunks;

      KOKKOS_INLINE_FUNCTION void operator()(index i) const
      {
        T sum = 0;
        for (index c = 0; c < n_chunks; ++c) sum += partial(i, c);
        out(i) = sum;
      }
    };

    template <class T, int Dim, bool Inner>
    struct tiled : problem<T, Dim, Inner>
    {
      index chunk;

      KOKKOS_INLINE_FUNCTION void operator()(team_member const& member) const
      {
        scratch<T, Dim> const near(member, chunk);
        // every thread fills tiles, those beyond the last target too
        index const i = member.league_rank() * member.team_size() + member.team_rank();
        auto const target = this->targets.at(Kokkos::min(i, this->n_targets - 1));
        T sum = 0;
        for (index first = 0; first < this->n_sources; first += chunk)
        {
          index const count = Kokkos::min(chunk, this->n_sources - first);
          near.fill(member, this->sources, first, count);
          for (index j = 0; j < count; ++j)
          {
            T const term = near.term(target, j);
            sum += Inner && i == first + j ? T(0) : term;
          }
        }
        if (i < this->n_targets) this->out(i) = sum;
      }
    };

#if !defined(KOKKOS_ENABLE_CUDA)
    template <class T, int Dim, bool Inner>
    struct simd : problem<T, Dim, Inner>
    {
      static constexpr int lanes = register_bytes == 0 ? 1 : register_bytes / int(sizeof(T));
      using pack = Kokkos::Experimental::simd<T, lanes>;

      void operator()(index p) const
      {
        index const first = p * lanes, last = this->n_targets - 1;
        pack x[Dim], sum(T(0));
        for (int d = 0; d < Dim; ++d)
          x[d] = pack([&](std::size_t lane)
                      { return this->targets.x[d](Kokkos::min(first + index(lane), last)); });
        auto const r2_of = [&](index j)
        {
          pack r2(T(0));
          for (int d = 0; d < Dim; ++d)
          {
            pack const r = x[d] - pack(this->sources.x[d](j));
            r2 = r2 + r * r;
          }
          return r2;
        };
        auto const add = [&](index begin, index end)
        {
          for (index j = begin; j < end; ++j)
            sum = sum + pack(this->sources.q(j)) / Kokkos::sqrt(r2_of(j));
        };
        if constexpr (Inner)
        {
          // only here a target meets itself
          index const after = Kokkos::min(first + lanes, this->n_sources);
          add(0, first);
          for (index j = first; j < after; ++j)
          {
            auto const self = [&](std::size_t lane)
            {
              return first + index(lane) == j;
            };
            pack const q([&](std::size_t lane) { return self(lane) ? T(0) : this->sources.q(j); });
            pack const one([&](std::size_t lane) { return self(lane) ? T(1) : T(0); });
            sum = sum + q / Kokkos::sqrt(r2_of(j) + one);
          }
          add(after, this->n_sources);
        }
        else
          add(0, this->n_sources);
        for (index lane = 0; lane < lanes && first + lane <= last; ++lane)
          this->out(first + lane) = sum[lane];
      }
    };
#endif
  }
}
