
#include "complains_of.hpp"
#include "search/image_lists.hpp"
#include "search/random_case.hpp"
#include "search/search_case.hpp"

#include <nearfield/search/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// Lists in arrays of the caller, against lists of the library.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class pair_arrays : public testing::Test
    {};
    TYPED_TEST_SUITE(pair_arrays, search_kinds);

    /// Columns of every kind: pairs in rows of a matrix, vectors in rows, numbers alone.
    template <class T, int Dim, class I>
    struct arrays
    {
      std::vector<I> ij;
      std::vector<T> r2, r, d, to_j;
      std::vector<std::int32_t> images;
      std::vector<std::uint32_t> packed;

      explicit arrays(std::size_t n)
          : ij(2 * n), r2(n), r(n), d(Dim * n), to_j(Dim * n), images(Dim * n), packed(n)
      {}
      [[nodiscard]] to_arrays<T, Dim> all(pairs which, pair_order order)
      {
        auto const both = interleaved<2>(ij);
        return {.which = which,
                .order = order,
                .i = {both, 0},
                .j = {both, 1},
                .r2 = soa{r2},
                .r = soa{r},
                .displacements = interleaved<Dim>(d),
                .to_j = interleaved<Dim>(to_j),
                .images = interleaved<Dim>(images),
                .packed_images = soa{packed}};
      }

      /// The first n pairs are those of a list, whose pair p has index i(p).
      template <class List, class Row>
      void expect(List const& list, std::size_t n, Row const& i, auto const& j) const
      {
        for (std::size_t p = 0; p < n; ++p)
        {
          SCOPED_TRACE(testing::Message() << "pair " << p);
          ASSERT_EQ(ij[2 * p], I(i(p)));
          ASSERT_EQ(ij[2 * p + 1], I(j[p]));
          EXPECT_EQ(r2[p], list.r2[p]);
          EXPECT_EQ(r[p], std::sqrt(list.r2[p]));
          for (int a = 0; a < Dim; ++a)
          {
            EXPECT_EQ(d[Dim * p + a], list.displacements[a][p]);
            EXPECT_EQ(to_j[Dim * p + a], 0 - list.displacements[a][p]);
            EXPECT_FALSE(to_j[Dim * p + a] == 0 && std::signbit(to_j[Dim * p + a]));
            EXPECT_EQ(images[Dim * p + a], list.images[a][p]);
          }
          EXPECT_EQ(packed[p], detail::packed_image(image_at(list, p)));
        }
      }
    };

    template <class T, int Dim, class I>
    void check_arrays(std::uint64_t seed)
    {
      random_case<T, Dim> const of(seed);
      auto const cells = of.list();
      threads on(2);
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !of.one_set) continue;
        auto const list = radius_search(simd, cells, with_all_columns(to_coo{which}));
        bool fits = true;
        for (std::size_t p = 0; p < list.size(); ++p)
          for (auto const s : image_at(list, p)) fits = fits && s >= -512 && s < 512;
        if (!fits) continue;
        std::size_t const n = list.size(), less = n - n / 3;
        auto const i_of_list = [&](std::size_t p)
        {
          return list.i[p];
        };
        arrays<T, Dim, I> here(n), there(n), part(less);
        EXPECT_EQ(radius_search(simd, cells, here.all(which, pair_order::cells)), n);
        here.expect(list, n, i_of_list, list.j);
        EXPECT_EQ(radius_search(simd.with(on), cells, there.all(which, pair_order::cells)), n);
        there.expect(list, n, i_of_list, list.j);
        EXPECT_EQ(radius_search(simd.with(on), cells, part.all(which, pair_order::cells)), n);
        part.expect(list, less, i_of_list, list.j);

        for (bool const sorted : {false, true})
        {
          auto const order = sorted ? pair_order::sorted : pair_order::rows;
          if (sorted && which == pairs::half)
          {
            EXPECT_THAT([&] { radius_search(simd, cells, here.all(which, order)); },
                        complains_of("half list", "to_coo"));
            continue;
          }
          auto const rows = radius_search(simd, cells, with_all_columns(to_csr{which, sorted}));
          std::vector<index_type> i(n);
          for (index_type row = 0; row < rows.size(); ++row)
            std::fill(i.begin() + static_cast<std::ptrdiff_t>(rows.offsets[row]),
                      i.begin() + static_cast<std::ptrdiff_t>(rows.offsets[row + 1]), row);
          auto const i_of_row = [&](std::size_t p)
          {
            return i[p];
          };
          EXPECT_EQ(radius_search(simd, cells, here.all(which, order)), n);
          here.expect(rows, n, i_of_row, rows.columns);
          EXPECT_EQ(radius_search(simd.with(on), cells, part.all(which, order)), n);
          part.expect(rows, less, i_of_row, rows.columns);
        }
      }
    }
  }

  TYPED_TEST(pair_arrays, hold_the_lists_of_the_library)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      if (seed % 2 == 0)
        check_arrays<typename TypeParam::real, TypeParam::dim, std::int64_t>(seed);
      else
        check_arrays<typename TypeParam::real, TypeParam::dim, std::uint32_t>(seed);
    }
  }

  TEST(pair_arrays, are_checked)
  {
    auto const x = points_at<2>({{0, 0}, {1, 0}, {2, 0}});
    cell_list<double, 2> const cells(x.view(), 1.5);
    std::vector<index_type> i(4), j(3);
    std::vector<double> r(4);
    EXPECT_THAT([&] { radius_search(simd, cells, to_arrays<double, 2>{.i = soa{i}, .j = soa{j}}); },
                complains_of(".j has 3 values", ".i has 4"));
    soa<double, 1> const null({nullptr}, 4);
    EXPECT_THAT([&] { radius_search(simd, cells, to_arrays<double, 2>{.i = soa{i}, .r = null}); },
                complains_of(".r is null"));
    std::vector<std::uint64_t> offsets(4);
    EXPECT_THAT([&] { radius_search(simd, cells, to_arrays<double, 2>{.offsets = soa{offsets}}); },
                complains_of(".offsets", "pair_order::rows"));
    to_arrays<double, 2> rows{.order = pair_order::rows, .offsets = soa{offsets}};
    EXPECT_EQ(radius_search(simd, cells, rows), 4u);
    EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 1, 3, 4}));
    offsets.pop_back();
    rows.offsets = soa{offsets};
    EXPECT_THAT([&] { radius_search(simd, cells, rows); }, complains_of("3 values", "give 4"));
    EXPECT_EQ(radius_search(simd, cells, to_arrays<double, 2>{}), 4u); // counted
    EXPECT_EQ(radius_search(simd, cells, to_arrays<double, 2>{.r = soa{r}}), 4u);
    EXPECT_EQ(r, (std::vector<double>{1, 1, 1, 1}));
  }
}
