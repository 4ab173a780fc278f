// Stubs for a build without CUDA; their errors say how to get one with it.

#include "gpu_clock.hpp"
#include "on_device.hpp"
#include "pinned.hpp"
#include "scaled_copy.hpp"
#include "staging.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

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
    throw error(std::string(what) + " failed with CUDA error " + std::to_string(code) + ": " +
                    cuda_problem(),
                error_kind::not_available, code);
  }

  namespace
  {
    [[noreturn]] void fail()
    {
      throw error("cuda: " + cuda_problem(), error_kind::not_available);
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

  std::shared_ptr<device_memory> device_memory_of(cuda_memory_pool)
  {
    fail();
  }
  std::shared_ptr<device_memory> set_device_memory(std::shared_ptr<device_memory>)
  {
    fail();
  }
  pool_memory memory_of_pool()
  {
    fail();
  }
  void reset_pool_peak()
  {
    fail();
  }
  void trim_pool()
  {
    fail();
  }

  namespace detail
  {
    int current_device()
    {
      fail();
    }
    void set_current_device(int)
    {
      fail();
    }
    std::string identity_of(int)
    {
      fail();
    }
    device_block device_allocate(std::size_t, cuda_stream, char const*)
    {
      fail();
    }
    void device_deleter::operator()(void*) const noexcept {}
    void device_copy(void*, void const*, std::size_t, cuda_stream, int)
    {
      fail();
    }
    void device_copy_async(void*, void const*, std::size_t, cuda_stream)
    {
      fail();
    }
    void device_clear(void*, std::size_t, cuda_stream)
    {
      fail();
    }
    void release_pools() noexcept {}

    gpu_clock::~gpu_clock() = default;
    void* gpu_clock::begin(cuda_stream)
    {
      fail();
    }
    void gpu_clock::end(void*, cuda_stream)
    {
      fail();
    }
    double gpu_clock::seconds()
    {
      return 0;
    }

    on_device::on_device(int) noexcept {}
    on_device::~on_device() = default;

    bool is_pinned(void const*, std::size_t) noexcept
    {
      return false;
    }

    class staging::lanes
    {};
    staging::staging(int)
    {
      fail();
    }
    staging::~staging() = default;
    void staging::upload(executor&, std::span<staged_column const>, cuda_stream)
    {
      fail();
    }
    void staging::download(executor&, std::span<staged_column const>, cuda_stream)
    {
      fail();
    }

    template <class From, class To>
    void device_scaled_copy(cuda_stream, std::size_t, int, double, From const* const*, To* const*,
                            scaled_copy_options const&)
    {
      fail();
    }
#define NEARFIELD_INSTANTIATE(FROM, TO)                                                            \
  template void device_scaled_copy(cuda_stream, std::size_t, int, double, FROM const* const*,      \
                                   TO* const*, scaled_copy_options const&);
    NEARFIELD_INSTANTIATE(double, double)
    NEARFIELD_INSTANTIATE(double, float)
    NEARFIELD_INSTANTIATE(float, double)
#undef NEARFIELD_INSTANTIATE

    template <class T>
    void device_gather(cuda_stream, index_type const*, std::size_t, T const* const*, T* const*, int)
    {
      fail();
    }
    template <class T>
    void device_gather_runs(cuda_stream, row_run const*, std::size_t, index_type, std::size_t,
                            T const* const*, T* const*, int)
    {
      fail();
    }
    template <class T>
    void device_scatter(cuda_stream, index_type const*, std::size_t, T const* const*, T* const*,
                        int, bool)
    {
      fail();
    }
    template <class T>
    void device_gather_from_pieces(cuda_stream, index_type const*, std::size_t,
                                   column_pieces<T> const&, T*, std::size_t, int)
    {
      fail();
    }
    template <class T>
    void device_scatter_to_pieces(cuda_stream, index_type const*, std::size_t, T const*,
                                  std::size_t, column_pieces<T> const&, int)
    {
      fail();
    }
#define NEARFIELD_INSTANTIATE(T)                                                                   \
  template void device_gather(cuda_stream, index_type const*, std::size_t, T const* const*,        \
                              T* const*, int);                                                     \
  template void device_gather_runs(cuda_stream, row_run const*, std::size_t, index_type,           \
                                   std::size_t, T const* const*, T* const*, int);                  \
  template void device_scatter(cuda_stream, index_type const*, std::size_t, T const* const*,       \
                               T* const*, int, bool);                                              \
  template void device_gather_from_pieces(cuda_stream, index_type const*, std::size_t,             \
                                          column_pieces<T> const&, T*, std::size_t, int);          \
  template void device_scatter_to_pieces(cuda_stream, index_type const*, std::size_t, T const*,    \
                                         std::size_t, column_pieces<T> const&, int);
    NEARFIELD_INSTANTIATE(float)
    NEARFIELD_INSTANTIATE(double)
#undef NEARFIELD_INSTANTIATE
  }
}
