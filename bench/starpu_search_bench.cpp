// The radius search through StarPU beside one core, alternating in one run: half pairs as COO, full CSR,
// counts, and a reduction, of the clouds in search_clouds.hpp, from an existing cell list into reused
// buffers. `speedup` is by wall time; `cpu_speedup` is the CPU time of one core divided by that of all
// threads per worker, which is less sensitive to other load on the machine. StarPU is paused while one core
// works; `beside_one_core` is the processor time of all other threads meanwhile over that of the one.

#include "search_rows.hpp"
#include "starpu_runtime.hpp"
#include "timing.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::clocks;

  /// Cores alone, on a machine with GPUs too.
  nf::starpu::runtime& starpu()
  {
    return bench::starpu({.gpus = 0});
  }

  /// An output: how it is computed on one core or by tasks, and its number of half pairs.
  template <class T>
  struct coo_output
  {
    static constexpr char const* name = "half_coo";
    static constexpr double bytes_a_pair = 8;
    nf::coo<T, 3> result;
    void run(auto where, auto const& cells) { radius_search(where, cells, nf::to_coo{}, result); }
    [[nodiscard]] std::uint64_t half_pairs() const { return result.size(); }
    [[nodiscard]] bool is_same(coo_output const& other) const
    {
      return std::ranges::equal(result.i, other.result.i) &&
             std::ranges::equal(result.j, other.result.j);
    }
  };

  template <class T>
  struct csr_output
  {
    static constexpr char const* name = "full_csr";
    static constexpr double bytes_a_pair = 8;
    nf::csr<T, 3> result;
    void run(auto where, auto const& cells) { radius_search(where, cells, nf::to_csr{}, result); }
    [[nodiscard]] std::uint64_t half_pairs() const { return result.columns.size() / 2; }
    [[nodiscard]] bool is_same(csr_output const& other) const
    {
      return std::ranges::equal(result.offsets, other.result.offsets) &&
             std::ranges::equal(result.columns, other.result.columns);
    }
  };

  template <class T>
  struct count_output
  {
    static constexpr char const* name = "count";
    static constexpr double bytes_a_pair = 0;
    nf::pair_counts result;
    void run(auto where, auto const& cells)
    {
      radius_search(where, cells, nf::count_pairs{}, result);
    }
    [[nodiscard]] std::uint64_t half_pairs() const { return result.total; }
    [[nodiscard]] bool is_same(count_output const& other) const
    {
      return result.total == other.result.total;
    }
  };

  /// The number of pairs, which is reported, and the sum of their r2.
  template <class T>
  struct reduce_output
  {
    static constexpr char const* name = "reduce";
    static constexpr double bytes_a_pair = 0;
    struct sums
    {
      std::uint64_t pairs = 0;
      double r2 = 0;
    };
    sums result;
    void run(auto where, auto const& cells)
    {
      result = radius_search(where, cells,
                             nf::reduce{sums{},
                                        [](sums& sum, nf::index_type, nf::index_type, T r2)
                                        {
                                          ++sum.pairs;
                                          sum.r2 += r2;
                                        },
                                        [](sums& sum, sums const& part)
                                        {
                                          sum.pairs += part.pairs;
                                          sum.r2 += part.r2;
                                        }});
    }
    [[nodiscard]] std::uint64_t half_pairs() const { return result.pairs; }
    [[nodiscard]] bool is_same(reduce_output const& other) const
    {
      return result.pairs == other.result.pairs && result.r2 == other.result.r2;
    }
  };

  template <class T, class Output>
  void run(benchmark::State& state, bench::search_case const& c)
  {
    nf::cell_list const cells{bench::search_cloud_of<T>(c, 1).view(), c.cutoff};
    Output one, all;
    nf::starpu::cpu_workers threads(starpu());
    all.run(nf::simd.with(threads), cells);
    one.run(nf::simd, cells);
    std::vector<double> walls[2], cpus[2], others;
    for (auto _ : state)
    {
      clocks begin, end_of_one;
      {
        bench::paused_starpu const alone;
        begin = {};
        one.run(nf::simd, cells);
        end_of_one = {};
      }
      clocks const middle;
      all.run(nf::simd.with(threads), cells);
      clocks const end;
      others.push_back(beside(begin, end_of_one));
      walls[0].push_back(end_of_one.wall - begin.wall);
      walls[1].push_back(end.wall - middle.wall);
      cpus[0].push_back(end_of_one.cpu - begin.cpu);
      cpus[1].push_back(end.cpu - middle.cpu);
      state.SetIterationTime(end.wall - middle.wall);
    }
    auto const workers = starpu().n_workers();
    state.counters["workers"] = workers;
    state.counters["beside_one_core"] = bench::median(others);
    state.counters["one_core_ms"] = 1e3 * bench::median(walls[0]);
    state.counters["one_core_cpu_ms"] = 1e3 * bench::median(cpus[0]);
    state.counters["cpu_ms"] = 1e3 * bench::median(cpus[1]);
    state.counters["speedup"] = bench::median(walls[0]) / bench::median(walls[1]);
    state.counters["cpu_speedup"] = workers * bench::median(cpus[0]) / bench::median(cpus[1]);
    bench::report_bound(
        state,
        bench::search_bound<T>(bench::cores(workers), 3, c.n,
                               Output::bytes_a_pair * static_cast<double>(all.half_pairs())),
        std::string(nf::name_of(nf::selected_isa())));
    bench::report_half_pairs(state, bench::search_name<T>("search", c, 1), all.half_pairs());
    if (!all.is_same(one)) bench::fail(state, "one core found something else");
  }

  template <class T, class Output>
  void add(bench::search_case const& c)
  {
    auto const name = bench::search_name<T>("starpu_search", c, 1) + "/" + Output::name;
    benchmark::RegisterBenchmark(name.c_str(), [&c](auto& state) { run<T, Output>(state, c); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }

  template <class T>
  void add_all(bench::search_case const& c)
  {
    add<T, coo_output<T>>(c);
    add<T, csr_output<T>>(c);
    add<T, count_output<T>>(c);
    add<T, reduce_output<T>>(c);
  }

  bool const registered = []
  {
    for (auto const& c : bench::search_cases)
    {
      add_all<float>(c);
      add_all<double>(c);
    }
    return true;
  }();
}
