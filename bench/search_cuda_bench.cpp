// The radius search on one GPU: half pairs of the clouds in search_clouds.hpp. Times are those of
// CUDA events around one call, with the points in the GPU's memory, in the caller's order before
// every call; the grid, the sort and all waiting for totals are included. `fresh` rows allocate and
// free what they need, `pooled` rows find it where the call before left it. Rows of one cloud must
// find the same number of pairs; piNNS, which tests no distance and so finds others, says how many
// it lists.

#include "baselines/pinns.hpp"
#include "baselines/thrust_pairs.hpp"
#include "cuda_timing.hpp"
#include "search_rows.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/stream_array.hpp>
#include <nearfield/search/cuda.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using baseline::device_memory;
  using baseline::pinns_test;

  bool wrong = false;

  /// The points of a row: as the caller gave them, and the copy that a search may sort.
  template <class T>
  class device_points
  {
  public:
    device_points(bench::search_case const& c, int seed)
        : host_(bench::search_cloud_of<T>(c, seed)), given_(view()), sorted_(c.n)
    {}

    [[nodiscard]] nf::soa<T const, 3> view() const
    {
      return {{host_.x[0].data(), host_.x[1].data(), host_.x[2].data()}, host_.x[0].size()};
    }
    [[nodiscard]] nf::soa<T, 3> given() const { return given_.view(); }
    /// in the caller's order again
    [[nodiscard]] nf::soa<T, 3> fresh_copy() const
    {
      auto const from = given_.view(), to = sorted_.view();
      for (int d = 0; d < 3; ++d)
        nf::check_cuda(
            cudaMemcpy(to[d], from[d], from.size() * sizeof(T), cudaMemcpyDeviceToDevice),
            "fresh_copy");
      return to;
    }
    [[nodiscard]] baseline::pinns_domain<T, 3> domain(double radius) const
    {
      baseline::pinns_domain<T, 3> result{};
      result.radius = static_cast<T>(radius);
      for (std::size_t d = 0; d < 3; ++d)
      {
        auto const [low, high] = std::ranges::minmax(host_.x[d]);
        result.smallest[d] = low;
        result.largest[d] = high;
      }
      return result;
    }

  private:
    bench::search_cloud<T> const& host_;
    nf::device_columns<T, 3> given_, sorted_;
  };

  std::vector<int> copied(nf::device_array<int> const& from)
  {
    std::vector<int> result(from.size());
    from.copy_to(result);
    return result;
  }

  /// Times `body`, which gets the points as the caller has them, after one call that nobody times,
  /// and after `prepare`, which nobody times either.
  template <class T, class F>
  void time(
      benchmark::State& state, device_points<T> const& points, F const& body,
      std::function<void()> const& prepare = [] {})
  {
    body(points.fresh_copy());
    for (auto _ : state)
    {
      prepare();
      auto const x = points.fresh_copy();
      state.SetIterationTime(bench::seconds_on_gpu([&] { body(x); }));
    }
  }

  template <class T>
  void run_thrust(benchmark::State& state, bench::search_case const& c, int seed,
                  int cells_per_cutoff, device_memory from)
  {
    device_points<T> const points(c, seed);
    baseline::device_pairs pairs{};
    auto const find = [&](nf::soa<T, 3> const& x)
    {
      pairs = baseline::find_thrust_pairs(x, static_cast<T>(c.cutoff), cells_per_cutoff, from);
    };
    // what a call gives is the caller's: to free it is not timed
    time(state, points, find, [&] { pairs = {}; });
    state.counters["peak_bytes"] = static_cast<double>(pairs.peak_bytes);
    auto const name = bench::search_name<T>("search_cuda", c, seed);
    if (!bench::report_half_pairs(state, name, pairs.size)) wrong = true;
  }

  enum class pinns_form
  {
    table, ///< cells, then the table
    walk   ///< cells, then a walk that counts
  };

  template <class T>
  void run_pinns(benchmark::State& state, bench::search_case const& c, int seed, pinns_form form,
                 pinns_test test)
  {
    device_points<T> const points(c, seed);
    auto const domain = points.domain(c.cutoff);
    baseline::pinns_cells cells;
    nf::device_array<int> counts(c.n);
    auto const walk = [&](nf::soa<T, 3> const& x)
    {
      baseline::pinns_build(x, domain, cells);
      baseline::pinns_walk(x, domain, cells, counts.data(), test);
    };
    walk(points.given());
    auto const counted = copied(counts);
    auto const listed = std::accumulate(counted.begin(), counted.end(), std::uint64_t(0));
    state.counters["listed_neighbours"] = static_cast<double>(listed);

    if (form == pinns_form::walk)
      time(state, points, walk);
    else
    {
      // 1500 in what piNNS publishes, which nothing would stop from running over
      int const width = std::max(1500, *std::ranges::max_element(counted));
      std::size_t const entries = c.n * static_cast<std::size_t>(width + 2);
      state.counters["table_bytes"] = static_cast<double>(entries * sizeof(int));
      nf::device_array<int> const neighb(entries);
      auto const list = [&](nf::soa<T, 3> const& x)
      {
        baseline::pinns_table(x, domain, cells, width, neighb.data(), test);
      };
      time(state, points, list);
    }
    auto const name = bench::search_name<T>("search_cuda", c, seed);
    if (test == pinns_test::distance && !bench::report_half_pairs(state, name, listed / 2))
      wrong = true;
  }

  void add_row(std::string const& name, std::function<void(benchmark::State&)> run)
  {
    auto const guarded = [run = std::move(run)](benchmark::State& state)
    {
      try
      {
        run(state);
      }
      catch (nf::error const& e) // a table that does not fit is no reason to end the others
      {
        state.SkipWithError(e.what());
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), guarded)
        ->UseManualTime()
        ->Iterations(20)
        ->Unit(benchmark::kMicrosecond);
  }

  template <class T>
  void add_baselines(bench::search_case const& c, int seed)
  {
    auto const cloud = bench::search_name<T>("search_cuda", c, seed);
    for (int const k : {1, 2, 3})
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        add_row(cloud + "/thrust/k" + std::to_string(k) +
                    (from == device_memory::fresh ? "/fresh" : "/pooled"),
                [=](auto& state) { run_thrust<T>(state, c, seed, k, from); });
    if (seed > 1) return;
    for (auto const form : {pinns_form::table, pinns_form::walk})
      for (auto const test : {pinns_test::none, pinns_test::distance})
        add_row(cloud + "/pinns" + (form == pinns_form::table ? "/table" : "/walk") +
                    (test == pinns_test::none ? "/untested" : "/tested"),
                [=](auto& state) { run_pinns<T>(state, c, seed, form, test); });
  }

  /// nearfield's own search, cell list included; half_pairs(result) is how many there are.
  template <class T, class What, class F>
  void run_nearfield(benchmark::State& state, bench::search_case const& c, int seed,
                     device_memory from, What const& what, F half_pairs)
  {
    using cell_list = nf::cuda_cell_list<T, 3>;
    device_points<T> const points(c, seed);
    std::optional<cell_list> cells;
    std::optional<decltype(nf::radius_search(nf::cuda, *cells, what))> result;
    auto const find = [&](nf::soa<T, 3> const& x)
    {
      if (cells)
        cells->rebuild(x);
      else
        cells.emplace(nf::cuda, x, static_cast<T>(c.cutoff));
      result.emplace(nf::radius_search(nf::cuda, *cells, what));
    };
    auto const forget = [&]
    {
      result.reset();
      if (from == device_memory::fresh)
      {
        cells.reset();
        nf::trim_pool();
      }
      nf::reset_pool_peak();
    };
    time(state, points, find, forget);
    state.counters["peak_bytes"] = static_cast<double>(nf::memory_of_pool().peak);
    auto const name = bench::search_name<T>("search_cuda", c, seed);
    if (!bench::report_half_pairs(state, name, half_pairs(*result))) wrong = true;
  }

  template <class T>
  void add_nearfield(bench::search_case const& c, int seed)
  {
    auto const add = [&](char const* output, auto const& what, auto half_pairs)
    {
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        add_row(bench::search_name<T>("search_cuda", c, seed) + "/nearfield/" + output +
                    (from == device_memory::fresh ? "/fresh" : "/pooled"),
                [=](auto& state) { run_nearfield<T>(state, c, seed, from, what, half_pairs); });
    };
    add("half_coo", nf::to_coo{}, [](auto const& list) { return list.size(); });
    add("count", nf::count_pairs{}, [](auto const& counts) { return counts.total; });
    add("full_csr", nf::to_csr{}, [](auto const& list) { return list.columns.size() / 2; });
  }

  template <class T>
  void add_all(bench::search_case const& c, int seed)
  {
    add_nearfield<T>(c, seed);
    add_baselines<T>(c, seed);
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  for (auto const& c : bench::search_cases)
    for (int seed = 1; seed <= c.seeds; ++seed)
    {
      add_all<float>(c, seed);
      add_all<double>(c, seed);
    }
  benchmark::RunSpecifiedBenchmarks();
  return wrong ? 1 : 0;
}
