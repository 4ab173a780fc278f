#include "two_files.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

// Linked from files of different flags (CMakeLists.txt): of functions with equal names a linker keeps one,
// and then the plain file would run the wide one's instructions.

namespace nearfield::test
{
  TEST(two_files, of_different_instruction_sets_share_no_kernel)
  {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      GTEST_SKIP() << "no AVX2 on this machine";
    compiled_kernels const plain = of_plain_file(), wide = of_wide_file();
    if (plain.isa_name == wide.isa_name)
      GTEST_SKIP() << "this build has one set of flags for all files: " << plain.isa_name;
    EXPECT_EQ(plain.isa_name, NEARFIELD_ISA_NAME);
    EXPECT_NE(plain.simd.one_sided, wide.simd.one_sided);
    EXPECT_NE(plain.simd.mutual, wide.simd.mutual);
    EXPECT_NE(plain.scalar.one_sided, wide.scalar.one_sided);
    EXPECT_NE(plain.scalar.mutual, wide.scalar.mutual);
  }

  TEST(two_files, of_the_same_instruction_set_share_their_kernels)
  {
    compiled_kernels const plain = of_plain_file();
    EXPECT_EQ(plain.simd.mutual, (kernels_of<double, shared_by_files>(simd).mutual));
    EXPECT_EQ(plain.scalar.mutual, (kernels_of<double, shared_by_files>(scalar).mutual));
  }
}
