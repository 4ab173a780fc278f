// The definition that lists of periodic boxes are compared with.
#include "cell_kinds.hpp"
#include "image_pairs.hpp"
#include "random_cells.hpp"

#include <nearfield/core/cell.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using detail::cell_frame;

    template <class K>
    class image_pairs : public ::testing::Test
    {};
    TYPED_TEST_SUITE(image_pairs, cell_kinds);

    /// One point at (.1, .2, .3), or (.1, .2).
    template <int Dim>
    points<double, Dim> one_point()
    {
      points<double, Dim> x;
      if constexpr (Dim == 3)
        x.push_back({.1, .2, .3});
      else
        x.push_back({.1, .2});
      return x;
    }
    template <int Dim>
    std::size_t own_images(cell<Dim> const& of, double cutoff, bool closed = false)
    {
      auto const x = one_point<Dim>();
      return image_definition<double, Dim>(of, x, x, cutoff, closed).full().size();
    }
  }

  TYPED_TEST(image_pairs, are_those_of_the_lattice)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(14);
    std::size_t n_pairs = 0, n_own = 0, n_far = 0;
    for (std::uint64_t k = 0; k < number_of_cells(400); ++k)
    {
      SCOPED_TRACE(k);
      auto const given = random_cell<dim>(random, 1);
      cell_frame<dim> const frame(given);
      auto const x = points_around<T, dim>(random, frame, 1, 1 + random.below(7));
      image_definition<T, dim> const pairs(given, x, x, 1);
      double const rounding = pairs.rounding();
      std::array<double, dim> most;
      for (int a = 0; a < dim; ++a)
        most[a] = frame.periodic[a] ? std::floor((1 + rounding) / frame.thickness[a] + 1) : 0;
      int wrong = 0, asymmetric = 0, beyond = 0;
      pairs.for_each_candidate(
          [&](index_type i, index_type j, auto const& s)
          {
            bool const is_in = pairs.is_in(i, j, s);
            double const exact = static_cast<double>(pairs.exact(i, j, s));
            wrong += std::abs(exact - 1) > rounding && is_in != (exact < 1);
            auto opposite = s;
            for (auto& n : opposite) n = -n;
            asymmetric += pairs.r2(i, j, s) != pairs.r2(j, i, opposite);
            if (!is_in) return;
            ++n_pairs;
            n_own += i == j;
            // in how many cells of the reduced basis the image lies
            auto const m = pairs.of_reduced(i, j, s);
            std::array<double, dim> moved{};
            for (int a = 0; a < dim; ++a) moved[a] = m[a];
            moved = frame.shift(moved);
            for (int a = 0; a < dim; ++a)
              if (frame.periodic[a])
              {
                double const cells_away =
                    std::round(dot(moved, frame.normals[a]) / frame.thickness[a]);
                beyond += std::abs(cells_away) > most[a];
                n_far += std::abs(cells_away) > 1;
              }
          });
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(asymmetric, 0);
      EXPECT_EQ(beyond, 0);
    }
    EXPECT_GT(n_pairs, 50 * static_cast<std::size_t>(number_of_cells(400)));
    EXPECT_GT(n_own, n_pairs / 100);
    EXPECT_GT(n_far, n_pairs / 100);
  }

  TYPED_TEST(image_pairs, have_a_half_in_one_direction)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(15);
    for (std::uint64_t k = 0; k < number_of_cells(400) / 10; ++k)
    {
      SCOPED_TRACE(k);
      auto const given = random_cell<dim>(random, 1);
      auto const x = points_around<T, dim>(random, cell_frame<dim>(given), 1, 5);
      image_definition<T, dim> const pairs(given, x, x, 1);
      auto const half = pairs.half(std::array<index_type, 5>{3, 0, 4, 1, 2});
      auto both = half;
      for (auto const& p : half)
      {
        both.push_back({p.j, p.i, p.image});
        for (auto& n : both.back().image) n = -n;
      }
      std::ranges::sort(both);
      EXPECT_EQ(both, pairs.full());
    }
  }

  TYPED_TEST(image_pairs, count_images_of_the_points_as_given)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    // numbers that all precisions hold
    cell<dim> given;
    given.vectors[0][0] = 4;
    given.vectors[1][0] = 1;
    given.vectors[1][1] = 2;
    given.vectors[dim - 1][dim - 1] = 2;
    given.periodic.fill(true);
    cell_frame<dim> const frame(given);
    random_numbers random(16);
    points<T, dim> x;
    for (int i = 0; i < 12; ++i)
    {
      std::array<double, dim> place;
      for (double& p : place) p = double(random.below(16)) / 8;
      x.push_back(place);
    }
    points<T, dim> y = x;
    std::vector<std::array<std::int32_t, dim>> by(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int a = 0; a < dim; ++a)
      {
        by[i][a] = static_cast<std::int32_t>(random.below(2000)) - 1000;
        for (int b = 0; b < dim; ++b)
          y.columns[b][i] += static_cast<T>(by[i][a] * given.vectors[a][b]);
      }
    auto expected = image_definition<T, dim>(given, x, x, T(2)).full();
    for (auto& p : expected)
      for (int a = 0; a < dim; ++a) p.image[a] += by[p.i][a] - by[p.j][a];
    std::ranges::sort(expected);
    EXPECT_GT(expected.size(), 100u);
    EXPECT_EQ((image_definition<T, dim>(given, y, y, T(2)).full()), expected);
  }

  TEST(image_pairs_of_a_point, in_known_lattices_are_the_known_neighbours)
  {
    // simple cubic, R = 2.5: the shells of r2 = 1, 2, 3, 4, 5 and 6
    cell<3> const cubic = cell_of({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
    EXPECT_EQ(own_images(cubic, 2.5), 6u + 12 + 8 + 6 + 24 + 24);
    // the same lattice, sheared to 80 degrees and more, and left-handed
    EXPECT_EQ(own_images(cell_of({{{1, 0, 0}, {6, 1, 0}, {-5, 7, -1}}}), 2.5), 80u);
    // face-centred cubic: 12 neighbours at 1 / sqrt(2), 6 at 1
    cell<3> const fcc = cell_of({{{0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}}});
    EXPECT_EQ(own_images(fcc, .8), 12u);
    EXPECT_EQ(own_images(fcc, 1.1), 18u);
    // a plane, and a line
    EXPECT_EQ(own_images<3>({cubic.vectors, {true, false, true}}, 1.1), 4u);
    EXPECT_EQ(own_images<3>({{{{}, {0, 0, .5}, {}}}, {false, true, false}}, 1.1), 4u);
    EXPECT_EQ(own_images(cell<3>{}, 1e9), 0u);
    // hexagonal
    EXPECT_EQ(own_images<2>({{{{1, 0}, {.5, std::sqrt(.75)}}}, {true, true}}, 1.1), 6u);
    EXPECT_EQ(own_images<2>({{{{1, 0}, {8, 1}}}, {true, true}}, 1.1), 4u);
  }

  TEST(image_pairs_of_a_point, at_the_cutoff_count_if_it_is_closed)
  {
    auto const cubic = cell<3>::of_lengths(std::array{1., 1., 1.});
    EXPECT_EQ(own_images(cubic, 1), 0u);
    EXPECT_EQ(own_images(cubic, 1, true), 6u);
  }
}
