// The whole near field through StarPU beside one core: 32^3 boxes, 3D, 1/r with and without its gradient, the
// mutual form; both deliver their results in the order of the input. `efficiency` is the rate of all workers divided
// by the number of workers times the rate of one core with StarPU paused, both of this run, and `of_processor_time`
// the processor time of the one over that of all threads in a step, which others on the machine do not lengthen.
// `beside_one_core` is the processor time of all other threads meanwhile over that of the one, 0 if it ran alone;
// `delivery` the part of the one core's time that puts results in order; `submission` the fraction of a step that the
// submitting thread spends in submit().

#include "clouds.hpp"
#include "rates.hpp"
#include "starpu_runtime.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::median;
  using bench::seconds;

  /// Cores alone, on a machine with GPUs too.
  nf::starpu::runtime& starpu()
  {
    return bench::starpu({.gpus = 0});
  }

  constexpr int level = 5;

  /// Alternates between one core and all workers, so that both see the same load on the machine.
  template <class K, class T>
  void run(benchmark::State& state)
  {
    auto const n = static_cast<std::size_t>(state.range(0)) << (3 * level);
    bench::cloud<T, 3> const points(n);
    auto const tree = nf::build_tree(points.positions(), {.level = level});
    auto const groups = nf::group_leaves(tree);
    auto const x = nf::gather(tree.target_order(), points.positions());
    auto const q = nf::gather(tree.target_order(), points.charges());
    bench::outputs<T, K::n_out> out(n), serial_sums(n), serial_out(n);
    nf::starpu::near_field step{starpu(),         K{},       groups, points.positions(),
                                points.charges(), out.view()};
    // returns when it began to deliver
    auto const on_one_core = [&]
    {
      nf::near_field(nf::simd, K{}, tree.targets(), tree.half_interactions(), x.view(), q.view(),
                     serial_sums.view(), {.form = nf::pair_form::mutual});
      double const computed = seconds();
      nf::scatter(tree.target_order(), serial_sums.view(), serial_out.view());
      return computed;
    };
    // returns when it had submitted
    auto const on_workers = [&]
    {
      step.submit();
      double const submitted = seconds();
      step.wait();
      return submitted;
    };
    std::vector<double> serial_times, serial_cpu, delivery_times, step_cpu, others, step_times,
        submit_times;
    for (auto _ : state)
    {
      {
        bench::paused_starpu const alone;
        on_one_core(); // both times with warm caches
        bench::clocks const begin;
        double const computed = on_one_core();
        bench::clocks const end;
        delivery_times.push_back(end.wall - computed);
        serial_times.push_back(end.wall - begin.wall);
        serial_cpu.push_back(end.own_cpu - begin.own_cpu);
        others.push_back(beside(begin, end));
      }
      on_workers(); // those that have just woken poll, and may hold this thread's core for some milliseconds
      bench::clocks const begin;
      double const submitted = on_workers();
      bench::clocks const end;
      step_cpu.push_back(end.cpu - begin.cpu);
      submit_times.push_back(submitted - begin.wall);
      step_times.push_back(end.wall - begin.wall);
      state.SetIterationTime(end.wall - begin.wall);
    }
    auto const sum_of = [&](std::size_t i)
    {
      return bench::sum_of_tree<K, T>(K{}, i, tree, std::as_const(x).view(),
                                      std::as_const(q).view());
    };
    for (auto const* const found : {&serial_out, &out})
      bench::check_sums(state, bench::tolerance<T>(), n, sum_of, [&](int o, std::size_t i)
                        { return found->columns[o][tree.target_order()[i]]; });
    double const serial = median(serial_times), parallel = median(step_times);
    int const workers = starpu().n_workers();
    bench::report<K, T>(state, static_cast<double>(tree.interaction_count()), bench::cores(workers),
                        true);
    state.counters["workers"] = workers;
    state.counters["groups"] = groups.size();
    state.counters["one_core_pairs/s"] = static_cast<double>(tree.interaction_count()) / serial;
    state.counters["beside_one_core"] = median(others);
    state.counters["efficiency"] = serial / parallel / workers;
    state.counters["of_processor_time"] = median(serial_cpu) / median(step_cpu);
    state.counters["delivery"] = median(delivery_times) / serial;
    state.counters["submission"] = median(submit_times) / parallel;
  }

  template <class K, class T>
  void add()
  {
    std::string const name =
        "starpu/" + std::string(K::name) + "/3d/" + bench::precision_name<T> + "/mutual";
    benchmark::RegisterBenchmark(name.c_str(), [](auto& state) { run<K, T>(state); })
        ->Arg(16)
        ->Arg(32)
        ->Arg(64)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }

  bool const registered = []
  {
    add<nf::one_over_r<3>, float>();
    add<nf::one_over_r<3>, double>();
    add<nf::val_grad_one_over_r<3>, double>();
    return true;
  }();
}
