#include "scalfmm/p2p_cases.hpp"

#include <cmath>
#include <tuple>
#include <vector>

/// A leaf whose three kinds of columns begin in three ways.
namespace plain
{
  struct reference_iterator
  {
    double const* at;
    std::tuple<double const&> operator*() const { return {*at}; }
  };
  struct leaf
  {
    std::array<double const*, 2> x;
    reference_iterator q;
    std::tuple<double*> out;
    std::size_t n;
    std::size_t size() const { return n; }
    leaf const& cparticles() const { return *this; }
    leaf const& particles() const { return *this; }
  };
  inline auto position_begin(leaf const& l)
  {
    return l.x;
  }
  inline auto inputs_begin(leaf const& l)
  {
    return l.q;
  }
  inline auto outputs_begin(leaf const& l)
  {
    return l.out;
  }
}

namespace nearfield::test
{
  namespace
  {
    using scalfmm_cases = testing::Types<
        scalfmm_case<one_over_r<3>, float>, scalfmm_case<one_over_r<2>, double>,
        scalfmm_case<grad_one_over_r<3>, double>, scalfmm_case<val_grad_one_over_r<3>, float>,
        scalfmm_case<val_grad_one_over_r<3>, double>, scalfmm_case<val_grad_one_over_r<2>, double>,
        scalfmm_case<dipole_tensor<3>, double>, scalfmm_case<log_r, double>,
        scalfmm_case<gaussian<3>, double>, scalfmm_case<one_over_r<3>, double, 2>,
        scalfmm_case<dipole_tensor<2>, float, 3>, scalfmm_case<softened, float>,
        scalfmm_case<mixed, double>, scalfmm_case<one_way, double>,
        scalfmm_case<scalfmm3::val_grad_ln_2d, double>>;
    TYPED_TEST_SUITE(scalfmm_p2p, scalfmm_cases);

    // what the passes give for the periods and the width of the box, which are not to be read
    constexpr scalfmm::algorithms::gone gone;

    TYPED_TEST(scalfmm_p2p, whole_pass_is_the_sum_over_leaves_that_touch)
    {
      this->expect_whole_pass({});
    }

    TYPED_TEST(scalfmm_p2p, inner_changes_one_leaf)
    {
      for (int const l : {0, 1, 2, 3})
        for (int const way : {0, 1, 2, 3, 4, 5})
        {
          typename TestFixture::group_type g(this->width);
          auto& leaf = g.leaves[l];
          if (way == 0)
            p2p_inner(this->mk, leaf);
          else if (way < 3)
            p2p_inner(this->mk, leaf, way == 1);
          else if (way == 3)
            p2p_inner_mutual(this->mk, leaf);
          else if (way == 4)
            p2p_inner_non_mutual(this->mk, leaf);
          else
            scalfmm::operators::p2p_inner(this->mk, leaf);
          for (int a = 0; a < 9; ++a) this->expect_leaf(g, a, a == l, this->nothing);
          EXPECT_TRUE(g.is_intact());
        }
    }

    TYPED_TEST(scalfmm_p2p, full_mutual_changes_the_target_and_as_many_neighbours_as_it_is_told)
    {
      typename TestFixture::group_type g(this->width);
      std::array const neighbours{&g.leaves[0], &g.leaves[1], &g.leaves[3], &g.leaves[5]};
      p2p_full_mutual(this->mk, g.leaves[2], neighbours, 3, gone, gone);
      for (int a = 0; a < 9; ++a)
        this->expect_leaf(g, a, false, [&](int b, auto&)
                          { return a == 2 ? b == 0 || b == 3 : (a == 0 || a == 3) && b == 2; });
      EXPECT_TRUE(g.is_intact());
    }

    TYPED_TEST(scalfmm_p2p, outer_adds_the_shift_to_the_sources)
    {
      typename TestFixture::group_type g(this->width);
      std::array<typename TypeParam::real, TestFixture::dim> shift{};
      shift[0] = -0.5, shift[1] = 0.25;
      auto const& source = g.leaves[2];
      p2p_outer(this->mk, g.leaves[0], source, shift);
      for (int a = 0; a < 9; ++a)
        this->expect_leaf(g, a, false,
                          [&](int b, auto& s)
                          {
                            s[0] = -0.5, s[1] = 0.25;
                            return a == 0 && b == 2;
                          });
      EXPECT_TRUE(g.is_intact());
    }

