#include "complains_of.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <nearfield/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using column = std::vector<double>;
    one_over_r<2> const one_over;

    class p2p_errors : public ::testing::Test
    {
    protected:
      column const x{0, 1, 2}, y{0, 0, 0}, q{1, 1, 1}, four{1, 1, 1, 1};
      column out{0, 0, 0}, other{0, 0, 0}, out4{0, 0, 0, 0};
      soa<double const, 2> const null{std::array<double const*, 2>{x.data(), nullptr}, 3};
      soa<double, 1> const null_out{std::array<double*, 1>{nullptr}, 3};

      /// A view of the same memory, as a mistake would make one.
      static std::span<double> writable(column const& c)
      {
        return {const_cast<double*>(c.data()), c.size()};
      }

      ~p2p_errors() override
      {
        EXPECT_EQ(out, column(3)) << "an output was written before the error was found";
        EXPECT_EQ(other, column(3));
      }
    };
  }

  TEST_F(p2p_errors, name_the_argument_of_another_size)
  {
    EXPECT_THAT([&] { p2p_inner(simd, one_over, soa{x, y}, soa{four}, soa{out}); },
                complains_of("p2p_inner", "q has 4", "expected 3", "one value per point"));
    EXPECT_THAT([&] { p2p_inner(scalar, one_over, soa{x, y}, soa{q}, soa{out4}); },
                complains_of("p2p_inner", "out has 4", "expected 3"));
    EXPECT_THAT([&] { p2p_inner_mutual(simd, one_over, soa{x, y}, soa{four}, soa{out}); },
                complains_of("p2p_inner_mutual", "q has 4", "expected 3"));
    EXPECT_THAT([&] { p2p_outer(simd, one_over, soa{x, y}, soa{four, four}, soa{q}, soa{out}); },
                complains_of("p2p_outer", "q has 3", "expected 4"));
    EXPECT_THAT([&]
                { p2p_outer(simd, one_over, soa{x, y}, soa{four, four}, soa{four}, soa{out4}); },
                complains_of("p2p_outer", "out has 4", "expected 3"));
    EXPECT_THAT(
        [&]
        {
          p2p_outer_mutual(simd, one_over, soa{x, y}, soa{y, x}, soa{four}, soa{q}, soa{out},
                           soa{other});
        },
        complains_of("p2p_outer_mutual", "x_q has 4", "expected 3"));
    EXPECT_THAT(
        [&]
        {
          p2p_outer_mutual(simd, one_over, soa{x, y}, soa{y, x}, soa{q}, soa{q}, soa{out},
                           soa{out4});
        },
        complains_of("p2p_outer_mutual", "y_out has 4", "expected 3"));
    EXPECT_THAT([&] { p2p_inner(simd, one_over, soa{x, four}, soa{q}, soa{out}); },
                complains_of("soa", "column 1 has 4", "column 0 has 3", "equal length"));
  }

  TEST_F(p2p_errors, name_the_view_that_is_null)
  {
    EXPECT_THAT([&] { p2p_inner(simd, one_over, null, soa{q}, soa{out}); },
                complains_of("p2p_inner", "x", "column 1 is null", "give a column of 3"));
    EXPECT_THAT([&] { p2p_inner(scalar, one_over, soa{x, y}, soa{q}, null_out); },
                complains_of("p2p_inner", "out", "column 0 is null"));
    EXPECT_THAT([&] { p2p_outer(simd, one_over, soa{x, y}, null, soa{q}, soa{out}); },
                complains_of("p2p_outer", "y", "column 1 is null"));
  }

  TEST_F(p2p_errors, name_what_an_output_overlaps)
  {
    EXPECT_THAT([&] { p2p_inner(simd, one_over, soa{x, y}, soa{q}, soa{writable(q)}); },
                complains_of("p2p_inner", "output column 0", "column 0 of q", "its own memory"));
    EXPECT_THAT([&] { p2p_inner(simd, one_over, soa{x, y}, soa{q}, soa{writable(y)}); },
                complains_of("p2p_inner", "column 1 of x"));
    EXPECT_THAT(
        [&]
        {
          p2p_outer_mutual(simd, one_over, soa{x, y}, soa{y, x}, soa{q}, soa{q}, soa{out},
                           soa{out});
        },
        complains_of("p2p_outer_mutual", "y_out", "its own memory"));
    EXPECT_THAT([&] { p2p_inner(simd, grad_one_over_r<2>{}, soa{x, y}, soa{q}, soa{out, out}); },
                complains_of("output columns 0 and 1 overlap"));
  }

  TEST_F(p2p_errors, find_columns_that_overlap_in_part)
  {
    column both(5);
    std::span const head(both.data(), 3), tail(both.data() + 2, 3), behind(both.data() + 3, 2);
    EXPECT_THAT([&] { p2p_inner(simd, one_over, soa{x, y}, soa{head}, soa{tail}); },
                complains_of("column 0 of q"));
    EXPECT_THAT([&] { p2p_inner(simd, grad_one_over_r<2>{}, soa{x, y}, soa{q}, soa{head, tail}); },
                complains_of("output columns 0 and 1 overlap"));
    EXPECT_NO_THROW(p2p_outer(simd, one_over, soa{behind, behind}, soa{x, y}, soa{q},
                              soa{std::span(both.data(), 2)}));
  }

  TEST_F(p2p_errors, name_an_instruction_set_that_is_not_here)
  {
    std::vector<isa> const here = available_isas();
    for (isa const which : {isa::sse2, isa::avx2, isa::avx512, isa::neon64})
      if (std::ranges::find(here, which) == here.end())
      {
        EXPECT_THAT(
            [&] { p2p_inner(simd_backend{which}, one_over, soa{x, y}, soa{q}, soa{out}); },
            ::testing::AllOf(complains_of(std::string(name_of(which)), "available are scalar"),
                             ::testing::Throws<error>(
                                 ::testing::Property(&error::kind, error_kind::not_available))));
      }
  }

  TEST_F(p2p_errors, of_a_step_name_the_list_that_does_not_fit)
  {
    std::vector<index_type> const offsets{0, 1, 3}, list_offsets{0, 1, 1}, short_offsets{0, 1};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = 1}, {.begin = 1, .end = 3}};
    std::vector<interaction_list::range> const ranges{{.begin = 1, .end = 3}},
        beyond{{.begin = 1, .end = 4}}, shifted{{.begin = 1, .end = 3, .shift = 1}},
        backwards{{.begin = 3, .end = 1}}, elsewhere{{.begin = 1, .end = 3, .set = 2}};
    boxes const two{offsets}, one{short_offsets};
    auto const step = [&](boxes const& b, std::vector<interaction_list::range> const& r)
    {
      return [&, b]
      {
        near_field(simd, one_over, b, {own, list_offsets, r, {}}, soa{x, y}, soa{q}, soa{out});
      };
    };
    EXPECT_THAT(step(one, ranges), complains_of("near_field", "list is for 2 boxes", "have 1"));
    EXPECT_THAT(step(two, beyond), complains_of("near_field", "range [1, 4) of 3 sources"));
    EXPECT_THAT(step(two, backwards), complains_of("near_field", "range [3, 1) of 3 sources"));
    EXPECT_THAT(step(two, shifted), complains_of("near_field", "[1, 3)", "shift 1 of 0"));
    std::vector<std::array<double, 3>> const one_shift(1);
    EXPECT_THAT(
        [&]
        {
          near_field(simd, one_over, two, {own, list_offsets, shifted, one_shift}, soa{x, y},
                     soa{q}, soa{out});
        },
        complains_of("near_field", "[1, 3)", "shift 1 of 1"));
    EXPECT_THAT(step(two, elsewhere), complains_of("near_field", "[1, 3)", "set 2"));
    auto const list_of = [&](std::vector<interaction_list::range> const& of_boxes,
                             std::vector<index_type> const& of_list)
    {
      return [&, of_boxes, of_list]
      {
        near_field(simd, one_over, two, {of_boxes, of_list, ranges, {}}, soa{x, y}, soa{x, y},
                   soa{q}, soa{out});
      };
    };
    EXPECT_THAT(list_of({own[0]}, list_offsets), complains_of("list is for 1 boxes", "have 2"));
    EXPECT_THAT(list_of({own[0], {.begin = 1, .end = 4}}, list_offsets),
                complains_of("near_field", "range [1, 4) of 3 sources"));
    EXPECT_THAT(list_of(own, {0, 1, 1, 1}), complains_of("list is for 2 boxes", "same tree"));
    EXPECT_THAT(list_of(own, {1, 0, 1}), complains_of("near_field", "box 0", "descend"));
    EXPECT_THAT(list_of(own, {0, 1, 2}), complains_of("1 ranges", "offsets end at 2"));
    std::vector<index_type> const down{0, 4, 3}, from_1{1, 2, 3};
    for (auto const& [wrong, said] : {std::pair{&down, "box 1"}, {&from_1, "begin at point 1"}})
      EXPECT_THAT(step(boxes{*wrong}, ranges), complains_of("near_field", said));
    std::vector<index_type> const full_offsets{0, 1, 2};
    std::vector<interaction_list::range> const full{{.begin = 1, .end = 3}, {.begin = 0, .end = 1}};
    std::vector<std::array<double, 3>> const two_shifts(2);
    auto const mutual = [&](std::vector<interaction_list::range> const& r, std::vector<double>& to)
    {
      return [&, r]
      {
        near_field(simd, one_over, two, {own, full_offsets, r, two_shifts}, soa{x, y}, soa{q},
                   soa{to}, {.form = pair_form::mutual});
      };
    };
    auto const refused = complains_of("near_field", "box 1", "half_interactions");
    EXPECT_THAT(mutual(full, out), refused);
    // an image of a box before it, and the box itself
    EXPECT_THAT(mutual({ranges[0], {.begin = 0, .end = 1, .shift = 1}}, out), refused);
    EXPECT_THAT(mutual({ranges[0], own[1]}, out), refused);
    std::vector<double> sums(3);
    EXPECT_NO_THROW(mutual({ranges[0], {}}, sums)()) << "no sources are nowhere";
    EXPECT_THAT(
        [&]
        {
          near_field(simd, one_over, two, {own, list_offsets, ranges, {}}, soa{four, four},
                     soa{four}, soa{out4});
        },
        complains_of("boxes hold 3 points, x has 4"));
    EXPECT_THAT(
        [&]
        {
          near_field(simd, one_over, two, {own, list_offsets, ranges, {}}, soa{x, y}, soa{four},
                     soa{out});
        },
        complains_of("near_field", "q has 4"));
  }
}
