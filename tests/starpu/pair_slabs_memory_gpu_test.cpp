// Slabs of a list of pairs where the memory of a GPU is short. Nothing else may use it meanwhile.

#include "search/src/cuda/device_rows.hpp"
#include "slab_problem.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace nearfield::test
{
  namespace
  {
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
  }

  // A record of a point takes 16 bytes, the results of its tests 48.
  TEST(starpu_pair_slabs_in_little_memory, test_again_where_there_is_little_memory)
  {
    slab_problem const p(make_points<double, 3>(cloud::uniform, 30000), 0.05);
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
  TEST(starpu_pair_slabs_in_little_memory, test_again_where_pairs_need_the_memory)
  {
    constexpr index_type n = 30000;
    slab_problem const p(make_points<double, 3>(cloud::uniform, n), 0.05);
    device_columns<double, 3> const x(p.x.view());
    auto const list = detail::device_rows<double, 3>::make(nullptr, {.cutoff = p.cutoff}, 2);
    list->sort(x.view(), x.view());
    device_array<index_type> rows(n / 2);
    device_array<std::uint64_t> offsets(n / 2 + 1);
    for (index_type const k : {0, 1})
      list->count(k, k * (n / 2), (k + 1) * (n / 2), rows.data(), offsets.data());
    trim_pool(); // waits
    auto const before = memory_of_pool().used;
    list->leave_room(0, 1);
    EXPECT_EQ(memory_of_pool().used, before);
    list->leave_room(0, std::uint64_t(1) << 60);
    EXPECT_LE(memory_of_pool().used + n / 2 * 48, before);
    auto const expected = radius_search(simd, p.cells, to_coo{});
    ASSERT_EQ(list->n_pairs(0) + list->n_pairs(1), expected.size());
    device_array<index_type> i(expected.size()), j(expected.size());
    std::uint64_t const first_of_1 = list->n_pairs(0);
    list->fill(0, {.i = i.data(), .j = j.data()});
    list->fill(1, {.i = i.data() + first_of_1, .j = j.data() + first_of_1});
    synchronize(nullptr);
    std::vector<index_type> found(expected.size());
    i.copy_to(found);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.i.begin()));
    j.copy_to(found);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.j.begin()));
  }

  // The 184 MB of 20 million pairs and their spare places do not fit into 128 MiB, but do with what the pool holds
  // unused. StarPU would wait for it for ever.
  TEST(starpu_pair_slabs_in_little_memory, get_what_the_pool_does_not_use)
  {
    if (one_runtime().n_gpus() > 1) GTEST_SKIP() << "the pairs go to several GPUs";
    slab_problem const small(make_points<double, 3>(cloud::all_equal, 1000), 0.1);
    auto loads_all_kernels = small.list(cuda, 1);
    small.expect_list(loads_all_kernels);
    slab_problem const p(make_points<double, 3>(cloud::all_equal, 6400), 0.1);
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
}
