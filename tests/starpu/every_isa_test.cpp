// Tasks of an interaction that nearfield_add_interaction() compiles, on the instruction set that `simd` takes.

#include "near_field_cases.hpp"
#include "p2p/screened.hpp"

#include <nearfield/p2p/p2p.hpp>
#include <nearfield/starpu/p2p.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace nearfield::test
{
  TEST(starpu_every_isa, runs_what_simd_takes)
  {
    screened<3> const k{.length = 0.5};
    auto const x = make_points<double, 3>(cloud::uniform, 200);
    auto q = make_values<double>(200);
    std::vector<double> packed, out(200), expected(200);
    for (auto const& column : x.columns) packed.insert(packed.end(), column.begin(), column.end());
    {
      auto const hx = starpu::handle::of(packed.data(), packed.size());
      auto const hq = starpu::handle::of(q.data(), q.size());
      auto const hout = starpu::handle::of(out.data(), out.size());
      starpu::p2p<screened<3>, double> p2p(k, {.backend = simd});
      p2p.insert_inner({.x = hx, .q = hq, .out = hout});
      p2p.wait();
      ASSERT_EQ(p2p.statistics().size(), 1u);
      EXPECT_EQ(p2p.statistics()[0].implementation, name_of(selected_isa()));
    }
    p2p_inner(simd, k, x.view(), soa{q}, soa{expected});
    EXPECT_THAT(out, testing::Pointwise(testing::DoubleNear(1e-11), expected));
  }
}
