#include <nearfield/p2p/tuning.hpp>

#include "complains_of.hpp"

#include <gtest/gtest.h>

namespace nearfield::test
{
  namespace
  {
    using detail::form_case;
    constexpr auto one_sided = pair_form::one_sided, mutual = pair_form::mutual;

    pair_form chosen(backend where, form_case const& of, pair_form wanted = pair_form::automatic)
    {
      return detail::choose_form("step", wanted, where, of);
    }
  }

  TEST(form, is_mutual_on_cpus_where_that_is_possible)
  {
    for (backend const where : {backend::automatic, backend::simd, backend::scalar})
    {
      EXPECT_EQ(chosen(where, {"k", true, 4, true, 9}), mutual);
      EXPECT_EQ(chosen(where, {"k", false, 4, true}), one_sided) << "no mutual form";
      EXPECT_EQ(chosen(where, {"k", true, 4, false}), one_sided) << "two sets";
    }
  }

  TEST(form, goes_by_leaves_outputs_and_right_hand_sides_on_gpus)
  {
    auto const on_gpu = [](form_case const& of)
    {
      return chosen(backend::cuda, of);
    };
    EXPECT_EQ(on_gpu({"k", true, 1, true, 1, 240, 10}), mutual);
    EXPECT_EQ(on_gpu({"k", true, 1, true, 1, 239, 10}), one_sided) << "small leaves";
    EXPECT_EQ(on_gpu({"k", true, 1, true, 3, 240, 10}), mutual);
    EXPECT_EQ(on_gpu({"k", true, 1, true, 4, 240, 10}), one_sided) << "many right-hand sides";
    EXPECT_EQ(on_gpu({"k", true, 3, true, 1, 1280, 10}), mutual);
    EXPECT_EQ(on_gpu({"k", true, 3, true, 1, 1279, 10}), one_sided) << "several outputs";
    EXPECT_EQ(on_gpu({"k", true, 1, false, 1, 240, 10}), one_sided) << "two sets";
    EXPECT_EQ(on_gpu({"k", true, 1, true, 1, 0, 0}), one_sided) << "no leaves";
  }

  TEST(form, is_the_one_asked_for)
  {
    for (backend const where : {backend::simd, backend::cuda})
    {
      EXPECT_EQ(chosen(where, {"k", true, 1, true}, one_sided), one_sided);
      EXPECT_EQ(chosen(where, {"k", true, 1, true}, mutual), mutual);
      EXPECT_THAT(
          [&] {
            chosen(where, {"own", false, 1, true}, mutual);
          },
          complains_of("step", "form mutual", "own has no mutual form", "one_sided"));
      EXPECT_THAT(
          [&] {
            chosen(where, {"own", true, 1, false}, mutual);
          },
          complains_of("step", "form mutual", "two sets of points", "one_sided"));
    }
  }
}
