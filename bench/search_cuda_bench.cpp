// The radius search on one GPU for the clouds in search_clouds.hpp. Times are measured with CUDA events
// around one call, with the points in GPU memory, in the caller's order before each call; the grid, the
// sort and all waiting for totals are included. The iterations of a row are divided among the clouds of its
// case, and its time is the mean over them. `fresh` rows allocate and free their memory, `pooled` rows reuse
// that of the previous call; `stages` rows report the milliseconds of each stage, with some overhead for
// the events. Rows of one cloud must find the same number of pairs; piNNS without a distance test finds
// more, and reports how many it lists. `search_cuda_kinds` rows are of nearfield only: in periodic boxes,
// with images, in two dimensions, and with two sets. `search_cuda_arrays` rows write to memory that is given,
// `search_cuda_graph` rows are of CUDA graphs.

#include "cuda_timing.hpp"
#include "search_cuda_rows.cuh"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using baseline::device_memory;

  /// nearfield's search, with its cells and results kept between calls.
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
    /// Frees the result, and with `fresh` all other memory, so that the next call allocates from the device.
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
    std::optional<decltype(nf::radius_search(nf::cuda, std::declval<cell_list&>(),
                                             std::declval<Sink const&>()))>
        result_;
  };

  template <class T, class Sink>
  void run_nearfield(benchmark::State& state, bench::search_case const& c, device_memory from,
                     Sink const& what)
  {
    bench::device_clouds<T> clouds(c, c.seeds);
    auto const of_clouds = nf::memory_of_pool().used;
    nearfield_search<T, Sink> search(c.cutoff, what);
    bench::time_search(
        state, c, clouds, [&](nf::soa<T, 3> const& x) { search(x); },
        [&] { return search.half_pairs(); }, [&] { search.forget(from); });
    auto const peak = static_cast<double>(nf::memory_of_pool().peak - of_clouds);
    auto const result = static_cast<double>(search.result_bytes());
    bench::report_bound(state, bench::search_bound<T>(bench::gpu(), 3, c.n, result));
    state.counters["peak_bytes"] = peak;
    state.counters["result_bytes"] = result;
    state.counters["bytes_over_result_a_point"] = (peak - result) / static_cast<double>(c.n);
  }

  template <class T, class Sink>
  void run_stages(benchmark::State& state, bench::search_case const& c, Sink const& what)
  {
    bench::device_clouds<T> clouds(c, 1);
    nearfield_search<T, Sink> search(c.cutoff, what);
    std::map<std::string, double> milliseconds;
    bool warm = false;
    auto const in_stages = [&](nf::soa<T, 3> const& x)
    {
      auto const seconds = bench::stages_of_search([&] { search(x); });
      if (!std::exchange(warm, true)) return; // warm-up: its memory came from the device
      for (auto const& [stage, time] : seconds) milliseconds[stage] += 1e3 * time;
    };
    bench::time_search(
        state, c, clouds, in_stages, [&] { return search.half_pairs(); },
        [&] { search.forget(device_memory::pooled); });
    bench::report_bound(
        state, bench::search_bound<T>(bench::gpu(), 3, c.n, double(search.result_bytes())));
    for (auto const& [stage, sum] : milliseconds)
      state.counters[stage + " ms"] = sum / bench::iterations;
    std::vector<std::string> expected{"bounds", "count"};
    if (!std::is_same_v<Sink, nf::count_pairs>)
      expected.insert(expected.end(), {"scan and wait", "expand rows"});
    for (std::string const& stage : expected)
      if (!milliseconds.contains(stage)) bench::fail(state, "no time of the stage " + stage);
  }

  template <class T>
  void add_nearfield(bench::search_case const& c)
  {
    auto const add = [&](char const* output, auto const& what)
    {
      auto const row = bench::kind_name<T>(c) + "/nearfield/" + output + "/";
      for (auto const from : {device_memory::fresh, device_memory::pooled})
        bench::add_search_row(row + bench::name_of(from),
                              [=](auto& state) { run_nearfield<T>(state, c, from, what); });
      bench::add_search_row(row + "stages", [=](auto& state) { run_stages<T>(state, c, what); });
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

namespace
{
  /// With pooled memory.
  template <class T, int Dim, class What>
  void run_kind(benchmark::State& state, bench::search_kind const& kind, What const& what)
  {
    bench::kind_input<T, Dim> const in(kind, 1'000'000);
    nf::device_columns<T, Dim> const points(in.points);
    nf::device_columns<T, Dim> const queries(in.queries);
    auto cells = kind.two_sets ? nf::cuda_cell_list<T, Dim>(nf::cuda, queries.view(), points.view(),
                                                            in.cutoff, in.options)
                 : kind.has_systems
                     ? nf::cuda_cell_list<T, Dim>(nf::cuda, points.view(), in.systems)
                     : nf::cuda_cell_list<T, Dim>(nf::cuda, points.view(), in.cutoff, in.options);
    auto result = nf::radius_search(nf::cuda, cells, what);
    auto const build_and_search = [&]
    {
      if (kind.two_sets)
        cells.rebuild(queries.view(), points.view());
      else
        cells.rebuild(points.view());
      result = nf::radius_search(nf::cuda, cells, what);
    };
    for (auto _ : state)
    {
      result = {};
      state.SetIterationTime(bench::seconds_on_gpu(build_and_search));
    }
    if (kind.has_systems)
      for (auto const& [stage, seconds] : bench::stages_of_search(build_and_search))
        state.counters[stage + " ms"] = 1e3 * seconds;
    bench::report_bound(state, bench::search_bound<T>(bench::gpu(), Dim, in.points.size(),
                                                      bench::result_bytes(result)));
    bench::report_pairs(state, bench::kind_name<T>("search_cuda_kinds", kind),
                        bench::n_pairs(kind, what, result));
  }

  /// Full lists with S in memory that is given: i and j of 32 bits and packed S, or edges of 64 bits and rows of S.
  template <class T>
  void run_arrays(benchmark::State& state, bench::search_kind const& kind, nf::pair_order order,
                  bool wide, bool waits)
  {
    bench::kind_input<T, 3> const in(kind, 1'000'000);
    nf::device_columns<T, 3> const points(in.points);
    auto cells = kind.has_systems
                     ? nf::cuda_cell_list<T, 3>(nf::cuda, points.view(), in.systems)
                     : nf::cuda_cell_list<T, 3>(nf::cuda, points.view(), in.cutoff, in.options);
    std::uint64_t n = nf::radius_search(nf::cuda, cells, nf::count_pairs{nf::pairs::full}).total;
    std::uint64_t const aligned = (n + 3) / 4 * 4;                // where j begins
    nf::device_array<std::int64_t> edges(wide ? 2 * n : aligned); // or columns of 32 bits
    nf::device_array<std::int32_t> images(wide ? 3 * n : n);
    nf::device_array<std::uint64_t> number(1);
    nf::to_arrays<T, 3> to;
    to.order = order;
    if (wide)
    {
      to.i = nf::soa<std::int64_t, 1>({edges.data()}, n);
      to.j = nf::soa<std::int64_t, 1>({edges.data() + n}, n);
      to.images = nf::interleaved<3>(std::span(images.data(), images.size()));
    }
    else
    {
      auto* const narrow = reinterpret_cast<std::int32_t*>(edges.data());
      auto* const packed = reinterpret_cast<std::uint32_t*>(images.data());
      to.i = nf::soa<std::int32_t, 1>({narrow}, n);
      to.j = nf::soa<std::int32_t, 1>({narrow + aligned}, n);
      to.packed_images = nf::soa<std::uint32_t, 1>({packed}, n);
    }
    for (auto _ : state)
      state.SetIterationTime(bench::seconds_on_gpu(
          [&]
          {
            cells.rebuild(points.view());
            if (waits)
              n = nf::radius_search(nf::cuda, cells, to);
            else
              nf::radius_search(nf::cuda, cells, to, number.data());
          }));
    if (!waits) number.copy_to({&n, 1});
    bench::report_bound(state, bench::search_bound<T>(bench::gpu(), 3, in.points.size(),
                                                      double(n) * (wide ? 28 : 12)));
    bench::report_pairs(state, bench::kind_name<T>("search_cuda_kinds", kind), n / 2);
  }

  template <class T>
  void add_arrays()
  {
    for (bench::search_kind const& kind : bench::search_kinds)
    {
      if (kind.dim == 2 || kind.two_sets || kind.box == bench::search_box::open) continue;
      auto const add = [&](char const* name, nf::pair_order order, bool wide, bool waits)
      {
        bench::add_search_row(bench::kind_name<T>("search_cuda_arrays", kind) + "/nearfield/" +
                                  name,
                              [=](auto& state) { run_arrays<T>(state, kind, order, wide, waits); });
      };
      add("narrow_by_cells", nf::pair_order::cells, false, true);
      add("narrow_by_cells_unwaited", nf::pair_order::cells, false, false);
      add("narrow_by_rows", nf::pair_order::rows, false, true);
      add("narrow_sorted", nf::pair_order::sorted, false, true);
      add("wide_by_cells", nf::pair_order::cells, true, true);
      add("wide_by_rows", nf::pair_order::rows, true, true);
    }
  }

  /// Of a list with a skin: whether it must be rebuilt, new coordinates in its cells, and what a rebuild takes.
  enum class skin_call
  {
    needs_rebuild,
    update_unchecked,
    rebuild
  };
  template <class T>
  void run_skin(benchmark::State& state, bench::search_kind const& kind, skin_call call)
  {
    constexpr int calls = 20; // at once: one alone is not longer than a launch
    bench::kind_input<T, 3> const in(kind, 1'000'000);
    nf::device_columns<T, 3> const points(in.points);
    auto options = in.options;
    options.skin = .1 * double(in.cutoff);
    nf::cuda_cell_list<T, 3> cells(nf::cuda, points.view(), in.cutoff, options);
    for (auto _ : state)
      state.SetIterationTime(bench::seconds_on_gpu(
                                 [&]
                                 {
                                   for (int k = 0; k < calls; ++k)
                                     if (call == skin_call::needs_rebuild)
                                       benchmark::DoNotOptimize(cells.needs_rebuild(points.view()));
                                     else if (call == skin_call::update_unchecked)
                                       cells.update_unchecked(points.view());
                                     else
                                       cells.rebuild(points.view());
                                 }) /
                             calls);
  }

  template <class T>
  void add_skins()
  {
    for (bench::search_kind const& kind : bench::search_kinds)
    {
      if (kind.dim == 2 || kind.two_sets || kind.is_crystal || kind.has_systems) continue;
      auto const add = [&](char const* name, skin_call call)
      {
        bench::add_search_row(bench::kind_name<T>("search_cuda_skin", kind) + "/nearfield/" + name,
                              [=](auto& state) { run_skin<T>(state, kind, call); });
      };
      add("needs_rebuild", skin_call::needs_rebuild);
      add("update_unchecked", skin_call::update_unchecked);
      add("rebuild", skin_call::rebuild);
    }
  }

  /// What a CUDA graph runs that has captured work of a stream.
  class captured_graph
  {
  public:
    template <class F>
    captured_graph(nf::cuda_stream stream, F const& work)
    {
      work(); // what kernels need to be loaded
      nf::synchronize(stream);
      nf::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
      work();
      cudaGraph_t captured = nullptr;
      nf::check_cuda(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
      nf::check_cuda(cudaGraphInstantiate(&exec_, captured, 0), "cudaGraphInstantiate");
      nf::check_cuda(cudaGraphDestroy(captured), "cudaGraphDestroy");
    }
    captured_graph(captured_graph const&) = delete;
    captured_graph& operator=(captured_graph const&) = delete;
    ~captured_graph() { cudaGraphExecDestroy(exec_); }
    /// On the default stream.
    void launch() const { nf::check_cuda(cudaGraphLaunch(exec_, nullptr), "cudaGraphLaunch"); }

  private:
    cudaGraphExec_t exec_ = nullptr;
  };

  /// What a graph does after a build.
  enum class graph_search
  {
    none,
    table,   ///< of full rows
    packed,  ///< full rows with S packed
    counters ///< full rows with S as columns
  };
  template <class T>
  void run_graph(benchmark::State& state, bench::search_kind const& kind, graph_search search)
  {
    constexpr int calls = 20; // so that the next graph waits in the stream
    constexpr nf::index_type width = 192;
    bench::kind_input<T, 3> const in(kind, 100'000);
    cudaStream_t stream = nullptr;
    nf::check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
    std::unique_ptr<CUstream_st, cudaError_t (*)(cudaStream_t)> const kept(stream,
                                                                           cudaStreamDestroy);
    nf::cuda_backend const where{stream};
    nf::device_columns<T, 3> const points(in.points, stream);
    auto cells = kind.has_systems
                     ? nf::cuda_cell_list<T, 3>(where, points.view(), in.systems, in.options)
                     : nf::cuda_cell_list<T, 3>(where, points.view(), in.cutoff, in.options);
    std::uint64_t const n_pairs =
        nf::radius_search(where, cells, nf::count_pairs{nf::pairs::full}).total;
    cells.fix_capacity();
    std::size_t const n = points.size();
    bool const is_table = search == graph_search::table;
    nf::device_array<nf::index_type> counts(n, stream),
        columns(is_table ? n * width : n_pairs, stream), longest(1, stream);
    nf::device_array<std::uint64_t> offsets(n + 1, stream), number(1, stream);
    nf::device_array<std::uint32_t> packed(n_pairs, stream);
    nf::device_columns<std::int32_t, 3> images(n_pairs, stream);
    nf::to_arrays<T, 3> rows;
    rows.order = nf::pair_order::rows;
    rows.j = nf::soa<nf::index_type, 1>({columns.data()}, n_pairs);
    rows.offsets = nf::soa<std::uint64_t, 1>({offsets.data()}, n + 1);
    if (search == graph_search::packed)
      rows.packed_images = nf::soa<std::uint32_t, 1>({packed.data()}, n_pairs);
    if (search == graph_search::counters) rows.images = images.view();
    captured_graph const graph(stream,
                               [&]
                               {
                                 cells.rebuild(points.view());
                                 if (is_table)
                                   nf::radius_search(
                                       where, cells,
                                       nf::to_rows{.width = width,
                                                   .counts = {counts.data(), counts.size()},
                                                   .columns = {columns.data(), columns.size()},
                                                   .longest = longest.data()});
                                 else if (search != graph_search::none)
                                   nf::radius_search(where, cells, rows, number.data());
                               });
    for (auto _ : state)
      state.SetIterationTime(bench::seconds_on_gpu(
                                 [&]
                                 {
                                   for (int k = 0; k < calls; ++k) graph.launch();
                                 }) /
                             calls);
    cells.check_capacity();
    nf::index_type too_long = 0;
    if (is_table) longest.copy_to({&too_long, 1});
    if (too_long > 0) throw nf::error("a row has " + std::to_string(too_long) + " points");
    std::uint64_t found = n_pairs;
    if (!is_table && search != graph_search::none) number.copy_to({&found, 1});
    bench::report_pairs(state, bench::kind_name<T>("search_cuda_graph", kind), found / 2);
  }

  template <class T>
  void add_graphs()
  {
    for (bench::search_kind const& kind : bench::search_kinds)
    {
      if (kind.dim == 2 || kind.two_sets) continue;
      auto const add = [&](char const* name, graph_search search)
      {
        bench::add_search_row(bench::kind_name<T>("search_cuda_graph", kind) + "/nearfield/" + name,
                              [=](auto& state) { run_graph<T>(state, kind, search); });
      };
      add("rebuild", graph_search::none);
      add("rebuild_and_table", graph_search::table);
      add("rebuild_and_packed_rows", graph_search::packed);
      add("rebuild_and_rows_with_images", graph_search::counters);
    }
  }

  template <class T>
  void add_kinds()
  {
    bench::for_each_kind(
        [](bench::search_kind const& kind, auto const& what, std::string const& output)
        {
          bench::add_search_row(bench::kind_name<T>("search_cuda_kinds", kind) + "/nearfield/" +
                                    output + "/pooled",
                                [=](auto& state)
                                {
                                  if (kind.dim == 2)
                                    run_kind<T, 2>(state, kind, what);
                                  else
                                    run_kind<T, 3>(state, kind, what);
                                });
        });
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  for (auto const& c : bench::search_cases)
  {
    add_nearfield<float>(c);
    bench::add_search_baselines<float>(c);
    add_nearfield<double>(c);
    bench::add_search_baselines<double>(c);
  }
  add_kinds<float>();
  add_kinds<double>();
  add_arrays<float>();
  add_arrays<double>();
  add_skins<float>();
  add_skins<double>();
  add_graphs<float>();
  add_graphs<double>();
  return bench::run_benchmarks();
}
