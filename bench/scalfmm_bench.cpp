// The overhead of <nearfield/scalfmm.hpp>: leaves of 16 to 256 points, alone and with 13 neighbours, through
// a matrix kernel beside the same through the functions on arrays. 1/r with its gradient, mutual.

#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>
#include <nearfield/scalfmm.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <vector>

namespace bench
{
  constexpr std::size_t n_neighbours = 13;

  /// A leaf as in ScalFMM: n points in columns shared by all leaves.
  template <class T>
  struct leaf
  {
    std::array<T const*, 3> x;
    std::array<T const*, 1> q;
    std::array<T*, 4> out;
    std::size_t n;

    [[nodiscard]] std::size_t size() const { return n; }
    [[nodiscard]] leaf const& particles() const { return *this; }
    [[nodiscard]] leaf const& cparticles() const { return *this; }
    [[nodiscard]] std::array<double, 3> center() const { return {}; }

    friend auto position_begin(leaf const& l) { return l.x; }
    friend auto inputs_begin(leaf const& l) { return l.q; }
    friend auto outputs_begin(leaf const& l) { return l.out; }
  };

  template <class T>
  struct leaves
  {
    cloud<T, 3> points;
    outputs<T, 4> out;
    std::vector<leaf<T>> all;

    explicit leaves(std::size_t n)
        : points((1 + n_neighbours) * n + 1), out((1 + n_neighbours) * n + 1)
    {
      auto const x = points.positions();
      auto const o = out.view();
      for (std::size_t l = 0; l <= n_neighbours; ++l)
      {
        std::size_t const at = 1 + l * n; // no column of a leaf is aligned
        all.push_back({{x[0] + at, x[1] + at, x[2] + at},
                       {points.q.data() + at},
                       {o[0] + at, o[1] + at, o[2] + at, o[3] + at},
                       n});
      }
    }
  };

  using interaction = nearfield::val_grad_one_over_r<3>;

  /// Times add(), which adds to the first leaf and, if it is not alone, to its neighbours; then checks the
  /// sums of all leaves.
  template <class T, class F>
  void time(benchmark::State& state, leaves<T>& l, F const& add)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bool const alone = state.range(1) == 0;
    for (auto _ : state)
    {
      add();
      benchmark::ClobberMemory();
    }
    report<interaction, T>(state,
                           static_cast<double>(alone ? n * (n - 1) : 2 * n_neighbours * n * n),
                           one_core(), true);
    l.out.clear();
    add();
    auto const range_of = [&](std::size_t leaf, std::size_t n_leaves = 1)
    {
      auto const place = [&](std::size_t at)
      {
        return static_cast<nearfield::index_type>(1 + at * n);
      };
      return nearfield::interaction_list::range{place(leaf), place(leaf + n_leaves)};
    };
    check_sums(
        state, tolerance<T>(), alone ? n : (1 + n_neighbours) * n,
        [&](std::size_t i)
        {
          plain_sum<interaction> sum;
          auto const from = alone || i >= n ? range_of(0) : range_of(1, n_neighbours);
          auto const x = l.points.positions();
          sum.add(interaction{}, point(x, 1 + i), 1 + i, x, l.points.charges(), from);
          return sum;
        },
        [&](int o, std::size_t i) { return l.out.columns[o][1 + i]; });
  }

  template <class T>
  void arrays(benchmark::State& state)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bool const alone = state.range(1) == 0;
    leaves<T> l(n);
    auto const views = [&](leaf<T> const& a)
    {
      return std::tuple{nearfield::soa<T const, 3>(a.x, n), nearfield::soa<T const, 1>(a.q, n),
                        nearfield::soa<T, 4>(a.out, n)};
    };
    time(state, l,
         [&]
         {
           auto const [x, q, out] = views(l.all[0]);
           if (alone)
             nearfield::p2p_inner_mutual(nearfield::simd, interaction{}, x, q, out);
           else
             for (std::size_t i = 1; i <= n_neighbours; ++i)
             {
               auto const [y, p, y_out] = views(l.all[i]);
               nearfield::p2p_outer_mutual(nearfield::simd, interaction{}, x, y, q, p, out, y_out);
             }
         });
  }

  template <class T>
  void matrix_kernel(benchmark::State& state)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bool const alone = state.range(1) == 0;
    leaves<T> l(n);
    std::array<leaf<T>*, n_neighbours> neighbours;
    for (std::size_t i = 0; i < n_neighbours; ++i) neighbours[i] = &l.all[i + 1];
    nearfield::scalfmm3::matrix_kernel<interaction> const mk;
    std::array const open{false, false, false};
    time(state, l,
         [&]
         {
           if (alone)
             p2p_inner(mk, l.all[0]);
           else
             p2p_full_mutual(mk, l.all[0], neighbours, int{n_neighbours}, open, 1.);
         });
  }

  void sizes(benchmark::internal::Benchmark* b)
  {
    b->ArgNames({"points", "neighbours"})->ArgsProduct({{16, 64, 256}, {0, n_neighbours}});
  }
  BENCHMARK(arrays<float>)->Apply(sizes);
  BENCHMARK(matrix_kernel<float>)->Apply(sizes);
  BENCHMARK(arrays<double>)->Apply(sizes);
  BENCHMARK(matrix_kernel<double>)->Apply(sizes);
}
