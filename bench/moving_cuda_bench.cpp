// Points that move, on one GPU: the tree of the new positions, and whole steps from positions to results.
//
//   moving/tree/<precision>/<cloud>/<n>       rebuild of an adaptive tree, 64 points a leaf at most: tree, full and
//                                             half list; its stages one by one, and then the items of the full list
//   moving/step/<precision>/<where>/<n>       rebuild and mutual near field of 1/r in the caller's order, 32^3 boxes;
//                                             columns in device memory, or pinned: uploaded and downloaded too
//   moving/sums/<precision>/<leaves>/<form>/<n>  rebuild of leaves in a periodic box and the near field of a Gaussian that
//                                             is zero beyond R = 0.03, over a cell list, or a tree of boxes as wide as R
//   moving/ewald/<precision>/...              the same of Ewald's real part with gradient over cells, alpha = 3 / R
//   moving/argon/<precision>/<form>/<n>       a step of fcc argon: energy, force and virial within 2.5 sigma over cells
//                                             with a skin of 1 A, built anew in every tenth step

#include "argon.hpp"
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
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
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

  constexpr double cutoff = 0.03; ///< of sums over cells

  /// Steps over leaves, whose pairs `pairs` counts.
  template <class T, class K, class Leaves>
  void run_sums(benchmark::State& state, K const& k, bench::cloud<T, 3> const& points,
                nf::device_columns<T, 3> const& x, Leaves&& leaves, double pairs,
                nf::pair_form form)
  {
    std::size_t const n = points.q.size();
    nf::device_columns<T, 1> const q(points.charges());
    nf::device_columns<T, K::n_out> out(n);
    auto const sums = [&]
    {
      nf::near_field(nf::cuda, k, leaves, x.view(), q.view(), out.view(), {.form = form});
    };
    auto const seconds_of = [](auto const& f)
    {
      nf::synchronize(nullptr);
      double const begin = bench::seconds();
      f();
      nf::synchronize(nullptr);
      return bench::seconds() - begin;
    };
    for (int warm = 0; warm < 3; ++warm)
    {
      leaves.rebuild(x.view());
      sums();
    }
    std::vector<double> rebuild, again, all;
    for (auto _ : state)
    {
      rebuild.push_back(seconds_of([&] { leaves.rebuild(x.view()); }));
      all.push_back(rebuild.back() + seconds_of(sums));
      again.push_back(bench::seconds_on_gpu(sums));
      state.SetIterationTime(all.back());
    }
    bench::report<K>(state, pairs,
                     bench::pair_bound<K, T>(bench::gpu(), pairs, form == nf::pair_form::mutual));
    state.counters["rebuild_ms"] = 1e3 * bench::median(rebuild);
    state.counters["sums_ms"] = 1e3 * bench::median(again); // over leaves that are there
    state.counters["all_ms"] = 1e3 * bench::median(all);
    state.counters["leaves"] = leaves.size();

    bench::outputs<T, K::n_out> found(n), expected(n);
    out.copy_to(found.view());
    nf::threads pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    nf::cell_list const cells(nf::simd.with(pool), points.positions(), cutoff,
                              {.period = {1, 1, 1}});
    nf::near_field(nf::simd.with(pool), k, cells, points.positions(), points.charges(),
                   expected.view());
    double relative = 0;
    for (int o = 0; o < K::n_out; ++o)
    {
      double error = 0, largest = 0;
      for (std::size_t i = 0; i < n; ++i)
      {
        double const value = expected.columns[o][i];
        error = std::max(error, std::abs(double(found.columns[o][i]) - value));
        largest = std::max(largest, std::abs(value));
      }
      relative = std::max(relative, error / largest);
    }
    bench::report_error(state, relative, bench::tolerance<T>(500));
  }

  template <class T, class K>
  void run_sums(benchmark::State& state, K const& k, bool over_cells, nf::pair_form form)
  {
    constexpr std::size_t n = 1'000'000;
    bench::cloud<T, 3> const points(n);
    nf::device_columns<T, 3> const x(points.positions());
    if (!over_cells)
    {
      auto tree = nf::build_tree(nf::cuda, x.view(), {.level = 5, .period = {1, 1, 1}});
      return run_sums(state, k, points, x, tree, static_cast<double>(tree.interaction_count()),
                      form);
    }
    nf::cell_list const host(points.positions(), cutoff, {.period = {1, 1, 1}});
    auto const list = host.interactions();
    double pairs = -double(n);
    for (nf::index_type b = 0; b < host.size(); ++b)
      pairs += double(host.targets().count(b)) * static_cast<double>(list.source_count(b));
    nf::cuda_cell_list<T, 3> cells(nf::cuda, x.view(), T(cutoff), {.period = {1, 1, 1}});
    run_sums(state, k, points, x, cells, pairs, form);
  }

  /// An fcc crystal, in which atoms have moved by up to 0.2 A, in A and meV.
  template <class T>
  class argon_crystal
  {
  public:
    static constexpr double sigma = 3.4, epsilon = 10.3, constant = 5.26;
    double const period;
    std::array<std::vector<T>, 3> x;

    explicit argon_crystal(int cells) : period(constant * cells)
    {
      double const corners[4][3] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};
      std::mt19937 random(7);
      std::uniform_real_distribution<double> moved(-.2, .2);
      for (int i = 0; i < cells * cells * cells; ++i)
        for (auto const& corner : corners)
          for (int a = 0, rest = i; a < 3; ++a, rest /= cells)
            x[a].push_back(
                static_cast<T>(constant * (rest % cells + corner[a] + .25) + moved(random)));
    }
    [[nodiscard]] bench::argon interaction() const
    {
      return bench::argon({.sigma = {sigma}, .epsilon = {epsilon}, .cutoff = {2.5 * sigma}});
    }
    [[nodiscard]] nf::soa<T const, 3> view() const { return nf::soa{x[0], x[1], x[2]}; }
    /// Energy and force of an atom, by a plain loop.
    [[nodiscard]] std::array<double, 4> sums_of(std::size_t i) const
    {
      auto const k = interaction();
      std::array<double, 4> sums{};
      for (std::size_t j = 0; j < x[0].size(); ++j)
      {
        nf::vec<double, 3> r;
        for (int a = 0; a < 3; ++a)
        {
          double const d = double(x[a][i]) - double(x[a][j]);
          r[a] = d - period * std::round(d / period);
        }
        if (j == i) continue;
        auto const out = k(r, 1 / std::sqrt(dot(r, r))).to({{1.}});
        for (int o = 0; o < 4; ++o) sums[static_cast<std::size_t>(o)] += out[o];
      }
      return sums;
    }
  };

  template <class T>
  void run_argon(benchmark::State& state, int cells, nf::pair_form form)
  {
    argon_crystal<T> const crystal(cells);
    std::size_t const n = crystal.x[0].size();
    auto const k = crystal.interaction();
    auto const l = static_cast<T>(crystal.period);
    nf::device_columns<T, 3> const x(crystal.view());
    std::vector<T> const ones(n, 1);
    nf::device_columns<T, 1> const q(nf::soa{ones});
    nf::device_columns<T, 10> out(n);
    nf::cuda_cell_list<T, 3> list(nf::cuda, x.view(), T(2.5 * crystal.sigma),
                                  {.period = {l, l, l}, .skin = 1});
    auto const sums = [&]
    {
      nf::near_field(nf::cuda, k, list, x.view(), q.view(), out.view(), {.form = form});
    };
    auto const ten_steps = [&]
    {
      list.rebuild(x.view());
      sums();
      for (int step = 1; step < 10; ++step)
      {
        list.update_unchecked(x.view());
        sums();
      }
    };
    ten_steps();
    std::vector<double> all, again;
    for (auto _ : state)
    {
      all.push_back(bench::seconds_on_gpu(ten_steps) / 10);
      again.push_back(bench::seconds_on_gpu(sums));
      state.SetIterationTime(all.back());
    }
    state.counters["step_ms"] = 1e3 * bench::median(all);
    state.counters["sums_ms"] = 1e3 * bench::median(again);
    state.counters["atoms/s"] = double(n) / bench::median(all);

    std::array<std::vector<T>, 10> found;
    for (auto& column : found) column.resize(n);
    std::array<T*, 10> columns;
    for (std::size_t o = 0; o < 10; ++o) columns[o] = found[o].data();
    out.copy_to(nf::soa<T, 10>(columns, n));
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < n; i += n / 50)
    {
      auto const expected = crystal.sums_of(i);
      for (std::size_t o = 0; o < 4; ++o)
      {
        error = std::max(error, std::abs(double(found[o][i]) - expected[o]));
        largest = std::max(largest, std::abs(expected[o]));
      }
    }
    bench::report_error(state, error / largest, sizeof(T) == 4 ? 1e-4 : 1e-10);
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
    for (bool const over_cells : {true, false})
      for (auto const form : {nf::pair_form::one_sided, nf::pair_form::mutual})
        add("moving/sums/" + precision + (over_cells ? "/cells" : "/tree") +
                (form == nf::pair_form::mutual ? "/mutual" : "/one_sided") + "/1000000",
            21, [=](auto& state)
            { run_sums<T>(state, nf::gaussian<3>{.sigma = cutoff / 6}, over_cells, form); });
    add("moving/ewald/" + precision + "/cells/one_sided/1000000", 21,
        [=](auto& state)
        {
          run_sums<T>(state, nf::val_grad_ewald_real{.alpha = 3 / cutoff, .r_c = cutoff}, true,
                      nf::pair_form::one_sided);
        });
    for (int const cells : {20, 32, 64})
      for (auto const form : {nf::pair_form::one_sided, nf::pair_form::mutual})
        add("moving/argon/" + precision +
                (form == nf::pair_form::mutual ? "/mutual/" : "/one_sided/") +
                std::to_string(4 * cells * cells * cells),
            11, [=](auto& state) { run_argon<T>(state, cells, form); });
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
