#pragma once

#include "functors.hpp"
#include "strategies.hpp"

#include <type_traits>
#include <variant>

/// \file
/// kokkos_sum and kokkos_runtime, for the one source file of each back-end.

namespace baseline
{
  namespace detail
  {
    inline namespace NEARFIELD_KOKKOS_MATH
    {
#if defined(KOKKOS_ENABLE_CUDA)
      constexpr bool on_gpu = true;
      inline space make_space(int)
      {
        return space(cudaStream_t(nullptr));
      }
#elif defined(KOKKOS_ENABLE_OPENMP)
      constexpr bool on_gpu = false;
      inline space make_space(int threads)
      {
        return space(threads);
      }
#else
      constexpr bool on_gpu = false;
      inline space make_space(int)
      {
        return space();
      }
#endif

      template <class T>
      column<T> copy(T const* from, std::size_t n)
      {
        column<T> to(Kokkos::view_alloc(Kokkos::WithoutInitializing, "points"), n);
        Kokkos::deep_copy(
            to, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                    from, n));
        return to;
      }

      template <class T, int Dim>
      charges<T, Dim> copy(T const* const* x, T const* q, std::size_t n)
      {
        charges<T, Dim> to;
        for (int d = 0; d < Dim; ++d) to.x[d] = copy(x[d], n);
        if (q != nullptr) to.q = copy(q, n);
        return to;
      }

