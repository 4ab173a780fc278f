// quick_rates [TEXT]: rates of P2P calls on one core in one table, in less than a minute, beside the loop that a user
// would write; then the rates of a GPU. With TEXT, of all interactions whose name has it.

#include "clouds.hpp"
#include "interactions.hpp"
#include "peaks.hpp"
#include "quick.hpp"
#include "rates.hpp"
#include "timing.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace
{
  namespace nf = nearfield;

  constexpr std::size_t sizes[] = {8, 32, 64, 4096};

  /// The median seconds of a call of f(), of five runs of about 4 ms: processor time, since a machine may be shared.
  template <class F>
  double seconds_of_call(F const& f)
  {
    f();
    int calls = 1;
    std::vector<double> times;
    while (times.size() < 5)
    {
      double const begin = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID);
      for (int c = 0; c < calls; ++c) f();
      double const taken = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
      if (taken < 2e-3 && times.empty())
        calls *= taken < 2e-4 ? 8 : 2;
      else
        times.push_back(taken / calls);
    }
    return bench::median(times);
  }

  /// n points in a box.
  template <class K, class T>
  struct box
  {
    explicit box(std::size_t n, T shift) : cloud(n), q(n), out(n)
    {
      for (T& x : cloud.x[0]) x += shift;
      for (auto& column : q.columns) column = cloud.q;
    }
    bench::cloud<T, K::dim> cloud;
    bench::outputs<T, K::n_in> q;
    bench::outputs<T, K::n_out> out;
  };

  enum class call
  {
    inner,
    inner_mutual,
    outer,
    outer_mutual
  };

  template <class K, class T>
  void print_row(call what, char const* name)
  {
    bool const is_mutual = what == call::inner_mutual || what == call::outer_mutual;
    bool const is_one = what == call::inner || what == call::inner_mutual;
    std::printf("%-22s %dd  %s  %-12s", K::name, K::dim, bench::precision_name<T>, name);
    constexpr int index = bench::quick_interactions::index_of<K>();
    auto const loop = [&]
    {
      if constexpr (sizeof(T) == 4)
        return bench::plain_loop_f32(index);
      else
        return bench::plain_loop_f64(index);
    }();
    double share = 0;
    for (std::size_t const n : sizes)
    {
      box<K, T> a(n, 0), b(n, 2);
      auto const x = a.cloud.positions(), y = b.cloud.positions();
      nf::soa<T const, K::n_in> const q = a.q.view(), y_q = b.q.view();
      auto const out = a.out.view(), y_out = b.out.view();
      K const k{};
      double const ours = seconds_of_call(
          [&]
          {
            if (what == call::inner) return nf::p2p_inner(nf::simd, k, x, q, out);
            if (what == call::outer) return nf::p2p_outer(nf::simd, k, x, y, y_q, out);
            if constexpr (nf::detail::has_way_back<K>)
            {
              if (is_one) return nf::p2p_inner_mutual(nf::simd, k, x, q, out);
              nf::p2p_outer_mutual(nf::simd, k, x, y, q, y_q, out, y_out);
            }
          });
      bench::plain_boxes<T> const boxes{n,
                                        x.data(),
                                        is_one ? x.data() : y.data(),
                                        q.data(),
                                        is_one ? q.data() : y_q.data(),
                                        out.data(),
                                        !is_mutual ? nullptr
                                        : is_one   ? out.data()
                                                   : y_out.data()};
      double const plain = seconds_of_call([&] { loop(&k, boxes); });
      auto const count = static_cast<double>(n);
      double const pairs = is_one ? count * (count - 1) : count * count * (is_mutual ? 2 : 1);
      std::printf("  %6.2f %4.1fx", 1e-9 * pairs / ours, plain / ours);
      share = bench::pair_bound<K, T>(bench::one_core(), pairs, is_mutual).seconds / ours;
    }
    std::printf("  %3.0f %%\n", 100 * share);
    std::fflush(stdout);
  }

  /// The rows of an interaction that has no loop here, by its name.
  template <class T, int Dim>
  void print_rows_of(nf::interaction_info const& info)
  {
    for (bool const is_mutual : {false, true})
    {
      if (is_mutual && !info.has_mutual) continue;
      std::printf("%-22s %dd  %s  %-12s", std::string(info.name).c_str(), Dim,
                  bench::precision_name<T>, is_mutual ? "inner mutual" : "inner");
      for (std::size_t const n : sizes)
      {
        auto const count = static_cast<double>(n);
        double const spacing = std::pow(count, -1. / Dim);
        auto const k = bench::interaction_of(info, spacing);
        bench::cloud<T, Dim> const cloud(n);
        bench::run_time_columns<std::vector<T>> const q(info.n_in, cloud.q),
            parameters(static_cast<int>(info.point_parameters.size()),
                       std::vector<T>(n, static_cast<T>(spacing)));
        bench::run_time_columns<std::vector<T>> out(info.n_out, std::vector<T>(n));
        std::vector<T const*> columns;
        for (auto const& column : cloud.x) columns.push_back(column.data());
        columns.insert(columns.end(), parameters.pointers.begin(), parameters.pointers.end());
        nf::soa<T const, nf::run_time_columns> const x(columns, n), inputs(q.view());
        double const seconds = seconds_of_call(
            [&]
            {
              is_mutual ? nf::p2p_inner_mutual(nf::simd, k, x, inputs, out.view())
                        : nf::p2p_inner(nf::simd, k, x, inputs, out.view());
            });
        std::printf("  %6.2f      ", 1e-9 * count * (count - 1) / seconds);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  /// Those of all others whose name has `text`.
  void print_others(std::string_view text)
  {
    for (nf::interaction_info const& info : nf::interaction_infos())
    {
      bool has_loop = false;
      bench::quick_interactions::for_each(
          [&]<class K> { has_loop |= K::name == info.name && K::dim == info.dim; });
      if (has_loop || !info.is_built || info.name.find(text) == std::string_view::npos) continue;
      if (info.dim == 2)
      {
        print_rows_of<float, 2>(info);
        print_rows_of<double, 2>(info);
      }
      else
      {
        print_rows_of<float, 3>(info);
        print_rows_of<double, 3>(info);
      }
    }
  }

  template <class K, class T>
  void print_rows()
  {
    print_row<K, T>(call::inner, "inner");
    print_row<K, T>(call::outer, "outer");
    if constexpr (nf::detail::has_way_back<K>)
    {
      print_row<K, T>(call::inner_mutual, "inner mutual");
      print_row<K, T>(call::outer_mutual, "outer mutual");
    }
  }
}

int main(int argc, char** argv)
{
  std::string_view const text = argc > 1 ? argv[1] : "";
  std::printf("nearfield %s, %s, one core. For boxes of so many points: G directed pairs/s in "
              "cache, times the rate of\n"
              "a plain loop around the same interaction (-O3 -march=native -ffast-math; mutual "
              "beside mutual). Last: the\n"
              "share of the bound at %zu points.\n\n%-42s",
              NEARFIELD_COMMIT, std::string(nf::name_of(nf::selected_isa())).c_str(), sizes[3], "");
  for (std::size_t const n : sizes) std::printf("  %11zu ", n);
  std::printf("\n");
  double const begin = bench::seconds();
  bench::quick_interactions::for_each(
      [&]<class K>
      {
        if (std::string_view(K::name).find(text) == std::string_view::npos) return;
        print_rows<K, float>();
        print_rows<K, double>();
      });
  if (!text.empty()) print_others(text);
#ifdef QUICK_GPU
  bench::print_gpu_table(text);
#else
  std::printf("\nGPU: SKIPPED, built without CUDA, or for an interaction of yours\n");
#endif
  std::printf("\n%.0f s\n", bench::seconds() - begin);
}
