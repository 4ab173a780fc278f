// Half pairs of the clouds in search_clouds.hpp as StarPU tasks on GPUs (pair_slabs), beside one call of
// radius_search(cuda, ...), with the points in GPU memory. Wall time until the pairs are written, including
// the grid and its sort; `count_ms` is the time until all sizes are known. Memory is reused from earlier
// calls. The last number of a row's name is the number of slabs per GPU.

#include "search_rows.hpp"
#include "starpu_runtime.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::starpu;

  /// One search: its half pairs, and the seconds until they were counted and until they were written.
  struct found
  {
    std::uint64_t pairs;
    double counted, filled;
  };

  /// Times search(), after two untimed calls; then compares list(), its last result, with the list of a CPU.
  template <class T, class F, class List>
  void time(benchmark::State& state, bench::search_case const& c, F const& search, List const& list)
  {
    std::uint64_t pairs = 0;
    std::vector<double> counted, filled;
    search();
    search();
    for (auto _ : state)
    {
      found const one = search();
      pairs = one.pairs;
      counted.push_back(one.counted);
      filled.push_back(one.filled);
      state.SetIterationTime(one.filled);
    }
    state.counters["count_ms"] = 1e3 * bench::median(counted);
    state.counters["median_ms"] = 1e3 * bench::median(filled);
    bench::report_half_pairs(state, bench::search_name<T>("search", c, 1), pairs);
    nf::cell_list<T, 3> const cells(bench::search_cloud_of<T>(c, 1).view(), c.cutoff);
    auto const expected = nf::radius_search(nf::simd, cells, nf::to_coo{});
    nf::coo<T, 3> const found = list();
    if (!std::ranges::equal(found.i, expected.i) || !std::ranges::equal(found.j, expected.j))
      bench::fail(state, "a CPU finds another list");
  }

  template <class T>
  void run_direct(benchmark::State& state, bench::search_case const& c)
  {
    starpu(); // start StarPU, so that the device is in the same state for all rows
    nf::device_columns<T, 3> const points(bench::search_cloud_of<T>(c, 1).view());
    nf::cuda_cell_list<T, 3> cells(nf::cuda, points.view(), static_cast<T>(c.cutoff));
    nf::device_coo<T, 3> list;
    time<T>(
        state, c,
        [&]() -> found
        {
          list = {};
          double const begin = bench::seconds();
          cells.rebuild(points.view());
          auto const pairs = nf::radius_search(nf::cuda, cells, nf::count_pairs{}).total;
          double const counted = bench::seconds();
          cells.rebuild(points.view());
          list = nf::radius_search(nf::cuda, cells, nf::to_coo{});
          nf::synchronize(nf::cuda.stream);
          return {pairs, counted - begin, bench::seconds() - counted};
        },
        [&] { return list.to_host(); });
  }

  template <class T>
  void run_slabs(benchmark::State& state, bench::search_case const& c, int slabs_per_gpu)
  {
    if (starpu().n_gpus() == 0) return bench::fail(state, "no GPU");
    auto const& cloud = bench::search_cloud_of<T>(c, 1);
    nf::cell_list<T, 3> const cells(cloud.view(), c.cutoff);
    std::vector<nf::starpu::handle> columns;
    for (auto const& column : cloud.x)
      columns.push_back(nf::starpu::handle::of(column.data(), column.size()));
    std::uint64_t const candidates =
        nf::detail::count_candidates(nf::detail::whole(cells.view(), nf::pairs::half));
    nf::starpu::pair_slab_options options;
    options.backend = nf::cuda;
    options.candidates =
        candidates / static_cast<std::uint64_t>(slabs_per_gpu * starpu().n_gpus()) + 1;
    nf::starpu::pair_slabs<T, 3> list(starpu(), cells, {columns[0], columns[1], columns[2]},
                                      options);
    list.fill();
    time<T>(
        state, c,
        [&]() -> found
        {
          double const begin = bench::seconds();
          list.recount(cells);
          auto const pairs = list.n_pairs();
          double const counted = bench::seconds();
          list.fill();
          list.wait();
          return {pairs, counted - begin, bench::seconds() - begin};
        },
        [&]
        {
          nf::coo<T, 3> host;
          list.to_host(host);
          return host;
        });
  }

  template <class T>
  void add(bench::search_case const& c)
  {
    auto const name = bench::search_name<T>("starpu_search_cuda", c, 1);
    auto const row = [&](std::string const& rest, auto run)
    {
      benchmark::RegisterBenchmark((name + rest).c_str(), run)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    row("/direct", [&c](auto& state) { run_direct<T>(state, c); });
    for (int const slabs : {1, 2, 4, 8, 16, 32})
      row("/slabs/" + std::to_string(slabs),
          [&c, slabs](auto& state) { run_slabs<T>(state, c, slabs); });
  }

  bool const registered = []
  {
    for (auto const& c : bench::search_cases)
    {
      add<float>(c);
      add<double>(c);
    }
    return true;
  }();
}
