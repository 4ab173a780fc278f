// Lists of pairs as data of a task graph. Compiled twice: for CPU workers, and with NEARFIELD_TEST_CUDA for a
// machine with GPUs, where slabs are searched on these, and on both at once.

#include <nearfield/starpu/search/pair_slabs.hpp>

#include "complains_of.hpp"
#include "one_runtime.hpp"
#include "pair_consumer.hpp"
#include "points.hpp"

#include <nearfield/search/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using starpu::backend_choice;
    using starpu::handle;
    using starpu::pair_slab_options;
    using starpu::pair_slabs;

    // The search on one thread is tested against the definition; here tasks are tested against it.

    template <class T>
    class starpu_pair_slabs : public ::testing::Test
    {};
    using reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(starpu_pair_slabs, reals);

    /// Where slabs are searched, and the implementations that they may be searched with there.
#if defined(NEARFIELD_TEST_CUDA)
    std::vector<backend_choice> const backends = {backend_choice::cuda, backend_choice::automatic,
                                                  backend_choice::simd};
#else
    std::vector<backend_choice> const backends = {backend_choice::automatic,
                                                  backend_choice::scalar};
#endif

    /// A slab for every box, some, one for all, and what is chosen.
    std::vector<std::uint64_t> const slab_sizes = {1, 1000, no_limit, 0};

    /// The handles of columns, which outlive them.
    template <class T, int Dim>
    struct column_handles
    {
      std::vector<handle> columns;

      explicit column_handles(points<T, Dim> const& x)
      {
        for (auto const& column : x.columns)
          columns.push_back(handle::of(column.data(), column.size()));
      }
      [[nodiscard]] std::array<starpu_data_handle_t, Dim> view() const
      {
        std::array<starpu_data_handle_t, Dim> result;
        for (int a = 0; a < Dim; ++a) result[a] = columns[static_cast<std::size_t>(a)];
        return result;
      }
    };

    void expect_equal(auto const& found, auto const& expected, std::string const& what)
    {
      ASSERT_EQ(found.size(), expected.size()) << what;
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << what;
    }

    template <class T, int Dim>
    void expect_lists(pair_slabs<T, Dim>& list, cell_list<T, Dim> const& cells, pairs which)
    {
      EXPECT_EQ(list.n_pairs(), radius_search(simd, cells, count_pairs{which}).total);
      coo<T, Dim> pairs_found;
      list.to_host(pairs_found);
      auto const expected_pairs = radius_search(simd, cells, to_coo{which});
      expect_equal(pairs_found.i, expected_pairs.i, "COO i");
      expect_equal(pairs_found.j, expected_pairs.j, "COO j");
      csr<T, Dim> rows_found;
      list.to_host(rows_found);
      auto const expected_rows = radius_search(simd, cells, to_csr{which});
      expect_equal(rows_found.offsets, expected_rows.offsets, "CSR offsets");
      expect_equal(rows_found.columns, expected_rows.columns, "CSR columns");
    }

    template <class F>
    void for_options(bool one_set, F const& f)
    {
      for (backend_choice const backend : backends)
        for (std::uint64_t const candidates : slab_sizes)
          for (pairs const which : {pairs::half, pairs::full})
          {
            if (which == pairs::half && !one_set) continue;
            bool const with_i = candidates != 1000;
            SCOPED_TRACE("backend " + std::to_string(int(backend)) + ", candidates " +
                         std::to_string(candidates) + (which == pairs::half ? ", half" : "") +
                         (with_i ? ", with i" : ""));
            f(pair_slab_options{which, with_i, backend, candidates});
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

    /// The sums of pair_hash over the slabs of a list, as tasks; read when these have ended.
    template <class T, int Dim>
    class hashes
    {
    public:
      hashes(pair_slabs<T, Dim> const& list, std::vector<std::uint64_t> const& n_pairs,
             starpu_data_handle_t x)
          : sums_(n_pairs.size(), 0)
      {
        for (std::size_t s = 0; s < n_pairs.size(); ++s)
        {
          handles_.push_back(handle::of(&sums_[s], 1));
          if (n_pairs[s] == 0) continue;
          EXPECT_EQ(starpu_task_insert(&pair_consumer<T>::codelet(), STARPU_R, list.i(s), STARPU_R,
                                       list.j(s), STARPU_R, x, STARPU_W, handles_.back().get(), 0),
                    0);
        }
      }

      /// Waits.
      std::uint64_t sum()
      {
        handles_.clear();
        return std::accumulate(sums_.begin(), sums_.end(), std::uint64_t(0));
      }

    private:
      std::vector<std::uint64_t> sums_;
      std::vector<handle> handles_;
    };

    template <class T, int Dim>
    std::vector<std::uint64_t> sizes_of(pair_slabs<T, Dim>& list)
    {
      std::vector<std::uint64_t> sizes;
      for (std::size_t s = 0; s < list.size(); ++s) sizes.push_back(list.n_pairs(s));
      return sizes;
    }

    template <class T, int Dim>
    std::uint64_t expected_hash(cell_list<T, Dim> const& cells, points<T, Dim> const& x,
                                pairs which)
    {
      std::uint64_t sum = 0;
      auto const& column = x.columns[0];
      radius_search(simd, cells,
                    visit{[&](index_type i, index_type j, T)
                          { sum += pair_hash(i, j, column[i], column[j]); },
                          which});
      return sum;
    }
  }

  TYPED_TEST(starpu_pair_slabs, are_the_list_of_one_thread_to_the_bit)
  {
    using T = TypeParam;
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::coincident})
    {
      SCOPED_TRACE(name_of(shape));
      check_all(make_points<T, 2>(shape, 400), 0.08);
      check_all(make_points<T, 3>(shape, 400), 0.2);
    }
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
    for (backend_choice const backend : backends)
      for (std::uint64_t const candidates : {std::uint64_t(20000), std::uint64_t(0)})
      {
        pair_slabs list(one_runtime(), cells, columns.view(),
                        {.backend = backend, .candidates = candidates});
        expect_lists(list, cells, pairs::half);
      }
  }

  TYPED_TEST(starpu_pair_slabs, with_periods)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 300);
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
    for (backend_choice const backend : backends)
    {
      pair_slabs list(one_runtime(), cells, columns.view(),
                      {.backend = backend, .candidates = 20000});
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
      starpu_data_acquire(list.rows(s), STARPU_R);
      auto const* const rows =
          reinterpret_cast<index_type const*>(starpu_vector_get_local_ptr(list.rows(s)));
      auto const n = starpu_vector_get_nx(list.rows(s));
      EXPECT_EQ(starpu_vector_get_nx(list.offsets(s)), n + 1);
      order.insert(order.end(), rows, rows + n);
      starpu_data_release(list.rows(s));
      EXPECT_EQ(list.i(s), nullptr) << "before fill()";
    }
    expect_equal(order, cells.target_order(), "rows");
  }

  // Two lists and what reads them, of two precisions and cutoffs, are submitted before anything is waited for.
  TEST(starpu_pair_slabs_in_a_graph, are_read_by_tasks_where_they_are)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 5000);
    auto const y = make_points<float, 2>(cloud::uniform, 4000);
    cell_list<double, 3> const x_cells(x.view(), 0.05);
    cell_list<float, 2> const y_cells(y.view(), 0.03);
    column_handles<double, 3> const x_columns(x);
    column_handles<float, 2> const y_columns(y);
    for (backend_choice const backend : backends)
    {
      pair_slabs x_list(one_runtime(), x_cells, x_columns.view(),
                        {.backend = backend, .candidates = 50000});
      pair_slabs y_list(one_runtime(), y_cells, y_columns.view(),
                        {.which = pairs::full, .backend = backend, .candidates = 10000});
      auto const x_sizes = sizes_of(x_list), y_sizes = sizes_of(y_list);
      ASSERT_GT(x_sizes.size(), 3u);
      ASSERT_GT(y_sizes.size(), 3u);
      x_list.fill();
      y_list.fill();
      hashes x_hashes(x_list, x_sizes, x_columns.view()[0]);
      hashes y_hashes(y_list, y_sizes, y_columns.view()[0]);
      EXPECT_EQ(x_hashes.sum(), expected_hash(x_cells, x, pairs::half));
      EXPECT_EQ(y_hashes.sum(), expected_hash(y_cells, y, pairs::full));
      x_list.wait();
      y_list.wait();
    }
  }

  TEST(starpu_pair_slabs_in_a_graph, may_go_before_they_are_filled_or_read)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 2000);
    cell_list<double, 3> const cells(x.view(), 0.1);
    column_handles<double, 3> const columns(x);
    for (backend_choice const backend : backends)
    {
      pair_slabs const counted(one_runtime(), cells, columns.view(), {.backend = backend});
      pair_slabs filled(one_runtime(), cells, columns.view(), {.backend = backend});
      filled.fill();
    }
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
    EXPECT_THAT(make(cells, columns.view(), pair_slab_options{.backend = backend_choice::cuda}),
                complains_of("backend cuda"));
#endif
  }
}
