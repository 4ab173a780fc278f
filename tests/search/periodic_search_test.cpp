#include "search/search_case.hpp"

#include <gtest/gtest.h>

#include <array>

// Periodic boxes of two cutoffs and more: axes with many cells, with few, and with one, where the nearest image is the
// only one.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class periodic_search : public ::testing::Test
    {};
    TYPED_TEST_SUITE(periodic_search, search_kinds);

    /// From cells to spare down to 2 R: 2 k + 1 and 2 k + 2 cells on the last axis, and one.
    constexpr std::array lengths_over_cutoff{9.7, 3.2, 3.01, 2.6, 2.3, 2.0};
  }

  // All lengths where all axes are periodic, and two of them for every other subset.
  TYPED_TEST(periodic_search, wraps_every_subset_of_axes)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    constexpr int all_axes = (1 << dim) - 1;
    for (int axes = 1; axes <= all_axes; ++axes)
      for (std::size_t l = 0; l < lengths_over_cutoff.size(); ++l)
      {
        if (axes != all_axes && (axes + l) % 3 != 0) continue;
        double const length = lengths_over_cutoff[l];
        SCOPED_TRACE(testing::Message() << "axes " << axes << ", L = " << length << " R");
        search_case<T, dim> search{
            .x = make_points<T, dim>(cloud::uniform, length > 5 ? 1200 : 150), .cutoff = 0.25};
        std::array<double, dim> by;
        for (int a = 0; a < dim; ++a)
        {
          by[a] = length * search.cutoff * (1 + 0.125 * a);
          if (axes >> a & 1) search.options.period[a] = static_cast<T>(by[a]);
        }
        stretch<T, dim>(search.x, by);
        wrap<T, dim>(search.x, search.options.period); // rounded up to L in float
        if (axes == all_axes && length == 3.01) search.how_many = outputs::every;
        EXPECT_GT(check_search(search), 0u);
      }
  }

  TYPED_TEST(periodic_search, wraps_points_on_a_lattice)
  {
    // distances of exactly the cutoff and of exactly half a period
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (int const side : {4, 5})
      for (double const cutoff : {1., 1.5, 2.})
      {
        SCOPED_TRACE(testing::Message() << side << ", cutoff " << cutoff);
        search_case<T, dim> search{.cutoff = cutoff};
        int const n = dim == 2 ? side * side : side * side * side;
        for (int i = 0; i < n; ++i)
        {
          std::array<double, dim> x;
          for (int a = 0, rest = i; a < dim; ++a, rest /= side) x[a] = rest % side;
          search.x.push_back(x);
        }
        search.options.period.fill(static_cast<T>(side));
        EXPECT_EQ(check_search(search) == 0, cutoff == 1.) << "strictly less";
      }
  }

  TYPED_TEST(periodic_search, wraps_displacements_of_moved_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    search_case<T, dim> search{
        .x = make_points<T, dim>(cloud::plummer, 300), .cutoff = 0.13, .how_many = outputs::every};
    for (int a = 0; a < dim; ++a) search.options.period[a] = static_cast<T>(0.7 + 0.4 * a);
    wrap<T, dim>(search.x, search.options.period);
    EXPECT_GT(check_search(search), 0u);
  }
}
