// Every built-in interaction by its name on one core: 8^3 leaves (2D: 32^2) of 64 points, and one box; some beside plain
// loops.

#include "interaction_loops.hpp"
#include "interactions.hpp"
#include "run.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;

  template <class T, int Dim>
  void run(benchmark::State& state, int number, bench::description const& d, nf::pair_form form,
           bench::plain_function<T> loop)
  {
    nf::interaction_info const& info = nf::interaction_infos()[std::size_t(number)];
    bool const is_mutual = form == nf::pair_form::mutual;
    auto const& p = bench::problem_of<bench::problem<T, Dim>>(d);
    nf::any_interaction const k = bench::interaction_of(info, bench::spacing_of(p));
    bench::interaction_columns<std::vector<T>, T, Dim> columns(info, p, p.positions());
    auto const points = columns.points();
    auto const q = columns.q.view(), out = columns.out.view();
    auto const call = [&]
    {
      if (loop)
        loop(k.erased().value, {p.size(), points.data(), points.data(), q.data(), q.data(),
                                out.data(), is_mutual ? out.data() : nullptr});
      else if (!p.is_box())
        nf::near_field(nf::simd, k, p.tree().targets(),
                       is_mutual ? p.tree().half_interactions() : p.tree().interactions(), points,
                       q, out, {.form = form});
      else if (is_mutual)
        nf::p2p_inner_mutual(nf::simd, k, points, q, out);
      else
        nf::p2p_inner(nf::simd, k, points, q, out);
    };
    call();
    double const error = bench::error_of(k, p, columns.out.columns);
    for (auto _ : state)
    {
      call();
      benchmark::ClobberMemory();
    }
    double const pairs = p.pairs() * static_cast<double>(state.iterations());
    state.counters["pairs/s"] = benchmark::Counter(pairs, benchmark::Counter::kIsRate);
    bench::report_error(state, error, bench::tolerance<T>(200));
  }

  template <class T, int Dim>
  void add(bench::description const& d)
  {
    bench::for_each_interaction<T, Dim>(
        d, "",
        [=](int number, nf::pair_form form, std::string const& row)
        {
          auto const add_row = [=](std::string const& name, bench::plain_function<T> loop)
          {
            benchmark::RegisterBenchmark(name.c_str(), [=](auto& state)
                                         { run<T, Dim>(state, number, d, form, loop); })
                ->Unit(benchmark::kMillisecond);
          };
          add_row(row, nullptr);
          if (auto const loop = bench::plain_loop_of_builtin<T>(number);
              loop && d.shape == bench::shape::box)
            add_row(row + "/plain_loop", loop);
        });
  }

  template <class T>
  void add_all()
  {
    add<T, 3>({bench::shape::few_leaves, 64});
    add<T, 3>({bench::shape::box, 4096});
    add<T, 2>({bench::shape::few_leaves, 64});
    add<T, 2>({bench::shape::box, 4096});
  }

  bool const registered = []
  {
    add_all<float>();
    add_all<double>();
    return true;
  }();
}
