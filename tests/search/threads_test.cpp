#include <nearfield/search/radius_search.hpp>

#include "backwards.hpp"
#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    // The search on one thread is tested against the definition; here several are tested against its scalar form.

    template <class T>
    class search_on_threads : public ::testing::Test
    {};
    using reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(search_on_threads, reals);

    /// A slab for every box, some, one for all, and what is chosen.
    std::vector<std::uint64_t> const slab_sizes = {1, 1000, no_limit, 0};

    void expect_equal(auto const& found, auto const& expected, std::string const& what)
    {
      ASSERT_EQ(found.size(), expected.size()) << what;
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << what;
    }

    template <class T, int Dim>
    void expect_equal_geometry(nearfield::detail::pair_geometry<T, Dim> const& found,
                               nearfield::detail::pair_geometry<T, Dim> const& expected,
                               std::string const& what)
    {
      expect_equal(found.r2, expected.r2, what + ", r2");
      for (int a = 0; a < Dim; ++a)
      {
        expect_equal(found.displacements[a], expected.displacements[a], what + ", displacements");
        expect_equal(found.images[a], expected.images[a], what + ", images");
      }
      expect_equal(found.packed_images, expected.packed_images, what + ", packed images");
    }

    /// All outputs of one cell list and one size of slabs.
    template <class T, int Dim>
    void check_outputs(cell_list<T, Dim> const& cells, pairs which, isa where, std::uint64_t size)
    {
      threads on(4);
      auto const view = cells.view();
      auto const slabs =
          size > 0 ? nearfield::detail::cut_slabs(
                         nearfield::detail::candidates_before_boxes(on, view, which), size)
                   : nearfield::detail::slabs_for(on, view, which);
      auto const found_in_slabs = [&](auto const& what)
      {
        decltype(radius_search(scalar, cells, what)) found;
        nearfield::detail::slab_search<T, Dim>(on, where, view, which, slabs).write(what, found);
        return found;
      };
      auto const same = [&](auto const& what, auto const& compare)
      {
        compare(found_in_slabs(what), radius_search(scalar, cells, what));
      };
      same(count_pairs{which, true},
           [](pair_counts const& found, pair_counts const& expected)
           {
             EXPECT_EQ(found.total, expected.total);
             expect_equal(found.per_point, expected.per_point, "counts");
           });
      for (bool const sorted : {false, true})
        for (bool const geometry : {false, true})
        {
          image_columns const images = !geometry ? image_columns::none
                                       : sorted  ? image_columns::packed
                                                 : image_columns::counters;
          same(to_coo{which, sorted, geometry, geometry, images},
               [](auto const& found, auto const& expected)
               {
                 expect_equal(found.i, expected.i, "COO i");
                 expect_equal(found.j, expected.j, "COO j");
                 expect_equal_geometry(found, expected, "COO");
               });
          same(to_csr{which, sorted, geometry, geometry, images},
               [](auto const& found, auto const& expected)
               {
                 expect_equal(found.offsets, expected.offsets, "CSR offsets");
                 expect_equal(found.columns, expected.columns, "CSR columns");
                 expect_equal_geometry(found, expected, "CSR");
               });
        }
      same(to_table{which, 4},
           [](neighbour_table const& found, neighbour_table const& expected)
           {
             EXPECT_EQ(found.overflow, expected.overflow);
             expect_equal(found.counts, expected.counts, "table");
             for (std::size_t i = 0; i < expected.size(); ++i)
               expect_equal(found.row(i), expected.row(i), "row " + std::to_string(i));
           });
      // a limit that the candidates pass and the pairs do not: counted first
      auto const expected = radius_search(scalar, cells, to_coo{.which = which, .distances = true});
      to_coo const tight{.which = which,
                         .distances = true,
                         .max_bytes = expected.size() * (2 * sizeof(index_type) + sizeof(T))};
      auto const found = found_in_slabs(tight);
      expect_equal(found.i, expected.i, "tight i");
      expect_equal(found.j, expected.j, "tight j");
      expect_equal(found.r2, expected.r2, "tight r2");
    }

    /// A sum that shows the order of its terms, and of its parts.
    template <class T, int Dim>
    void check_reduce(cell_list<T, Dim> const& cells, pairs which, auto where)
    {
      for (int const parts : {1, 7, 64})
      {
        reduce const what{std::vector<double>{0, 0},
                          [](std::vector<double>& sum, index_type i, index_type j, T r2)
                          {
                            sum[0] += 1 / (static_cast<double>(r2) + 1e-3);
                            sum[1] = 0.5 * sum[1] + i + 2. * j;
                          },
                          [](std::vector<double>& sum, std::vector<double> const& part)
                          {
                            sum[0] += part[0];
                            sum[1] = 0.25 * sum[1] + part[1];
                          },
                          which, parts};
        auto const serial = radius_search(scalar, cells, what);
        threads on(4);
        EXPECT_EQ(radius_search(where.with(on), cells, what), serial) << parts;
        if (parts > 1) continue;
        // one part with all that is to be summed
        std::vector<double> visited{0, 0};
        radius_search(
            scalar, cells,
            visit{[&](index_type i, index_type j, T r2) { what.f(visited, i, j, r2); }, which});
        EXPECT_EQ(serial[0], visited[0]);
      }
    }

    /// Rows come to the places of their points from all threads.
    template <class T, int Dim>
    void check_visit_rows(cell_list<T, Dim> const& cells, pairs which, auto where)
    {
      auto const sums_by = [&](auto const& search)
      {
        std::vector<double> sums(cells.target_order().size(), -1);
        search(visit_rows{[&](detail::neighbour_row<T, Dim> const& row)
                          {
                            double sum = 0;
                            for (std::size_t k = 0; k < row.j.size(); ++k)
                              sum = 0.5 * sum + row.j[k] + static_cast<double>(row.d[0][k]);
                            sums[row.i] = sum;
                          },
                          which, true});
        return sums;
      };
      auto const serial = sums_by([&](auto const& what) { radius_search(scalar, cells, what); });
      threads on(4);
      EXPECT_EQ(sums_by([&](auto const& what) { radius_search(where.with(on), cells, what); }),
                serial);
    }

    template <class T, int Dim, class Where = simd_backend>
    void check_all(cell_list<T, Dim> const& cells, bool one_set = true, Where where = {})
    {
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !one_set) continue;
        SCOPED_TRACE(which == pairs::half ? "half" : "full");
        for (std::uint64_t const size : slab_sizes)
        {
          SCOPED_TRACE("slabs of " + std::to_string(size));
          check_outputs(cells, which, nearfield::detail::isa_of(where), size);
        }
        check_reduce(cells, which, where);
        check_visit_rows(cells, which, where);
      }
    }
  }

  TYPED_TEST(search_on_threads, gives_what_one_thread_gives)
  {
    using T = TypeParam;
    for (cloud const shape : {cloud::uniform, cloud::coincident})
    {
      SCOPED_TRACE(name_of(shape));
      auto const points = make_points<T, 2>(shape, 400);
      check_all(cell_list<T, 2>(points.view(), 0.08));
    }
    for (cloud const shape : {cloud::uniform, cloud::plummer})
    {
      SCOPED_TRACE(name_of(shape));
      auto const points = make_points<T, 3>(shape, 400);
      check_all(cell_list<T, 3>(points.view(), 0.2));
    }
  }

  TYPED_TEST(search_on_threads, takes_few_points)
  {
    using T = TypeParam;
    for (std::size_t const n : {0, 1, 5})
    {
      SCOPED_TRACE(n);
      auto const x = make_points<T, 3>(cloud::uniform, n);
      check_all(cell_list<T, 3>(x.view(), 0.5));
    }
  }

  TYPED_TEST(search_on_threads, takes_periods)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 300);
    for (auto& column : x.columns)
      for (T& value : column) value = std::clamp<T>(value, 0, T(0.999));
    check_all(cell_list<T, 3>(x.view(), 0.15, {.period = {1, 0, 1}}));
    check_all(
        cell_list<T, 3>(x.view(), 0.45, {.period = {1, 1, 1}})); // cells meet in several images
    auto const few = make_points<T, 3>(cloud::uniform, 40);
    check_all(cell_list<T, 3>(few.view(), 1.1,
                              {.cells_per_cutoff = {3, 3, 3}, .period = {1, 0, 1}})); // and points
  }

  TYPED_TEST(search_on_threads, takes_two_sets)
  {
    using T = TypeParam;
    auto const queries = make_points<T, 3>(cloud::plummer, 200);
    auto const points = make_points<T, 3>(cloud::uniform, 300);
    check_all(cell_list<T, 3>(queries.view(), points.view(), 0.2), false);
  }

  TYPED_TEST(search_on_threads, finds_the_same_with_scalar)
  {
    using T = TypeParam;
    auto const points = make_points<T, 3>(cloud::plummer, 400);
    check_all(cell_list<T, 3>(points.view(), 0.2), true, scalar);
  }

  TYPED_TEST(search_on_threads, puts_many_slabs_together)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 20000);
    cell_list<T, 3> const cells(x.view(), 0.08);
    auto const expected = radius_search(scalar, cells, to_coo{});
    coo<T, 3> found;
    threads on(4);
    for (int repetition = 0; repetition < 5; ++repetition)
    {
      radius_search(simd.with(on), cells, to_coo{}, found);
      expect_equal(found.i, expected.i, "i");
      expect_equal(found.j, expected.j, "j");
    }
  }

  TYPED_TEST(search_on_threads, puts_lists_beyond_the_caches_together)
  {
    using T = TypeParam;
    auto const points = make_points<T, 3>(cloud::uniform, 2500);
    cell_list<T, 3> const cells(points.view(), T(0.7));
    threads on(4);
    auto const found = radius_search(simd.with(on), cells, to_coo{});
    auto const expected = radius_search(scalar, cells, to_coo{});
    ASSERT_GT(expected.size(), nearfield::detail::cached_pairs);
    expect_equal(found.i, expected.i, "i");
    expect_equal(found.j, expected.j, "j");
  }

  TEST(search_on_an_executor, of_any_number_of_workers)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 3000);
    cell_list<double, 3> const cells(x.view(), 0.1);
    auto const expected = radius_search(scalar, cells, count_pairs{}).total;
    reduce const sum{std::uint64_t(0),
                     [](std::uint64_t& n, index_type, index_type, double) { ++n; },
                     [](std::uint64_t& n, std::uint64_t part)
                     {
                       n += part;
                     }};
    for (int const workers : {-1, 0, std::numeric_limits<int>::max()})
    {
      backwards on(workers);
      EXPECT_EQ(radius_search(simd.with(on), cells, count_pairs{}).total, expected) << workers;
      EXPECT_EQ(radius_search(simd.with(on), cells, sum), expected) << workers;
    }
  }

  TEST(search_on_an_executor, that_fails_leaves_empty_results)
  {
    struct failing : executor
    {
      [[nodiscard]] int workers() const override { return 2; }
      void run(int n, std::function<void(int)> const& f) override
      {
        if (runs++ == last) throw std::runtime_error("no more");
        for (int p = 0; p < n; ++p) f(p);
      }
      int runs = 0, last = 0;
    };
    auto const x = make_points<double, 3>(cloud::uniform, 3000);
    cell_list<double, 3> const cells(x.view(), 0.1);
    auto const expect_empty = [&](auto const& what, auto const& is_empty)
    {
      for (failing on;; ++on.last)
      {
        on.runs = 0;
        decltype(radius_search(simd, cells, what)) found;
        try
        {
          radius_search(simd.with(on), cells, what, found);
          EXPECT_GT(on.runs, 0);
          return;
        }
        catch (std::runtime_error const&)
        {
          EXPECT_TRUE(is_empty(found)) << on.last;
        }
      }
    };
    expect_empty(count_pairs{.per_point = true},
                 [](auto const& of) { return of.per_point.empty(); });
    auto const has_size_0 = [](auto const& of)
    {
      return of.size() == 0;
    };
    expect_empty(to_coo{}, has_size_0);
    expect_empty(to_csr{.sorted = true}, has_size_0);
    expect_empty(to_table{.width = 40}, has_size_0);
  }

  TYPED_TEST(search_on_threads, says_what_is_too_large)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 300);
    cell_list<T, 3> const cells(x.view(), 0.3);
    auto const search = [](auto const& list, auto const& what)
    {
      return [&]
      {
        threads on(4);
        static_cast<void>(radius_search(simd.with(on), list, what));
      };
    };
    EXPECT_THAT(search(cells, to_coo{.max_bytes = 80}), complains_of("max_bytes", "80"));
    EXPECT_THAT(search(cells, to_csr{.max_bytes = 80}), complains_of("max_bytes", "80"));
    EXPECT_THAT(search(cells, to_table{.max_bytes = 80}), complains_of("max_bytes", "80"));
    cell_list<T, 3> const two(x.view(), x.view(), 0.3);
    EXPECT_THAT(search(two, to_coo{}), complains_of("two sets"));
    auto const nothing = [](int&, auto&&...) {
    };
    EXPECT_THAT(search(cells, reduce{0, nothing, nothing, pairs::half, 0}),
                complains_of("parts is 0"));
  }

  TYPED_TEST(search_on_threads, throws_what_a_function_throws)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 300);
    cell_list<T, 3> const cells(x.view(), 0.3);
    threads on(4);
    auto const throws = [](auto&...)
    {
      throw std::runtime_error("stop");
    };
    auto const in_f = [&](int& sum, index_type i, index_type, T)
    {
      if (i == 17) throws(sum);
    };
    auto const adds = [](int& sum, int part)
    {
      sum += part;
    };
    EXPECT_THROW(static_cast<void>(radius_search(simd.with(on), cells, reduce{0, in_f, adds})),
                 std::runtime_error);
    auto const counts = [](int& sum, index_type, index_type, T)
    {
      ++sum;
    };
    auto const in_combine = [&](int& sum, int)
    {
      throws(sum);
    };
    EXPECT_THROW(
        static_cast<void>(radius_search(simd.with(on), cells, reduce{0, counts, in_combine})),
        std::runtime_error);
    // and starts no part after one has thrown
    std::atomic<int> calls = 0;
    auto const always = [&](int& sum, index_type, index_type, T)
    {
      ++calls;
      throws(sum);
    };
    EXPECT_THROW(static_cast<void>(radius_search(simd.with(on), cells, reduce{0, always, adds})),
                 std::runtime_error);
    EXPECT_LE(calls, on.workers()) << "one for each, all at once";
    constexpr std::size_t n = 1000000;
    std::size_t const most = on.workers() > 1 ? 2 : 1; // the other is at work when one throws
    std::atomic<std::size_t> parts = 0;
    EXPECT_THROW(nearfield::detail::for_each_item(on, n,
                                                  [&](std::size_t p)
                                                  {
                                                    ++parts;
                                                    while (p == 0 && parts < most)
                                                      std::this_thread::yield();
                                                    if (p == 0) throw std::runtime_error("stop");
                                                    std::this_thread::yield();
                                                  }),
                 std::runtime_error);
    EXPECT_LT(parts, n);
    // and the next search is none the worse
    EXPECT_EQ(
        static_cast<std::uint64_t>(radius_search(simd.with(on), cells, reduce{0, counts, adds})),
        radius_search(scalar, cells, count_pairs{}).total);
  }
}
