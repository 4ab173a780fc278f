#include "handles.hpp"
#include "random_cells.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <vector>

using namespace nearfield;
using namespace nearfield::test;
using testing::ElementsAreArray;

namespace
{
  template <int Dim>
  nf_box box_of(cell<Dim> const& from)
  {
    nf_box box{};
    for (int a = 0; a < Dim; ++a)
    {
      box.periodic[a] = from.periodic[a];
      box.origin[a] = from.origin[a];
      for (int b = 0; b < Dim; ++b) box.vectors[a][b] = from.vectors[a][b];
    }
    return box;
  }

  template <class V>
  auto values(page_array<V> const& column)
  {
    return ElementsAreArray(column.begin(), column.end());
  }
  template <class V>
  std::vector<V> values(void const* column, std::int64_t n)
  {
    auto const* first = static_cast<V const*>(column);
    return {first, first + n};
  }

  /// A random box, its cells in C++ and in C.
  template <class T, int Dim>
  struct both_lists
  {
    points<T, Dim> x;
    c_columns<T const, Dim> columns;
    cell_list<T, Dim> cells;
    std::unique_ptr<nf_cells, destroy> c_cells;

    explicit both_lists(std::uint64_t seed, nf_place const* where = nullptr)
        : both_lists(random_numbers(seed), where)
    {}

  private:
    both_lists(random_numbers random, nf_place const* where)
        : both_lists(random_cell<Dim>(random, 1), random, where)
    {}
    both_lists(cell<Dim> const& box, random_numbers random, nf_place const* where)
        : x(points_around<T, Dim>(random, detail::frame_of(box), 1, 60)), columns(x.view()),
          cells(x.view(), 1, {.cell = box})
    {
      auto options = options_with_size<nf_cells_options>();
      options.box = box_of(box);
      c_cells = made<nf_cells>(nf_cells_create, where, columns.view, nullptr, 1.0, &options);
    }
  };

  template <class T, int Dim>
  void expect_same_lists(std::uint64_t seed, nf_place const* where)
  {
    both_lists<T, Dim> const lists(seed, where);
    auto const list = made<nf_pair_list>(nf_pair_list_create);
    auto view = options_with_size<nf_pair_view>();
    auto options = options_with_size<nf_list_options>();
    options.distances = options.displacements = options.images = 1;

    coo<T, Dim> const pairs = radius_search(simd, lists.cells,
                                            to_coo{.which = nearfield::pairs::full,
                                                   .distances = true,
                                                   .displacements = true,
                                                   .images = image_columns::counters});
    ASSERT_EQ(nf_pair_list_fill(where, lists.c_cells.get(), &options, list.get()), nf_ok);
    ASSERT_EQ(nf_pair_list_view(list.get(), &view), nf_ok);
    EXPECT_THAT(values<index_type>(view.i, view.n_pairs), values(pairs.i));
    EXPECT_THAT(values<index_type>(view.j, view.n_pairs), values(pairs.j));
    EXPECT_THAT(values<T>(view.r2, view.n_pairs), values(pairs.r2));
    for (int a = 0; a < Dim; ++a)
    {
      EXPECT_THAT(values<T>(view.d[a], view.n_pairs), values(pairs.displacements[a]));
      EXPECT_THAT(values<std::int32_t>(view.images[a], view.n_pairs), values(pairs.images[a]));
    }

    options = options_with_size<nf_list_options>();
    options.rows = options.sorted = 1;
    csr<T, Dim> const rows = radius_search(simd, lists.cells, to_csr{.sorted = true});
    ASSERT_EQ(nf_pair_list_fill(where, lists.c_cells.get(), &options, list.get()), nf_ok);
    ASSERT_EQ(nf_pair_list_view(list.get(), &view), nf_ok);
    EXPECT_EQ(view.i, nullptr);
    EXPECT_THAT(values<std::uint64_t>(view.offsets, view.n_rows + 1), values(rows.offsets));
    EXPECT_THAT(values<index_type>(view.j, view.n_pairs), values(rows.columns));
  }

