// What one call on small boxes costs: 1 to 16 points with themselves, or with as many others. The time of a
// row is that of a call.

#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <string>

namespace
{
  namespace nf = nearfield;

  /// Points [first, first + n) of columns.
  template <class T, int N>
  nf::soa<T, N> part(nf::soa<T, N> const& all, std::size_t first, std::size_t n)
  {
    std::array<T*, N> columns;
    for (int c = 0; c < N; ++c) columns[c] = all[c] + first;
    return {columns, n};
  }

  enum class form
  {
    inner,
    inner_mutual,
    outer,
    outer_mutual
  };
  constexpr char const* form_names[] = {"inner", "inner_mutual", "outer", "outer_mutual"};

  template <class K, class T>
  void run(benchmark::State& state, nf::isa which, form what)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bench::cloud<T, K::dim> const points(2 * n);
    bench::outputs<T, K::n_out> sums(2 * n);
    auto const x = part(points.positions(), 0, n), y = part(points.positions(), n, n);
    auto const x_q = part(points.charges(), 0, n), y_q = part(points.charges(), n, n);
    auto const out = part(sums.view(), 0, n), back = part(sums.view(), n, n);
    nf::simd_backend const backend{which};
    auto const call = [&]
    {
      switch (what)
      {
      case form::inner:
        return nf::p2p_inner(backend, K{}, x, x_q, out);
      case form::inner_mutual:
        return nf::p2p_inner_mutual(backend, K{}, x, x_q, out);
      case form::outer:
        return nf::p2p_outer(backend, K{}, x, y, y_q, out);
      case form::outer_mutual:
        return nf::p2p_outer_mutual(backend, K{}, x, y, x_q, y_q, out, back);
      }
    };
    for (auto _ : state)
    {
      call();
      benchmark::ClobberMemory();
    }
    sums.clear();
    call();
    bool const inner = what == form::inner || what == form::inner_mutual;
    double const pairs = double(n) * double(inner ? n - 1 : n);
    bool const mutual = what == form::inner_mutual || what == form::outer_mutual;
    bench::report<K, T>(state, what == form::outer_mutual ? 2 * pairs : pairs,
                        bench::one_core(which), mutual);
    bench::check_sums(
        state, bench::tolerance<T>(), n,
        [&](std::size_t i)
        {
          if (inner) return bench::sum_of_box(K{}, i, x, x_q);
          bench::plain_sum<K> sum;
          sum.add(K{}, bench::point(x, i), bench::no_self, y, y_q,
                  {0, static_cast<nf::index_type>(n)});
          return sum;
        },
        [&](int o, std::size_t i) { return out[o][i]; });
  }

  template <class K, class T>
  void add_calls(nf::isa which)
  {
    for (form const what : {form::inner, form::inner_mutual, form::outer, form::outer_mutual})
    {
      std::string const name = "p2p_call/" + std::string(K::name) + "/" + std::to_string(K::dim) +
                               "d/" + bench::precision_name<T> + "/" +
                               std::string(nf::name_of(which)) + "/" +
                               form_names[static_cast<int>(what)];
      auto* const rows = benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                                      { run<K, T>(state, which, what); });
      for (int const n : {1, 2, 4, 8, 16}) rows->Arg(n);
    }
  }

  bool const calls_registered = []
  {
    for (nf::isa const which : nf::available_isas())
      if (which != nf::isa::scalar)
      {
        add_calls<nf::one_over_r<3>, float>(which);
        add_calls<nf::one_over_r<3>, double>(which);
        add_calls<nf::val_grad_one_over_r<3>, float>(which);
        add_calls<nf::val_grad_one_over_r<3>, double>(which);
      }
    return true;
  }();
}
