#include "cell_kinds.hpp"
#include "complains_of.hpp"
#include "image_pairs.hpp"
#include "random_cells.hpp"

#include <nearfield/core/cell.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using detail::cell_frame;
    using detail::reduced_point;

    template <class K>
    class cells : public ::testing::Test
    {};
    TYPED_TEST_SUITE(cells, cell_kinds);
  }

  TYPED_TEST(cells, have_a_frame_of_the_same_lattice)
  {
    constexpr int dim = TypeParam::dim;
    random_numbers random(11);
    for (std::uint64_t k = 0; k < number_of_cells(400); ++k)
    {
      SCOPED_TRACE(k);
      auto const given = random_cell<dim>(random, 1);
      cell_frame<dim> const frame(given);
      for (int a = 0; a < dim; ++a)
      {
        double const length = std::sqrt(dot(frame.reduced[a], frame.reduced[a]));
        EXPECT_NEAR(dot(frame.normals[a], frame.normals[a]), 1, 1e-15);
        for (int b = 0; b < dim; ++b)
          if (a != b)
          {
            EXPECT_NEAR(dot(frame.normals[a], frame.reduced[b]) /
                            std::sqrt(dot(frame.reduced[b], frame.reduced[b])),
                        0, 1e-15);
          }
        if (!frame.periodic[a])
        {
          EXPECT_EQ(frame.vectors[a], frame.reduced[a]);
          EXPECT_NEAR(length, 1, 1e-15);
          EXPECT_EQ(frame.thickness[a], 0);
          for (int b = 0; b < dim; ++b)
            if (b != a)
            {
              EXPECT_NEAR(dot(frame.reduced[a], frame.reduced[b]), 0, 1e-14 * length * 1e4);
            }
          continue;
        }
        EXPECT_EQ(frame.vectors[a], given.vectors[a]);
        // that of the face-centred cubic lattice is .82, and none is flatter
        EXPECT_GT(frame.thickness[a], (dim == 3 ? .7 : .86) * length);
        EXPECT_LT(frame.thickness[a], (1 + 1e-14) * length);
        std::array<double, dim> sum{};
        for (int b = 0; b < dim; ++b)
        {
          EXPECT_EQ(frame.basis[a][b], std::round(frame.basis[a][b]));
          for (int c = 0; c < dim; ++c) sum[c] += frame.basis[a][b] * frame.vectors[b][c];
        }
        for (int c = 0; c < dim; ++c) EXPECT_NEAR(sum[c], frame.reduced[a][c], 1e-12);
      }
      auto const& m = frame.basis;
      double const determinant =
          dim == 2 ? m[0][0] * m[1][1] - m[0][1] * m[1][0]
                   : m[0][0] * (m[1][1] * m[dim - 1][dim - 1] - m[1][dim - 1] * m[dim - 1][1]) -
                         m[0][1] * (m[1][0] * m[dim - 1][dim - 1] - m[1][dim - 1] * m[dim - 1][0]) +
                         m[0][dim - 1] * (m[1][0] * m[dim - 1][1] - m[1][1] * m[dim - 1][0]);
      EXPECT_EQ(std::abs(determinant), 1);
    }
  }

  TYPED_TEST(cells, take_every_point_into_the_box)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(12);
    for (std::uint64_t k = 0; k < number_of_cells(400); ++k)
    {
      SCOPED_TRACE(k);
      auto const given = random_cell<dim>(random, 1);
      cell_frame<dim> const frame(given);
      auto const x = points_around<T, dim>(random, frame, 1, 40);
      image_definition<T, dim> const pairs(given, x, x, 1);
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        auto const& point = pairs.target(i);
        ASSERT_TRUE(point.fits);
        std::array<double, dim> at;
        double size = 0, longest = 0; // of the point, and of what is added and subtracted
        for (int b = 0; b < dim; ++b)
        {
          at[b] = double(point.at[b]);
          size += std::abs(at[b]);
          longest += std::abs(given.origin[b]);
          for (auto const& v : frame.vectors) longest += std::abs(v[b]);
          long double back = at[b];
          for (int a = 0; a < dim; ++a)
            back += static_cast<long double>(point.image[a]) * frame.vectors[a][b];
          EXPECT_NEAR(double(back - static_cast<long double>(x[i][b])), 0, pairs.rounding());
        }
        double const beside = double(std::numeric_limits<T>::epsilon()) * size +
                              4 * std::numeric_limits<double>::epsilon() * (size + longest);
        for (int a = 0; a < dim; ++a)
          if (frame.periodic[a])
          {
            EXPECT_GE(frame.along(a, at), -beside);
            EXPECT_LE(frame.along(a, at), frame.thickness[a] + beside);
          }
          else
          {
            EXPECT_EQ(point.image[a], 0);
          }
        if (point.image == detail::image_counters<dim>{})
        {
          EXPECT_EQ(point.at, x[i]);
        }
      }
    }
  }

  TYPED_TEST(cells, along_the_axes_are_periods)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(13);
    for (std::uint64_t k = 0; k < number_of_cells(400); ++k)
    {
      SCOPED_TRACE(k);
      std::array<T, dim> period;
      for (T& length : period)
        length = random.below(3) == 0 ? T(0) : static_cast<T>(random.uniform(2, 9));
      cell_frame<dim> const frame(cell<dim>::of_lengths(period));
      EXPECT_TRUE(frame.is_aligned);
      points<T, dim> x;
      for (int i = 0; i < 30; ++i)
      {
        std::array<double, dim> place;
        for (int a = 0; a < dim; ++a)
        {
          double const length = period[a] > 0 ? double(period[a]) : 5;
          place[a] = random.below(4) == 0 ? 0 : length * random.uniform();
        }
        x.push_back(place);
        for (int a = 0; a < dim; ++a)
          if (period[a] > 0 && (random.below(4) == 0 || !(x.columns[a].back() < period[a])))
            x.columns[a].back() = std::nextafter(period[a], T(0));
      }
      T const cutoff = 1;
      image_definition<T, dim> const pairs(cell<dim>::of_lengths(period), x, x, cutoff);
      std::vector<image_pair<dim>> expected;
      for (index_type i = 0; i < x.size(); ++i)
      {
        EXPECT_EQ(pairs.target(i).at, x[i]);
        EXPECT_EQ(pairs.target(i).image, detail::image_counters<dim>{});
        for (index_type j = 0; j < x.size(); ++j)
        {
          // the rule of orthogonal boxes
          detail::image_counters<dim> s{};
          T r2 = 0;
          for (int a = 0; a < dim; ++a)
          {
            T d = x.columns[a][i] - x.columns[a][j];
            if (period[a] > 0)
            {
              T const turns = std::round(d / period[a]);
              d -= period[a] * turns;
              s[a] = static_cast<std::int32_t>(turns);
            }
            r2 = a == 0 ? d * d : r2 + d * d;
          }
          if (i == j || !(r2 < cutoff * cutoff)) continue;
          expected.push_back({i, j, s});
          EXPECT_EQ(pairs.r2(i, j, s), r2);
        }
      }
      EXPECT_EQ(pairs.full(), expected);
    }
  }

  TEST(cell, decides_on_its_faces_without_rounding_where_it_lies_along_the_axes)
  {
    for (double const length : {3., .1, 7.3, 1e-3, 123456.7})
    {
      cell_frame<2> const frame(cell<2>::of_lengths(std::array{length, 0.}));
      double const last = std::nextafter(length, 0);
      EXPECT_EQ(frame.thickness[0], length);
      EXPECT_EQ(frame.reduce(std::array{last, -5.}).image[0], 0);
      EXPECT_EQ(frame.reduce(std::array{0., 1e300}).image[0], 0);
      reduced_point<double, 2> const upper = frame.reduce(std::array{length, 0.});
      EXPECT_EQ(upper.image[0], 1);
      EXPECT_EQ(upper.at[0], 0);
      // less than a rounding below 0 it stays there
      auto const below = frame.reduce(std::array{-1e-300, 0.});
      EXPECT_EQ(below.image[0], 0);
      EXPECT_EQ(below.at[0], -1e-300);
    }
  }

  TEST(cell, keeps_the_axes_of_what_it_completes)
  {
    for (int open = 1; open < 8; ++open)
    {
      std::array<double, 3> lengths{3, 4, 5};
      for (int a = 0; a < 3; ++a)
        if (open >> a & 1) lengths[a] = 0;
      cell_frame<3> const frame(cell<3>::of_lengths(lengths));
      EXPECT_TRUE(frame.is_aligned) << open;
      for (int a = 0; a < 3; ++a)
        if (open >> a & 1)
        {
          std::array<double, 3> unit{};
          unit[a] = 1;
          EXPECT_EQ(frame.vectors[a], unit) << open;
        }
    }
    EXPECT_EQ(cell_frame<3>().normals[1], (std::array{0., 1., 0.}));
    static_assert(std::is_trivially_copyable_v<cell_frame<3>>); // kernels take it by value
    cell_frame<3> const left(cell_of({{{3, 0, 0}, {0, -4, 0}, {0, 0, 5}}}));
    EXPECT_FALSE(left.is_aligned);
    EXPECT_EQ(left.thickness, (std::array{3., 4., 5.}));
    EXPECT_EQ(left.reduce(std::array{1., -1., 1.}).image, (std::array{0, 0, 0}));
    EXPECT_EQ(left.reduce(std::array{1., 1., 1.}).image, (std::array{0, -1, 0}));
  }

  TEST(cell, of_vectors_that_are_short_only_together_is_reduced)
  {
    for (int signs = 0; signs < 8; ++signs)
      for (int first = 0; first < 3; ++first)
      {
        // no vector becomes shorter by another one
        std::array<std::array<double, 3>, 3> vectors{
            {{1, 0, 0}, {-.49, .87, 0}, {-.48, -.83, .25}}};
        std::rotate(vectors.begin(), vectors.begin() + first, vectors.end());
        for (int a = 0; a < 3; ++a)
          for (double& x : vectors[a])
            if (signs >> a & 1) x = -x;
        cell_frame<3> const frame(cell_of(vectors));
        double shortest = 1;
        for (auto const& v : frame.reduced) shortest = std::min(shortest, std::sqrt(dot(v, v)));
        EXPECT_LT(shortest, .26) << signs;
        for (int a = 0; a < 3; ++a)
          EXPECT_GT(frame.thickness[a], .7 * std::sqrt(dot(frame.reduced[a], frame.reduced[a])))
              << signs;
      }
  }

  TEST(cell, begins_at_its_origin)
  {
    // along the axes, and turned
    for (cell<2> given : {cell<2>{{{{2, 0}, {0, 3}}}, {true, true}, {5, -7}},
                          cell<2>{{{{0, 2}, {-3, 0}}}, {true, true}, {5, -7}}})
    {
      cell_frame<2> const frame(given);
      for (std::array const place : {std::array{.01, .01}, std::array{.99, .99}})
      {
        std::array<double, 2> x = given.origin;
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b) x[b] += place[a] * given.vectors[a][b];
        EXPECT_EQ(frame.reduce(x).image, (std::array{0, 0}));
      }
    }
  }

  TEST(cell, has_positive_images_and_their_opposites)
  {
    using detail::is_positive;
    EXPECT_TRUE(is_positive(std::array{1, -5}));
    EXPECT_TRUE(is_positive(std::array{0, 0, 2}));
    EXPECT_FALSE(is_positive(std::array{0, -1, 2}));
    EXPECT_FALSE(is_positive(std::array{0, 0, 0}));
  }

  TEST(cell, says_which_points_have_no_counters)
  {
    cell_frame<2> const frame(cell<2>::of_lengths(std::array{1., 0.}));
    double const most = cell_frame<2>::max_image;
    EXPECT_TRUE(frame.reduce(std::array{most + .5, 0.}).fits);
    EXPECT_EQ(frame.reduce(std::array{-most, 0.}).image[0], -most);
    for (double const x : {most + 1, -most - 1, 1e300, double(NAN), double(INFINITY)})
    {
      auto const point = frame.reduce(std::array{x, 2.});
      EXPECT_FALSE(point.fits) << x;
      EXPECT_EQ(point.image[0], 0) << x;
    }
  }

  TEST(cell, refuses_vectors_that_span_nothing)
  {
    auto const frame_of = [](std::array<std::array<double, 3>, 3> const& vectors)
    {
      return [vectors]
      {
        static_cast<void>(cell_frame<3>(cell_of(vectors)));
      };
    };
    EXPECT_THAT(frame_of({{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}}}),
                complains_of("cell: vector 1, (0, 0, 0)", "is zero, not finite"));
    EXPECT_THAT(frame_of({{{1, 0, 0}, {0, NAN, 0}, {0, 0, 1}}}), complains_of("vector 1", "nan"));
    EXPECT_THAT(frame_of({{{1e200, 0, 0}, {0, 1, 0}, {0, 0, 1}}}),
                complains_of("vector 0", "other units"));
    EXPECT_THAT(frame_of({{{1, 2, 3}, {2, 4, 6}, {0, 0, 1}}}),
                complains_of("depends on the others"));
    EXPECT_THAT(frame_of({{{.1, .2, .3}, {.7, 1.4, 2.1}, {0, 0, 1}}}),
                complains_of("depends on the others"));
    EXPECT_THAT(frame_of({{{1, 0, 0}, {0, 1, 0}, {.3, .4, 0}}}),
                complains_of("depends on the others"));
    EXPECT_THAT(frame_of({{{1.1, .2, .3}, {.4, 1.5, .6}, {1.5, 1.7, .9}}}),
                complains_of("depends on the others"));
    // three sides of a triangle
    EXPECT_THAT(frame_of({{{1, 0, 0}, {-.5, std::sqrt(.75), 0}, {-.5, -std::sqrt(.75), 0}}}),
                complains_of("depends on the others"));
    cell<2> far;
    far.origin = {0, INFINITY};
    EXPECT_THAT([&] { static_cast<void>(cell_frame<2>(far)); },
                complains_of("the origin is inf on axis 1"));
    // thin is not dependent, nor is long
    EXPECT_NO_THROW(frame_of({{{1e-3, 0, 0}, {0, 1, 0}, {1e5, 1e5, 1}}})());
    // vectors of open axes do not count
    EXPECT_NO_THROW(cell_frame<3>({{{{1, 1, 0}, {1, 1, 0}, {NAN, 0, 0}}}, {true, false, false}}));
  }
}
