#include "plain_loop.hpp"

namespace nearfield::app
{
  // One file each, of plain_loop.cpp.in.
#define NEARFIELD_DECLARE(ISA)                                                                     \
  void plain_loop_##ISA(plain_job<float> const&);                                                  \
  void plain_loop_##ISA(plain_job<double> const&);
  NEARFIELD_DECLARE(scalar)
  NEARFIELD_DECLARE(sse2)
  NEARFIELD_DECLARE(avx2)
  NEARFIELD_DECLARE(avx512)
  NEARFIELD_DECLARE(neon64)
#undef NEARFIELD_DECLARE

  namespace
  {
    template <class T>
    void run(plain_job<T> const& job)
    {
      switch (selected_isa())
      {
#if defined(NEARFIELD_WITH_SSE2)
      case isa::sse2:
        return plain_loop_sse2(job);
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case isa::avx2:
        return plain_loop_avx2(job);
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case isa::avx512:
        return plain_loop_avx512(job);
#endif
#if defined(NEARFIELD_WITH_NEON64)
      case isa::neon64:
        return plain_loop_neon64(job);
#endif
      default:
        return plain_loop_scalar(job);
      }
    }
  }

  void run_plain_loop(plain_job<float> const& job)
  {
    run(job);
  }
  void run_plain_loop(plain_job<double> const& job)
  {
    run(job);
  }
}
