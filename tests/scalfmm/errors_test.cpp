#include <nearfield/p2p/simd.hpp>
#include <nearfield/scalfmm.hpp>

#include "complains_of.hpp"
#include "p2p/own_interactions.hpp"
#include "scalfmm/group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

namespace nearfield::test
{
  namespace
  {
    using group_type = group<double, 3, 1, 4>;
    using leaf = group_type::leaf;
    scalfmm3::matrix_kernel<val_grad_one_over_r<3>> const mk;
    std::array const open{false, false, false};

    /// Leaf 2 of the group, with a change to where its columns begin.
    template <class Change>
    leaf changed(group_type& g, Change&& change)
    {
      auto range = g.leaves[2].particles();
      change(range.first);
      return {range, g.leaves[2].center()};
    }

    void no_y(auto& it)
    {
      std::get<1>(it.positions) = nullptr;
    }
    void no_input(auto& it)
    {
      std::get<0>(it.inputs) = nullptr;
    }
    void no_output(auto& it)
    {
      std::get<3>(it.outputs) = nullptr;
    }
  }

  TEST(scalfmm_errors, name_the_null_column_and_the_leaf)
  {
    group_type g(1);
    leaf without_y = changed(g, [](auto& it) { no_y(it); });
    leaf without_input = changed(g, [](auto& it) { no_input(it); });
    leaf without_output = changed(g, [](auto& it) { no_output(it); });
    std::array const shift{0., 0., 0.};
    EXPECT_THAT([&] { p2p_inner(mk, without_y); },
                complains_of("p2p_inner", "position 1", "target leaf", "null", "33 values"));
    EXPECT_THAT([&] { p2p_inner(mk, without_input, false); },
                complains_of("p2p_inner", "input 0", "target leaf"));
    EXPECT_THAT([&] { p2p_inner(mk, without_output); },
                complains_of("p2p_inner", "output 3", "target leaf"));
    EXPECT_THAT([&] { p2p_outer(mk, without_output, g.leaves[0], shift); },
                complains_of("p2p_outer", "output 3", "target leaf"));
    EXPECT_THAT([&] { p2p_outer(mk, g.leaves[0], without_input, shift); },
                complains_of("p2p_outer", "input 0", "source leaf"));
    std::array const neighbours{&g.leaves[0], &without_output};
    EXPECT_THAT([&] { p2p_full_mutual(mk, g.leaves[4], neighbours, 2, open, 1.); },
                complains_of("p2p_full_mutual", "output 3", "source leaf"));
    for (auto const& column : g.out)
      for (double const value : column) EXPECT_EQ(value, g.initial) << "written before the check";
  }

  // An interaction that is evaluated twice writes the target before it needs the outputs of others.
  TEST(scalfmm_errors, come_before_anything_is_written)
  {
    group<double, 2, 1, 1> g(1);
    auto range = g.leaves[2].particles();
    std::get<0>(range.first.outputs) = nullptr;
    decltype(g)::leaf without_output{range, g.leaves[2].center()};
    std::array const neighbours{&g.leaves[0], &without_output};
    EXPECT_THAT(
        [&]
        {
          p2p_full_mutual(scalfmm3::matrix_kernel<one_way>{}, g.leaves[4], neighbours, 2,
                          std::array{false, false}, 1.);
        },
        complains_of("p2p_full_mutual", "output 0", "source leaf"));
    for (double const value : g.out[0]) EXPECT_EQ(value, g.initial);
  }

  // More leaves than one call of a kernel takes.
  TEST(scalfmm_errors, come_before_anything_is_written_for_many_neighbours)
  {
    group_type g(1);
    leaf without_output = changed(g, [](auto& it) { no_output(it); });
    std::array<leaf*, 40> neighbours;
    neighbours.fill(&g.leaves[0]);
    neighbours.back() = &without_output;
    EXPECT_THAT([&] { p2p_full_mutual(mk, g.leaves[4], neighbours, 40, open, 1.); },
                complains_of("p2p_full_mutual", "output 3", "source leaf"));
    for (auto const& column : g.out)
      for (double const value : column) EXPECT_EQ(value, g.initial);
  }

  TEST(scalfmm_errors, do_not_ask_for_what_is_not_used)
  {
    group_type g(1);
    leaf without_input = changed(g, [](auto& it) { no_input(it); });
    leaf without_output = changed(g, [](auto& it) { no_output(it); });
    EXPECT_NO_THROW(p2p_outer(mk, without_input, without_output, std::array{0., 0., 0.}));
  }

  TEST(scalfmm_errors, an_empty_leaf_may_have_no_columns)
  {
    group_type g(1);
    leaf empty;
    std::array const neighbours{&g.leaves[1], &empty};
    EXPECT_NO_THROW(p2p_inner(mk, empty));
    EXPECT_NO_THROW(p2p_inner(mk, empty, false));
    EXPECT_NO_THROW(p2p_outer(mk, empty, g.leaves[0], std::array{0., 0., 0.}));
    EXPECT_NO_THROW(p2p_outer(mk, g.leaves[0], empty, std::array{0., 0., 0.}));
    EXPECT_NO_THROW(p2p_outer(mk, g.leaves[0], neighbours, 2, open, 1.));
    EXPECT_NO_THROW(p2p_full_mutual(mk, g.leaves[0], neighbours, 2, open, 1.));
    EXPECT_NO_THROW(p2p_full_mutual(mk, empty, neighbours, 1, open, 1.));
    for (auto const& column : g.out)
      for (double const value : column) EXPECT_EQ(value, g.initial);
  }
}
