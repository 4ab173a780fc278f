// The whole near field on one core: 32^3 boxes of 16, 32 and 64 points on average, uniform points. Also the
// time to build the tree of 1e6 points.

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

  template <class K, class T>
  void run(benchmark::State& state, nf::isa which, bool mutual)
  {
    auto const n = static_cast<std::size_t>(state.range(0)) << (3 * level);
    bench::cloud<T, 3> const points(n);
    auto const tree = nf::build_tree(points.positions(), {.level = level});
    auto const x = nf::gather(tree.target_order(), points.positions());
    auto const q = nf::gather(tree.target_order(), points.charges());
    bench::outputs<T, K::n_out> out(n);
    nf::simd_backend const backend{which};
    for (auto _ : state)
    {
      if (mutual)
        nf::near_field_mutual(nf::serial, backend, K{}, tree.targets(), tree.half_interactions(),
                              x.view(), q.view(), out.view());
      else
        nf::near_field(nf::serial, backend, K{}, tree.targets(), tree.interactions(), x.view(),
                       q.view(), out.view());
      benchmark::ClobberMemory();
    }
    bench::report<K>(state, static_cast<double>(tree.interaction_count()));
    bench::check_sums(
        state, bench::tolerance<T>(), n,
        [&](std::size_t i)
        {
          return bench::sum_of_tree<K, T>(K{}, i, tree, std::as_const(x).view(),
                                          std::as_const(q).view());
        },
        [&](int o, std::size_t i) { return out.columns[o][i]; });
  }

  template <class K, class T>
  void add(nf::isa which)
  {
    for (bool const mutual : {false, true})
    {
      std::string const name = "near_field/" + std::string(K::name) + "/3d/" +
                               bench::precision_name<T> + "/" + std::string(nf::name_of(which)) +
                               (mutual ? "/mutual" : "/one_sided");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](auto& state) { run<K, T>(state, which, mutual); })
          ->Arg(16)
          ->Arg(32)
          ->Arg(64)
          ->Unit(benchmark::kMillisecond);
    }
  }

  template <class T>
  void build(benchmark::State& state, bool adaptive)
  {
    bench::cloud<T, 3> const points(1'000'000);
    for (auto _ : state)
    {
      if (adaptive)
        benchmark::DoNotOptimize(nf::build_tree(points.positions(), {.max_leaf_size = 64}));
      else
        benchmark::DoNotOptimize(nf::build_tree(points.positions(), {.level = level}));
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
    for (bool const adaptive : {false, true})
      benchmark::RegisterBenchmark(adaptive ? "tree/1e6/f64/adaptive" : "tree/1e6/f64/uniform",
                                   [=](auto& state) { build<double>(state, adaptive); })
          ->Unit(benchmark::kMillisecond);
    return true;
  }();
}
