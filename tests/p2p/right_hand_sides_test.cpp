#include <nearfield/p2p/p2p.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

// Any number of right-hand sides at once, as a job takes them: the number is no part of a kernel's type.

namespace nearfield::test
{
  namespace
  {
    constexpr int most = 11;

    template <class Case>
    class right_hand_sides_of : public ::testing::Test
    {
    protected:
      using interaction_type = typename Case::interaction;
      using real = typename Case::real;
      static constexpr int n_in = interaction_type::n_in, n_out = interaction_type::n_out;
      interaction_type const k = example<interaction_type>();

      template <int N>
      using columns = guarded<real, N>;

      /// n_rhs right-hand sides of targets x and sources y are each what the reference finds for it, and the
      /// columns after them are not touched.
      void expect(columns<interaction_type::dim> const& x, columns<interaction_type::dim> const& y,
                  bool one_set, int n_rhs) const
      {
        auto const x_q = some_values<real, most * n_in>(x.size(), 5);
        auto const y_q = one_set ? x_q : some_values<real, most * n_in>(y.size(), 6);
        auto const x_view = x.view(), y_view = y.view();
        auto const x_q_view = x_q.view(), y_q_view = y_q.view();
        index_type const offsets[] = {0, static_cast<index_type>(x.size())}, no_ranges[] = {0, 0};
        source_range const own{.end = static_cast<index_type>(y.size())};
        std::vector<reference_sums<n_out>> x_sums, y_sums;
        for (int rhs = 0; rhs < n_rhs; ++rhs)
        {
          x_sums.push_back(sums(x, y, y_q, rhs, one_set));
          if (!one_set) y_sums.push_back(sums(y, x, x_q, rhs, one_set));
        }
        for (tested_backend const& backend : tested_backends())
        {
          SCOPED_TRACE(testing::Message() << x.size() << " targets, " << y.size() << " sources, "
                                          << n_rhs << " right-hand sides, " << backend);
          columns<most * n_out> one_sided(x.size(), initial_output<real>);
          columns<most * n_out> mutual(x.size(), initial_output<real>);
          columns<most * n_out> back(y.size(), initial_output<real>);
          auto const one_sided_view = one_sided.view(), mutual_view = mutual.view();
          auto const back_view = one_set ? mutual_view : back.view();
          p2p_job<real> job;
          job.target_x = x_view.data();
          job.source_x = y_view.data();
          job.target_q = x_q_view.data();
          job.source_q = y_q_view.data();
          job.target_out = one_sided_view.data();
          job.source_out = back_view.data();
          job.n_rhs = n_rhs;
          job.box_offsets = offsets;
          job.own = &own;
          job.range_offsets = no_ranges;
          job.last_box = 1;
          job.own_is_self = one_set;
          job.tests_for_zero = nearfield::detail::tests_for_zero<real>(k);
          backend.run(
              [&](auto where)
              {
                auto const kernels = kernels_of<real, interaction_type>(where);
                kernels.one_sided(&k, job);
                job.target_out = mutual_view.data();
                kernels.mutual(&k, job);
              });
          for (int rhs = 0; rhs < n_rhs; ++rhs)
          {
            SCOPED_TRACE(testing::Message() << "right-hand side " << rhs);
            auto const error = [&](auto const& out, auto const& expected)
            {
              return error_of(out.template view<n_out>(rhs * n_out),
                              expected[static_cast<std::size_t>(rhs)]);
            };
            EXPECT_LE(error(one_sided, x_sums), tolerance<real>) << "one-sided";
            EXPECT_LE(error(mutual, x_sums), tolerance<real>) << "mutual";
            if (!one_set)
            {
              EXPECT_LE(error(back, y_sums), tolerance<real>) << "mutual, sources";
            }
          }
          for (int column = n_rhs * n_out; column < most * n_out; ++column)
            for (auto const* const out : {&one_sided, &mutual, &back})
              for (real const value : out->column(column)) EXPECT_EQ(value, initial_output<real>);
          EXPECT_TRUE(one_sided.is_intact() && mutual.is_intact() && back.is_intact());
        }
      }

      static auto points(cloud shape, std::size_t n, std::uint64_t seed)
      {
        return some_points<real, interaction_type::dim>(shape, n, seed);
      }

    private:
      auto sums(columns<interaction_type::dim> const& x, columns<interaction_type::dim> const& y,
                columns<most * n_in> const& q, int rhs, bool one_set) const
      {
        auto result = reference(k, x.view(), y.view(), q.template view<n_in>(rhs * n_in),
                                [&](std::size_t i, std::size_t j) { return !(one_set && i == j); });
        add_initial(result, initial_output<real>);
        return result;
      }
    };
    TYPED_TEST_SUITE(right_hand_sides_of, all_p2p_cases, p2p_case_names);
  }

