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
      EXPECT_EQ(chosen(where, {"k", true, 4, true, 9}), mutual) << "leaves are not known";
      EXPECT_EQ(chosen(where, {"k", true, 4, true, 1, 1000, 10}), mutual);
      EXPECT_EQ(chosen(where, {"k", false, 4, true, 1, 1000, 10}), one_sided) << "no mutual form";
      EXPECT_EQ(chosen(where, {"k", true, 4, false, 1, 1000, 10}), one_sided) << "two sets";
    }
  }

  TEST(form, goes_by_leaves_outputs_and_threads_on_cpus)
  {
    struct row
    {
      int n_out, n_rhs, real_bytes;
      bool plans_groups;
      std::size_t least; ///< points of ten leaves
    };
    for (auto const& [n_out, n_rhs, real_bytes, plans_groups, least] :
         {row{1, 1, 4, false, 20}, row{1, 1, 8, false, 10}, row{4, 1, 4, false, 100},
          row{4, 1, 8, false, 60}, row{1, 1, 4, true, 70}, row{1, 1, 8, true, 40},
          row{4, 1, 4, true, 160}, row{4, 1, 8, true, 100}, row{1, 4, 4, true, 160},
          row{4, 8, 8, true, 660}})
    {
      form_case of{"k", true, n_out, true, n_rhs, least, 10, real_bytes, plans_groups};
      EXPECT_EQ(chosen(backend::simd, of), mutual) << least;
      --of.points;
      EXPECT_EQ(chosen(backend::simd, of), one_sided) << least;
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
    form_case with_cutoff{"k", true, 1, true, 1, 240, 10};
    with_cutoff.has_cutoff = true;
    EXPECT_EQ(on_gpu(with_cutoff), one_sided);
  }

  TEST(form, is_the_one_asked_for)
  {
    for (backend const where : {backend::simd, backend::cuda})
    {
      EXPECT_EQ(chosen(where, {"k", true, 1, true}, one_sided), one_sided);
      EXPECT_EQ(chosen(where, {"k", true, 1, true}, mutual), mutual);
      EXPECT_THAT([&] { chosen(where, {"own", false, 1, true}, mutual); },
                  complains_of("step", "form mutual", "own has no mutual form", "one_sided"));
      EXPECT_THAT([&] { chosen(where, {"own", true, 1, false}, mutual); },
                  complains_of("step", "form mutual", "two sets of points", "one_sided"));
    }
  }
}
