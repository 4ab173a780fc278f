// The cost of the linear maps and the generic tile: two built-in interactions beside the same kernels
// written by hand, one-sided, f32, two sets of N = 1024 points.

#include "baselines/handwritten.hpp"
#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

namespace
{
  namespace nf = nearfield;

  constexpr std::size_t n = 1024;

  /// Two clouds, with the inputs that the interaction takes.
  template <class K>
  struct two_sets
  {
    bench::cloud<float, 3> targets{n}, sources{2 * n};
    bench::outputs<float, K::n_out> out{n};

    nf::soa<float const, 3> x() const { return targets.positions(); }
    nf::soa<float const, 3> y() const
    {
      // the second half of a larger cloud, so that sources are not the targets
      return {{&sources.x[0][n], &sources.x[1][n], &sources.x[2][n]}, n};
    }
    nf::soa<float const, K::n_in> q() const
    {
      std::array<float const*, K::n_in> columns;
      for (int i = 0; i < K::n_in; ++i) columns[i] = sources.q.data() + i * 16;
      return {columns, n};
    }
  };

  template <class K, class F>
  void time(benchmark::State& state, nf::isa which, F const& add)
  {
    two_sets<K> sets;
    for (auto _ : state)
    {
      add(sets);
      benchmark::ClobberMemory();
    }
    bench::report<K, float>(state, static_cast<double>(n) * n, bench::one_core(which), false);
    sets.out.clear();
    add(sets);
    bench::check_sums(
        state, bench::tolerance<float>(), n,
        [&](std::size_t i)
        {
          bench::plain_sum<K> sum;
          sum.add(K{}, bench::point(sets.x(), i), bench::no_self, sets.y(), sets.q(), {0, n});
          return sum;
        },
        [&](int o, std::size_t i) { return sets.out.columns[o][i]; });
  }

  template <class K>
  void by_hand(benchmark::State& state, nf::isa which, baseline::outer_function kernel)
  {
    time<K>(
        state, which, [=](two_sets<K>& sets)
        { kernel(n, sets.x().data(), sets.y().data(), sets.q().data(), sets.out.view().data()); });
  }

  template <class K>
  void ours(benchmark::State& state, nf::isa which)
  {
    time<K>(state, which,
            [=](two_sets<K>& sets)
            {
              nf::p2p_outer(nf::simd_backend{which}, K{}, sets.x(), sets.y(), sets.q(),
                            sets.out.view());
            });
  }

  template <class K>
  void add(nf::isa which, baseline::outer_function kernel)
  {
    std::string const prefix =
        "abstraction/" + std::string(K::name) + "/f32/" + std::string(nf::name_of(which)) + "/";
    benchmark::RegisterBenchmark((prefix + "by_hand").c_str(),
                                 [=](auto& state) { by_hand<K>(state, which, kernel); });
    benchmark::RegisterBenchmark((prefix + "ours").c_str(),
                                 [=](auto& state) { ours<K>(state, which); });
  }

  void add_all(nf::isa which, baseline::handwritten_table const& table)
  {
    auto const available = nf::available_isas();
    if (std::find(available.begin(), available.end(), which) == available.end()) return;
    add<nf::val_grad_one_over_r<3>>(which, table.val_grad_one_over_r);
    add<nf::dipole_tensor<3>>(which, table.dipole_tensor);
  }

  bool const registered = []
  {
#if defined(NEARFIELD_WITH_AVX2)
    add_all(nf::isa::avx2, baseline::handwritten_avx2());
#endif
#if defined(NEARFIELD_WITH_AVX512)
    add_all(nf::isa::avx512, baseline::handwritten_avx512());
#endif
    return true;
  }();
}
