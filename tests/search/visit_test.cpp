#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include "points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Periodic on one axis, of so few cells that they meet in several images.
    template <class T>
    cell_list<T, 3> boxed(points<T, 3> const& x)
    {
      return {x.view(), 0.3, {.period = {1, 0, 0}}};
    }

    constexpr std::array both = {pairs::half, pairs::full};
  }

  template <class T>
  struct visits : testing::Test
  {};
  using reals = testing::Types<float, double>;
  TYPED_TEST_SUITE(visits, reals);

  TYPED_TEST(visits, give_the_displacements_of_a_list_to_who_takes_them)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 120);
    auto const cells = boxed(x);
    for (pairs const which : both)
    {
      auto const list = radius_search(
          scalar, cells, to_coo{.which = which, .distances = true, .displacements = true});
      ASSERT_GT(list.size(), 0u);
      std::size_t at = 0;
      auto const compare = [&](index_type i, index_type j, T r2, vec<T, 3> const& d)
      {
        ASSERT_LT(at, list.size());
        EXPECT_EQ(i, list.i[at]);
        EXPECT_EQ(j, list.j[at]);
        EXPECT_EQ(r2, list.r2[at]);
        for (int a = 0; a < 3; ++a) EXPECT_EQ(d[a], list.displacements[a][at]);
        ++at;
      };
      radius_search(simd, cells, visit{compare, which});
      EXPECT_EQ(at, list.size());

      at = 0;
      auto const reduced = radius_search(simd, cells,
                                         reduce{0, [&](int& n, auto i, auto j, T r2, auto const& d)
                                                { compare(i, j, r2, d), ++n; },
                                                [](int& n, int part) { n += part; }, which, 1});
      EXPECT_EQ(static_cast<std::size_t>(reduced), list.size());
    }
  }

  TYPED_TEST(visits, give_the_row_of_every_point)
  {
    using T = TypeParam;
    auto const x = make_points<T, 3>(cloud::uniform, 120);
    auto const cells = boxed(x);
    for (pairs const which : both)
      for (bool const displacements : {false, true})
      {
        auto const list = radius_search(
            scalar, cells, to_csr{.which = which, .distances = true, .displacements = true});
        std::vector<int> visited(x.size());
        auto const compare = [&](detail::neighbour_row<T, 3> const& row)
        {
          ++visited[row.i];
          EXPECT_THAT(row.j, testing::ElementsAreArray(list.row(row.i)));
          ASSERT_EQ(row.r2.size(), row.j.size());
          std::size_t const first = list.offsets[row.i];
          for (std::size_t k = 0; k < row.j.size(); ++k) EXPECT_EQ(row.r2[k], list.r2[first + k]);
          for (int a = 0; a < 3; ++a)
          {
            ASSERT_EQ(row.d[a].size(), displacements ? row.j.size() : 0);
            for (std::size_t k = 0; k < row.d[a].size(); ++k)
              EXPECT_EQ(row.d[a][k], list.displacements[a][first + k]);
          }
        };
        radius_search(simd, cells, visit_rows{compare, which, displacements});
        EXPECT_THAT(visited, testing::Each(1));
      }
  }
}
