// The search on a GPU against all pairs by the definition: the same pairs in the same order, to the bit.

#include "points.hpp"
#include "search/brute_force.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace nearfield::test
{
  namespace
  {
    using ::testing::AllOf;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;

    template <class V>
    std::span<V const> span_of(page_array<V> const& array)
    {
      return {array.data(), array.size()};
    }

    template <class T, int Dim>
    struct problem
    {
      points<T, Dim> set;
      T cutoff;
      cell_list_options<T, Dim> options{};
    };

    template <class T, int Dim>
    std::uint64_t sum(std::vector<std::vector<index_type>> const& rows)
    {
      std::uint64_t total = 0;
      for (auto const& row : rows) total += row.size();
      return total;
    }

    /// Differences and r2 of every entry, to the bit.
    template <class T, int Dim>
    void expect_geometry(brute_force<T, Dim> const& reference, pair_geometry<T, Dim> const& found,
                         std::vector<std::pair<index_type, index_type>> const& list)
    {
      ASSERT_EQ(found.r2.size(), list.size());
      for (int a = 0; a < Dim; ++a) ASSERT_EQ(found.displacements[a].size(), list.size());
      for (std::size_t p = 0; p < list.size(); ++p)
      {
        auto const [i, j] = list[p];
        ASSERT_EQ(found.r2[p], reference.definition.r2(i, j))
            << "entry " << p << ", " << reference.about(i, j);
        for (int a = 0; a < Dim; ++a)
          ASSERT_EQ(found.displacements[a][p], reference.definition.difference(a, i, j))
              << "entry " << p << ", axis " << a << ", " << reference.about(i, j);
      }
    }

    template <class T, int Dim>
    void expect_counts(cuda_cell_list<T, Dim> const& cells, brute_force<T, Dim> const& reference,
                       pairs which)
    {
      auto const rows = reference.lists(which);
      std::uint64_t const total = sum<T, Dim>(rows);
      EXPECT_EQ(radius_search(cuda, cells, count_pairs{which}).total, total);
      auto const counts = radius_search(cuda, cells, count_pairs{which, true}).to_host();
      EXPECT_EQ(counts.total, total);
      ASSERT_EQ(counts.per_point.size(), rows.size());
      int told = 0;
      for (std::size_t i = 0; i < rows.size() && told < 5; ++i)
        if (counts.per_point[i] != rows[i].size())
        {
          ++told;
          ADD_FAILURE() << "point " << i << " has " << rows[i].size() << " pairs, counted "
                        << counts.per_point[i] << "; " << reference.about(i, i);
        }
    }

    template <class T, int Dim>
    void expect_table(cuda_cell_list<T, Dim> const& cells, brute_force<T, Dim> const& reference,
                      pairs which, index_type width)
    {
      SCOPED_TRACE(testing::Message() << "table of width " << width);
      auto const rows = reference.lists(which);
      to_table what;
      what.which = which;
      what.width = width;
      auto const table = radius_search(cuda, cells, what).to_host();
      ASSERT_EQ(table.size(), rows.size());
      bool overflow = false;
      for (std::size_t i = 0; i < rows.size(); ++i)
      {
        overflow = overflow || rows[i].size() > width;
        ASSERT_EQ(table.counts[i], rows[i].size()) << "row " << i;
        for (std::size_t k = 0; k < table.row(i).size(); ++k)
          ASSERT_EQ(table.row(i)[k], rows[i][k]) << "row " << i << ", place " << k;
      }
      EXPECT_EQ(table.overflow, overflow);
    }

    template <class T, int Dim>
    void expect_lists(cuda_cell_list<T, Dim> const& cells, brute_force<T, Dim> const& reference,
                      pairs which)
    {
      SCOPED_TRACE(which == pairs::half ? "half" : "full");
      expect_counts(cells, reference, which);

      auto const list = reference.list(which);
      to_coo coo_options;
      coo_options.which = which;
      {
        auto const found = radius_search(cuda, cells, coo_options).to_host();
        EXPECT_TRUE(same_pairs(reference, list, span_of(found.i), span_of(found.j))) << "COO";
      }
      auto const rows = reference.lists(which);
      to_csr csr_options;
      csr_options.which = which;
      {
        auto const found = radius_search(cuda, cells, csr_options).to_host();
        EXPECT_TRUE(same_rows(reference, rows, span_of(found.offsets), span_of(found.columns)))
            << "CSR";
      }
      expect_table(cells, reference, which, 7);
      std::size_t longest = 1;
      for (auto const& row : rows) longest = std::max(longest, row.size());
      expect_table(cells, reference, which, static_cast<index_type>(longest));
    }

    /// Sorted lists, r2 and displacements.
    template <class T, int Dim>
    void expect_extras(cuda_cell_list<T, Dim> const& cells, brute_force<T, Dim> const& reference,
                       pairs which)
    {
      SCOPED_TRACE(which == pairs::half ? "sorted, half" : "sorted, full");
      auto list = reference.list(which);
      to_coo coo_options;
      coo_options.which = which;
      coo_options.distances = coo_options.displacements = true;
      expect_geometry(reference, radius_search(cuda, cells, coo_options).to_host(), list);
      if (which == pairs::half)
        for (auto& [i, j] : list)
          if (j < i) std::swap(i, j);
      std::sort(list.begin(), list.end());
      coo_options.sorted = true;
      auto const coo = radius_search(cuda, cells, coo_options).to_host();
      EXPECT_TRUE(same_pairs(reference, list, span_of(coo.i), span_of(coo.j))) << "sorted COO";
      expect_geometry(reference, coo, list);

      auto rows = reference.lists(which);
      for (auto& row : rows) std::sort(row.begin(), row.end());
      to_csr csr_options;
      csr_options.which = which;
      csr_options.distances = csr_options.displacements = csr_options.sorted = true;
      auto const csr = radius_search(cuda, cells, csr_options).to_host();
      EXPECT_TRUE(same_rows(reference, rows, span_of(csr.offsets), span_of(csr.columns)))
          << "sorted CSR";
      std::vector<std::pair<index_type, index_type>> entries;
      for (index_type i = 0; i < rows.size(); ++i)
        for (index_type const j : rows[i]) entries.emplace_back(i, j);
      expect_geometry(reference, csr, entries);
    }

    template <class T, int Dim>
    void expect_same_grid(cell_grid<T, Dim> const& found, cell_grid<T, Dim> const& expected)
    {
      EXPECT_EQ(found.lower, expected.lower);
      EXPECT_EQ(found.inverse_width, expected.inverse_width);
      EXPECT_EQ(found.cells, expected.cells);
      EXPECT_EQ(found.reach, expected.reach);
    }

    template <class T, int Dim>
    void expect_order(std::span<index_type const> on_device,
                      std::vector<index_type> const& expected)
    {
      ASSERT_EQ(on_device.size(), expected.size());
      synchronize(nullptr);
      std::vector<index_type> found(on_device.size());
      detail::copy_to_host(found.data(), on_device.data(), on_device.size_bytes());
      auto const differ = std::mismatch(found.begin(), found.end(), expected.begin());
      if (differ.first != found.end())
        ADD_FAILURE() << "position " << differ.first - found.begin() << " holds point "
                      << *differ.first << ", expected " << *differ.second;
    }

    template <class T, int Dim>
    void expect_one_set(problem<T, Dim> const& p, bool extras = false)
    {
      brute_force<T, Dim> const reference(p.set.view(), p.cutoff, p.options);
      device_columns<T, Dim> const x(p.set.view());
      cuda_cell_list<T, Dim> cells(cuda, x.view(), p.cutoff, p.options);
      expect_same_grid(cells.grid(), reference.grid);
      // counted before the order inside cells is made
      EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total,
                reference.list(pairs::half).size());
      expect_order<T, Dim>(cells.target_order(), reference.target_order);
      for (pairs const which : {pairs::half, pairs::full}) expect_lists(cells, reference, which);
      if (extras)
        for (pairs const which : {pairs::half, pairs::full}) expect_extras(cells, reference, which);
      cells.rebuild(x.view());
      auto const again = radius_search(cuda, cells, to_coo{}).to_host();
      EXPECT_TRUE(
          same_pairs(reference, reference.list(pairs::half), span_of(again.i), span_of(again.j)))
          << "COO after rebuild";
    }

    template <class T, int Dim>
    void expect_two_sets(points<T, Dim> const& queries, points<T, Dim> const& set, T cutoff,
                         cell_list_options<T, Dim> const& options = {})
    {
      brute_force<T, Dim> const reference(queries.view(), set.view(), cutoff, options);
      device_columns<T, Dim> const x(queries.view()), y(set.view());
      cuda_cell_list<T, Dim> cells(cuda, x.view(), y.view(), cutoff, options);
      expect_same_grid(cells.grid(), reference.grid);
      expect_lists(cells, reference, pairs::full);
      expect_extras(cells, reference, pairs::full);
      EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_coo{}); },
                  ThrowsMessage<error>(HasSubstr("two sets have no half list")));
    }

    template <class T, int Dim>
    void stretch(points<T, Dim>& set, std::array<double, Dim> const& by)
    {
      for (int a = 0; a < Dim; ++a)
        for (T& x : set.columns[a]) x = static_cast<T>(double(x) * by[a]);
    }

    /// The cutoff with which each of n uniform points has about `neighbours`.
    template <class T, int Dim>
    T cutoff_for(double neighbours, std::size_t n)
    {
      double const volume = Dim == 3 ? 4.18879 : 3.14159;
      return static_cast<T>(std::pow(neighbours / volume / double(n), 1. / Dim));
    }

    template <class T, int D>
    struct real_and_dim
    {
      using real = T;
      static constexpr int dim = D;
    };

    template <class Case>
    class cuda_search : public testing::Test
    {};
    using cases = testing::Types<real_and_dim<double, 3>, real_and_dim<float, 3>,
                                 real_and_dim<double, 2>, real_and_dim<float, 2>>;
    TYPED_TEST_SUITE(cuda_search, cases);
  }

