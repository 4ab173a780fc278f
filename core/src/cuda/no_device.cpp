// What a build without CUDA does instead: it has no GPU, and its errors say how to get one with CUDA.

#include "gpu_clock.hpp"
#include "on_device.hpp"
#include "pinned.hpp"
#include "refuse_gpu.hpp"
#include "scaled_copy.hpp"
#include "staging.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

// clang-format off
namespace nearfield
{
  using detail::refuse_gpu;

  std::vector<gpu> gpus() { return {}; }
  bool built_with_cuda() noexcept { return false; }
  std::string cuda_problem()
  {
    return "this nearfield was built without CUDA: configure with -DNEARFIELD_ENABLE_CUDA=ON";
  }
  void check_cuda(int code, char const* what)
  {
    if (code == 0) return;
    throw error(std::string(what) + " failed with CUDA error " + std::to_string(code) + ": " + cuda_problem(),
                error_kind::not_available, code);
  }

  std::uint64_t free_gpu_memory() { refuse_gpu(); }
  void synchronize(cuda_stream) { refuse_gpu(); }
  std::shared_ptr<device_memory> device_memory_of(CUmemPoolHandle_st*) { refuse_gpu(); }
  std::shared_ptr<device_memory> set_device_memory(std::shared_ptr<device_memory>) { refuse_gpu(); }
  device_memory::usage memory_of_pool() { refuse_gpu(); }
  void reset_pool_peak() { refuse_gpu(); }
  void trim_pool() { refuse_gpu(); }
}

namespace nearfield::detail
{
  int current_device() { refuse_gpu(); }
  void set_current_device(int) { refuse_gpu(); }
  std::string identity_of(int) { refuse_gpu(); }

  device_block device_allocate(std::size_t, cuda_stream, char const*) { refuse_gpu(); }
  void device_deleter::operator()(void*) const noexcept {}
  void device_copy(void*, void const*, std::size_t, cuda_stream, int) { refuse_gpu(); }
  void device_copy_async(void*, void const*, std::size_t, cuda_stream) { refuse_gpu(); }
  void device_clear(void*, std::size_t, cuda_stream) { refuse_gpu(); }
  void release_pools() noexcept {}

  gpu_clock::~gpu_clock() = default;
  void* gpu_clock::begin(cuda_stream) { refuse_gpu(); }
  void gpu_clock::end(void*, cuda_stream) { refuse_gpu(); }
  double gpu_clock::seconds() { return 0; }

  on_device::on_device(int) noexcept {}
  on_device::~on_device() = default;
  bool is_pinned(void const*, std::size_t) noexcept { return false; }
  std::unique_ptr<staging> staging::make(int) { refuse_gpu(); }

  // definitions for one T are shorter than templates and their instantiations
#define NEARFIELD_NO_ROWS(T)                                                                                           \
  template <> void device_gather(cuda_stream, index_type const*, std::size_t, any_columns<T const> const&,              \
                                 any_columns<T> const&) { refuse_gpu(); }                                              \
  template <> void device_move(cuda_stream, index_type const*, std::size_t, std::array<double, 3> const*,               \
                               any_columns<T> const&) { refuse_gpu(); }                                                \
  template <> void device_gather_runs(cuda_stream, row_run const*, std::size_t, index_type, std::size_t,               \
                                      any_columns<T const> const&, any_columns<T> const&) { refuse_gpu(); }            \
  template <> void device_scatter(cuda_stream, index_type const*, std::size_t, any_columns<T const> const&,            \
                                  any_columns<T> const&, bool) { refuse_gpu(); }                                       \
  template <> void device_gather_from_pieces(cuda_stream, index_type const*, std::size_t, column_pieces<T> const&, T*, \
                                             std::size_t, int) { refuse_gpu(); }                                       \
  template <> void device_scatter_to_pieces(cuda_stream, index_type const*, std::size_t, T const*, std::size_t,        \
                                            column_pieces<T> const&, int) { refuse_gpu(); }
  NEARFIELD_NO_ROWS(float)
  NEARFIELD_NO_ROWS(double)

#define NEARFIELD_NO_SCALED_COPY(From, To)                                                                             \
  template <> void device_scaled_copy(cuda_stream, std::size_t, int, double, From const* const*, To* const*,           \
                                      scaled_copy_options const&) { refuse_gpu(); }
  NEARFIELD_NO_SCALED_COPY(double, double)
  NEARFIELD_NO_SCALED_COPY(double, float)
  NEARFIELD_NO_SCALED_COPY(float, double)
}
