// Which workers search the slabs of a list of pairs, and points that StarPU moves in the memory of a GPU.

#include <nearfield/starpu/pair_slabs.hpp>

#include "one_runtime.hpp"
#include "points.hpp"

#include <nearfield/search/radius_search.hpp>

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

    struct problem
    {
      points<double, 3> x;
      cell_list<double, 3> cells;
      std::vector<handle> columns;

      problem(points<double, 3>&& of, double cutoff, cell_list_options<double, 3> const& grid = {})
          : x(std::move(of)), cells(x.view(), cutoff, grid)
      {
        for (auto const& column : x.columns)
          columns.push_back(handle::of(column.data(), column.size()));
      }
      [[nodiscard]] std::array<starpu_data_handle_t, 3> handles() const
      {
        return {columns[0], columns[1], columns[2]};
      }
      void expect_list(pair_slabs<double, 3>& list) const
      {
        auto const expected = radius_search(simd, cells, to_coo{});
        coo<double, 3> found;
        list.to_host(found);
        ASSERT_EQ(found.size(), expected.size());
        EXPECT_TRUE(std::equal(found.i.begin(), found.i.end(), expected.i.begin()));
        EXPECT_TRUE(std::equal(found.j.begin(), found.j.end(), expected.j.begin()));
      }
    };

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
    problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
    for (backend const where : {backend::cuda, backend::simd, backend::scalar})
    {
      pair_slabs list(one_runtime(), p.cells, p.handles(), {.backend = where});
      p.expect_list(list);
      std::string const expected = where == backend::cuda ? "cuda"
                                   : where == backend::scalar
                                       ? "scalar"
                                       : std::string(name_of(selected_isa()));
      EXPECT_THAT(implementations(list), testing::ElementsAre(expected));
    }
  }

  TEST(starpu_pair_slabs_on_gpus, are_one_list_whichever_workers_search)
  {
    // the default scheduler gives a task to whoever has none
    problem const p(make_points<double, 3>(cloud::uniform, 100000), 0.03);
    pair_slabs list(one_runtime(), p.cells, p.handles(), {.candidates = 100000});
    p.expect_list(list);
    EXPECT_THAT(implementations(list),
                testing::IsSubsetOf({std::string("cuda"), std::string(name_of(selected_isa()))}));
  }

  // The nearest image is chosen for each pair, so all tests read the columns themselves.
  TEST(starpu_pair_slabs_on_gpus, find_points_that_StarPU_has_moved)
  {
    auto x = make_points<double, 3>(cloud::uniform, 5000);
    for (auto& column : x.columns)
      for (double& value : column) value = std::clamp(value, 0., 0.999);
    problem const p(std::move(x), 0.36, {.period = {1, 1, 1}});
    pair_slabs list(one_runtime(), p.cells, p.handles(), {.backend = cuda});
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