#define USE_CASE                                                                                   \
  using T = typename TypeParam::real;                                                              \
  constexpr int Dim = TypeParam::dim

  TYPED_TEST(cuda_search, few_points)
  {
    USE_CASE;
    for (std::size_t const n : {0, 1, 2, 3, 31, 32, 33, 65, 500})
    {
      SCOPED_TRACE(testing::Message() << n << " points");
      expect_one_set<T, Dim>({make_points<T, Dim>(cloud::uniform, n), T(0.4)}, true);
    }
    expect_one_set<T, Dim>(
        {make_points<T, Dim>(cloud::uniform, 1500), T(50)}); // larger than the box
  }

  TYPED_TEST(cuda_search, uniform)
  {
    USE_CASE;
    std::size_t const n = 20000;
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::uniform, n), cutoff_for<T, Dim>(110, n)},
                           true);
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::uniform, n, 3), cutoff_for<T, Dim>(3, n)});
  }

  TYPED_TEST(cuda_search, many_candidates_an_item)
  {
    USE_CASE;
    std::size_t const n = 6000;
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::uniform, n), cutoff_for<T, Dim>(700, n)});
  }

  TYPED_TEST(cuda_search, clusters)
  {
    USE_CASE;
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::plummer, 12000), T(Dim == 3 ? 0.03 : 0.01)});
  }

  TYPED_TEST(cuda_search, flat_and_linear)
  {
    USE_CASE;
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::planar, 5000), T(0.02)});
    auto line = make_points<T, Dim>(cloud::uniform, 5000);
    for (int axis = 0; axis < Dim; ++axis)
    {
      SCOPED_TRACE(testing::Message() << "along axis " << axis);
      auto set = line;
      for (int a = 0; a < Dim; ++a)
        if (a != axis) set.columns[a].assign(set.size(), T(0.3));
      expect_one_set<T, Dim>({set, T(0.003)});
    }
  }

  TYPED_TEST(cuda_search, coincident_points)
  {
    USE_CASE;
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::coincident, 900), T(0.05)}, true);
    // more in one cell than the ranks of atomics are taken for
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::coincident, 2600), T(0.05)});
    expect_one_set<T, Dim>({make_points<T, Dim>(cloud::all_equal, 1100), T(0.05)});
  }

  TYPED_TEST(cuda_search, exactly_at_the_cutoff)
  {
    USE_CASE;
    std::size_t const side = Dim == 3 ? 17 : 65;
    std::size_t const n = Dim == 3 ? 17 * 17 * 17 : 65 * 65;
    // a lattice of 2^-k: distances of whole spacings are exact, and not in
    auto const lattice = make_points<T, Dim>(cloud::grid, n);
    T const spacing = T(1) / T(side - 1);
    expect_one_set<T, Dim>({lattice, spacing});
    expect_one_set<T, Dim>({lattice, 2 * spacing});
    expect_one_set<T, Dim>({lattice, std::nextafter(spacing, T(1))});
    // and one whose distances round
    auto thirds = lattice;
    stretch<T, Dim>(thirds,
                    []
                    {
                      std::array<double, Dim> by;
                      by.fill(1. / 3);
                      return by;
                    }());
    expect_one_set<T, Dim>({thirds, spacing / 3});
    expect_one_set<T, Dim>({thirds, T(double(spacing) / 3 * std::sqrt(2.))});
  }

  TYPED_TEST(cuda_search, points_on_cell_borders)
  {
    USE_CASE;
    T const cutoff = T(0.1);
    auto set = make_points<T, Dim>(cloud::uniform, 4000, 5);
    cell_grid<T, Dim> grid;
    {
      std::array<T, Dim> lower{}, upper;
      upper.fill(T(1));
      grid = make_cell_grid<T, Dim>(lower, upper, cutoff, {});
    }
    // onto borders, or one step before or behind them
    for (int a = 0; a < Dim; ++a)
      for (std::size_t i = 0; i < set.size(); ++i)
      {
        double const border = std::round(double(set.columns[a][i]) * grid.inverse_width[a]);
        T x = static_cast<T>(border / grid.inverse_width[a]);
        if (i % 3 == 1) x = std::nextafter(x, T(-1));
        if (i % 3 == 2) x = std::nextafter(x, T(2));
        set.columns[a][i] = std::max(x, T(0));
      }
    expect_one_set<T, Dim>({set, cutoff});
  }

  TYPED_TEST(cuda_search, sparse_clouds_of_huge_extent)
  {
    USE_CASE;
    for (double const extent : {1e4, 1e6, 1e9, 1e14})
    {
      SCOPED_TRACE(testing::Message() << "extent " << extent);
      auto set = make_points<T, Dim>(cloud::uniform, 1500);
      std::array<double, Dim> by;
      by.fill(extent);
      stretch<T, Dim>(set, by);
      // a companion for every third
      for (std::size_t i = 0; i + 2 < set.size(); i += 3)
        for (int a = 0; a < Dim; ++a)
          set.columns[a][i + 1] = static_cast<T>(double(set.columns[a][i]) + 0.3 * a);
      // and a clump
      auto const clump = make_points<T, Dim>(cloud::uniform, 300, 7);
      for (int a = 0; a < Dim; ++a)
        set.columns[a].insert(set.columns[a].end(), clump.columns[a].begin(),
                              clump.columns[a].end());
      expect_one_set<T, Dim>({set, T(0.5)}, extent < 1e5);
    }
    auto shifted = make_points<T, Dim>(cloud::uniform, 3000);
    for (auto& column : shifted.columns)
      for (T& x : column) x = static_cast<T>(double(x) - 1e3); // negative, fewer digits
    expect_one_set<T, Dim>({shifted, T(0.05)});
  }

  TYPED_TEST(cuda_search, boxes_of_unequal_edges)
  {
    USE_CASE;
    auto set = make_points<T, Dim>(cloud::uniform, 8000);
    std::array<double, Dim> by;
    for (int a = 0; a < Dim; ++a) by[a] = a == 0 ? 20 : a == 1 ? 1 : 0.2;
    stretch<T, Dim>(set, by);
    expect_one_set<T, Dim>({set, T(0.08)});
    std::swap(set.columns[0], set.columns[Dim - 1]);
    expect_one_set<T, Dim>({set, T(0.08)});
  }

  TYPED_TEST(cuda_search, periodic_in_each_subset_of_axes)
  {
    USE_CASE;
    for (int axes = 1; axes < 1 << Dim; ++axes)
      // cells to spare; 2 k + 1 and 2 k + 2 of them on the last axis; one, where the image is chosen a pair
      for (double const length_over_cutoff : {9.7, 3.2, 3.01, 2.6, 2.3, 2.0})
      {
        SCOPED_TRACE(testing::Message()
                     << "axes " << axes << ", L = " << length_over_cutoff << " R");
        T const cutoff = T(0.25);
        std::size_t const n = length_over_cutoff > 5 ? 6000 : 1200;
        problem<T, Dim> p{make_points<T, Dim>(cloud::uniform, n), cutoff};
        std::array<double, Dim> by;
        for (int a = 0; a < Dim; ++a)
        {
          by[a] = length_over_cutoff * double(cutoff) * (1 + 0.125 * a);
          if (axes >> a & 1) p.options.period[a] = static_cast<T>(by[a]);
        }
        stretch<T, Dim>(p.set, by);
        for (int a = 0; a < Dim; ++a) // rounded up to L in float
          for (T& x : p.set.columns[a])
            if (p.options.period[a] > 0 && x >= p.options.period[a]) x = 0;
        expect_one_set(p, axes == 5 || axes == (1 << Dim) - 1);
      }
  }

  TYPED_TEST(cuda_search, cells_per_cutoff)
  {
    USE_CASE;
    std::size_t const n = 4000;
    for (int k = 1; k <= 4; ++k)
      for (int const last : {k, 1, 5})
        for (bool const periodic : {false, true})
        {
          SCOPED_TRACE(testing::Message() << k << " cells, " << last << " on the last axis"
                                          << (periodic ? ", periodic" : ""));
          problem<T, Dim> p{make_points<T, Dim>(cloud::uniform, n), cutoff_for<T, Dim>(60, n)};
          p.options.cells_per_cutoff.fill(k);
          p.options.cells_per_cutoff[Dim - 1] = last;
          if (periodic) p.options.period.fill(T(1));
          expect_one_set(p);
        }
  }

  TYPED_TEST(cuda_search, two_sets)
  {
    USE_CASE;
    auto const queries = make_points<T, Dim>(cloud::plummer, 3000, 11);
    auto set = make_points<T, Dim>(cloud::uniform, 5000, 12);
    for (int a = 0; a < Dim; ++a)
      std::copy_n(queries.columns[a].begin(), 500, set.columns[a].begin());
    expect_two_sets<T, Dim>(queries, set, T(0.06));
    expect_two_sets<T, Dim>(set, queries, T(0.06));
    expect_two_sets<T, Dim>(set, points<T, Dim>{}, T(0.06));
    expect_two_sets<T, Dim>(points<T, Dim>{}, set, T(0.06));
    auto far = queries;
    for (T& x : far.columns[0]) x += T(1e5);
    expect_two_sets<T, Dim>(far, set, T(0.06));
    cell_list_options<T, Dim> options;
    options.period.fill(T(1));
    auto const more = make_points<T, Dim>(cloud::uniform, 2000, 13);
    for (auto& column : set.columns)
      for (T& x : column)
      {
        x -= std::floor(x);
        if (!(x < T(1))) x = 0;
      }
    expect_two_sets<T, Dim>(more, set, T(0.06), options);
  }

  TYPED_TEST(cuda_search, rebuilds_with_other_points_and_cutoffs)
  {
    USE_CASE;
    device_columns<T, Dim> const first(make_points<T, Dim>(cloud::uniform, 5000, 1).view());
    cuda_cell_list<T, Dim> cells(cuda, first.view(), T(0.1));
    for (std::size_t const n : {300, 7000, 0, 20})
    {
      auto const set = make_points<T, Dim>(cloud::plummer, n, n);
      device_columns<T, Dim> const x(set.view());
      T const cutoff = T(0.02) + T(1) / T(n + 10);
      cells.rebuild(x.view(), cutoff);
      brute_force<T, Dim> const reference(set.view(), cutoff, {});
      auto const found = radius_search(cuda, cells, to_coo{}).to_host();
      EXPECT_TRUE(
          same_pairs(reference, reference.list(pairs::half), span_of(found.i), span_of(found.j)))
          << n << " points";
    }
  }

  TYPED_TEST(cuda_search, stays_as_it_was_where_a_rebuild_is_refused)
  {
    USE_CASE;
    auto set = make_points<T, Dim>(cloud::uniform, 2000);
    device_columns<T, Dim> const x(set.view());
    cuda_cell_list<T, Dim> cells(cuda, x.view(), T(0.1));
    std::uint64_t const n = radius_search(cuda, cells, count_pairs{}).total;
    set.columns[0][5] = std::numeric_limits<T>::infinity();
    device_columns<T, Dim> const bad(set.view());
    EXPECT_THROW(cells.rebuild(bad.view(), T(0.2)), error);
    EXPECT_THROW(cells.rebuild(x.view(), T(-1)), error);
    EXPECT_EQ(radius_search(cuda, cells, to_coo{}).size(), n);
  }

  TYPED_TEST(cuda_search, repeats_to_the_bit)
  {
    USE_CASE;
    auto const set = make_points<T, Dim>(cloud::uniform, 200000, 17);
    device_columns<T, Dim> const x(set.view());
    cuda_cell_list<T, Dim> cells(cuda, x.view(), cutoff_for<T, Dim>(40, set.size()));
    auto const first = radius_search(cuda, cells, to_coo{}).to_host();
    EXPECT_EQ(first.size(), radius_search(cuda, cells, count_pairs{}).total);
    for (int repetition = 0; repetition < 3; ++repetition)
    {
      cells.rebuild(x.view());
      auto const found = radius_search(cuda, cells, to_coo{}).to_host();
      ASSERT_EQ(found.size(), first.size());
      EXPECT_EQ(std::memcmp(found.i.data(), first.i.data(), 4 * first.size()), 0);
      EXPECT_EQ(std::memcmp(found.j.data(), first.j.data(), 4 * first.size()), 0);
    }
  }

  TYPED_TEST(cuda_search, large_lists_are_those_of_the_cpu)
  {
    USE_CASE;
    for (cloud const shape : {cloud::uniform, cloud::plummer})
      for (bool const periodic : {false, true})
      {
        if (periodic && shape == cloud::plummer) continue; // reaches out of the box
        SCOPED_TRACE(testing::Message() << shape << (periodic ? ", periodic" : ""));
        auto set = make_points<T, Dim>(shape, 300000, 19);
        if (periodic)
          for (auto& column : set.columns)
            for (T& x : column)
              if (x >= 1) x = 0; // rounded up
        T const cutoff = shape == cloud::plummer ? T(Dim == 3 ? 0.008 : 0.002)
                                                 : cutoff_for<T, Dim>(70, set.size());
        cell_list_options<T, Dim> options;
        if (periodic) options.period.fill(T(1));
        cell_list<T, Dim> const on_cpu(set.view(), double(cutoff), options);
        device_columns<T, Dim> const x(set.view());
        cuda_cell_list<T, Dim> const cells(cuda, x.view(), cutoff, options);
        auto const same = [](auto const& a, auto const& b, char const* what)
        {
          ASSERT_EQ(a.size(), b.size()) << what;
          auto const differ = std::mismatch(a.begin(), a.end(), b.begin());
          EXPECT_TRUE(differ.first == a.end())
              << what << ": the first difference is at " << differ.first - a.begin() << " of "
              << a.size() << ", GPU " << *differ.first << ", CPU " << *differ.second;
        };
        {
          auto const gpu = radius_search(cuda, cells, to_coo{}).to_host();
          auto const cpu = radius_search(simd, on_cpu, to_coo{});
          same(gpu.i, cpu.i, "i of COO");
          same(gpu.j, cpu.j, "j of COO");
        }
        for (pairs const which : {pairs::half, pairs::full})
        {
          to_csr what;
          what.which = which;
          auto const gpu = radius_search(cuda, cells, what).to_host();
          auto const cpu = radius_search(simd, on_cpu, what);
          same(gpu.offsets, cpu.offsets, "offsets of CSR");
          same(gpu.columns, cpu.columns, "columns of CSR");
        }
      }
  }

  TYPED_TEST(cuda_search, refuses_bad_input)
  {
    USE_CASE;
    auto set = make_points<T, Dim>(cloud::uniform, 1000);
    auto const build = [&](T cutoff, cell_list_options<T, Dim> const& options = {})
    {
      device_columns<T, Dim> const x(set.view());
      cuda_cell_list<T, Dim>(cuda, x.view(), cutoff, options);
    };
    T const infinity = std::numeric_limits<T>::infinity();
    for (T const cutoff : {T(0), T(-1), infinity, std::numeric_limits<T>::quiet_NaN()})
      EXPECT_THAT([&] { build(cutoff); }, ThrowsMessage<error>(HasSubstr("cutoff")));
    cell_list_options<T, Dim> periodic;
    periodic.period[1] = T(0.75);
    EXPECT_THAT([&] { build(T(0.5), periodic); },
                ThrowsMessage<error>(HasSubstr("twice the cutoff")));
    for (T& x : set.columns[1]) x *= T(0.5);
    EXPECT_NO_THROW(build(T(0.1), periodic));
    set.columns[1][777] = T(0.75);
    EXPECT_THAT([&] { build(T(0.1), periodic); },
                ThrowsMessage<error>(AllOf(HasSubstr("point 777"), HasSubstr("0.75"))));
    EXPECT_NO_THROW(build(T(0.1)));
    set.columns[Dim - 1][345] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_THAT([&] { build(T(0.1)); },
                ThrowsMessage<error>(AllOf(HasSubstr("point 345"), HasSubstr("finite"))));
    set.columns[0][12] = -infinity;
    EXPECT_THAT([&] { build(T(0.1)); },
                ThrowsMessage<error>(AllOf(HasSubstr("point 12"), HasSubstr("inf"))));
  }

  TYPED_TEST(cuda_search, refuses_results_larger_than_max_bytes)
  {
    USE_CASE;
    auto const set = make_points<T, Dim>(cloud::uniform, 3000);
    device_columns<T, Dim> const x(set.view());
    cuda_cell_list<T, Dim> cells(cuda, x.view(), T(0.1));
    std::uint64_t const n = radius_search(cuda, cells, count_pairs{}).total;
    to_coo coo_options;
    coo_options.max_bytes = 8 * n;
    EXPECT_EQ(radius_search(cuda, cells, coo_options).size(), n);
    coo_options.max_bytes = 8 * n - 1;
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, coo_options); },
                ThrowsMessage<error>(
                    AllOf(HasSubstr(std::to_string(n)), HasSubstr(std::to_string(8 * n)))));
    to_csr csr_options;
    csr_options.max_bytes = 1000;
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, csr_options); },
                ThrowsMessage<error>(HasSubstr(std::to_string(2 * n))));
    to_table table_options;
    table_options.max_bytes = 1000;
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, table_options); },
                ThrowsMessage<error>(HasSubstr("max_bytes")));
  }
}
