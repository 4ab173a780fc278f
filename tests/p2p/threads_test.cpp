#include <nearfield/p2p/near_field.hpp>

#include "backwards.hpp"
#include "complains_of.hpp"
#include "p2p/p2p_cases.hpp"
#include "points.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

// Large boxes and mutual near fields on threads, beside one thread.

namespace nearfield::test
{
  namespace
  {
    template <class T>
    using columns = std::vector<std::vector<T>>;

    template <class T>
    void expect_near(columns<T> const& found, columns<T> const& expected)
    {
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t c = 0; c < found.size(); ++c)
      {
        double error = 0, largest = 0;
        for (std::size_t i = 0; i < found[c].size(); ++i)
        {
          error = std::max(error, std::abs(double(found[c][i]) - double(expected[c][i])));
          largest = std::max(largest, std::abs(double(expected[c][i])));
        }
        EXPECT_LE(error, tolerance<T> * largest) << "column " << c;
      }
    }

    /// sums(where) on any number of threads: `same_bits` as on one, or the same for any number and close to those.
    template <class T>
    void expect_on_threads(bool same_bits, auto const& sums)
    {
      columns<T> const expected = sums(simd);
      backwards one(1), seven(7);
      threads two(2);
      columns<T> const on_one = sums(simd.with(one));
      EXPECT_EQ(sums(simd.with(seven)), on_one);
      EXPECT_GT(seven.most_parts, 1);
      EXPECT_EQ(sums(simd.with(two)), on_one);
      if (same_bits)
        EXPECT_EQ(on_one, expected);
      else
        expect_near(on_one, expected);
    }

    /// Two right-hand sides of a gradient.
    using K = grad_one_over_r<3>;
    constexpr int n_in = 2 * K::n_in, n_out = 2 * K::n_out;

    template <class T>
    struct box
    {
      explicit box(std::size_t n, std::uint64_t seed)
          : x(some_points<T, 3>(cloud::uniform, n, seed)), q(some_values<T, n_in>(n, seed))
      {
        // a pair at distance zero, in different parts
        for (int d = 0; d < 3; ++d) x.column(d)[n - 1] = x.column(d)[0];
      }
      guarded<T, 3> x;
      guarded<T, n_in> q;
    };

    /// Calls f with a view of outputs that it adds to, in columns or interleaved, and returns them in columns.
    template <class T>
    columns<T> added(std::size_t n, bool is_interleaved, auto const& f)
    {
      std::vector<T> values(n * n_out, T(3));
      columns<T> sums(n_out, std::vector<T>(n, T(3)));
      std::vector<T*> pointers;
      for (auto& column : sums) pointers.push_back(column.data());
      if (!is_interleaved)
        f(strided<T, run_time_columns>(soa<T, run_time_columns>(pointers, n), 1));
      else
      {
        for (int c = 0; c < n_out; ++c) pointers[unsigned(c)] = values.data() + c;
        f(strided<T, run_time_columns>(soa<T, run_time_columns>(pointers, n), n_out));
        for (std::size_t c = 0; c < n_out; ++c)
          for (std::size_t i = 0; i < n; ++i) sums[c][i] = values[i * n_out + c];
      }
      return sums;
    }

