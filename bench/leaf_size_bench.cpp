// The automatic leaf size against a sweep: the near field, measured, and a far field of stated cost.
//
//   leaf_size/<interaction>/<precision>/<cloud>/<points>/<us>       mutual, on one core; us: the far field of a leaf
//   leaf_size/cuda/<interaction>/<precision>/<cloud>/<points>/<ns>  on the first GPU, if there is one, in the form that
//                                                                   steps there take for such leaves; ns likewise
//
// The time of a row is the sum of both fields with the size that choose_leaf_size() takes; counters: that size
// (`automatic`), the best one of the sweep (`best`), the sum over that of the best (`ratio`), the sum of each size of
// the sweep in seconds (`at_64`), and, on a core, `of_bound`, that of the near field alone with the automatic size.
// Sizes are run one after another, several times around, and each has the shortest of its times, on a core of its
// processor times: on a shared machine others can only slow a run.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/tree/leaf_size.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;

  constexpr int rounds = 9;

  template <class T>
  bench::cloud<T, 3> make_cloud(std::string const& name, std::size_t n)
  {
    bench::cloud<T, 3> points(n);
    if (name == "plummer") bench::make_plummer(points);
    if (name == "shell") // a sphere's surface
      for (std::size_t i = 0; i < n; ++i)
      {
        double const height = 2 * double(points.x[0][i]) - 1;
        double const angle = 2 * std::numbers::pi * double(points.x[1][i]);
        double const across = std::sqrt(std::max(0., 1 - height * height));
        points.x[0][i] = static_cast<T>(across * std::cos(angle));
        points.x[1][i] = static_cast<T>(across * std::sin(angle));
        points.x[2][i] = static_cast<T>(height);
      }
    if (name == "two_clusters") // dense and small, wide and thin
      for (std::size_t i = 0; i < n; ++i)
        for (int d = 0; d < 3; ++d)
          points.x[d][i] = points.x[d][i] * T(i % 4 == 0 ? 1 : 0.05) + T(i % 4 == 0 ? 0 : 0.9);
    return points;
  }

  /// The near field of points in the order of a tree, on one core.
  template <class K, class T>
  struct on_core
  {
    static constexpr auto where = nf::simd;
    static constexpr double unit = 1e-6; ///< of far fields, in seconds

    nf::column_set<T, 3> x;
    nf::column_set<T, 1> q;
    bench::outputs<T, K::n_out> out;

    on_core(nf::tree<3> const& tree, bench::cloud<T, 3> const& points)
        : x(nf::gather(tree.target_order(), points.positions())),
          q(nf::gather(tree.target_order(), points.charges())), out(points.q.size())
    {}
    double seconds(nf::tree<3> const& tree)
    {
      double const start = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID); // others may have the core
      nf::near_field(nf::simd, K{}, tree.targets(), tree.half_interactions(),
                     std::as_const(x).view(), std::as_const(q).view(), out.view(),
                     {.form = nf::pair_form::mutual});
      return bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - start;
    }
  };

  /// The same on a GPU.
  template <class K, class T>
  struct on_gpu
  {
    static constexpr auto where = nf::cuda;
    static constexpr double unit = 1e-9;

    nf::cuda_list list;
    nf::device_columns<T, 3> x;
    nf::device_columns<T, 1> q;
    nf::device_columns<T, K::n_out> out;

    on_gpu(nf::tree<3> const& tree, bench::cloud<T, 3> const& points)
        : list(list_of(tree, points.q.size())),
          x(nf::gather(tree.target_order(), points.positions())),
          q(nf::gather(tree.target_order(), points.charges())), out(points.q.size())
    {}
    static nf::cuda_list list_of(nf::tree<3> const& tree, std::size_t n)
    {
      if (nf::cuda_mutual_pays(n, tree.size(), K::n_out, 1))
        return {nf::cuda, tree.targets(), tree.half_interactions(), n, nf::pair_form::mutual};
      return {nf::cuda, tree.targets(), tree.interactions(), n};
    }
    double seconds(nf::tree<3> const&)
    {
      constexpr int steps = 8; // one behind another: the launches cost nothing
      double const start = bench::seconds();
      for (int i = 0; i < steps; ++i)
        nf::near_field(nf::cuda, K{}, list, x.view(), q.view(), out.view(),
                       {.form = nf::pair_form::automatic});
      nf::synchronize(nf::cuda.stream);
      return (bench::seconds() - start) / steps;
    }
  };

  template <class Place, class T>
  class timed_tree
  {
  public:
    timed_tree(bench::cloud<T, 3> const& points, int size)
        : tree_(nf::build_tree(points.positions(), {.max_leaf_size = size})), place_(tree_, points)
    {}
    void run() { times_.push_back(place_.seconds(tree_)); }
    [[nodiscard]] double seconds() const { return std::ranges::min(times_); }
    [[nodiscard]] nf::tree<3> const& tree() const { return tree_; }

  private:
    nf::tree<3> tree_;
    Place place_;
    std::vector<double> times_;
  };

  constexpr int sizes[] = {8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024};

  /// The near field with leaves of one size.
  struct near_field
  {
    double seconds, leaves, pairs;
  };
  using measured = std::map<int, near_field>; ///< by size

  template <class Place, class T>
  void measure(bench::cloud<T, 3> const& points, std::vector<int> const& wanted, measured& found)
  {
    std::vector<timed_tree<Place, T>> trees;
    trees.reserve(wanted.size());
    for (int const size : wanted) trees.emplace_back(points, size);
    for (int round = 0; round < rounds; ++round)
      for (auto& each : trees) each.run();
    for (std::size_t s = 0; s < wanted.size(); ++s)
      found[wanted[s]] = {trees[s].seconds(), double(trees[s].tree().size()),
                          double(trees[s].tree().interaction_count())};
  }

  template <template <class, class> class On, class K, class T>
  void run(benchmark::State& state, std::string const& name, std::size_t n)
  {
    using place = On<K, T>;
    constexpr bool is_core = std::same_as<place, on_core<K, T>>;
    auto const points = make_cloud<T>(name, n);
    static std::map<std::string, measured> of_clouds; // for all far fields
    auto& times = of_clouds[name];
    if (times.empty()) measure<place>(points, {std::begin(sizes), std::end(sizes)}, times);
    double const far = place::unit * static_cast<double>(state.range(0));
    nf::leaf_costs const costs{.near_field = nf::pair_cost_of<T>(place::where, K{}),
                               .seconds_per_leaf = far};
    int const chosen = nf::choose_leaf_size(nf::simd, points.positions(), costs).max_leaf_size;
    if (!times.contains(chosen)) measure<place>(points, {chosen}, times);
    auto const total = [&](auto const& entry)
    {
      return entry.second.seconds + far * entry.second.leaves;
    };
    auto const best = std::ranges::min_element(times, {}, total);
    auto const automatic = times.find(chosen);
    double const sum = total(*automatic), least = total(*best);
    for (auto _ : state) state.SetIterationTime(sum);
    state.counters["automatic"] = chosen;
    state.counters["best"] = best->first;
    state.counters["ratio"] = sum / least;
    if constexpr (is_core)
    {
      auto const bound = bench::pair_bound<K, T>(bench::one_core(), automatic->second.pairs, true);
      state.counters["of_bound"] = bound.seconds / automatic->second.seconds;
      state.SetLabel(std::string("near field bound by ") + bound.by);
    }
    for (auto const& entry : times)
      state.counters["at_" + std::to_string(entry.first)] = total(entry);
    if (sum > 1.5 * least) bench::fail(state, "the automatic size is far from the best");
  }

  template <template <class, class> class On, class K, class T>
  void add(std::string const& prefix, std::size_t n, std::vector<std::int64_t> const& far_fields)
  {
    for (std::string const name : {"uniform", "plummer", "shell", "two_clusters"})
    {
      auto* const row = benchmark::RegisterBenchmark(
          (prefix + "/" + std::string(K::name) + "/" + bench::precision_name<T> + "/" + name + "/" +
           std::to_string(n))
              .c_str(),
          [=](auto& state) { run<On, K, T>(state, name, n); });
      for (auto const far : far_fields) row->Arg(far);
      row->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
    }
  }

  bool const added = []
  {
    add<on_core, nf::one_over_r<>, float>("leaf_size", 100'000, {1, 3, 10});
    add<on_core, nf::val_grad_one_over_r<>, double>("leaf_size", 100'000, {1, 3, 10});
    if (nf::gpus().empty()) return true;
    add<on_gpu, nf::one_over_r<>, float>("leaf_size/cuda", 1'000'000, {10, 30, 100});
    add<on_gpu, nf::val_grad_one_over_r<>, double>("leaf_size/cuda", 1'000'000, {10, 30, 100});
    return true;
  }();
}
