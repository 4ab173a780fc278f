// P2P on one box, beside the two kernels this project started from: N = 64 ... 65536 (the plain loop only to
// 4096, since it takes 16 s at 65536), both precisions, two and three dimensions, 1/r and 1/r with its
// gradient, for every instruction set of the machine.

#include "baselines/seed.hpp"
#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <string>

namespace
{
  namespace nf = nearfield;

  /// Reports rates, and checks the outputs.
  template <class K, class T>
  void report(benchmark::State& state, bench::cloud<T, K::dim> const& points,
              bench::outputs<T, K::n_out> const& out, nf::isa which, bool mutual, double tolerance)
  {
    std::size_t const n = points.q.size();
    bench::report<K, T>(state, static_cast<double>(n) * static_cast<double>(n - 1),
                        bench::one_core(which), mutual);
    bench::check_sums(
        state, tolerance, n, [&](std::size_t i)
        { return bench::sum_of_box(K{}, i, points.positions(), points.charges()); },
        [&](int o, std::size_t i) { return out.columns[o][i]; });
  }

  template <class K, class T>
  void run_baseline(benchmark::State& state, nf::isa which, baseline::inner_function<T> kernel)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bench::cloud<T, K::dim> const points(n);
    bench::outputs<T, K::n_out> out(n);
    for (auto _ : state)
    {
      kernel(n, points.positions().data(), points.q.data(), out.view().data());
      benchmark::ClobberMemory();
    }
    // a single sum of all terms, whose rounding error grows with their number
    report<K>(state, points, out, which, false, bench::tolerance<T>(50 + double(n) / 64));
  }

  template <class K, class T>
  void run_ours(benchmark::State& state, nf::isa which, bool mutual)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bench::cloud<T, K::dim> const points(n);
    bench::outputs<T, K::n_out> out(n);
    nf::simd_backend const backend{which};
    auto const sum = [&]
    {
      if (mutual)
        nf::p2p_inner_mutual(backend, K{}, points.positions(), points.charges(), out.view());
      else
        nf::p2p_inner(backend, K{}, points.positions(), points.charges(), out.view());
    };
    for (auto _ : state)
    {
      sum();
      benchmark::ClobberMemory();
    }
    out.clear();
    sum();
    report<K>(state, points, out, which, mutual, bench::tolerance<T>());
  }

  template <class K, class T>
  void add(nf::isa which, baseline::inner_function<T> loop, baseline::inner_function<T> simd)
  {
    std::string const prefix = "p2p_inner/" + std::string(K::name) + "/" + std::to_string(K::dim) +
                               "d/" + bench::precision_name<T> + "/" +
                               std::string(nf::name_of(which)) + "/";
    auto const sizes = [](benchmark::internal::Benchmark* b, int largest = 65536)
    {
      for (int n = 64; n <= largest; n *= 4) b->Arg(n);
    };
    sizes(benchmark::RegisterBenchmark((prefix + "seed_loop").c_str(), [=](auto& state)
                                       { run_baseline<K, T>(state, which, loop); }),
          4096);
    sizes(benchmark::RegisterBenchmark((prefix + "seed_xsimd").c_str(), [=](auto& state)
                                       { run_baseline<K, T>(state, which, simd); }));
    sizes(benchmark::RegisterBenchmark((prefix + "one_sided").c_str(),
                                       [=](auto& state) { run_ours<K, T>(state, which, false); }));
    sizes(benchmark::RegisterBenchmark((prefix + "mutual").c_str(),
                                       [=](auto& state) { run_ours<K, T>(state, which, true); }));
  }

  bool const registered = []
  {
    for (nf::isa const which : nf::available_isas())
      if (auto const* const seeds = baseline::seeds_of(which))
      {
        add<nf::one_over_r<2>, float>(which, seeds->loop_f32[0][0], seeds->simd_f32[0][0]);
        add<nf::one_over_r<2>, double>(which, seeds->loop_f64[0][0], seeds->simd_f64[0][0]);
        add<nf::val_grad_one_over_r<2>, float>(which, seeds->loop_f32[0][1], seeds->simd_f32[0][1]);
        add<nf::val_grad_one_over_r<2>, double>(which, seeds->loop_f64[0][1],
                                                seeds->simd_f64[0][1]);
        add<nf::one_over_r<3>, float>(which, seeds->loop_f32[1][0], seeds->simd_f32[1][0]);
        add<nf::one_over_r<3>, double>(which, seeds->loop_f64[1][0], seeds->simd_f64[1][0]);
        add<nf::val_grad_one_over_r<3>, float>(which, seeds->loop_f32[1][1], seeds->simd_f32[1][1]);
        add<nf::val_grad_one_over_r<3>, double>(which, seeds->loop_f64[1][1],
                                                seeds->simd_f64[1][1]);
      }
    return true;
  }();
}
