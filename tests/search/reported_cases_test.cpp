#include "search/image_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// What went wrong in other neighbour lists. Each case is named after the report: the project, its number, and what was
// wrong.

namespace nearfield::test
{
  namespace
  {
    using list3 = image_pair_list<3>;

    /// n points in a box. Their shares of the vectors have 10 bits, and differences of most boxes are exact.
    template <class T = double>
    points<T, 3> points_in(cell<3> const& box, std::size_t n)
    {
      random_numbers random(1);
      points<T, 3> x;
      for (std::size_t i = 0; i < n; ++i)
      {
        std::array<double, 3> shares;
        for (double& share : shares) share = std::floor(random.uniform() * 1024) / 1024;
        x.push_back(point_of(box, shares));
      }
      return x;
    }

    template <class T>
    points<T, 3> moved(points<T, 3> x, std::array<double, 3> const& by)
    {
      for (int a = 0; a < 3; ++a)
        for (T& value : x.columns[a]) value = T(double(value) + by[a]);
      return x;
    }

    /// The lattice of face-centred cubes of side a.
    cell<3> fcc(double a)
    {
      return repeating({{{0, a / 2, a / 2}, {a / 2, 0, a / 2}, {a / 2, a / 2, 0}}});
    }

    std::vector<std::pair<index_type, index_type>> indices(list3 const& list)
    {
      std::vector<std::pair<index_type, index_type>> found;
      for (auto const& p : list) found.emplace_back(p.i, p.j);
      std::ranges::sort(found);
      return found;
    }
  }

  // OpenMM 5382: of 4084 pairs in a triclinic box, 962 or 2090 were missing after all points moved by a vector twice.
  TEST(reported_cases, openmm_5382_pairs_are_lost_where_points_moved_by_vectors)
  {
    auto const triclinic = repeating({{{10, 0, 0}, {4, 9, 0}, {-3, -3.5, 11}}});
    auto const dodecahedron = repeating({{{5, 0, 0}, {0, 5, 0}, {2.5, 2.5, 2.5 * std::sqrt(2.)}}});
    auto const skewed = repeating({{{4, 0, 0}, {1.5, 6, 0}, {0.6, 2.8, 3.2}}});
    for (auto const& [box, cutoff] : {std::pair{triclinic, 2.}, {dodecahedron, 1.7}, {skewed, 1.5}})
    {
      // in the upright box of the same heights
      auto const upright =
          cell<3>::of_lengths(std::array{box.vectors[0][0], box.vectors[1][1], box.vectors[2][2]});
      auto const x = points_in<float>(upright, 120);
      auto const pairs = indices(defined_pairs(x, cutoff, box));
      EXPECT_GT(pairs.size(), 300u);
      for (int const a : {1, 2})
      {
        std::array<double, 3> twice{};
        twice[a] = 2;
        auto const away = moved(x, point_of(box, twice));
        auto const found = indices(defined_pairs(away, cutoff, box));
        // the first box has whole and half numbers, so that nothing is rounded
        if (cutoff == 2)
        {
          EXPECT_EQ(found, pairs);
        }
      }
    }
  }

  namespace
  {
    /// Two boxes of the same crystal, which differ by rounding.
    std::array<cell<3>, 2> reported_boxes()
    {
      return {repeating({{{20.336391026925106, 0, 0},
                          {10.168195513462551, 17.611831250611051, 0},
                          {10.168195513462551, 5.8706104168703526, 16.604593741893638}}}),
              repeating({{{20.33639102692511, 0, 0},
                          {10.168195513462551, 17.611831250611047, 0},
                          {10.168195513462551, 5.8706104168703437, 16.604593741893638}}})};
    }
  }