  TEST(c_search, lists_are_those_of_cpp_in_any_box)
  {
    auto const threads = made<nf_threads>(nf_threads_create, 2);
    auto on_threads = options_with_size<nf_place>();
    on_threads.threads = threads.get();
    for (std::uint64_t seed = 0; seed < number_of_cells(10); ++seed)
      for (nf_place const* where : std::array<nf_place const*, 2>{nullptr, &on_threads})
      {
        SCOPED_TRACE(seed);
        expect_same_lists<float, 2>(seed, where);
        expect_same_lists<double, 3>(seed, where);
      }
  }

  TEST(c_search, fills_the_memory_of_the_caller)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(10); ++seed)
    {
      SCOPED_TRACE(seed);
      both_lists<double, 3> const lists(seed);
      csr<double, 3> const rows = radius_search(
          simd, lists.cells,
          to_csr{.distances = true, .displacements = true, .images = image_columns::counters});
      std::int64_t n = 0;
      std::vector<index_type> per_point(lists.x.size());
      ASSERT_EQ(nf_count_pairs(nullptr, lists.c_cells.get(), nf_full, &n, per_point.data()), nf_ok);
      ASSERT_EQ(n, static_cast<std::int64_t>(rows.columns.size()));

      std::vector<std::int64_t> ij(2 * n);
      std::vector<double> r2(n), r(n), d(3 * n), to_j(3 * n);
      std::vector<std::int32_t> images(3 * n);
      std::vector<std::uint64_t> offsets(lists.x.size() + 1);
      auto to = options_with_size<nf_pair_columns>();
      to.order = nf_by_row;
      to.room = n;
      to.index_bytes = 8;
      to.index_base = 1;
      to.i = ij.data();
      to.j = ij.data() + 1;
      to.index_stride = 2;
      to.r2 = r2.data();
      to.r = r.data();
      to.d = d.data();
      to.to_j = to_j.data();
      to.images = images.data();
      to.offsets = offsets.data();
      ASSERT_EQ(nf_find_pairs(nullptr, lists.c_cells.get(), &to, &n), nf_ok) << nf_last_error();
      EXPECT_THAT(offsets, values(rows.offsets));
      EXPECT_THAT(r2, values(rows.r2));
      for (std::size_t i = 0; i < lists.x.size(); ++i)
      {
        EXPECT_EQ(per_point[i], rows.row(i).size());
        for (std::uint64_t p = offsets[i]; p < offsets[i + 1]; ++p)
        {
          EXPECT_EQ(ij[2 * p], static_cast<std::int64_t>(i) + 1);
          EXPECT_EQ(ij[2 * p + 1], static_cast<std::int64_t>(rows.columns[p]) + 1);
          EXPECT_EQ(r[p], std::sqrt(r2[p]));
          for (int a = 0; a < 3; ++a)
          {
            EXPECT_EQ(d[3 * p + a], rows.displacements[a][p]);
            EXPECT_EQ(to_j[3 * p + a], -rows.displacements[a][p]);
            EXPECT_EQ(images[3 * p + a], rows.images[a][p]);
          }
        }
      }
    }
  }

  TEST(c_search, says_how_many_pairs_there_is_no_room_for)
  {
    both_lists<double, 3> const lists(1);
    auto to = options_with_size<nf_pair_columns>();
    std::int64_t n = 0, found = 0;
    ASSERT_EQ(nf_count_pairs(nullptr, lists.c_cells.get(), nf_full, &n, nullptr), nf_ok);
    ASSERT_GT(n, 1);
    std::vector<std::int32_t> i(n, -1);
    to.room = n - 1;
    to.index_bytes = 4;
    to.i = i.data();
    expect_failure(nf_find_pairs(nullptr, lists.c_cells.get(), &to, &found), nf_no_room,
                   std::to_string(n));
    EXPECT_EQ(found, n);
    EXPECT_NE(i[n - 2], -1);
    EXPECT_EQ(i[n - 1], -1);
  }

  TEST(c_search, a_bound_is_enough_for_one_pass)
  {
    both_lists<double, 3> const lists(2);
    std::int64_t n = 0, bound = 0, found = 0;
    ASSERT_EQ(nf_count_pairs(nullptr, lists.c_cells.get(), nf_full, &n, nullptr), nf_ok);
    ASSERT_EQ(nf_pair_bound(lists.c_cells.get(), nf_full, &bound), nf_ok);
    ASSERT_GE(bound, n);
    std::vector<std::int32_t> j(bound, -1);
    auto to = options_with_size<nf_pair_columns>();
    to.room = bound;
    to.index_bytes = 4;
    to.j = j.data();
    ASSERT_EQ(nf_find_pairs(nullptr, lists.c_cells.get(), &to, &found), nf_ok);
    EXPECT_EQ(found, n);
    auto const two_sets = made<nf_cells>(nf_cells_create, nullptr, lists.columns.view,
                                         &lists.columns.view, 0.1, nullptr);
    expect_failure(nf_pair_bound(two_sets.get(), nf_half, &bound), nf_invalid_argument,
                   "half list");
  }

  TEST(c_search, a_histogram_counts_each_pair_in_its_bin)
  {
    // neighbours of a lattice at 1, and along diagonals at sqrt(2)
    std::vector<double> x;
    for (int k = 0; k < 27; ++k) x.insert(x.end(), {k % 3 * 1., k / 3 % 3 * 1., k / 9 * 1.});
    nf_cells_options options = options_with_size<nf_cells_options>();
    for (int a = 0; a < 3; ++a)
    {
      options.box.vectors[a][a] = 3;
      options.box.periodic[a] = 1;
    }
    auto const cells = made<nf_cells>(nf_cells_create, nullptr,
                                      nf_rows(nf_float64, x.data(), 27, 3), nullptr, 1.5, &options);
    std::vector<std::int64_t> counts(15, 1);
    for (nf_which const which : {nf_full, nf_half})
      ASSERT_EQ(nf_pair_histogram(nullptr, cells.get(), which, 1.5, 15, counts.data()), nf_ok);
    for (int b = 0; b < 15; ++b)
      EXPECT_EQ(counts[b], 1 + (b == 10 ? 27 * (6 + 3) : b == 14 ? 27 * (12 + 6) : 0)) << b;
    expect_failure(nf_pair_histogram(nullptr, cells.get(), nf_full, 0, 15, counts.data()),
                   nf_invalid_argument, "r_max is 0");
  }

  /// i and j of each pair of a full list, sorted.
  std::vector<std::int64_t> pairs_of(nf_cells const* cells)
  {
    std::int64_t n = 0;
    EXPECT_EQ(nf_count_pairs(nullptr, cells, nf_full, &n, nullptr), nf_ok);
    std::vector<std::int64_t> ij(2 * n);
    auto to = options_with_size<nf_pair_columns>();
    to.order = nf_sorted;
    to.room = n;
    to.index_bytes = 8;
    to.i = ij.data();
    to.j = ij.data() + 1;
    to.index_stride = 2;
    EXPECT_EQ(nf_find_pairs(nullptr, cells, &to, &n), nf_ok) << nf_last_error();
    return ij;
  }
  template <class Cells>
  std::vector<std::int64_t> pairs_of_cpp(Cells const& cells)
  {
    coo const list = radius_search(simd, cells, to_coo{.which = pairs::full, .sorted = true});
    std::vector<std::int64_t> ij;
    for (std::size_t p = 0; p < list.size(); ++p)
    {
      ij.push_back(list.i[p]);
      ij.push_back(list.j[p]);
    }
    return ij;
  }

  TEST(c_search, a_filter_leaves_pairs_out_until_it_is_taken_back)
  {
    auto const targets = make_points<float, 3>(cloud::uniform, 60, 1);
    auto const sources = make_points<float, 3>(cloud::uniform, 80, 2);
    c_columns const x(targets.view()), y(sources.view());
    std::vector<double> const type_cutoffs{0.4, 0.2, 0.2, 0}, radii(60, 0.1),
        source_radii(80, 0.25);
    std::vector<float> const cutoffs_of_types(type_cutoffs.begin(), type_cutoffs.end()),
        radii_of_targets(radii.begin(), radii.end()),
        radii_of_sources(source_radii.begin(), source_radii.end());
    std::vector<std::int64_t> types(60), source_types(80), excluded_offsets(61), excluded{3, 70};
    for (int i = 0; i < 60; ++i) types[i] = i % 2;
    for (int i = 0; i < 80; ++i) source_types[i] = i / 3 % 2;
    std::fill(excluded_offsets.begin() + 8, excluded_offsets.end(), 2);
    std::vector<index_type> const types_of_targets(types.begin(), types.end()),
        types_of_sources(source_types.begin(), source_types.end()), few{2, 5, 7, 30};
    std::vector<std::int64_t> const rows(few.begin(), few.end());
    std::vector<std::uint64_t> const offsets(excluded_offsets.begin(), excluded_offsets.end());

    for (bool const two_sets : {false, true})
    {
      SCOPED_TRACE(two_sets);
      auto const cells = made<nf_cells>(nf_cells_create, nullptr, x.view,
                                        two_sets ? &y.view : nullptr, 0.4, nullptr);
      auto const in_cpp = two_sets ? cell_list<float, 3>(targets.view(), sources.view(), 0.4)
                                   : cell_list<float, 3>(targets.view(), 0.4);
      auto options = options_with_size<nf_filter_options>();
      options.n_types = 2;
      options.types = types.data();
      options.source_types = source_types.data();
      options.type_cutoffs = type_cutoffs.data();
      options.excluded_offsets = excluded_offsets.data();
      options.excluded = excluded.data();
      if (!two_sets) excluded[1] = 50;
      pair_filter<float> filter{.type_cutoffs = cutoffs_of_types};
      filter.types = two_sets ? types_of_sources : types_of_targets;
      if (two_sets) filter.query_types = types_of_targets;
      filter.excluded_offsets = offsets;
      std::vector<index_type> const not_met(excluded.begin(), excluded.end());
      filter.excluded = not_met;
      auto const all = pairs_of(cells.get());
      ASSERT_EQ(nf_cells_filter(cells.get(), &options), nf_ok) << nf_last_error();
      EXPECT_EQ(pairs_of(cells.get()), pairs_of_cpp(filtered(in_cpp, filter)));
      EXPECT_LT(pairs_of(cells.get()).size(), all.size());

      options = options_with_size<nf_filter_options>();
      options.radii = radii.data();
      options.source_radii = source_radii.data();
      options.by = nf_larger_radius;
      options.n_rows = 4;
      options.rows = rows.data();
      filter = {.by = cutoff_by::larger};
      filter.radii = two_sets ? radii_of_sources : radii_of_targets;
      if (two_sets) filter.query_radii = radii_of_targets;
      filter.rows = few;
      ASSERT_EQ(nf_cells_filter(cells.get(), &options), nf_ok) << nf_last_error();
      EXPECT_EQ(pairs_of(cells.get()), pairs_of_cpp(filtered(in_cpp, filter)));
      EXPECT_FALSE(pairs_of(cells.get()).empty());

      options.by = 7;
      expect_failure(nf_cells_filter(cells.get(), &options), nf_invalid_argument, "by is 7");
      ASSERT_EQ(nf_cells_filter(cells.get(), nullptr), nf_ok);
      EXPECT_EQ(pairs_of(cells.get()), all);
    }
  }

  TEST(c_search, points_of_a_batch_may_be_mixed)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 60);
    c_columns const columns(x.view());
    std::vector<index_type> of_system{0, 20, 40, 60}, order;
    for (index_type s = 0; s < 3; ++s)
      for (index_type i = s; i < 60; i += 3) order.push_back(i);
    std::vector<std::int64_t> const offsets(of_system.begin(), of_system.end()),
        c_order(order.begin(), order.end());
    auto options = options_with_size<nf_cells_options>();
    options.n_systems = 3;
    options.offsets = offsets.data();
    options.order = c_order.data();
    auto const cells =
        made<nf_cells>(nf_cells_create, nullptr, columns.view, nullptr, 0.3, &options);
    std::vector<double> const cutoffs{0.3};
    cell_list<double, 3> const expected(
        x.view(),
        systems<3>{.offsets = of_system, .cutoffs = cutoffs, .order = order, .query_order = {}});
    EXPECT_EQ(pairs_of(cells.get()), pairs_of_cpp(expected));
  }

  TEST(c_search, a_batch_of_two_sets_has_the_pairs_of_each_system)
  {
    auto const queries = make_points<float, 3>(cloud::uniform, 30, 1);
    auto const sources = make_points<float, 3>(cloud::uniform, 50, 2);
    std::vector<std::int64_t> const offsets{0, 10, 10, 30}, source_offsets{0, 20, 25, 50};
    std::vector<double> const cutoffs{0.2, 0.3, 0.4};
    std::vector<cell<3>> const cells{{}, cell<3>::of_lengths(std::array{1., 1., 0.}), {}};
    std::vector<nf_box> boxes;
    for (auto const& box : cells) boxes.push_back(box_of(box));
    c_columns const x(queries.view()), y(sources.view());
    auto options = options_with_size<nf_cells_options>();
    options.n_systems = 3;
    options.offsets = offsets.data();
    options.source_offsets = source_offsets.data();
    options.cutoffs = cutoffs.data();
    options.boxes = boxes.data();
    auto const batch = made<nf_cells>(nf_cells_create, nullptr, x.view, &y.view, 0.0, &options);

    std::vector<index_type> const of_queries{0, 10, 10, 30}, of_sources{0, 20, 25, 50};
    cell_list<float, 3> const expected(queries.view(), sources.view(),
                                       systems<3>{.offsets = of_sources,
                                                  .query_offsets = of_queries,
                                                  .cutoffs = cutoffs,
                                                  .cells = cells,
                                                  .order = {},
                                                  .query_order = {}});
    std::int64_t n = 0;
    ASSERT_EQ(nf_count_pairs(nullptr, batch.get(), nf_full, &n, nullptr), nf_ok);
    EXPECT_EQ(n, static_cast<std::int64_t>(
                     radius_search(simd, expected, count_pairs{pairs::full}).total));
    EXPECT_GT(n, 0);
  }

  TEST(c_search, cells_follow_points_that_move)
  {
    auto x = make_points<double, 2>(cloud::uniform, 100);
    c_columns const columns(x.view());
    auto options = options_with_size<nf_cells_options>();
    options.skin = 0.1;
    auto const cells =
        made<nf_cells>(nf_cells_create, nullptr, columns.view, nullptr, 0.2, &options);
    auto const count = [&]
    {
      std::int64_t n = 0;
      EXPECT_EQ(nf_count_pairs(nullptr, cells.get(), nf_half, &n, nullptr), nf_ok);
      return n;
    };
    auto const expected = [&]
    {
      return static_cast<std::int64_t>(
          radius_search(simd, cell_list(x.view(), 0.2), count_pairs{}).total);
    };
    for (double const step : {0.01, 0.5})
    {
      x.columns[0][0] += step;
      std::int32_t rebuilt = -1;
      ASSERT_EQ(nf_cells_update(cells.get(), columns.view, nullptr, &rebuilt), nf_ok);
      EXPECT_EQ(rebuilt, step > 0.1);
      EXPECT_EQ(count(), expected());
    }
    x.columns[1][1] += 0.3;
    ASSERT_EQ(nf_cells_rebuild(cells.get(), columns.view, nullptr), nf_ok);
    EXPECT_EQ(count(), expected());
  }
}
