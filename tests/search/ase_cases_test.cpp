#include "search/image_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

// What the neighbour lists of ASE, the Atomic Simulation Environment, are tested with, and shells of crystals: few
// points, whose neighbours are known without a program.

namespace nearfield::test
{
  namespace
  {
    using list3 = image_pair_list<3>;

    /// The list of two points that are neighbours once, the second one in an image.
    list3 one_pair(detail::image_counters<3> const& image = {})
    {
      return {{0, 1, image}, {1, 0, {-image[0], -image[1], -image[2]}}};
    }

    /// A lattice with points at shares of its cell, and what is known of it.
    struct lattice
    {
      cell<3> box;
      std::vector<std::array<double, 3>> unit;
      /// the squares of the distances of shells, and how many neighbours are there or nearer
      std::vector<std::pair<double, std::size_t>> shells;
    };

    /// Searches a little inside and outside of each shell, in boxes of several cells.
    void expect_shells(lattice const& of)
    {
      for (std::array<int, 3> const& n : {std::array{1, 1, 1}, {2, 2, 2}, {1, 2, 3}})
      {
        cell<3> box = of.box;
        for (int a = 0; a < 3; ++a)
          for (double& component : box.vectors[a]) component *= n[a];
        auto const x = crystal(box, n, of.unit);
        std::size_t inside = 0;
        for (auto const& [r2, neighbours] : of.shells)
        {
          double const r = std::sqrt(r2);
          EXPECT_TRUE(each_has(inside, found_pairs(x, 0.999 * r, box), x.size())) << "below " << r;
          EXPECT_TRUE(each_has(neighbours, found_pairs(x, 1.001 * r, box), x.size())) << r;
          inside = neighbours;
        }
      }
    }
  }

  TEST(ase_cases, neighbours_of_a_dimer)
  {
    auto const h2 = points_at<3>({{0, 0, 0}, {0, 0, 1}});
    EXPECT_EQ(defined_pairs(h2, 1.1), one_pair());
    EXPECT_EQ(defined_pairs(h2, 1), list3()); // the cutoff itself is not in, unless asked for
    EXPECT_EQ(defined_pairs(h2, 1, {}, true), one_pair());
    auto const in_a_box = points_at<3>({{0.5, 0.5, 0.5}, {1, 1, 1}});
    EXPECT_EQ(defined_pairs(in_a_box, 1.1, cube(10)), one_pair());
  }

  TEST(ase_cases, neighbours_of_no_points)
  {
    EXPECT_EQ(found_pairs(points<double, 3>(), 1), list3());
    EXPECT_EQ(found_pairs(points<double, 3>(), 1, cube(7.56)), list3());
  }

  TEST(ase_cases, a_dimer_across_a_face)
  {
    auto const x = points_at<3>({{0, 0, 0}, {0, 0, 0.99875 * 7.56}});
    EXPECT_EQ(defined_pairs(x, 0.0116, cube(7.56)), one_pair({0, 0, -1}));
    EXPECT_EQ(defined_pairs(x, 0.0094, cube(7.56)), list3());
  }

  TEST(ase_cases, one_point_in_a_small_box)
  {
    auto const x = points_at<3>({{0.5, 0.5, 0.5}});
    auto const neighbours = [&](double cutoff, std::array<bool, 3> const& periodic)
    {
      cell<3> box = cube(1);
      box.periodic = periodic;
      return defined_pairs(x, cutoff, box).size();
    };
    EXPECT_EQ(neighbours(1.1, {true, true, true}), 6u);
    EXPECT_EQ(neighbours(1.5, {true, true, true}), 18u);
    EXPECT_EQ(neighbours(1.1, {}), 0u);
    EXPECT_EQ(neighbours(1.1, {true, false, false}), 2u);
    EXPECT_EQ(neighbours(1.1, {true, false, true}), 4u);
    // x_i - x_j is -S
    cell_list<double, 3> const cells(x.view(), 1.1, {.cell = cube(1)});
    auto const list = radius_search(
        simd, cells,
        to_coo{.which = pairs::full, .displacements = true, .images = image_columns::counters});
    for (int a = 0; a < 3; ++a)
      for (std::size_t p = 0; p < list.size(); ++p)
        EXPECT_EQ(list.displacements[a][p], -list.images[a][p]);
  }

  TEST(ase_cases, points_outside_an_open_box)
  {
    for (auto const& x : {points_at<3>({{0.5, 0.5, 0.5}, {1.1, 0.5, 0.5}}),
                          points_at<3>({{9.5, 0.5, 0.5}, {10.1, 0.5, 0.5}})})
      for (double const length : {1., 2., 10., 20.})
      {
        cell<3> box = cube(length);
        box.periodic = {};
        EXPECT_EQ(defined_pairs(x, 1.1, box), one_pair());
      }
  }

  TEST(ase_cases, few_points_and_a_cutoff_that_has_them_all)
  {
    auto const x = crystal(cube(7.2), {2, 2, 2});
    EXPECT_TRUE(each_has(7, defined_pairs(x, 100), 8));
  }

  TEST(ase_cases, layers_of_graphite)
  {
    for (int n = 1; n <= 3; ++n)
    {
      double const a = 2.5 * n;
      auto const box = repeating({{{a, 0, 0}, {-a / 2, a * std::sqrt(0.75), 0}, {0, 0, 10}}});
      auto const x = crystal(box, {n, n, 1},
                             {{0, 0, 0}, {1. / 3, 2. / 3, 0}, {0, 0, 0.5}, {2. / 3, 1. / 3, 0.5}});
      EXPECT_TRUE(each_has(3, defined_pairs(x, 1.85, box), x.size()));
    }
  }

