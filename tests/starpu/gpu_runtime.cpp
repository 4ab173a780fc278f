// StarPU with the GPUs of the machine, for the whole program.

#include "one_runtime.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace
{
  std::optional<nearfield::starpu::runtime> running;

  class with_starpu : public testing::Environment
  {
    void SetUp() override
    {
      running.emplace();
      ASSERT_GT(running->n_gpus(), 0);
    }
    void TearDown() override { running.reset(); }
  };

  [[maybe_unused]] auto* const registered = testing::AddGlobalTestEnvironment(new with_starpu);
}

nearfield::starpu::runtime& nearfield::test::one_runtime()
{
  return *running;
}