  // LAMMPS 2759: a half list had no pair of two atoms across a face, of which one was given outside the box.
  TEST(reported_cases, lammps_2759_the_pair_of_two_atoms_is_in_neither_row)
  {
    for (auto const& box : reported_boxes())
      for (int a = 0; a < 3; ++a)
        for (double const out : {-2., -1., 0., 1.})
        {
          std::array<double, 3> below{}, above{};
          below[a] = -1. / 8 + out;
          above[(a + 1) % 3] = -out;
          auto const x = points_at<3>({point_of(box, below), point_of(box, above)});
          auto const found = found_pairs(x, 3, box);
          ASSERT_EQ(indices(found),
                    (std::vector<std::pair<index_type, index_type>>{{0, 1}, {1, 0}}));
          detail::image_counters<3> image{};
          image[a] = int(out);
          image[(a + 1) % 3] = int(out);
          EXPECT_EQ(found[0].image, image);
        }
  }

  // LAMMPS 3846: pairs of a perfect crystal in a triclinic box were missing or twice in a half list, by rounding.
  TEST(reported_cases, lammps_3846_pairs_of_a_crystal_depend_on_the_last_bits_of_the_box)
  {
    for (auto const& box : reported_boxes())
    {
      auto x = crystal(box, {8, 8, 8});
      for (auto& column : x.columns) column.pop_back(); // a vacancy
      // some are given outside the box
      for (std::size_t i = 0; i < x.size(); i += 3)
        for (int b = 0; b < 3; ++b) x.columns[b][i] -= box.vectors[i % 9 / 3][b];
      // six shells of 12, 6, 24, 12, 24 and 8
      EXPECT_EQ(found_pairs(x, 6.5, box).size(), 511u * 86 - 86);
    }
  }

  // LAMMPS 4747: half lists of float positions lost pairs, because a point and its image were in different bins.
  TEST(reported_cases, lammps_4747_pairs_are_lost_by_the_rounding_of_float)
  {
    for (double const length : {7.3, 33.59, 1000. / 3})
    {
      auto x = crystal<float>(cube(length), {10, 10, 10});
      for (std::size_t i = 0; i < x.size(); i += 7)
        x.columns[i % 3][i] += float(i % 2 == 0 ? length : -length);
      auto const found = found_pairs(x, 0.12 * length, cube(length));
      EXPECT_TRUE(each_has(6, found, x.size()));
    }
  }

  // vesin 153: in a box that is open along z, the list of the GPU had fewer pairs than that of the CPU.
  TEST(reported_cases, vesin_153_pairs_are_lost_in_partly_open_boxes)
  {
    auto const x = points_at<3>({{0, 5, 0}, {4, 0, 0}});
    auto const box = cell<3>::of_lengths(std::array{8., 9., 0.});
    auto const found = defined_pairs(x, 15, box);
    // of each point itself 2 + 6, and of the two of them 12
    EXPECT_EQ(found.size(), 2u * (8 + 12));
    EXPECT_TRUE(std::ranges::all_of(found, [](auto const& p) { return p.image[2] == 0; }));
  }

  // vesin 157: vectors that are orthogonal, but not along the axes, were taken for an upright box.
  TEST(reported_cases, vesin_157_a_turned_box_is_taken_for_an_upright_one)
  {
    auto const turned = repeating({{{16, 16, 8}, {-16, 8, 16}, {8, -16, 16}}}); // each is 24 long
    auto const x = points_in(turned, 100), y = points_in(cube(24), 100);
    for (double const cutoff : {5., 13.})
      EXPECT_EQ(defined_pairs(x, cutoff, turned), defined_pairs(y, cutoff, cube(24)));
  }

