#include <nearfield/tree/cell_list.hpp>

#include "complains_of.hpp"
#include "random_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// The key of a point by the documented formula.
    template <class T, int Dim>
    std::uint64_t key_of(detail::cell_grid<T, Dim> const& grid,
                         std::type_identity_t<std::array<T, Dim>> const& given)
    {
      auto const x = grid.frame.reduce(given).at;
      std::uint64_t key = 0;
      for (int a = 0; a < Dim; ++a)
      {
        double const along = grid.frame.is_aligned ? double(x[a]) : grid.along(a, x);
        nearfield::detail::axis_piece piece{0, grid.lower[a], 0};
        for (nearfield::detail::axis_piece const& p :
             std::span(grid.pieces[a].pieces, grid.pieces[a].n))
          if (along >= p.first) piece = p;
        double const place = piece.offset + (along - piece.origin) * grid.inverse_width[a];
        double const cell = std::clamp(std::floor(place), 0., double(grid.cells[a]) - 1);
        key = key * grid.cells[a] + static_cast<std::uint64_t>(cell);
      }
      return key;
    }

    template <class T, int Dim>
    std::vector<index_type> expected_order(detail::cell_grid<T, Dim> const& grid,
                                           points<T, Dim> const& x)
    {
      std::vector<index_type> order(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) order[i] = static_cast<index_type>(i);
      std::ranges::stable_sort(order, {}, [&](index_type i) { return key_of(grid, x[i]); });
      return order;
    }

    /// Boxes are the occupied cells, in order, and the coordinates are sorted with the points: images in the box.
    template <class T, int Dim>
    void expect_boxes(cell_list<T, Dim> const& cells, points<T, Dim> const& x)
    {
      auto const order = expected_order(cells.grid(), x);
      ASSERT_TRUE(std::ranges::equal(cells.target_order(), order));
      boxes const found = cells.targets();
      std::set<std::uint64_t> keys;
      for (std::size_t i = 0; i < x.size(); ++i) keys.insert(key_of(cells.grid(), x[i]));
      ASSERT_EQ(found.size(), keys.size());
      auto const images = cells.view().target_images;
      auto const moves = cells.target_moves();
      ASSERT_EQ(moves.size(), images.size());
      bool has_moved = false;
      auto key = keys.begin();
      for (index_type b = 0; b < found.size(); ++b, ++key)
        for (index_type p = found.begin(b); p < found.end(b); ++p)
        {
          EXPECT_EQ(key_of(cells.grid(), x[order[p]]), *key);
          auto const inside = cells.grid().frame.reduce(x[order[p]]);
          has_moved |= inside.image != detail::image_counters<Dim>{};
          auto const shift = cells.grid().frame.shift(inside.image);
          if (!images.empty())
          {
            EXPECT_EQ(images[order[p]], inside.image);
          }
          for (int a = 0; a < Dim; ++a)
          {
            EXPECT_EQ(cells.target_positions()[a][p], inside.at[a]);
            if (!images.empty())
            {
              EXPECT_EQ(moves[p][a], -shift[a]);
            }
          }
        }
      EXPECT_EQ(!images.empty(), has_moved);
    }

    /// A source that a box meets, in an image.
    template <int Dim>
    struct met
    {
      index_type position;
      detail::image_counters<Dim> image;

      friend bool operator==(met const&, met const&) = default;
    };

    /// What ranges hold, one source after another.
    template <class T, int Dim>
    std::vector<met<Dim>> sources_of(cell_list<T, Dim> const& cells,
                                     std::span<interaction_list::range const> ranges)
    {
      auto const view = cells.view();
      std::vector<met<Dim>> sources;
      for (interaction_list::range const& range : ranges)
      {
        EXPECT_LT(range.begin, range.end);
        detail::image_counters<Dim> image{};
        if (!view.systems[0].images.empty()) image = view.systems[0].images[range.shift];
        for (index_type p = range.begin; p < range.end; ++p) sources.push_back({p, image});
      }
      return sources;
    }

    /// No range could be merged with the one before, but for images of the box itself.
    void expect_merged(interaction_list const& list, index_type b)
    {
      auto const own = list.own[b];
      interaction_list::range const* before = nullptr;
      for (interaction_list::range const& range : list.neighbours(b))
      {
        if (before && before->end == range.begin && before->shift == range.shift)
        {
          EXPECT_TRUE(before->begin == own.begin || range.begin == own.begin);
        }
        before = &range;
      }
    }

    /// The cells within reach of one, each in its image, in the order of lists.
    template <class T, int Dim>
    std::vector<std::pair<std::uint64_t, std::array<int, Dim>>>
    cells_in_reach(detail::cell_grid<T, Dim> const& grid,
                   std::type_identity_t<std::array<int, Dim>> const& at)
    {
      std::vector<std::pair<std::uint64_t, std::array<int, Dim>>> found{{0, {}}};
      for (int a = 0; a < Dim; ++a)
      {
        auto const outer = std::move(found);
        found.clear();
        int const n = static_cast<int>(grid.cells[a]), most = grid.most_images(a);
        for (auto const& [key, image] : outer)
          for (int turn = most; turn >= -most; --turn)
            for (int i = std::max(0, at[a] - grid.reach[a] - turn * n);
                 i < n && i + turn * n <= at[a] + grid.reach[a]; ++i)
            {
              found.emplace_back(key * grid.cells[a] + static_cast<std::uint64_t>(i), image);
              found.back().second[a] = turn;
            }
      }
      return found;
    }

    template <class T, int Dim>
    void expect_lists(cell_list<T, Dim> const& cells)
    {
      auto const view = cells.view();
      detail::cell_grid<T, Dim> const& grid = cells.grid();
      auto const& images = view.systems[0].images;
      for (std::size_t s = 0; s < images.size(); ++s)
        for (int a = 0; a < Dim; ++a)
          EXPECT_EQ(view.full.shifts[s][a], grid.frame.shift(images[s])[a]);
      auto const cell_at = [&](soa<T const, Dim> const& columns, index_type p)
      {
        std::array<T, Dim> x;
        for (int a = 0; a < Dim; ++a) x[a] = columns[a][p];
        std::array<int, Dim> at;
        for (int a = 0; a < Dim; ++a) at[a] = static_cast<int>(grid.index(a, x));
        return at;
      };
      auto const key_at = [&](std::array<int, Dim> const& at)
      {
        std::array<std::uint32_t, Dim> index;
        for (int a = 0; a < Dim; ++a) index[a] = static_cast<std::uint32_t>(at[a]);
        return grid.key(index);
      };
      std::map<std::uint64_t, index_type> box_of; // a key
      for (index_type b = 0; b < cells.size(); ++b)
        box_of[key_at(view.targets.count(b) > 0 ? cell_at(view.target_x, view.targets.begin(b))
                                                : cell_at(view.source_x, view.sources.begin(b)))] =
            b;
      EXPECT_EQ(box_of.size(), cells.size());
      bool const has_own_images = grid.meets_several_images();
      EXPECT_EQ(view.full_own_at.size(), has_own_images ? cells.size() : 0u);
      for (index_type b = 0; b < cells.size(); ++b)
      {
        EXPECT_EQ(view.full.own[b].begin, view.sources.begin(b));
        EXPECT_EQ(view.full.own[b].end, view.sources.end(b));
        if (view.targets.count(b) == 0)
        {
          EXPECT_TRUE(view.full.neighbours(b).empty());
          continue;
        }
        std::vector<met<Dim>> expected, later, later_boxes;
        std::size_t before_own = 0, later_before_own = 0;
        for (auto const& [key, turns] :
             cells_in_reach(grid, cell_at(view.target_x, view.targets.begin(b))))
        {
          auto const box = box_of.find(key);
          if (box == box_of.end()) continue;
          bool const is_own = box->second == b;
          if (is_own && turns == std::array<int, Dim>{})
          {
            before_own = expected.size();
            later_before_own = later.size();
            continue;
          }
          auto const image = grid.frame.image_of(turns);
          for (index_type p = view.sources.begin(box->second); p < view.sources.end(box->second);
               ++p)
          {
            expected.push_back({p, image});
            if (is_own || box->second > b) later.push_back({p, image});
            if (is_own ? detail::is_positive(image) : box->second > b)
              later_boxes.push_back({p, image});
          }
        }
        ASSERT_EQ(sources_of(cells, view.full.neighbours(b)), expected);
        expect_merged(view.full, b);
        auto const expect_own_at = [&](interaction_list const& list,
                                       std::span<index_type const> own_at, std::size_t n_before)
        {
          if (has_own_images)
          {
            EXPECT_EQ(sources_of(cells, list.neighbours(b).first(own_at[b])).size(), n_before);
          }
        };
        expect_own_at(view.full, view.full_own_at, before_own);
        EXPECT_EQ(sources_of(cells, cells.interactions().neighbours(b)), expected);
        if (!cells.has_one_set()) continue;
        ASSERT_EQ(sources_of(cells, view.half.neighbours(b)), later);
        expect_merged(view.half, b);
        expect_own_at(view.half, view.half_own_at, later_before_own);
        EXPECT_EQ(sources_of(cells, cells.half_interactions().neighbours(b)), later_boxes);
      }
    }
  }

  TEST(cell_list, sorts_points_by_cell_and_then_by_index)
  {
    for (cloud const shape : all_clouds)
    {
      auto const x = make_points<double, 3>(shape, 400);
      auto const y = make_points<float, 2>(shape, 400);
      expect_boxes(cell_list<double, 3>(x.view(), 0.1), x);
      expect_boxes(cell_list<float, 2>(y.view(), 0.05), y);
      // keys are sorted in place of counted cells
      expect_boxes(cell_list<double, 3>(x.view(), 1e-3), x);
      expect_boxes(cell_list<float, 2>(y.view(), 1e-6), y);
    }
  }

  TEST(cell_list, lists_the_cells_in_reach_once)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 150);
    auto const y = make_points<double, 3>(cloud::plummer, 60, 7);
    auto const plane = make_points<float, 2>(cloud::uniform, 150);
    for (int k = 0; k <= 3; ++k)
      for (int axes = 0; axes < 8; ++axes)
        for (double const cutoff : {0.05, 0.2, 0.3, 0.6, 1.3})
        {
          SCOPED_TRACE(testing::Message() << k << " cells, axes " << axes << ", " << cutoff);
          cell_list_options<double, 3> options;
          cell_list_options<float, 2> in_plane;
          options.cells_per_cutoff.fill(k);
          in_plane.cells_per_cutoff.fill(k);
          for (int a = 0; a < 3; ++a)
            if (axes >> a & 1) options.period[a] = 1;
          for (int a = 0; a < 2; ++a)
            if (axes >> a & 1) in_plane.period[a] = 1;
          expect_lists(cell_list<double, 3>(x.view(), cutoff, options));
          expect_lists(cell_list<float, 2>(plane.view(), cutoff, in_plane));
          if (axes % 7 > 0) continue;
          auto wrapped = y;
          for (auto& column : wrapped.columns)
            for (double& value : column) value -= std::floor(value);
          expect_lists(cell_list<double, 3>(wrapped.view(), x.view(), cutoff, options));
        }
  }

  template <class T, int Dim>
  void expect_lists_of_any_box()
  {
    random_numbers random(21);
    for (int k = 0; k < 60; ++k)
    {
      SCOPED_TRACE(k);
      cell_list_options<T, Dim> options{.cell = random_cell<Dim>(random, 1)};
      for (int& n : options.cells_per_cutoff) n = static_cast<int>(random.below(4));
      detail::cell_frame<Dim> const frame(options.cell);
      auto const x = points_around<T, Dim>(random, frame, 1, 1 + random.below(30));
      auto const y = points_around<T, Dim>(random, frame, 1, 1 + random.below(30));
      cell_list<T, Dim> cells(x.view(), 1, options);
      expect_boxes(cells, x);
      expect_lists(cells);
      cells.rebuild(x.view(), y.view());
      expect_lists(cells);
      cells.rebuild(y.view(), 0.5);
      expect_boxes(cells, y);
      expect_lists(cells);
    }
  }
  TEST(cell_list, takes_any_box_and_points_anywhere)
  {
    expect_lists_of_any_box<double, 3>();
    expect_lists_of_any_box<float, 3>();
    expect_lists_of_any_box<double, 2>();
    expect_lists_of_any_box<float, 2>();
  }

  TEST(cell_list, deduces_its_type_from_columns)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 50);
    std::vector<float> a = x.columns[0], b = x.columns[1];
    cell_list const plane{soa{a, b}, 0.1, {.period = {1, 0}}};
    static_assert(std::is_same_v<decltype(plane), cell_list<float, 2> const>);
    EXPECT_TRUE(plane.grid().wraps[0]);
    EXPECT_FALSE(plane.grid().wraps[1]);
    cell_list const two{x.view(), x.view(), 0.1};
    static_assert(std::is_same_v<decltype(two), cell_list<float, 3> const>);
    EXPECT_FALSE(two.has_one_set());
    EXPECT_EQ(plane.cutoff(), 0.1f);
  }

  TEST(cell_list, takes_memory_for_occupied_cells_only)
  {
    // two clusters at the ends of 10^18 cells
    auto x = make_points<double, 3>(cloud::uniform, 200);
    for (auto& column : x.columns)
      for (std::size_t i = 0; i < 100; ++i) column[i] += 1e6;
    cell_list<double, 3> const cells(x.view(), 0.5);
    EXPECT_LE(cells.size(), 200u);
    EXPECT_LE(cells.view().full.ranges.size(), 200u * 27);
    expect_boxes(cells, x);
    expect_lists(cells);
    // wider than 2^21 cells: gaps are left out, one empty cell for each
    x.columns[0][0] = 1e9;
    cell_list<double, 3> const wide(x.view(), 0.5);
    EXPECT_EQ(wide.grid().pieces[0].n, 3u);
    EXPECT_EQ(wide.grid().cells[0], 2u + 1 + 2 + 1 + 1);
    EXPECT_EQ(wide.grid().pieces[1].n, 0u);
    EXPECT_EQ(wide.grid().inverse_width[0], wide.grid().inverse_width[1]);
    expect_boxes(wide, x);
    expect_lists(wide);
  }

  TEST(cell_list, rebuilds_in_the_memory_that_is_there)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 500);
    auto const y = make_points<double, 3>(cloud::uniform, 400, 8);
    cell_list<double, 3> cells(x.view(), 0.2);
    double const* const column = cells.target_positions()[0];
    cells.rebuild(y.view());
    EXPECT_EQ(cells.target_positions()[0], column);
    EXPECT_EQ(cells.cutoff(), 0.2);
    expect_boxes(cells, y);
    expect_lists(cells);
    cells.rebuild(x.view(), 0.3);
    EXPECT_EQ(cells.target_positions()[0], column);
    EXPECT_EQ(cells.cutoff(), 0.3);
    expect_lists(cells);
    cells.rebuild(x.view(), y.view());
    EXPECT_FALSE(cells.has_one_set());
    expect_lists(cells);
    cells.rebuild(y.view());
    EXPECT_TRUE(cells.has_one_set());
    expect_lists(cells);
  }

  TEST(cell_list, can_be_rebuilt_after_it_was_moved_from)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    cell_list<double, 3> cells(x.view(), 0.2);
    cell_list<double, 3> const other(std::move(cells));
    cells.rebuild(x.view(), 0.3);
    expect_boxes(cells, x);
    expect_lists(cells);
    expect_lists(other);
  }

  TEST(cell_list, stays_as_it_was_where_rebuild_throws)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    auto bad = x;
    bad.columns[1][7] = std::numeric_limits<double>::quiet_NaN();
    cell_list<double, 3> cells(x.view(), 0.2);
    EXPECT_THROW(cells.rebuild(bad.view()), error);
    EXPECT_THROW(cells.rebuild(x.view(), -1), error);
    expect_boxes(cells, x);
    expect_lists(cells);
    EXPECT_EQ(cells.cutoff(), 0.2);
  }

  TEST(cell_list, moves_points_that_are_outside_alone)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 10);
    for (double const value : {std::nextafter(1., 0.), -0., 0.})
    {
      auto edge = x;
      edge.columns[0][4] = value;
      cell_list<double, 3> const cells(edge.view(), 0.1, {.period = {1, 1, 1}});
      EXPECT_TRUE(cells.target_moves().empty());
      expect_boxes(cells, edge);
    }
    auto outside = x;
    outside.columns[0][4] = 1;
    outside.columns[2][7] = -2.25;
    cell_list<double, 3> const cells(outside.view(), 0.1, {.period = {1, 1, 1}});
    expect_boxes(cells, outside);
    for (index_type p = 0; p < 10; ++p)
    {
      index_type const i = cells.target_order()[p];
      EXPECT_EQ(cells.target_moves()[p], (std::array{i == 4 ? -1. : 0., 0., i == 7 ? 3. : 0.}));
    }
    cell_list<double, 3> const two(x.view(), outside.view(), 0.1, {.period = {1, 1, 1}});
    EXPECT_TRUE(two.target_moves().empty());
    EXPECT_EQ(two.source_moves().size(), 10u);
  }

  TEST(cell_list, gives_lists_to_near_field)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 60);
    // the period holds 2 cells, of which each meets the other one in two images
    cell_list<double, 3> const few(x.view(), 0.45, {.period = {1, 0, 0}});
    EXPECT_EQ(few.grid().cells[0], 2u);
    expect_lists(few);
    cell_list<double, 3> const two(x.view(), x.view(), 0.1);
    EXPECT_THAT([&] { (void)two.half_interactions(); }, complains_of("two sets"));
    EXPECT_EQ(two.interactions().own.size(), two.size());
  }
}