  TEST(ase_cases, a_box_repeated_along_its_periodic_vectors)
  {
    cell<3> const lattice{.vectors = {{{0.2, 1.2, 1.4}, {1.4, 0.1, 1.6}, {1.3, 2.0, -0.1}}}};
    random_numbers random(42);
    std::vector<std::array<double, 3>> unit(10); // from -1 to 2, of which most are outside
    for (auto& shares : unit)
      for (double& share : shares) share = random.uniform(-1, 2);
    auto const sum_of_distances = [](auto const& x, cell<3> const& box)
    {
      cell_list<double, 3> const cells(x.view(), 1.7, {.cell = box});
      auto const list = radius_search(simd, cells, to_coo{.distances = true});
      double sum = 0;
      for (double const r2 : list.r2) sum += std::sqrt(r2);
      return sum;
    };
    for (int which = 0; which < 8; ++which)
    {
      cell<3> box = lattice;
      std::array<int, 3> n;
      for (int a = 0; a < 3; ++a)
      {
        box.periodic[a] = (which >> a & 1) != 0;
        n[a] = box.periodic[a] ? 2 : 1;
      }
      auto repeated = box;
      for (int a = 0; a < 3; ++a)
        for (double& component : repeated.vectors[a]) component *= n[a];
      auto const x = crystal(box, {1, 1, 1}, unit), y = crystal(repeated, n, unit);
      auto const found = defined_pairs(x, 1.7, box);
      std::vector<std::size_t> counts(y.size()), expected(y.size());
      for (auto const& p : found_pairs(y, 1.7, repeated)) ++counts[p.i];
      for (auto const& p : found)
        for (std::size_t i = p.i; i < y.size(); i += x.size()) ++expected[i];
      EXPECT_EQ(counts, expected) << which;
      double const times = double(y.size()) / double(x.size());
      EXPECT_NEAR(sum_of_distances(y, repeated), times * sum_of_distances(x, box), 1e-10);
    }
  }

  TEST(ase_cases, two_atoms_of_diamond_and_a_cutoff_of_many_cells)
  {
    double const a = 2 * 3.37316113, cutoff = 16;
    auto const box = repeating({{{0, a / 2, a / 2}, {a / 2, 0, a / 2}, {a / 2, a / 2, 0}}});
    auto const x = crystal(box, {1, 1, 1}, {{0, 0, 0}, {0.25, 0.25, 0.25}});
    // by quarters of a: the sum of coordinates of sites is 0 or 3 modulo 4, and all are even or all odd
    std::size_t expected = 0;
    for (int i = -12; i <= 12; ++i)
      for (int j = -12; j <= 12; ++j)
        for (int k = -12; k <= 12; ++k)
        {
          bool const alike = (i - j) % 2 == 0 && (i - k) % 2 == 0;
          int const rest = ((i + j + k) % 4 + 4) % 4, r2 = i * i + j * j + k * k;
          bool const is_site = alike && rest == (i % 2 == 0 ? 0 : 3);
          expected += is_site && r2 > 0 && r2 * a * a / 16 < cutoff * cutoff;
        }
    EXPECT_EQ(expected, 440u);
    EXPECT_TRUE(each_has(expected, defined_pairs(x, cutoff, box), 2));
  }

  TEST(shells_of_crystals, are_those_of_textbooks)
  {
    expect_shells({cube(1),
                   {{0, 0, 0}},
                   {{1, 6}, {2, 18}, {3, 26}, {4, 32}, {5, 56}, {6, 80}, {8, 92}, {9, 122}}});
    // face-centred, in the cell of one point and in that of four
    std::vector<std::pair<double, std::size_t>> const fcc{{0.5, 12}, {1, 18}, {1.5, 42}, {2, 54},
                                                          {2.5, 78}, {3, 86}, {3.5, 134}};
    expect_shells({repeating({{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}}), {{0, 0, 0}}, fcc});
    expect_shells({cube(1), {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}, fcc});
    // body-centred, likewise
    std::vector<std::pair<double, std::size_t>> const bcc{{0.75, 8}, {1, 14}, {2, 26},   {2.75, 50},
                                                          {3, 58},   {4, 64}, {4.75, 88}};
    expect_shells(
        {repeating({{{-0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0.5, 0.5, -0.5}}}), {{0, 0, 0}}, bcc});
    expect_shells({cube(1), {{0, 0, 0}, {0.5, 0.5, 0.5}}, bcc});
    // the closest packing of hexagonal layers
    expect_shells({repeating({{{1, 0, 0}, {0.5, std::sqrt(0.75), 0}, {0, 0, std::sqrt(8. / 3)}}}),
                   {{0, 0, 0}, {1. / 3, 1. / 3, 0.5}},
                   {{1, 12}, {2, 18}, {8. / 3, 20}, {3, 38}, {11. / 3, 50}, {4, 56}, {5, 68}}});
    // diamond
    expect_shells({repeating({{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}}),
                   {{0, 0, 0}, {0.25, 0.25, 0.25}},
                   {{3. / 16, 4}, {0.5, 16}, {11. / 16, 28}, {1, 34}, {19. / 16, 46}, {1.5, 70}}});
  }
}
