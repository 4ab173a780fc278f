#include <nearfield/tree/build_tree.hpp>

#include "periodic_cases.hpp"
#include "same_tree.hpp"
#include "tree_cases.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Runs the last part first, on this thread.
    class backwards : public executor
    {
    public:
      explicit backwards(int workers) : workers_(workers) {}
      [[nodiscard]] int workers() const override { return workers_; }
      void run(int n, std::function<void(int)> const& f) override
      {
        ++loops;
        for (int p = n; p-- > 0;)
        {
          if (loops == failing_loop && p == n / 2) throw std::bad_alloc();
          f(p);
        }
      }

      int loops = 0;
      int failing_loop = -1;

    private:
      int workers_;
    };

    /// A thread for each part.
    class threads : public executor
    {
    public:
      explicit threads(int workers) : workers_(workers) {}
      [[nodiscard]] int workers() const override { return workers_; }
      void run(int n, std::function<void(int)> const& f) override
      {
        std::exception_ptr first;
        std::mutex mutex;
        std::vector<std::thread> running;
        for (int p = 0; p < n; ++p)
          running.emplace_back(
              [&, p]
              {
                try
                {
                  f(p);
                }
                catch (...)
                {
                  std::lock_guard const lock(mutex);
                  first = std::current_exception();
                }
              });
        for (std::thread& thread : running) thread.join();
        if (first) std::rethrow_exception(first);
      }

    private:
      int workers_;
    };

    /// The ways to cut, also of a root so large that all points have the same first digits.
    template <int Dim>
    std::vector<tree_options<Dim>> ways_to_cut()
    {
      cube<Dim> large;
      large.half_width = 1000;
      return {{.max_leaf_size = 8},
              {.max_leaf_size = 30, .root = large},
              {.level = 4},
              {.level = 3, .order = leaf_order::morton},
              {.level = max_level<Dim>}};
    }
  }

  template <class Coordinates>
  struct on_executor : ::testing::Test
  {};
  TYPED_TEST_SUITE(on_executor, all_coordinates, coordinate_names);

  TYPED_TEST(on_executor, trees_are_those_of_one_thread)
  {
    using real = typename TypeParam::real;
    auto const sources = make_points<real, TypeParam::dim>(cloud::uniform, 9'000, 3);
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::coincident})
    {
      auto const points = make_points<real, TypeParam::dim>(shape, 20'000);
      for (auto const& options : ways_to_cut<TypeParam::dim>())
      {
        SCOPED_TRACE(name_of(shape) + std::string(", level ") +
                     std::to_string(options.level.value_or(-1)));
        auto const one = build_tree(points.view(), options);
        auto const two = build_tree(points.view(), sources.view(), options);
        for (int const workers : {1, 2, 3, 7})
        {
          backwards on(workers);
          expect_same_tree(build_tree(simd.with(on), points.view(), options), one);
          expect_same_tree(build_tree(simd.with(on), points.view(), sources.view(), options), two);
          if (workers > 1)
          {
            EXPECT_GT(on.loops, 6) << "it did the work";
          }
        }
        threads on(3);
        expect_same_tree(build_tree(simd.with(on), points.view(), options), one);
        expect_same_tree(build_tree(simd.with(on), points.view(), sources.view(), options), two);
        if (this->HasFatalFailure()) return;
      }
    }
  }

  TYPED_TEST(on_executor, trees_with_gaps_are_those_of_one_thread)
  {
    using real = typename TypeParam::real;
    auto x = make_points<real, TypeParam::dim>(cloud::uniform, 20'000);
    auto const y = make_points<real, TypeParam::dim>(cloud::uniform, 9'000, 3);
    for (auto& column : x.columns) column[5] = real(1e13);
    tree_options<TypeParam::dim> const options{.max_leaf_size = 20};
    auto const of_one = build_tree(x.view(), options);
    EXPECT_FALSE(of_one.pieces(0).empty());
    threads on(3);
    expect_same_tree(build_tree(simd.with(on), x.view(), options), of_one);
    expect_same_tree(build_tree(simd.with(on), x.view(), y.view(), options),
                     build_tree(x.view(), y.view(), options));
  }

  TYPED_TEST(on_executor, periodic_trees_are_those_of_one_thread)
  {
    constexpr int dim = TypeParam::dim;
    for (auto options : ways_to_cut<dim>())
    {
      options.period.fill(3);
      options.period[1] = 0;
      auto const points = wrapped(
          make_points<typename TypeParam::real, dim>(cloud::plummer, 20'000), options.period);
      backwards on(3);
      expect_same_tree(build_tree(simd.with(on), points.view(), options),
                       build_tree(points.view(), options));
    }
  }

  // So that ranges of keys have several pieces, one of them with equal keys alone.
  TYPED_TEST(on_executor, trees_of_many_workers_are_those_of_one_thread)
  {
    using real = typename TypeParam::real;
    auto points = make_points<real, TypeParam::dim>(cloud::uniform, 100'000);
    for (auto& column : points.columns)
      for (std::size_t i = 0; i < points.size(); i += 3) column[i] = column[0];
    for (auto const& options : ways_to_cut<TypeParam::dim>())
    {
      backwards on(64);
      expect_same_tree(build_tree(simd.with(on), points.view(), options),
                       build_tree(points.view(), options));
    }
  }

  // Two rows next to each other, which parts begin in the middle of.
  TYPED_TEST(on_executor, a_row_of_boxes_may_have_several_parts)
  {
    using real = typename TypeParam::real;
    auto points = make_points<real, TypeParam::dim>(cloud::uniform, 20'000);
    for (std::size_t i = 0; i < points.size(); ++i)
      for (int d = 0; d + 1 < TypeParam::dim; ++d)
        points.columns[d][i] = static_cast<real>(d == 0 && i % 2 == 0 ? 0.5001 : 0.4999);
    cube<TypeParam::dim> root{.half_width = 0.5};
    root.centre.fill(0.5);
    tree_options<TypeParam::dim> const options{.level = 12, .root = root};
    auto const one = build_tree(points.view(), options);
    ASSERT_GT(one.size(), 5000);
    backwards on(7);
    expect_same_tree(build_tree(simd.with(on), points.view(), options), one);
  }

  TYPED_TEST(on_executor, what_a_part_throws_comes_out)
  {
    auto const points =
        make_points<typename TypeParam::real, TypeParam::dim>(cloud::plummer, 9'000);
    for (auto const& options : ways_to_cut<TypeParam::dim>())
    {
      backwards all(4);
      (void)build_tree(simd.with(all), points.view(), options);
      for (int loop = 1; loop <= all.loops; ++loop)
      {
        backwards on(4);
        on.failing_loop = loop;
        EXPECT_THROW((void)build_tree(simd.with(on), points.view(), options), std::bad_alloc);
        EXPECT_EQ(on.loops, loop) << "nothing follows";
      }
    }
  }

  TYPED_TEST(on_executor, errors_name_the_first_bad_point)
  {
    using real = typename TypeParam::real;
    auto points = make_points<real, TypeParam::dim>(cloud::uniform, 9'000);
    backwards on(4);
    EXPECT_THAT([&] { (void)build_tree(simd.with(on), points.view(), {.level = -1}); },
                ::testing::ThrowsMessage<error>(::testing::HasSubstr("level is -1")));
    cube<TypeParam::dim> root;
    root.half_width = 0.75;
    EXPECT_THAT([&] { (void)build_tree(simd.with(on), points.view(), {.root = root}); },
                ::testing::ThrowsMessage<error>(::testing::HasSubstr("lies outside the root")));
    for (std::size_t const i : {8'500, 300})
    {
      points.columns[1][i] = std::numeric_limits<real>::quiet_NaN();
      EXPECT_THAT([&] { (void)build_tree(simd.with(on), points.view()); },
                  ::testing::ThrowsMessage<error>(
                      ::testing::HasSubstr("point " + std::to_string(i) + " of points")));
    }
  }

  template <class T, int Dim>
  void expect_same_cells(cell_list<T, Dim> const& a, cell_list<T, Dim> const& b)
  {
    EXPECT_TRUE(std::ranges::equal(a.targets().offsets, b.targets().offsets));
    EXPECT_TRUE(std::ranges::equal(a.sources().offsets, b.sources().offsets));
    EXPECT_TRUE(std::ranges::equal(a.target_order(), b.target_order()));
    EXPECT_TRUE(std::ranges::equal(a.source_order(), b.source_order()));
    for (int d = 0; d < Dim; ++d)
    {
      EXPECT_TRUE(std::equal(a.target_positions()[d],
                             a.target_positions()[d] + a.target_order().size(),
                             b.target_positions()[d]));
      EXPECT_TRUE(std::equal(a.source_positions()[d],
                             a.source_positions()[d] + a.source_order().size(),
                             b.source_positions()[d]));
    }
    expect_same_list(a.view().full, b.view().full);
    expect_same_list(a.view().half, b.view().half);
  }

  // With many cells for each point, with few, and with gaps.
  TYPED_TEST(on_executor, cell_lists_are_those_of_one_thread)
  {
    using real = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<real, dim>(cloud::uniform, 20'000);
    auto const y = make_points<real, dim>(cloud::uniform, 9'000, 3);
    auto stray = x;
    for (auto& column : stray.columns) column[5] = real(1e6);
    for (double const cutoff : {0.03, 0.001})
      for (int const workers : {2, 7})
      {
        SCOPED_TRACE(cutoff);
        backwards on(workers);
        cell_list cells(simd.with(on), x.view(), cutoff);
        EXPECT_GT(on.loops, 5) << "it did the work";
        expect_same_cells(cells, cell_list(x.view(), cutoff));
        expect_same_cells(cell_list(simd.with(on), x.view(), y.view(), cutoff),
                          cell_list(x.view(), y.view(), cutoff));
        // in the memory of others
        cells.rebuild(stray.view());
        expect_same_cells(cells, cell_list(stray.view(), cutoff));
        cells.rebuild(y.view(), x.view(), 2 * cutoff);
        expect_same_cells(cells, cell_list(y.view(), x.view(), 2 * cutoff));
        cells.rebuild(y.view(), cutoff);
        expect_same_cells(cells, cell_list(y.view(), cutoff));
      }
  }

  TYPED_TEST(on_executor, cell_lists_name_the_first_bad_point)
  {
    using real = typename TypeParam::real;
    auto points = make_points<real, TypeParam::dim>(cloud::uniform, 9'000);
    backwards on(4);
    cell_list cells(simd.with(on), points.view(), 0.1);
    for (std::size_t const i : {8'500, 300})
    {
      points.columns[1][i] = std::numeric_limits<real>::quiet_NaN();
      EXPECT_THAT([&] { cells.rebuild(points.view()); },
                  ::testing::ThrowsMessage<error>(
                      ::testing::HasSubstr("coordinate 1 of point " + std::to_string(i))));
    }
  }
}
