// Fails on one rank, while the others wait for it. arguments: alone | together

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu_mpi.h>

#include <cmath>
#include <string_view>
#include <vector>

int main(int argc, char** argv)
{
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool const alone = argc > 1 && std::string_view(argv[1]) == "alone";
  nearfield::starpu_mpi::end_together(
      MPI_COMM_WORLD, "failing",
      [&]
      {
        nearfield::starpu::runtime const starpu({.gpus = 0});
        starpu_mpi_init_comm(&argc, &argv, 0, MPI_COMM_WORLD);
        std::vector<double> x(1000), q(1000, 1.), phi(1000);
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] =
              std::fmod(0.618 * static_cast<double>(i + 1000 * static_cast<std::size_t>(rank)), 1.);
        if (!alone && rank == 1) x[3] = std::nan("");
        nearfield::soa const points{x, x};
        nearfield::starpu_mpi::distributed_tree const tree(MPI_COMM_WORLD, points, {.level = 4});
        nearfield::starpu_mpi::near_field step{starpu, nearfield::one_over_r<2>{}, tree,
                                               nearfield::soa{q}, nearfield::soa{phi}};
        if (alone && rank == 1) throw nearfield::error("no charges here; give some");
        step.submit();
        step.wait();
      });
  return 0;
}
