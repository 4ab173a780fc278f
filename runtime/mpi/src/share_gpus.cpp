#include <nearfield/starpu_mpi/near_field.hpp>

#include "ranks.hpp"

#include <nearfield/cuda/device.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace nearfield::starpu_mpi
{
  void share_gpus(MPI_Comm communicator, std::optional<int> most)
  {
    std::vector<gpu> const found = gpus();
    int const there = static_cast<int>(found.size()),
              n = std::min(there, std::max(0, most.value_or(there)));
    // those that see the same GPUs: a launcher may have given each rank its own
    std::string seen;
    for (int device = 0; device < there; ++device) seen += nearfield::detail::identity_of(device);
    auto const hash = std::hash<std::string>()(seen);
    MPI_Comm machine = MPI_COMM_NULL, sharing = MPI_COMM_NULL;
    MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_split(machine, static_cast<int>(hash & 0x7fffffff), 0, &sharing);
    detail::ranks const all(sharing);
    int const rank = all.rank(), ranks = all.size();
    MPI_Comm_free(&sharing);
    MPI_Comm_free(&machine);
    if (char const* const given = std::getenv("STARPU_WORKERS_CUDAID"); given && there > 0)
      return nearfield::detail::set_current_device(std::clamp(std::atoi(given), 0, there - 1));
    if (most && n == 0) setenv("STARPU_NCUDA", "0", 1);
    if (n == 0 || (ranks == 1 && n == there && !most)) return;
    auto const first_of = [&](int r)
    {
      return static_cast<int>(std::int64_t(r) * n / ranks);
    };
    int const first = first_of(rank), end = std::max(first + 1, first_of(rank + 1));
    std::string numbers;
    for (int device = first; device < end; ++device)
      numbers += (numbers.empty() ? "" : " ") + std::to_string(device);
    setenv("STARPU_WORKERS_CUDAID", numbers.c_str(), 1);
    setenv("STARPU_NCUDA", std::to_string(end - first).c_str(), most.has_value());
    if (n < ranks)
    {
      int others = 0;
      for (int r = 0; r < ranks; ++r) others += first_of(r) == first;
      // StarPU takes nine tenths of a GPU otherwise
      auto const part = found[static_cast<std::size_t>(first)].memory_bytes / 10 * 9 /
                        static_cast<std::uint64_t>(others);
      setenv("STARPU_LIMIT_CUDA_MEM", std::to_string(part >> 20).c_str(), 0);
    }
    // or this thread would start CUDA on the first GPU of all, which is another rank's
    nearfield::detail::set_current_device(first);
  }
}
