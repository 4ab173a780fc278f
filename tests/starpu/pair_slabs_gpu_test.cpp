// Which workers search the slabs of a list of pairs, and points that StarPU moves in the memory of a GPU.

#include <nearfield/starpu/pair_slabs.hpp>

#include "one_runtime.hpp"
#include "points.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
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
      double cutoff;
      cell_list_options<double, 3> grid;
      cell_list<double, 3> cells;
      std::vector<handle> columns;

      problem(points<double, 3>&& of, double r, cell_list_options<double, 3> const& how = {})
          : x(std::move(of)), cutoff(r), grid(how), cells(x.view(), cutoff, grid)
      {
        for (auto const& column : x.columns)
          columns.push_back(handle::of(column.data(), column.size()));
      }
      [[nodiscard]] pair_slabs<double, 3> list(backend where, std::size_t slabs) const
      {
        return {one_runtime(),
                {columns[0], columns[1], columns[2]},
                cutoff,
                {.grid = grid, .backend = where, .slabs = slabs}};
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

    /// Device memory for small arrays only.
    class small_memory : public device_memory
    {
    public:
      explicit small_memory(std::size_t most) : most_(most) {}
      void* allocate(std::size_t bytes, cuda_stream stream) override
      {
        if (bytes > most_)
        {
          ++refused;
          return nullptr;
        }
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, bytes, stream) != cudaSuccess) return nullptr;
        return memory;
      }
      void deallocate(void* memory, std::size_t, cuda_stream stream) noexcept override
      {
        cudaFreeAsync(memory, stream);
      }
      std::atomic<int> refused = 0;

    private:
      std::size_t most_;
    };

    std::size_t free_memory()
    {
      std::size_t free = 0, total = 0;
      EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
      return free;
    }

    /// Holds the memory of the current device but for about `rest` bytes.
    class almost_all_memory
    {
    public:
      explicit almost_all_memory(std::size_t rest)
      {
        constexpr std::size_t least = std::size_t(1) << 24;
        for (std::size_t size = std::size_t(1) << 36; size >= least;)
        {
          void* memory = nullptr;
          if (free_memory() >= rest + size && cudaMalloc(&memory, size) == cudaSuccess)
            held_.push_back(memory);
          else
            size /= 2;
        }
        cudaGetLastError(); // of an attempt
      }
      almost_all_memory(almost_all_memory const&) = delete;
      almost_all_memory& operator=(almost_all_memory const&) = delete;
      ~almost_all_memory()
      {
        for (void* const memory : held_) cudaFree(memory);
      }

    private:
      std::vector<void*> held_;
    };

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
    problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
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

  // A record of a point takes 16 bytes, the results of its tests 48.
  TEST(starpu_pair_slabs_on_gpus, test_again_where_there_is_little_memory)
  {
    problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
    auto const memory = std::make_shared<small_memory>(30000 * 20);
    auto const before = set_device_memory(memory);
    {
      auto list = p.list(cuda, 1);
      p.expect_list(list);
      list.recount();
      p.expect_list(list);
    }
    set_device_memory(before);
    EXPECT_EQ(memory->refused, 2);
  }

  // Slab 0 gives up what its count keeps, 48 bytes per row, and slab 1 does not.
  TEST(starpu_pair_slabs_on_gpus, test_again_where_pairs_need_the_memory)
  {
    constexpr index_type n = 30000;
    problem const p(make_points<double, 3>(cloud::uniform, n), 0.05);
    device_columns<double, 3> const x(p.x.view());
    detail::cuda_rows<double, 3> list(nullptr, {}, 2);
    list.sort(x.view(), x.view(), true, p.cutoff);
    device_array<index_type> rows(n / 2);
    device_array<std::uint64_t> offsets(n / 2 + 1);
    for (index_type const k : {0, 1})
      list.count(k, pairs::half, k * (n / 2), (k + 1) * (n / 2), rows.data(), offsets.data());
    trim_pool(); // waits
    auto const before = memory_of_pool().used;
    list.leave_room(0, 1);
    EXPECT_EQ(memory_of_pool().used, before);
    list.leave_room(0, std::uint64_t(1) << 60);
    EXPECT_LE(memory_of_pool().used + n / 2 * 48, before);
    auto const expected = radius_search(simd, p.cells, to_coo{});
    ASSERT_EQ(list.n_pairs(0) + list.n_pairs(1), expected.size());
    device_array<index_type> i(expected.size()), j(expected.size());
    std::uint64_t const first_of_1 = list.n_pairs(0);
    list.fill(0, i.data(), j.data());
    list.fill(1, i.data() + first_of_1, j.data() + first_of_1);
    synchronize(nullptr);
    std::vector<index_type> found(expected.size());
    i.copy_to(found);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.i.begin()));
    j.copy_to(found);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.j.begin()));
  }

  // The 184 MB of 20 million pairs and their spare places do not fit into 128 MiB, but do with what the pool holds
  // unused. StarPU would wait for it for ever.
  TEST(starpu_pair_slabs_on_gpus, get_what_the_pool_does_not_use)
  {
    if (one_runtime().n_gpus() > 1) GTEST_SKIP() << "the pairs go to several GPUs";
    problem const small(make_points<double, 3>(cloud::all_equal, 1000), 0.1);
    auto loads_all_kernels = small.list(cuda, 1);
    small.expect_list(loads_all_kernels);
    problem const p(make_points<double, 3>(cloud::all_equal, 6400), 0.1);
    trim_pool();
    // the pool keeps it
    static_cast<void>(device_array<char>(std::size_t(1) << 29));
    synchronize(nullptr);
    almost_all_memory const held(std::size_t(1) << 27);
    auto list = p.list(cuda, 1);
    list.fill();
    list.wait();
    EXPECT_EQ(list.n_pairs(), 6400u * 6399 / 2);
    EXPECT_LT(memory_of_pool().held, std::size_t(1) << 29);
    p.expect_list(list);
  }

  // Each pair takes its own image, so all tests read the columns themselves; and there is no room to keep the results
  // of so many tests for the fill, which makes them again.
  TEST(starpu_pair_slabs_on_gpus, find_points_that_StarPU_has_moved)
  {
    auto x = make_points<double, 3>(cloud::uniform, 5000);
    for (auto& column : x.columns)
      for (double& value : column) value = std::clamp(value, 0., 0.999);
    problem const p(std::move(x), 0.36, {.period = {1, 1, 1}});
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