    TYPED_TEST(scalfmm_p2p, outer_may_be_told_how_many_neighbours)
    {
      typename TestFixture::group_type g(this->width);
      std::array const neighbours{&g.leaves[6], &g.leaves[0], &g.leaves[1], &g.leaves[3]};
      p2p_outer(this->mk, g.leaves[4], neighbours, 2, gone, gone);
      for (int a = 0; a < 9; ++a)
        this->expect_leaf(g, a, false, [&](int b, auto&) { return a == 4 && (b == 6 || b == 0); });
      EXPECT_TRUE(g.is_intact());
    }
  }

  // Two trees: targets have no inputs, and sources no outputs.
  TEST(scalfmm, sources_and_targets_may_be_different_particles)
  {
    group<double, 3, 0, 4> targets(1, 1);
    group<double, 3, 1, 0> sources(1, 2);
    auto& leaf = targets.leaves[2];
    std::array const neighbours{&sources.leaves[2], &sources.leaves[3]};
    matrix_kernel<val_grad_one_over_r<3>> const mk;
    leaf.symbolic_data().number_of_neighbors = 2;
    p2p_outer(mk, leaf, neighbours, gone, gone);
    auto const x = targets.positions(2);
    reference_sums<4> sums;
    for (auto* const terms : {&sums.value, &sums.scale})
      for (auto& column : *terms) column.assign(x.view().size(), 0);
    add_initial(sums, targets.initial);
    for (int const l : {2, 3})
    {
      auto const y = sources.positions(l);
      add(sums, reference(mk.interaction, x.view(), y.view(), sources.inputs<1>(l), all_pairs));
    }
    EXPECT_LE(error_of(targets.outputs<4>(2), sums), tolerance<double>);
  }

  // More leaves than one call of a kernel takes: the same leaf many times.
  TEST(scalfmm, neighbours_may_be_many)
  {
    group<double, 3, 1, 1> g(1);
    std::vector<decltype(g)::leaf*> const neighbours(70, &g.leaves[3]);
    matrix_kernel<one_over_r<3>> const mk;
    p2p_outer(mk, g.leaves[0], neighbours, 70, gone, gone);
    auto const x = g.positions(0), y = g.positions(3);
    auto sums = reference(one_over_r<3>{}, x.view(), y.view(), g.inputs<1>(3), all_pairs);
    for (auto* const terms : {&sums.value[0], &sums.scale[0]})
      for (auto& term : *terms) term *= 70;
    add_initial(sums, g.initial);
    EXPECT_LE(error_of(g.outputs<1>(0), sums), tolerance<double>);
  }

  // ScalFMM's own P2P gives an infinity there.
  TEST(scalfmm, points_at_one_place_add_nothing_where_the_interaction_is_singular)
  {
    group<double, 3, 1, 4> g(1);
    for (auto& column : g.x)
    {
      column[g.offsets[2]] = 0.5; // in leaf 2: two at one place
      column[g.offsets[2] + 1] = 0.5;
    }
    matrix_kernel<val_grad_one_over_r<3>> const mk;
    for (bool const mutual : {true, false})
    {
      for (auto& column : g.out) column.assign(column.size(), g.initial);
      p2p_inner(mk, g.leaves[2], mutual);
      auto const sums =
          expected(mk.interaction, g, 2, 0, true, false, [](int, auto&) { return false; });
      EXPECT_LE(error_of(g.outputs<4>(2), sums), tolerance<double>);
    }
  }

  // Containers of others: where columns begin may be a tuple or an array of pointers, or an
  // iterator that gives references only.
  TEST(scalfmm, columns_may_begin_in_other_ways)
  {
    std::array<double, 3> const x{0, 1, 3}, y{0, 0, 4};
    std::array<double, 3> const q{1, 2, 10};
    std::array<double, 3> out{};
    plain::leaf leaf{{&x[1], &y[1]}, {&q[1]}, {&out[1]}, 2};
    matrix_kernel<one_over_r<2>> const mk;
    p2p_inner(mk, leaf);
    double const distance = std::sqrt(20.);
    EXPECT_EQ(out[0], 0);
    EXPECT_DOUBLE_EQ(out[1], 10 / distance);
    EXPECT_DOUBLE_EQ(out[2], 2 / distance);
  }
}
