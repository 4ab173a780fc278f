#include "scaled_copy.hpp"

#include "launch.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    constexpr int most_columns = 3;

    template <class From, class To>
    struct column_pairs
    {
      From const* from[most_columns];
      To* to[most_columns];
      int n_columns;
    };

    template <class From, class To>
    __global__ void scaled_copy(std::uint32_t n, double h, column_pairs<From, To> const c,
                                scaled_copy_options const options)
    {
      std::uint32_t const i = thread_index();
      if (i >= n) return;
      double const scale = options.scale ? options.scale[i] : 1;
      for (int k = 0; k < c.n_columns; ++k)
      {
        double const from = __dsub_rn(static_cast<double>(c.from[k][i]), options.origin[k]);
        double value = __dmul_rn(h, __dmul_rn(from, scale));
        if (options.accumulate) value = __dadd_rn(static_cast<double>(c.to[k][i]), value);
        To const result = static_cast<To>(value);
        c.to[k][i] = result;
        if (options.not_finite && !isfinite(result)) *options.not_finite = 1;
      }
    }
  }

  template <class From, class To>
  void device_scaled_copy(cuda_stream stream, std::size_t n, int n_columns, double h,
                          From const* const* from, To* const* to,
                          scaled_copy_options const& options)
  {
    if (n_columns < 0 || n_columns > most_columns || n > UINT32_MAX)
      throw error("device_scaled_copy: found " + std::to_string(n_columns) + " columns of " +
                  std::to_string(n) + " values; give at most 3 of fewer than 2^32");
    if (n == 0) return;
    column_pairs<From, To> columns{};
    columns.n_columns = n_columns;
    std::copy_n(from, n_columns, columns.from);
    std::copy_n(to, n_columns, columns.to);
    scaled_copy<<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        static_cast<std::uint32_t>(n), h, columns, options);
    check_cuda(cudaGetLastError(), "scaled_copy");
  }

#define NEARFIELD_INSTANTIATE(FROM, TO)                                                            \
  template void device_scaled_copy(cuda_stream, std::size_t, int, double, FROM const* const*,      \
                                   TO* const*, scaled_copy_options const&);
  NEARFIELD_INSTANTIATE(double, double)
  NEARFIELD_INSTANTIATE(double, float)
  NEARFIELD_INSTANTIATE(float, double)
#undef NEARFIELD_INSTANTIATE
}
