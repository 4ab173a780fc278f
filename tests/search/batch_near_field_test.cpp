#include "batch_case.hpp"
#include "search/search_case.hpp"

#include <nearfield/kernels/lennard_jones.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// Sums over a batch are those over its systems, to the bit.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class batch_near_field : public testing::Test
    {};
    TYPED_TEST_SUITE(batch_near_field, search_kinds);

    template <class T, int Dim>
    std::vector<T> sums_over(auto const& where, cell_list<T, Dim> const& cells,
                             points<T, Dim> const& x, points<T, Dim> const& y,
                             near_field_options const& options)
    {
      lennard_jones_cutoff<Dim> const k{.sigma = 0.1, .epsilon = 1, .cutoff = 0.5};
      std::vector<T> out(x.size(), T(7)), q(y.size());
      for (std::size_t j = 0; j < q.size(); ++j) q[j] = y.columns[0][j];
      if (cells.has_one_set())
        near_field(where, k, cells, x.view(), soa{q}, soa{out}, options);
      else
        near_field(where, k, cells, x.view(), y.view(), soa{q}, soa{out}, options);
      return out;
    }
  }

  TYPED_TEST(batch_near_field, is_that_of_single_lists)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
    {
      SCOPED_TRACE(seed);
      batch_case<T, Dim> const of(seed, seed % 5 == 0 ? 2 : 9);
      auto const cells = of.list(scalar);
      auto const& y = of.one_set ? of.x : of.y;
      threads on(1 + static_cast<int>(seed % 3));
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        if (form == pair_form::mutual && !of.one_set) continue;
        SCOPED_TRACE(form == pair_form::mutual);
        near_field_options const options{.accumulate = seed % 2 == 0, .form = form};
        auto const expect = [&](auto const& where, char const* name)
        {
          SCOPED_TRACE(name);
          auto const found = sums_over(where, cells, of.x.x, y.x, options);
          for (std::size_t s = 0; s < of.cutoffs.size(); ++s)
          {
            auto const expected = sums_over(where, of.list_of(s), of.x_of[s],
                                            of.one_set ? of.x_of[s] : of.y_of[s], options);
            for (index_type i = 0; i < expected.size(); ++i)
            {
              T const value = found[of.x.index(s, i)];
              EXPECT_TRUE(value == expected[i] || (value != value && expected[i] != expected[i]))
                  << "point " << i << " of system " << s << ": " << value << ", alone "
                  << expected[i];
            }
          }
        };
        expect(scalar, "scalar");
        expect(simd, "simd");
        expect(simd.with(on), "threads");
      }
    }
  }
}
