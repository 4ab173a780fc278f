#include "near_field_cases.hpp"
#include "runtime/src/rates.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::detail::rate_of;
  using starpu::detail::rough_rate_of;

  // within what a core of any machine does
  constexpr double least = 1e6, most = 1e12;

  TEST(starpu_rates, of_a_worker_are_measured_once)
  {
    static_cast<void>(one_runtime()); // all its workers measure
    setenv("NEARFIELD_CACHE", "no", 0);
    auto const x = make_points<float, 3>(cloud::plummer, 5000);
    auto const leaves = build_tree(x.view(), {.max_leaf_size = 32});
    auto const groups = group_leaves(leaves);
    auto const k = starpu::detail::kernel_of<float>(val_grad_one_over_r<3>{});
    for (pair_form const form : pair_forms)
    {
      double const measured = rate_of(k, form, simd, groups.view());
      EXPECT_GT(measured, least);
      EXPECT_LT(measured, most);
      EXPECT_EQ(rate_of(k, form, simd, groups.view()), measured) << "known from the first time";
    }
  }

  TEST(starpu_rates, are_at_hand_for_tasks_of_any_boxes)
  {
    auto const k = starpu::detail::kernel_of<double>(one_over_r<3>{});
    EXPECT_GT(rough_rate_of(k, simd), least);
    EXPECT_GT(rough_rate_of(k, cuda), rough_rate_of(k, simd));
    EXPECT_GT(rough_rate_of(k, simd), rough_rate_of(k, scalar));
  }
}
