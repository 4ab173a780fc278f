// P2P on one GPU beside the classic shared-memory kernel. Times are measured with CUDA events around one
// call, with all data in GPU memory; end_to_end is a step from host arrays, by stage. 100 targets of each row
// are compared with a plain sum, relative to the sum of the terms' magnitudes: a wrong row is an error, and
// the exit status is 1.

#include "baselines/bounds.hpp"
#include "baselines/classic.hpp"
#include "baselines/peaks.hpp"
#include "cuda_end_to_end.hpp"
#include "cuda_problem.hpp"
#include "cuda_timing.hpp"
#include "rates.hpp"
#include "run.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::shape;

  using bench::seconds_on_gpu;

  enum class form
  {
    one_sided,
    mutual,
    classic
  };

  char const* name_of(form f)
  {
    constexpr char const* names[] = {"one_sided", "mutual", "classic"};
    return names[static_cast<int>(f)];
  }

  /// The classic kernel adds all sources to one sum, whose rounding error grows with their number.
  template <class T>
  double tolerance(form f)
  {
    double const ours = sizeof(T) == 4 ? 2e-6 : 1e-13;
    return f == form::classic ? 100 * ours : ours;
  }

  /// Inputs of right-hand side n are the charges times 2^-n.
  template <int NIn, int NRhs, class T>
  nf::device_columns<T, NRhs * NIn> inputs_of(std::vector<T> const& q)
  {
    nf::column_set<T, NRhs * NIn> scaled;
    for (int c = 0; c < NRhs * NIn; ++c)
      for (T const value : q) scaled.columns[c].push_back(std::ldexp(value, -(c / NIn)));
    return nf::device_columns<T, NRhs * NIn>(scaled.view());
  }

  template <class K, class T, int NColumns>
  double largest_error(bench::gpu_problem<T, K::dim>& p, nf::soa<T, NColumns> const& out)
  {
    auto const& sums = p.sums_of(K{});
    double largest = 0;
    for (std::size_t s = 0; s < bench::n_samples; ++s)
      for (int c = 0; c < NColumns; ++c)
      {
        T found;
        nf::check_cuda(cudaMemcpy(&found, out[c] + bench::sample(s, p.size()), sizeof(T),
                                  cudaMemcpyDeviceToHost),
                       "cudaMemcpy");
        double const value = std::ldexp(double(found), c / K::n_out);
        largest = std::max(largest, sums[s].error(c % K::n_out, value));
      }
    return largest;
  }

  void clear(void* memory, std::size_t bytes)
  {
    nf::check_cuda(cudaMemsetAsync(memory, 0, bytes), "cudaMemsetAsync");
  }

  template <class K, class T>
  void run_classic(bench::gpu_problem<T, K::dim> const& p, T const* q,
                   nf::soa<T, K::n_out> const& out, int threads)
  {
    if (p.is_box())
    {
      baseline::classic_box<T, K::n_out>(static_cast<nf::index_type>(p.size()), p.x().data(), q,
                                         out.data());
      return;
    }
    nf::detail::cuda_job<T> job;
    p.list(false).describe_to(job);
    baseline::classic_leaves<T, K::n_out>(
        {p.n_leaves(), job.box_offsets, job.own, job.range_offsets, job.ranges}, p.x().data(), q,
        out.data(), threads);
  }

  template <class K, class T>
  constexpr bool has_classic =
      std::is_same_v<K, nf::one_over_r<3>> || std::is_same_v<K, nf::val_grad_one_over_r<3>>;

  template <class K, class T, int NRhs>
  void run(benchmark::State& state, bench::description const& d, form f)
  {
    auto& p = bench::problem_of<bench::gpu_problem<T, K::dim>>(d);
    auto const q = inputs_of<K::n_in, NRhs>(p.q());
    nf::device_columns<T, NRhs * K::n_out> out(p.size());
    K const k;
    int threads = 0;

    auto const launch = [&]
    {
      if (f == form::classic)
      {
        if constexpr (NRhs == 1 && has_classic<K, T>)
          run_classic<K>(p, q.view()[0], out.view(), threads);
      }
      else if (f == form::mutual)
      {
        if constexpr (nf::detail::has_way_back<K>)
        {
          if (p.is_box())
            nf::p2p_inner_mutual(nf::cuda, k, p.x(), q.view(), out.view());
          else
            nf::near_field(nf::cuda, k, p.list(true), p.x(), q.view(), out.view(),
                           {.form = nf::pair_form::mutual});
        }
      }
      else if (p.is_box())
        nf::p2p_inner(nf::cuda, k, p.x(), q.view(), out.view());
      else
        nf::near_field(nf::cuda, k, p.list(false), p.x(), q.view(), out.view());
    };
    // the functions on one box add to their outputs
    auto const prepare = [&]
    {
      if (p.is_box())
        for (int c = 0; c < NRhs * K::n_out; ++c) clear(out.view()[c], p.size() * sizeof(T));
    };

    if (f == form::classic && !p.is_box())
    {
      // choose the fastest block size for this row
      double best = INFINITY;
      int best_threads = 0;
      for (int const candidate : {32, 64, 96, 128, 256, 320})
      {
        threads = candidate;
        double const seconds = seconds_on_gpu(launch);
        if (seconds < best)
        {
          best = seconds;
          best_threads = candidate;
        }
      }
      threads = best_threads;
      state.counters["block_threads"] = threads;
    }
    // a row with a single iteration is long and needs no warm-up
    if (state.max_iterations > 1) launch();
    for (auto _ : state)
    {
      prepare();
      state.SetIterationTime(seconds_on_gpu(launch));
    }
    bench::report<K>(state, NRhs * p.pairs(),
                     bench::pair_bound<K, T>(bench::gpu(), p.pairs(), f == form::mutual, NRhs));

    bench::report_error(state, largest_error<K>(p, out.view()), tolerance<T>(f));
  }

  template <class K, class T>
  std::string row(char const* prefix, char const* last)
  {
    return std::string("cuda/") + prefix + "/" + K::name + "/" + std::to_string(K::dim) + "d/" +
           bench::precision_name<T> + "/" + last;
  }

  /// Rows of NRhs right-hand sides in one call; a pair counts once for each.
  template <class K, class T, int NRhs = 1>
  void add(bench::description const& d, bool with_classic)
  {
    constexpr double pairs_a_repetition = 1e10;
    double const pairs = bench::expected_pairs<K::dim>(d);
    auto const iterations = std::clamp(std::llround(pairs_a_repetition / pairs), 1LL, 200LL);
    for (form const f : {form::one_sided, form::mutual, form::classic})
    {
      if (f == form::mutual && !nf::detail::has_way_back<K>) continue;
      if (f == form::classic && !with_classic) continue;
      std::string const rhs = NRhs == 1 ? "" : "_rhs" + std::to_string(NRhs);
      auto const name = row<K, T>(bench::name_of(d.shape), (name_of(f) + rhs).c_str()) + "/" +
                        std::to_string(d.size);
      auto* const added = benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                                       { run<K, T, NRhs>(state, d, f); })
                              ->UseManualTime()
                              ->Iterations(iterations)
                              ->Unit(benchmark::kMicrosecond);
      // each takes seconds
      if (f == form::classic && pairs > 1e11) added->Repetitions(1);
    }
  }

  /// A row of operations per second; launch() returns the number of operations launched.
  template <class F>
  void add_peak(std::string const& name, char const* counter, F launch)
  {
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state)
        {
          double operations = launch();
          for (auto _ : state)
            state.SetIterationTime(seconds_on_gpu([&] { operations = launch(); }));
          state.counters[counter] = benchmark::Counter(
              operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
        })
        ->UseManualTime()
        ->Iterations(3)
        ->Unit(benchmark::kMicrosecond);
  }

  template <class K, class T>
  void add_bound()
  {
    for (bool const mutual : {false, true})
      add_peak(row<K, T>("bound", mutual ? "mutual" : "one_sided"), "pairs/s",
               [=]
               {
                 constexpr int number = nf::detail::builtin_interactions::index_of<K>();
                 return baseline::bound_of(number, sizeof(T) == 8)(mutual);
               });
  }

  /// Rows of one problem are consecutive, so that it is made only once.
  template <class T>
  void add_all()
  {
    auto const potential_and_gradient = [](bench::description const& d, bool with_classic)
    {
      add<nf::one_over_r<3>, T>(d, with_classic);
      add<nf::val_grad_one_over_r<3>, T>(d, with_classic);
    };
    auto const several = [](bench::description const& d)
    {
      add<nf::one_over_r<3>, T, 8>(d, false);
      add<nf::val_grad_one_over_r<3>, T, 8>(d, false);
    };
    for (std::size_t const n : {1000, 10'000, 65'536, 1'000'000})
    {
      potential_and_gradient({shape::box, n}, true);
      several({shape::box, n});
    }
    for (std::size_t const leaf : {8, 32, 256, 64})
    {
      potential_and_gradient({shape::leaves, leaf}, true);
      several({shape::leaves, leaf});
    }
    bench::description const leaves_of_64{shape::leaves, 64};
    add<nf::grad_one_over_r<3>, T>(leaves_of_64, false);
    add<nf::r_over_r3<3>, T>(leaves_of_64, false);
    add<nf::dipole_tensor<3>, T>(leaves_of_64, false);
    add<nf::gaussian<3>, T>(leaves_of_64, false);
    add<nf::log_r, T>(leaves_of_64, false);
    add<nf::grad_log_r, T>(leaves_of_64, false);
    potential_and_gradient({shape::uniform, 64}, false);
    potential_and_gradient({shape::plummer, 64}, false);
    add_bound<nf::one_over_r<3>, T>();
    add_bound<nf::val_grad_one_over_r<3>, T>();
    add_bound<nf::grad_one_over_r<3>, T>();
    add_bound<nf::r_over_r3<3>, T>();
    add_bound<nf::dipole_tensor<3>, T>();
    add_bound<nf::gaussian<3>, T>();
    add_bound<nf::log_r, T>();
    add_bound<nf::grad_log_r, T>();
    bench::add_cuda_end_to_end<T>();
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;

  using baseline::peak;
  for (auto const& [name, which] : {std::pair{"cuda/peak/rsqrt/f32", peak::rsqrt_f32},
                                    {"cuda/peak/fma/f32", peak::fma_f32},
                                    {"cuda/peak/rsqrt/f64", peak::rsqrt_f64},
                                    {"cuda/peak/fma/f64", peak::fma_f64}})
    add_peak(name, "op/s", [which = which] { return baseline::launch_peak(which); });
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
