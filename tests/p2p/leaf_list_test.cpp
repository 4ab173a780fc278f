#include <nearfield/p2p/near_field.hpp>

#include "complains_of.hpp"
#include "p2p/p2p_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using shift_type = std::array<double, 3>;
    using value_and_gradient = val_grad_one_over_r<3>;

    /// Entries of a list: leaf b meets leaf j, moved by shift s.
    struct entry
    {
      index_type b, j;
      std::uint16_t s;
    };

    struct leaf_lists : ::testing::Test
    {
      static constexpr std::size_t sizes[] = {5, 0, 17, 1, 30, 8, 3};
      static constexpr index_type n_leaves = std::size(sizes);
      static inline std::vector<shift_type> const shifts{
          {}, {0.25, 0, 0}, {-0.25, 0, 0}, {0, 0.5, 0}};
      /// each pair of leaves once, by either of both
      static inline std::vector<entry> const once{{0, 1, 0}, {0, 2, 0}, {3, 2, 0}, {2, 4, 1},
                                                  {4, 5, 0}, {6, 4, 2}, {5, 5, 3}, {0, 6, 0},
                                                  {0, 5, 1}, {3, 4, 0}};

      std::vector<index_type> offsets{0};
      guarded<double, 3> x{0};
      guarded<double, 1> q{0};
      reference_sums<4> sums;

      leaf_lists()
      {
        for (std::size_t const n : sizes)
          offsets.push_back(offsets.back() + static_cast<index_type>(n));
        x = some_points<double, 3>(cloud::uniform, offsets.back());
        q = some_values<double, 1>(offsets.back());
        sums = reference(value_and_gradient{}, x.view(), x.view(), q.view(),
                         [&](std::size_t i, std::size_t j)
                         { return i != j && leaf_of(i) == leaf_of(j); });
        for (entry const& e : once)
          for (int const sign : {1, -1})
          {
            auto moved = x;
            for (int d = 0; d < 3; ++d)
              for (double& value : moved.column(d)) value += sign * shifts[e.s][unsigned(d)];
            auto const to = sign == 1 ? e.b : e.j, from = sign == 1 ? e.j : e.b;
            auto const more = reference(value_and_gradient{}, x.view(), moved.view(), q.view(),
                                        [&](std::size_t i, std::size_t j)
                                        { return leaf_of(i) == to && leaf_of(j) == from; });
            for (int o = 0; o < 4; ++o)
              for (std::size_t i = 0; i < x.size(); ++i)
              {
                sums.value[o][i] += more.value[o][i];
                sums.scale[o][i] += more.scale[o][i];
              }
          }
      }

      [[nodiscard]] index_type leaf_of(std::size_t i) const
      {
        index_type l = 0;
        while (offsets[l + 1] <= i) ++l;
        return l;
      }

      /// The list of these entries.
      struct csr
      {
        std::vector<index_type> first{0}, leaves;
        std::vector<std::uint16_t> shift_of;

        explicit csr(std::vector<entry> const& entries)
        {
          for (index_type b = 0; b < n_leaves; ++b)
          {
            for (entry const& e : entries)
              if (e.b == b)
              {
                leaves.push_back(e.j);
                shift_of.push_back(e.s);
              }
            first.push_back(static_cast<index_type>(leaves.size()));
          }
        }
        [[nodiscard]] leaf_list::neighbour_lists view() const
        {
          return {first, leaves, shift_of, shifts};
        }
      };

      [[nodiscard]] leaf_list list_of(std::vector<entry> const& entries) const
      {
        return {boxes{offsets}, csr(entries).view()};
      }

      /// The error of what f adds to, or writes over, `initial`.
      template <class F>
      double error_after(double initial, F&& f) const
      {
        guarded<double, 4> out(x.size(), initial);
        f(out.view());
        EXPECT_TRUE(out.is_intact());
        return error_of(out.view(), sums);
      }
    };
  }

  TEST_F(leaf_lists, give_the_sums_of_the_plain_loop_in_both_forms)
  {
    // the fourth shift has no opposite one among those given
    std::vector<entry> twice = once;
    for (entry const& e : once)
      if (e.s != 3) twice.push_back({e.j, e.b, static_cast<std::uint16_t>(e.s == 0 ? 0 : 3 - e.s)});
    for (index_type b = 0; b < n_leaves; ++b) twice.push_back({b, b, 0});
    threads two(2);
    for (auto const& entries : {once, twice})
    {
      leaf_list const leaves = list_of(entries);
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        auto const run = [&](auto where)
        {
          return error_after(7,
                             [&](auto out)
                             {
                               near_field(where, value_and_gradient{}, leaves, x.view(), q.view(),
                                          out, {.form = form});
                             });
        };
        EXPECT_LE(run(simd), tolerance<double>);
        EXPECT_LE(run(scalar), tolerance<double>);
        EXPECT_LE(run(simd.with(two)), tolerance<double>);
      }
    }
  }

  TEST_F(leaf_lists, join_leaves_that_follow_one_another_into_ranges)
  {
    leaf_list const leaves = list_of({{0, 4, 0}, {0, 2, 0}, {0, 3, 0}, {5, 0, 0}, {0, 6, 1}});
    std::vector<interaction_list::range> const expected{{offsets[2], offsets[6]},
                                                        {offsets[6], offsets[7], 0, 1}};
    auto const found = leaves.half_interactions().neighbours(0);
    EXPECT_EQ(std::vector(found.begin(), found.end()), expected);
    EXPECT_TRUE(leaves.half_interactions().neighbours(5).empty());
    EXPECT_EQ(leaves.interactions().neighbours(5).size(), 1u);
  }

  TEST_F(leaf_lists, take_parts)
  {
    leaf_list const leaves = list_of(once);
    auto const in_parts = [&](near_field_options const& options)
    {
      return [&, options](auto out)
      {
        for (auto const& [first, last] :
             {std::pair(4u, 7u), std::pair(0u, 1u), std::pair(1u, 1u), std::pair(1u, 4u)})
          near_field(simd, value_and_gradient{}, leaves.leaves(first, last), x.view(), q.view(),
                     out, options);
      };
    };
    EXPECT_LE(error_after(7, in_parts({})), tolerance<double>);
    EXPECT_LE(error_after(0, in_parts({.accumulate = true, .form = pair_form::mutual})),
              tolerance<double>);
    threads two(2);
    EXPECT_LE(error_after(7,
                          [&](auto out)
                          {
                            near_field(simd.with(two), value_and_gradient{}, leaves.leaves(0, 3),
                                       x.view(), q.view(), out);
                            near_field(simd.with(two), value_and_gradient{}, leaves.leaves(3, 7),
                                       x.view(), q.view(), out);
                          }),
              tolerance<double>);
  }

  TEST_F(leaf_lists, write_no_leaf_outside_a_part)
  {
    leaf_list const leaves = list_of(once);
    guarded<double, 4> out(x.size(), 7);
    near_field(simd, value_and_gradient{}, leaves.leaves(2, 4), x.view(), q.view(), out.view());
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(out.column(0)[i] == 7, leaf_of(i) != 2 && leaf_of(i) != 3) << i;
  }

  TEST_F(leaf_lists, take_records)
  {
    leaf_list const leaves = list_of(once);
    std::vector<double> records(x.size() * 8);
    for (std::size_t i = 0; i < x.size(); ++i)
    {
      for (int d = 0; d < 3; ++d) records[8 * i + unsigned(d)] = x.column(d)[i];
      records[8 * i + 3] = q.column(0)[i];
    }
    near_field(simd, value_and_gradient{}, leaves,
               matrix_columns<3>(records.data(), x.size(), 8, 1),
               matrix_columns<1>(records.data() + 3, x.size(), 8, 1),
               matrix_columns<4>(records.data() + 4, x.size(), 8, 1), {.form = pair_form::mutual});
    guarded<double, 4> out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int o = 0; o < 4; ++o) out.column(o)[i] = records[8 * i + 4 + unsigned(o)];
    EXPECT_LE(error_of(out.view(), sums), tolerance<double>);
  }

  // A target and a source of two sets may be at one place.
  TEST_F(leaf_lists, take_two_sets)
  {
    std::vector<index_type> const targets{0, 4, 9}, first{0, 2, 3}, met{2, 4, 0};
    leaf_list const leaves(boxes{targets}, boxes{offsets}, {first, met});
    guarded<double, 3> at(9);
    for (int d = 0; d < 3; ++d)
      for (std::size_t i = 0; i < 9; ++i) at.column(d)[i] = x.column(d)[i == 2 ? offsets[4] : i];
    auto const expected =
        reference(value_and_gradient{}, std::as_const(at).view(), x.view(), q.view(),
                  [&](std::size_t i, std::size_t j)
                  { return i < 4 ? leaf_of(j) == 2 || leaf_of(j) == 4 : leaf_of(j) == 0; });
    guarded<double, 4> out(9, 7);
    near_field(simd, value_and_gradient{}, leaves, at.view(), x.view(), q.view(), out.view());
    EXPECT_LE(error_of(out.view(), expected), tolerance<double>);
    EXPECT_TRUE(out.is_intact());
    EXPECT_THAT(
        [&] { near_field(simd, value_and_gradient{}, leaves, at.view(), q.view(), out.view()); },
        complains_of("two sets of points, the step is given one"));
  }

  TEST_F(leaf_lists, name_what_is_wrong)
  {
    using indices = std::vector<index_type>;
    auto const make = [&](indices const& first, indices const& met,
                          std::vector<std::uint16_t> const& shift_of = {},
                          std::vector<shift_type> const& moves = {})
    {
      return [=]
      {
        indices const targets{0, 2, 4};
        leaf_list const list(boxes{targets}, {first, met, shift_of, moves});
      };
    };
    EXPECT_THAT(make({0, 1}, {1}),
                complains_of("leaf_list", "2 offsets of neighbours for 2", "give 3"));
    EXPECT_THAT(make({1, 1, 1}, {1}), complains_of("offsets of neighbours begin with 1"));
    EXPECT_THAT(make({0, 2, 1}, {1}), complains_of("offsets of neighbours descend at 2"));
    EXPECT_THAT(make({0, 1, 1}, {1, 0}), complains_of("2 neighbours", "end at 1"));
    EXPECT_THAT(make({0, 1, 1}, {2}), complains_of("neighbour 2 of 2 leaves"));
    EXPECT_THAT(make({0, 1, 1}, {1}, {0, 0}), complains_of("2 numbers of shifts for 1"));
    EXPECT_THAT(make({0, 1, 1}, {1}, {1}, {{}}), complains_of("shift number 1 of 1"));
    EXPECT_THAT(make({0, 1, 1}, {1}, {0}, {{1, 0, 0}}), complains_of("shift 0 is not zero"));
    EXPECT_THAT(make({0, 1, 1}, {1}, {0}, {{}, {0, INFINITY, 0}}), complains_of("not finite"));
    indices const descending{0, 2, 1};
    EXPECT_THAT([&] { leaf_list(boxes{descending}, {}); },
                complains_of("offsets of targets descend at 2"));

    leaf_list const leaves = list_of(once);
    EXPECT_THAT([&] { (void)leaves.leaves(3, 8); }, complains_of("[3, 8) of 7"));
    EXPECT_THAT([&] { (void)leaves.leaves(3, 2); }, complains_of("[3, 2) of 7"));
    guarded<double, 4> out(x.size(), 7);
    auto const before = out;
    auto const mutual = [&](auto where, bool accumulate)
    {
      near_field(where, value_and_gradient{}, leaves.leaves(0, 3), x.view(), q.view(), out.view(),
                 {.accumulate = accumulate, .form = pair_form::mutual});
    };
    threads two(2);
    EXPECT_THAT([&] { mutual(simd, false); },
                complains_of("mutual over a part", ".accumulate = true"));
    EXPECT_THAT([&] { mutual(simd.with(two), true); }, complains_of("on one thread", "give simd"));
    guarded<double, 3> const few(4);
    EXPECT_THAT(
        [&] { near_field(simd, value_and_gradient{}, leaves, few.view(), q.view(), out.view()); },
        complains_of("x has 4 points, expected 64"));
    EXPECT_TRUE(out == before);
  }
}
