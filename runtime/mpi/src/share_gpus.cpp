#include <nearfield/starpu_mpi/near_field.hpp>

#include <nearfield/cuda/device.hpp>

#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

namespace nearfield::starpu_mpi
{
  void share_gpus(MPI_Comm communicator)
  {
    // those that see the same GPUs: a launcher may have given each rank its own
    char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    auto const hash = std::hash<std::string_view>()(visible ? visible : "");
    MPI_Comm machine = MPI_COMM_NULL, sharing = MPI_COMM_NULL;
    MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_split(machine, static_cast<int>(hash & 0x7fffffff), 0, &sharing);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(sharing, &rank);
    MPI_Comm_size(sharing, &ranks);
    MPI_Comm_free(&sharing);
    MPI_Comm_free(&machine);
    int const n = static_cast<int>(gpus().size());
    if (n == 0 || ranks == 1 || std::getenv("STARPU_WORKERS_CUDAID")) return;
    int const first = rank * n / ranks, end = n < ranks ? first + 1 : (rank + 1) * n / ranks;
    std::string numbers;
    for (int gpu = first; gpu < end; ++gpu)
      numbers += (numbers.empty() ? "" : " ") + std::to_string(gpu);
    setenv("STARPU_WORKERS_CUDAID", numbers.c_str(), 1);
    setenv("STARPU_NCUDA", std::to_string(end - first).c_str(), 0);
  }
}
