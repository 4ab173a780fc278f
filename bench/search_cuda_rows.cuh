#pragma once

#include "baselines/thrust_pairs.hpp"
#include "cuda_timing.hpp"
#include "search_rows.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <benchmark/benchmark.h>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// \file
/// How a search on one GPU is timed, whoever's it is.

namespace bench
{
  /// The clouds of a row, numbered from 0: as the caller gave them, and the copy that a search may
  /// sort.
  template <class T>
  class device_clouds
  {
  public:
    device_clouds(search_case const& c, int n) : sorted_(c.n)
    {
      for (int k = 0; k < n; ++k) given_.emplace_back(search_cloud_of<T>(c, k + 1).view());
    }

    [[nodiscard]] int size() const { return static_cast<int>(given_.size()); }
    [[nodiscard]] nearfield::soa<T, 3> given(int k) const { return given_[k].view(); }
    /// in the caller's order again
    [[nodiscard]] nearfield::soa<T, 3> fresh_copy(int k) const
    {
      auto const from = given(k), to = sorted_.view();
      for (int d = 0; d < 3; ++d)
        nearfield::check_cuda(
            cudaMemcpy(to[d], from[d], from.size() * sizeof(T), cudaMemcpyDeviceToDevice),
            "fresh_copy");
      return to;
    }

  private:
    std::vector<nearfield::device_columns<T, 3>> given_;
    nearfield::device_columns<T, 3> sorted_;
  };

  inline constexpr int iterations = 20;

  /// Times `body`, which gets the points as the caller has them, after one call of each cloud that
  /// nobody times, and after `prepare`, which nobody times either. half_pairs() is what it found, or
  /// 0 where that is not to be compared.
  template <class T, class F>
  void time_search(
      benchmark::State& state, search_case const& c, device_clouds<T> const& clouds, F const& body,
      std::function<std::uint64_t()> const& half_pairs,
      std::function<void()> const& prepare = [] {})
  {
    for (int k = 0; k < clouds.size(); ++k)
    {
      prepare();
      body(clouds.fresh_copy(k));
      for (int i = 0; i < iterations / clouds.size() && state.KeepRunning(); ++i)
      {
        prepare();
        auto const x = clouds.fresh_copy(k);
        state.SetIterationTime(seconds_on_gpu([&] { body(x); }));
      }
      std::uint64_t const found = half_pairs();
      if (found != 0) report_half_pairs(state, search_name<T>("search_cuda", c, k + 1), found);
    }
    state.KeepRunning(); // false: Google Benchmark is told that this was all
  }

  inline void add_search_row(std::string const& name, std::function<void(benchmark::State&)> run)
  {
    auto const guarded = [run = std::move(run)](benchmark::State& state)
    {
      try
      {
        run(state);
      }
      catch (nearfield::error const& e) // a table that does not fit is no reason to end the others
      {
        fail(state, e.what());
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), guarded)
        ->UseManualTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }

  /// prefix/cloud/precision: what the rows of a kind of cloud begin with.
  template <class T>
  std::string kind_name(search_case const& c)
  {
    return std::string("search_cuda/") + c.name + "/" + precision_name<T>;
  }
  inline char const* name_of(baseline::device_memory from)
  {
    return from == baseline::device_memory::fresh ? "fresh" : "pooled";
  }

  /// The two lists in Thrust and of piNNS.
  template <class T>
  void add_search_baselines(search_case const& c);
}
