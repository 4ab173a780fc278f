#pragma once

#include <nearfield/p2p/backend.hpp>

#if defined(NEARFIELD_TEST_CUDA)
#include "copied_cuda.hpp"
#endif

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// \file
/// What P2P tests are typed over. Their files are compiled twice where there is CUDA: for the back-ends of the
/// CPU, and with NEARFIELD_TEST_CUDA for the GPU's, as programs under the label gpu.

namespace nearfield::test
{
  /// A back-end that tests run on, chosen at run time.
  struct tested_backend
  {
#if defined(NEARFIELD_TEST_CUDA)
    using any = std::variant<copied_cuda>;
#else
    using any = std::variant<scalar_backend, simd_backend>;
#endif

    std::string name;
    any where;

    /// f(back-end)
    template <class F>
    void run(F&& f) const
    {
      std::visit(std::forward<F>(f), where);
    }

    friend std::ostream& operator<<(std::ostream& out, tested_backend const& b)
    {
      return out << b.name;
    }
  };

#if defined(NEARFIELD_TEST_CUDA)
  inline std::vector<tested_backend> tested_backends()
  {
    return {{"cuda", copied_cuda{}}};
  }

  /// 0, 1, W - 1, W, W + 1 for warps and teams, and the items that boxes are cut into.
  inline constexpr std::size_t tested_sizes[] = {0,   1,   2,   3,   5,   16,  17,  20,
                                                 21,  31,  32,  33,  63,  64,  65,  127,
                                                 128, 129, 257, 511, 512, 513, 1025};
#else
  /// Every back-end that is built in and that this machine can run: the line to extend for a new one.
  inline std::vector<tested_backend> tested_backends()
  {
    std::vector<tested_backend> all{{"scalar", scalar}};
    for (isa const which : available_isas())
      if (which != isa::scalar)
        all.push_back({"simd " + std::string(name_of(which)), simd_backend{which}});
    return all;
  }

  /// 0, 1, W - 1, W, W + 1 for packs of 1 to 32 values, and the blocks of targets around them.
  inline constexpr std::size_t tested_sizes[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,  15,
                                                 16, 17, 31, 32, 33, 63, 64, 65, 257};
#endif
}
