#include <nearfield/p2p/leaf.hpp>

#include "backends.hpp"
#include "complains_of.hpp"
#include "p2p/p2p_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using shift_type = std::array<double, 3>;

    /// Leaf 0 and those that it meets. What a leaf has is in columns of its own or in records x q out.
    template <class K, class T, int Rhs>
    class own_leaves
    {
    public:
      static constexpr int n_q = Rhs * K::n_in, n_out = Rhs * K::n_out;
      static constexpr std::size_t width = K::dim + n_q + n_out + 1; // the last value is not ours

      std::vector<guarded<T, K::dim>> x;
      std::vector<guarded<T, n_q>> q;
      std::vector<guarded<T, n_out>> out;
      std::vector<shift_type> shifts;
      std::vector<std::vector<T>> records;

      void add(std::size_t n, shift_type const& shift = {})
      {
        auto const number = x.size();
        x.push_back(some_points<T, K::dim>(cloud::uniform, n, number + 1));
        q.push_back(some_values<T, n_q>(n, number + 5));
        out.emplace_back(n, initial_output<T>);
        shifts.push_back(shift);
        std::vector<T>& record = records.emplace_back(n * width, initial_output<T>);
        for (std::size_t i = 0; i < n; ++i)
        {
          for (int d = 0; d < K::dim; ++d) record[i * width + unsigned(d)] = x[number].column(d)[i];
          for (int c = 0; c < n_q; ++c)
            record[i * width + K::dim + unsigned(c)] = q[number].column(c)[i];
        }
      }

      auto in_columns(std::size_t l)
      {
        return leaf{x[l].view(), q[l].view(), out[l].view(), shifts[l]};
      }
      auto in_records(std::size_t l)
      {
        auto& r = records[l];
        std::size_t const n = x[l].size();
        return leaf{matrix_columns<K::dim>(r.data(), n, width, 1),
                    matrix_columns<n_q>(r.data() + K::dim, n, width, 1),
                    matrix_columns<n_out>(r.data() + K::dim + n_q, n, width, 1), shifts[l]};
      }
      [[nodiscard]] std::vector<std::size_t> neighbours() const
      {
        std::vector<std::size_t> all;
        for (std::size_t l = 1; l < x.size(); ++l) all.push_back(l);
        return all;
      }

      void clear()
      {
        for (auto& o : out) o = guarded<T, n_out>(o.size(), initial_output<T>);
        for (auto& r : records)
          for (std::size_t i = 0; i < r.size(); i += width)
            for (int c = 0; c < n_out; ++c) r[i + K::dim + n_q + unsigned(c)] = initial_output<T>;
      }

      /// Positions of leaf l as leaf 0 sees them (sign 1), or of leaf 0 as leaf l does (-1).
      guarded<T, K::dim> seen(std::size_t l, std::size_t by, int sign) const
      {
        auto result = x[l];
        for (int d = 0; d < K::dim; ++d)
          for (T& value : result.column(d)) value += static_cast<T>(sign * shifts[by][unsigned(d)]);
        return result;
      }

      /// What leaf `to` receives for right-hand side rhs from leaf `from`, one of which is 0.
      auto sums(K const& k, std::size_t to, std::size_t from, int rhs) const
      {
        auto const inputs = q[from].template view<K::n_in>(rhs * K::n_in);
        if (to == from) return reference(k, x[to].view(), x[to].view(), inputs, other_points);
        if (to == 0)
        {
          auto const y = seen(from, from, 1);
          return reference(k, x[0].view(), soa<T const, K::dim>(y.view()), inputs, all_pairs);
        }
        auto const y = seen(to, to, 1);
        return reference(k, soa<T const, K::dim>(y.view()), x[0].view(), inputs, all_pairs);
      }

      void expect(K const& k, bool inner, bool outer, bool mutual) const
      {
        for (int rhs = 0; rhs < Rhs; ++rhs)
        {
          auto at_0 =
              reference(k, x[0].view(), x[0].view(), q[0].template view<K::n_in>(rhs * K::n_in),
                        [](std::size_t, std::size_t) { return false; });
          auto const add = [&](auto const& more)
          {
            for (int o = 0; o < K::n_out; ++o)
              for (std::size_t i = 0; i < x[0].size(); ++i)
              {
                at_0.value[o][i] += more.value[o][i];
                at_0.scale[o][i] += more.scale[o][i];
              }
          };
          if (inner) add(sums(k, 0, 0, rhs));
          for (std::size_t l = 1; outer && l < x.size(); ++l) add(sums(k, 0, l, rhs));
          add_initial(at_0, initial_output<T>);
          int const first = rhs * K::n_out;
          EXPECT_LE(error_of(out[0].template view<K::n_out>(first), at_0), tolerance<T>);
          for (std::size_t l = 1; l < x.size(); ++l)
          {
            auto at_l = sums(k, l, 0, rhs);
            if (!mutual)
              for (int o = 0; o < K::n_out; ++o)
              {
                at_l.value[o].assign(x[l].size(), 0);
                at_l.scale[o].assign(x[l].size(), 0);
              }
            add_initial(at_l, initial_output<T>);
            EXPECT_LE(error_of(out[l].template view<K::n_out>(first), at_l), tolerance<T>)
                << "leaf " << l;
          }
        }
        for (auto const& o : out) EXPECT_TRUE(o.is_intact());
      }

      /// The records hold the bits of the columns, and what they held beside outputs.
      void expect_records(own_leaves const& before) const
      {
        for (std::size_t l = 0; l < x.size(); ++l)
          for (std::size_t i = 0; i < x[l].size(); ++i)
            for (std::size_t c = 0; c < width; ++c)
            {
              std::size_t const first = K::dim + n_q;
              bool const is_output = c >= first && c < first + n_out;
              T const expected = is_output ? out[l].column(static_cast<int>(c - first))[i]
                                           : before.records[l][i * width + c];
              ASSERT_EQ(records[l][i * width + c], expected) << l << ' ' << i << ' ' << c;
            }
      }
    };

    template <class Case>
    class p2p_leaf_of : public ::testing::Test
    {
    protected:
      using K = typename Case::interaction;
      using T = typename Case::real;
      K const k = example<K>();

      /// All functions over columns, against the plain loop, and over records, to the bit.
      template <int Rhs>
      void expect(own_leaves<K, T, Rhs> leaves) const
      {
        auto const columns = [&](std::size_t l)
        {
          return leaves.in_columns(l);
        };
        auto const records = [&](std::size_t l)
        {
          return leaves.in_records(l);
        };
        auto const neighbours = leaves.neighbours();
        auto const before = leaves;
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(testing::Message() << leaves.x[0].size() << " points, " << neighbours.size()
                                          << " neighbours, " << backend);
          backend.run(
              [&](auto where)
              {
                auto const run = [&](leaf_options const& options)
                {
                  leaves.clear();
                  p2p_leaf(where, k, columns(0), neighbours, options, columns);
                  p2p_leaf(where, k, records(0), neighbours, options, records);
                  leaves.expect(k, options.inner, true, options.form == pair_form::mutual);
                  leaves.expect_records(before);
                };
                for (bool const may_coincide : {false, true})
                  for (bool const inner : {false, true})
                    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
                      run({form, inner, may_coincide});
                leaves.clear();
                p2p_outer(where, k, columns(0).x, neighbours, columns(0).out, columns);
                p2p_outer(where, k, records(0).x, neighbours, records(0).out, records);
                leaves.expect(k, false, true, false);
                leaves.expect_records(before);
              });
        }
      }
    };

    using some_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<3>, double>,
                         p2p_case<val_grad_one_over_r<3>, double>,
                         p2p_case<dipole_tensor<2>, float>, p2p_case<gaussian<2>, double>>;
    TYPED_TEST_SUITE(p2p_leaf_of, some_cases, p2p_case_names);
  }

  TYPED_TEST(p2p_leaf_of, adds_what_the_plain_loop_finds_at_every_size)
  {
    for (std::size_t n = 0; n <= 40; n = n < 18 ? n + 1 : n + 7)
    {
      own_leaves<typename TypeParam::interaction, typename TypeParam::real, 1> leaves;
      leaves.add(n);
      this->expect(leaves);
      leaves.add(11, {0.25, 0, -0.125});
      this->expect(leaves);
      leaves.add(40 - n);
      leaves.add(0);
      leaves.add(n, {0, 1, 0});
      this->expect(leaves);
    }
  }

  TYPED_TEST(p2p_leaf_of, takes_more_neighbours_than_a_call_of_the_kernel)
  {
    for (std::size_t const n_neighbours : {31, 32, 33, 70})
    {
      own_leaves<typename TypeParam::interaction, typename TypeParam::real, 1> leaves;
      leaves.add(9);
      for (std::size_t l = 0; l < n_neighbours; ++l)
        leaves.add(l % 7, {l % 3 == 0 ? 0.5 : 0, 0, 0});
      this->expect(leaves);
    }
  }

  TYPED_TEST(p2p_leaf_of, takes_several_right_hand_sides)
  {
    own_leaves<typename TypeParam::interaction, typename TypeParam::real, 3> leaves;
    leaves.add(13);
    for (std::size_t const n : {5, 0, 17}) leaves.add(n, {0, n == 5 ? 0.5 : 0, 0});
    this->expect(leaves);
  }

  namespace
  {
    using column = std::vector<double>;
    one_over_r<2> const plane_kernel;

    struct p2p_leaf_calls : ::testing::Test
    {
      column const x{0, 1, 2}, y{0, 0.5, 0}, q{1, 2, -1}, u{3, 4}, v{0, 1}, w{2, 1};
      column out{0, 0, 0}, back{0, 0};

      auto target() { return leaf{soa{x, y}, soa{q}, soa{out}}; }
      auto source() { return leaf{soa{u, v}, soa{w}, soa{back}}; }
      static double inverse(double dx, double dy) { return 1 / std::hypot(dx, dy); }
    };
  }

  TEST_F(p2p_leaf_calls, take_arrays_of_leaves_and_of_sources_without_outputs)
  {
    std::array const sources{leaf{soa{u, v}, soa{w}}, leaf{soa{u, v}, soa{w}, {1, 0, 0}}};
    column expected(3);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        expected[i] +=
            w[j] * (inverse(x[i] - u[j], y[i] - v[j]) + inverse(x[i] - u[j] - 1, y[i] - v[j]));
    p2p_outer(simd, plane_kernel, soa{x, y}, sources, soa{out});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], expected[i], 1e-14);
    column const once = out;
    p2p_leaf(simd, plane_kernel, target(), sources, {.inner = false});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], 2 * once[i], 1e-14);
  }

  TEST_F(p2p_leaf_calls, take_right_hand_sides_counted_at_run_time)
  {
    column second(3), back_2(2);
    std::vector<double const*> const inputs{q.data(), q.data()}, given{w.data(), w.data()};
    std::vector<double*> const outputs{out.data(), second.data()},
        returned{back.data(), back_2.data()};
    using in = soa<double const, run_time_columns>;
    using to = soa<double, run_time_columns>;
    leaf const here{soa{x, y}, in{inputs, 3}, to{outputs, 3}};
    std::array const there{leaf{soa{u, v}, in{given, 2}, to{returned, 2}}};
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      column expected(3);
      std::array const one{source()};
      out.assign(3, 0);
      back.assign(2, 0);
      p2p_leaf(simd, plane_kernel, target(), one, {.form = form});
      column const sums = out, sums_back = back;
      out.assign(3, 0);
      back.assign(2, 0);
      second.assign(3, 0);
      back_2.assign(2, 0);
      p2p_leaf(simd, plane_kernel, here, there, {.form = form});
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], sums[i], 1e-14);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(second[i], sums[i], 1e-14);
      for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(back[j], sums_back[j], 1e-14);
      for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(back_2[j], sums_back[j], 1e-14);
    }
  }

  // Opposite images of a leaf are one pair of leaves.
  TEST_F(p2p_leaf_calls, meet_an_image_of_the_leaf_itself)
  {
    auto const image = [&](double by)
    {
      return leaf{soa{x, y}, soa{q}, soa{out}, {0, by, 0}};
    };
    std::array const one{image(4)};
    std::array const both{image(4), image(-4)};
    p2p_leaf(simd, plane_kernel, target(), both);
    column const one_sided = out;
    out.assign(3, 0);
    p2p_leaf(simd, plane_kernel, target(), one, {.form = pair_form::mutual});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], one_sided[i], 1e-14);
  }

  TEST_F(p2p_leaf_calls, take_leaves_of_different_strides)
  {
    std::vector<double> records(3 * 5);
    for (std::size_t j = 0; j < 3; ++j)
    {
      records[5 * j] = 5 + double(j);
      records[5 * j + 3] = 1;
    }
    column const px{5, 6, 7}, none{0, 0, 0}, ones{1, 1, 1};
    auto const strided_leaf =
        [](double const* a, double const* b, double const* c, std::ptrdiff_t s, std::size_t n)
    {
      using points = strided<double const, 2>;
      using values = strided<double const, 1>;
      return leaf{points{soa<double const, 2>({a, b}, n), s},
                  values{soa<double const, 1>({c}, n), s}};
    };
    auto const in_columns = strided_leaf(px.data(), none.data(), ones.data(), 1, 3);
    auto const in_records = strided_leaf(&records[0], &records[1], &records[3], 5, 3);
    auto const other = strided_leaf(u.data(), v.data(), w.data(), 1, 2);
    p2p_outer(simd, plane_kernel, soa{x, y}, std::array{in_columns, other, in_columns}, soa{out});
    column const expected = out;
    out.assign(3, 0);
    p2p_outer(simd, plane_kernel, soa{x, y}, std::array{in_records, other, in_records}, soa{out});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], expected[i], 1e-14);
  }

  TEST_F(p2p_leaf_calls, leave_out_points_at_one_place_of_two_sets_and_of_leaves_that_moved)
  {
    column const a{1}, b{0.5}, c{7};
    std::array const same{leaf{soa{a, b}, soa{c}}};
    p2p_outer(simd, plane_kernel, soa{x, y}, same, soa{out});
    column const sums = out;
    EXPECT_EQ(sums[1], 0);
    EXPECT_GT(sums[0], 1);
    out.assign(3, 0);
    p2p_leaf(simd, plane_kernel, target(), same, {.inner = false, .ranges_may_coincide = true});
    EXPECT_EQ(out, sums);
  }

  TEST_F(p2p_leaf_calls, name_what_is_wrong_before_an_output_is_written)
  {
    column const four{1, 1, 1, 1};
    soa<double const, 2> const null{std::array<double const*, 2>{x.data(), nullptr}, 3};
    auto const call = [&](auto const& second, leaf_options const& options = {})
    {
      p2p_leaf(simd, plane_kernel, target(), std::array{0, 1}, options,
               [&](int l) { return l == 0 ? decltype(second)(second) : second; });
    };
    EXPECT_THAT([&] { call(leaf{soa{u, v}, soa{four}}); },
                complains_of("p2p_leaf", "q has 4", "expected 2", "source leaf 0"));
    EXPECT_THAT([&] { call(leaf{null, soa{q}}); },
                complains_of("p2p_leaf", "x: column 1 is null", "source leaf 0"));
    EXPECT_THAT([&] { call(leaf{soa{u, v}, soa{w}}, {.form = pair_form::mutual}); },
                complains_of("p2p_leaf", "form mutual", "no outputs", "leaf{x, q, out}"));
    EXPECT_THAT([&] { call(target(), {.form = pair_form::mutual}); },
                complains_of("p2p_leaf", "overlaps", "out", "source leaf 0"));
    column const shared{0, 0, 0};
    EXPECT_THAT(
        [&]
        {
          p2p_leaf(simd, plane_kernel, leaf{soa{x, y}, soa{shared}, soa{out}},
                   std::array{leaf{soa{x, y}, soa{q},
                                   soa{std::span(const_cast<double*>(shared.data()), 3)}}},
                   {.form = pair_form::mutual});
        },
        complains_of("p2p_leaf", "overlaps", "the target leaf's q"));
    EXPECT_THAT(
        [&]
        {
          p2p_outer(simd, plane_kernel, soa{x, y},
                    std::array{leaf{soa{x, std::as_const(out)}, soa{q}}}, soa{out});
        },
        complains_of("p2p_outer", "overlaps column 1 of x", "source leaf 0"));
    // and in a leaf that another call of the kernel would meet
    std::vector<int> const many(40);
    int count = 0;
    EXPECT_THAT(
        [&]
        {
          p2p_leaf(simd, plane_kernel, target(), many, {},
                   [&](int)
                   {
                     ++count;
                     return count == 40 ? leaf{soa{u, v}, soa{four}} : leaf{soa{u, v}, soa{w}};
                   });
        },
        complains_of("q has 4", "source leaf 39"));
    EXPECT_EQ(out, column(3));
    EXPECT_EQ(back, column(2));
  }
}
