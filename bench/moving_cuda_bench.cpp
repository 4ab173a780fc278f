// Points that move, on one GPU: the tree of the new positions, and whole steps from positions to results.
//
//   moving/tree/<precision>/<cloud>/<n>       rebuild of an adaptive tree, 64 points a leaf at most: tree, full and
//                                             half list; its stages one by one, and then the items of the full list
//   moving/step/<precision>/<where>/<n>       rebuild and mutual near field of 1/r in the caller's order, 32^3 boxes;
//                                             columns in device memory, or pinned: uploaded and downloaded too

#include "clouds.hpp"
#include "cuda_problem.hpp"
#include "cuda_timing.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "sums.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;

  template <class T>
  bench::cloud<T, 3> make_cloud(bench::shape shape, std::size_t n)
  {
    bench::cloud<T, 3> points(n);
    if (shape == bench::shape::plummer) bench::make_plummer(points);
    return points;
  }

  /// Whether the tree is that of the CPU.
  bool is_that_of_host(nf::cuda_tree<3> const& tree, nf::tree<3> const& expected)
  {
    auto const found = tree.on_host();
    auto const equal = [](auto const& a, auto const& b)
    {
      return std::ranges::equal(a, b);
    };
    return equal(found.target_order(), expected.target_order()) &&
           equal(found.targets().offsets, expected.targets().offsets) &&
           equal(found.interactions().ranges, expected.interactions().ranges) &&
           equal(found.half_interactions().ranges, expected.half_interactions().ranges);
  }

  template <class T>
  void run_tree(benchmark::State& state, bench::shape shape, std::size_t n)
  {
    auto const points = make_cloud<T>(shape, n);
    nf::device_columns<T, 3> const x(points.positions());
    nf::tree_options<3> const options{.max_leaf_size = 64};
    auto tree = nf::build_tree(nf::cuda, x.view(), options);
    for (int warm = 0; warm < 3; ++warm) tree.rebuild(x.view());
    nf::reset_pool_peak();
    std::uint64_t const before = nf::memory_of_pool().used;

    std::vector<double> host, device, items;
    std::map<std::string, std::vector<double>> stages;
    for (auto _ : state)
    {
      nf::synchronize(nullptr);
      double const begin = bench::seconds();
      tree.rebuild(x.view());
      nf::synchronize(nullptr);
      double const seconds = bench::seconds() - begin;
      state.SetIterationTime(seconds);
      host.push_back(seconds);
      device.push_back(bench::seconds_on_gpu([&] { tree.rebuild(x.view()); }));
      items.push_back(bench::seconds_on_gpu([&] { nf::cuda_list const list(nf::cuda, tree); }));
      for (auto const& [name, time] : bench::stages_of_search([&] { tree.rebuild(x.view()); }))
        stages[name].push_back(time);
    }
    state.counters["host_ms"] = 1e3 * bench::median(host);
    state.counters["device_ms"] = 1e3 * bench::median(device);
    state.counters["items_ms"] = 1e3 * bench::median(items);
    for (auto const& [name, times] : stages)
      state.counters[name + "_ms"] = 1e3 * bench::median(times);
    bench::report_bound(state, bench::tree_bound<T>(bench::gpu(), n, tree));
    state.counters["leaves"] = tree.size();
    state.counters["ranges"] = static_cast<double>(tree.interactions().ranges.size());
    state.counters["bytes_per_point"] =
        static_cast<double>(nf::memory_of_pool().peak - before) / static_cast<double>(n);
    if (n <= 2'500'000 && !is_that_of_host(tree, nf::build_tree(points.positions(), options)))
      state.SkipWithError("not the tree of the CPU");
  }

  /// A column in pinned memory.
  template <class T>
  struct pinned_column
  {
    explicit pinned_column(std::vector<T> const& from) : size(from.size())
    {
      nf::check_cuda(cudaMallocHost(reinterpret_cast<void**>(&data), size * sizeof(T)),
                     "cudaMallocHost");
      std::ranges::copy(from, data);
    }
    pinned_column(pinned_column const&) = delete;
    ~pinned_column() { cudaFreeHost(data); }

    T* data = nullptr;
    std::size_t size;
  };

  template <class T>
  void copy(T* to, T const* from, std::size_t n)
  {
    nf::check_cuda(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault), "cudaMemcpyAsync");
  }

  template <class T>
  void run_step(benchmark::State& state, bool from_host)
  {
    constexpr std::size_t n = std::size_t(64) << 15;
    nf::one_over_r<3> const k;
    bench::cloud<T, 3> const points(n);
    nf::tree_options<3> const options{.level = bench::leaves_level<3>};
    pinned_column<T> const px(points.x[0]), py(points.x[1]), pz(points.x[2]), pq(points.q);
    pinned_column<T> result(points.q);
    nf::device_columns<T, 3> x(points.positions());
    nf::device_columns<T, 1> q(points.charges()), out(n);
    auto tree = nf::build_tree(nf::cuda, x.view(), options);
    auto const step = [&]
    {
      if (from_host)
      {
        copy(x.view()[0], px.data, n);
        copy(x.view()[1], py.data, n);
        copy(x.view()[2], pz.data, n);
        copy(q.view()[0], pq.data, n);
      }
      tree.rebuild(x.view());
      nf::near_field(nf::cuda, k, tree, x.view(), q.view(), out.view(),
                     {.form = nf::pair_form::mutual});
      if (from_host) copy(result.data, out.view()[0], n);
      nf::synchronize(nullptr);
    };
    for (int warm = 0; warm < 3; ++warm) step();
    std::vector<double> times;
    for (auto _ : state)
    {
      double const begin = bench::seconds();
      step();
      times.push_back(bench::seconds() - begin);
      state.SetIterationTime(times.back());
    }
    auto const pairs = static_cast<double>(tree.interaction_count());
    bench::report<nf::one_over_r<3>>(
        state, pairs,
        from_host ? bench::bus_bound(bench::gpu(), 4. * n * sizeof(T))
                  : bench::pair_bound<nf::one_over_r<3>, T>(bench::gpu(), pairs, true));
    state.counters["median_ms"] = 1e3 * bench::median(times);
    out.copy_to({{result.data}, n});
    auto const host_tree = nf::build_tree(points.positions(), options);
    auto const sorted_x = nf::gather(host_tree.target_order(), points.positions());
    auto const sorted_q = nf::gather(host_tree.target_order(), points.charges());
    bench::check_sums(
        state, bench::tolerance<T>(500), n, [&](std::size_t i)
        { return bench::sum_of_tree(k, i, host_tree, sorted_x.view(), sorted_q.view()); },
        [&](int, std::size_t i) { return result.data[host_tree.target_order()[i]]; });
  }

  template <class F>
  void add(std::string const& name, int iterations, F&& f)
  {
    benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(f))
        ->UseManualTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMillisecond);
  }

  template <class T>
  void add_all()
  {
    std::string const precision = bench::precision_name<T>;
    for (auto const shape : {bench::shape::uniform, bench::shape::plummer})
      for (std::size_t const n : {100'000, 1'000'000, 2'097'152, 16'777'216})
        add("moving/tree/" + precision + "/" + name_of(shape) + "/" + std::to_string(n), 21,
            [=](auto& state) { run_tree<T>(state, shape, n); });
    for (bool const from_host : {false, true})
      add("moving/step/" + precision + (from_host ? "/pinned" : "/device") + "/2097152", 21,
          [=](auto& state) { run_step<T>(state, from_host); });
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
