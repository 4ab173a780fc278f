// The strategies of the Kokkos P2P study on one GPU, beside the classic CUDA kernel (3D) and ours: 1/r in two and
// three dimensions, both precisions, data resident. Times are measured with CUDA events around one call, as in
// cuda_bench, and every row is compared with plain sums.

#include "baselines/classic.hpp"
#include "cuda_timing.hpp"
#include "kokkos/rows.hpp"
#include "run.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <optional>
#include <string>

namespace
{
  namespace nf = nearfield;
  using baseline::strategy;
  using bench::seconds_on_gpu;

  struct row
  {
    bool inner;
    std::size_t n;
  };

  template <class T, int Dim>
  void run_strategy(benchmark::State& state, row const& r, strategy s)
  {
    bench::two_sets<T, Dim> const points(r.n, r.inner);
    auto const sum = points.template on_kokkos<baseline::math::strict>(0);
    auto const shape =
        bench::best_shape<T, Dim, baseline::math::strict>(
            s, points, 0, 16384, true, [](auto const& call) { return seconds_on_gpu(call); })
            .second;
    auto const call = [&]
    {
      sum->run(s, shape);
    };
    if (state.max_iterations > 1) call();
    for (auto _ : state) state.SetIterationTime(seconds_on_gpu(call));
    bench::report(state, shape);
    auto const sums = sum->sums();
    points.report(state, bench::gpu(), false, [&](int, std::size_t i) { return sums[i]; });
  }

  /// launch(targets, sources, charges, outputs) sums; the outputs are zero before each call.
  template <class T, int Dim, class Launch>
  void run_on_columns(benchmark::State& state, row const& r, bool mutual, Launch const& launch)
  {
    bench::two_sets<T, Dim> const points(r.n, r.inner);
    nf::device_columns<T, Dim> const sources(points.sources());
    nf::device_columns<T, 1> const q(points.q());
    std::optional<nf::device_columns<T, Dim>> others;
    if (!r.inner) others.emplace(points.targets());
    auto const& targets = others ? *others : sources;
    nf::device_columns<T, 1> out(r.n);
    auto const call = [&]
    {
      launch(targets.view(), sources.view(), q.view(), out.view());
    };
    if (state.max_iterations > 1) call();
    for (auto _ : state)
    {
      nf::check_cuda(cudaMemsetAsync(out.view()[0], 0, r.n * sizeof(T)), "cudaMemsetAsync");
      state.SetIterationTime(seconds_on_gpu(call));
    }
    std::vector<T> sums(r.n);
    nf::check_cuda(cudaMemcpy(sums.data(), out.view()[0], r.n * sizeof(T), cudaMemcpyDeviceToHost),
                   "cudaMemcpy");
    points.report(state, bench::gpu(), mutual, [&](int, std::size_t i) { return sums[i]; });
  }

  template <class Run>
  void add(std::string const& prefix, row const& r, std::string const& who, long long iterations,
           Run run)
  {
    benchmark::RegisterBenchmark((prefix + who + "/" + std::to_string(r.n)).c_str(), run)
        ->UseManualTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }

  template <class T, int Dim>
  void add_row(row const& r)
  {
    std::string const prefix = std::string("kokkos_cuda/") + (r.inner ? "inner/" : "outer/") +
                               std::to_string(Dim) + "d/" + bench::precision_name<T> + "/";
    double const pairs = double(r.n) * double(r.n);
    auto const iterations = std::clamp(std::llround(1e10 / pairs), 1LL, 100LL);
    for (auto const s : {strategy::flat_range, strategy::reduce, strategy::nested_teams,
                         strategy::nested_vectors, strategy::hierarchical, strategy::tiled})
      // a launch for each target
      add(prefix, r, name_of(s), s == strategy::reduce && r.n > 1024 ? 1 : iterations,
          [=](auto& state) { run_strategy<T, Dim>(state, r, s); });

    nf::one_over_r<Dim> const k;
    add(prefix, r, "one_sided", iterations,
        [=](auto& state)
        {
          run_on_columns<T, Dim>(state, r, false,
                                 [&](auto const& x, auto const& y, auto const& q, auto const& out)
                                 {
                                   if (r.inner)
                                     nf::p2p_inner(nf::cuda, k, x, q, out);
                                   else
                                     nf::p2p_outer(nf::cuda, k, x, y, q, out);
                                 });
        });
    if (!r.inner) return;
    add(prefix, r, "mutual", iterations,
        [=](auto& state)
        {
          run_on_columns<T, Dim>(state, r, true,
                                 [&](auto const& x, auto const&, auto const& q, auto const& out)
                                 { nf::p2p_inner_mutual(nf::cuda, k, x, q, out); });
        });
    if constexpr (Dim == 3)
      add(prefix, r, "classic", iterations,
          [=](auto& state)
          {
            run_on_columns<T, Dim>(state, r, false,
                                   [&](auto const& x, auto const&, auto const& q, auto const& out)
                                   {
                                     baseline::classic_box<T, 1>(static_cast<nf::index_type>(r.n),
                                                                 x.data(), q[0], out.data());
                                   });
          });
  }

  template <class T, int Dim>
  void add_rows()
  {
    for (std::size_t n = 64; n <= 65536; n *= 4) add_row<T, Dim>({true, n});
    add_row<T, Dim>({false, 16384});
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  baseline::kokkos_runtime const kokkos(0);
  benchmark::AddCustomContext("kokkos", baseline::kokkos_runtime::description());
  add_rows<float, 2>();
  add_rows<float, 3>();
  add_rows<double, 2>();
  add_rows<double, 3>();
  return bench::run_benchmarks();
}
