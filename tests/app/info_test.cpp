// What the program says of itself: `nearfield info`, --version, --help.
#include "program.hpp"

using namespace nearfield::test;

TEST(info, names_what_is_built_in)
{
  auto const end = run_program({"info"});
  expect_success(end);
  for (auto const* word :
       {"one_over_r, 3D, 1 -> 1", "dipole_tensor, 2D, 2 -> 2", "sigma", "StarPU", "scalar"})
    EXPECT_THAT(end.out, testing::HasSubstr(word));
}

TEST(info, says_why_there_is_no_gpu)
{
  auto const end = run_program({"info"}, {{"CUDA_VISIBLE_DEVICES", ""}});
  expect_success(end);
  EXPECT_THAT(end.out,
              testing::ContainsRegex("\nGPUs          none: .*(without CUDA|NVIDIA).*\ntasks "));
#if NEARFIELD_APP_HAS_GPU_TASKS
  EXPECT_THAT(end.out, testing::ContainsRegex("StarPU [0-9.]+, with CUDA\n"));
#elif NEARFIELD_APP_HAS_STARPU
  EXPECT_THAT(end.out, testing::ContainsRegex("StarPU [0-9.]+, with"));
#endif
}

TEST(version, is_one_line)
{
  auto const end = run_program({"--version"});
  expect_success(end);
  EXPECT_THAT(end.out, testing::MatchesRegex("nearfield [0-9.]+ \\([^,]+, scalar.*\\)\n"));
}

TEST(help, names_the_commands)
{
  auto const end = run_program({"--help"});
  expect_success(end);
  for (auto const* word : {"demo", "run", "info", "--version"})
    EXPECT_THAT(end.out, testing::HasSubstr(word));
}
