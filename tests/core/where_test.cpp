#include <nearfield/core/where.hpp>

#include "complains_of.hpp"

#include <gtest/gtest.h>

namespace nearfield::test
{
  namespace
  {
    struct options
    {
      nearfield::backend backend = nearfield::backend::automatic;
    };
  }

  TEST(backend, is_what_a_tag_says)
  {
    static_assert(options{}.backend == backend::automatic);
    static_assert(options{.backend = scalar}.backend == backend::scalar);
    static_assert(options{.backend = simd}.backend == backend::simd);
    static_assert(options{.backend = cuda}.backend == backend::cuda);
  }

  TEST(backend, refuses_what_it_would_lose)
  {
    EXPECT_THAT([] { return options{.backend = simd_backend{isa::avx2}}; },
                complains_of("backend", "NEARFIELD_ISA", "give simd"));
    int not_a_stream = 0;
    auto const stream = reinterpret_cast<cuda_stream>(&not_a_stream); // NOLINT
    EXPECT_THAT([&] { return options{.backend = cuda_backend{stream}}; },
                complains_of("backend", "streams of StarPU", "give cuda"));
  }
}
