#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace
{
  using namespace nearfield::test;
  using environment = std::map<std::string, std::string>;

  // each as its launcher sets it, on the first of two ranks
  environment const launchers[] = {{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}},
                                   {{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}},
                                   {{"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "0"}}};

  TEST(launch_by_mpirun, is_refused_by_commands_of_one_process)
  {
    for (auto const& launcher : launchers)
    {
      expect_refusal(run_program({"tune", "a.csv"}, launcher),
                     "tune: found 2 ranks of MPI, expected one process");
      expect_refusal(run_program({"demo"}, launcher), "demo: found 2 ranks");
      expect_success(run_program({"info"}, launcher));
    }
  }

  TEST(launch_by_mpirun, is_refused_without_mpi)
  {
    if (NEARFIELD_APP_HAS_MPI) GTEST_SKIP() << "this program was built with MPI";
    for (auto const& launcher : launchers)
    {
      expect_refusal(run_program({"run", "a.csv"}, launcher),
                     "run: found 2 ranks of MPI, but this program was built without it");
      expect_refusal(run_program({"search", "a.csv", "--radius", "1"}, launcher),
                     "search: found 2 ranks of MPI, but this program was built without it");
    }
  }

  TEST(launch_by_mpirun, is_spoken_of_by_the_first_rank)
  {
    auto const end = run_program({"tune", "a.csv"},
                                 {{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}});
    EXPECT_EQ(end.status, 2);
    EXPECT_EQ(own_messages(end), "");
  }

  TEST(launch_by_mpirun, of_one_rank_or_by_srun_without_mpi_is_a_run)
  {
    temporary_folder const folder;
    write_text(folder / "a.csv", "x,y,z,q\n1,2,3,4\n5,6,7,8\n");
    for (environment const& launcher :
         {environment{{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}},
          environment{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "1"}}})
      expect_success(run_program({"run", (folder / "a.csv").string(), "--workers", "0"}, launcher));
  }
}
