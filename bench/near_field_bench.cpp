// The whole near field on one core: 32^3 boxes of 4 to 64 points on average, uniform points, beside plain
// loops and the kernel of the study this project starts from.

#include "baselines/near_field.hpp"
#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace
{
  namespace nf = nearfield;

  constexpr int level = 5;

  /// Uniform points in the boxes of a tree, and the sums of a row.
  template <class K, class T>
  struct problem
  {
    std::size_t n;
    bench::cloud<T, 3> points;
    nf::tree<3> tree;
    nf::column_set<T, 3> x;
    nf::column_set<T, 1> q;
    bench::outputs<T, K::n_out> out;

    explicit problem(benchmark::State const& state)
        : n(static_cast<std::size_t>(state.range(0)) << (3 * level)), points(n),
          tree(nf::build_tree(points.positions(), {.level = level})),
          x(nf::gather(tree.target_order(), points.positions())),
          q(nf::gather(tree.target_order(), points.charges())), out(n)
    {}

    template <class Sum>
    void run(benchmark::State& state, nf::isa which, bool mutual, double tolerance, Sum const& sum)
    {
      for (auto _ : state)
      {
        sum();
        benchmark::ClobberMemory();
      }
      bench::report<K, T>(state, static_cast<double>(tree.interaction_count()),
                          bench::one_core(which), mutual);
      bench::check_sums(
          state, tolerance, n,
          [&](std::size_t i)
          {
            return bench::sum_of_tree<K, T>(K{}, i, tree, std::as_const(x).view(),
                                            std::as_const(q).view());
          },
          [&](int o, std::size_t i) { return out.columns[o][i]; });
    }
  };

  template <class K, class T>
  void run(benchmark::State& state, nf::isa which, bool mutual)
  {
    problem<K, T> all(state);
    auto const& tree = all.tree;
    auto const x = std::as_const(all.x).view();
    auto const q = std::as_const(all.q).view();
    nf::simd_backend const backend{which};
    all.run(state, which, mutual, bench::tolerance<T>(),
            [&]
            {
              if (mutual)
                nf::near_field(backend, K{}, tree.targets(), tree.half_interactions(), x, q,
                               all.out.view(), {.form = nf::pair_form::mutual});
              else
                nf::near_field(backend, K{}, tree.targets(), tree.interactions(), x, q,
                               all.out.view());
            });
  }

  template <class K, class T>
  void run_baseline(benchmark::State& state, nf::isa which, baseline::list_function<T> kernel,
                    bool mutual)
  {
    problem<K, T> all(state);
    // one sum of all terms, whose rounding grows with their number
    all.run(state, which, mutual, bench::tolerance<T>(50 + 27 * double(state.range(0)) / 64),
            [&]
            {
              kernel(all.tree.targets(),
                     mutual ? all.tree.half_interactions() : all.tree.interactions(),
                     std::as_const(all.x).view().data(), all.q.columns[0].data(),
                     all.out.view().data());
            });
  }

  baseline::near_field_table const* baselines_of(nf::isa which)
  {
    switch (which)
    {
#if defined(NEARFIELD_WITH_AVX2)
    case nf::isa::avx2:
      return &baseline::near_field_avx2();
#endif
#if defined(NEARFIELD_WITH_AVX512)
    case nf::isa::avx512:
      return &baseline::near_field_avx512();
#endif
    default:
      return nullptr;
    }
  }

  template <class K, class T>
  void add(nf::isa which)
  {
    std::string const prefix = "near_field/" + std::string(K::name) + "/3d/" +
                               bench::precision_name<T> + "/" + std::string(nf::name_of(which)) +
                               "/";
    auto const rows = [&](char const* form, auto const& run_row, int largest)
    {
      auto* const row = benchmark::RegisterBenchmark((prefix + form).c_str(), run_row);
      for (int n = 4; n <= largest; n *= 2) row->Arg(n);
      row->Unit(benchmark::kMillisecond);
    };
    rows("one_sided", [=](auto& state) { run<K, T>(state, which, false); }, 64);
    rows("mutual", [=](auto& state) { run<K, T>(state, which, true); }, 64);
    if (auto const* const table = baselines_of(which))
    {
      constexpr int output = K::n_out == 1 ? 0 : 1;
      baseline::list_functions<T> kernels;
      if constexpr (sizeof(T) == 4)
        kernels = table->f32;
      else
        kernels = table->f64;
      rows(
          "seed_loop",
          [=](auto& state) { run_baseline<K, T>(state, which, kernels.loop[output], false); }, 16);
      rows(
          "seed_loop_mutual", [=](auto& state)
          { run_baseline<K, T>(state, which, kernels.mutual_loop[output], true); }, 16);
      rows(
          "seed_xsimd",
          [=](auto& state) { run_baseline<K, T>(state, which, kernels.simd[output], false); }, 16);
    }
  }

  bool const registered = []
  {
    for (nf::isa const which : nf::available_isas())
      if (which != nf::isa::scalar)
      {
        add<nf::one_over_r<3>, float>(which);
        add<nf::one_over_r<3>, double>(which);
        add<nf::val_grad_one_over_r<3>, float>(which);
        add<nf::val_grad_one_over_r<3>, double>(which);
      }
    return true;
  }();
}
