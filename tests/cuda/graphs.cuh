#pragma once

#include "points.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

/// \file
/// CUDA graphs, and what they read and write.

namespace nearfield::test
{
  /// A stream beside the default one.
  class own_stream
  {
  public:
    own_stream()
    {
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    own_stream(own_stream const&) = delete;
    own_stream& operator=(own_stream const&) = delete;
    ~own_stream() { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
    operator cuda_stream() const { return stream_; } // NOLINT(google-explicit-constructor)

  private:
    cuda_stream stream_ = nullptr;
  };

  /// What f puts into the stream, which does not run then.
  class graph
  {
  public:
    template <class F>
    graph(cuda_stream stream, F const& f) : stream_(stream)
    {
      f(); // what kernels need to be loaded
      synchronize(stream);
      check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCapture");
      f();
      cudaGraph_t captured = nullptr;
      check_cuda(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
      check_cuda(cudaGraphInstantiate(&exec_, captured, 0), "cudaGraphInstantiate");
      check_cuda(cudaGraphDestroy(captured), "cudaGraphDestroy");
    }
    graph(graph const&) = delete;
    graph& operator=(graph const&) = delete;
    ~graph() { EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess); }

    void run()
    {
      check_cuda(cudaGraphLaunch(exec_, stream_), "cudaGraphLaunch");
      synchronize(stream_);
    }

  private:
    cuda_stream stream_;
    cudaGraphExec_t exec_ = nullptr;
  };

  /// Columns whose values change and whose memory stays.
  template <class T, int Dim>
  struct given_columns
  {
    cuda_stream stream;
    device_columns<T, Dim> columns;

    given_columns(points<T, Dim> const& x, cuda_stream on) : stream(on), columns(x.view(), on) {}
    void write(points<T, Dim> const& x)
    {
      for (int a = 0; a < Dim; ++a)
        detail::device_copy(columns.view()[a], x.columns[a].data(), x.size() * sizeof(T), stream);
    }
    [[nodiscard]] soa<T const, Dim> view() const { return columns.view(); }
  };

  /// Rows in device memory.
  struct given_rows
  {
    cuda_stream stream;
    device_array<index_type> counts, columns, longest;
    index_type width;

    given_rows(std::size_t n, index_type entries, cuda_stream on)
        : stream(on), counts(n, on), columns(n * entries, on), longest(1, on), width(entries)
    {}
    [[nodiscard]] to_rows sink(pairs which)
    {
      return {which,
              width,
              {counts.data(), counts.size()},
              {columns.data(), columns.size()},
              longest.data()};
    }
    struct on_host
    {
      std::vector<index_type> counts, columns;
      index_type width, longest;

      [[nodiscard]] std::span<index_type const> row(std::size_t i) const
      {
        return {columns.data() + i * width, std::min(counts[i], width)};
      }
    };
    [[nodiscard]] on_host to_host() const
    {
      on_host copy{std::vector<index_type>(counts.size()), std::vector<index_type>(columns.size()),
                   width, 0};
      counts.copy_to(copy.counts);
      columns.copy_to(copy.columns);
      longest.copy_to({&copy.longest, 1});
      return copy;
    }
  };

  template <class V>
  V on_host(V const* value, cuda_stream stream)
  {
    V copy;
    detail::device_copy(&copy, value, sizeof copy, stream);
    return copy;
  }
}
