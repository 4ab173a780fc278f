// Several right-hand sides of one box: 1, 2, 4, 8 and 16 of them. A pair counts once, however many there are.

#include "clouds.hpp"
#include "rates.hpp"
#include "sums.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <benchmark/benchmark.h>

#include <string>

namespace
{
  namespace nf = nearfield;

  template <class K, class T, int Rhs>
  void run(benchmark::State& state, nf::isa which, bool mutual)
  {
    auto const n = static_cast<std::size_t>(state.range(0));
    bench::cloud<T, K::dim> const points(n);
    bench::outputs<T, Rhs> inputs(n);
    for (int rhs = 0; rhs < Rhs; ++rhs)
      for (std::size_t i = 0; i < n; ++i)
        inputs.columns[rhs][i] = points.q[(i + static_cast<std::size_t>(rhs)) % n];
    bench::outputs<T, Rhs * K::n_out> out(n);
    nf::simd_backend const backend{which};
    auto const sum = [&]
    {
      if (mutual)
        nf::p2p_inner_mutual(backend, K{}, points.positions(), inputs.view(), out.view());
      else
        nf::p2p_inner(backend, K{}, points.positions(), inputs.view(), out.view());
    };
    for (auto _ : state)
    {
      sum();
      benchmark::ClobberMemory();
    }
    out.clear();
    sum();
    double const pairs = double(n) * double(n - 1);
    bench::report<K>(state, pairs,
                     bench::pair_bound<K, T>(bench::one_core(which), pairs, mutual, Rhs));
    int const last = Rhs - 1;
    bench::check_sums(
        state, bench::tolerance<T>(), n,
        [&](std::size_t i)
        {
          return bench::sum_of_box(K{}, i, points.positions(),
                                   nf::soa<T const, 1>{{inputs.columns[last].data()}, n});
        },
        [&](int o, std::size_t i) { return out.columns[last * K::n_out + o][i]; });
  }

  template <class K, class T, int Rhs>
  void add_rhs(std::string const& prefix, nf::isa which)
  {
    for (bool const mutual : {false, true})
    {
      std::string const name =
          prefix + (mutual ? "mutual/" : "one_sided/") + std::to_string(Rhs) + "_rhs";
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](auto& state) { run<K, T, Rhs>(state, which, mutual); })
          ->Arg(64)
          ->Arg(1024);
    }
  }

  template <class K, class T>
  void add_right_hand_sides(nf::isa which)
  {
    std::string const prefix = "p2p_rhs/" + std::string(K::name) + "/" + std::to_string(K::dim) +
                               "d/" + bench::precision_name<T> + "/" +
                               std::string(nf::name_of(which)) + "/";
    add_rhs<K, T, 1>(prefix, which);
    add_rhs<K, T, 2>(prefix, which);
    add_rhs<K, T, 4>(prefix, which);
    add_rhs<K, T, 8>(prefix, which);
    add_rhs<K, T, 16>(prefix, which);
  }

  bool const right_hand_sides_registered = []
  {
    for (nf::isa const which : nf::available_isas())
      if (which != nf::isa::scalar)
      {
        add_right_hand_sides<nf::one_over_r<3>, float>(which);
        add_right_hand_sides<nf::one_over_r<3>, double>(which);
        add_right_hand_sides<nf::val_grad_one_over_r<3>, float>(which);
        add_right_hand_sides<nf::val_grad_one_over_r<3>, double>(which);
      }
    return true;
  }();
}
