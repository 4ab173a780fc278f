// Points that move, on cores: the tree of the new positions, with its lists.
//
//   moving/tree/<precision>/<cloud>/<n>/<cut>/<where>   level_5: 32^3 boxes; adaptive: at most 64 points a leaf;
//                                                       serial, or all CPU workers of StarPU, which start with the
//                                                       first row that uses them

#include "clouds.hpp"
#include "run.hpp"
#include "starpu_runtime.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace
{
  namespace nf = nearfield;

  bool is_equal(nf::tree<3> const& a, nf::tree<3> const& b)
  {
    return std::ranges::equal(a.target_order(), b.target_order()) &&
           std::ranges::equal(a.targets().offsets, b.targets().offsets) &&
           std::ranges::equal(a.interactions().ranges, b.interactions().ranges) &&
           std::ranges::equal(a.half_interactions().ranges, b.half_interactions().ranges);
  }

  template <class T>
  void run(benchmark::State& state, bool is_plummer, std::size_t n,
           nf::tree_options<3> const& options, bool with_workers)
  {
    bench::cloud<T, 3> points(n);
    if (is_plummer) bench::make_plummer(points);
    if (with_workers)
    {
      nf::starpu::cpu_workers workers(bench::starpu());
      for (auto _ : state)
        benchmark::DoNotOptimize(nf::build_tree(workers, points.positions(), options));
      state.counters["workers"] = workers.workers();
      if (!is_equal(nf::build_tree(workers, points.positions(), options),
                    nf::build_tree(points.positions(), options)))
        bench::fail(state, "not the tree of one core");
    }
    else
      for (auto _ : state) benchmark::DoNotOptimize(nf::build_tree(points.positions(), options));
    state.counters["points/s"] = benchmark::Counter(static_cast<double>(n * state.iterations()),
                                                    benchmark::Counter::kIsRate);
  }

  template <class T>
  void add(bool with_workers)
  {
    constexpr std::size_t n = 1'000'000;
    for (bool const is_plummer : {false, true})
      for (bool const is_adaptive : {false, true})
      {
        nf::tree_options<3> options{.max_leaf_size = 64};
        if (!is_adaptive) options.level = 5;
        auto const name = std::string("moving/tree/") + bench::precision_name<T> +
                          (is_plummer ? "/plummer/" : "/uniform/") + std::to_string(n) +
                          (is_adaptive ? "/adaptive" : "/level_5") +
                          (with_workers ? "/workers" : "/serial");
        benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                     { run<T>(state, is_plummer, n, options, with_workers); })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
  }
}

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (bool const with_workers : {false, true})
  {
    add<float>(with_workers);
    add<double>(with_workers);
  }
  return bench::run_benchmarks();
}
