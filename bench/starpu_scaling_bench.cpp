// Strong scaling: all pairs of N = 65,536 points, 1/r in 3D, as P2P tasks on handles (64 pieces, one task per
// ordered pair of pieces), for 1, 2, 4 ... CPU workers and for all that StarPU has. Starting StarPU and
// registering handles is not timed.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using K = nf::one_over_r<3>;

  constexpr std::size_t n_points = 65536, n_pieces = 64, piece = n_points / n_pieces;

  /// The pieces in the layout of packed handles: column after column.
  template <class T>
  struct pieces
  {
    std::vector<T> x, q, out;
    std::vector<nf::starpu::handle> hx, hq, hout;

    explicit pieces(bench::cloud<T, 3> const& points) : q(points.q), out(n_points)
    {
      for (std::size_t p = 0; p < n_pieces; ++p)
        for (auto const& column : points.x)
          x.insert(x.end(), column.begin() + p * piece, column.begin() + (p + 1) * piece);
      for (std::size_t p = 0; p < n_pieces; ++p)
      {
        hx.push_back(nf::starpu::handle::of(x.data() + 3 * p * piece, 3 * piece));
        hq.push_back(nf::starpu::handle::of(q.data() + p * piece, piece));
        hout.push_back(nf::starpu::handle::of(out.data() + p * piece, piece));
      }
    }
  };

  template <class T>
  void run(benchmark::State& state, int workers)
  {
    nf::starpu::runtime const starpu{{.workers = workers, .gpus = 0}};
    nf::starpu::p2p<K, T> p2p;
    bench::cloud<T, 3> const points(n_points);
    pieces<T> box{points};
    for (auto _ : state)
    {
      double const begin = bench::seconds();
      for (std::size_t shift = 0; shift < n_pieces; ++shift)
        for (std::size_t i = 0; i < n_pieces; ++i)
        {
          std::size_t const j = (i + shift) % n_pieces;
          if (shift == 0)
            p2p.insert_inner({.x = box.hx[i], .q = box.hq[i], .out = box.hout[i]});
          else
            p2p.insert_outer({.x = box.hx[i], .out = box.hout[i]},
                             {.x = box.hx[j], .q = box.hq[j]});
        }
      p2p.wait();
      state.SetIterationTime(bench::seconds() - begin);
    }
    bench::report<K, T>(state, static_cast<double>(n_points) * (n_points - 1),
                        bench::cores(starpu.n_workers()), false);
    state.counters["workers"] = starpu.n_workers();
    box.hout.clear(); // StarPU updates the array
    bench::check_sums(
        state, bench::tolerance<T>(), n_points, [&](std::size_t i)
        { return bench::sum_of_box(K{}, i, points.positions(), points.charges()); },
        [&](int, std::size_t i)
        { return double(box.out[i]) / static_cast<double>(state.iterations()); });
  }

  template <class T>
  void add(int workers)
  {
    std::string const name = std::string("starpu_scaling/one_over_r/3d/") +
                             bench::precision_name<T> + "/65536/workers:" + std::to_string(workers);
    benchmark::RegisterBenchmark(name.c_str(), [=](auto& state) { run<T>(state, workers); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }

}

// The rows depend on the number of workers, which StarPU must be started to tell, so not before main.
int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_of_cores();
  int const most = nf::starpu::runtime{{.gpus = 0}}.n_workers();
  for (int workers = 1; workers < 2 * most; workers *= 2)
  {
    add<float>(std::min(workers, most));
    add<double>(std::min(workers, most));
  }
  return bench::run_benchmarks();
}
