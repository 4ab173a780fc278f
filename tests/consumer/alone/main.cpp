// What a program can do that has one component and what it brings along.

#include <nearfield/core/soa.hpp>
#if defined(WITH_core)
#include <nearfield/core/where.hpp>
#elif defined(WITH_kernels)
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/near_field.hpp>
#elif defined(WITH_tree)
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#elif defined(WITH_search)
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#elif defined(WITH_cuda)
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/search/cuda.hpp>
#elif defined(WITH_adapters)
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/scalfmm.hpp>
#include <nearfield/tbfmm.hpp>
#elif defined(WITH_io)
#include <nearfield/io/points.hpp>
#elif defined(WITH_starpu)
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/tree/build_tree.hpp>
#elif defined(WITH_starpu_mpi)
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#endif

#include <array>
#include <cmath>
#include <vector>

namespace nf = nearfield;

int main()
{
  std::vector<double> const x{0, 3, 0}, y{0, 4, 0}, z{0, 0, 2}, q{1, 10, 100};
  std::vector<double> phi(3);
  nf::soa const points{x, y, z};
#if defined(WITH_core)
  return nf::available_isas().empty() || points.size() != 3;
#elif defined(WITH_kernels)
  nf::p2p_inner(nf::simd, nf::one_over_r<>{}, points, nf::soa{q}, nf::soa{phi});
  return std::abs(phi[0] - 52) > 1e-12;
#elif defined(WITH_tree)
  return nf::build_tree(points, {.max_leaf_size = 1}).depth() == 0 ||
         !nf::cell_list(points, 2.5).has_one_set();
#elif defined(WITH_search)
  return nf::radius_search(nf::simd, nf::cell_list(points, 2.5), nf::count_pairs{}).total != 1;
#elif defined(WITH_cuda)
  if (nf::gpus().empty()) return nf::cuda_problem().empty();
  nf::device_columns<double, 3> const there(points);
  return nf::cuda_cell_list(nf::cuda, there.view(), 2.5).n_targets() != 3;
#elif defined(WITH_adapters)
  nf::scalfmm3::matrix_kernel<nf::one_over_r<>> const kernel{};
  std::array<double, 3> const here{}, there{0, 3, 4};
  return std::abs(kernel.evaluate(here, there)[0] - 0.2) > 1e-15;
#elif defined(WITH_io)
  return nf::parse_columns("x,y,z,q\n0,0,0,1\n1,0,0,-1\n", "two points").size() != 2;
#elif defined(WITH_starpu)
  auto const tree = nf::build_tree(points, {.max_leaf_size = 1});
  nf::starpu::runtime starpu;
  auto const groups = nf::group_leaves(starpu, tree);
  nf::starpu::near_field step{starpu, nf::one_over_r<>{}, groups, points, nf::soa{q}, nf::soa{phi}};
  step.submit();
  step.wait();
  return phi[1] < 0;
#elif defined(WITH_starpu_mpi)
  MPI_Init(nullptr, nullptr); // one rank, without mpirun
  bool const is_whole = nf::starpu_mpi::distributed_tree(MPI_COMM_WORLD, points).n_points() == 3;
  MPI_Finalize();
  return !is_whole;
#endif
}
