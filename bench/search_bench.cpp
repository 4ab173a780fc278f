// The radius search on one core: half pairs of the clouds in search_clouds.hpp. `fresh` rows write to
// memory that the process has never touched, and pay for its pages; `reused` rows write to the buffers of
// the previous call. A call starts from the caller's points and includes the grid and sort, or the tree.
// Rows of one cloud must find the same number of pairs. `search_kinds` rows are of nearfield only: in
// periodic boxes, with images, in two dimensions, and with two sets; `search_few` rows are of 10 points.

#include "baselines/cpu_search.hpp"
#include "peak_memory.hpp"
#include "search_rows.hpp"
#include "timing.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;

  /// A method to find half pairs. `make` returns a search with empty buffers, which its calls reuse. The
  /// search may reorder the points, and returns the number of half pairs.
  template <class T>
  struct method
  {
    using search = std::function<std::uint64_t(baseline::point_columns<T>& points, double cutoff)>;

    std::string name;
    std::function<search()> make;
    double bytes_a_pair;  ///< that a half pair takes in the result
    bool is_slow = false; ///< one cloud, reused buffers only
  };

  template <class T>
  method<T> cell_pairs(int cells_per_cutoff)
  {
    return {"cell_pairs/k" + std::to_string(cells_per_cutoff),
            [=]() -> typename method<T>::search
            {
              return
                  [=, out = std::make_shared<baseline::pair_columns>()](auto& points, double cutoff)
              {
                baseline::cpu_search(nf::selected_isa())
                    .template of<T>()
                    .cell_pairs(points, static_cast<T>(cutoff), cells_per_cutoff, *out);
                return out->i.size();
              };
            },
            8};
  }

  template <class T>
  method<T> nanoflann(int leaf_size)
  {
    return {"nanoflann/leaf" + std::to_string(leaf_size),
            [=]() -> typename method<T>::search
            {
              return
                  [=, out = std::make_shared<baseline::pair_columns>()](auto& points, double cutoff)
              {
                baseline::cpu_search(nf::selected_isa())
                    .template of<T>()
                    .nanoflann_pairs(points, static_cast<T>(cutoff), leaf_size, *out);
                return out->i.size();
              };
            },
            8, true};
  }

  /// nearfield's search, including the cell list; half_pairs(result) is the number of half pairs.
  template <class T, class Result, class What, class F>
  method<T> nearfield_search(std::string const& output, What what, double bytes_a_pair,
                             F half_pairs)
  {
    struct buffers
    {
      std::optional<nf::cell_list<T, 3>> cells;
      Result result;
    };
    return {"nearfield/" + output,
            [=]() -> typename method<T>::search
            {
              return [=, kept = std::make_shared<buffers>()](auto& points, double cutoff)
              {
                nf::soa<T const, 3> const x({points.x.data(), points.y.data(), points.z.data()},
                                            points.x.size());
                if (kept->cells)
                  kept->cells->rebuild(x, cutoff);
                else
                  kept->cells.emplace(x, cutoff);
                nf::radius_search(nf::simd, *kept->cells, what, kept->result);
                return std::uint64_t(half_pairs(kept->result));
              };
            },
            bytes_a_pair};
  }

  /// The methods timed, in the order of the rows.
  template <class T>
  std::vector<method<T>> methods()
  {
    std::vector<method<T>> all;
    all.push_back(nearfield_search<T, nf::coo<T, 3>>("half_coo", nf::to_coo{}, 8,
                                                     [](auto const& list) { return list.size(); }));
    all.push_back(nearfield_search<T, nf::pair_counts>(
        "count", nf::count_pairs{}, 0, [](auto const& counts) { return counts.total; }));
    all.push_back(nearfield_search<T, nf::csr<T, 3>>(
        "full_csr", nf::to_csr{}, 8, [](auto const& list) { return list.columns.size() / 2; }));
    for (int const cells_per_cutoff : {1, 2, 3}) all.push_back(cell_pairs<T>(cells_per_cutoff));
    if (baseline::cpu_search(nf::isa::scalar).of<T>().nanoflann_pairs)
      for (int const leaf_size : {10, 32}) all.push_back(nanoflann<T>(leaf_size));
    return all;
  }

  template <class T>
  void run(benchmark::State& state, bench::search_case const& c, int seed, method<T> const& m,
           bool reused)
  {
    auto const& cloud = bench::search_cloud_of<T>(c, seed);
    auto search = m.make();
    baseline::point_columns<T> points;
    auto const begin = [&]
    {
      points = {cloud.x[0], cloud.x[1], cloud.x[2]};
    };
    std::uint64_t half_pairs = 0;
    if (reused)
    {
      begin();
      search(points, c.cutoff);
    }
    double peak_bytes = 0, cpu = 0;
    for (auto _ : state)
    {
      begin();
      if (!reused) search = m.make();
      bench::peak_memory const peak;
      std::clock_t const cpu_start = std::clock();
      double const start = bench::seconds();
      half_pairs = search(points, c.cutoff);
      state.SetIterationTime(bench::seconds() - start);
      cpu += static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
      peak_bytes = std::max(peak_bytes, peak.bytes_since());
    }
    // CPU time of the timed part, which is less sensitive to other load on the machine
    state.counters["cpu_ms"] = 1e3 * cpu / static_cast<double>(state.iterations());
    if (!reused) state.counters["peak_bytes"] = peak_bytes;
    bench::report_bound(
        state,
        bench::search_bound<T>(bench::one_core(), 3, c.n, m.bytes_a_pair * double(half_pairs)),
        std::string(nf::name_of(nf::selected_isa())));
    bench::report_half_pairs(state, bench::search_name<T>("search", c, seed), half_pairs);
  }

  template <class T>
  void add(bench::search_case const& c, int seed)
  {
    for (auto const& m : methods<T>())
      for (bool const reused : {false, true})
      {
        if (m.is_slow && (!reused || seed > 1)) continue;
        auto const name = bench::search_name<T>("search", c, seed) + "/" + m.name +
                          (reused ? "/reused" : "/fresh");
        auto* const added = benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                                         { run<T>(state, c, seed, m, reused); });
        added->UseManualTime()->Unit(benchmark::kMillisecond);
        if (m.is_slow) added->Iterations(1);
      }
  }

  /// With reused buffers.
  template <class T, int Dim, class What>
  void run_kind(benchmark::State& state, bench::search_kind const& kind, What const& what)
  {
    bench::kind_input<T, Dim> const in(kind, 100'000);
    auto cells = kind.two_sets ? nf::cell_list<T, Dim>(in.queries, in.points, in.cutoff, in.options)
                 : kind.has_systems ? nf::cell_list<T, Dim>(in.points, in.systems)
                                    : nf::cell_list<T, Dim>(in.points, in.cutoff, in.options);
    auto result = nf::radius_search(nf::simd, cells, what);
    for (auto _ : state)
    {
      double const start = bench::seconds();
      if (kind.two_sets)
        cells.rebuild(in.queries, in.points);
      else
        cells.rebuild(in.points);
      nf::radius_search(nf::simd, cells, what, result);
      state.SetIterationTime(bench::seconds() - start);
    }
    bench::report_bound(state,
                        bench::search_bound<T>(bench::one_core(), Dim, in.points.size(),
                                               bench::result_bytes(result)),
                        std::string(nf::name_of(nf::selected_isa())));
    bench::report_pairs(state, bench::kind_name<T>("search_kinds", kind),
                        bench::n_pairs(kind, what, result));
  }

  template <class T>
  void add_kinds()
  {
    bench::for_each_kind(
        [](bench::search_kind const& kind, auto const& what, std::string const& output)
        {
          auto const name = bench::kind_name<T>("search_kinds", kind) + "/nearfield/" + output;
          auto const run = [=](auto& state)
          {
            if (kind.dim == 2)
              run_kind<T, 2>(state, kind, what);
            else
              run_kind<T, 3>(state, kind, what);
          };
          benchmark::RegisterBenchmark(name.c_str(), run)
              ->UseManualTime()
              ->Unit(benchmark::kMillisecond);
        });
  }

  template <class T>
  std::string few_name(bool periodic)
  {
    return std::string("search_few/10_points") + (periodic ? "_periodic/" : "/") +
           bench::precision_name<T>;
  }

  /// A new cell list and a new list of 10 points, both freed again.
  template <class T>
  void run_few(benchmark::State& state, bool periodic)
  {
    bench::search_case const c{"few", bench::search_shape::uniform, 10, 0.3, 1};
    auto const points = bench::search_cloud_of<T>(c, 1).view();
    nf::cell_list_options<T, 3> options;
    if (periodic) options.period.fill(1 + std::numeric_limits<T>::epsilon());
    std::uint64_t half_pairs = 0;
    for (auto _ : state)
    {
      nf::cell_list<T, 3> const cells(points, c.cutoff, options);
      auto const list = nf::radius_search(nf::simd, cells, nf::to_coo{});
      half_pairs = list.size();
    }
    state.SetLabel(std::string(nf::name_of(nf::selected_isa())));
    bench::report_half_pairs(state, few_name<T>(periodic), half_pairs);
  }

  template <class T>
  void add_few()
  {
    for (bool const periodic : {false, true})
    {
      auto const name = few_name<T>(periodic) + "/nearfield/half_coo";
      benchmark::RegisterBenchmark(name.c_str(), [=](auto& state) { run_few<T>(state, periodic); })
          ->Unit(benchmark::kMicrosecond);
    }
  }

  bool const registered = []
  {
    for (auto const& c : bench::search_cases)
      for (int seed = 1; seed <= c.seeds; ++seed)
      {
        add<float>(c, seed);
        add<double>(c, seed);
      }
    add_kinds<float>();
    add_kinds<double>();
    add_few<float>();
    add_few<double>();
    return true;
  }();
}
