// Tasks of a list of pairs that fail: their workers get no memory.

#include "complains_of.hpp"
#include "little_space.hpp"
#include "pair_slab_checks.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace
{
  /// Whether workers of StarPU get arrays from `new`, which a search takes for its scratch.
  std::atomic<bool> workers_get_memory = true;
}

void* operator new[](std::size_t bytes)
{
  if (!workers_get_memory && starpu_worker_get_id() >= 0) throw std::bad_alloc();
  void* const memory = std::malloc(std::max<std::size_t>(1, bytes));
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete[](void* memory) noexcept
{
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept
{
  std::free(memory);
}

namespace nearfield::test
{
  namespace
  {
    /// As long as it lives no task can search.
    struct no_memory
    {
      no_memory() { workers_get_memory = false; }
      ~no_memory() { workers_get_memory = true; }
      no_memory(no_memory const&) = delete;
      no_memory& operator=(no_memory const&) = delete;
    };

    class starpu_pair_slabs_that_fail : public ::testing::Test
    {
    protected:
      points<double, 3> const x_ = make_points<double, 3>(cloud::uniform, 2000);
      cell_list<double, 3> const cells_{x_.view(), 0.1};
      column_handles<double, 3> const columns_{x_};
      pair_slabs<double, 3> list_{one_runtime(), columns_.view(), 0.1, {.slabs = 5}};

      void SetUp() override
      {
        ASSERT_GT(list_.size(), 3u);
        // memory that is used again has something in it
        expect_lists(list_, cells_, pairs::half);
      }
      /// Every call throws until the next count, which makes the list good again.
      void expect_to_count_again()
      {
        EXPECT_THAT([&] { list_.wait(); }, complains_of("has failed", "recount()"));
        EXPECT_THAT([&] { static_cast<void>(list_.n_pairs()); }, complains_of("recount()"));
        EXPECT_THAT([&] { list_.fill(); }, complains_of("recount()"));
        coo<double, 3> pairs_found;
        EXPECT_THAT([&] { list_.to_host(pairs_found); }, complains_of("recount()"));
        list_.recount();
        expect_lists(list_, cells_, pairs::half);
      }
    };
  }

  TEST_F(starpu_pair_slabs_that_fail, to_count_have_no_pairs)
  {
    {
      no_memory const now;
      list_.recount();
      EXPECT_THROW(list_.wait(), std::bad_alloc);
    }
    for (std::size_t s = 0; s < list_.size(); ++s)
      EXPECT_THAT(values_of<std::uint64_t>(list_.offsets(s)), testing::Each(0));
    expect_to_count_again();
  }

  TEST_F(starpu_pair_slabs_that_fail, to_fill_leave_zeros)
  {
    list_.recount();
    ASSERT_GT(list_.n_pairs(), 0u);
    {
      no_memory const now;
      // fill() itself says so where a task has failed before the last one is submitted
      EXPECT_THROW((list_.fill(), list_.wait()), std::bad_alloc);
      starpu_task_wait_for_all();
    }
    ASSERT_NE(list_.i(0), nullptr);
    for (std::size_t s = 0; s < list_.size(); ++s)
      for (starpu_data_handle_t const data : {list_.i(s), list_.j(s)})
        if (data)
        {
          EXPECT_THAT(values_of<index_type>(data), testing::Each(0));
        }
    expect_to_count_again();
  }

  // StarPU aborts if its workers find no address space.
  TEST_F(starpu_pair_slabs_that_fail, without_address_space_are_refused_before_they_are_submitted)
  {
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    auto const refused = testing::HasSubstr("MiB of address space is left");
    EXPECT_THAT(message_in_little_space([&] { list_.recount(); }), refused);
    expect_to_count_again();
    list_.recount();
    ASSERT_GT(list_.n_pairs(), 0u); // no task runs below
    EXPECT_THAT(message_in_little_space([&] { list_.fill(); }), refused);
    expect_to_count_again();
  }

  TEST_F(starpu_pair_slabs_that_fail, say_so_without_any_slab)
  {
    if (address_space_in_use() >> 40) GTEST_SKIP() << "a sanitizer's address space";
    points<double, 3> const none;
    column_handles<double, 3> const columns(none);
    pair_slabs<double, 3> list(one_runtime(), columns.view(), 0.1);
    EXPECT_EQ(list.n_pairs(), 0u);
    EXPECT_THAT(message_in_little_space([&] { list.recount(); }),
                testing::HasSubstr("MiB of address space is left"));
    EXPECT_THAT([&] { static_cast<void>(list.n_pairs()); }, complains_of("recount()"));
    list.recount();
    EXPECT_EQ(list.n_pairs(), 0u);
  }

  TEST_F(starpu_pair_slabs_that_fail, say_so_when_they_are_counted_again_unasked)
  {
    {
      no_memory const now;
      list_.recount();
      starpu_task_wait_for_all();
    }
    EXPECT_THROW(list_.recount(), std::bad_alloc);
    expect_to_count_again();
  }
}
