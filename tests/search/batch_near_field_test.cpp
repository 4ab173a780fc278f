#include "batch_case.hpp"
#include "search/search_case.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// Sums over a batch are those over its systems, to the bit.

namespace nearfield::test
{
  namespace
  {
    /// 1 / |r| within 0.5. It does not say where it ends, since cells may be smaller.
    template <int Dim>
    struct cut_one_over_r
    {
      static constexpr int dim = Dim, n_in = 1, n_out = 1, flops = 3 * Dim + 3;
      static constexpr auto symmetry = parity::even;
      static constexpr auto name = "cut_one_over_r";

      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> mat<V, 1, 1>
      {
        return {{{keep_less(dot(r, r), 0.25, inv_r)}}};
      }
    };

    template <class Kind>
    class batch_near_field : public testing::Test
    {};
    TYPED_TEST_SUITE(batch_near_field, search_kinds);

    template <class T, int Dim>
    std::vector<T> sums_over(auto const& where, cell_list<T, Dim> const& cells,
                             points<T, Dim> const& x, points<T, Dim> const& y,
                             near_field_options const& options)
    {
      cut_one_over_r<Dim> const k;
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

  // Points of different boxes come to one place, where r is 0.
  TYPED_TEST(batch_near_field, of_a_list_that_is_kept)
  {
    using T = typename TypeParam::real;
    constexpr int Dim = TypeParam::dim;
    random_numbers random(1);
    points<T, Dim> x;
    for (int i = 0; i < 200; ++i)
    {
      std::array<double, Dim> at;
      for (double& value : at) value = random.uniform(0, 4);
      x.push_back(at);
    }
    cell<Dim> box;
    for (int a = 0; a < Dim; ++a) box.vectors[a][a] = 4;
    box.periodic.fill(true);
    cell_list<T, Dim> cells(x.view(), 0.5, {.cell = box, .skin = 0.4});
    threads on(2);
    for (int step = 0; step < 4; ++step)
    {
      for (std::size_t i = 0; i < x.size(); ++i)
        for (int a = 0; a < Dim; ++a)
          x.columns[a][i] = i % 20 == 1 && std::abs(x.columns[a][i - 1] - x.columns[a][i]) < T(0.1)
                                ? x.columns[a][i - 1]
                                : T(x.columns[a][i] + random.uniform(-0.02, 0.02));
      ASSERT_FALSE(cells.update(x.view()));
      cell_list<T, Dim> const fresh(x.view(), 0.5, {.cell = box});
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        near_field_options const options{.form = form};
        auto const expected = sums_over(scalar, fresh, x, x, options);
        for (auto const& found :
             {sums_over(scalar, cells, x, x, options), sums_over(simd, cells, x, x, options),
              sums_over(simd.with(on), cells, x, x, options)})
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(found[i], expected[i],
                        1e4 * std::numeric_limits<T>::epsilon() * (1 + std::abs(expected[i])))
                << i;
      }
    }
  }
}
