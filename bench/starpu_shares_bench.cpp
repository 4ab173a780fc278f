// A step on the GPUs alone, on the free cores alone and shared by both, in one process and in random order,
// data resident: results stay where they are. Medians in milliseconds are gpus_ms, cpus_ms and both_ms; `c` is the
// rate of the cores over that of the GPUs, `gain` that of both over that of the GPUs, and `of_sum` that of both over
// the sum. `made_ms` is the time to make the shared step, which may measure rates, and `first_ms` that of its first
// run; `made_again_ms` and `first_again_ms` are those of another one like it, whose rates are known. `cpu_in_step` is
// the rate of a CPU worker in the step of the cores alone over the one that was measured to divide the step, and
// `gpu_in_step` the same of a GPU: their ratio is what runtime/src/division.cpp has as in_a_step. With several GPUs,
// `one_gpu_ms` is the step of one GPU alone, for which StarPU is started with one, and `over_one_gpu` is that over
// both_ms. Rows with `slow` kernels have a GPU of a twentieth, and `slower` ones of a two-hundredth of its rate.
//
// With NEARFIELD_RECORDINGS=<folder>, the tasks of one shared step with new inputs and delivery are written to
// <row>.tasks.json there: their names, workers, and the milliseconds when they began and ended.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "slow_on_gpu.hpp"
#include "starpu_runtime.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include "runtime/src/rates.hpp"

