// A step through StarPU on GPUs beside one launch of the same kernel over all leaves, data resident, in
// steady state: results stay on the GPU. `fraction` is the rate of the step divided by that of the launch on
// one GPU; `pipelined` is the same with ten steps submitted before waiting. The other counters are the
// additional milliseconds of a step with new inputs (pipelined: read during the tasks of the previous step),
// and with delivery of its results. With several GPUs, `one_gpu_ms` is the median of a step on one of them, for which
// StarPU is started with one, and `over_one_gpu` is that over the median on all of them (`step_ms`); `gap_ms` is
// the median time from the end of the first GPU's last task to that of the last one's.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "starpu_runtime.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/tasks.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::median;
  using bench::seconds;
  using bench::starpu;

  /// The time of f's work on the default stream of the first GPU, in seconds.
  template <class F>
  double event_seconds(F&& f)
  {
    cudaEvent_t begin, end;
    cudaSetDevice(0);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    f();
    cudaEventRecord(end);
    nf::check_cuda(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1e-3 * milliseconds;
  }

  /// The median time of one launch over all leaves, in seconds.
  template <class K, class T>
  double one_launch(nf::tree<3> const& tree, bench::cloud<T, 3> const& points, nf::pair_form form)
  {
    cudaSetDevice(0);
    std::size_t const n = points.q.size();
    nf::device_columns<T, 3> const x(nf::gather(tree.target_order(), points.positions()));
    nf::device_columns<T, 1> const q(nf::gather(tree.target_order(), points.charges()));
    nf::device_columns<T, K::n_out> out(n);
    bool const mutual = form == nf::pair_form::mutual;
    nf::cuda_list const list(nf::cuda, tree.targets(),
                             mutual ? tree.half_interactions() : tree.interactions(), n, form);
    std::vector<double> times;
    for (int i = 0; i < 7; ++i)
      times.push_back(event_seconds(
          [&]
          {
            nf::near_field(nf::cuda, K{}, list, x.view(), q.view(), out.view(), {.form = form});
          }));
    return median(times);
  }

  template <class Step>
  double step_seconds(Step& step, int n_steps)
  {
    double const begin = seconds();
    for (int i = 0; i < n_steps; ++i) step.submit();
    step.wait();
    return (seconds() - begin) / n_steps;
  }

  /// A step that leaves its results on the GPUs.
  template <class K, class T>
  nf::starpu::near_field<T> make_step(nf::leaf_groups<3> const& groups,
                                      bench::cloud<T, 3> const& points,
                                      bench::outputs<T, K::n_out>& out, nf::pair_form form)
  {
    return {starpu(),
            K{},
            groups,
            points.positions(),
            points.charges(),
            out.view(),
            {.form = form, .backend = nf::cuda, .delivery = nf::starpu::step_options::on_request}};
  }

  /// The median time of a step on one GPU of several, in seconds.
  template <class K, class T>
  double on_one_gpu(nf::tree<3> const& tree, bench::cloud<T, 3> const& points, nf::pair_form form)
  {
    bench::restart_starpu({.gpus = 1});
    std::vector<double> times;
    {
      auto const groups = nf::group_leaves(starpu(), tree);
      bench::outputs<T, K::n_out> out(points.q.size());
      auto step = make_step<K>(groups, points, out, form);
      step_seconds(step, 1);
      step_seconds(step, 3);
      for (int i = 0; i < 9; ++i) times.push_back(step_seconds(step, 1));
    }
    bench::restart_starpu({});
    return median(times);
  }

  /// The time, in seconds, from the end of the first GPU's last task of a step to that of the last one's.
  template <class Step>
  double gap_at_end(Step& step)
  {
    nf::starpu::task_recording const recording;
    step_seconds(step, 1);
    std::map<std::string, double>
        ends; // by the name up to the worker's number on its GPU: "CUDA 0"
    for (auto const& task : recording.tasks())
    {
      auto const worker = nf::starpu::worker_name(task.worker);
      if (!worker.starts_with("CUDA")) continue;
      double& end = ends[worker.substr(0, worker.find('.'))];
      end = std::max(end, task.end);
    }
    if (ends.empty()) return 0;
    auto const [first, last] = std::ranges::minmax(std::views::values(ends));
    return last - first;
  }

  template <class K, class T>
  void run(benchmark::State& state, bench::cloud<T, 3> const& points,
           nf::tree_options<3> const& cut, nf::pair_form form, int groups_per_gpu)
  {
    auto const tree = nf::build_tree(points.positions(), cut);
    double const raw = [&]
    {
      bench::paused_starpu const alone;
      return one_launch<K>(tree, points, form);
    }();
    bool const compares = starpu().n_gpus() > 1 && groups_per_gpu == 0;
    double const one_gpu = compares ? on_one_gpu<K>(tree, points, form) : 0;
    auto const groups = nf::group_leaves(starpu(), tree, {.groups_per_gpu = groups_per_gpu});
    bench::outputs<T, K::n_out> out(points.q.size());
    auto step = make_step<K>(groups, points, out, form);
    double const first = step_seconds(step, 1);
    step_seconds(step, 3);

    std::vector<double> times, pipelined, with_inputs, inputs_pipelined, with_delivery;
    for (auto _ : state)
    {
      times.push_back(step_seconds(step, 1));
      state.SetIterationTime(times.back());
    }
    std::vector<double> gaps;
    for (int i = 0; compares && i < 9; ++i) gaps.push_back(gap_at_end(step));
    for (int i = 0; i < 3; ++i) pipelined.push_back(step_seconds(step, 10));
    for (int i = 0; i < 5; ++i)
    {
      step.inputs_changed();
      with_inputs.push_back(step_seconds(step, 1));
    }
    for (int i = 0; i < 3; ++i)
    {
      double const begin = seconds();
      for (int time = 0; time < 10; ++time)
      {
        step.inputs_changed();
        step.submit();
        step.wait_for_inputs();
      }
      step.wait();
      inputs_pipelined.push_back((seconds() - begin) / 10);
    }
    for (int i = 0; i < 5; ++i)
    {
      double const begin = seconds();
      step.submit();
      step.deliver();
      step.wait();
      with_delivery.push_back(seconds() - begin);
    }
    bench::check_tree_sums<K, T>(state, bench::tolerance<T>(500), tree, points, out);
    double const typical = median(times);
    bench::report<K, T>(state, static_cast<double>(tree.interaction_count()),
                        starpu().n_gpus() * bench::gpu(), form == nf::pair_form::mutual);
    state.counters["gpus"] = starpu().n_gpus();
    state.counters["groups"] = groups.size();
    state.counters["launch_ms"] = 1e3 * raw;
    state.counters["fraction"] = raw / typical;
    state.counters["step_ms"] = 1e3 * typical;
    if (compares)
    {
      state.counters["one_gpu_ms"] = 1e3 * one_gpu;
      state.counters["over_one_gpu"] = one_gpu / typical;
      state.counters["gap_ms"] = 1e3 * median(gaps);
    }
    state.counters["pipelined"] = raw / median(pipelined);
    state.counters["first_ms"] = 1e3 * first;
    state.counters["new_inputs_ms"] = 1e3 * (median(with_inputs) - typical);
    state.counters["new_inputs_pipelined_ms"] = 1e3 * (median(inputs_pipelined) - typical);
    state.counters["delivery_ms"] = 1e3 * (median(with_delivery) - typical);
  }

  /// groups_per_gpu = 0: the default of group_leaves.
  template <class K, class T>
  void add(std::string const& cloud, std::size_t n, nf::tree_options<3> const& cut,
           int groups_per_gpu = 0)
  {
    for (auto const form : {nf::pair_form::one_sided, nf::pair_form::mutual})
    {
      std::string const name = "starpu_cuda/" + cloud + "/" + std::string(K::name) + "/" +
                               bench::precision_name<T> +
                               (form == nf::pair_form::mutual ? "/mutual" : "/one_sided") +
                               (groups_per_gpu ? "/groups_" + std::to_string(groups_per_gpu) : "");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](auto& state)
                                   {
                                     bench::cloud<T, 3> points(n);
                                     if (cloud.starts_with("plummer")) bench::make_plummer(points);
                                     run<K>(state, points, cut, form, groups_per_gpu);
                                   })
          ->UseManualTime()
          ->Iterations(9)
          ->Unit(benchmark::kMillisecond);
    }
  }

  template <class K, class T>
  void add_all()
  {
    add<K, T>("uniform_64^3x64", std::size_t(64) << 18, {.level = 6});
    add<K, T>("uniform_32^3x64", std::size_t(64) << 15, {.level = 5});
    add<K, T>("plummer_1e6", 1'000'000, {.max_leaf_size = 64});
    add<K, T>("plummer_8e6", 8'000'000, {.max_leaf_size = 64});
    // steps of about a millisecond, where the overhead of tasks shows
    for (int const groups : {1, 2, 3, 4, 6, 8})
    {
      add<K, T>("uniform_32^3x64", std::size_t(64) << 15, {.level = 5}, groups);
      add<K, T>("plummer_1e6", 1'000'000, {.max_leaf_size = 64}, groups);
    }
  }

  bool const registered = []
  {
    add_all<nf::one_over_r<3>, float>();
    add_all<nf::one_over_r<3>, double>();
    add<nf::val_grad_one_over_r<3>, float>("uniform_64^3x64", std::size_t(64) << 18, {.level = 6});
    add<nf::val_grad_one_over_r<3>, double>("uniform_64^3x64", std::size_t(64) << 18, {.level = 6});
    return true;
  }();
}

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_and_start_starpu();
  return bench::run_benchmarks();
}
