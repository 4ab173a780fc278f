// Lists of pairs as data of a task graph. Compiled twice: for CPU workers, and with NEARFIELD_TEST_CUDA for a
// machine with GPUs, where slabs are searched on these.

#include "complains_of.hpp"
#include "pair_slab_checks.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <limits>
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

    /// Slabs of a few rows, which cut cells, or of one row, where there are few; some, one for all, and what is chosen.
    std::vector<std::size_t> const slab_numbers = {50, 7, 1, 0};

    template <class T, int Dim, class F>
    void for_options(bool one_set, cell_list_options<T, Dim> const& grid, F const& f)
    {
      for (backend const where : backends)
        for (std::size_t const slabs : slab_numbers)
          for (pairs const which : {pairs::half, pairs::full})
          {
            if (which == pairs::half && !one_set) continue;
            bool const with_i = slabs != 7;
            SCOPED_TRACE("backend " + std::to_string(int(where)) + ", slabs " +
                         std::to_string(slabs) + (which == pairs::half ? ", half" : "") +
                         (with_i ? ", with i" : ""));
            f(typename pair_slabs<T, Dim>::options_type{grid, which, with_i, where, slabs});
          }
    }

    template <class T, int Dim>
    void check_all(points<T, Dim> const& x, double cutoff,
                   cell_list_options<T, Dim> const& grid = {})
    {
      cell_list<T, Dim> const cells(x.view(), cutoff, grid);
      column_handles<T, Dim> const columns(x);
      for_options<T, Dim>(true, grid,
                          [&](typename pair_slabs<T, Dim>::options_type const& options)
                          {
                            pair_slabs<T, Dim> list(one_runtime(), columns.view(), cutoff, options);
                            expect_lists(list, cells, options.which);
                          });
    }

    template <class T>
    points<T, 3> points_in_unit_box(std::size_t n)
    {
      auto x = make_points<T, 3>(cloud::uniform, n);
      for (auto& column : x.columns)
        for (T& value : column) value = std::clamp<T>(value, 0, T(0.999));
      return x;
    }

    /// Moves points that have handles.
    template <class T>
    void move(points<T, 3>& x, column_handles<T, 3> const& columns, random_numbers& random)
    {
      for (int a = 0; a < 3; ++a)
      {
        starpu_data_acquire(columns.view()[a], STARPU_RW);
        for (T& value : x.columns[a]) value += static_cast<T>(random.uniform(-0.02, 0.02));
        starpu_data_release(columns.view()[a]);
      }
    }

    /// Writes into a column that has a handle.
    template <class T>
    void set(starpu_data_handle_t column, std::size_t i, T value)
    {
      starpu_data_acquire(column, STARPU_RW);
      reinterpret_cast<T*>(starpu_vector_get_local_ptr(column))[i] = value;
      starpu_data_release(column);
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

  // A GPU keeps the results of tests for the fill where there is room for them; here many are made again.
  TYPED_TEST(starpu_pair_slabs, of_many_points_at_one_place)
  {
    using T = TypeParam;
    auto const x = make_points<T, 2>(cloud::all_equal, 1000);
    cell_list<T, 2> const cells(x.view(), 0.5);
    column_handles<T, 2> const columns(x);
    for (std::size_t const slabs : {1, 3})
      for (pairs const which : {pairs::half, pairs::full})
        for (bool const with_i : {true, false})
        {
          pair_slabs<T, 2> list(one_runtime(), columns.view(), 0.5,
                                {.which = which, .with_i = with_i, .slabs = slabs});
          expect_lists(list, cells, which);
        }
  }

  TYPED_TEST(starpu_pair_slabs, of_many_points_and_cells)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::plummer, 20000);
    cell_list_options<T, 3> const grid = {.cells_per_cutoff = {2, 1, 3}};
    cell_list<T, 3> const cells(x.view(), 0.02, grid);
    column_handles<T, 3> const columns(x);
    for (backend const where : backends)
      for (std::size_t const slabs : {13, 0})
      {
        pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.02,
                              {.grid = grid, .backend = where, .slabs = slabs});
        expect_lists(list, cells, pairs::half);
      }
  }

  TYPED_TEST(starpu_pair_slabs, with_periods)
  {
    using T = TypeParam;
    auto const x = points_in_unit_box<T>(200);
    check_all(x, 0.15, {.period = {1, 0, 1}});
    check_all(x, 0.45, {.period = {1, 1, 1}}); // two images of a cell
    check_all(x, 0.2, {.cells_per_cutoff = {4, 1, 1}, .period = {1, 1, 0}});
  }

  TYPED_TEST(starpu_pair_slabs, in_boxes_of_any_shape)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::plummer, 120); // most of them outside
    check_all(x, 0.2, {.period = {T(0.1), T(0.5), 0}, .closed = true});
    check_all(x, 0.2,
              {.cell = {.vectors = {{{0.5, 0, 0}, {0.9, 0.3, 0}, {0.1, 0, 0.4}}},
                        .periodic = {true, true, true}}});
    check_all(make_points<T, 2>(cloud::uniform, 120), 0.1,
              {.cell = {.vectors = {{{0.3, 0.4}, {}}}, .periodic = {true, false}}});
  }

  TYPED_TEST(starpu_pair_slabs, of_two_sets)
  {
    using T = TypeParam;
    for (auto const [n, m] : {std::array<std::size_t, 2>{200, 300}, {40, 0}, {0, 40}})
    {
      SCOPED_TRACE(n);
      auto const queries = make_points<T, 3>(cloud::plummer, n);
      auto const points = make_points<T, 3>(cloud::uniform, m);
      cell_list<T, 3> const cells(queries.view(), points.view(), 0.2);
      column_handles<T, 3> const of_queries(queries), of_points(points);
      for_options<T, 3>(false, {},
                        [&](typename pair_slabs<T, 3>::options_type const& options)
                        {
                          pair_slabs<T, 3> list(one_runtime(), of_queries.view(), of_points.view(),
                                                0.2, options);
                          expect_lists(list, cells, pairs::full);
                        });
    }
  }

  TYPED_TEST(starpu_pair_slabs, count_again_when_points_have_moved)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::uniform, 3000);
    cell_list<T, 3> cells(x.view(), 0.1);
    column_handles<T, 3> const columns(x);
    for (backend const where : backends)
      for (std::size_t const slabs : {1, 9})
      {
        pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.1,
                              {.backend = where, .slabs = slabs});
        random_numbers random(7);
        for (int step = 0; step < 4; ++step)
        {
          cells.rebuild(x.view());
          expect_lists(list, cells, pairs::half);
          move(x, columns, random);
          list.recount();
          if (step == 2) list.recount(); // before the pairs are filled
        }
        list.fill();
      }
  }

  TYPED_TEST(starpu_pair_slabs, count_again_when_points_of_two_sets_have_moved)
  {
    using T = TypeParam;
    auto queries = make_points<T, 3>(cloud::plummer, 700);
    auto sources = make_points<T, 3>(cloud::uniform, 900);
    column_handles<T, 3> const of_queries(queries), of_sources(sources);
    for (backend const where : backends)
    {
      pair_slabs<T, 3> list(one_runtime(), of_queries.view(), of_sources.view(), 0.1,
                            {.which = pairs::full, .backend = where, .slabs = 4});
      random_numbers random(7);
      for (int step = 0; step < 3; ++step)
      {
        expect_lists(list, cell_list<T, 3>(queries.view(), sources.view(), 0.1), pairs::full);
        if (step != 1) move(queries, of_queries, random);
        if (step != 0) move(sources, of_sources, random);
        list.recount();
      }
      list.fill();
    }
  }

  TYPED_TEST(starpu_pair_slabs, leave_no_geometry_of_an_older_search_in_a_list)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 200);
    cell_list<T, 3> const cells(x.view(), 0.3);
    column_handles<T, 3> const columns(x);
    pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.2);
    auto const expect_no_geometry = [&](auto&& older)
    {
      ASSERT_FALSE(older.r2.empty() || older.displacements[2].empty());
      list.to_host(older);
      EXPECT_TRUE(older.r2.empty());
      for (auto const& column : older.displacements) EXPECT_TRUE(column.empty());
    };
    expect_no_geometry(
        radius_search(simd, cells, to_coo{.distances = true, .displacements = true}));
    expect_no_geometry(
        radius_search(simd, cells, to_csr{.distances = true, .displacements = true}));
  }

  TYPED_TEST(starpu_pair_slabs, are_no_more_than_there_are_rows)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 3);
    column_handles<T, 3> const columns(x);
    for (backend const where : backends)
      EXPECT_EQ(
          (pair_slabs<T, 3>(one_runtime(), columns.view(), 2., {.backend = where, .slabs = 10})
               .size()),
          3u);
  }

  TYPED_TEST(starpu_pair_slabs, keep_the_handles_of_pairs_while_they_have_room)
  {
    using T = TypeParam;
    auto x = make_points<T, 3>(cloud::all_equal, 100);
    cell_list<T, 3> cells(x.view(), 0.1);
    column_handles<T, 3> const columns(x);
    pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.1, {.slabs = 1});
    expect_lists(list, cells, pairs::half);
    starpu_data_handle_t const first = list.j(0);
    // point 0 goes, and comes back
    for (T const place : {T(1), x.columns[0][1]})
    {
      set(columns.view()[0], 0, place);
      cells.rebuild(x.view());
      list.recount();
      EXPECT_EQ(list.j(0), nullptr) << "before fill()";
      list.fill();
      EXPECT_EQ(list.j(0), first);
      EXPECT_EQ(starpu_vector_get_nx(list.j(0)), list.n_pairs(0));
      EXPECT_EQ(starpu_vector_get_nx(list.i(0)), list.n_pairs(0));
      expect_lists(list, cells, pairs::half);
    }
    auto const refused = complains_of("slab 1", "there are 1");
    EXPECT_THAT([&] { static_cast<void>(list.n_pairs(1)); }, refused);
    EXPECT_THAT([&] { static_cast<void>(list.j(1)); }, refused);
    EXPECT_THAT([&] { static_cast<void>(list.offsets(1)); }, refused);
    // few pairs, and then many again
    for (bool const apart : {true, false})
    {
      for (std::size_t i = 0; i < x.size(); ++i)
        set(columns.view()[0], i, apart ? static_cast<T>(i / 4) : T(0));
      cells.rebuild(x.view());
      list.recount();
      expect_lists(list, cells, pairs::half);
      // an eighth more room than the 150 or 4950 pairs need
      EXPECT_LE(starpu_data_get_alloc_size(list.j(0)), list.n_pairs() * 9 / 8 * sizeof(index_type));
    }
  }

  TYPED_TEST(starpu_pair_slabs, say_which_point_they_refuse_and_go_on)
  {
    using T = TypeParam;
    auto x = points_in_unit_box<T>(2000);
    auto const copy = x; // which no task reads
    cell_list_options<T, 3> const grid = {.period = {1, 1, 1}};
    cell_list<T, 3> const cells(x.view(), 0.1, grid);
    column_handles<T, 3> const columns(x);
    T const good = x.columns[1][137];
    for (backend const where : backends)
    {
      pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.1,
                            {.grid = grid, .backend = where, .slabs = 5});
      for (T const bad : {std::numeric_limits<T>::quiet_NaN(), T(1e12)})
      {
        expect_lists(list, cells, pairs::half);
        set(columns.view()[1], 137, bad);
        list.recount();
        auto const refused = complains_of("137", bad > 1 ? "boxes away" : "finite");
        if (bad > 1)
          EXPECT_THAT([&] { list.wait(); }, refused);
        else
          EXPECT_THAT([&] { static_cast<void>(list.n_pairs()); }, refused);
        EXPECT_THAT([&] { list.fill(); }, complains_of("has failed", "recount()"));
        for (std::size_t s = 0; s < list.size(); ++s)
        {
          EXPECT_THAT(values_of<std::uint64_t>(list.offsets(s)), testing::Each(0));
          EXPECT_THAT(values_of<index_type>(list.rows(s)), testing::Each(0));
        }
        set(columns.view()[1], 137, good);
        list.recount();
      }
      expect_lists(list, cells, pairs::half);
      // from the start
      set(columns.view()[1], 137, T(-1e12));
      pair_slabs<T, 3> other(one_runtime(), columns.view(), 0.1, {.grid = grid, .backend = where});
      EXPECT_THAT([&] { other.wait(); }, complains_of("137", "-1e"));
      set(columns.view()[1], 137, good);
      other.recount();
      expect_lists(other, cells, pairs::half);
      // a point that leaves the box is listed by its image
      set(columns.view()[1], 137, T(-1.25));
      other.recount();
      auto moved = copy;
      moved.columns[1][137] = T(-1.25);
      expect_lists(other, cell_list<T, 3>(moved.view(), 0.1, grid), pairs::half);
      set(columns.view()[1], 137, good);
    }
  }

  TYPED_TEST(starpu_pair_slabs, rows_are_the_points_of_a_slab)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 500);
    cell_list<T, 3> const cells(x.view(), 0.2);
    column_handles<T, 3> const columns(x);
    pair_slabs<T, 3> list(one_runtime(), columns.view(), 0.2, {.slabs = 7});
    ASSERT_EQ(list.size(), 7u);
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

