// Leaves of an FMM's own on one core: 5e4 uniform points in leaves of 12 or 98, 1/r in 3D. A call for each leaf, a call
// for each neighbour, and plain loops, on columns and on records; the table of docs/own_leaves.md.

#include "clouds.hpp"
#include "leaf_loops.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/leaf.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::column_leaf;
  using bench::record_leaf;

  using interaction = nf::one_over_r<3>;
  constexpr std::size_t n_points = 50'000;

  template <class T>
  nf::leaf<nf::soa<T const, 3>, nf::soa<T const, 1>, nf::soa<T, 1>> view(column_leaf<T>& leaf)
  {
    return {nf::soa{std::as_const(leaf.x), std::as_const(leaf.y), std::as_const(leaf.z)},
            nf::soa{std::as_const(leaf.q)}, nf::soa{leaf.phi}};
  }

  template <class T>
  auto view(record_leaf<T>& leaf)
  {
    auto const& points = leaf.points;
    return nf::leaf{nf::matrix_columns<3>(&points[0].x, points.size(), 4, 1),
                    nf::matrix_columns<1>(&points[0].q, points.size(), 4, 1), nf::soa{leaf.phi}};
  }

  template <class T>
  void add_point(column_leaf<T>& leaf, T x, T y, T z, T q)
  {
    leaf.x.push_back(x), leaf.y.push_back(y), leaf.z.push_back(z), leaf.q.push_back(q);
  }
  template <class T>
  void add_point(record_leaf<T>& leaf, T x, T y, T z, T q)
  {
    leaf.points.push_back({x, y, z, q});
  }

  /// Points in the order of their leaves, width^3 of them and none empty, and the leaves that touch.
  template <class T>
  struct grid
  {
    std::vector<T> x, y, z, q;
    std::vector<nf::index_type> first{0};
    std::vector<std::vector<std::size_t>> neighbours;

    explicit grid(std::size_t width) : neighbours(width * width * width)
    {
      bench::cloud<T, 3> const points(n_points);
      std::vector<std::vector<std::size_t>> members(neighbours.size());
      for (std::size_t i = 0; i < n_points; ++i)
      {
        std::size_t leaf = 0;
        for (auto const& column : points.x)
        {
          auto const place = static_cast<std::size_t>(column[i] * static_cast<T>(width));
          leaf = leaf * width + std::min(place, width - 1);
        }
        members[leaf].push_back(i);
      }
      for (auto const& leaf : members)
      {
        for (std::size_t const i : leaf)
        {
          x.push_back(points.x[0][i]), y.push_back(points.x[1][i]), z.push_back(points.x[2][i]);
          q.push_back(points.q[i]);
        }
        first.push_back(static_cast<nf::index_type>(x.size()));
      }
      auto const touch = [](std::size_t a, std::size_t b)
      {
        return a <= b + 1 && b <= a + 1;
      };
      for (std::size_t a = 0; a < neighbours.size(); ++a)
        for (std::size_t b = 0; b < neighbours.size(); ++b)
          if (a != b && touch(a / width / width, b / width / width) &&
              touch(a / width % width, b / width % width) && touch(a % width, b % width))
            neighbours[a].push_back(b);
    }

    [[nodiscard]] nf::interaction_list::range range(std::size_t leaf) const
    {
      return {first[leaf], first[leaf + 1]};
    }

    template <class Leaf>
    [[nodiscard]] std::vector<Leaf> leaves() const
    {
      std::vector<Leaf> made(neighbours.size());
      for (std::size_t l = 0; l < made.size(); ++l)
      {
        for (std::size_t i = first[l]; i < first[l + 1]; ++i)
          add_point(made[l], x[i], y[i], z[i], q[i]);
        made[l].phi.resize(first[l + 1] - first[l]);
        made[l].neighbours = neighbours[l];
        auto const upper = std::upper_bound(neighbours[l].begin(), neighbours[l].end(), l);
        made[l].upper.assign(upper, neighbours[l].end());
      }
      return made;
    }

    [[nodiscard]] double pairs() const
    {
      double sum = 0;
      for (std::size_t l = 0; l < neighbours.size(); ++l)
      {
        double sources = first[l + 1] - first[l] - 1.;
        for (std::size_t const other : neighbours[l]) sources += first[other + 1] - first[other];
        sum += sources * (first[l + 1] - first[l]);
      }
      return sum;
    }
  };

  template <class T>
  grid<T> const& grid_of(std::size_t width)
  {
    static std::map<std::size_t, grid<T>> made;
    return made.try_emplace(width, width).first->second;
  }

  /// Times add(), and checks what it has added to phi, in the order of the grid, which sums() gives.
  template <class T, class Add, class Sums>
  void measure(benchmark::State& state, grid<T> const& points, bool mutual, double tolerance,
               Add const& add, Sums const& sums)
  {
    for (auto _ : state)
    {
      add();
      benchmark::ClobberMemory();
    }
    bench::report<interaction, T>(state, points.pairs(), bench::one_core(), mutual);
    sums();
    add();
    std::vector<T> const phi = sums();
    nf::soa const x{points.x, points.y, points.z};
    nf::soa const q{points.q};
    bench::check_sums(
        state, tolerance, n_points,
        [&](std::size_t i)
        {
          auto const leaf = static_cast<std::size_t>(
              std::upper_bound(points.first.begin(), points.first.end(), i) - points.first.begin() -
              1);
          bench::plain_sum<interaction> sum;
          sum.add({}, bench::point(x, i), i, x, q, points.range(leaf));
          for (std::size_t const other : points.neighbours[leaf])
            sum.add({}, bench::point(x, i), i, x, q, points.range(other));
          return sum;
        },
        [&](int, std::size_t i) { return phi[i]; });
  }

  enum class way
  {
    plain_loop,
    each_neighbour,
    p2p_leaf
  };

  /// Adds what leaf `a` meets.
  template <class Leaf>
  void add_leaf(way how, bool mutual, std::vector<Leaf>& leaves, Leaf& a)
  {
    constexpr interaction k;
    auto const seen = [&](std::size_t other)
    {
      return view(leaves[other]);
    };
    auto const target = view(a);
    if (how == way::p2p_leaf)
    {
      if (mutual)
        nf::p2p_leaf(nf::simd, k, target, a.upper, {.form = nf::pair_form::mutual}, seen);
      else
        nf::p2p_leaf(nf::simd, k, target, a.neighbours, {}, seen);
      return;
    }
    if (mutual)
      nf::p2p_inner_mutual(nf::simd, k, target.x, target.q, target.out);
    else
      nf::p2p_inner(nf::simd, k, target.x, target.q, target.out);
    for (std::size_t const other : mutual ? a.upper : a.neighbours)
    {
      auto const source = seen(other);
      if (mutual)
        nf::p2p_outer_mutual(nf::simd, k, target.x, source.x, target.q, source.q, target.out,
                             source.out);
      else
        nf::p2p_outer(nf::simd, k, target.x, source.x, source.q, target.out);
    }
  }

  template <class Leaf, class T>
  void run(benchmark::State& state, std::size_t width, way how, bool mutual)
  {
    grid<T> const& points = grid_of<T>(width);
    auto leaves = points.template leaves<Leaf>();
    measure(
        state, points, mutual, bench::tolerance<T>(50),
        [&]
        {
          if (how == way::plain_loop) return bench::plain_leaves(leaves, mutual);
          for (Leaf& leaf : leaves) add_leaf(how, mutual, leaves, leaf);
        },
        [&]
        {
          std::vector<T> phi;
          for (Leaf& leaf : leaves)
            for (T& sum : leaf.phi) phi.push_back(std::exchange(sum, T(0)));
          return phi;
        });
  }

  /// near_field() over leaves in one array.
  template <class T>
  void run_one_array(benchmark::State& state, std::size_t width)
  {
    grid<T> const& points = grid_of<T>(width);
    std::vector<nf::index_type> first_neighbour{0}, neighbours;
    for (auto const& listed : points.neighbours)
    {
      neighbours.insert(neighbours.end(), listed.begin(), listed.end());
      first_neighbour.push_back(static_cast<nf::index_type>(neighbours.size()));
    }
    nf::leaf_list const list({points.first}, {first_neighbour, neighbours});
    std::vector<T> phi(n_points);
    measure(
        state, points, true, bench::tolerance<T>(50),
        [&]
        {
          nf::near_field(nf::simd, interaction{}, list, nf::soa{points.x, points.y, points.z},
                         nf::soa{points.q}, nf::soa{phi}, {.form = nf::pair_form::mutual});
        },
        [&] { return phi; });
  }

  template <class F>
  void add_row(std::string const& name, F const& row)
  {
    for (auto const& [width, size] : {std::pair{8, "/98"}, std::pair{16, "/12"}})
      benchmark::RegisterBenchmark((name + size).c_str(),
                                   [row, w = static_cast<std::size_t>(width)](auto& state)
                                   { row(state, w); })
          ->Unit(benchmark::kMillisecond);
  }

  template <class Leaf, class T>
  void add(std::string const& layout)
  {
    std::string const prefix =
        std::string("own_leaves/one_over_r/3d/") + bench::precision_name<T> + "/" + layout + "/";
    constexpr std::pair<way, char const*> ways[] = {{way::plain_loop, "plain_loop"},
                                                    {way::each_neighbour, "each_neighbour"},
                                                    {way::p2p_leaf, "p2p_leaf"}};
    for (auto const& [how, name] : ways)
      for (bool const mutual : {false, true})
        add_row(prefix + name + (mutual ? "_mutual" : ""),
                [how = how, mutual](auto& state, std::size_t width)
                { run<Leaf, T>(state, width, how, mutual); });
    if constexpr (std::is_same_v<Leaf, column_leaf<T>>)
      add_row(prefix + "one_array_mutual",
              [](auto& state, std::size_t width) { run_one_array<T>(state, width); });
  }

  bool const registered = []
  {
    add<column_leaf<double>, double>("columns");
    add<record_leaf<double>, double>("records");
    add<column_leaf<float>, float>("columns");
    add<record_leaf<float>, float>("records");
    return true;
  }();
}
