// Points that move, on cores: the tree of the new positions, with its lists.
//
//   moving/tree/<precision>/<cloud>/<n>/<cut>/<where>   level_5: 32^3 boxes; adaptive: at most 64 points a leaf;
//                                                       serial, or 2, 4, 8 ... CPU workers of StarPU and all that it
//                                                       has (STARPU_NCPU bounds them), started for each row

#include "clouds.hpp"
#include "peaks.hpp"
#include "run.hpp"

#include <nearfield/starpu/runtime.hpp>
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
    auto const are_equal = [](nf::interaction_list const& one, nf::interaction_list const& other)
    {
      return std::ranges::equal(one.own, other.own) &&
             std::ranges::equal(one.offsets, other.offsets) &&
             std::ranges::equal(one.ranges, other.ranges);
    };
    if (a.size() != b.size()) return false;
    for (nf::index_type leaf = 0; leaf < a.size(); ++leaf)
      if (a.cell(leaf) != b.cell(leaf)) return false;
    return std::ranges::equal(a.target_order(), b.target_order()) &&
           std::ranges::equal(a.targets().offsets, b.targets().offsets) &&
           are_equal(a.interactions(), b.interactions()) &&
           are_equal(a.half_interactions(), b.half_interactions());
  }

  /// Without workers, this thread alone.
  template <class T>
  void run(benchmark::State& state, bool is_plummer, std::size_t n,
           nf::tree_options<3> const& options, int n_workers)
  {
    bench::cloud<T, 3> points(n);
    if (is_plummer) bench::make_plummer(points);
    state.counters["workers"] = n_workers;
    if (n_workers > 0)
    {
      nf::starpu::cpu_workers workers(nf::starpu::runtime{{.workers = n_workers, .gpus = 0}});
      for (auto _ : state)
        benchmark::DoNotOptimize(
            nf::build_tree(nf::simd.with(workers), points.positions(), options));
      if (workers.workers() != n_workers) bench::fail(state, "StarPU has other workers");
      if (!is_equal(nf::build_tree(nf::simd.with(workers), points.positions(), options),
                    nf::build_tree(points.positions(), options)))
        bench::fail(state, "not the tree of one core");
    }
    else
      for (auto _ : state) benchmark::DoNotOptimize(nf::build_tree(points.positions(), options));
    bench::report_bound(state, bench::tree_bound<T>(bench::cores(std::max(n_workers, 1)), n,
                                                    nf::build_tree(points.positions(), options)));
    state.counters["points/s"] = benchmark::Counter(static_cast<double>(n * state.iterations()),
                                                    benchmark::Counter::kIsRate);
  }

  template <class T>
  void add(int n_workers)
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
                          (n_workers > 0 ? "/workers:" + std::to_string(n_workers) : "/serial");
        benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                     { run<T>(state, is_plummer, n, options, n_workers); })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
  }
}

// StarPU must be started to tell how many workers it has.
int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_of_cores();
  int const most = nf::starpu::runtime{{.gpus = 0}}.n_workers();
  add<float>(0);
  add<double>(0);
  for (int n_workers = 2; most > 1 && n_workers < 2 * most; n_workers *= 2)
  {
    add<float>(std::min(n_workers, most));
    add<double>(std::min(n_workers, most));
  }
  return bench::run_benchmarks();
}
