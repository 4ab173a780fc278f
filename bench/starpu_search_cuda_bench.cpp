// Half pairs of the clouds in search_clouds.hpp as StarPU tasks on GPUs (pair_slabs), beside one call of
// radius_search(cuda, ...), with the points in GPU memory. Wall time from recount() until the pairs are written,
// including the grid and its sort. In milliseconds from the start, `submit_ms` is the time until recount() has
// returned, `count_ms` until all numbers of pairs are known, `handles_ms` until fill() has returned, and `median_ms`
// that of the whole; `grid_ms` is that of the grid alone. Memory is reused from earlier calls. In `moving` rows, tasks
// move the points between rounds, so that their numbers of pairs differ. `stages` rows have the milliseconds from stage
// to stage on one GPU, with some overhead for the events. The last number of a row's name is the number of slabs per
// GPU.

#include "core/src/cuda/trace.hpp"
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

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::starpu;

  /// One search: its half pairs, and the seconds until its tasks were submitted, its pairs counted, their handles made
  /// and the pairs written.
  struct found
  {
    std::uint64_t pairs;
    double submitted, counted, handled, filled;
  };

  /// All pairs of a case as a CPU finds them, kept until another case is asked for.
  template <class T>
  nf::coo<T, 3> const& expected_of(bench::search_case const& c)
  {
    static bench::search_case const* last = nullptr;
    static nf::coo<T, 3> kept;
    if (std::exchange(last, &c) != &c)
      kept = nf::radius_search(
          nf::simd, nf::cell_list<T, 3>(bench::search_cloud_of<T>(c, 1).view(), c.cutoff),
          nf::to_coo{});
    return kept;
  }

  /// Times search(), after two untimed calls; then compares list(), its last result, with the list of a CPU.
  template <class T, class F, class List>
  void time(benchmark::State& state, bench::search_case const& c, int n_gpus, F const& search,
            List const& list)
  {
    std::vector<found> all;
    search();
    search();
    for (auto _ : state)
    {
      all.push_back(search());
      state.SetIterationTime(all.back().filled);
    }
    auto const report = [&](char const* name, double found::* which)
    {
      std::vector<double> seconds;
      for (found const& one : all) seconds.push_back(one.*which);
      state.counters[name] = 1e3 * bench::median(seconds);
    };
    report("submit_ms", &found::submitted);
    report("count_ms", &found::counted);
    report("handles_ms", &found::handled);
    report("median_ms", &found::filled);
    bench::report_half_pairs(state, bench::search_name<T>("search", c, 1), all.back().pairs);
    bench::report_bound(
        state, bench::search_bound<T>(n_gpus * bench::gpu(), 3, c.n,
                                      2. * sizeof(nf::index_type) * double(all.back().pairs)));
    auto const& expected = expected_of<T>(c);
    nf::coo<T, 3> const last = list();
    if (!std::ranges::equal(last.i, expected.i) || !std::ranges::equal(last.j, expected.j))
      bench::fail(state, "a CPU finds another list");
  }

  template <class T>
  void run_direct(benchmark::State& state, bench::search_case const& c)
  {
    bench::paused_starpu const alone;
    nf::device_columns<T, 3> const points(bench::search_cloud_of<T>(c, 1).view());
    nf::cuda_cell_list<T, 3> cells(nf::cuda, points.view(), static_cast<T>(c.cutoff));
    nf::device_coo<T, 3> list;
    std::vector<double> grids;
    time<T>(
        state, c, 1,
        [&]() -> found
        {
          list = {};
          double const begin = bench::seconds();
          cells.rebuild(points.view());
          nf::synchronize(nf::cuda.stream);
          grids.push_back(bench::seconds() - begin);
          double const again = bench::seconds();
          cells.rebuild(points.view());
          auto const pairs = nf::radius_search(nf::cuda, cells, nf::count_pairs{}).total;
          double const counted = bench::seconds();
          cells.rebuild(points.view());
          list = nf::radius_search(nf::cuda, cells, nf::to_coo{});
          nf::synchronize(nf::cuda.stream);
          double const filled = bench::seconds() - counted;
          return {pairs, 0, counted - again, counted - again, filled};
        },
        [&] { return list.to_host(); });
    state.counters["grid_ms"] = 1e3 * bench::median(grids);
  }

  /// to W, from R: a copy in the memory of a GPU.
  void insert_copy(starpu_data_handle_t to, starpu_data_handle_t from)
  {
    static starpu_codelet made = []
    {
      starpu_codelet copy;
      starpu_codelet_init(&copy);
      copy.name = "copy";
      copy.nbuffers = 2;
      copy.modes[0] = STARPU_W;
      copy.modes[1] = STARPU_R;
      copy.cuda_flags[0] = STARPU_CUDA_ASYNC;
      copy.cuda_funcs[0] = [](void** buffers, void*)
      {
        cudaMemcpyAsync(reinterpret_cast<void*>(STARPU_VECTOR_GET_PTR(buffers[0])),
                        reinterpret_cast<void const*>(STARPU_VECTOR_GET_PTR(buffers[1])),
                        STARPU_VECTOR_GET_NX(buffers[0]) * STARPU_VECTOR_GET_ELEMSIZE(buffers[0]),
                        cudaMemcpyDeviceToDevice, starpu_cuda_get_local_stream());
      };
      return copy;
    }();
    starpu_task_insert(&made, STARPU_W, to, STARPU_R, from, 0);
  }

  /// Columns in the memory of a GPU, to which tasks copy one of two clouds: that of the case, or a smaller one with
  /// more pairs.
  template <class T>
  class moving_points
  {
  public:
    explicit moving_points(bench::search_cloud<T> const& cloud)
    {
      for (std::size_t a = 0; a < 3; ++a)
      {
        auto const n = cloud.x[a].size();
        for (T const value : cloud.x[a]) smaller_[a].push_back(T(0.999) * value);
        from_[0].push_back(nf::starpu::handle::of(cloud.x[a].data(), n));
        from_[1].push_back(nf::starpu::handle::of(smaller_[a].data(), n));
        x_.push_back(nf::starpu::handle::of_size<T>(n));
      }
      move_to(0);
    }
    [[nodiscard]] std::array<starpu_data_handle_t, 3> x() const { return {x_[0], x_[1], x_[2]}; }
    /// Waits.
    void move_to(std::size_t which)
    {
      for (std::size_t a = 0; a < 3; ++a) insert_copy(x_[a], from_[which][a]);
      starpu_task_wait_for_all();
    }

  private:
    std::array<std::vector<T>, 3> smaller_;
    std::array<std::vector<nf::starpu::handle>, 2> from_;
    std::vector<nf::starpu::handle> x_;
  };

  /// The milliseconds between the ends of stages of tasks on one GPU: each stage begins where the one before ends, so
  /// the first one of a task has what went before its launch too.
  class stages_of_tasks
  {
  public:
    stages_of_tasks() { instance() = this, on_workers(&start); }
    ~stages_of_tasks()
    {
      on_workers(&stop);
      instance() = nullptr;
      for (cudaEvent_t const event : events_) cudaEventDestroy(event);
    }
    stages_of_tasks(stages_of_tasks const&) = delete;
    stages_of_tasks& operator=(stages_of_tasks const&) = delete;

    /// Forgets the stages, but for the end of the last one.
    void begin()
    {
      if (n_ > 0) std::swap(events_[0], events_[n_ - 1]);
      n_ = std::min<std::size_t>(n_, 1);
      names_.resize(n_);
    }
    /// Adds those since begin() to `to`. The tasks have ended.
    void add_to(std::map<std::string, std::vector<double>>& to) const
    {
      for (std::size_t k = 1; k < n_; ++k)
      {
        float milliseconds = 0;
        nf::check_cuda(cudaEventElapsedTime(&milliseconds, events_[k - 1], events_[k]),
                       "cudaEventElapsedTime");
        to[names_[k]].push_back(milliseconds);
      }
    }

  private:
    static stages_of_tasks*& instance()
    {
      static stages_of_tasks* one = nullptr;
      return one;
    }
    static std::optional<nf::detail::stage_trace>& trace()
    {
      thread_local std::optional<nf::detail::stage_trace> of_worker;
      return of_worker;
    }
    static void on_workers(void (*f)(void*))
    {
      starpu_execute_on_each_worker(f, nullptr, STARPU_CUDA);
    }
    static void start(void*)
    {
      trace().emplace([](char const* stage, nf::cuda_stream stream)
                      { instance()->end(stage, stream); });
    }
    static void stop(void*) { trace().reset(); }
    void end(char const* stage, nf::cuda_stream stream)
    {
      if (n_ == events_.size())
        nf::check_cuda(cudaEventCreate(&events_.emplace_back()), "cudaEventCreate");
      nf::check_cuda(cudaEventRecord(events_[n_++], stream), "cudaEventRecord");
      names_.emplace_back(stage);
    }

    std::vector<cudaEvent_t> events_;
    std::vector<std::string> names_;
    std::size_t n_ = 0;
  };

  template <class T>
  void run_slabs(benchmark::State& state, bench::search_case const& c, int slabs_per_gpu,
                 bool moves, bool traces)
  {
    if (starpu().n_gpus() == 0) return bench::fail(state, "no GPU");
    moving_points<T> points(bench::search_cloud_of<T>(c, 1));
    nf::starpu::pair_slabs<T, 3> list(
        starpu(), points.x(), c.cutoff,
        {.backend = nf::cuda,
         .slabs = static_cast<std::size_t>(traces ? 1 : slabs_per_gpu * starpu().n_gpus())});
    auto const search = [&]() -> found
    {
      double const begin = bench::seconds();
      list.recount();
      double const submitted = bench::seconds();
      auto const pairs = list.n_pairs();
      double const counted = bench::seconds();
      list.fill();
      double const handled = bench::seconds();
      list.wait();
      return {pairs, submitted - begin, counted - begin, handled - begin, bench::seconds() - begin};
    };
    std::optional<stages_of_tasks> trace;
    if (traces) trace.emplace();
    std::map<std::string, std::vector<double>> stages;
    time<T>(
        state, c, starpu().n_gpus(),
        [&]() -> found
        {
          if (moves)
          {
            points.move_to(1);
            search();
            points.move_to(0);
          }
          if (traces) trace->begin();
          found const one = search();
          if (traces) trace->add_to(stages);
          return one;
        },
        [&]
        {
          nf::coo<T, 3> host;
          list.to_host(host);
          return host;
        });
    for (auto const& [name, milliseconds] : stages)
      state.counters[name + "_ms"] = bench::median(milliseconds);
  }

  template <class T>
  void add(bench::search_case const& c)
  {
    auto const name = bench::search_name<T>("starpu_search_cuda", c, 1);
    auto const row = [&](std::string const& rest, auto run)
    {
      benchmark::RegisterBenchmark((name + rest).c_str(), run)
          ->UseManualTime()
          ->Iterations(51)
          ->Unit(benchmark::kMillisecond);
    };
    row("/direct", [&c](auto& state) { run_direct<T>(state, c); });
    for (int const slabs : {1, 2, 4, 8})
      row("/slabs/" + std::to_string(slabs),
          [&c, slabs](auto& state) { run_slabs<T>(state, c, slabs, false, false); });
    row("/moving/1", [&c](auto& state) { run_slabs<T>(state, c, 1, true, false); });
    row("/stages/1", [&c](auto& state) { run_slabs<T>(state, c, 1, false, true); });
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

int main(int argc, char** argv)
{
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  bench::add_peaks_and_start_starpu();
  return bench::run_benchmarks();
}
