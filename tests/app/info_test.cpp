// What the program says of itself: `nearfield info`, --version, --help.
#include "program.hpp"

using namespace nearfield::test;

TEST(info, names_what_is_built_in)
{
  auto const end = run_program({"info"});
  expect_success(end);
  for (auto const* word :
       {"StarPU", "scalar", "\n  laplace         2D", "2D, 3D: one_over_r, ", "log_r"})
    EXPECT_THAT(end.out, testing::HasSubstr(word));
}

TEST(info, says_what_an_interaction_is)
{
  auto const end = run_program({"info", "gaussian", "dipole_tensor"});
  expect_success(end);
  EXPECT_EQ(end.out,
            "gaussian\n"
            "  group       gaussian; 2D, 1 -> 1; 3D, 1 -> 1\n"
            "  K(r)        exp(-|r|^2 / sigma^2)\n"
            "  inputs      weight\n"
            "  outputs     sum of Gaussians\n"
            "  parameters  sigma = 1: length, positive\n"
            "dipole_tensor\n"
            "  group       laplace; 2D, 2 -> 2; 3D, 3 -> 3\n"
            "  K(r)        3 r r^T / |r|^5 - I / |r|^3\n"
            "  inputs      dipole\n"
            "  outputs     field\n"
            "  source      J. D. Jackson, Classical Electrodynamics, 3rd edition, eq. 4.13\n");
  auto const all = run_program({"info", "--interactions"});
  expect_success(all);
  EXPECT_THAT(all.out,
              testing::HasSubstr("\nval_grad_one_over_r\n  group       laplace; 2D, 1 -> 3; "
                                 "3D, 1 -> 4\n"));
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  expect_refusal(run_program({"info", "gausian"}),
                 "there is no 'gausian'; built in are one_over_r,");
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
