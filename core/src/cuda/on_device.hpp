#pragma once

#include <cuda_runtime_api.h>

namespace nearfield::detail
{
  /// Makes a device the current one while it lives; a negative one is the current one.
  class on_device
  {
  public:
    explicit on_device(int device) noexcept
    {
      if (device >= 0 && cudaGetDevice(&before_) == cudaSuccess && before_ != device)
        changed_ = cudaSetDevice(device) == cudaSuccess;
    }
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device()
    {
      if (changed_ && cudaSetDevice(before_) != cudaSuccess) static_cast<void>(cudaGetLastError());
    }

  private:
    int before_ = 0;
    bool changed_ = false;
  };
}