#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/tasks.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::median;
  using bench::seconds;
  using bench::starpu;
  using nf::starpu::step_options;

  template <class Step>
  double run_once(Step& step)
  {
    double const begin = seconds();
    step.submit();
    step.wait();
    return seconds() - begin;
  }

  template <class Step>
  void record(Step& step, std::string name)
  {
    char const* const folder = std::getenv("NEARFIELD_RECORDINGS");
    if (!folder) return;
    nf::starpu::task_recording const recording;
    step.inputs_changed();
    step.submit();
    step.deliver();
    step.wait();
    std::ranges::replace(name, '/', '-');
    std::ranges::replace(name, '^', '_');
    std::ofstream file(std::string(folder) + "/" + name + ".tasks.json");
    file << "{\"row\": \"" << name << "\",\n \"tasks\": [";
    char const* separator = "\n";
    for (auto const& task : recording.tasks())
    {
      file << separator << "  {\"name\": \"" << task.name << "\", \"worker\": \""
           << nf::starpu::worker_name(task.worker) << "\", \"number\": " << task.worker
           << ", \"begin_ms\": " << 1e3 * task.begin << ", \"end_ms\": " << 1e3 * task.end << "}";
      separator = ",\n";
    }
    file << "\n]}\n";
  }

  /// The median time of a step on one GPU of several, in seconds.
  template <class K, class T>
  double on_one_gpu(nf::tree<3> const& tree, bench::cloud<T, 3> const& points,
                    bench::outputs<T, K::n_out>& out)
  {
    bench::restart_starpu({.gpus = 1});
    std::vector<double> times;
    {
      auto const groups = nf::group_leaves(starpu(), tree);
      nf::starpu::near_field step{starpu(),
                                  K{},
                                  groups,
                                  points.positions(),
                                  points.charges(),
                                  out.view(),
                                  {.backend = nf::cuda, .delivery = step_options::on_request}};
      for (int time = 0; time < 3; ++time) run_once(step);
      for (int time = 0; time < 9; ++time) times.push_back(run_once(step));
    }
    bench::restart_starpu({});
    return median(times);
  }

  template <class K, class T>
  void run(benchmark::State& state, std::string const& name, bench::cloud<T, 3> const& points,
           nf::tree_options<3> const& cut)
  {
    auto const tree = nf::build_tree(points.positions(), cut);
    bench::outputs<T, K::n_out> out(points.q.size());
    bool const compares = starpu().n_gpus() > 1;
    double const one_gpu = compares ? on_one_gpu<K>(tree, points, out) : 0;
    auto const for_gpus = nf::group_leaves(starpu(), tree), for_cpus = nf::group_leaves(tree);
    auto const make = [&](auto const& groups, nf::backend where, nf::pair_form form)
    {
      return nf::starpu::near_field{
          starpu(),
          K{},
          groups,
          points.positions(),
          points.charges(),
          out.view(),
          {.form = form, .backend = where, .delivery = step_options::on_request}};
    };
    double const begin = seconds();
    auto both = make(for_gpus, nf::backend::automatic, nf::pair_form::automatic);
    double const made = seconds() - begin, first = run_once(both);
    double made_again = seconds(), first_again = 0;
    {
      auto again = make(for_gpus, nf::backend::automatic, nf::pair_form::automatic);
      made_again = seconds() - made_again;
      first_again = run_once(again);
    }
    auto gpus = make(for_gpus, nf::cuda, both.form());
    auto cpus = make(for_cpus, nf::simd, both.form());
    for (int time = 0; time < 3; ++time)
    {
      run_once(both);
      run_once(gpus);
    }
    run_once(cpus);

    std::vector<double> of_both, of_gpus, of_cpus;
    std::array order{0, 1, 2};
    std::mt19937 random(7);
    for (auto _ : state)
    {
      std::ranges::shuffle(order, random);
      for (int const which : order)
        if (which == 0)
          of_both.push_back(run_once(both));
        else if (which == 1)
          of_gpus.push_back(run_once(gpus));
        else if (of_cpus.size() < 5)
          of_cpus.push_back(run_once(cpus));
      state.SetIterationTime(of_both.back());
    }
    record(both, name);
    both.deliver();
    both.wait();
    bench::check_tree_sums<K, T>(state, bench::tolerance<T>(500), tree, points, out);

    double const t = median(of_both), t_gpus = median(of_gpus), t_cpus = median(of_cpus);
    double const pairs = static_cast<double>(tree.interaction_count());
    bool const mutual = both.form() == nf::pair_form::mutual;
    auto const seconds_on = [&](bench::machine const& on)
    {
      return bench::pair_bound<K, T>(on, pairs, mutual).seconds;
    };
    auto const cpu_workers = static_cast<int>(starpu_cpu_worker_get_count());
    double const least_of_gpus = seconds_on(starpu().n_gpus() * bench::gpu());
    double const least_of_cpus = seconds_on(bench::cores(cpu_workers));
    bench::report<K>(state, pairs, {1 / (1 / least_of_gpus + 1 / least_of_cpus), "fma"});
    auto& counters = state.counters;
    counters["gpus"] = starpu().n_gpus();
    counters["cpu_workers"] = cpu_workers;
    counters["mutual"] = mutual;
    counters["tasks"] = static_cast<double>(both.n_tasks());
    counters["gpu_tasks"] = static_cast<double>(gpus.n_tasks());
    counters["both_ms"] = 1e3 * t;
    counters["gpus_ms"] = 1e3 * t_gpus;
    counters["cpus_ms"] = 1e3 * t_cpus;
    counters["c"] = t_gpus / t_cpus;
    counters["gain"] = t_gpus / t;
    counters["of_sum"] = 1 / (t * (1 / t_gpus + 1 / t_cpus));
    counters["made_ms"] = 1e3 * made;
    counters["made_again_ms"] = 1e3 * made_again;
    counters["first_ms"] = 1e3 * first;
    counters["first_again_ms"] = 1e3 * first_again;
    auto const in_step = [&](nf::backend where, double seconds, int workers)
    {
      auto const k = nf::starpu::detail::kernel_of<T>(K{});
      return pairs / seconds / workers /
             nf::starpu::detail::rate_of(k, both.form(), where, for_gpus.view());
    };
    counters["cpu_in_step"] = in_step(nf::backend::simd, t_cpus, cpu_workers);
    counters["gpu_in_step"] = in_step(nf::backend::cuda, t_gpus, starpu().n_gpus());
    if (compares)
    {
      counters["one_gpu_ms"] = 1e3 * one_gpu;
      counters["over_one_gpu"] = one_gpu / t;
    }
  }

  template <class K, class T>
  void add(std::string const& cloud, std::size_t n, nf::tree_options<3> const& cut)
  {
    std::string const name =
        "starpu_shares/" + cloud + "/" + std::string(K::name) + "/" + bench::precision_name<T>;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](auto& state)
                                 {
                                   bench::cloud<T, 3> points(n);
                                   if (cloud.starts_with("plummer")) bench::make_plummer(points);
                                   run<K>(state, name, points, cut);
                                 })
        ->UseManualTime()
        ->Iterations(15)
        ->Unit(benchmark::kMillisecond);
  }

  constexpr std::size_t in_64 = std::size_t(64) << 18, in_32 = std::size_t(64) << 15;

  template <class T>
  void add_all()
  {
    add<nf::one_over_r<3>, T>("uniform_64^3x64", in_64, {.level = 6});
    add<nf::val_grad_one_over_r<3>, T>("uniform_64^3x64", in_64, {.level = 6});
    add<nf::one_over_r<3>, T>("uniform_32^3x64", in_32, {.level = 5});
    add<nf::one_over_r<3>, T>("plummer_8e6", 8'000'000, {.max_leaf_size = 64});
    add<bench::one_over_r_slow, T>("uniform_32^3x64", in_32, {.level = 5});
    add<bench::one_over_r_slower, T>("uniform_32^3x64", in_32, {.level = 5});
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
