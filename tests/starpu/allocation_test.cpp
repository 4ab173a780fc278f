// Memory that tasks take, and tasks that get none.

#include "little_space.hpp"
#include "own_graph.hpp"
#include "runtime/src/environment.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/starpu/p2p.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace
{
  std::atomic<bool> workers_get_memory = true;
  thread_local int n_allocations = 0;
}

void* operator new(std::size_t bytes)
{
  ++n_allocations;
  if (!workers_get_memory && starpu_worker_get_id() >= 0) throw std::bad_alloc();
  void* const memory = std::malloc(std::max<std::size_t>(1, bytes));
  if (!memory) throw std::bad_alloc();
  return memory;
}
// AddressSanitizer has one of its own, whose memory operator delete could not free.
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept
{
  return std::malloc(std::max<std::size_t>(1, bytes));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept
{
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept
{
  std::free(memory);
}

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  TEST(starpu_allocation, that_fails_in_a_task_reaches_wait)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 500);
    auto const q = make_values<double>(500);
    std::vector<double> out(500);
    tree const leaves = build_tree(x.view(), {.max_leaf_size = 20});
    auto const groups = group_leaves(leaves, {.leaves_per_group = 5});
    for (auto const form : {pair_form::one_sided, pair_form::mutual})
    {
      starpu::near_field step{one_runtime(), one_over_r<>{}, groups,        x.view(),
                              soa{q},        soa{out},       {.form = form}};
      workers_get_memory = false;
      step.submit();
      EXPECT_THROW(step.wait(), std::bad_alloc);
      workers_get_memory = true;
      step.submit();
      EXPECT_NO_THROW(step.wait());
      EXPECT_LE(error_of(soa{out}, reference_near_field(one_over_r<>{}, leaves, x, x,
                                                        soa<double const, 1>(soa{q}))),
                tolerance<double>);
    }
  }

  // StarPU aborts if its workers find none.
  TEST(starpu_allocation, without_address_space_is_refused_before_the_first_task)
  {
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    auto const x = make_points<double, 3>(cloud::plummer, 500);
    auto const q = make_values<double>(500);
    std::vector<double> out(500);
    tree const leaves = build_tree(x.view(), {.max_leaf_size = 20});
    auto const groups = group_leaves(leaves, {.leaves_per_group = 5});
    starpu::near_field step{one_runtime(), one_over_r<>{}, groups, x.view(), soa{q}, soa{out}};
    EXPECT_THAT(message_in_little_space([&] { step.submit(); }),
                testing::HasSubstr("MiB of address space is left"));
    starpu::cpu_workers workers(one_runtime());
    EXPECT_THAT(message_in_little_space([&] { workers.run(2, [](int) {}); }),
                testing::HasSubstr("MiB of address space is left"));
    step.submit();
    step.wait();
    EXPECT_LE(error_of(soa{out}, reference_near_field(one_over_r<>{}, leaves, x, x,
                                                      soa<double const, 1>(soa{q}))),
              tolerance<double>);
  }

  TEST(starpu_allocation, of_address_space_counts_tasks)
  {
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    using starpu::detail::check_address_space;
    EXPECT_THAT(message_in_little_space([] { check_address_space(4, 1'000'000); }),
                testing::HasSubstr("less than 7817 MiB")); // 8 KiB a task
    EXPECT_THAT(message_in_little_space([] { check_address_space(4, 0); }),
                testing::HasSubstr("less than 4 MiB"));
  }

  TEST(starpu_allocation, for_a_handle_that_fails_is_an_error_that_says_so)
  {
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    one_runtime();
    error_kind kind{};
    auto const make = [&]
    {
      try
      {
        starpu::handle::of_size<double>(std::size_t(1) << 28);
      }
      catch (error const& failure)
      {
        kind = failure.kind();
        throw;
      }
    };
    EXPECT_THAT(message_in_little_space(make),
                testing::HasSubstr("handle: no memory for 268435456 values of 8 bytes"));
    EXPECT_EQ(kind, error_kind::out_of_memory);
  }

  TEST(starpu_allocation, is_not_done_for_each_inserted_task)
  {
    using K = val_grad_one_over_r<3>;
    own_columns<K, double> a(20), b(20);
    starpu::p2p<K, double> p2p;
    p2p.insert_outer_mutual(a.box(), b.box());
    n_allocations = 0;
    constexpr int n_tasks = 10;
    for (int task = 0; task < n_tasks; ++task) p2p.insert_outer_mutual(a.box(), b.box());
    EXPECT_EQ(n_allocations, 0);
    p2p.wait();
  }
}
