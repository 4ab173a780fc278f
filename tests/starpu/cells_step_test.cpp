// Steps over cell lists: batches, boxes that change, cutoffs. Compiled for CPU workers, and with NEARFIELD_TEST_CUDA for
// GPUs.

#include "complains_of.hpp"
#include "exclusions.hpp"
#include "one_runtime.hpp"
#include "points.hpp"
#include "search/batch_case.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using std::size_t;

    /// 1 - |r|^2 / reach^2.
    struct ends
    {
      static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 10;
      static constexpr auto symmetry = parity::even;
      static constexpr auto name = "ends";
      double reach;
      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r) const -> mat<V, 1, 1>
      {
        V const part = dot(r, r) / V(reach * reach);
        return {{{keep_less(part, V(1), V(1) - part)}}};
      }
      NEARFIELD_FN double cutoff() const { return reach; }
    };

    /// A step over cells, and what one thread computes.
    template <class K>
    class step_over_cells
    {
      static constexpr int Dim = K::dim;

    public:
      step_over_cells(cell_list<double, Dim>& cells, points<double, Dim> const& x,
                      points<double, Dim> const& y, int leaves_per_group, pair_form form,
                      exclusions const& without = {})
          : cells_(cells), x_(x), y_(y), without_(without),
            groups_(group_leaves(cells, {.leaves_per_group = leaves_per_group})),
            ones_(y.size(), 1), out_(x.size(), -7)
      {
        starpu::step_options const options{
            .form = form, .excluded_offsets = without_.offsets, .excluded = without_.sources};
        if (cells.has_one_set())
          step_.emplace(one_runtime(), k_, groups_, x.view(), soa{ones_}, soa{out_}, options);
        else
          step_.emplace(one_runtime(), k_, groups_, x.view(), y.view(), soa{ones_}, soa{out_},
                        options);
      }
      void expect_sums()
      {
        std::vector<double> expected(x_.size(), -3);
        if (cells_.has_one_set())
          near_field(simd, k_, cells_, x_.view(), soa{ones_}, soa{expected}, without_.options());
        else
          near_field(simd, k_, cells_, x_.view(), y_.view(), soa{ones_}, soa{expected},
                     without_.options());
        step_->submit();
        step_->wait();
        for (size_t i = 0; i < x_.size(); ++i)
          ASSERT_NEAR(out_[i], expected[i], 1e-12 * (1 + expected[i])) << i;
      }
      void positions_changed() { step_->positions_changed(); }
      [[nodiscard]] size_t n_tasks() const { return step_->n_tasks(); }

    private:
      K const k_{};
      cell_list<double, Dim>& cells_;
      points<double, Dim> const &x_, &y_;
      exclusions const without_;
      leaf_groups<Dim> groups_;
      std::vector<double> ones_, out_;
      std::optional<starpu::near_field<double>> step_;
    };

    template <int Dim>
    void expect_sums_of_batch(std::uint64_t seed)
    {
      batch_case<double, Dim> const of(seed);
      auto cells = of.list(simd);
      auto const& sources = of.one_set ? of.x.x : of.y.x;
      random_numbers random(seed);
      exclusions const some(random, of.x.x.size(), sources.size(), of.one_set);
      for (int const leaves_per_group : {1, 7, 0})
        for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
        {
          if (form == pair_form::mutual && !of.one_set) continue;
          SCOPED_TRACE(testing::Message()
                       << leaves_per_group << " leaves a group, form " << int(form));
          // some images are as good as at one place
          for (exclusions const& without : {exclusions(), some})
            step_over_cells<gaussian<Dim>>(cells, of.x.x, sources, leaves_per_group, form, without)
                .expect_sums();
        }
    }
  }

  TEST(starpu_cells, of_batches_have_shifts_of_their_own)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(12); ++seed)
    {
      SCOPED_TRACE(seed);
      expect_sums_of_batch<3>(seed);
      expect_sums_of_batch<2>(seed);
      if (::testing::Test::HasFailure()) return;
    }
  }

  // Systems of one point, which meets its images only: more of these than a list can number.
  TEST(starpu_cells, of_batches_with_many_shifts_are_in_several_groups)
  {
    size_t const n = 3000;
    auto const x = make_points<double, 3>(cloud::uniform, n);
    std::vector<index_type> offsets;
    for (index_type s = 0; s <= n; ++s) offsets.push_back(s);
    double const cutoff = 1.1;
    auto const box = cell<3>::of_lengths(std::array{1., 1., 1.});
    cell_list<double, 3> cells(x.view(),
                               {.offsets = offsets, .cutoffs = {&cutoff, 1}, .cells = {&box, 1}});
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      step_over_cells<one_over_r<3>> step(cells, x, x, static_cast<int>(n), form);
      EXPECT_GE(step.n_tasks(), 2u);
      step.expect_sums();
    }
  }

  TEST(starpu_cells, follow_boxes_that_change)
  {
    random_numbers random(4);
    auto x = make_points<double, 3>(cloud::uniform, 600);
    std::vector<index_type> const offsets{0, 250, 600};
    std::vector<double> const cutoffs{0.3, 0.2};
    std::vector<cell<3>> boxes{
        cell<3>::of_lengths(std::array{1., 1., 1.}),
        {.vectors = {{{1, 0, 0}, {0.25, 1, 0}, {0, 0, 1}}}, .periodic = {true, true, false}}};
    cell_list_options<double, 3> const options{.skin = 0.2};
    cell_list<double, 3> batch(x.view(), {.offsets = offsets, .cutoffs = cutoffs, .cells = boxes},
                               options),
        one(x.view(), 0.3, {.cell = boxes[1], .skin = 0.2});
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      step_over_cells<one_over_r<3>> of_batch(batch, x, x, 20, form), of_one(one, x, x, 20, form);
      of_batch.expect_sums();
      of_one.expect_sums();
      for (int time = 0; time < 2; ++time)
      {
        for (auto& column : x.columns)
          for (double& at : column) at *= 1 + 0.005 * random.uniform(0, 1);
        for (auto& box : boxes)
          for (auto& vector : box.vectors)
            for (double& of : vector) of *= 1.004;
        ASSERT_FALSE(batch.update(x.view(), boxes));
        ASSERT_FALSE(one.update(x.view(), boxes[1]));
        of_batch.positions_changed();
        of_one.positions_changed();
        of_batch.expect_sums();
        of_one.expect_sums();
      }
    }
  }

  // Points have moved to places of points in other cells.
  TEST(starpu_cells, leave_out_points_that_coincide_since_an_update)
  {
    auto x = make_points<double, 2>(cloud::uniform, 300);
    cell_list<double, 2> cells(x.view(), 0.2, {.skin = 0.1});
    for (size_t i = 0; i + 1 < 300; ++i)
      for (size_t j = i + 1; j < 300; ++j)
        if (std::hypot(x.columns[0][i] - x.columns[0][j], x.columns[1][i] - x.columns[1][j]) < 0.04)
        {
          for (auto& column : x.columns) column[i] = column[j];
          break;
        }
    ASSERT_FALSE(cells.update(x.view()));
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      step_over_cells<one_over_r<2>>(cells, x, x, 1, form).expect_sums();
  }

  TEST(starpu_cells, refuse_interactions_that_reach_further)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 100);
    std::vector<float> const q(100, 1);
    std::vector<float> out(100);
    cell_list<float, 3> const cells(x.view(), 0.3);
    auto const groups = group_leaves(cells);
    ends k{0.3f};
    auto const make = [&]
    {
      starpu::near_field(one_runtime(), k, groups, x.view(), soa{q}, soa{out});
    };
    EXPECT_NO_THROW(make());
    k.reach = 0.3 * (1 + 1e-5);
    EXPECT_THAT(make, complains_of("cutoff of the interaction", "cells"));
  }

  TEST(starpu_cells, refuse_excluded_pairs_that_are_not_there_and_on_gpus)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 3);
    std::vector<float> const q(3, 1);
    std::vector<float> out(3);
    cell_list<float, 3> const cells(x.view(), 0.3);
    auto const groups = group_leaves(cells);
    std::vector<std::uint64_t> const offsets{0, 1, 1, 1};
    auto const make = [&](index_type excluded, backend where)
    {
      starpu::near_field(
          one_runtime(), gaussian<3>{}, groups, x.view(), soa{q}, soa{out},
          {.backend = where, .excluded_offsets = offsets, .excluded = std::span(&excluded, 1)});
    };
    EXPECT_NO_THROW(make(2, backend::automatic));
    EXPECT_THAT([&] { make(3, backend::automatic); }, complains_of(".excluded", "3 points"));
    EXPECT_THAT([&] { make(2, backend::cuda); }, complains_of(".excluded", "simd"));
  }
}
