// Every rank runs all tests; a test fails on any rank if it fails on one, and the first rank reports. With
// NEARFIELD_TEST_GPUS steps run on GPUs, which ranks may share; where there is none, the program says so and returns 77.

#include "clouds.hpp"
#include "runtime_of_rank.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <gtest/gtest.h>

#include <starpu_mpi.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace
{
  std::optional<nearfield::starpu::runtime> running;

  /// Prints what fails on this rank.
  class failures_of_a_rank : public testing::EmptyTestEventListener
  {
    void OnTestPartResult(testing::TestPartResult const& result) override
    {
      if (result.failed())
        std::fprintf(stderr, "rank %d: %s:%d\n%s\n", nearfield::test::rank_of_world(),
                     result.file_name() ? result.file_name() : "", result.line_number(),
                     result.message());
    }
  };
}

nearfield::starpu::runtime& nearfield::test::runtime_of_rank()
{
  return *running;
}

int main(int argc, char** argv)
{
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (nearfield::test::rank_of_world() > 0)
  {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failures_of_a_rank);
  }
  // its idle workers would take the time of ranks without a core
  bool const needs_starpu = std::string_view(argv[0]).find("near_field") != std::string_view::npos;
  if (needs_starpu)
  {
    nearfield::starpu::runtime::options_type options{.gpus = 0};
    if (std::getenv("NEARFIELD_TEST_GPUS"))
    {
      if (nearfield::gpus().empty())
      {
        if (nearfield::test::rank_of_world() == 0)
          std::printf("SKIPPED: %s\n", nearfield::cuda_problem().c_str());
        MPI_Finalize();
        return 77;
      }
      nearfield::starpu_mpi::share_gpus(MPI_COMM_WORLD);
      options.gpus = std::nullopt;
    }
    running.emplace(options);
    if (starpu_mpi_init_comm(&argc, &argv, 0, MPI_COMM_WORLD) != 0) return 1;
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (needs_starpu) starpu_mpi_shutdown();
  running.reset();
  MPI_Finalize();
  return failed;
}