  TYPED_TEST(right_hand_sides_of, are_each_what_the_plain_loop_finds)
  {
    auto const x = this->points(cloud::coincident, 37, 1), y = this->points(cloud::uniform, 21, 2);
    for (int const n_rhs : {1, 2, 3, 4, 5, 8, 9, most})
    {
      this->expect(x, x, true, n_rhs);
      this->expect(x, y, false, n_rhs);
    }
  }

  TYPED_TEST(right_hand_sides_of, fill_boxes_of_every_small_size)
  {
    for (std::size_t n = 1; n <= 17; ++n)
    {
      auto const x = this->points(cloud::coincident, n, 1);
      this->expect(x, x, true, 2);
      this->expect(x, this->points(cloud::uniform, 18 - n, 2), false, 5);
    }
  }

  // Many targets, whose sources receive in parts.
  TYPED_TEST(right_hand_sides_of, go_over_several_panels)
  {
    auto const few = this->points(cloud::uniform, 9, 1);
    std::size_t const n =
        more_than_a_panel<typename TypeParam::interaction, typename TypeParam::real>;
    auto const many = this->points(cloud::plummer, n, 2);
    this->expect(few, many, false, 3);
    this->expect(many, few, false, 3);
    auto const own = this->points(cloud::coincident, 600, 3);
    this->expect(own, own, true, 3);
  }

  // Several right-hand sides of sources in several sets of columns, one of them shifted.
  TEST(right_hand_sides, have_columns_in_every_chunk)
  {
    using K = one_over_r<2>;
    K const k;
    constexpr int n_rhs = 3;
    std::size_t const n = 20, m = 11;
    auto const x = some_points<double, 2>(cloud::uniform, n, 1);
    auto const chunk_0 = some_points<double, 2>(cloud::uniform, m, 3);
    auto chunk_1 = some_points<double, 2>(cloud::uniform, m, 4);
    auto const q = some_values<double, n_rhs>(n, 2), q_0 = some_values<double, n_rhs>(m, 5),
               q_1 = some_values<double, n_rhs>(m, 6);
    double const* const sources[] = {chunk_0.view()[0], chunk_0.view()[1], chunk_1.view()[0],
                                     chunk_1.view()[1]};
    double const* inputs[2 * n_rhs];
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      inputs[rhs] = q_0.view()[rhs];
      inputs[n_rhs + rhs] = q_1.view()[rhs];
    }
    index_type const offsets[] = {0, n}, list_offsets[] = {0, 2};
    source_range const own{},
        ranges[] = {{.begin = 0, .end = m, .chunk = 1, .shift = 1}, {.begin = 2, .end = m}};
    std::array<double, 3> const shifts[] = {{0, 0, 0}, {0.5, -1, 0}};
    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, n_rhs> out(n), out_0(m), out_1(m);
      double* source_out[2 * n_rhs];
      for (int rhs = 0; rhs < n_rhs; ++rhs)
      {
        source_out[rhs] = out_0.view()[rhs];
        source_out[n_rhs + rhs] = out_1.view()[rhs];
      }
      auto const x_view = x.view();
      auto const q_view = q.view();
      auto const out_view = out.view();
      p2p_job<double> job;
      job.target_x = x_view.data();
      job.target_q = q_view.data();
      job.target_out = out_view.data();
      job.source_x = sources;
      job.source_q = inputs;
      job.source_out = source_out;
      job.n_rhs = n_rhs;
      job.box_offsets = offsets;
      job.own = &own;
      job.range_offsets = list_offsets;
      job.ranges = ranges;
      job.shifts = shifts;
      job.last_box = 1;
      backend.run([&](auto where) { kernels_of<double, K>(where).mutual(&k, job); });

      auto moved = chunk_1;
      for (int d = 0; d < 2; ++d)
        for (double& coordinate : moved.column(d))
          coordinate += shifts[1][static_cast<std::size_t>(d)];
      for (int rhs = 0; rhs < n_rhs; ++rhs)
      {
        auto const from_2 = [](std::size_t, std::size_t j)
        {
          return j >= 2;
        };
        auto const from_2_back = [](std::size_t j, std::size_t)
        {
          return j >= 2;
        };
        auto sums =
            reference(k, x.view(), std::as_const(moved).view(), q_1.view<1>(rhs), all_pairs);
        auto const more = reference(k, x.view(), chunk_0.view(), q_0.view<1>(rhs), from_2);
        for (std::size_t i = 0; i < n; ++i)
        {
          sums.value[0][i] += more.value[0][i];
          sums.scale[0][i] += more.scale[0][i];
        }
        EXPECT_LE(error_of(out.view<1>(rhs), sums), tolerance<double>) << backend;
        EXPECT_LE(error_of(out_0.view<1>(rhs),
                           reference(k, chunk_0.view(), x.view(), q.view<1>(rhs), from_2_back)),
                  tolerance<double>)
            << backend;
        EXPECT_LE(error_of(out_1.view<1>(rhs), reference(k, std::as_const(moved).view(), x.view(),
                                                         q.view<1>(rhs), all_pairs)),
                  tolerance<double>)
            << backend;
      }
    }
  }
}
