// Fixed-radius search on one GPU. Times are those of CUDA events from the start of the grid to the end of the
// list, all data in the GPU's memory, which the pool keeps from one repetition to the next; counters hold the
// stages in milliseconds, and the most memory that the pool had in use, points apart. A list that has another
// number of pairs than were counted, or another order the next time, is an error.

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;

  class event
  {
  public:
    event() { nf::check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~event() { cudaEventDestroy(event_); }
    event(event const&) = delete;
    event& operator=(event const&) = delete;

    void record() { nf::check_cuda(cudaEventRecord(event_), "cudaEventRecord"); }
    /// Waits for this event.
    [[nodiscard]] double seconds_since(event const& begin) const
    {
      float milliseconds = 0;
      nf::check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
      nf::check_cuda(cudaEventElapsedTime(&milliseconds, begin.event_, event_),
                     "cudaEventElapsedTime");
      return 1e-3 * milliseconds;
    }

  private:
    cudaEvent_t event_ = nullptr;
  };

  /// The stages of one search, as search_stage_hook tells them.
  class stage_times
  {
  public:
    void start()
    {
      used_ = 0;
      names_.clear();
      next().record();
    }
    void end(char const* stage)
    {
      next().record();
      names_.emplace_back(stage);
    }
    void add_to(std::map<std::string, double>& milliseconds) const
    {
      for (std::size_t s = 0; s < names_.size(); ++s)
        milliseconds[names_[s]] += 1e3 * events_[s + 1]->seconds_since(*events_[s]);
    }

  private:
    event& next()
    {
      if (used_ == events_.size()) events_.push_back(std::make_unique<event>());
      return *events_[used_++];
    }
    std::vector<std::unique_ptr<event>> events_;
    std::size_t used_ = 0;
    std::vector<std::string> names_;
  };
  stage_times* current_stages = nullptr;

  struct cloud
  {
    std::string name;
    double cutoff;
    std::vector<double> x[3];
  };

  cloud make_cloud(std::string const& name, std::size_t n, double cutoff)
  {
    cloud result{name, cutoff, {}};
    std::mt19937_64 engine(1234);
    auto const uniform = [&]
    {
      return static_cast<double>(engine() >> 11) * 0x1p-53;
    };
    for (std::size_t i = 0; i < n; ++i)
    {
      double p[3];
      if (name.starts_with("uniform"))
        for (double& x : p) x = uniform();
      else
      {
        // Plummer's radii up to half the box; or the surface of the sphere in it
        double radius = 0.5;
        if (name == "plummer") do
            radius = 0.1 / std::sqrt(std::pow(uniform(), -2. / 3.) - 1);
          while (!(radius < 0.5));
        double const height = 2 * uniform() - 1, angle = 2 * std::numbers::pi * uniform();
        double const across = std::sqrt(1 - height * height);
        p[0] = 0.5 + radius * across * std::cos(angle);
        p[1] = 0.5 + radius * across * std::sin(angle);
        p[2] = 0.5 + radius * height;
      }
      for (int a = 0; a < 3; ++a) result.x[a].push_back(p[a]);
    }
    return result;
  }

  enum class output
  {
    coo,
    csr_full,
    csr_half,
    count,
    table
  };
  char const* name_of(output what)
  {
    constexpr char const* names[] = {"coo", "csr_full", "csr_half", "count", "table"};
    return names[static_cast<int>(what)];
  }

  /// FNV-1a over 8 bytes at a time: the order, in one number.
  std::uint64_t hash_of(void const* data, std::size_t bytes, std::uint64_t hash)
  {
    auto const* const begin = static_cast<char const*>(data);
    for (std::size_t at = 0; at + 8 <= bytes; at += 8)
    {
      std::uint64_t word;
      std::memcpy(&word, begin + at, 8);
      hash = (hash ^ word) * 0x100000001b3;
    }
    return hash;
  }

  struct found
  {
    std::uint64_t pairs = 0, result_bytes = 0, hash = 0;
  };

  template <class T>
  found search(nf::cuda_cell_list<T, 3> const& cells, output what, bool hashed)
  {
    std::uint64_t const n = cells.n_targets();
    found result;
    if (what == output::coo)
    {
      auto const list = nf::radius_search(nf::cuda, cells, nf::to_coo{});
      result = {list.size(), 8 * list.size(), 0};
      if (hashed)
      {
        auto const on_host = list.to_host();
        result.hash = hash_of(on_host.j.data(), 4 * list.size(),
                              hash_of(on_host.i.data(), 4 * list.size(), 1));
      }
    }
    else if (what == output::csr_full || what == output::csr_half)
    {
      nf::to_csr options;
      options.which = what == output::csr_full ? nf::pairs::full : nf::pairs::half;
      auto const list = nf::radius_search(nf::cuda, cells, options);
      result = {list.columns.size(), 4 * list.columns.size() + 8 * (n + 1), 0};
      if (hashed)
      {
        auto const on_host = list.to_host();
        result.hash = hash_of(on_host.columns.data(), 4 * list.columns.size(), 1);
      }
      if (what == output::csr_full) result.pairs /= 2;
    }
    else if (what == output::table)
    {
      nf::to_table options;
      options.width = 192;
      auto const table = nf::radius_search(nf::cuda, cells, options);
      result.result_bytes = 4 * (table.columns.size() + table.counts.size());
    }
    else
      result.pairs = nf::radius_search(nf::cuda, cells, nf::count_pairs{}).total;
    return result;
  }

  bool wrong = false;

  template <class T>
  void run(benchmark::State& state, cloud const& points, output what)
  {
    std::vector<T> columns[3];
    for (int a = 0; a < 3; ++a) columns[a].assign(points.x[a].begin(), points.x[a].end());
    nf::device_columns<T, 3> const x(nf::soa{columns[0], columns[1], columns[2]});
    auto const cutoff = static_cast<T>(points.cutoff);
    try
    {
      nf::trim_pool();
      std::map<std::string, double> stages;
      stage_times times;
      found first, last;
      double gpu = 0, wall = 0;
      std::uint64_t before = nf::memory_of_pool().used, repetitions = 0;
      nf::reset_pool_peak();
      {
        nf::cuda_cell_list<T, 3> cells(nf::cuda, x.view(), cutoff);
        first = search(cells, what, true);
        std::uint64_t const counted = nf::radius_search(nf::cuda, cells, nf::count_pairs{}).total;
        if (what != output::table && counted != first.pairs)
        {
          wrong = true;
          state.SkipWithError(
              ("counted " + std::to_string(counted) + ", listed " + std::to_string(first.pairs))
                  .c_str());
        }
        cells.rebuild(x.view());
        if (search(cells, what, true).hash != first.hash)
        {
          wrong = true;
          state.SkipWithError("another order the second time");
        }
        event begin, end;
        for (auto _ : state)
        {
          nf::synchronize(nullptr);
          auto const start = std::chrono::steady_clock::now();
          begin.record();
          cells.rebuild(x.view());
          last = search(cells, what, false);
          end.record();
          nf::synchronize(nullptr);
          wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          double const seconds = end.seconds_since(begin);
          state.SetIterationTime(seconds);
          gpu += seconds;
          ++repetitions;
        }
        // the stages apart: their events cost some time
        current_stages = &times;
        nf::detail::search_stage_hook = [](char const* stage, nf::cuda_stream)
        {
          current_stages->end(stage);
        };
        constexpr int with_stages = 10;
        for (int r = 0; r < with_stages; ++r)
        {
          nf::synchronize(nullptr);
          times.start();
          cells.rebuild(x.view());
          static_cast<void>(search(cells, what, false));
          times.end("end");
          times.add_to(stages);
        }
        nf::detail::search_stage_hook = nullptr;
        for (auto const& [name, milliseconds] : stages)
          state.counters[name + " ms"] = milliseconds / with_stages;
      }
      std::uint64_t const peak = nf::memory_of_pool().peak - before;
      state.counters["pairs"] = double(first.pairs);
      state.counters["wall ms"] = 1e3 * wall / double(repetitions);
      state.counters["pairs/s"] = double(first.pairs) * double(repetitions) / gpu;
      state.counters["result MB"] = 1e-6 * double(first.result_bytes);
      state.counters["peak MB"] = 1e-6 * double(peak);
      state.counters["peak B/point over result"] =
          (double(peak) - double(first.result_bytes)) / double(points.x[0].size());
    }
    catch (nf::error const& failure)
    {
      wrong = true;
      nf::detail::search_stage_hook = nullptr;
      state.SkipWithError(failure.what());
    }
  }

  template <class T>
  void add(cloud const& points)
  {
    for (output const what :
         {output::coo, output::csr_full, output::csr_half, output::count, output::table})
      benchmark::RegisterBenchmark(("cuda/search/" + std::string(name_of(what)) +
                                    (sizeof(T) == 4 ? "/f32/" : "/f64/") + points.name)
                                       .c_str(),
                                   [&points, what](benchmark::State& state)
                                   { run<T>(state, points, what); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  }
}

int main(int argc, char** argv)
{
  // else the first launch of each kernel would load it
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  if (auto const problem = nf::cuda_problem(); !problem.empty())
  {
    std::printf("SKIPPED: %s\n", problem.c_str());
    return 77;
  }
  benchmark::AddCustomContext("gpu", nf::gpus().front().name);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  std::vector<cloud> const clouds{
      make_cloud("uniform", 1000000, 0.03), make_cloud("sphere", 1000000, 0.0105),
      make_cloud("plummer", 1000000, 0.00843), make_cloud("uniform_1e5", 100000, 0.0646)};
  for (auto const& points : clouds) add<double>(points);
  for (auto const& points : clouds) add<float>(points);
  benchmark::RunSpecifiedBenchmarks();
  return wrong ? 1 : 0;
}
