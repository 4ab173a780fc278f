// A step on one GPU from the caller's arrays and back: the time of each stage.

#include "cuda_end_to_end.hpp"

#include "cuda_problem.hpp"
#include "rates.hpp"
#include "timing.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace
{
  namespace nf = nearfield;
  using bench::seconds;

  /// Columns in host memory: pageable, or pinned, which CUDA copies without an intermediate buffer.
  template <class T, int N>
  class host_columns
  {
  public:
    host_columns(std::size_t n, bool pinned) : size_(n)
    {
      if (pinned)
      {
        for (T*& column : pinned_)
          nf::check_cuda(
              cudaHostAlloc(reinterpret_cast<void**>(&column), n * sizeof(T), cudaHostAllocDefault),
              "cudaHostAlloc");
      }
      else
        for (auto& column : pageable_) column.resize(n);
    }
    ~host_columns()
    {
      for (T* const column : pinned_)
        if (column) cudaFreeHost(column);
    }
    host_columns(host_columns const&) = delete;
    host_columns& operator=(host_columns const&) = delete;

    std::span<T> operator[](int c)
    {
      return {pinned_[c] ? pinned_[c] : pageable_[c].data(), size_};
    }

  private:
    std::size_t size_;
    std::array<T*, N> pinned_{};
    std::array<std::vector<T>, N> pageable_;
  };

  /// 32^3 boxes of 64 points, 1/r, mutual, from the caller's arrays and back into their order. The memory
  /// for the points is allocated beforehand; each stage starts after the previous one has ended.
  template <class T>
  void run_end_to_end(benchmark::State& state, bool pinned)
  {
    constexpr std::size_t n = std::size_t(64) << 15;
    bench::cloud<T, 3> const points(n);
    std::vector<T> result(n);
    host_columns<T, 4> sorted(n, pinned);
    host_columns<T, 1> sorted_result(n, pinned);
    std::array<nf::device_array<T>, 5> device;
    for (auto& column : device) column = nf::device_array<T>(n);
    nf::soa<T, 3> const x({device[0].data(), device[1].data(), device[2].data()}, n);
    nf::soa<T, 1> const q({device[3].data()}, n), out({device[4].data()}, n);

    constexpr char const* stages[] = {"tree_ms",       "sort_ms",     "list_ms",  "upload_ms",
                                      "near_field_ms", "download_ms", "unsort_ms"};
    std::array<double, std::size(stages)> sums{};
    double pairs = 0;
    for (auto _ : state)
    {
      std::array<double, std::size(stages) + 1> at;
      at[0] = seconds();
      auto const tree = nf::build_tree(points.positions(), {.level = bench::leaves_level<3>});
      at[1] = seconds();
      for (int d = 0; d < 3; ++d) nf::gather(tree.target_order(), points.x[d], sorted[d]);
      nf::gather(tree.target_order(), points.q, sorted[3]);
      at[2] = seconds();
      nf::cuda_list const list(nf::cuda, tree.targets(), tree.half_interactions(), x.size(),
                               nf::pair_form::mutual);
      at[3] = seconds();
      for (int c = 0; c < 4; ++c) device[c].copy_from(sorted[c]);
      at[4] = seconds();
      nf::near_field(nf::cuda, nf::one_over_r<3>{}, list, x, q, out,
                     {.form = nf::pair_form::mutual});
      nf::check_cuda(cudaDeviceSynchronize(), "near_field");
      at[5] = seconds();
      device[4].copy_to(sorted_result[0]);
      at[6] = seconds();
      nf::scatter(tree.target_order(), sorted_result[0], result);
      at[7] = seconds();
      state.SetIterationTime(at[7] - at[0]);
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += at[s + 1] - at[s];
      pairs = static_cast<double>(tree.interaction_count());
    }
    // positions and charges must reach the GPU
    bench::report<nf::one_over_r<3>>(state, pairs,
                                     bench::bus_bound(bench::gpu(), 4. * n * sizeof(T)));
    auto const tree = nf::build_tree(points.positions(), {.level = bench::leaves_level<3>});
    nf::soa<T const, 3> const in_order({sorted[0].data(), sorted[1].data(), sorted[2].data()}, n);
    nf::soa<T const, 1> const q_in_order({sorted[3].data()}, n);
    bench::check_sums(
        state, bench::tolerance<T>(500), n, [&](std::size_t i)
        { return bench::sum_of_tree(nf::one_over_r<3>{}, i, tree, in_order, q_in_order); },
        [&](int, std::size_t i) { return result[tree.target_order()[i]]; });
    for (std::size_t s = 0; s < sums.size(); ++s)
      state.counters[stages[s]] = 1e3 * sums[s] / static_cast<double>(state.iterations());
  }
}

namespace bench
{
  template <class T>
  void add_cuda_end_to_end()
  {
    for (bool const pinned : {false, true})
    {
      auto const name = std::string("cuda/end_to_end/") + bench::precision_name<T> +
                        (pinned ? "/pinned" : "/pageable");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](auto& state) { run_end_to_end<T>(state, pinned); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }

  template void add_cuda_end_to_end<float>();
  template void add_cuda_end_to_end<double>();
}