  // nvalchemi-toolkit-ops 1: the demo of the manual ended with 905 neighbours in rows of 256.
  TEST(reported_cases, nvalchemi_1_rows_are_shorter_than_a_dense_cloud_needs)
  {
    random_numbers random(1);
    points<double, 3> x; // about normal, of variance 1
    for (int i = 0; i < 1000; ++i)
    {
      std::array<double, 3> sum{-6, -6, -6};
      for (double& at : sum)
        for (int k = 0; k < 12; ++k) at += random.uniform();
      x.push_back(sum);
    }
    // the cutoff is less than half the box: no other image than the nearest one counts
    std::vector<index_type> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j)
      {
        double r2 = 0;
        for (auto const& column : x.columns)
        {
          double const d = std::remainder(column[i] - column[j], 10.);
          r2 += d * d;
        }
        expected[i] += i != j && r2 < 2.5 * 2.5;
      }
    ASSERT_GT(std::ranges::max(expected), 700u);
    cell_list<double, 3> const cells(x.view(), 2.5, {.cell = cube(10)});
    auto const table = radius_search(simd, cells, to_table{.width = 256});
    EXPECT_TRUE(table.overflow);
    auto const rows = radius_search(simd, cells, to_csr{});
    for (std::size_t i = 0; i < x.size(); ++i)
    {
      EXPECT_EQ(table.counts[i], expected[i]);
      EXPECT_EQ(table.row(i).size(), std::min<std::size_t>(expected[i], 256));
      EXPECT_EQ(rows.offsets[i + 1] - rows.offsets[i], expected[i]);
    }
  }

  // nvalchemi-toolkit-ops 3: (0, 1) in image (0, 0, -1) was listed twice.
  TEST(reported_cases, nvalchemi_3_pairs_are_listed_twice)
  {
    auto const x = points_at<3>({{2, 1, 0.3}, {0.5, 1, 3.7}});
    auto const box = cell<3>::of_lengths(std::array{3., 6., 4.});
    EXPECT_EQ(
        defined_pairs(x, 1.7, box),
        (list3{{0, 1, {0, 0, -1}}, {0, 1, {1, 0, -1}}, {1, 0, {-1, 0, 1}}, {1, 0, {0, 0, 1}}}));
  }

  // nvalchemi-toolkit-ops 104: points were moved into the cell along axes that are open.
  TEST(reported_cases, nvalchemi_104_points_are_wrapped_along_open_axes)
  {
    // a molecule of water, with the unit cell that an open box is given
    auto const water = points_at<3>({{0, 0, 0.119}, {0, 0.763, -0.477}, {0, -0.763, -0.477}});
    cell<3> const open{.vectors = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    list3 all;
    for (index_type i = 0; i < 3; ++i)
      for (index_type j = 0; j < 3; ++j)
        if (i != j) all.push_back({i, j, {}});
    EXPECT_EQ(defined_pairs(water, 2, open), all);
    cell_list<double, 3> const cells(water.view(), 2, {.cell = open});
    auto const rows = radius_search(simd, cells, to_csr{.sorted = true, .displacements = true});
    EXPECT_THAT(rows.displacements[1],
                testing::ElementsAre(-0.763, 0.763, 0.763, 1.526, -0.763, -1.526));

    // a layer that crosses both ends of the open vector
    auto const layer = points_at<3>({{1, 1, -0.5}, {1, 1, 0.7}, {1, 1, 10.3}});
    cell<3> slab{.vectors = {{{4, 0, 0}, {0, 4, 0}, {0, 0, 10}}}, .periodic = {true, true, false}};
    EXPECT_EQ(defined_pairs(layer, 1.5, slab), (list3{{0, 1, {}}, {1, 0, {}}}));
    slab.vectors[2] = {30, -2, 10}; // an open vector may be inclined
    EXPECT_EQ(defined_pairs(layer, 1.5, slab), (list3{{0, 1, {}}, {1, 0, {}}}));
  }

  // nvalchemi-toolkit-ops 107: tiles of a skewed cell were left out by the distance of one image of their boxes.
  TEST(reported_cases, nvalchemi_107_tiles_of_a_skewed_cell_are_left_out)
  {
    for (double const a : {6., 10.})
      EXPECT_GT(defined_pairs(points_in<float>(fcc(a), 150), 2.5, fcc(a)).size(), 1000u);
  }

  // nvalchemi-toolkit-ops 114: rows of 16 were too short for short cutoffs.
  TEST(reported_cases, nvalchemi_114_rows_are_too_short_for_short_cutoffs)
  {
    auto const x = crystal(cube(1), {4, 4, 4});
    EXPECT_TRUE(each_has(63, found_pairs(x, 2), 64));
  }

  // fairchem 2134: cells of the other hand were refused.
  TEST(reported_cases, fairchem_2134_left_handed_cells_are_refused)
  {
    auto const right = repeating({{{8, 0, 0}, {3, 7, 0}, {-2, 5, 6}}});
    auto const x = points_in(right, 60);
    auto left = right;
    std::swap(left.vectors[0], left.vectors[2]);
    auto found = defined_pairs(x, 4, left);
    for (auto& p : found) std::swap(p.image[0], p.image[2]);
    std::ranges::sort(found);
    auto const expected = defined_pairs(x, 4, right);
    EXPECT_GT(expected.size(), 1000u);
    EXPECT_EQ(found, expected);

    // all of it inverted
    auto inverted = right;
    for (auto& v : inverted.vectors)
      for (double& component : v) component = -component;
    auto y = x;
    for (auto& column : y.columns)
      for (double& value : column) value = -value;
    EXPECT_EQ(defined_pairs(y, 4, inverted), expected);
  }

  // PyG 1867: with 34 points and more, (a, b) was found without (b, a), since rows end after 32 entries.
  TEST(reported_cases, pyg_1867_pairs_of_34_points_are_found_one_way)
  {
    for (std::size_t const n : {33, 34, 65})
      EXPECT_EQ(found_pairs(make_points<float, 3>(cloud::uniform, n), 10).size(), n * (n - 1));
  }

  // PyG 2933: a large cutoff, meant to find all neighbours, found 32.
  TEST(reported_cases, pyg_2933_a_large_cutoff_finds_32_neighbours)
  {
    auto const x = make_points<float, 3>(cloud::plummer, 41);
    cell_list<float, 3> const cells(x.view(), 100);
    auto const table = radius_search(simd, cells, to_table{.width = 32});
    EXPECT_TRUE(table.overflow);
    EXPECT_THAT(table.counts, testing::Each(40u));
    EXPECT_TRUE(each_has(40, found_pairs(x, 100), 41));
  }

  // pytorch_cluster 128: of three points in one row, rows of one neighbour had 1, 1 and 2 of them.
  TEST(reported_cases, pytorch_cluster_128_short_rows_lose_other_numbers_of_neighbours)
  {
    auto const x = points_at<2>({{0, 0}, {1, 0}, {2, 0}});
    cell_list<double, 2> const cells(x.view(), 2.5);
    for (index_type const width : {1, 2})
    {
      auto const table = radius_search(simd, cells, to_table{.width = width});
      EXPECT_EQ(table.overflow, width < 2);
      EXPECT_THAT(table.counts, testing::Each(2u));
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(table.row(i).size(), width);
    }
    EXPECT_EQ(found_pairs(x, 2.5).size(), 6u);
  }

  // pytorch_cluster 219: a row of one neighbour held two, where the point itself was not among the first found.
  TEST(reported_cases, pytorch_cluster_219_rows_hold_more_than_their_width)
  {
    auto const x = points_at<2>({{-1, -1}, {-1, 1}, {1, -1}, {1, 1}});
    cell_list<double, 2> const cells(x.view(), 100);
    auto const table = radius_search(simd, cells, to_table{.width = 1});
    EXPECT_THAT(table.counts, testing::Each(3u));
    for (index_type i = 0; i < 4; ++i)
    {
      EXPECT_EQ(table.row(i).size(), 1u);
      EXPECT_NE(table.row(i)[0], i);
    }
  }

  // pytorch_cluster 250: a turned molecule had other pairs.
  TEST(reported_cases, pytorch_cluster_250_turned_points_have_other_pairs)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 120);
    auto const pairs = found_pairs(x, 0.17);
    EXPECT_GT(pairs.size(), 120u * 32);
    points<double, 3> turned;
    for (std::size_t i = 0; i < x.size(); ++i)
    {
      auto const [a, b, c] = x[i];
      // columns of (2, 2, 1) / 3, (-2, 1, 2) / 3, (1, -2, 2) / 3
      turned.push_back({(2 * a - 2 * b + c) / 3, (2 * a + b - 2 * c) / 3, (a + 2 * b + 2 * c) / 3});
    }
    EXPECT_EQ(found_pairs(turned, 0.17), pairs);
  }

  // warp 283: through the lower faces of a periodic box, cells were not visited: 8 of 27 were.
  TEST(reported_cases, warp_283_no_neighbours_through_the_lower_faces)
  {
    auto const x = crystal<float>(cube(1), {10, 10, 10}, {{0.5, 0.5, 0.5}});
    auto const found = found_pairs(x, 0.18, cube(1));
    EXPECT_TRUE(each_has(26, found, x.size()));
  }

  // warp 1256: coordinates below 0 were cut to whole numbers towards 0, and neighbours of the next cell were missed.
  TEST(reported_cases, warp_1256_neighbours_are_lost_at_negative_coordinates)
  {
    auto const two = points_at<3, float>({{-0.3, 0, 0}, {0.2, 0, 0}});
    EXPECT_EQ(found_pairs(two, 0.6).size(), 2u);
    auto const x = points_in<float>(cube(4), 150);
    auto const pairs = found_pairs(x, 0.6);
    for (double const by : {-0.5, -2., -4., -11.25})
      EXPECT_EQ(defined_pairs(moved(x, {by, by, by}), 0.6), pairs);
  }

  // GPUMD 190: in a box a little shorter than nine cutoffs, points near 0 lost neighbours after some drifted out of it.
  TEST(reported_cases, gpumd_190_neighbours_are_lost_near_0_where_points_drifted_out)
  {
    double const length = 80.9;
    cell<3> const box = cube(length);
    points<double, 3> chains;
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < 10; ++k)
      {
        std::array<double, 3> x{20, 20, 20};
        x[(a + 1) % 3] += 20; // the chains are far from each other
        x[a] = k * length / 10;
        chains.push_back(x);
      }
    for (double const drift : {0., -0.49, 0.49, -0.1, 8.1})
      EXPECT_TRUE(each_has(2, defined_pairs(moved(chains, {drift, drift, drift}), 9, box), 30));
  }

  // GPUMD 1757: in grids of few cells, the same cell was a neighbour several times.
  TEST(reported_cases, gpumd_1757_a_cell_is_a_neighbour_several_times)
  {
    for (int n = 1; n <= 5; ++n)
      for (auto const& cells : {std::array{n, n, n}, {n, 1, 3}, {2, n, 6 - n}})
      {
        std::array<double, 3> lengths;
        for (int a = 0; a < 3; ++a) lengths[a] = 1.01 * cells[a];
        auto const box = cell<3>::of_lengths(lengths);
        auto const found = defined_pairs(points_in(box, 20), 1, box);
        EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
      }
  }

  namespace
  {
    template <class T>
    void expect_pairs_at_the_faces()
    {
      T const far = std::numeric_limits<T>::infinity();
      points<T, 2> x;
      for (int a = 0; a < 2; ++a)
        for (T const face : {T(0), T(1)})
          for (T const place : {std::nextafter(face, -far), face, std::nextafter(face, far)})
          {
            x.columns[a].push_back(place);
            x.columns[1 - a].push_back(T(0.5));
          }
      auto const box = cell<2>::of_lengths(std::array{1., 1.});
      auto const found = defined_pairs(x, 0.1, box);
      EXPECT_TRUE(each_has(5, found, 12)); // six points each are at one place
      for (auto const& p : found) EXPECT_EQ(p.i < 6, p.j < 6);
    }
  }

  // PointNeighbors.jl 146: a rounding beside the faces, points were in the wrong cell.
  TEST(reported_cases, point_neighbors_146_points_a_rounding_beside_the_faces)
  {
    expect_pairs_at_the_faces<float>();
    expect_pairs_at_the_faces<double>();
  }

  // kliff 37: atoms on a line along an axis had no neighbours, and atoms in a plane ended the program.
  TEST(reported_cases, kliff_37_atoms_on_a_line_have_no_neighbours)
  {
    for (auto const& last : {std::array{4., 3., 3.}, {4., 4., 3.}, {3., 3., 4.}})
      EXPECT_EQ(defined_pairs(points_at<3>({{3, 3, 3}, last}), 2), (list3{{0, 1, {}}, {1, 0, {}}}));
  }

  // matscipy 5: a cell that grew without bound, and with it the number of bins, ended in a segmentation fault.
  TEST(reported_cases, matscipy_5_a_cell_that_grows_ends_the_program)
  {
    auto const x = points_at<3>({{0, 0, 0}});
    auto const neighbours = [&](double diagonal, double other)
    {
      auto const box = repeating(
          {{{diagonal, other, other}, {other, diagonal, other}, {other, other, diagonal}}});
      return defined_pairs(x, 6, box).size();
    };
    EXPECT_EQ(neighbours(0, 4.05), 12u);
    EXPECT_EQ(neighbours(-344.689, 348.739), 0u);
    EXPECT_EQ(neighbours(-1723.45, 1727.5), 0u);
    EXPECT_EQ(neighbours(-8617.23, 8621.28), 0u);
    EXPECT_EQ(neighbours(-8.6e9, 8.6e9 + 4.05), 0u);
  }

  // Atomistica 30: the energy of silicon carbide jumped where two atoms were at -4e-52 instead of 0.
  TEST(reported_cases, atomistica_30_a_coordinate_just_below_0_changes_the_neighbours)
  {
    auto const box = cube(2 * 2.26371743);
    auto x = crystal(box, {1, 1, 1},
                     {{0, 0, 0},
                      {0, 0.5, 0.5},
                      {0.5, 0, 0.5},
                      {0.5, 0.5, 0},
                      {0.25, 0.25, 0.25},
                      {0.25, 0.75, 0.75},
                      {0.75, 0.25, 0.75},
                      {0.75, 0.75, 0.25}});
    // 4 at the distance of a bond, and 12 of the own kind
    for (auto const& [cutoff, n] : {std::pair{2.5, 4u}, {3.3, 16u}})
    {
      x.columns[0][0] = x.columns[0][1] = 0;
      auto expected = defined_pairs(x, cutoff, box);
      EXPECT_TRUE(each_has(n, expected, 8));
      x.columns[0][0] = x.columns[0][1] = -4.41173839e-52;
      EXPECT_EQ(defined_pairs(x, cutoff, box), expected);
    }
  }

  // torch-sim 386: a list of several systems had other neighbours than those of each system.
  TEST(reported_cases, torch_sim_386_a_batch_differs_from_its_systems)
  {
    std::vector<cell<3>> const boxes{fcc(5.26), cube(5.26), fcc(4.05), cube(30)};
    std::vector<points<double, 3>> const systems_x{
        crystal(boxes[0], {1, 1, 1}), points_in(boxes[1], 8), crystal(boxes[2], {2, 2, 2}),
        points_in(boxes[3], 90)};
    points<double, 3> x;
    std::vector<index_type> offsets{0};
    for (auto const& one : systems_x)
    {
      for (std::size_t i = 0; i < one.size(); ++i) x.push_back(one[i]);
      offsets.push_back(static_cast<index_type>(x.size()));
    }
    double const cutoff = 6;
    cell_list<double, 3> const batch(x.view(),
                                     {.offsets = offsets, .cutoffs = {&cutoff, 1}, .cells = boxes});
    list3 expected;
    for (std::size_t s = 0; s < boxes.size(); ++s)
      for (auto const& p : defined_pairs(systems_x[s], cutoff, boxes[s]))
        expected.push_back({p.i + offsets[s], p.j + offsets[s], p.image});
    EXPECT_EQ(listed_pairs(simd, batch, pairs::full), expected);
  }
}
