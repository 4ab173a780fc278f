// The radius search on one GPU: the clouds in search_clouds.hpp. Times are those of CUDA events
// around one call, with the points in the GPU's memory, in the caller's order before every call; the
// grid, the sort and all waiting for totals are included. The iterations of a row are shared out
// among the clouds of its kind, and its time is the mean over them. `fresh` rows allocate and free
// what they need, `pooled` rows find it where the call before left it; `stages` rows count the
// milliseconds of each stage, whose events cost some time of their own. Rows of one cloud must find
// the same number of pairs; piNNS, which tests no distance and so finds others, says how many it
// lists.

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
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using baseline::device_memory;
  using baseline::pinns_test;

  bool wrong = false;

  /// The clouds of a row, numbered from 0: as the caller gave them, and the copy that a search may
  /// sort.
  template <class T>
  class device_clouds
  {
  public:
    device_clouds(bench::search_case const& c, int n) : sorted_(c.n)
    {
      for (int k = 0; k < n; ++k) given_.emplace_back(host(bench::search_cloud_of<T>(c, k + 1)));
    }

    [[nodiscard]] int size() const { return static_cast<int>(given_.size()); }
    [[nodiscard]] nf::soa<T, 3> given(int k) const { return given_[k].view(); }
    /// in the caller's order again
    [[nodiscard]] nf::soa<T, 3> fresh_copy(int k) const
    {
      auto const from = given(k), to = sorted_.view();
      for (int d = 0; d < 3; ++d)
        nf::check_cuda(
            cudaMemcpy(to[d], from[d], from.size() * sizeof(T), cudaMemcpyDeviceToDevice),
            "fresh_copy");
      return to;
    }

  private:
    static nf::soa<T const, 3> host(bench::search_cloud<T> const& cloud)
    {
      return {{cloud.x[0].data(), cloud.x[1].data(), cloud.x[2].data()}, cloud.x[0].size()};
    }

    std::vector<nf::device_columns<T, 3>> given_;
    nf::device_columns<T, 3> sorted_;
  };

  template <class T>
  baseline::pinns_domain<T, 3> domain_of(bench::search_case const& c)
  {
    auto const& cloud = bench::search_cloud_of<T>(c, 1);
    baseline::pinns_domain<T, 3> result{};
    result.radius = static_cast<T>(c.cutoff);
    for (std::size_t d = 0; d < 3; ++d)
    {
      auto const [low, high] = std::ranges::minmax(cloud.x[d]);
      result.smallest[d] = low;
      result.largest[d] = high;
    }
    return result;
  }

  std::vector<int> copied(nf::device_array<int> const& from)
  {
    std::vector<int> result(from.size());
    from.copy_to(result);
    return result;
  }

  constexpr int iterations = 20;

  /// Times `body`, which gets the points as the caller has them, after one call of each cloud that
  /// nobody times, and after `prepare`, which nobody times either. half_pairs() is what it found, or
  /// 0 where that is not to be compared.
  template <class T, class F>
  void time(
      benchmark::State& state, bench::search_case const& c, device_clouds<T> const& clouds,
      F const& body, std::function<std::uint64_t()> const& half_pairs,
      std::function<void()> const& prepare = [] {})
  {
    for (int k = 0; k < clouds.size(); ++k)
    {
      prepare();
      body(clouds.fresh_copy(k));
      for (int i = 0; i < iterations / clouds.size() && state.KeepRunning(); ++i)
      {
        prepare();
        auto const x = clouds.fresh_copy(k);
        state.SetIterationTime(bench::seconds_on_gpu([&] { body(x); }));
      }
      std::uint64_t const found = half_pairs();
      if (found != 0 &&
          !bench::report_half_pairs(state, bench::search_name<T>("search_cuda", c, k + 1), found))
        wrong = true;
    }
    state.KeepRunning(); // false: Google Benchmark is told that this was all
  }

  template <class T>
  void run_thrust(benchmark::State& state, bench::search_case const& c, int cells_per_cutoff,
                  device_memory from)
  {
    device_clouds<T> const clouds(c, c.seeds);
    baseline::device_pairs pairs{};
    auto const find = [&](nf::soa<T, 3> const& x)
    {
      pairs = baseline::find_thrust_pairs(x, static_cast<T>(c.cutoff), cells_per_cutoff, from);
    };
    // what a call gives is the caller's: to free it is not timed
    time(
        state, c, clouds, find, [&] { return pairs.size; }, [&] { pairs = {}; });
    state.counters["peak_bytes"] = static_cast<double>(pairs.peak_bytes);
  }

  enum class pinns_form
  {
    table, ///< cells, then the table
    walk   ///< cells, then a walk that counts
  };

  template <class T>
  void run_pinns(benchmark::State& state, bench::search_case const& c, pinns_form form,
                 pinns_test test)
  {
    device_clouds<T> const clouds(c, 1);
    auto const domain = domain_of<T>(c);
    baseline::pinns_cells cells;
    nf::device_array<int> counts(c.n);
    auto const walk = [&](nf::soa<T, 3> const& x)
    {
      baseline::pinns_build(x, domain, cells);
      baseline::pinns_walk(x, domain, cells, counts.data(), test);
    };
    walk(clouds.given(0));
    auto const counted = copied(counts);
    auto const listed = std::accumulate(counted.begin(), counted.end(), std::uint64_t(0));
    state.counters["listed_neighbours"] = static_cast<double>(listed);
    auto const half_pairs = [&]
    {
      return test == pinns_test::distance ? listed / 2 : 0;
    };

    if (form == pinns_form::walk) return time(state, c, clouds, walk, half_pairs);
    // 1500 in what piNNS publishes, which nothing would stop from running over
    int const width = std::max(1500, *std::ranges::max_element(counted));
    std::size_t const entries = c.n * static_cast<std::size_t>(width + 2);
    state.counters["table_bytes"] = static_cast<double>(entries * sizeof(int));
    nf::device_array<int> const neighb(entries);
    auto const list = [&](nf::soa<T, 3> const& x)
    {
      baseline::pinns_table(x, domain, cells, width, neighb.data(), test);
    };
    time(state, c, clouds, list, half_pairs);
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
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }

  /// prefix/cloud/precision: what the rows of a kind of cloud begin with.
  template <class T>
  std::string kind_name(bench::search_case const& c)
  {
    return std::string("search_cuda/") + c.name + "/" + bench::precision_name<T>;
  }
  char const* name_of(device_memory from)
  {
    return from == device_memory::fresh ? "fresh" : "pooled";
  }

  template <class T>
  void add_baselines(bench::search_case const& c)
  {
    auto const kind = kind_name<T>(c);
    for (int const k : {1, 2, 3})
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        add_row(kind + "/thrust/k" + std::to_string(k) + "/" + name_of(from),
                [=](auto& state) { run_thrust<T>(state, c, k, from); });
    for (auto const form : {pinns_form::table, pinns_form::walk})
      for (auto const test : {pinns_test::none, pinns_test::distance})
        add_row(kind + "/pinns" + (form == pinns_form::table ? "/table" : "/walk") +
                    (test == pinns_test::none ? "/untested" : "/tested"),
                [=](auto& state) { run_pinns<T>(state, c, form, test); });
  }

  /// nearfield's search and its results, from one call to the next.
  template <class T, class Sink>
  class nearfield_search
  {
  public:
    using cell_list = nf::cuda_cell_list<T, 3>;

    nearfield_search(double cutoff, Sink const& what) : cutoff_(static_cast<T>(cutoff)), what_(what)
    {}

    void operator()(nf::soa<T, 3> const& x)
    {
      if (cells_)
        cells_->rebuild(x);
      else
        cells_.emplace(nf::cuda, x, cutoff_);
      result_.emplace(nf::radius_search(nf::cuda, *cells_, what_));
    }
    /// Frees the result, and all else where the next call is to take its memory from the device.
    void forget(device_memory from)
    {
      result_.reset();
      if (from == device_memory::fresh)
      {
        cells_.reset();
        nf::trim_pool();
      }
      nf::reset_pool_peak();
    }
    [[nodiscard]] std::uint64_t half_pairs() const
    {
      if constexpr (std::is_same_v<Sink, nf::to_coo>)
        return result_->size();
      else if constexpr (std::is_same_v<Sink, nf::to_csr>)
        return what_.which == nf::pairs::full ? result_->columns.size() / 2
                                              : result_->columns.size();
      else
        return result_->total;
    }
    [[nodiscard]] std::uint64_t result_bytes() const
    {
      if constexpr (std::is_same_v<Sink, nf::to_coo>)
        return 2 * sizeof(nf::index_type) * result_->size();
      else if constexpr (std::is_same_v<Sink, nf::to_csr>)
        return sizeof(std::uint64_t) * result_->offsets.size() +
               sizeof(nf::index_type) * result_->columns.size();
      else
        return 0;
    }

  private:
    T cutoff_;
    Sink what_;
    std::optional<cell_list> cells_;
    std::optional<decltype(nf::radius_search(nf::cuda, std::declval<cell_list const&>(),
                                             std::declval<Sink const&>()))>
        result_;
  };

  template <class T, class Sink>
  void run_nearfield(benchmark::State& state, bench::search_case const& c, device_memory from,
                     Sink const& what)
  {
    device_clouds<T> const clouds(c, c.seeds);
    nearfield_search<T, Sink> search(c.cutoff, what);
    time(
        state, c, clouds, [&](nf::soa<T, 3> const& x) { search(x); },
        [&] { return search.half_pairs(); }, [&] { search.forget(from); });
    auto const peak = static_cast<double>(nf::memory_of_pool().peak);
    auto const result = static_cast<double>(search.result_bytes());
    state.counters["peak_bytes"] = peak;
    state.counters["result_bytes"] = result;
    state.counters["bytes_over_result_a_point"] = (peak - result) / static_cast<double>(c.n);
  }

  template <class T, class Sink>
  void run_stages(benchmark::State& state, bench::search_case const& c, Sink const& what)
  {
    device_clouds<T> const clouds(c, 1);
    nearfield_search<T, Sink> search(c.cutoff, what);
    std::map<std::string, double> milliseconds;
    bool warm = false;
    auto const in_stages = [&](nf::soa<T, 3> const& x)
    {
      auto const seconds = bench::stages_of_search([&] { search(x); });
      if (!std::exchange(warm, true)) return; // its memory came from the device
      for (auto const& [stage, time] : seconds) milliseconds[stage] += 1e3 * time;
    };
    time(
        state, c, clouds, in_stages, [&] { return search.half_pairs(); },
        [&] { search.forget(device_memory::pooled); });
    for (auto const& [stage, sum] : milliseconds) state.counters[stage + " ms"] = sum / iterations;
  }

  template <class T>
  void add_nearfield(bench::search_case const& c)
  {
    auto const add = [&](char const* output, auto const& what)
    {
      auto const row = kind_name<T>(c) + "/nearfield/" + output + "/";
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        add_row(row + name_of(from), [=](auto& state) { run_nearfield<T>(state, c, from, what); });
      add_row(row + "stages", [=](auto& state) { run_stages<T>(state, c, what); });
    };
    add("half_coo", nf::to_coo{});
    add("count", nf::count_pairs{});
    nf::to_csr full, half;
    full.which = nf::pairs::full;
    half.which = nf::pairs::half;
    add("full_csr", full);
    add("half_csr", half);
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  for (auto const& c : bench::search_cases)
  {
    add_nearfield<float>(c);
    add_baselines<float>(c);
    add_nearfield<double>(c);
    add_baselines<double>(c);
  }
  benchmark::RunSpecifiedBenchmarks();
  return wrong ? 1 : 0;
}