#if !defined(NEARFIELD_TEST_CUDA)
  // for an eighth more pairs, until there are more than that, or fewer than a quarter
  TYPED_TEST(starpu_pair_slabs, keep_room_for_pairs)
  {
    using T = TypeParam;
    points<T, 3> x;
    for (auto& column : x.columns) column.resize(40);
    for (std::size_t k = 0; k < 40; ++k) x.columns[0][k] = static_cast<T>(10 * k);
    column_handles<T, 3> const columns(x);
    pair_slabs<T, 3> list(one_runtime(), columns.view(), 1.5, {.with_i = true, .slabs = 1});
    for (auto const& [n_pairs, room] :
         {std::pair(16u, 18u), {18u, 18u}, {19u, 21u}, {5u, 21u}, {4u, 4u}, {1u, 4u}})
    {
      for (std::size_t k = 0; k < 20; ++k) // duos, some of which are close
        set(columns.view()[0], 2 * k + 1, static_cast<T>(20 * k + (k < n_pairs ? 1 : 10)));
      list.recount();
      list.fill();
      list.wait();
      EXPECT_EQ(list.n_pairs(), n_pairs);
      for (starpu_data_handle_t const data : {list.i(0), list.j(0)})
      {
        EXPECT_EQ(starpu_vector_get_nx(data), n_pairs);
        EXPECT_EQ(starpu_vector_get_allocsize(data), room * sizeof(index_type)) << n_pairs;
      }
    }
  }
