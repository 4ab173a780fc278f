// The peaks of a GPU.

#include "baselines/peaks.hpp"
#include "cuda_timing.hpp"
#include "peaks.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace nf = nearfield;

namespace bench
{
  namespace
  {
    /// The best of several launches of f, which returns what it does. The first one is not timed.
    double best_rate(std::function<double()> const& f)
    {
      double const done = f();
      double best = 0;
      for (int i = 0; i < 10; ++i) best = std::max(best, done / seconds_on_gpu([&] { f(); }));
      return best;
    }

    double copied(void* to, void const* from, std::size_t bytes)
    {
      nf::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault), "cudaMemcpyAsync");
      return double(bytes);
    }

    machine measure()
    {
      using baseline::peak;
      // a GPU has a unit for roots in f32: it costs the others the issue of an instruction; f64 adds five to it
      machine on{.root_f32 = 1, .root_f64 = 5, .adds_too = true};
      on.f32 = best_rate([] { return baseline::launch_peak(peak::fma_f32); });
      on.f64 = best_rate([] { return baseline::launch_peak(peak::fma_f64); });
      constexpr std::size_t bytes = std::size_t(256) << 20; // several times the cache
      nf::device_array<char> from(bytes), to(bytes);
      double const written = best_rate(
          [&]
          {
            nf::check_cuda(cudaMemsetAsync(to.data(), 0, bytes), "cudaMemsetAsync");
            return double(bytes);
          });
      on.bytes =
          std::max(written, best_rate([&] { return 2 * copied(to.data(), from.data(), bytes); }));
      void* pinned = nullptr;
      nf::check_cuda(cudaMallocHost(&pinned, bytes / 4), "cudaMallocHost");
      std::unique_ptr<void, void (*)(void*)> const host(pinned,
                                                        [](void* memory) { cudaFreeHost(memory); });
      on.bus = std::max(best_rate([&] { return copied(to.data(), pinned, bytes / 4); }),
                        best_rate([&] { return copied(pinned, from.data(), bytes / 4); }));
      return on;
    }
  }

  machine const& gpu()
  {
    static machine const measured = []
    {
      machine const all = measure();
      nf::trim_pool(); // rows start from an empty one
      return all;
    }();
    return measured;
  }

  void add_peaks_of_gpu()
  {
    add_peaks("gpu", gpu());
  }
}