      inline index blocks(index n, index size)
      {
        return (n + size - 1) / size;
      }
    }
  }

  template <class T, int Dim, math Math>
  class kokkos_sum<T, Dim, Math>::implementation
  {
  public:
    template <bool Inner>
    using problem = detail::problem<T, Dim, Inner>;

    implementation(std::size_t n_targets, T const* const* targets, std::size_t n_sources,
                   T const* const* sources, T const* q, bool inner, int threads)
        : space_(detail::make_space(threads)), threads_(threads), inner_(inner)
    {
      all_.sources = detail::copy<T, Dim>(sources, q, n_sources);
      all_.targets = inner ? all_.sources : detail::copy<T, Dim>(targets, nullptr, n_targets);
      all_.out = detail::column<T>("out", n_targets);
      all_.n_targets = static_cast<detail::index>(n_targets);
      all_.n_sources = static_cast<detail::index>(n_sources);
      Kokkos::fence();
    }

    void run(strategy s, team_shape const& shape)
    {
      if (inner_)
        run<true>(s, shape);
      else
        run<false>(s, shape);
    }

    void wait() const { space_.fence(); }
    [[nodiscard]] detail::column<T> const& out() const { return all_.out; }
    [[nodiscard]] int threads() const { return threads_; }

    /// Whether a team of that shape can run, by the resources that the strategy needs.
    [[nodiscard]] bool can_run(strategy s, team_shape const& shape) const
    {
      switch (s)
      {
      case strategy::nested_teams:
        return fits(detail::nested_teams<T, Dim, true>{}, shape, 0);
      case strategy::nested_vectors:
        return fits(detail::nested_vectors<T, Dim, true>{}, shape, 0);
      case strategy::hierarchical:
        return fits(detail::hierarchical<T, Dim, true>{}, shape,
                    detail::scratch<T, Dim>::bytes(shape.chunk));
      case strategy::tiled:
        return fits(detail::tiled<T, Dim, true>{}, shape,
                    detail::scratch<T, Dim>::bytes(shape.chunk));
      default:
        return true;
      }
    }

  private:
    using range = Kokkos::RangePolicy<detail::space, Kokkos::IndexType<detail::index>>;

    [[nodiscard]] detail::team_policy teams(detail::index league, team_shape const& shape,
                                            std::size_t scratch = 0) const
    {
      detail::team_policy policy(space_, league, shape.team, shape.lanes);
      if (scratch != 0) policy.set_scratch_size(0, Kokkos::PerTeam(scratch));
      return policy;
    }

    template <class Functor>
    [[nodiscard]] bool fits(Functor const& f, team_shape const& shape, std::size_t scratch) const
    {
      if (scratch > std::size_t(detail::team_policy::scratch_size_max(0)) ||
          shape.lanes > detail::team_policy::vector_length_max())
        return false;
      // the largest team is asked of a policy that has the team left open
      detail::team_policy open(space_, 1, Kokkos::AUTO, shape.lanes);
      if (scratch != 0) open.set_scratch_size(0, Kokkos::PerTeam(scratch));
      return shape.team <= open.team_size_max(f, Kokkos::ParallelForTag());
    }

    template <bool Inner>
    void run(strategy s, team_shape const& shape)
    {
      problem<Inner> const p{all_.targets, all_.sources, all_.out, all_.n_targets, all_.n_sources};
      switch (s)
      {
      case strategy::flat_range:
        return Kokkos::parallel_for("flat_range", range(space_, 0, p.n_targets),
                                    detail::flat_range<T, Dim, Inner>{p});
      case strategy::reduce:
        for (detail::index i = 0; i < p.n_targets; ++i)
          Kokkos::parallel_reduce("reduce", range(space_, 0, p.n_sources),
                                  detail::reduce<T, Dim, Inner>{p, i}, Kokkos::subview(p.out, i));
        return;
      case strategy::nested_teams:
        return Kokkos::parallel_for("nested_teams", teams(p.n_targets, shape),
                                    detail::nested_teams<T, Dim, Inner>{p});
      case strategy::nested_vectors:
        return Kokkos::parallel_for("nested_vectors",
                                    teams(detail::blocks(p.n_targets, shape.team), shape),
                                    detail::nested_vectors<T, Dim, Inner>{p, shape.team});
      case strategy::hierarchical:
        return run_hierarchical<Inner>(p, shape);
      case strategy::tiled:
        return Kokkos::parallel_for("tiled",
                                    teams(detail::blocks(p.n_targets, shape.team), shape,
                                          detail::scratch<T, Dim>::bytes(shape.chunk)),
                                    detail::tiled<T, Dim, Inner>{p, shape.chunk});
      case strategy::simd:
#if !defined(KOKKOS_ENABLE_CUDA)
      {
        using body = detail::simd<T, Dim, Inner>;
        return Kokkos::parallel_for(
            "simd", range(space_, 0, detail::blocks(p.n_targets, body::lanes)), body{p});
      }
#else
        return;
#endif
      }
    }

    template <bool Inner>
    void run_hierarchical(problem<Inner> const& p, team_shape const& shape)
    {
      detail::index const chunks = detail::blocks(p.n_sources, shape.chunk);
      // kept from call to call, as a program would
      if (partial_.extent(0) != std::size_t(p.n_targets) ||
          partial_.extent(1) != std::size_t(chunks))
        partial_ = detail::partial_sums<T>(
            Kokkos::view_alloc(Kokkos::WithoutInitializing, "partial"), p.n_targets, chunks);
      Kokkos::parallel_for("hierarchical",
                           teams(chunks, shape, detail::scratch<T, Dim>::bytes(shape.chunk)),
                           detail::hierarchical<T, Dim, Inner>{p, partial_, shape.chunk});
      Kokkos::parallel_for("sum_of_chunks", range(space_, 0, p.n_targets),
                           detail::sum_of_chunks<T>{partial_, p.out, chunks});
    }

    detail::space space_;
    int threads_;
    bool inner_;
    problem<true> all_;
    detail::partial_sums<T> partial_;
  };

  template <class T, int Dim, math Math>
  kokkos_sum<T, Dim, Math>::kokkos_sum(std::size_t n_targets, T const* const* targets,
                                       std::size_t n_sources, T const* const* sources, T const* q,
                                       bool inner, int threads)
      : self_(std::make_unique<implementation>(n_targets, targets, n_sources, sources, q, inner,
                                               threads))
  {}

  template <class T, int Dim, math Math>
  kokkos_sum<T, Dim, Math>::~kokkos_sum() = default;

  template <class T, int Dim, math Math>
  void kokkos_sum<T, Dim, Math>::run(strategy s, team_shape const& shape)
  {
    self_->run(s, shape);
  }

  template <class T, int Dim, math Math>
  void kokkos_sum<T, Dim, Math>::wait() const
  {
    self_->wait();
  }

  template <class T, int Dim, math Math>
  std::vector<T> kokkos_sum<T, Dim, Math>::sums() const
  {
    std::vector<T> result(self_->out().extent(0));
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          result.data(), result.size()),
                      self_->out());
    return result;
  }

  template <class T, int Dim, math Math>
  std::vector<team_shape> kokkos_sum<T, Dim, Math>::shapes(strategy s) const
  {
    if (s == strategy::flat_range || s == strategy::reduce) return {{}};
    if (s == strategy::simd)
      return detail::on_gpu ? std::vector<team_shape>{} : std::vector<team_shape>{{}};
    if (s == strategy::tiled && !detail::on_gpu) return {};

    std::vector<int> teams{1}, lanes{1}, chunks{0};
    if (detail::on_gpu)
    {
      teams = {1, 4, 16, 32, 64, 128, 256, 512, 1024};
      if (s != strategy::tiled) lanes = {1, 2, 4, 8, 16, 32};
    }
    else
      for (int team = 2; team <= self_->threads(); team *= 2) teams.push_back(team);
    if (s == strategy::hierarchical || s == strategy::tiled) chunks = {64, 128, 256, 512, 1024};

    std::vector<team_shape> result;
    for (int const team : teams)
      for (int const lane : lanes)
        for (int const chunk : chunks)
        {
          team_shape const shape{team, lane, chunk};
          // a warp in all, so that no lane of a GPU idles by design
          if (detail::on_gpu && team * lane < 32) continue;
          if (self_->can_run(s, shape)) result.push_back(shape);
        }
    return result;
  }
}
