#include "complains_of.hpp"
#include "image_pairs.hpp"
#include "search/image_lists.hpp"
#include "search/random_case.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

// Searches in boxes of any shape, of points anywhere, against the definition.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class any_cell : public testing::Test
    {};
    TYPED_TEST_SUITE(any_cell, search_kinds);

    /// What a list says about a pair.
    template <class T, int Dim>
    struct entry
    {
      image_pair<Dim> pair;
      T r2;
      std::array<T, Dim> d;

      friend bool operator==(entry const& a, entry const& b)
      {
        bool same = a.pair == b.pair && a.r2 == b.r2;
        for (int c = 0; c < Dim; ++c)
          same = same && a.d[c] == b.d[c] && std::signbit(a.d[c]) == std::signbit(b.d[c]);
        return same;
      }
      friend std::ostream& operator<<(std::ostream& out, entry const& e)
      {
        out.precision(17);
        out << "(" << e.pair.i << ", " << e.pair.j << ") in image";
        for (auto const s : e.pair.image) out << " " << s;
        out << ", r2 = " << e.r2 << ", d =";
        for (T const of_axis : e.d) out << " " << of_axis;
        return out;
      }
    };
    template <class T, int Dim>
    using entries = std::vector<entry<T, Dim>>;

    template <class T, int Dim>
    testing::AssertionResult same(entries<T, Dim> const& found, entries<T, Dim> const& expected)
    {
      auto const [f, e] = std::ranges::mismatch(found, expected);
      if (f == found.end() && e == expected.end()) return testing::AssertionSuccess();
      auto failure = testing::AssertionFailure()
                     << found.size() << " pairs, expected " << expected.size()
                     << ", the first difference at " << f - found.begin();
      if (f != found.end()) failure << "\n  found " << *f;
      if (e != expected.end()) failure << "\n  expected " << *e;
      return failure;
    }

    template <class T, int Dim>
    entry<T, Dim> entry_at(detail::pair_geometry<T, Dim> const& of, std::size_t at, index_type i,
                           index_type j)
    {
      entry<T, Dim> e{{i, j, image_at(of, at)}, of.r2[at], {}};
      for (int a = 0; a < Dim; ++a) e.d[a] = of.displacements[a][at];
      return e;
    }
    template <class T, int Dim>
    entries<T, Dim> entries_of(coo<T, Dim> const& list)
    {
      entries<T, Dim> found;
      for (std::size_t p = 0; p < list.size(); ++p)
        found.push_back(entry_at(list, p, list.i[p], list.j[p]));
      return found;
    }
    template <class T, int Dim>
    entries<T, Dim> entries_of(csr<T, Dim> const& list)
    {
      entries<T, Dim> found;
      for (index_type i = 0; i < list.size(); ++i)
        for (std::uint64_t p = list.offsets[i]; p < list.offsets[i + 1]; ++p)
          found.push_back(entry_at(list, p, i, list.columns[p]));
      return found;
    }

    /// The pairs in the order of COO lists.
    template <class T, int Dim>
    class expected_lists
    {
    public:
      expected_lists(random_case<T, Dim> const& of, cell_list<T, Dim> const& cells)
          : by_definition_(of.options.cell, of.x, of.one_set ? of.x : of.y, T(of.cutoff),
                           of.options.closed),
            target_places_(places(cells.target_order())),
            source_places_(places(cells.source_order()))
      {
        auto const& grid = cells.grid();
        // of counters of the vectors: how many cells of the frame away
        std::map<detail::image_counters<Dim>, std::array<int, Dim>> cells_of;
        std::array<int, Dim> most, at;
        for (int a = 0; a < Dim; ++a) at[a] = -(most[a] = grid.most_images(a));
        for (int a = 0; a < Dim;)
        {
          cells_of[grid.frame.image_of(at)] = at;
          for (a = 0; a < Dim && ++at[a] > most[a]; ++a) at[a] = -most[a];
        }
        auto const& sources = of.one_set ? of.x : of.y;
        auto const order = [&](image_pair<Dim> const& p)
        {
          auto const u = grid.frame.reduce(sources[p.j]).at;
          auto const image = cells_of.at(by_definition_.of_reduced(p.i, p.j, p.image));
          std::array<std::int64_t, 2 * Dim + 2> key;
          key[0] = target_places_[p.i];
          for (int a = 0; a < Dim; ++a)
          {
            key[1 + 2 * a] = -image[a];
            key[2 + 2 * a] = grid.index(a, u);
          }
          key.back() = source_places_[p.j];
          return key;
        };
        auto const pairs = by_definition_.full();
        std::vector<std::pair<std::array<std::int64_t, 2 * Dim + 2>, std::size_t>> keys;
        for (std::size_t k = 0; k < pairs.size(); ++k) keys.emplace_back(order(pairs[k]), k);
        std::ranges::sort(keys);
        for (auto const& key : keys)
        {
          auto const& [i, j, image] = pairs[key.second];
          full_.push_back({pairs[key.second], by_definition_.r2(i, j, image),
                           by_definition_.difference(i, j, image)});
        }
      }

      [[nodiscard]] entries<T, Dim> coo(pairs which) const
      {
        entries<T, Dim> list = full_;
        if (which == pairs::half)
          std::erase_if(list,
                        [&](entry<T, Dim> const& e)
                        {
                          auto const& [i, j, image] = e.pair;
                          return i == j ? !detail::is_positive(image)
                                        : source_places_[j] < target_places_[i];
                        });
        return list;
      }
      [[nodiscard]] entries<T, Dim> csr(pairs which) const
      {
        auto list = coo(which);
        std::ranges::stable_sort(list, {}, [](entry<T, Dim> const& e) { return e.pair.i; });
        return list;
      }
      /// (smaller, larger) index, if the list is half.
      [[nodiscard]] entries<T, Dim> sorted(pairs which, bool turned) const
      {
        auto list = coo(which);
        if (turned)
          for (auto& [pair, r2, d] : list)
            if (pair.j < pair.i)
            {
              std::swap(pair.i, pair.j);
              for (auto& s : pair.image) s = -s;
              for (T& x : d) x = T(0) - x;
            }
        std::ranges::stable_sort(list, {}, [](entry<T, Dim> const& e)
                                 { return std::pair(e.pair.i, e.pair.j); });
        return list;
      }

    private:
      static std::vector<index_type> places(std::span<index_type const> order)
      {
        std::vector<index_type> result(order.size());
        for (index_type p = 0; p < order.size(); ++p) result[order[p]] = p;
        return result;
      }

      image_definition<T, Dim> by_definition_;
      std::vector<index_type> target_places_, source_places_;
      entries<T, Dim> full_;
    };

    template <class T, int Dim>
    bool fits_packed(entries<T, Dim> const& list)
    {
      return std::ranges::all_of(list,
                                 [](entry<T, Dim> const& e)
                                 {
                                   return std::ranges::all_of(e.pair.image, [](std::int32_t s)
                                                              { return s >= -512 && s < 512; });
                                 });
    }

    /// One kind of list, against what it shall be; packed too, if S fits.
    template <class T, int Dim, class Find, class What>
    void expect_list(Find const& find, What what, entries<T, Dim> const& expected)
    {
      what.distances = what.displacements = true;
      what.images = image_columns::counters;
      EXPECT_TRUE(same(entries_of(find(what)), expected));
      what.images = image_columns::packed;
      if (fits_packed(expected))
        EXPECT_TRUE(same(entries_of(find(what)), expected)) << "packed";
      else
        EXPECT_THAT([&] { static_cast<void>(find(what)); },
                    complains_of("packed", "-512 to 511", "image_columns::counters"));
    }

    template <class T, int Dim>
    void expect_counts(pair_counts const& counts, neighbour_table const& table,
                       entries<T, Dim> const& rows)
    {
      EXPECT_EQ(counts.total, rows.size());
      auto row = rows.begin();
      for (index_type i = 0; i < table.size(); ++i)
      {
        auto const end =
            std::find_if(row, rows.end(), [&](entry<T, Dim> const& e) { return e.pair.i != i; });
        auto const n = static_cast<index_type>(end - row);
        EXPECT_EQ(counts.per_point[i], n) << "point " << i;
        EXPECT_EQ(table.counts[i], n) << "point " << i;
        for (index_type const j : table.row(i)) EXPECT_EQ(j, (row++)->pair.j) << "row " << i;
        row = end;
      }
    }

    /// All lists of one case: COO of every back-end, and the rest of one.
    template <class T, int Dim>
    void check_case(std::uint64_t seed)
    {
      random_case<T, Dim> const of(seed);
      auto const cells = of.list();
      expected_lists<T, Dim> const expected(of, cells);
      auto const backends = tested_backends();
      threads on(2);
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !of.one_set) continue;
        SCOPED_TRACE(which == pairs::half ? "half" : "full");
        for (std::size_t b = 0; b < backends.size(); ++b)
          backends[b].run(
              [&](auto where)
              {
                SCOPED_TRACE(backends[b].name);
                auto const find = [&](auto const& what)
                {
                  return radius_search(where, cells, what);
                };
                auto const find_on_threads = [&](auto const& what)
                {
                  return radius_search(where.with(on), cells, what);
                };
                auto const list = expected.coo(which), rows = expected.csr(which);
                expect_list(find, to_coo{which}, list);
                if (seed % backends.size() != b) return;
                expect_list(find, to_csr{which}, rows);
                expect_list(find, to_csr{which, true}, expected.sorted(which, false));
                auto const turned = expected.sorted(which, which == pairs::half);
                expect_list(find, to_coo{which, true}, turned);
                expect_list(find_on_threads, to_coo{which, true}, turned);
                expect_list(find_on_threads, to_coo{which}, list);
                expect_counts(find(count_pairs{which, true}), find(to_table{which, 7}), rows);
              });
      }
    }
  }

  TYPED_TEST(any_cell, gives_the_pairs_of_the_definition)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(300) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "cell " << seed);
      check_case<typename TypeParam::real, TypeParam::dim>(seed);
    }
  }

  namespace
  {
    template <int Dim>
    struct neighbour
    {
      index_type j;
      detail::image_counters<Dim> image;

      friend bool operator==(neighbour const&, neighbour const&) = default;
      friend std::ostream& operator<<(std::ostream& out, neighbour const& n)
      {
        out << n.j << " in image";
        for (auto const s : n.image) out << " " << s;
        return out;
      }
    };

    /// Row i of points on a plane.
    std::vector<neighbour<2>> row_of(cell_list<double, 2> const& cells, index_type i, pairs which)
    {
      auto const list =
          radius_search(simd, cells, to_csr{.which = which, .images = image_columns::counters});
      std::vector<neighbour<2>> row;
      for (auto p = list.offsets[i]; p < list.offsets[i + 1]; ++p)
        row.push_back({list.columns[p], image_at(list, p)});
      return row;
    }
    using row = std::vector<neighbour<2>>;
  }

  TEST(order_of_rows, is_that_of_positions_in_boxes_of_many_cells)
  {
    // ten cells: point 3 is in the first one, point 0 in the last one
    auto const x = points_at<2>({{9.5, 0}, {1.2, 0}, {8.9, 0}, {0.1, 0}});
    cell_list<double, 2> const cells(x.view(), 0.99, {.period = {10, 0}});
    EXPECT_EQ(row_of(cells, 0, pairs::full), (row{{3, {1, 0}}, {2, {0, 0}}}));
    EXPECT_EQ(row_of(cells, 3, pairs::full), (row{{0, {-1, 0}}}));
    EXPECT_EQ(row_of(cells, 3, pairs::half), (row{{0, {-1, 0}}}));
  }

  TEST(order_of_rows, takes_the_images_of_a_cell_from_the_last_to_the_first)
  {
    auto const one = points_at<2>({{0.3, 0}});
    cell_list<double, 2> const alone(one.view(), 2.5, {.period = {1, 0}});
    EXPECT_EQ(row_of(alone, 0, pairs::full),
              (row{{0, {2, 0}}, {0, {1, 0}}, {0, {-1, 0}}, {0, {-2, 0}}}));
    EXPECT_EQ(row_of(alone, 0, pairs::half), (row{{0, {2, 0}}, {0, {1, 0}}}));

    auto const two = points_at<2>({{0.7, 0}, {0.2, 0}});
    cell_list<double, 2> const cells(two.view(), 1.1, {.period = {1, 0}});
    EXPECT_EQ(row_of(cells, 0, pairs::full),
              (row{{0, {1, 0}}, {1, {1, 0}}, {1, {0, 0}}, {0, {-1, 0}}}));
    EXPECT_EQ(row_of(cells, 0, pairs::half), (row{{0, {1, 0}}, {1, {1, 0}}, {1, {0, 0}}}));
    EXPECT_EQ(row_of(cells, 1, pairs::half), (row{{1, {1, 0}}}));
  }

  TEST(order_of_rows, takes_cells_by_index_in_each_image)
  {
    // two cells: point 1 is in the first one
    auto const x = points_at<2>({{1.5, 0}, {0.5, 0}});
    cell_list<double, 2> const cells(x.view(), 2.5, {.cells_per_cutoff = {3, 1}, .period = {2, 0}});
    ASSERT_EQ(cells.grid().cells[0], 2u);
    EXPECT_EQ(row_of(cells, 0, pairs::full),
              (row{{1, {1, 0}}, {0, {1, 0}}, {1, {0, 0}}, {0, {-1, 0}}}));
    EXPECT_EQ(row_of(cells, 1, pairs::full),
              (row{{1, {1, 0}}, {0, {0, 0}}, {1, {-1, 0}}, {0, {-1, 0}}}));
    EXPECT_EQ(row_of(cells, 0, pairs::half), (row{{0, {1, 0}}}));
    EXPECT_EQ(row_of(cells, 1, pairs::half), (row{{1, {1, 0}}, {0, {0, 0}}, {0, {-1, 0}}}));

    // sorted, those of point 1 are turned and stay in this order
    threads on(2);
    auto const expect_sorted = [&](auto const& where)
    {
      auto const list = radius_search(
          where, cells,
          to_coo{.sorted = true, .displacements = true, .images = image_columns::counters});
      EXPECT_THAT(list.i, testing::ElementsAre(0, 0, 0, 1));
      EXPECT_THAT(list.j, testing::ElementsAre(0, 1, 1, 1));
      EXPECT_THAT(list.images[0], testing::ElementsAre(1, 0, 1, 1));
      EXPECT_THAT(list.displacements[0], testing::ElementsAre(-2, 1, -1, -2));
    };
    expect_sorted(simd);
    expect_sorted(simd.with(on));
  }

  TEST(order_of_rows, takes_the_first_axis_outermost)
  {
    auto const x = points_at<2>({{0.3, 0.3}});
    cell_list<double, 2> const cells(x.view(), 2.2, {.period = {2, 2}});
    EXPECT_EQ(row_of(cells, 0, pairs::full),
              (row{{0, {1, 0}}, {0, {0, 1}}, {0, {0, -1}}, {0, {-1, 0}}}));
    EXPECT_EQ(row_of(cells, 0, pairs::half), (row{{0, {1, 0}}, {0, {0, 1}}}));
  }

  TEST(images_of_lists, are_none_in_open_boxes)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 50);
    cell_list<float, 3> const cells(x.view(), 0.4);
    auto const list = radius_search(simd, cells, to_csr{.images = image_columns::counters});
    auto const packed = radius_search(simd, cells, to_coo{.images = image_columns::packed});
    ASSERT_GT(packed.size(), 0u);
    for (auto const& column : list.images)
    {
      EXPECT_EQ(column.size(), list.columns.size());
      EXPECT_THAT(column, testing::Each(0));
    }
    EXPECT_EQ(packed.packed_images.size(), packed.size());
    EXPECT_THAT(packed.packed_images, testing::Each(512u | 512u << 10 | 512u << 20));
  }

  TEST(images_of_lists, are_those_of_points_as_they_were_given)
  {
    auto const x = points_at<2>({{0.5, -29.5}, {7.25, 0.75}});
    cell_list<double, 2> const cells(x.view(), 0.5, {.period = {1, 10}});
    auto const list = radius_search(
        simd, cells, to_coo{.displacements = true, .images = image_columns::counters});
    // x_1 - (7, 30) is at (0.25, -29.25)
    EXPECT_THAT(list.images[0], testing::ElementsAre(-7));
    EXPECT_THAT(list.images[1], testing::ElementsAre(-3));
    EXPECT_THAT(list.displacements[0], testing::ElementsAre(0.25));
    EXPECT_THAT(list.displacements[1], testing::ElementsAre(-0.25));
  }

  TEST(images_of_lists, may_be_in_reach_where_they_could_not_be_packed)
  {
    auto const x = points_at<2>({{0.25, 0}});
    cell_list<double, 2> const cells(x.view(), 511.5, {.period = {1, 0}});
    EXPECT_EQ(cells.grid().most_images(0), 512);
    auto const list = radius_search(simd, cells, to_csr{.images = image_columns::packed});
    EXPECT_EQ(list.packed_images.size(), 2u * 511);
  }

  TEST(images_of_lists, may_be_too_many_to_be_packed)
  {
    auto const x = points_at<2>({{0.25, 0}, {512.375, 0}});
    cell_list<double, 2> const cells(x.view(), 0.25, {.period = {1, 0}});
    EXPECT_EQ(radius_search(simd, cells, to_coo{.images = image_columns::packed}).packed_images[0],
              0u | 512u << 10);
    threads on(2);
    auto const refused = complains_of("512 vectors", "axis 0", "ask for image_columns::counters");
    auto const expect_refused = [&](auto const& where, auto const& what, auto list)
    {
      EXPECT_THAT([&] { radius_search(where, cells, what, list); }, refused);
      EXPECT_EQ(list.size(), 0u);
    };
    to_csr const full{.images = image_columns::packed};
    expect_refused(simd, full, csr<double, 2>());
    expect_refused(simd.with(on), full, csr<double, 2>());
    auto const y = points_at<2>({{512.375, 0}, {0.25, 0}});
    cell_list<double, 2> const turned(y.view(), 0.25, {.period = {1, 0}});
    to_coo sorted{.sorted = true, .images = image_columns::packed};
    EXPECT_THAT([&] { (void)radius_search(simd, turned, sorted); }, refused);
    sorted.images = image_columns::counters;
    EXPECT_THAT(radius_search(simd, turned, sorted).images[0], testing::ElementsAre(512));
  }

  TEST(any_cell_search, refuses_a_box_whose_images_cannot_be_counted)
  {
    cell<2> const too_sheared{.vectors = {{{1, 0}, {1.5e9 + 0.25, 1}}}, .periodic = {true, true}};
    auto const y = points_at<2>({{0, 0}});
    auto const list = [&]
    {
      cell_list<double, 2>(y.view(), 2.2, {.cell = too_sheared});
    };
    EXPECT_THAT(list, complains_of("too sheared", "shorter"));
  }
}
