#include <nearfield/p2p/every_isa.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"
#include "p2p/screened.hpp"
#include "reference.hpp"

#include <nearfield/p2p/p2p.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

// This file knows nothing of packs and has no flags of its own: the kernels are those of
// nearfield_add_interaction() in CMakeLists.txt.

namespace nearfield::test
{
  template <>
  struct formula<screened<3>>
  {
    static bool singular(screened<3>) { return true; }
    static long_matrix<1, 1> at(screened<3> k, long_vector<3> const& r)
    {
      return {{{std::exp(-norm(r) / static_cast<long double>(k.length)) / norm(r)}}};
    }
  };

  namespace
  {
    template <class T>
    void expect_sums()
    {
      screened<3> const k{.length = 0.5};
      for (std::size_t const n : tested_sizes)
      {
        auto const x = some_points<T, 3>(cloud::coincident, n, 1),
                   y = some_points<T, 3>(cloud::uniform, 19, 2);
        auto const q = some_values<T, 1>(n, 3), y_q = some_values<T, 1>(19, 4);
        auto const inner_sums = reference(k, x.view(), x.view(), q.view(), other_points);
        auto const outer_sums = reference(k, x.view(), y.view(), y_q.view(), all_pairs);
        for (tested_backend const& backend : tested_backends())
          backend.run(
              [&](auto where)
              {
                SCOPED_TRACE(testing::Message() << n << " points, " << backend.name);
                guarded<T, 1> inner(n), both(n), outer(n);
                p2p_inner(where, k, x.view(), q.view(), inner.view());
                p2p_inner_mutual(where, k, x.view(), q.view(), both.view());
                p2p_outer(where, k, x.view(), y.view(), y_q.view(), outer.view());
                EXPECT_LE(error_of(inner.view(), inner_sums), tolerance<T>);
                EXPECT_LE(error_of(both.view(), inner_sums), tolerance<T>);
                EXPECT_LE(error_of(outer.view(), outer_sums), tolerance<T>);
                EXPECT_TRUE(inner.is_intact() && both.is_intact() && outer.is_intact());
              });
      }
    }
  }

  TEST(every_isa, gives_the_sums_of_the_formula)
  {
    expect_sums<float>();
    expect_sums<double>();
  }

#if !defined(NEARFIELD_TEST_CUDA)
  TEST(every_isa, has_kernels_of_its_own_for_each)
  {
    std::vector<detail::p2p_function<double>> functions;
    for (isa const which : available_isas())
      functions.push_back(kernels_of<double, screened<3>>(simd_backend{which}).one_sided);
    EXPECT_EQ(functions.front(), (kernels_of<double, screened<3>>(scalar).one_sided));
    std::ranges::sort(functions);
    EXPECT_EQ(std::ranges::adjacent_find(functions), functions.end());
  }

  // ctest runs this once for every NEARFIELD_ISA.
  TEST(forced_isa, is_what_simd_takes)
  {
    char const* const wanted = std::getenv("NEARFIELD_ISA");
    if (wanted &&
        std::ranges::none_of(available_isas(), [&](isa i) { return name_of(i) == wanted; }))
      GTEST_SKIP() << "no " << wanted << " in this build or on this machine";
    isa const best = selected_isa();
    EXPECT_EQ(name_of(best), wanted ? wanted : name_of(available_isas().back()));
    EXPECT_EQ((kernels_of<float, screened<3>>(simd).mutual),
              (kernels_of<float, screened<3>>(simd_backend{best}).mutual));
    EXPECT_EQ((kernels_of<float, screened<3>>(simd).mutual ==
               kernels_of<float, screened<3>>(scalar).mutual),
              best == isa::scalar);
  }
#endif
}
