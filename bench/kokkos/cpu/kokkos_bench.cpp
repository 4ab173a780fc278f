// The strategies of the Kokkos P2P study on the CPU, beside its xsimd kernel and ours: 1/r in two and three dimensions,
// both precisions, on one thread and on all, and N = 65,536 over the threads in f32. Every row is compared with plain
// sums, and its time is that of the wall. For figures set OMP_PROC_BIND=spread OMP_PLACES=threads, as the study does.

#include "baselines/seed.hpp"
#include "kokkos/rows.hpp"
#include "run.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <fstream>
#include <string>

namespace
{
  namespace nf = nearfield;
  using baseline::kokkos_runtime;
  using baseline::math;
  using baseline::strategy;

  /// That of the strategies, for all rows.
  nf::isa instruction_set()
  {
    switch (kokkos_runtime::register_bytes())
    {
    case 64:
      return nf::isa::avx512;
    case 32:
      return nf::isa::avx2;
    case 16:
      return nf::isa::neon64;
    default:
      return nf::isa::sse2;
    }
  }

  template <class Call>
  double seconds_of(Call const& call)
  {
    auto const start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  struct row
  {
    bool inner;
    int threads;
    std::size_t n;
  };

  /// On few points: a worse size costs seconds on 65,536. More chunks of sources are more partial sums, so that their
  /// size is found on more points.
  template <math Math, class T, int Dim>
  bench::timed_shape best_shape(bench::two_sets<T, Dim> const& points, int threads, strategy s)
  {
    return bench::best_shape<T, Dim, Math>(s, points, threads,
                                           s == strategy::hierarchical ? 16384 : 4096, false,
                                           [](auto const& call) { return seconds_of(call); });
  }

  template <math Math, class T, int Dim>
  void run_compiled(benchmark::State& state, bench::two_sets<T, Dim> const& points, int threads,
                    strategy s)
  {
    auto const sum = points.template on_kokkos<Math>(threads);
    auto const shape = best_shape<Math>(points, threads, s).second;
    for (auto _ : state)
    {
      sum->run(s, shape);
      sum->wait();
    }
    bench::report(state, shape);
    auto const sums = sum->sums();
    points.report(state, bench::cores(threads, instruction_set()), false,
                  [&](int, std::size_t i) { return sums[i]; });
  }

  template <class T, int Dim>
  void run_strict(benchmark::State& state, row const& r, strategy s)
  {
    run_compiled<math::strict>(state, bench::two_sets<T, Dim>(r.n, r.inner), r.threads, s);
  }

  /// With the vectors that are faster here.
  template <class T, int Dim>
  void run_fast(benchmark::State& state, row const& r, strategy s)
  {
    bench::two_sets<T, Dim> const points(r.n, r.inner);
    bool const wide = best_shape<math::fast_wide>(points, r.threads, s).first <
                      best_shape<math::fast>(points, r.threads, s).first;
    state.counters["wide"] = wide;
    if (wide)
      run_compiled<math::fast_wide>(state, points, r.threads, s);
    else
      run_compiled<math::fast>(state, points, r.threads, s);
  }

  template <class T, int Dim>
  void run_seed(benchmark::State& state, row const& r, baseline::inner_function<T> kernel)
  {
    bench::two_sets<T, Dim> const points(r.n, true);
    bench::outputs<T, 1> out(r.n);
    for (auto _ : state)
    {
      kernel(r.n, points.targets().data(), points.q()[0], out.view().data());
      benchmark::ClobberMemory();
    }
    points.report(state, bench::one_core(instruction_set()), false,
                  [&](int o, std::size_t i) { return out.columns[o][i]; });
  }

  /// One-sided: a part of the targets for each thread. A pair of a point with itself adds nothing.
  template <class T, int Dim>
  void run_ours(benchmark::State& state, row const& r, bool mutual)
  {
    bench::two_sets<T, Dim> const points(r.n, r.inner);
    bench::outputs<T, 1> out(r.n);
    nf::simd_backend const backend{instruction_set()};
    nf::one_over_r<Dim> const k;
    auto const sum = [&]
    {
      if (mutual) return nf::p2p_inner_mutual(backend, k, points.targets(), points.q(), out.view());
#pragma omp parallel for num_threads(r.threads) schedule(static)
      for (int t = 0; t < r.threads; ++t)
      {
        std::size_t const first = t * r.n / r.threads, last = (t + 1) * r.n / r.threads;
        nf::p2p_outer(backend, k, bench::part(points.targets(), first, last - first),
                      points.sources(), points.q(), bench::part(out.view(), first, last - first));
      }
    };
    for (auto _ : state)
    {
      sum();
      benchmark::ClobberMemory();
    }
    out.clear();
    sum();
    points.report(state, bench::cores(r.threads, instruction_set()), mutual,
                  [&](int o, std::size_t i) { return out.columns[o][i]; });
  }

  template <class Run>
  void add(std::string const& prefix, row const& r, std::string const& who, Run run)
  {
    double const pairs = double(r.n) * double(r.n);
    // a reduction is a call for each target
    auto const most = who == name_of(strategy::reduce) ? 20LL : 1000LL;
    auto const iterations = std::clamp(std::llround(2e7 * r.threads / pairs), 1LL, most);
    std::string const name =
        prefix + "threads:" + std::to_string(r.threads) + "/" + who + "/" + std::to_string(r.n);
    benchmark::RegisterBenchmark(name.c_str(), run)
        ->UseRealTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }

  enum class strict_rows
  {
    none,
    add
  };

  /// The rows of one number of points and threads.
  template <class T, int Dim>
  void add_row(row const& r, strict_rows strict)
  {
    std::string const prefix = std::string("kokkos/") + (r.inner ? "inner/" : "outer/") +
                               std::to_string(Dim) + "d/" + bench::precision_name<T> + "/";
    for (auto const s : {strategy::flat_range, strategy::reduce, strategy::nested_teams,
                         strategy::nested_vectors, strategy::hierarchical, strategy::simd})
    {
      // neither intrinsics nor a sum through a reference depend on the flag
      bool const both = s != strategy::reduce && s != strategy::simd;
      // seconds a call
      if (s == strategy::reduce && r.n > 16384 * static_cast<std::size_t>(r.threads)) continue;
      if (!both || strict == strict_rows::add)
        add(prefix, r, name_of(s), [=](auto& state) { run_strict<T, Dim>(state, r, s); });
      if (both)
        add(prefix, r, name_of(s) + std::string("_fast_math"),
            [=](auto& state) { run_fast<T, Dim>(state, r, s); });
    }
    add(prefix, r, "one_sided", [=](auto& state) { run_ours<T, Dim>(state, r, false); });
    if (r.threads > 1 || !r.inner) return;
    add(prefix, r, "mutual", [=](auto& state) { run_ours<T, Dim>(state, r, true); });
    if (auto const* const seeds = baseline::seeds_of(instruction_set()); seeds && r.n < 65536)
    {
      baseline::inner_function<T> kernel;
      if constexpr (sizeof(T) == 4)
        kernel = seeds->simd_f32[Dim - 2][0];
      else
        kernel = seeds->simd_f64[Dim - 2][0];
      add(prefix, r, "seed_xsimd", [=](auto& state) { run_seed<T, Dim>(state, r, kernel); });
    }
  }

  template <class T, int Dim>
  void add_rows(int threads)
  {
    // rows of seconds in 2D would tell nothing more
    std::size_t const most_of_one = Dim == 2 ? 4096 : 16384;
    std::size_t const most_of_all = Dim == 2 && sizeof(T) == 8 ? 16384 : 65536;
    for (std::size_t n = 64; n <= most_of_one; n *= 4)
      add_row<T, Dim>({true, 1, n}, Dim == 3 && n == 4096 ? strict_rows::add : strict_rows::none);
    add_row<T, Dim>({false, 1, 4096}, strict_rows::none);
    if (threads == 1) return;
    for (std::size_t n = 64; n <= most_of_all; n *= 4)
      add_row<T, Dim>({true, threads, n},
                      Dim == 3 && n == 16384 ? strict_rows::add : strict_rows::none);
    add_row<T, Dim>({false, threads, 16384}, strict_rows::none);
  }

  /// The name of the processor, with the number of threads.
  std::string processor(int threads)
  {
    std::ifstream information("/proc/cpuinfo");
    std::string line, name = "unknown";
    while (std::getline(information, line))
      if (line.starts_with("model name"))
      {
        name = line.substr(line.find(':') + 2);
        break;
      }
    return name + ", " + std::to_string(threads) + " threads";
  }
}

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_of_cores();
  kokkos_runtime const kokkos(0); // as many threads as OpenMP says
  int const threads = kokkos_runtime::concurrency();
  benchmark::AddCustomContext("cpu", processor(threads));
  char const* const packs =
      kokkos_runtime::register_bytes() > 0 ? "" : ", without Kokkos_ARCH_...: packs of one lane";
  benchmark::AddCustomContext("kokkos", kokkos_runtime::description() + packs);
  benchmark::AddCustomContext("isa", std::string(nf::name_of(instruction_set())));
  benchmark::AddCustomContext("compilers", NEARFIELD_COMPILERS);

  add_rows<float, 2>(threads);
  add_rows<float, 3>(threads);
  add_rows<double, 2>(threads);
  add_rows<double, 3>(threads);
  // all threads at 65,536 points are above
  for (int t = 1; t < threads; t *= 2) add_row<float, 3>({true, t, 65536}, strict_rows::none);
  return bench::run_benchmarks();
}
