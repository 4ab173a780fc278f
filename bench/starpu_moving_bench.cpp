// Steps whose points move, as StarPU tasks (moving_tree): the tree of the positions and the near field of 1/r, beside
// the same without StarPU.
//
//   starpu_moving/<precision>/<cloud>/gpu      beside rebuild() and near_field on the GPU; all data stay there
//   starpu_moving/<precision>/<cloud>/cores    beside build_tree() and near_field on one core, with StarPU paused
//
// `fraction` is the time of the direct call over that of a step that is waited for, `pipelined` over one of ten steps
// that are submitted before the first wait. On cores, `speedup` and `speedup_pipelined` are the same.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "starpu_runtime.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/tuning.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/cuda_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::median;
  using bench::seconds;
  using bench::starpu;
  using interaction = nf::one_over_r<3>;
  using nf::starpu::handle;

  constexpr int n_repetitions = 9;

  template <class F>
  double median_seconds(F const& f)
  {
    std::vector<double> times;
    f();
    for (int i = 0; i < n_repetitions; ++i)
    {
      double const begin = seconds();
      f();
      times.push_back(seconds() - begin);
    }
    return median(times);
  }

  template <class T>
  double direct_on_gpu(bench::cloud<T, 3> const& points, nf::tree_options<3> const& cut)
  {
    std::size_t const n = points.q.size();
    nf::device_columns<T, 3> const x(points.positions());
    nf::device_columns<T, 1> const q(points.charges());
    nf::device_columns<T, 1> out(n);
    auto tree = nf::build_tree(nf::cuda, x.view(), cut);
    return median_seconds(
        [&]
        {
          tree.rebuild(x.view());
          nf::near_field(nf::cuda, interaction(), tree, x.view(), q.view(), out.view(),
                         {.form = nf::pair_form::automatic});
          nf::synchronize(nf::cuda.stream);
        });
  }

  template <class T>
  double direct_on_a_core(bench::cloud<T, 3> const& points, nf::tree_options<3> const& cut)
  {
    bench::outputs<T, 1> out(points.q.size());
    return median_seconds(
        [&]
        {
          auto const tree = nf::build_tree(points.positions(), cut);
          nf::near_field(nf::simd, interaction(), tree, points.positions(), points.charges(),
                         out.view(), {.form = nf::pair_form::automatic});
        });
  }

  template <class T>
  void run(benchmark::State& state, bench::cloud<T, 3> points, nf::tree_options<3> const& cut,
           bool on_gpu)
  {
    auto& runtime = starpu();
    if (on_gpu && runtime.n_gpus() == 0) return bench::fail(state, "StarPU has no GPU");
    std::size_t const n = points.q.size();
    double const direct = [&]
    {
      bench::paused_starpu const alone;
      return on_gpu ? direct_on_gpu(points, cut) : direct_on_a_core(points, cut);
    }();

    bench::outputs<T, 1> out(n);
    std::vector<handle> x;
    for (auto& column : points.x) x.push_back(handle::of(column.data(), n));
    handle const q = handle::of(points.q.data(), n);
    handle phi = handle::of(out.columns[0].data(), n);
    nf::starpu::moving_tree<T, 3> tree(runtime, x, cut);
    nf::starpu::near_field step{
        runtime, interaction(), tree,
        {q},     {phi},         {.backend = on_gpu ? nf::backend::cuda : nf::backend::simd}};
    auto const steps = [&](int n_steps)
    {
      double const begin = seconds();
      for (int i = 0; i < n_steps; ++i)
      {
        tree.positions_changed();
        step.submit();
      }
      step.wait();
      return (seconds() - begin) / n_steps;
    };
    steps(4); // both workers of a GPU, maybe
    std::vector<double> waited, pipelined;
    for (auto _ : state)
    {
      waited.push_back(steps(1));
      state.SetIterationTime(waited.back());
    }
    for (int i = 0; i < 3; ++i) pipelined.push_back(steps(10));
    double const standing = median_seconds(
        [&]
        {
          step.submit();
          step.wait();
        });

    phi = handle(); // brings the sums to the host
    auto const leaves = nf::build_tree(std::as_const(points).positions(), cut);
    auto const sorted_x = nf::gather(leaves.target_order(), std::as_const(points).positions());
    auto const sorted_q = nf::gather(leaves.target_order(), std::as_const(points).charges());
    bench::check_sums(
        state, bench::tolerance<T>(500), n,
        [&](std::size_t i)
        {
          return bench::sum_of_tree<interaction, T>(interaction(), i, leaves,
                                                    std::as_const(sorted_x).view(),
                                                    std::as_const(sorted_q).view());
        },
        [&](int o, std::size_t i) { return out.columns[o][leaves.target_order()[i]]; });
    auto const workers = static_cast<int>(starpu_cpu_worker_get_count());
    bench::report<interaction, T>(state, static_cast<double>(leaves.interaction_count()),
                                  on_gpu ? runtime.n_gpus() * bench::gpu() : bench::cores(workers),
                                  true);
    state.counters["direct_ms"] = 1e3 * direct;
    state.counters["step_ms"] = 1e3 * median(waited);
    state.counters[on_gpu ? "fraction" : "speedup"] = direct / median(waited);
    state.counters[on_gpu ? "pipelined" : "speedup_pipelined"] = direct / median(pipelined);
    state.counters["same_positions_ms"] = 1e3 * standing;
    state.counters["workers"] = workers;
  }

  template <class T>
  void add(std::string const& cloud, std::size_t n, nf::tree_options<3> const& cut)
  {
    for (bool const on_gpu : {true, false})
    {
      if (on_gpu && nf::gpus().empty()) continue;
      benchmark::RegisterBenchmark(("starpu_moving/" + std::string(bench::precision_name<T>) + "/" +
                                    cloud + (on_gpu ? "/gpu" : "/cores"))
                                       .c_str(),
                                   [=](auto& state)
                                   {
                                     bench::cloud<T, 3> points(n);
                                     if (cloud.starts_with("plummer")) bench::make_plummer(points);
                                     run<T>(state, std::move(points), cut, on_gpu);
                                   })
          ->UseManualTime()
          ->Iterations(n_repetitions)
          ->Unit(benchmark::kMillisecond);
    }
  }

  template <class T>
  void add_all()
  {
    add<T>("uniform_32^3x64", std::size_t(64) << 15, {.level = 5});
    add<T>("uniform_1e6", 1'000'000, {.max_leaf_size = 64});
    add<T>("plummer_1e6", 1'000'000, {.max_leaf_size = 64});
  }

}

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_and_start_starpu();
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