#endif

  TYPED_TEST(starpu_pair_slabs, say_what_does_not_fit)
  {
    using T = TypeParam;
    using other = std::conditional_t<std::is_same_v<T, float>, double, float>;
    auto const x = make_points<T, 3>(cloud::uniform, 100);
    auto const less = make_points<T, 3>(cloud::uniform, 99);
    auto const y = make_points<other, 3>(cloud::uniform, 100);
    column_handles<T, 3> const columns(x), fewer(less);
    column_handles<other, 3> const others(y);
    auto const all = columns.view();
    using handles = std::array<starpu_data_handle_t, 3>;
    auto const make = [](auto const&... arguments)
    {
      return [&]
      {
        pair_slabs<T, 3> const list(one_runtime(), arguments...);
      };
    };
    handles const mixed = {all[0], all[1], fewer.view()[2]}, none{};
    double const cutoff = 0.2, negative = -1;
    typename pair_slabs<T, 3>::options_type const full{.which = pairs::full};
    EXPECT_THAT(make(mixed, cutoff),
                complains_of("column 2 of the points has 99 values, column 0 has 100"));
    EXPECT_THAT(make(mixed, all, cutoff, full), complains_of("column 2 of the queries has 99"));
    EXPECT_THAT(make(all, mixed, cutoff, full), complains_of("column 2 of the points has 99"));
    EXPECT_THAT(make(others.view(), cutoff), complains_of("bytes", "one precision"));
    EXPECT_THAT(make(none, cutoff), complains_of("column 0 of the points is not a vector handle"));
    starpu_data_handle_t variable;
    starpu_variable_data_register(&variable, STARPU_MAIN_RAM,
                                  reinterpret_cast<std::uintptr_t>(x.columns[0].data()), 400);
    EXPECT_THAT(make(handles{all[0], variable, all[2]}, cutoff),
                complains_of("column 1 of the points is not a vector handle"));
    starpu_data_unregister(variable);
    EXPECT_THAT(make(all, all, cutoff), complains_of("two sets"));
    EXPECT_THAT(make(all, negative), complains_of("cutoff", "-1"));
    EXPECT_THAT(make(all, cutoff,
                     typename pair_slabs<T, 3>::options_type{.grid = {.period = {T(-0.3), 0, 0}}}),
                complains_of("period"));
#if !defined(NEARFIELD_TEST_CUDA)
    EXPECT_THAT(make(all, cutoff, typename pair_slabs<T, 3>::options_type{.backend = cuda}),
                complains_of("backend cuda"));
#endif
  }
}
