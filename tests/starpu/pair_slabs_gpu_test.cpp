// Which workers search the slabs of a list of pairs, and points that StarPU moves in the memory of a GPU.

#include "slab_problem.hpp"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using starpu::handle;
    using starpu::pair_slabs;

    std::vector<std::string> implementations(pair_slabs<double, 3> const& list)
    {
      std::vector<std::string> names;
      for (auto const& one : list.statistics()) names.push_back(one.implementation);
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      return names;
    }

    unsigned node_of_gpu()
    {
      std::array<int, STARPU_NMAXWORKERS> ids;
      EXPECT_GT(starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, ids.data(), ids.size()), 0);
      return starpu_worker_get_memory_node(static_cast<unsigned>(ids[0]));
    }
  }

  TEST(starpu_pair_slabs_on_gpus, are_searched_where_the_backend_says)
  {
    slab_problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
    for (backend const where : {backend::cuda, backend::automatic, backend::simd, backend::scalar})
      for (std::size_t const slabs : {0, 5})
      {
        auto list = p.list(where, slabs);
        p.expect_list(list);
        std::string const expected = where == backend::scalar ? "scalar"
                                     : where == backend::simd ? std::string(name_of(selected_isa()))
                                                              : "cuda";
        EXPECT_THAT(implementations(list), testing::ElementsAre(expected));
      }
  }

  // By default there are as many slabs as GPUs. Several stay with one worker of a GPU, which sorts the points once a
  // round.
  TEST(starpu_pair_slabs_on_gpus, take_one_worker_of_each_gpu)
  {
    slab_problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
    auto const n_gpus = static_cast<std::size_t>(one_runtime().n_gpus());
    for (std::size_t const slabs : {std::size_t(0), 2 * n_gpus})
    {
      auto list = p.list(cuda, slabs);
      for (int round = 0; round < 3; ++round)
      {
        p.expect_list(list);
        list.recount();
      }
      list.wait();
      EXPECT_EQ(list.size(), slabs == 0 ? n_gpus : slabs);
      auto const tasks = list.statistics();
      EXPECT_EQ(tasks.size(), n_gpus);
      for (auto const& one : tasks)
        EXPECT_EQ(one.tasks, 7 * list.size() / n_gpus); // 4 counts and 3 fills of each slab
    }
  }

  // Each pair takes its own image, so all tests read the columns themselves; and there is no room to keep the results
  // of so many tests for the fill, which makes them again.
  TEST(starpu_pair_slabs_on_gpus, find_points_that_StarPU_has_moved)
  {
    auto x = make_points<double, 3>(cloud::uniform, 5000);
    for (auto& column : x.columns)
      for (double& value : column) value = std::clamp(value, 0., 0.999);
    slab_problem const p(std::move(x), 0.36, {.period = {1, 1, 1}});
    auto list = p.list(cuda, 1);
    EXPECT_GT(list.n_pairs(), 0u);
    unsigned const node = node_of_gpu();
    void const* before = nullptr;
    std::vector<handle> others;
    for (handle const& column : p.columns)
    {
      before = starpu_data_handle_to_pointer(column, node);
      ASSERT_EQ(starpu_data_evict_from_node(column, node), 0);
      // what takes its place
      others.push_back(handle::of_size<double>(p.x.size()));
      ASSERT_EQ(starpu_data_acquire_on_node(others.back(), static_cast<int>(node), STARPU_W), 0);
      cudaMemset(starpu_data_handle_to_pointer(others.back(), node), 0,
                 p.x.size() * sizeof(double));
      cudaDeviceSynchronize();
      starpu_data_release_on_node(others.back(), static_cast<int>(node));
    }
    p.expect_list(list);
    EXPECT_NE(starpu_data_handle_to_pointer(p.columns.back(), node), before)
        << "nothing was moved, so nothing was tested";
  }
}
