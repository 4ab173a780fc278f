// Where arrays, lists and searches take their memory from: nearfield's pools, an allocator of the caller's, a
// cudaMemPool_t; and that arrays return it there, whatever has been set since.

#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Every piece must come back once, as it was given.
    class counting_memory final : public device_memory
    {
    public:
      ~counting_memory() override
      {
        EXPECT_TRUE(live_.empty()) << live_.size() << " pieces have not come back";
      }

      void* allocate(std::size_t bytes, cuda_stream stream) override
      {
        std::lock_guard const lock(mutex_);
        void* memory = nullptr;
        check_cuda(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync");
        live_[memory] = {bytes, stream};
        ++n_of_stream_[stream];
        return memory;
      }
      void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept override
      {
        std::lock_guard const lock(mutex_);
        auto const piece = live_.find(memory);
        ASSERT_TRUE(piece != live_.end()) << "this is not, or no longer, from here";
        EXPECT_EQ(piece->second, std::pair(bytes, stream));
        live_.erase(piece);
        EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
      }

      [[nodiscard]] bool holds(void const* memory) const
      {
        return live_.contains(const_cast<void*>(memory)); // NOLINT
      }
      [[nodiscard]] std::size_t n_live() const { return live_.size(); }
      [[nodiscard]] std::size_t n_of(cuda_stream stream) { return n_of_stream_[stream]; }
      [[nodiscard]] std::size_t n_streams() const { return n_of_stream_.size(); }

    private:
      std::mutex mutex_;
      std::map<void*, std::pair<std::size_t, cuda_stream>> live_;
      std::map<cuda_stream, std::size_t> n_of_stream_;
    };

    template <class F>
    class calling_memory final : public device_memory
    {
    public:
      explicit calling_memory(F f) : f_(f) {}
      void* allocate(std::size_t, cuda_stream) override { return f_(); }
      void deallocate(void*, std::size_t, cuda_stream) noexcept override
      {
        ADD_FAILURE() << "it gave none";
      }

    private:
      F f_;
    };

    class memory_of_device : public ::testing::Test
    {
    protected:
      std::vector<double> const values{1, 2, 3};
      cudaStream_t stream = nullptr;

      memory_of_device()
      {
        check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
      }
      ~memory_of_device() override
      {
        set_device_memory(nullptr);
        EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
      }

      /// of nearfield's own, once all that was freed has come back
      static std::uint64_t used_of_pool()
      {
        trim_pool();
        return memory_of_pool().used;
      }
      static std::vector<double> on_host(device_array<double> const& array)
      {
        std::vector<double> found(array.size());
        array.copy_to(found);
        return found;
      }

      template <class F>
      void expect_refusal(F give, error_kind kind, int code, char const* reason)
      {
        set_device_memory(std::make_shared<calling_memory<F>>(give));
        auto const complains = complains_of("radius_search: ", reason);
        EXPECT_THAT([] { device_array<double>(3, nullptr, "radius_search: r2"); }, complains);
        try
        {
          device_array<double> const none(3);
          ADD_FAILURE() << "nothing was thrown";
        }
        catch (error const& e)
        {
          EXPECT_EQ(e.kind(), kind);
          EXPECT_EQ(e.code(), code);
        }
        set_device_memory(nullptr);
      }
    };
  }

  TEST_F(memory_of_device, is_that_of_the_caller_in_a_search)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 20000);
    auto const search = [&]
    {
      device_columns<double, 3> const there(x.view(), stream);
      cuda_backend const where{stream};
      cuda_cell_list<double, 3> cells(where, there.view(), 0.05);
      auto const coo = radius_search(where, cells, to_coo{.sorted = true, .displacements = true});
      auto const csr = radius_search(where, cells, to_csr{.distances = true});
      auto const table = radius_search(where, cells, to_table{});
      auto const counts = radius_search(where, cells, count_pairs{.per_point = true});
      cells.rebuild(there.view(), 0.04);
      auto const fewer = radius_search(where, cells, to_coo{});
      return std::tuple(coo.to_host(), csr.to_host(), table.to_host(), counts.to_host(),
                        fewer.size());
    };
    auto const [coo, csr, table, counts, n_fewer] = search();

    auto const mine = std::make_shared<counting_memory>();
    EXPECT_EQ(set_device_memory(mine), nullptr);
    std::uint64_t const before = used_of_pool();
    reset_pool_peak();
    auto const again = search();
    EXPECT_LE(memory_of_pool().peak, before) << "some memory was nearfield's";
    EXPECT_EQ(mine->n_live(), 0u);
    EXPECT_GT(mine->n_of(stream), 25u);
    EXPECT_EQ(mine->n_streams(), 1u);
    EXPECT_TRUE(std::ranges::equal(std::get<0>(again).j, coo.j));
    EXPECT_TRUE(std::ranges::equal(std::get<0>(again).displacements[2], coo.displacements[2]));
    EXPECT_TRUE(std::ranges::equal(std::get<1>(again).r2, csr.r2));
    EXPECT_TRUE(std::ranges::equal(std::get<2>(again).counts, table.counts));
    EXPECT_TRUE(std::ranges::equal(std::get<3>(again).per_point, counts.per_point));
    EXPECT_EQ(std::get<4>(again), n_fewer);
  }

  TEST_F(memory_of_device, is_that_of_the_caller_in_results)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 1000);
    auto const mine = std::make_shared<counting_memory>();
    set_device_memory(mine);
    device_columns<double, 3> const there(x.view());
    cuda_cell_list<double, 3> cells(cuda, there.view(), 0.2);
    auto const coo = radius_search(cuda, cells, to_coo{.distances = true});
    auto const table = radius_search(cuda, cells, to_table{});
    for (void const* const array : std::initializer_list<void const*>{
             there.view()[0], there.view()[2], coo.i.data(), coo.j.data(), coo.r2.data(),
             table.counts.data(), table.columns.data(), cells.target_order().data()})
      EXPECT_TRUE(mine->holds(array));
  }

  TEST_F(memory_of_device, is_that_of_the_caller_in_a_near_field)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 3000);
    std::vector<double> const q(3000, 1.);
    auto const tree = build_tree(x.view(), {.max_leaf_size = 60});
    auto const sums = [&](bool mutual)
    {
      pair_form const form = mutual ? pair_form::mutual : pair_form::one_sided;
      cuda_backend const where{stream};
      cuda_list const list(where, tree.targets(),
                           mutual ? tree.half_interactions() : tree.interactions(), x.size(), form);
      device_columns<double, 3> const there(x.view(), stream);
      device_columns<double, 1> const charges(soa{q}, stream);
      device_columns<double, 1> out(x.size(), stream);
      near_field(where, one_over_r<3>{}, list, there.view(), charges.view(), out.view(),
                 {.form = form});
      std::vector<double> found(x.size());
      out.copy_to(soa{found});
      return found;
    };
    auto const expected = sums(false), expected_mutual = sums(true);

    auto const mine = std::make_shared<counting_memory>();
    set_device_memory(mine);
    std::uint64_t const before = used_of_pool();
    reset_pool_peak();
    EXPECT_EQ(sums(false), expected);
    EXPECT_EQ(mine->n_of(stream), 10u) << "five of the list, which has no shifts, and five columns";
    auto const mutual = sums(true);
    for (std::size_t i = 0; i < mutual.size(); ++i)
      EXPECT_NEAR(mutual[i], expected_mutual[i], 1e-11 * expected_mutual[i]);
    EXPECT_EQ(mine->n_of(stream), 20u);
    EXPECT_EQ(mine->n_streams(), 1u);
    EXPECT_EQ(mine->n_live(), 0u);
    EXPECT_LE(memory_of_pool().peak, before) << "some memory was nearfield's";
  }

  TEST_F(memory_of_device, is_of_a_pool_of_cuda)
  {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool = nullptr;
    check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    auto const used = [&]
    {
      std::uint64_t bytes = 0;
      check_cuda(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), "used");
      return bytes;
    };
    set_device_memory(device_memory_of(pool));
    std::uint64_t const own = used_of_pool();
    {
      std::vector<double> const many(100000, 7.);
      device_array<double> const array(many, stream);
      EXPECT_GE(used(), many.size() * sizeof(double));
      EXPECT_EQ(used_of_pool(), own);
      EXPECT_EQ(on_host(array), many);
      std::size_t const all = gpus().front().memory_bytes;
      EXPECT_THAT([&] { device_array<char>(2 * all); },
                  complains_of("device_array", "cudaMallocFromPoolAsync", "out of memory"));
      set_device_memory(nullptr);
      check_cuda(cudaMemPoolDestroy(pool), "cudaMemPoolDestroy");
      EXPECT_EQ(on_host(array), many) << "a pool ends with its last array";
    }
    EXPECT_EQ(on_host(device_array<double>(values)), values);
  }

  TEST_F(memory_of_device, returns_to_where_it_came_from)
  {
    auto mine = std::make_shared<counting_memory>();
    std::weak_ptr<counting_memory> const watched = mine;
    set_device_memory(mine);
    device_array<double> first(values), second(values, stream);
    EXPECT_EQ(mine->n_live(), 2u);
    EXPECT_EQ(set_device_memory(nullptr), mine);
    mine.reset();
    EXPECT_EQ(on_host(first), values);
    std::uint64_t const own = used_of_pool();
    device_array<double> third(values);
    EXPECT_GT(memory_of_pool().used, own);
    std::swap(second, third);
    first = std::move(third);
    EXPECT_EQ(watched.lock()->n_live(), 1u);
    EXPECT_EQ(first.stream(), stream);
    EXPECT_EQ(second.stream(), nullptr);
    first = {};
    EXPECT_TRUE(watched.expired()) << "the last array ends its allocator";
    second = {};
    EXPECT_EQ(used_of_pool(), own);
  }

  TEST_F(memory_of_device, outlives_the_pools_it_came_from)
  {
    device_array<double> const before(values);
    detail::release_pools();
    EXPECT_EQ(on_host(before), values);
    auto const used = memory_of_pool().used;
    device_array<double> const after(values);
    EXPECT_EQ(on_host(after), values);
    EXPECT_EQ(memory_of_pool().used, used + values.size() * sizeof(double));
  }

  TEST_F(memory_of_device, that_an_allocator_refuses_is_an_error)
  {
    expect_refusal([]() -> void* { return nullptr; }, error_kind::out_of_memory, 0, "24 bytes");
    expect_refusal([]() -> void* { throw std::bad_alloc(); }, error_kind::out_of_memory, 0,
                   "bad_alloc");
    expect_refusal([]() -> void* { throw error("lost", error_kind::cuda_failure, 719); },
                   error_kind::cuda_failure, 719, "lost");
    auto const too_much = []() -> void*
    {
      void* memory = nullptr;
      return cudaMalloc(&memory, std::size_t(1) << 50) == cudaSuccess ? memory : nullptr;
    };
    expect_refusal(too_much, error_kind::out_of_memory, 0, "24 bytes");
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the next launch would report it";
    set_device_memory(nullptr);
    EXPECT_EQ(on_host(device_array<double>(values)), values);
  }

  TEST_F(memory_of_device, is_copied_in_the_order_of_its_stream)
  {
    device_array<double> array(values, stream);
    auto const late = [](void*)
    {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    check_cuda(cudaLaunchHostFunc(stream, late, nullptr), "cudaLaunchHostFunc");
    detail::device_clear(array.data(), sizeof(double), stream);
    EXPECT_EQ(on_host(array), (std::vector<double>{0, 2, 3}));
    check_cuda(cudaLaunchHostFunc(stream, late, nullptr), "cudaLaunchHostFunc");
    detail::device_clear(array.data(), 3 * sizeof(double), stream);
    array.copy_from(values);
    EXPECT_EQ(on_host(array), values);
  }

  TEST_F(memory_of_device, is_freed_on_its_device)
  {
    if (gpus().size() < 2) GTEST_SKIP() << "there is one GPU";
    auto const mine = std::make_shared<counting_memory>();
    set_device_memory(mine);
    device_array<double> array(values);
    check_cuda(cudaSetDevice(1), "cudaSetDevice");
    EXPECT_EQ(on_host(device_array<double>(values)), values);
    EXPECT_EQ(mine->n_live(), 1u) << "it was set for device 0";
    array = {};
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    EXPECT_EQ(device, 1);
    EXPECT_EQ(mine->n_live(), 0u);
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
  }
}
