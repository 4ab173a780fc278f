#pragma once

#include <nearfield/core/api.hpp>

#include <initializer_list>

namespace nearfield::starpu
{
  /// The implementation that tasks run.
  enum class backend_choice
  {
    automatic, ///< SIMD on CPU workers, CUDA on GPU workers
    scalar,
    simd,
    cuda ///< GPU workers only
  };

  /// The implementations among which StarPU's scheduler chooses.
  class NEARFIELD_API backend_set
  {
  public:
    /// A single implementation; automatic means simd and cuda.
    backend_set(backend_choice one); // NOLINT(google-explicit-constructor)
    /// Several implementations. Throws nearfield::error for an empty list.
    backend_set(std::initializer_list<backend_choice> several);

    /// plain C++ on CPU workers
    [[nodiscard]] bool has_scalar() const { return (bits_ & 1u) != 0; }
    /// SIMD on CPU workers
    [[nodiscard]] bool has_simd() const { return (bits_ & 2u) != 0; }
    /// CUDA on GPU workers
    [[nodiscard]] bool has_cuda() const { return (bits_ & 4u) != 0; }
    /// Whether cuda was named explicitly, not only implied by automatic. It must then be available.
    [[nodiscard]] bool names_cuda() const { return names_cuda_; }
    /// 1 to 7, unique for each set of implementations.
    [[nodiscard]] unsigned index() const { return bits_; }

  private:
    unsigned bits_ = 0;
    bool names_cuda_ = false;
  };
}
