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
/// How any search on one GPU is timed.

namespace bench
{
  /// The clouds of a row, numbered from 0: in the caller's order, and a copy that a search may sort.
  template <class T>
  class device_clouds
  {
  public:
    device_clouds(search_case const& c, int n) : sorted_(c.n)
    {
      for (int k = 0; k < n; ++k) given_.emplace_back(search_cloud_of<T>(c, k + 1).view());
    }

    [[nodiscard]] int size() const { return static_cast<int>(given_.size()); }
    [[nodiscard]] nearfield::soa<T const, 3> given(int k) const { return given_[k].view(); }
    /// the copy, reset to the caller's order
    [[nodiscard]] nearfield::soa<T, 3> fresh_copy(int k)
    {
      auto const from = given(k);
      auto const to = sorted_.view();
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

  /// Times body(points), with the points in the caller's order. For each cloud there is one untimed call
  /// first, and an untimed prepare() before each call. half_pairs() returns the number of half pairs found,
  /// or 0 if it is not to be compared.
  template <class T, class F>
  void time_search(
      benchmark::State& state, search_case const& c, device_clouds<T>& clouds, F const& body,
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
    state.KeepRunning(); // returns false, which tells Google Benchmark that the row is complete
  }

  inline void add_search_row(std::string const& name, std::function<void(benchmark::State&)> run)
  {
    auto const guarded = [run = std::move(run)](benchmark::State& state)
    {
      try
      {
        run(state);
      }
      catch (nearfield::error const& e) // a table that does not fit must not end the program
      {
        fail(state, e.what());
      }
    };
    benchmark::RegisterBenchmark(name.c_str(), guarded)
        ->UseManualTime()
        ->Iterations(iterations)
        ->Unit(benchmark::kMicrosecond);
  }

  /// prefix/cloud/precision: the start of the names of a case's rows.
  template <class T>
  std::string kind_name(search_case const& c)
  {
    return std::string("search_cuda/") + c.name + "/" + precision_name<T>;
  }
  inline char const* name_of(baseline::device_memory from)
  {
    return from == baseline::device_memory::fresh ? "fresh" : "pooled";
  }

  /// Adds the rows of the Thrust and piNNS baselines.
  template <class T>
  void add_search_baselines(search_case const& c);
}
