#include <nearfield/p2p/job.hpp>

#include "backends.hpp"
#include "p2p/p2p_cases.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace nearfield::test
{
  // What a task runs: some boxes of a list whose sources lie in several sets of columns.
  TEST(p2p_job, takes_some_boxes_and_sources_of_several_sets)
  {
    using K = dipole_tensor<2>;
    K const k;
    auto const x = some_points<double, 2>(cloud::uniform, 30, 1);
    auto const q = some_values<double, 2>(30, 2);
    auto const set_0 = some_points<double, 2>(cloud::uniform, 20, 3);
    auto const set_1 = some_points<double, 2>(cloud::uniform, 25, 4);
    auto const q_0 = some_values<double, 2>(20, 5);
    auto const q_1 = some_values<double, 2>(25, 6);
    double const* const sources[] = {set_0.view()[0], set_0.view()[1], set_1.view()[0],
                                     set_1.view()[1]};
    double const* const inputs[] = {q_0.view()[0], q_0.view()[1], q_1.view()[0], q_1.view()[1]};
    std::vector<index_type> const offsets{0, 10, 22, 30}, list_offsets{0, 1, 3, 3};
    std::vector<interaction_list::range> const own{{.begin = 0, .end = 10},
                                                   {.begin = 3, .end = 9, .set = 1},
                                                   {.begin = 0, .end = 25, .set = 1}};
    std::vector<interaction_list::range> const ranges{
        {.begin = 0, .end = 20}, {.begin = 0, .end = 3, .set = 1}, {.begin = 5, .end = 20}};
    auto const in_box_1 = [](std::size_t i)
    {
      return i >= 10 && i < 22;
    };
    auto const meets_0 = [&](std::size_t i, std::size_t j)
    {
      return in_box_1(i) && j >= 5;
    };
    auto const meets_1 = [&](std::size_t i, std::size_t j)
    {
      return in_box_1(i) && j < 9;
    };
    auto sums = reference(k, x.view(), set_0.view(), q_0.view(), meets_0);
    auto const more = reference(k, x.view(), set_1.view(), q_1.view(), meets_1);
    for (int o = 0; o < 2; ++o)
      for (std::size_t i = 0; i < 30; ++i)
      {
        sums.value[o][i] += more.value[o][i];
        sums.scale[o][i] += more.scale[o][i];
      }
    auto const back_0 = reference(k, set_0.view(), x.view(), q.view(),
                                  [&](std::size_t j, std::size_t i) { return meets_0(i, j); });
    auto const back_1 = reference(k, set_1.view(), x.view(), q.view(),
                                  [&](std::size_t j, std::size_t i) { return meets_1(i, j); });

    for (tested_backend const& backend : tested_backends())
    {
      guarded<double, 2> one_sided(30), mutual(30), out_0(20), out_1(25);
      double* const source_out[] = {out_0.view()[0], out_0.view()[1], out_1.view()[0],
                                    out_1.view()[1]};
      auto const x_view = std::as_const(x).view();
      auto const q_view = std::as_const(q).view();
      auto const one_sided_view = one_sided.view(), mutual_view = mutual.view();
      detail::p2p_job<double> job;
      job.target_x = x_view.data();
      job.target_q = q_view.data();
      job.target_out = one_sided_view.data();
      job.source_x = sources;
      job.source_q = inputs;
      job.source_out = source_out;
      job.box_offsets = offsets.data();
      job.own = own.data();
      job.range_offsets = list_offsets.data();
      job.ranges = ranges.data();
      job.first_box = 1;
      job.last_box = 2;
      backend.run(
          [&](auto where)
          {
            auto const kernels = kernels_of<double, K>(where);
            kernels.one_sided(&k, job);
            job.target_out = mutual_view.data();
            kernels.mutual(&k, job);
          });
      EXPECT_LE(error_of(one_sided.view(), sums), tolerance<double>) << backend;
      EXPECT_LE(error_of(mutual.view(), sums), tolerance<double>) << backend;
      EXPECT_LE(error_of(out_0.view(), back_0), tolerance<double>) << backend;
      EXPECT_LE(error_of(out_1.view(), back_1), tolerance<double>) << backend;
      EXPECT_TRUE(one_sided.is_intact() && mutual.is_intact()) << backend;
      EXPECT_TRUE(out_0.is_intact() && out_1.is_intact()) << backend;
    }
  }

  // A panel has room for so many ranges only. Those without sources must not fill it.
  TEST(p2p_job, meets_sources_after_any_number_of_empty_ranges)
  {
    using K = one_over_r<2>;
    K const k;
    auto const x = some_points<double, 2>(cloud::uniform, 20, 1);
    auto const y = some_points<double, 2>(cloud::uniform, 30, 2);
    auto const q_x = some_values<double, 1>(20, 3);
    auto const q_y = some_values<double, 1>(30, 4);
    auto const sums = reference(k, x.view(), y.view(), q_y.view(), all_pairs);
    auto const back = reference(k, y.view(), x.view(), q_x.view(), all_pairs);
    auto const x_view = std::as_const(x).view(), y_view = std::as_const(y).view();
    double const* const inputs[] = {q_y.view()[0], q_y.view()[0]};
    double const* const target_inputs[] = {q_x.view()[0]};
    std::vector<index_type> const offsets{0, 20};
    std::vector<interaction_list::range> const own(1);
    for (std::size_t const n_empty : {63, 64, 65, 400})
    {
      std::vector<interaction_list::range> ranges(n_empty, {.begin = 7, .end = 7});
      ranges.push_back({.begin = 0, .end = 11});
      ranges.insert(ranges.end(), n_empty, {.begin = 30, .end = 30});
      ranges.push_back({.begin = 11, .end = 30});
      std::vector<index_type> const list_offsets{0, static_cast<index_type>(ranges.size())};
      for (tested_backend const& backend : tested_backends())
      {
        guarded<double, 1> mutual(20), received(30);
        guarded<double, 2> of_two_sides(20);
        auto const mutual_view = mutual.view(), received_view = received.view();
        auto const of_two_sides_view = of_two_sides.view();
        detail::p2p_job<double> job;
        job.target_x = x_view.data();
        job.target_q = target_inputs;
        job.target_out = mutual_view.data();
        job.source_x = y_view.data();
        job.source_q = inputs;
        job.source_out = received_view.data();
        job.box_offsets = offsets.data();
        job.own = own.data();
        job.range_offsets = list_offsets.data();
        job.ranges = ranges.data();
        job.last_box = 1;
        backend.run(
            [&](auto where)
            {
              auto const kernels = kernels_of<double, K>(where);
              kernels.mutual(&k, job);
              job.target_out = of_two_sides_view.data();
              job.n_rhs = 2;
              kernels.one_sided(&k, job);
            });
        EXPECT_LE(error_of(mutual.view(), sums), tolerance<double>) << backend << n_empty;
        EXPECT_LE(error_of(received.view(), back), tolerance<double>) << backend << n_empty;
        for (int side = 0; side < 2; ++side)
          EXPECT_LE(error_of(soa<double, 1>{{of_two_sides_view[side]}, 20}, sums),
                    tolerance<double>)
              << backend << n_empty;
      }
    }
  }
}
