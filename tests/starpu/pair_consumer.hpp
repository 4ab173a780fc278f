#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <starpu.h>

#include <cstdint>

/// \file
/// A user's codelet that reads the pairs of a slab and a column of the points in place.

namespace nearfield::test
{
  /// The hash of a pair. An integer, so that sums are exact in any order.
  template <class T>
  NEARFIELD_FN std::uint64_t pair_hash(index_type i, index_type j, T xi, T xj)
  {
    return (i + std::uint64_t(1)) * (2 * j + std::uint64_t(1)) * 0x9e3779b97f4a7c15 +
           (xi < xj ? 1 : 0);
  }

#if defined(NEARFIELD_TEST_CUDA)
  /// *sum = the sum of the hashes of n pairs; all pointers are to device memory.
  template <class T>
  void sum_pairs_on_gpu(index_type const* i, index_type const* j, std::uint64_t n, T const* x,
                        unsigned long long* sum, cuda_stream stream);
  extern template void sum_pairs_on_gpu(index_type const*, index_type const*, std::uint64_t,
                                        float const*, unsigned long long*, cuda_stream);
  extern template void sum_pairs_on_gpu(index_type const*, index_type const*, std::uint64_t,
                                        double const*, unsigned long long*, cuda_stream);
#endif

  /// The buffers: i R, j R, x R, sum W (one value).
  template <class T>
  class pair_consumer
  {
  public:
    static starpu_codelet& codelet()
    {
      static starpu_codelet made = make();
      return made;
    }

  private:
    template <class V>
    static V* values(void* buffer)
    {
      return reinterpret_cast<V*>(STARPU_VECTOR_GET_PTR(buffer));
    }

    static starpu_codelet make()
    {
      starpu_codelet made;
      starpu_codelet_init(&made);
      made.name = "pair_consumer";
      made.nbuffers = 4;
      for (int b = 0; b < 3; ++b) made.modes[b] = STARPU_R;
      made.modes[3] = STARPU_W;
      made.cpu_funcs[0] = [](void** buffers, void*)
      {
        auto const *i = values<index_type>(buffers[0]), *j = values<index_type>(buffers[1]);
        auto const* x = values<T>(buffers[2]);
        std::uint64_t sum = 0;
        for (std::size_t p = 0; p < STARPU_VECTOR_GET_NX(buffers[0]); ++p)
          sum += pair_hash(i[p], j[p], x[i[p]], x[j[p]]);
        *values<std::uint64_t>(buffers[3]) = sum;
      };
#if defined(NEARFIELD_TEST_CUDA)
      made.cuda_funcs[0] = [](void** buffers, void*)
      {
        sum_pairs_on_gpu(values<index_type>(buffers[0]), values<index_type>(buffers[1]),
                         STARPU_VECTOR_GET_NX(buffers[0]), values<T const>(buffers[2]),
                         values<unsigned long long>(buffers[3]), starpu_cuda_get_local_stream());
      };
      made.cuda_flags[0] = STARPU_CUDA_ASYNC;
#endif
      return made;
    }
  };
}
