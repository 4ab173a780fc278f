#include "gpu_clock.hpp"

#include "on_device.hpp"

#include <nearfield/cuda/device.hpp>

#include <cuda_runtime.h>

#include <algorithm>

namespace nearfield::detail
{
  namespace
  {
    cudaEvent_t event_of(void* event)
    {
      return static_cast<cudaEvent_t>(event);
    }

    void* recorded(cuda_stream stream)
    {
      cudaEvent_t event = nullptr;
      check_cuda(cudaEventCreate(&event), "gpu_clock: cudaEventCreate");
      if (cudaError_t const failed = cudaEventRecord(event, stream))
      {
        cudaEventDestroy(event);
        check_cuda(failed, "gpu_clock: cudaEventRecord");
      }
      return event;
    }
  }

  gpu_clock::~gpu_clock()
  {
    for (interval const& one : open_)
    {
      on_device const there(one.device);
      cudaEventDestroy(event_of(one.begun));
      cudaEventDestroy(event_of(one.ended));
    }
  }

  void* gpu_clock::begin(cuda_stream stream)
  {
    return recorded(stream);
  }

  void gpu_clock::end(void* begun, cuda_stream stream)
  {
    void* const ended = recorded(stream);
    std::lock_guard const lock(mutex_);
    open_.push_back({begun, ended, current_device()});
    if (open_.size() > 64) collect(); // of a caller that never asks
  }

  double gpu_clock::seconds()
  {
    std::lock_guard const lock(mutex_);
    collect();
    return seconds_;
  }

  void gpu_clock::collect()
  {
    std::erase_if(open_,
                  [&](interval const& one)
                  {
                    on_device const there(one.device); // else CUDA would start on the first one
                    cudaError_t const state = cudaEventQuery(event_of(one.ended));
                    if (state == cudaErrorNotReady)
                    {
                      static_cast<void>(cudaGetLastError());
                      return false;
                    }
                    float milliseconds = 0;
                    if (state == cudaSuccess &&
                        cudaEventElapsedTime(&milliseconds, event_of(one.begun),
                                             event_of(one.ended)) == cudaSuccess)
                      seconds_ += 1e-3 * double(milliseconds);
                    cudaEventDestroy(event_of(one.begun));
                    cudaEventDestroy(event_of(one.ended));
                    return true;
                  });
  }
}
