// The automatic leaf size against a sweep: the near field (mutual, on one core, measured) and a far field of stated cost.
//
//   leaf_size/<interaction>/<precision>/<cloud>/<points>/<us>   us: what the far field of a leaf takes
//
// The time of a row is the sum of both fields with the size that choose_leaf_size() takes; counters: that size
// (`automatic`), the best one of the sweep (`best`), the sum over that of the best (`ratio`), the sum of each size of
// the sweep in seconds (`at_64`), and `of_bound`, that of the near field alone with the automatic size. Sizes are run one after another, several times around, and each has the shortest of its
// processor times: on a shared machine others can only slow a run.

#include "clouds.hpp"
#include "rates.hpp"
#include "run.hpp"
#include "timing.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/tree/leaf_size.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
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

  /// Times the near field of points in the order of a tree.
  template <class K, class T>
  class timed_tree
  {
  public:
    timed_tree(bench::cloud<T, 3> const& points, int size)
        : tree_(nf::build_tree(points.positions(), {.max_leaf_size = size})),
          x_(nf::gather(tree_.target_order(), points.positions())),
          q_(nf::gather(tree_.target_order(), points.charges())), out_(points.q.size())
    {}
    void run()
    {
      double const start = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID); // others may have the core
      nf::near_field_mutual(nf::simd, K{}, tree_.targets(), tree_.half_interactions(),
                            std::as_const(x_).view(), std::as_const(q_).view(), out_.view());
      times_.push_back(bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - start);
    }
    [[nodiscard]] double seconds() const { return std::ranges::min(times_); }
    [[nodiscard]] nf::tree<3> const& tree() const { return tree_; }

  private:
    nf::tree<3> tree_;
    nf::column_set<T, 3> x_;
    nf::column_set<T, 1> q_;
    bench::outputs<T, K::n_out> out_;
    std::vector<double> times_;
  };

  constexpr int sizes[] = {8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512, 724, 1024};

  /// The near field with leaves of one size.
  struct near_field
  {
    double seconds, leaves, pairs;
  };
  using measured = std::map<int, near_field>; ///< by size

  template <class K, class T>
  void measure(bench::cloud<T, 3> const& points, std::vector<int> const& wanted, measured& found)
  {
    std::vector<timed_tree<K, T>> trees;
    for (int const size : wanted) trees.emplace_back(points, size);
    for (int round = 0; round < rounds; ++round)
      for (auto& each : trees) each.run();
    for (std::size_t s = 0; s < wanted.size(); ++s)
      found[wanted[s]] = {trees[s].seconds(), double(trees[s].tree().size()),
                          double(trees[s].tree().interaction_count())};
  }

  template <class K, class T>
  void run(benchmark::State& state, std::string const& name, std::size_t n)
  {
    auto const points = make_cloud<T>(name, n);
    static std::map<std::string, measured> of_clouds; // for all far fields
    auto& times = of_clouds[name];
    if (times.empty()) measure<K>(points, {std::begin(sizes), std::end(sizes)}, times);
    double const far = 1e-6 * static_cast<double>(state.range(0));
    nf::leaf_costs const costs{.near_field = nf::pair_cost_of<T>(nf::simd, K{}),
                               .seconds_per_leaf = far};
    int const chosen = nf::choose_leaf_size(points.positions(), costs).max_leaf_size;
    if (!times.contains(chosen)) measure<K>(points, {chosen}, times);
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
    auto const bound = bench::pair_bound<K, T>(bench::one_core(), automatic->second.pairs, true);
    state.counters["of_bound"] = bound.seconds / automatic->second.seconds;
    state.SetLabel(std::string("near field bound by ") + bound.by);
    for (auto const& entry : times)
      state.counters["at_" + std::to_string(entry.first)] = total(entry);
    if (sum > 1.5 * least) bench::fail(state, "the automatic size is far from the best");
  }

  template <class K, class T>
  void add()
  {
    constexpr std::size_t n = 100'000;
    for (std::string const name : {"uniform", "plummer", "shell", "two_clusters"})
      benchmark::RegisterBenchmark(("leaf_size/" + std::string(K::name) + "/" +
                                    bench::precision_name<T> + "/" + name + "/" + std::to_string(n))
                                       .c_str(),
                                   [=](auto& state) { run<K, T>(state, name, n); })
          ->Arg(1)
          ->Arg(3)
          ->Arg(10)
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
  }

  bool const added = []
  {
    add<nf::one_over_r<>, float>();
    add<nf::val_grad_one_over_r<>, double>();
    return true;
  }();
}
