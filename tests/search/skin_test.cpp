#include "batch_case.hpp"
#include "complains_of.hpp"
#include "image_pairs.hpp"
#include "search/image_lists.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <vector>

// Lists that are kept while points move by less than a skin have the pairs of new ones.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class skin : public testing::Test
    {};
    TYPED_TEST_SUITE(skin, search_kinds);

    /// But for those that rounding decides about.
    template <class T, int Dim>
    testing::AssertionResult same_but_for_rounding(image_pair_list<Dim> const& found,
                                                   image_definition<T, Dim> const& definition,
                                                   double cutoff)
    {
      auto const expected = definition.full();
      image_pair_list<Dim> different;
      std::ranges::set_symmetric_difference(found, expected, std::back_inserter(different));
      for (auto const& p : different)
        if (std::abs(double(definition.exact(p.i, p.j, p.image)) - cutoff) >
            4 * definition.rounding())
          return testing::AssertionFailure()
                 << p << " of " << found.size() << " pairs, expected " << expected.size() << ", at "
                 << double(definition.exact(p.i, p.j, p.image)) << " for a cutoff of " << cutoff;
      return testing::AssertionSuccess();
    }

    /// A system whose points walk, and are wrapped by vectors now and then, and whose box is strained.
    template <class T, int Dim>
    struct walk
    {
      random_numbers& random;
      cell<Dim> box;
      double cutoff;
      points<T, Dim> x;

      void step(double by, double strain, bool wraps)
      {
        std::array<std::array<double, Dim>, Dim> stretch{};
        for (auto& row : stretch)
          for (double& value : row) value = random.uniform(-strain, strain);
        auto const stretched = [&](std::array<double, Dim> const& v)
        {
          auto moved = v;
          for (int a = 0; a < Dim; ++a)
            for (int b = 0; b < Dim; ++b) moved[a] += stretch[a][b] * v[b];
          return moved;
        };
        for (int a = 0; a < Dim; ++a)
          if (box.periodic[a]) box.vectors[a] = stretched(box.vectors[a]);
        detail::cell_frame<Dim> const frame(box);
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          std::array<double, Dim> turns{};
          for (int a = 0; a < Dim; ++a)
            if (wraps && frame.periodic[a] && random.below(8) == 0)
              turns[a] = double(random.below(5)) - 2;
          auto const shift = frame.shift(turns);
          for (int a = 0; a < Dim; ++a)
            x.columns[a][i] = T(double(x.columns[a][i]) + random.uniform(-by, by) + shift[a]);
        }
      }
    };

    /// In a box and the ones beside it.
    template <class T, int Dim>
    points<T, Dim> points_near(random_numbers& random, cell<Dim> const& box, std::size_t n)
    {
      detail::cell_frame<Dim> const frame(box);
      points<T, Dim> x;
      for (std::size_t i = 0; i < n; ++i)
      {
        std::array<double, Dim> shares;
        for (double& share : shares) share = random.uniform(-1, 2);
        auto at = frame.shift(shares);
        for (int a = 0; a < Dim; ++a) at[a] += frame.origin[a];
        x.push_back(at);
      }
      return x;
    }

    template <int Dim>
    cell<Dim> box_of_some_cutoffs(random_numbers& random, double cutoff)
    {
      for (;;)
      {
        auto const box = random_cell<Dim>(random, cutoff);
        detail::cell_frame<Dim> const frame(box);
        double images = 1;
        for (int a = 0; a < Dim; ++a)
          if (frame.periodic[a]) images *= 1 + 2 * cutoff / frame.thickness[a];
        if (images < 200) return box;
      }
    }
  }

  TYPED_TEST(skin, keeps_the_pairs_of_a_walk)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    std::size_t rebuilt = 0, steps = 0;
    for (std::uint64_t seed = 1; seed <= number_of_cells(12); ++seed)
    {
      SCOPED_TRACE(seed);
      random_numbers random(seed);
      double const cutoff = 1;
      auto const box = box_of_some_cutoffs<Dim>(random, cutoff);
      auto const set = [&]
      {
        return points_near<T, Dim>(random, box, 4 + random.below(12));
      };
      walk<T, Dim> a{random, box, cutoff, set()}, b{random, box, cutoff, set()};
      bool const one_set = seed % 3 > 0, is_strained = seed % 2 == 0;
      cell_list_options<T, Dim> options{.cell = box};
      options.skin = seed % 4 < 2 ? 0.3 : 0.1;
      options.skin_is = seed % 4 == 0 ? skin_meaning::each : skin_meaning::total;
      threads on(1 + static_cast<int>(seed % 3));
      auto cells = one_set
                       ? cell_list<T, Dim>(simd.with(on), a.x.view(), cutoff, options)
                       : cell_list<T, Dim>(simd.with(on), a.x.view(), b.x.view(), cutoff, options);
      for (int step = 0; step < 40; ++step, ++steps)
      {
        a.step(0.02, is_strained ? 1e-3 : 0, step > 0);
        b.box = a.box;
        b.step(0.02, 0, true);
        bool const needs = one_set ? cells.needs_rebuild(a.x.view(), a.box)
                                   : cells.needs_rebuild(a.x.view(), b.x.view(), a.box);
        bool const rebuilds =
            one_set ? cells.update(a.x.view(), a.box) : cells.update(a.x.view(), b.x.view(), a.box);
        ASSERT_EQ(needs, rebuilds) << "step " << step;
        rebuilt += rebuilds;
        image_definition<T, Dim> const definition(a.box, a.x, one_set ? a.x : b.x, T(cutoff));
        ASSERT_TRUE(
            same_but_for_rounding(listed_pairs(simd, cells, pairs::full), definition, cutoff))
            << "step " << step << ", rebuilt " << rebuilds;
        if (!one_set) continue;
        auto both = listed_pairs(simd.with(on), cells, pairs::half);
        for (std::size_t p = 0, n = both.size(); p < n; ++p)
        {
          image_pair<Dim> turned{both[p].j, both[p].i, {}};
          for (int c = 0; c < Dim; ++c) turned.image[c] = -both[p].image[c];
          both.push_back(turned);
        }
        std::ranges::sort(both);
        ASSERT_EQ(both, listed_pairs(simd, cells, pairs::full));
      }
    }
    EXPECT_GT(rebuilt, steps / 50);
    EXPECT_LT(rebuilt, steps / 2);
  }

  // A list that is kept is that of a new one, with r2, d and S, where nothing is rounded.
  TEST(skins, columns_are_those_of_a_new_list)
  {
    random_numbers random(7);
    points<double, 3> x;
    for (int i = 0; i < 60; ++i)
      x.push_back({std::floor(random.uniform() * 256) / 64, std::floor(random.uniform() * 256) / 64,
                   std::floor(random.uniform() * 256) / 64});
    cell<3> const box = cube(4);
    cell_list<double, 3> cells(x.view(), 1.25, {.cell = box, .skin = 0.5});
    for (int step = 0; step < 8; ++step)
    {
      for (auto& column : x.columns)
        for (double& value : column)
          value += (double(random.below(3)) - 1) / 64 + (random.below(9) == 0 ? 4 : 0);
      ASSERT_FALSE(cells.update(x.view()));
      cell_list<double, 3> const fresh(x.view(), 1.25, {.cell = box});
      for (pairs const which : {pairs::full, pairs::half})
        EXPECT_EQ(radius_search(simd, cells, count_pairs{which}).total,
                  radius_search(simd, fresh, count_pairs{which}).total);
      to_coo const what{pairs::full, true, true, true, image_columns::counters};
      using column = std::vector<double>;
      auto const entries = [&](coo<double, 3> const& list)
      {
        std::vector<column> found;
        for (std::size_t p = 0; p < list.size(); ++p)
          found.push_back({double(list.i[p]), double(list.j[p]), double(list.images[0][p]),
                           double(list.images[1][p]), double(list.images[2][p]), list.r2[p],
                           list.displacements[0][p], list.displacements[1][p],
                           list.displacements[2][p]});
        std::ranges::sort(found);
        return found;
      };
      EXPECT_EQ(entries(radius_search(simd, cells, what)),
                entries(radius_search(simd, fresh, what)));
      for (std::size_t p = 0; p < x.size(); ++p)
        for (int a = 0; a < 3; ++a)
          EXPECT_EQ(cells.target_positions()[a][p],
                    x.columns[a][cells.target_order()[p]] +
                        (cells.target_moves().empty() ? 0 : cells.target_moves()[p][a]));
    }
  }

  TEST(skins, limits_are_those_of_the_two_meanings)
  {
    auto const at = [](double first, double second)
    {
      return points_at<2>({{first, 1}, {second, 1}});
    };
    auto const box = cell<2>::of_lengths(std::array{8., 8.});
    for (auto const meaning : {skin_meaning::total, skin_meaning::each})
    {
      bool const each = meaning == skin_meaning::each;
      cell_list_options<double, 2> const options{
          .cell = box, .skin = each ? 0.25 : 0.5, .skin_is = meaning};
      auto const x = at(1, 3);
      cell_list<double, 2> cells(x.view(), 1.5, options);
      EXPECT_EQ(radius_search(simd, cells, count_pairs{}).total, 0u);
      auto const limit = at(1.25, 2.75), beyond = at(1.25, std::nextafter(2.75, 0)),
                 wrapped = at(1.25 - 16, 2.75 + 8);
      EXPECT_FALSE(cells.needs_rebuild(limit.view()));
      EXPECT_TRUE(cells.needs_rebuild(beyond.view()));
      EXPECT_FALSE(cells.needs_rebuild(wrapped.view()));
      EXPECT_FALSE(cells.update(wrapped.view()));
      EXPECT_EQ(listed_pairs(simd, cells, pairs::full), (image_pair_list<2>{}));
      // R itself does not count
      EXPECT_FALSE(cells.update(at(1.25, std::nextafter(2.75, 3)).view()));
      EXPECT_EQ(radius_search(simd, cells, count_pairs{}).total, 0u);
      EXPECT_TRUE(cells.update(beyond.view()));
      EXPECT_EQ(radius_search(simd, cells, count_pairs{}).total, 1u);
      // of the box: the farthest of the images that cells reach moves by more than the box grows
      auto larger = box;
      larger.vectors[0][0] += 0.125;
      EXPECT_FALSE(cells.needs_rebuild(beyond.view(), larger));
      larger.vectors[0][0] += 0.5;
      EXPECT_TRUE(cells.needs_rebuild(beyond.view(), larger));
      auto open = box;
      open.periodic[1] = false;
      EXPECT_TRUE(cells.needs_rebuild(beyond.view(), open));
      EXPECT_TRUE(cells.needs_rebuild(points_at<2>({{1, 1}}).view()));
    }
    // without a skin, always
    auto const x = at(1, 3);
    cell_list<double, 2> cells(x.view(), 1.5);
    EXPECT_TRUE(cells.needs_rebuild(x.view()));
    EXPECT_TRUE(cells.update(x.view()));
  }

  TEST(skins, of_what_is_no_number)
  {
    auto x = points_at<3>({{1, 1, 1}, {1, 2, 1}, {3, 3, 3}});
    cell<3> box = cube(6);
    cell_list<double, 3> cells(x.view(), 1.5, {.cell = box, .skin = 0.5});
    auto const kept = listed_pairs(simd, cells, pairs::full);
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    x.columns[1][2] = nan;
    EXPECT_TRUE(cells.needs_rebuild(x.view()));
    EXPECT_THAT([&] { cells.update(x.view()); }, complains_of("coordinate 1 of point 2", "nan"));
    x.columns[1][2] = 1e300;
    EXPECT_THAT([&] { cells.update(x.view()); }, complains_of("point 2", "2^29"));
    x.columns[1][2] = 3;
    box.vectors[2][0] = nan;
    EXPECT_THAT([&] { cells.update(x.view(), box); }, complains_of("cell"));
    EXPECT_EQ(listed_pairs(simd, cells, pairs::full), kept);
    EXPECT_FALSE(cells.update(x.view()));
    EXPECT_EQ(listed_pairs(simd, cells, pairs::full), kept);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE((cell_list<double, 3>(points_at<3>({{1, 1, 1}}).view(), 1.5, {.skin = 1e200})
                     .needs_rebuild(points_at<3>({{infinity, 1, 1}}).view())));
    for (double const skin : {-1., nan, infinity})
      EXPECT_THAT(([&] { cell_list<double, 3>(x.view(), 1.5, {.skin = skin}); }),
                  complains_of("the skin is"));
  }

  // A batch of walks, each with its box.
  TEST(skins, of_a_batch)
  {
    random_numbers random(3);
    std::vector<walk<double, 3>> walks;
    std::vector<cell<3>> boxes;
    std::vector<double> cutoffs;
    for (int s = 0; s < 6; ++s)
    {
      double const cutoff = random.uniform(0.8, 1.2);
      auto const box = s == 4 ? cell<3>() : box_of_some_cutoffs<3>(random, cutoff);
      points<double, 3> x;
      for (std::size_t i = 0; i < 3 * random.below(6); ++i)
        x.push_back({random.uniform(0, 3), random.uniform(0, 3), random.uniform(0, 3)});
      walks.push_back({random, box, cutoff, x});
      boxes.push_back(box);
      cutoffs.push_back(cutoff);
    }
    for (bool const mixed : {false, true})
    {
      auto const together = [&]
      {
        std::vector<points<double, 3>> all;
        for (auto const& one : walks) all.push_back(one.x);
        random_numbers same(5);
        return batch_points<double, 3>(all, mixed, same);
      };
      auto all = together();
      threads on(2);
      cell_list_options<double, 3> options;
      options.skin = 0.1;
      for (std::size_t s = 0; s < walks.size(); ++s) boxes[s] = walks[s].box;
      cell_list<double, 3> cells(
          simd.with(on), all.x.view(),
          {.offsets = all.of.offsets, .cutoffs = cutoffs, .cells = boxes, .order = all.of.order},
          options);
      int rebuilt = 0;
      for (int step = 0; step < 60; ++step)
      {
        for (std::size_t s = 0; s < walks.size(); ++s)
        {
          walks[s].step(0.01, s % 2 == 0 ? 1e-4 : 0, true);
          boxes[s] = walks[s].box;
        }
        all = together();
        rebuilt += cells.update(all.x.view(), boxes);
        auto const found = listed_pairs(simd.with(on), cells, pairs::full);
        std::vector<image_pair_list<3>> of_system(walks.size());
        for (auto const& p : found) of_system[std::size_t(all.column[p.i])].push_back(p);
        for (std::size_t s = 0; s < walks.size(); ++s)
        {
          for (auto& p : of_system[s])
            for (index_type* const i : {&p.i, &p.j})
              for (index_type k = 0; k < walks[s].x.size(); ++k)
                if (all.index(s, k) == *i)
                {
                  *i = k;
                  break;
                }
          std::ranges::sort(of_system[s]);
          auto const& one = walks[s];
          image_definition<double, 3> const definition(one.box, one.x, one.x, one.cutoff);
          ASSERT_TRUE(same_but_for_rounding(of_system[s], definition, one.cutoff))
              << "system " << s << ", step " << step;
        }
      }
      EXPECT_GT(rebuilt, 2);
      EXPECT_LT(rebuilt, 30);
    }
  }

  // vesin 172: a list with a skin was not built again where the box changed, and pairs were missing.
  TEST(skin, refuses_a_box_that_is_none_of_a_system_without_points)
  {
    auto const x = points_at<2>({{0, 0}, {1, 0}});
    std::vector<index_type> const offsets{0, 2, 2};
    std::vector<double> const cutoffs{0.5};
    cell<2> const square{.vectors = {{{3, 0}, {0, 3}}}, .periodic = {true, true}};
    cell<2> line = square;
    line.vectors[1] = {3, 0};
    std::vector<cell<2>> const boxes{square, square}, bad{square, line};
    cell_list<double, 2> cells(x.view(), {.offsets = offsets, .cutoffs = cutoffs, .cells = boxes},
                               {.skin = 0.2});
    EXPECT_FALSE(cells.needs_rebuild(x.view(), boxes));
    EXPECT_TRUE(cells.needs_rebuild(x.view(), bad));
    EXPECT_THAT([&] { cells.update(x.view(), bad); }, complains_of("system 1", "vector"));
    EXPECT_EQ(radius_search(simd, cells, count_pairs{}).total, 0u);
  }

  TEST(reported_cases, vesin_172_a_list_is_kept_while_the_box_changes)
  {
    random_numbers random(172);
    auto const normal = [&]
    {
      return std::sqrt(-2 * std::log(1 - random.uniform())) *
             std::cos(2 * std::numbers::pi * random.uniform());
    };
    for (double const change : {0.3, 0.002})
      for (bool const slab : {false, true})
        for (auto const meaning : {skin_meaning::total, skin_meaning::each})
        {
          cell<3> box = cube(5);
          box.periodic[2] = !slab;
          points<double, 3> x;
          for (int i = 0; i < 5; ++i)
            x.push_back({random.uniform(0, 5), random.uniform(0, 5), random.uniform(0, 5)});
          cell_list<double, 3> cells(x.view(), 3, {.cell = box, .skin = 0.5, .skin_is = meaning});
          int rebuilt = 0;
          for (int step = 0; step < 100; ++step)
          {
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b) box.vectors[a][b] = (a == b ? 5 : 0) + change * normal();
            for (auto& column : x.columns)
              for (double& value : column) value += 0.05 * normal();
            rebuilt += cells.update(x.view(), box);
            image_definition<double, 3> const definition(box, x, x, 3);
            ASSERT_TRUE(
                same_but_for_rounding(listed_pairs(simd, cells, pairs::full), definition, 3))
                << "step " << step;
          }
          if (change == 0.3)
          {
            EXPECT_GT(rebuilt, 60);
          }
          else
            EXPECT_THAT(rebuilt, testing::AllOf(testing::Gt(4), testing::Lt(50)));
        }
  }
}
