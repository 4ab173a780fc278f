#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/own_formulas.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

// Right-hand sides of a job, whose number is known at run time only.

namespace nearfield::test
{
  namespace
  {
    /// (a + b) q, and (a - b) q from the other side: neither even nor odd, from one evaluation.
    template <class V>
    struct even_and_odd
    {
      V a, b;
      NEARFIELD_FN vec<V, 1> to(vec<V, 1> const& q) const { return {{(a + b) * q[0]}}; }
      NEARFIELD_FN vec<V, 1> back(vec<V, 1> const& q) const { return {{(a - b) * q[0]}}; }
    };

    struct tilted
    {
      static constexpr int dim = 2, n_in = 1, n_out = 1, flops = 10;
      static constexpr auto name = "tilted";
      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r, V const& inv_r) const -> even_and_odd<V>
      {
        return {inv_r, r[0] * inv_r};
      }
    };
  }

  template <>
  struct formula<tilted>
  {
    static bool singular(tilted) { return true; }
    static long_matrix<1, 1> at(tilted, long_vector<2> const& r)
    {
      return {{{(1 + r[0]) / norm(r)}}};
    }
  };

  namespace
  {
    constexpr int most = 35; // 1/r takes 32 in one pass

    /// One box of targets x that meets the sources y, or itself.
    template <class K, class T>
    struct one_box
    {
      template <int N>
      using columns = guarded<T, N>;

      K k;
      columns<K::dim> x, y;
      bool one_set;
      columns<most * K::n_in> x_q = some_values<T, most * K::n_in>(x.size(), 5);
      columns<most * K::n_in> y_q = one_set ? x_q : some_values<T, most * K::n_in>(y.size(), 6);

      /// Adds n_rhs right-hand sides to x_out, and to y_out in a mutual kernel.
      void add(detail::p2p_function<T> kernel, int n_rhs, columns<most * K::n_out>& x_out,
               columns<most * K::n_out>& y_out) const
      {
        index_type const offsets[] = {0, static_cast<index_type>(x.size())}, no_ranges[] = {0, 0};
        interaction_list::range const own{.end = static_cast<index_type>(y.size())};
        auto const x_view = x.view(), y_view = y.view();
        auto const x_q_view = x_q.view(), y_q_view = y_q.view();
        auto const x_out_view = x_out.view(), y_out_view = y_out.view();
        detail::p2p_job<T> job;
        job.target_x = x_view.data();
        job.source_x = y_view.data();
        job.target_q = x_q_view.data();
        job.source_q = y_q_view.data();
        job.target_out = x_out_view.data();
        job.source_out = y_out_view.data();
        job.n_rhs = n_rhs;
        job.box_offsets = offsets;
        job.own = &own;
        job.range_offsets = no_ranges;
        job.last_box = 1;
        job.own_is_self = one_set;
        job.tests_for_zero = nearfield::detail::tests_for_zero<T>(k);
        kernel(&k, job);
      }

      /// The sums of one right-hand side, at x or at y.
      [[nodiscard]] auto sums(bool at_x, int rhs) const
      {
        auto result = reference(k, (at_x ? x : y).view(), (at_x ? y : x).view(),
                                (at_x ? y_q : x_q).template view<K::n_in>(rhs * K::n_in),
                                [&](std::size_t i, std::size_t j) { return !one_set || i != j; });
        add_initial(result, initial_output<T>);
        return result;
      }

      /// The first, the middle and the last right-hand side are what the reference finds, and the columns after
      /// them are as they were.
      void expect(detail::p2p_kernels<T> const& kernels, int n_rhs) const
      {
        SCOPED_TRACE(testing::Message() << x.size() << " and " << y.size() << " points, " << n_rhs
                                        << " right-hand sides");
        columns<most * K::n_out> one_sided(x.size(), initial_output<T>), there = one_sided;
        columns<most * K::n_out> back(y.size(), initial_output<T>);
        add(kernels.one_sided, n_rhs, one_sided, back);
        add(kernels.mutual, n_rhs, there, one_set ? there : back);
        for (int const rhs : {0, n_rhs / 2, n_rhs - 1})
        {
          SCOPED_TRACE(testing::Message() << "right-hand side " << rhs);
          auto const error = [&](auto const& out, auto const& expected)
          {
            return error_of(out.template view<K::n_out>(rhs * K::n_out), expected);
          };
          auto const x_sums = sums(true, rhs);
          EXPECT_LE(error(one_sided, x_sums), tolerance<T>) << "one-sided";
          EXPECT_LE(error(there, x_sums), tolerance<T>) << "mutual";
          if (!one_set)
          {
            EXPECT_LE(error(back, sums(false, rhs)), tolerance<T>) << "mutual, sources";
          }
        }
        for (int column = n_rhs * K::n_out; column < most * K::n_out; ++column)
          for (auto const* const out : {&one_sided, &there, &back})
            for (T const value : out->column(column)) EXPECT_EQ(value, initial_output<T>);
        EXPECT_TRUE(one_sided.is_intact() && there.is_intact() && back.is_intact());
      }

      /// The same on every back-end.
      void expect(int n_rhs) const
      {
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(backend.name);
          backend.run([&](auto where) { expect(kernels_of<T, K>(where), n_rhs); });
        }
      }
    };

    template <class K, class T>
    one_box<K, T> one_set_of(cloud shape, std::size_t n)
    {
      auto const x = some_points<T, K::dim>(shape, n, 1);
      return {example<K>(), x, x, true};
    }

    template <class K, class T>
    one_box<K, T> two_sets_of(std::size_t n, std::size_t m)
    {
      return {example<K>(), some_points<T, K::dim>(cloud::uniform, n, 1),
              some_points<T, K::dim>(cloud::coincident, m, 2), false};
    }

    template <class Case>
    class right_hand_sides_of : public ::testing::Test
    {};
    // a value, several outputs of either parity, a matrix; radial, and regular
    using some_cases =
        ::testing::Types<p2p_case<val_grad_one_over_r<2>, float>,
                         p2p_case<dipole_tensor<3>, double>, p2p_case<gaussian<3>, double>>;
    TYPED_TEST_SUITE(right_hand_sides_of, some_cases, p2p_case_names);
  }

  TYPED_TEST(right_hand_sides_of, are_each_what_the_plain_loop_finds)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    auto const one_set = one_set_of<K, T>(cloud::coincident, 37);
    auto const two_sets = two_sets_of<K, T>(21, 34);
    for (int const n_rhs : {1, 2, 3, 4, 5, 8, 11, most})
    {
      one_set.expect(n_rhs);
      two_sets.expect(n_rhs);
    }
  }

  TYPED_TEST(right_hand_sides_of, fill_boxes_of_every_small_size)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (std::size_t n = 1; n <= 17; ++n)
    {
      one_set_of<K, T>(cloud::coincident, n).expect(2);
      two_sets_of<K, T>(n, 18 - n).expect(5);
    }
  }

  // Many targets too, whose sources receive in parts.
  TYPED_TEST(right_hand_sides_of, go_over_several_panels)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    std::size_t const n =
        static_cast<std::size_t>(rhs_panel_bytes) / ((K::dim + 2 * K::n_in) * sizeof(T)) + 5;
    two_sets_of<K, T>(9, n).expect(2);
    two_sets_of<K, T>(n, 9).expect(2);
    one_set_of<K, T>(cloud::plummer, 300).expect(6);
  }

  TEST(right_hand_sides, go_both_ways_through_maps_of_the_users_own)
  {
    auto const tilted_kernels = kernels_of<double, tilted>(scalar);
    auto const mixed_kernels = kernels_of<double, mixed>(scalar);
    for (int const n_rhs : {2, 3, most})
    {
      two_sets_of<tilted, double>(19, 12).expect(tilted_kernels, n_rhs);
      two_sets_of<mixed, double>(19, 12).expect(mixed_kernels, n_rhs);
      one_set_of<tilted, double>(cloud::coincident, 19).expect(tilted_kernels, n_rhs);
      one_set_of<mixed, double>(cloud::coincident, 19).expect(mixed_kernels, n_rhs);
    }
  }

  // A step may run again on the same points elsewhere in memory.
  TEST(right_hand_sides, have_the_same_bits_wherever_columns_lie)
  {
    using K = val_grad_one_over_r<3>;
    constexpr int n_rhs = 3;
    std::size_t const n = 83;
    K const k;
    auto const x = some_points<float, 3>(cloud::uniform, n);
    auto const q = some_values<float, n_rhs>(n);
    for (tested_backend const& backend : tested_backends())
    {
      std::vector<std::vector<float>> results;
      for (std::size_t const offset : {0, 1, 6, 1000})
      {
        std::vector<float> memory(20 * (n + offset));
        auto const column = [&](std::size_t c)
        {
          return &memory[c * (n + offset) + offset];
        };
        std::array<float const*, 3> x_columns, q_columns;
        std::array<float*, n_rhs * 4> out_columns;
        for (std::size_t c = 0; c < 3; ++c)
        {
          x_columns[c] = std::ranges::copy(x.column(int(c)), column(c)).out - n;
          q_columns[c] = std::ranges::copy(q.column(int(c)), column(3 + c)).out - n;
        }
        for (std::size_t c = 0; c < out_columns.size(); ++c) out_columns[c] = column(6 + c);
        soa<float, n_rhs * 4> const out{out_columns, n};
        backend.run(
            [&](auto where)
            {
              p2p_inner_mutual(where, k, soa<float const, 3>{x_columns, n},
                               soa<float const, 3>{q_columns, n}, out);
            });
        results.emplace_back();
        for (float const* const c : out_columns)
          results.back().insert(results.back().end(), c, c + n);
        EXPECT_EQ(results.back(), results.front()) << backend << ", offset " << offset;
      }
    }
  }

  // Sources in several sets of columns, one of them shifted: as one right-hand side at a time.
  TEST(right_hand_sides, have_columns_in_every_set)
  {
    using K = one_over_r<2>;
    K const k;
    constexpr int n_rhs = 3;
    std::size_t const n = 20, m = 11;
    auto const x = some_points<double, 2>(cloud::uniform, n, 1);
    auto const y = some_points<double, 4>(cloud::uniform, m, 3); // two sets of two coordinates
    auto q = some_values<double, n_rhs>(n, 2);
    auto y_q = some_values<double, 2 * n_rhs>(m, 5);
    for (int c = 0; c < n_rhs; ++c)
      for (double& value : q.column(c)) value = std::abs(value);
    for (int c = 0; c < 2 * n_rhs; ++c)
      for (double& value : y_q.column(c)) value = std::abs(value);
    index_type const offsets[] = {0, 6, n}, list_offsets[] = {0, 2, 3};
    interaction_list::range const own[] = {{.begin = 2, .end = m, .set = 1}, {.end = 5}};
    interaction_list::range const ranges[] = {{.begin = 0, .end = m, .set = 1, .shift = 1},
                                              {.begin = 2, .end = m},
                                              {.begin = 0, .end = 3, .set = 1}};
    std::array<double, 3> const shifts[] = {{0, 0, 0}, {0.5, -1, 0}};
    auto const x_view = std::as_const(x).view();
    auto const y_view = std::as_const(y).view();
    for (tested_backend const& backend : tested_backends())
    {
      // all at once, and one by one
      guarded<double, n_rhs> out(n), single_out(n);
      guarded<double, 2 * n_rhs> y_out(m), single_y_out(m);
      auto const run = [&](int first, int count, auto& to, auto& back)
      {
        std::vector<double const*> inputs, y_inputs;
        std::vector<double*> outputs, y_outputs;
        for (int rhs = first; rhs < first + count; ++rhs)
        {
          inputs.push_back(q.column(rhs).data());
          outputs.push_back(to.column(rhs).data());
        }
        for (int set = 0; set < 2; ++set)
          for (int rhs = first; rhs < first + count; ++rhs)
          {
            y_inputs.push_back(y_q.column(set * n_rhs + rhs).data());
            y_outputs.push_back(back.column(set * n_rhs + rhs).data());
          }
        detail::p2p_job<double> job;
        job.target_x = x_view.data();
        job.target_q = inputs.data();
        job.target_out = outputs.data();
        job.source_x = y_view.data();
        job.source_q = y_inputs.data();
        job.source_out = y_outputs.data();
        job.n_rhs = count;
        job.box_offsets = offsets;
        job.own = own;
        job.range_offsets = list_offsets;
        job.ranges = ranges;
        job.shifts = shifts;
        job.last_box = 2;
        backend.run([&](auto where) { kernels_of<double, K>(where).mutual(&k, job); });
      };
      run(0, n_rhs, out, y_out);
      for (int rhs = 0; rhs < n_rhs; ++rhs) run(rhs, 1, single_out, single_y_out);
      // all terms are positive
      auto const expect_equal = [&](auto const& found, auto const& expected, int columns)
      {
        for (int c = 0; c < columns; ++c)
          for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found.column(c)[i], expected.column(c)[i],
                        tolerance<double> * expected.column(c)[i])
                << backend << ", column " << c << ", point " << i;
      };
      expect_equal(out, single_out, n_rhs);
      expect_equal(y_out, single_y_out, 2 * n_rhs);
    }
  }
}