    template <class T>
    class on_threads_of : public ::testing::Test
    {};
    using both_precisions = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(on_threads_of, both_precisions);
  }

  TYPED_TEST(on_threads_of, a_large_box_has_the_bits_of_one_thread)
  {
    using T = TypeParam;
    box<T> const points(3001, 1), sources(2100, 2);
    for (bool const is_interleaved : {false, true})
    {
      expect_on_threads<T>(true,
                           [&](auto const& where)
                           {
                             return added<T>(
                                 points.x.size(), is_interleaved, [&](auto const& out)
                                 { p2p_inner(where, K(), points.x.view(), points.q.view(), out); });
                           });
      expect_on_threads<T>(true,
                           [&](auto const& where)
                           {
                             return added<T>(points.x.size(), is_interleaved,
                                             [&](auto const& out)
                                             {
                                               p2p_outer(where, K(), points.x.view(),
                                                         sources.x.view(), sources.q.view(), out);
                                             });
                           });
    }
  }

  TYPED_TEST(on_threads_of, a_large_box_in_the_mutual_form)
  {
    using T = TypeParam;
    box<T> const points(4300, 1), sources(2100, 2); // 8 blocks
    for (bool const is_interleaved : {false, true})
    {
      expect_on_threads<T>(
          false,
          [&](auto const& where)
          {
            return added<T>(
                points.x.size(), is_interleaved, [&](auto const& out)
                { p2p_inner_mutual(where, K(), points.x.view(), points.q.view(), out); });
          });
      expect_on_threads<T>(false,
                           [&](auto const& where)
                           {
                             columns<T> of_sources;
                             columns<T> all =
                                 added<T>(points.x.size(), is_interleaved,
                                          [&](auto const& out)
                                          {
                                            of_sources =
                                                added<T>(sources.x.size(), !is_interleaved,
                                                         [&](auto const& source_out)
                                                         {
                                                           p2p_outer_mutual(
                                                               where, K(), points.x.view(),
                                                               sources.x.view(), points.q.view(),
                                                               sources.q.view(), out, source_out);
                                                         });
                                          });
                             all.insert(all.end(), of_sources.begin(), of_sources.end());
                             return all;
                           });
    }
  }

  TEST(on_threads, small_boxes_stay_on_the_calling_one)
  {
    box<double> const points(200, 1);
    backwards on(4);
    auto const sums = [&](auto const& where)
    {
      return added<double>(200, false,
                           [&](auto const& out)
                           {
                             p2p_inner(where, K(), points.x.view(), points.q.view(), out);
                             p2p_inner_mutual(where, K(), points.x.view(), points.q.view(), out);
                           });
    };
    EXPECT_EQ(sums(simd.with(on)), sums(simd));
    EXPECT_LE(on.most_parts, 1);
    p2p_inner(simd.with(on), K(), soa<double const, 3>(), soa<double const, n_in>(),
              soa<double, n_out>());
  }

  TYPED_TEST(on_threads_of, a_mutual_near_field)
  {
    using T = TypeParam;
    std::size_t const n = 10'000;
    auto const x = make_points<T, 3>(cloud::plummer, n);
    auto const q = some_values<T, n_in>(n);
    auto const in_box = make_points<T, 3>(cloud::uniform, n);
    auto const open = build_tree(x.view(), {.max_leaf_size = 40});
    auto const periodic = build_tree(in_box.view(), {.max_leaf_size = 40, .period = {1, 1, 1}});
    cell_list<T, 3> const cells(in_box.view(), 0.2);
    auto const expect = [&](auto const& leaves, auto const& points)
    {
      for (bool const is_interleaved : {false, true})
        for (bool const accumulate : {false, true})
        {
          SCOPED_TRACE(testing::Message()
                       << "interleaved " << is_interleaved << ", accumulates " << accumulate);
          expect_on_threads<T>(
              false,
              [&](auto const& where)
              {
                return added<T>(n, is_interleaved,
                                [&](auto const& out)
                                {
                                  near_field(where, K(), leaves, points.view(), q.view(), out,
                                             {.accumulate = accumulate, .form = pair_form::mutual});
                                });
              });
        }
    };
    expect(open, x);
    expect(periodic, in_box);
    expect(cells, in_box);
  }

  TEST(on_threads, an_executor_of_any_number_of_workers)
  {
    box<double> const points(3001, 1);
    auto const tree = build_tree(points.x.view(), {.max_leaf_size = 60});
    auto const sums = [&](auto const& where)
    {
      return added<double>(points.x.size(), false,
                           [&](auto const& out)
                           {
                             near_field(where, K(), tree, points.x.view(), points.q.view(), out);
                             p2p_inner(where, K(), points.x.view(), points.q.view(), out);
                           });
    };
    auto const expected = sums(simd);
    for (int const workers : {-1, 0, std::numeric_limits<int>::max()})
    {
      backwards on(workers);
      EXPECT_EQ(sums(simd.with(on)), expected) << workers;
    }
  }

  TEST(on_threads, a_mutual_near_field_of_boxes_of_the_caller)
  {
    std::size_t const n = 10'000;
    auto const points = make_points<double, 3>(cloud::uniform, n);
    auto const tree = build_tree(points.view(), {.max_leaf_size = 60});
    auto const x = gather(tree.target_order(), points.view());
    auto const q = some_values<double, n_in>(n);
    for (bool const is_interleaved : {false, true})
      expect_on_threads<double>(
          false,
          [&](auto const& where)
          {
            return added<double>(n, is_interleaved,
                                 [&](auto const& out)
                                 {
                                   near_field(where, K(), tree.targets(), tree.half_interactions(),
                                              x.view(), q.view(), out, {.form = pair_form::mutual});
                                 });
          });
  }

  TEST(on_threads, the_first_of_several_errors)
  {
    constexpr index_type n = 50'000; // boxes of one point, each with the next as neighbour
    std::vector<index_type> offsets(n + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
    std::vector<interaction_list::range> own(n), ranges(n);
    for (index_type b = 0; b < n; ++b)
    {
      own[b] = {b, b + 1};
      ranges[b] = {std::min(b + 1, n - 1), b + 1 < n ? b + 2 : n - 1};
    }
    std::vector<double> const x(3 * n), q(n);
    std::vector<double> out(n);
    backwards on(4);
    auto const run = [&](auto const& where)
    {
      near_field(where, one_over_r<>(), boxes{offsets}, interaction_list{own, offsets, ranges, {}},
                 interleaved<3>(x), soa{q}, soa{out}, {.form = pair_form::mutual});
    };
    EXPECT_NO_THROW(run(simd.with(on)));
    auto const expect = [&](auto& values, auto const& bad, auto const& later, char const* words)
    {
      auto const good = values;
      values[20'000] = bad;
      values[40'000] = later;
      EXPECT_THAT([&] { run(simd); }, complains_of(words));
      EXPECT_THAT([&] { run(simd.with(on)); }, complains_of(words));
      values = good;
    };
    expect(offsets, index_type(7), index_type(7), "offsets of box 19999 descend");
    expect(ranges, interaction_list::range{5, 4}, interaction_list::range{6, 4}, "a range [5, 4)");
    expect(own, interaction_list::range{5, 6}, interaction_list::range{5, 6}, "box 20000 holds");
    expect(ranges, interaction_list::range{5, 6}, interaction_list::range{5, 6}, "box 20000 meets");
  }
}
