// The main of every test under the label gpu: skipped, visibly, where there is no device.

#include <nearfield/cuda/device.hpp>

#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv)
{
  testing::InitGoogleTest(&argc, argv);
  if (auto const problem = nearfield::cuda_problem(); !problem.empty())
  {
    std::printf("SKIPPED: %s\n", problem.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
