// Lists of pairs as data of a task graph. Compiled twice: for CPU workers, and with NEARFIELD_TEST_CUDA for a
// machine with GPUs, where slabs are searched on these, and on both at once.

#include "complains_of.hpp"
#include "pair_slab_checks.hpp"

#include <gmock/gmock.h>

#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class T>
    class starpu_pair_slabs : public ::testing::Test
    {};
    using reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(starpu_pair_slabs, reals);

    /// A slab for every box, some, one for all, and what is chosen.
    std::vector<std::uint64_t> const slab_sizes = {1, 1000, no_limit, 0};

    template <class F>
    void for_options(bool one_set, F const& f)
    {
      for (backend const where : backends)
        for (std::uint64_t const candidates : slab_sizes)
          for (pairs const which : {pairs::half, pairs::full})
          {
            if (which == pairs::half && !one_set) continue;
            bool const with_i = candidates != 1000;
            SCOPED_TRACE("backend " + std::to_string(int(where)) + ", candidates " +
                         std::to_string(candidates) + (which == pairs::half ? ", half" : "") +
                         (with_i ? ", with i" : ""));
            f(pair_slab_options{which, with_i, where, candidates});
          }
    }

    template <class T, int Dim>
    void check_all(points<T, Dim> const& x, double cutoff,
                   cell_list_options<T, Dim> const& grid = {})
    {
      cell_list<T, Dim> const cells(x.view(), cutoff, grid);
      column_handles<T, Dim> const columns(x);
      for_options(true,
                  [&](pair_slab_options const& options)
                  {
                    pair_slabs list(one_runtime(), cells, columns.view(), options);
                    expect_lists(list, cells, options.which);
                  });
    }

  }

  TYPED_TEST(starpu_pair_slabs, are_the_list_of_one_thread_to_the_bit)
  {
    using T = TypeParam;
    check_all(make_points<T, 2>(cloud::uniform, 250), 0.1);
    check_all(make_points<T, 3>(cloud::uniform, 250), 0.23);
    check_all(make_points<T, 3>(cloud::plummer, 250), 0.23);
    check_all(make_points<T, 2>(cloud::coincident, 250), 0.1);
  }

  TYPED_TEST(starpu_pair_slabs, of_few_points)
  {
    using T = TypeParam;
    for (std::size_t const n : {0, 1, 2})
    {
      SCOPED_TRACE(n);
      check_all(make_points<T, 3>(cloud::all_equal, n), 0.5);
      check_all(make_points<T, 3>(cloud::uniform, n), 1e-3);
    }
  }

  TYPED_TEST(starpu_pair_slabs, of_many_points_and_cells)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::plummer, 20000);
    cell_list<T, 3> const cells(x.view(), 0.02, {.cells_per_cutoff = {2, 1, 3}});
    column_handles<T, 3> const columns(x);
    for (backend const where : backends)
      for (std::uint64_t const candidates : {std::uint64_t(20000), std::uint64_t(0)})
      {
        pair_slabs list(one_runtime(), cells, columns.view(),
                        {.backend = where, .candidates = candidates});
        expect_lists(list, cells, pairs::half);
      }
  }

  TYPED_TEST(starpu_pair_slabs, with_periods)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 200);
    for (auto& column : x.columns)
      for (T& value : column) value = std::clamp<T>(value, 0, T(0.999));
    check_all(x, 0.15, {.period = {1, 0, 1}});
    check_all(x, 0.45, {.period = {1, 1, 1}});                               // nearest images
    check_all(x, 0.2, {.cells_per_cutoff = {4, 1, 1}, .period = {1, 1, 0}}); // on one axis
  }

  TYPED_TEST(starpu_pair_slabs, of_two_sets)
  {
    using T = TypeParam;
    auto const queries = make_points<T, 3>(cloud::plummer, 200);
    auto const points = make_points<T, 3>(cloud::uniform, 300);
    cell_list<T, 3> const cells(queries.view(), points.view(), 0.2);
    column_handles<T, 3> const of_queries(queries), of_points(points);
    for_options(false,
                [&](pair_slab_options const& options)
                {
                  pair_slabs list(one_runtime(), cells, of_queries.view(), of_points.view(),
                                  options);
                  expect_lists(list, cells, pairs::full);
                });
  }

  TYPED_TEST(starpu_pair_slabs, count_again_when_points_have_moved)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 3000);
    cell_list<T, 3> cells(x.view(), 0.1);
    column_handles<T, 3> const columns(x);
    for (backend const where : backends)
    {
      pair_slabs list(one_runtime(), cells, columns.view(),
                      {.backend = where, .candidates = 20000});
      random_numbers random(7);
      for (int step = 0; step < 3; ++step)
      {
        expect_lists(list, cells, pairs::half);
        for (int a = 0; a < 3; ++a)
        {
          starpu_data_acquire(columns.view()[a], STARPU_RW);
          for (T& value : x.columns[a]) value += static_cast<T>(random.uniform(-0.02, 0.02));
          starpu_data_release(columns.view()[a]);
        }
        cells.rebuild(x.view(), 0.1 - 0.01 * step);
        list.recount(cells);
      }
      list.fill();
    }
  }

  TYPED_TEST(starpu_pair_slabs, rows_are_the_points_of_a_slab)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 500);
    cell_list<T, 3> const cells(x.view(), 0.2);
    column_handles<T, 3> const columns(x);
    pair_slabs list(one_runtime(), cells, columns.view(), {.candidates = 5000});
    ASSERT_GT(list.size(), 3u);
    std::vector<index_type> order;
    for (std::size_t s = 0; s < list.size(); ++s)
    {
      auto const rows = values_of<index_type>(list.rows(s));
      EXPECT_EQ(starpu_vector_get_nx(list.offsets(s)), rows.size() + 1);
      order.insert(order.end(), rows.begin(), rows.end());
      EXPECT_EQ(list.i(s), nullptr) << "before fill()";
    }
    expect_equal(order, cells.target_order(), "rows");
  }

  TYPED_TEST(starpu_pair_slabs, say_what_does_not_fit)
  {
    using T = TypeParam;
    using other = std::conditional_t<std::is_same_v<T, float>, double, float>;
    auto const x = make_points<T, 3>(cloud::uniform, 100);
    cell_list<T, 3> const cells(x.view(), 0.2), two(x.view(), x.view(), 0.2);
    auto const less = make_points<T, 3>(cloud::uniform, 99);
    auto const y = make_points<other, 3>(cloud::uniform, 100);
    column_handles<T, 3> const columns(x), fewer(less);
    column_handles<other, 3> const others(y);
    auto const make = [](auto const&... arguments)
    {
      return [&]
      {
        pair_slabs<T, 3> const list(one_runtime(), arguments...);
      };
    };
    EXPECT_THAT(make(cells, fewer.view()), complains_of("column 0", "99", "100"));
    EXPECT_THAT(make(cells, others.view()), complains_of("bytes", "one precision"));
    EXPECT_THAT(make(cells, std::array<starpu_data_handle_t, 3>{}), complains_of("vector handle"));
    EXPECT_THAT(make(cells, columns.view(), columns.view()), complains_of("one set of points"));
    EXPECT_THAT(make(two, columns.view()), complains_of("two sets"));
    EXPECT_THAT(make(two, columns.view(), columns.view()), complains_of("two sets"));
#if !defined(NEARFIELD_TEST_CUDA)
    EXPECT_THAT(make(cells, columns.view(), pair_slab_options{.backend = cuda}),
                complains_of("backend cuda"));
#endif
  }
}
