// Every built-in interaction by its name on a GPU, with all data in its memory: leaves of 64 points, one box, and of the
// Stokeslet a box of a million. `of_bound` is the share of the rate of the same pairs with all operands in registers.

#include "baselines/bounds.hpp"
#include "cuda_problem.hpp"
#include "cuda_timing.hpp"
#include "interactions.hpp"
#include "run.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace
{
  namespace nf = nearfield;

  template <class T, int Dim>
  void run(benchmark::State& state, int number, bench::description const& d, nf::pair_form form)
  {
    nf::interaction_info const& info = nf::interaction_infos()[std::size_t(number)];
    bool const is_mutual = form == nf::pair_form::mutual;
    auto const& p = bench::problem_of<bench::gpu_problem<T, Dim>>(d);
    nf::any_interaction const k = bench::interaction_of(info, bench::spacing_of(p));
    bench::interaction_columns<nf::device_array<T>, T, Dim> const on_gpu(info, p, p.x());
    auto const points = on_gpu.points();
    auto const q = on_gpu.q.view(), out = on_gpu.out.view();
    auto const call = [&]
    {
      if (!p.is_box())
        nf::near_field(nf::cuda, k, p.list(is_mutual), points, q, out, {.form = form});
      else if (is_mutual)
        nf::p2p_inner_mutual(nf::cuda, k, points, q, out);
      else
        nf::p2p_inner(nf::cuda, k, points, q, out);
    };
    call();
    if (!p.is_box())
    {
      std::vector<std::vector<T>> found(out.width(), std::vector<T>(p.size()));
      for (int o = 0; o < out.width(); ++o) on_gpu.out.columns[o].copy_to(found[o]);
      double const error = bench::error_of(k, p, found);
      state.counters["max_relative_error"] = error;
      if (!(error <= bench::tolerance<T>(5000))) bench::fail(state, "wrong sums");
    }
    double seconds = 0;
    for (auto _ : state)
    {
      double const taken = bench::seconds_on_gpu(call);
      seconds += taken;
      state.SetIterationTime(taken);
    }
    double const rate = p.pairs() * double(state.iterations()) / seconds;
    auto const bound = baseline::bound_of(k.erased().type->number, sizeof(T) == 8);
    auto const most = [&]
    {
      double const pairs = bound(is_mutual);
      double least = 1e9;
      for (int launch = 0; launch < 3; ++launch)
        least = std::min(least, bench::seconds_on_gpu([&] { bound(is_mutual); }));
      return pairs / least;
    }();
    state.counters["pairs/s"] = rate;
    state.counters["bound_pairs/s"] = most;
    state.counters["of_bound"] = rate / most;
  }

  template <class T, int Dim>
  void add(bench::description const& d, int iterations, std::string_view name = "")
  {
    bench::for_each_interaction<T, Dim>(
        d, name,
        [=](int number, nf::pair_form form, std::string const& row)
        {
          benchmark::RegisterBenchmark(row.c_str(),
                                       [=](auto& state) { run<T, Dim>(state, number, d, form); })
              ->UseManualTime()
              ->Iterations(iterations)
              ->Unit(benchmark::kMicrosecond);
        });
  }

  template <class T>
  void add_all()
  {
    add<T, 3>({bench::shape::leaves, 64}, 5);
    add<T, 3>({bench::shape::box, 65'536}, 5);
    add<T, 3>({bench::shape::box, 1'000'000}, 1, "stokeslet");
    add<T, 2>({bench::shape::leaves, 64}, 5);
    add<T, 2>({bench::shape::box, 65'536}, 5);
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
