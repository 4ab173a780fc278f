// Every built-in interaction by its name on a GPU, with all data in its memory: leaves of 64 points, one box, and of the
// Stokeslet a box of a million. `of_bound` is the share of the rate of the same pairs with all operands in registers.
// Lengths, which parameters are, are the distance of neighbours.

#include "baselines/bounds.hpp"
#include "cuda_problem.hpp"
#include "cuda_timing.hpp"
#include "run.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace
{
  namespace nf = nearfield;

  /// Columns on the GPU whose number is known at run time.
  template <class T>
  struct run_time_columns
  {
    std::deque<nf::device_array<T>> memory;
    std::vector<T*> pointers;

    run_time_columns(int width, std::vector<T> const& each)
    {
      for (int c = 0; c < width; ++c)
        pointers.push_back(memory.emplace_back(std::span<T const>(each)).data());
    }
    run_time_columns(run_time_columns const&) = delete;
    run_time_columns& operator=(run_time_columns const&) = delete;
    [[nodiscard]] nf::soa<T, nf::run_time_columns> view() const
    {
      return {pointers, memory.front().size()};
    }
  };

  /// The distance of neighbours.
  template <class T, int Dim>
  double spacing_of(bench::problem<T, Dim> const& p)
  {
    return std::pow(double(p.size()), -1. / Dim);
  }

  nf::any_interaction make(nf::interaction_info const& info, double spacing)
  {
    std::vector<std::pair<std::string_view, double>> parameters;
    for (nf::parameter_info const& each : info.parameters)
      if (each.unit == "length")
        parameters.emplace_back(each.name, spacing);
      else if (each.unit == "1/length")
        parameters.emplace_back(each.name, 1 / spacing);
    return {info.name, info.dim, parameters};
  }

  /// The largest relative error of some targets, whose terms are summed in long double.
  template <class T, int Dim>
  double error_of(nf::any_interaction const& k, bench::problem<T, Dim> const& p, T parameter,
                  run_time_columns<T> const& out)
  {
    using wide = long double;
    auto const n_in = std::size_t(k.info().n_in), n_out = std::size_t(k.info().n_out);
    std::vector<std::vector<T>> found(n_out, std::vector<T>(p.size()));
    for (std::size_t o = 0; o < n_out; ++o) out.memory[o].copy_to(found[o]);
    std::vector<wide> const of_points(k.info().point_parameters.size(), wide(parameter));
    std::vector<wide> entries(n_in * n_out);
    auto const x = p.positions();
    double largest = 0;
    for (std::size_t s = 0; s < bench::n_samples; ++s)
    {
      std::size_t const i = bench::sample(s, p.size());
      std::vector<wide> sums(n_out), magnitudes(n_out);
      p.for_sources(i,
                    [&](std::size_t j)
                    {
                      wide r[Dim];
                      for (int d = 0; d < Dim; ++d) r[d] = wide(x[d][i]) - x[d][j];
                      if (std::ranges::all_of(r, [](wide c) { return c == 0; })) return;
                      k.erased().type->matrix(k.erased().value, r, of_points.data(),
                                              of_points.data(), entries.data());
                      for (std::size_t e = 0; e < entries.size(); ++e)
                      {
                        wide const term = entries[e] * p.q()[j];
                        sums[e / n_in] += term;
                        magnitudes[e / n_in] += std::abs(term);
                      }
                    });
      for (std::size_t o = 0; o < n_out; ++o)
      {
        double const difference = double(std::abs(found[o][i] - sums[o]));
        double const relative = difference == 0 ? 0 : difference / double(magnitudes[o]);
        largest = std::isnan(relative) ? relative : std::max(largest, relative);
      }
    }
    return largest;
  }

  template <class T, int Dim>
  void run(benchmark::State& state, int number, bench::description const& d, nf::pair_form form)
  {
    nf::interaction_info const& info = nf::interaction_infos()[std::size_t(number)];
    bool const is_mutual = form == nf::pair_form::mutual;
    auto const& p = bench::problem_of<T, Dim>(d);
    double const spacing = spacing_of(p);
    nf::any_interaction const k = make(info, spacing);
    run_time_columns<T> const parameters(static_cast<int>(info.point_parameters.size()),
                                         std::vector<T>(p.size(), static_cast<T>(spacing)));
    run_time_columns<T> const q(info.n_in, p.q()), out(info.n_out, std::vector<T>(p.size()));
    auto const coordinates = p.x();
    std::vector<T const*> x(coordinates.data(), coordinates.data() + Dim);
    x.insert(x.end(), parameters.pointers.begin(), parameters.pointers.end());
    nf::soa<T const, nf::run_time_columns> const points(x, p.size());
    auto const call = [&]
    {
      if (!p.is_box())
        nf::near_field(nf::cuda, k, p.list(is_mutual), points, q.view(), out.view(),
                       {.form = form});
      else if (is_mutual)
        nf::p2p_inner_mutual(nf::cuda, k, points, q.view(), out.view());
      else
        nf::p2p_inner(nf::cuda, k, points, q.view(), out.view());
    };
    call();
    if (!p.is_box())
    {
      double const error = error_of(k, p, static_cast<T>(spacing), out);
      state.counters["max_relative_error"] = error;
      if (!(error <= bench::tolerance<T>(5000))) bench::fail(state, "wrong sums");
    }
    double seconds = 0;
    for (auto _ : state)
    {
      double const taken = bench::seconds_on_gpu(call);
      seconds += taken;
      state.SetIterationTime(taken);
    }
    double const rate = p.pairs() * double(state.iterations()) / seconds;
    auto const bound = baseline::bound_of(k.erased().type->number, sizeof(T) == 8);
    auto const most = [&]
    {
      double const pairs = bound(is_mutual);
      double least = 1e9;
      for (int launch = 0; launch < 3; ++launch)
        least = std::min(least, bench::seconds_on_gpu([&] { bound(is_mutual); }));
      return pairs / least;
    }();
    state.counters["pairs/s"] = rate;
    state.counters["bound_pairs/s"] = most;
    state.counters["of_bound"] = rate / most;
  }

  template <class T, int Dim>
  void add(bench::description const& d, int iterations, std::string_view name = "")
  {
    auto const infos = nf::interaction_infos();
    for (std::size_t i = 0; i < infos.size(); ++i)
      for (auto const form : {nf::pair_form::one_sided, nf::pair_form::mutual})
      {
        nf::interaction_info const& info = infos[i];
        bool const is_mutual = form == nf::pair_form::mutual;
        if (info.dim != Dim || !info.is_built || (is_mutual && !info.has_mutual)) continue;
        if (!name.empty() && info.name != name) continue;
        std::string const row = "interactions/" + std::string(info.name) + "_" +
                                std::to_string(Dim) + "d/" + bench::precision_name<T> + "/" +
                                bench::name_of(d.shape) + "/" + std::to_string(d.size) + "/" +
                                (is_mutual ? "mutual" : "one_sided");
        benchmark::RegisterBenchmark(row.c_str(), [=](auto& state)
                                     { run<T, Dim>(state, static_cast<int>(i), d, form); })
            ->UseManualTime()
            ->Iterations(iterations)
            ->Unit(benchmark::kMicrosecond);
      }
  }

  template <class T>
  void add_all()
  {
    add<T, 3>({bench::shape::leaves, 64}, 5);
    add<T, 3>({bench::shape::box, 65'536}, 5);
    add<T, 3>({bench::shape::box, 1'000'000}, 1, "stokeslet");
    add<T, 2>({bench::shape::leaves, 64}, 5);
    add<T, 2>({bench::shape::box, 65'536}, 5);
  }
}

int main(int argc, char** argv)
{
  if (int const status = bench::start_cuda_benchmarks(argc, argv); status != 0) return status;
  add_all<float>();
  add_all<double>();
  return bench::run_benchmarks();
}
