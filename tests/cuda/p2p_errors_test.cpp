// What P2P with `cuda` refuses before it asks a device for anything, and what it says where there is none.

#include "complains_of.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using column = std::vector<double>;
    one_over_r<2> const k;

    // three points in two boxes
    std::vector<index_type> const offsets{0, 1, 3}, list_offsets{0, 1, 1};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = 1}, {.begin = 1, .end = 3}};
    std::vector<interaction_list::range> const ranges{{.begin = 1, .end = 3}};

    auto list_of(std::vector<index_type> const& points,
                 std::vector<interaction_list::range> const& met, std::size_t n_sources = 3)
    {
      return [&points, &met, n_sources]
      {
        cuda_list(cuda, boxes{points}, {own, list_offsets, met, {}}, n_sources);
      };
    }

    class cuda_errors : public ::testing::Test
    {
    protected:
      column const x{0, 1, 2}, y{0, 0, 0}, q{1, 1, 1}, four{1, 1, 1, 1};
      column out{0, 0, 0}, other{0, 0, 0}, out4{0, 0, 0, 0};
    };
  }

  TEST_F(cuda_errors, name_the_view_of_another_size)
  {
    EXPECT_THAT([&] { p2p_inner(cuda, k, soa{x, y}, soa{four}, soa{out}); },
                complains_of("p2p_inner", "q has 4", "expected 3", "one value per point"));
    EXPECT_THAT([&] { p2p_inner_mutual(cuda, k, soa{x, y}, soa{q}, soa{out4}); },
                complains_of("p2p_inner_mutual", "out has 4", "expected 3"));
    EXPECT_THAT([&] { p2p_outer(cuda, k, soa{x, y}, soa{four, four}, soa{q}, soa{out}); },
                complains_of("p2p_outer", "q has 3", "expected 4"));
    EXPECT_THAT(
        [&]
        { p2p_outer_mutual(cuda, k, soa{x, y}, soa{y, x}, soa{q}, soa{q}, soa{out}, soa{out4}); },
        complains_of("p2p_outer_mutual", "y_out has 4", "expected 3"));
  }

  TEST_F(cuda_errors, name_the_view_that_is_null_or_overlaps)
  {
    soa<double const, 2> const null{std::array<double const*, 2>{x.data(), nullptr}, 3};
    EXPECT_THAT([&] { p2p_inner(cuda, k, null, soa{q}, soa{out}); },
                complains_of("p2p_inner", "x", "column 1 is null", "give a column of 3"));
    EXPECT_THAT([&] { p2p_inner(cuda, k, soa{x, y}, soa{out}, soa{out}); },
                complains_of("p2p_inner", "output column 0", "column 0 of q", "its own memory"));
    EXPECT_THAT(
        [&]
        { p2p_outer_mutual(cuda, k, soa{x, y}, soa{y, x}, soa{q}, soa{q}, soa{out}, soa{out}); },
        complains_of("p2p_outer_mutual", "y_out", "its own memory"));
  }

  TEST_F(cuda_errors, name_the_side_with_too_few_right_hand_sides)
  {
    using inputs = soa<double const, run_time_columns>;
    using outputs = soa<double, run_time_columns>;
    double const* const qs[] = {q.data(), q.data()};
    double *const outs[] = {out.data(), out4.data()}, *const other_out[] = {other.data()};
    inputs const one_q({qs, 1}, 3), two_q(qs, 3);
    outputs const two_out(outs, 3), one_out(other_out, 3);
    EXPECT_THAT(
        [&] { p2p_outer_mutual(cuda, k, soa{x, y}, soa{y, x}, one_q, two_q, two_out, one_out); },
        complains_of("p2p_outer_mutual", "2 right-hand sides in y_q and 1 in x_q"));
    EXPECT_THAT(
        [&] { p2p_outer_mutual(cuda, k, soa{x, y}, soa{y, x}, two_q, two_q, two_out, one_out); },
        complains_of("one_over_r", "2 columns of inputs and 1 of outputs"));
  }

  TEST_F(cuda_errors, of_a_list_name_what_does_not_fit)
  {
    std::vector<index_type> const one_box{0, 3}, down{0, 3, 2};
    std::vector<interaction_list::range> const beyond{{.begin = 1, .end = 4}},
        shifted{{.begin = 1, .end = 3, .shift = 1}}, elsewhere{{.begin = 1, .end = 3, .set = 2}},
        before{{.begin = 0, .end = 1}};
    EXPECT_THAT(list_of(one_box, ranges), complains_of("cuda_list", "for 2 boxes", "have 1"));
    EXPECT_THAT(list_of(down, ranges), complains_of("cuda_list", "box 1", "descend"));
    EXPECT_THAT(list_of(offsets, beyond), complains_of("cuda_list", "range [1, 4) of 3 sources"));
    EXPECT_THAT(list_of(offsets, ranges, 2), complains_of("cuda_list", "[1, 3) of 2 sources"));
    EXPECT_THAT(list_of(offsets, shifted), complains_of("cuda_list", "[1, 3)", "shift 1 of 0"));
    EXPECT_THAT(list_of(offsets, elsewhere), complains_of("cuda_list", "[1, 3)", "set 2"));
    EXPECT_THAT(
        [&] { cuda_list(cuda, {offsets}, {own, list_offsets, before, {}}, 3, pair_form::mutual); },
        complains_of("cuda_list", "box 0", "half_interactions"));
    std::vector<interaction_list::range> const swapped{{.begin = 1, .end = 3},
                                                       {.begin = 0, .end = 1}};
    EXPECT_THAT(
        [&]
        { cuda_list(cuda, {offsets}, {swapped, list_offsets, ranges, {}}, 3, pair_form::mutual); },
        complains_of("cuda_list", "box 0", "own range", "list of one set"));
  }

  TEST_F(cuda_errors, tell_in_one_line_that_there_is_no_gpu)
  {
    if (!gpus().empty()) GTEST_SKIP() << "there is one";
    char const* const remedy = built_with_cuda() ? "failed" : "-DNEARFIELD_ENABLE_CUDA=ON";
    EXPECT_THAT([&] { p2p_inner(cuda, k, soa{x, y}, soa{q}, soa{out}); }, complains_of(remedy));
    EXPECT_THAT([&] { p2p_inner_mutual(cuda, k, soa{x, y}, soa{q}, soa{out}); },
                complains_of(remedy));
    EXPECT_THAT([&] { p2p_outer(cuda, k, soa{x, y}, soa{y, x}, soa{q}, soa{out}); },
                complains_of(remedy));
    EXPECT_THAT(
        [&]
        { p2p_outer_mutual(cuda, k, soa{x, y}, soa{y, x}, soa{q}, soa{q}, soa{out}, soa{other}); },
        complains_of(remedy));
    EXPECT_THAT(list_of(offsets, ranges), complains_of(remedy));
    EXPECT_THAT([&] { device_array<double>(5); }, complains_of(remedy));
    EXPECT_EQ(out, column(3)) << "an output was written";
  }
}
