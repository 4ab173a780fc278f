#include "one_runtime.hpp"

#include <nearfield/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string_view>

namespace
{
  std::optional<nearfield::starpu::runtime> running;
}

nearfield::starpu::runtime& nearfield::test::one_runtime()
{
  return *running;
}

int main(int argc, char** argv)
{
  testing::InitGoogleTest(&argc, argv);
  try
  {
    // a machine with GPUs runs the same tests on them in a program of its own
    running.emplace(nearfield::starpu::runtime::options_type{.gpus = 0});
  }
  catch (nearfield::error const& failure)
  {
    std::fprintf(stderr, "%s\n", failure.what());
    bool const nothing_to_run_on =
        std::string_view(failure.what()).find("no worker") != std::string_view::npos;
    return nothing_to_run_on ? 77 : 1;
  }
  int const result = RUN_ALL_TESTS();
  running.reset();
  return result;
}
