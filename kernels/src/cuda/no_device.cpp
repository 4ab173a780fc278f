// nearfield without CUDA: the same names, which say how to build it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda.hpp>

namespace nearfield
{
  std::vector<gpu> gpus()
  {
    return {};
  }

  bool built_with_cuda() noexcept
  {
    return false;
  }

  std::string cuda_problem()
  {
    return "this nearfield was built without CUDA: configure with -DNEARFIELD_ENABLE_CUDA=ON";
  }

  void check_cuda(int code, char const* what)
  {
    if (code == 0) return;
    throw error(std::string(what) + " failed with CUDA's error " + std::to_string(code) + ": " +
                cuda_problem());
  }

  namespace
  {
    [[noreturn]] void fail()
    {
      throw error("cuda: " + cuda_problem());
    }
  }

  std::uint64_t free_gpu_memory()
  {
    fail();
  }

  void synchronize(cuda_stream)
  {
    fail();
  }

  namespace detail
  {
    void* device_allocate(std::size_t)
    {
      fail();
    }
    void device_free(void*) noexcept {}
    void copy_to_device(void*, void const*, std::size_t)
    {
      fail();
    }
    void copy_to_host(void*, void const*, std::size_t)
    {
      fail();
    }
    void device_clear(void*, std::size_t, cuda_stream)
    {
      fail();
    }

    template <>
    cuda_kernels<float> builtin_cuda_kernels<float>(int)
    {
      fail();
    }
    template <>
    cuda_kernels<double> builtin_cuda_kernels<double>(int)
    {
      fail();
    }
  }
}
