// A tree over ranks that a GPU made is that of threads to the bit.

#include "clouds.hpp"
#include "part_of_a_tree.hpp"
#include "runtime_of_rank.hpp"

#include "tree/periodic_cases.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu_mpi::distributed_tree;

  template <class T, int Dim>
  void expect_same(distributed_tree<T, Dim> const& found, distributed_tree<T, Dim> const& expected)
  {
    EXPECT_TRUE(std::ranges::equal(found.cuts(), expected.cuts()));
    EXPECT_TRUE(std::ranges::equal(found.numbers(), expected.numbers()));
    EXPECT_TRUE(std::ranges::equal(found.source_numbers(), expected.source_numbers()));
    expect_equal_parts(found, expected);
    EXPECT_TRUE(found.way().sent == expected.way().sent);
    EXPECT_TRUE(found.way().received == expected.way().received);
  }

  template <class T, int Dim>
  void expect_same_before_and_after_moves(points<T, Dim> x, owners who,
                                          tree_options<Dim> const& options, std::uint64_t seed)
  {
    auto const rank = static_cast<std::size_t>(rank_of_world());
    auto const here = points_here(x, who, seed);
    distributed_tree<T, Dim> by_threads(MPI_COMM_WORLD, here, options);
    distributed_tree<T, Dim> by_gpu(MPI_COMM_WORLD, here, options,
                                    {.gpu = runtime_of_rank().first_gpu()});
    expect_same(by_gpu, by_threads);
    for (auto& column : x.columns) std::ranges::reverse(column);
    // the second time with new cuts, where several ranks have points
    for (double const seconds : {0., 1. + 2. * static_cast<double>(rank)})
    {
      by_threads.rebuild(here, seconds);
      by_gpu.rebuild(here, seconds);
      expect_same(by_gpu, by_threads);
    }
  }

  template <class T, int Dim>
  void expect_same_of_two_sets(points<T, Dim> x, points<T, Dim> y, owners who,
                               tree_options<Dim> const& options, std::uint64_t seed)
  {
    auto const here = points_here(x, who, seed), sources = points_here(y, owners::random, seed);
    distributed_tree<T, Dim> by_threads(MPI_COMM_WORLD, here, sources, options);
    distributed_tree<T, Dim> by_gpu(MPI_COMM_WORLD, here, sources, options,
                                    {.gpu = runtime_of_rank().first_gpu()});
    expect_same(by_gpu, by_threads);
    for (auto* const set : {&x, &y})
      for (auto& column : set->columns) std::ranges::reverse(column);
    by_threads.rebuild(here, sources);
    by_gpu.rebuild(here, sources);
    expect_same(by_gpu, by_threads);
  }

  TEST(distributed_tree_on_a_gpu, is_that_of_threads)
  {
    if (runtime_of_rank().n_gpus() == 0) GTEST_SKIP() << "no GPU";
    std::uint64_t seed = 0;
    for (owners const who : all_owners)
      for (std::size_t const n : {0, 5, 3000})
      {
        SCOPED_TRACE(testing::Message() << "owners " << static_cast<int>(who) << ", n = " << n);
        ++seed;
        expect_same_before_and_after_moves(make_points<float, 3>(cloud::plummer, n, seed), who,
                                           {.max_leaf_size = 20}, seed);
        expect_same_before_and_after_moves(make_points<double, 2>(cloud::uniform, n, seed), who,
                                           {.level = 3}, seed);
        periodic_case<double, 3> const box(seed, n + 1);
        expect_same_before_and_after_moves(box.x, who, box.options, seed);
        expect_same_of_two_sets(box.x, box.y, who, box.options, seed);
      }
  }

  /// Gives memory `most` times.
  class little_memory final : public device_memory
  {
  public:
    explicit little_memory(int most) : left_(most) { synchronize(nullptr); }

    void* allocate(std::size_t bytes, cuda_stream) override
    {
      bytes = (bytes + 255) / 256 * 256;
      if (left_-- <= 0 || used_ + bytes > all_.size()) return nullptr;
      used_ += bytes;
      return all_.data() + used_ - bytes;
    }
    void deallocate(void*, std::size_t, cuda_stream) noexcept override {}
    [[nodiscard]] bool has_refused() const { return left_ < 0; }

  private:
    device_array<char> all_{std::size_t(1) << 24};
    std::size_t used_ = 0;
    int left_;
  };

  TEST(distributed_tree_on_a_gpu, is_made_by_threads_wherever_memory_runs_out)
  {
    // an allocator is for the current device, which StarPU makes another one if it has several
    if (runtime_of_rank().n_gpus() != 1) GTEST_SKIP() << "no GPU, or several";
    int refused = 1, most = 0;
    for (; refused > 0; ++most)
    {
      SCOPED_TRACE(testing::Message() << "memory for " << most);
      auto const memory = std::make_shared<little_memory>(most);
      set_device_memory(memory);
      auto const x = make_points<double, 3>(cloud::uniform, 900, 1);
      expect_same_before_and_after_moves(x, owners::even, {.max_leaf_size = 20}, 1);
      expect_same_of_two_sets(x, make_points<double, 3>(cloud::plummer, 700, 2), owners::even,
                              {.max_leaf_size = 20}, 1);
      set_device_memory(nullptr);
      refused = memory->has_refused();
      MPI_Allreduce(MPI_IN_PLACE, &refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      ASSERT_LT(most, 1000);
    }
    EXPECT_GT(most, 20); // so many allocations were refused once
  }
}
