// Parameters of points come to the ranks that compute, with the bits of one rank.

#include "near_field_problem.hpp"
#include "p2p/own_interactions.hpp"
#include "random_cells.hpp"

#include "starpu/environment.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  /// Points, targets and sources or both, whose parameters the ranks have as they have the points.
  template <class K, class T>
  struct problem_with_parameters : problem<K, T>
  {
    static constexpr int n = K::n_parameters;
    using problem<K, T>::problem;
    using columns = soa<T const, n>;
    std::array<std::vector<T>, n> of_targets, of_sources;

    void draw(std::uint64_t seed)
    {
      random_numbers random(seed);
      for (auto* const set : {&of_targets, &of_sources})
        for (auto& column : *set)
        {
          column.resize(set == &of_targets || !this->y ? this->x.size() : this->y->size());
          for (T& value : column) value = static_cast<T>(random.uniform(0.05, 0.3));
        }
    }
    [[nodiscard]] columns targets_here() const
    {
      return part_of(of_targets, this->first[this->rank()], this->here.size());
    }
    [[nodiscard]] columns sources_here() const
    {
      return part_of(of_sources, this->first_source[this->rank()],
                     problem<K, T>::sources_here.size());
    }
    [[nodiscard]] starpu_mpi::near_field<T> make(starpu_mpi::step_options const& options)
    {
      if (this->y)
        return {
            runtime_of_rank(), K{},    this->tree, targets_here(), sources_here(), this->inputs(),
            this->outputs(),   options};
      return {runtime_of_rank(), K{},    this->tree, targets_here(), this->inputs(),
              this->outputs(),   options};
    }
    void compute()
    {
      std::vector<T const*> given;
      for (auto const& column : this->q) given.push_back(column.data());
      std::vector<T*> sums;
      for (auto& column : this->expected) sums.push_back(column.data());
      soa<T const, run_time_columns> const inputs(given, this->q[0].size());
      soa<T, run_time_columns> const outputs(sums, this->x.size());
      auto const targets = with(this->x, of_targets);
      if (this->y)
        near_field(simd, K{}, *this->one, targets, with(*this->y, of_sources), inputs, outputs);
      else
        near_field(simd, K{}, *this->one, targets, inputs, outputs);
    }

  private:
    static columns part_of(std::array<std::vector<T>, n> const& of, std::size_t first,
                           std::size_t size)
    {
      std::array<T const*, n> begin;
      for (int p = 0; p < n; ++p) begin[p] = of[p].data() + first;
      return {begin, size};
    }
    static soa<T const, K::dim + n> with(points<T, K::dim> const& x,
                                         std::array<std::vector<T>, n> const& of)
    {
      std::array<T const*, K::dim + n> all;
      for (int d = 0; d < K::dim; ++d) all[d] = x.columns[d].data();
      for (int p = 0; p < n; ++p) all[K::dim + p] = of[p].data();
      return {all, x.size()};
    }
  };

  /// Before and after points move to other ranks and get other parameters.
  template <class K, class T>
  void expect_one_rank_with_parameters(problem_with_parameters<K, T>& of, pair_form form)
  {
    of.draw(1);
    auto step = of.make({.form = form, .groups = {.leaves_per_group = 7}});
    EXPECT_EQ(step.form(), form);
    for (int move = 0; move < at_most(2, 4); ++move)
    {
      SCOPED_TRACE(testing::Message() << "move " << move);
      if (move > 0)
      {
        of.draw(static_cast<std::uint64_t>(move) + 1);
        of.move(step,
                [&](std::size_t i, int d, T& x) { x += T(i % 3 == 0 ? 0.25 : -0.125) * T(d + 1); });
      }
      of.compute();
      step.submit();
      step.wait();
      of.expect_results(form == pair_form::one_sided ? bits<T>() : rounding_of(T()));
    }
  }

  template <class K, class T>
  void expect_one_rank_on_clouds_with_parameters(pair_form form)
  {
    for (owners const who : {owners::even, owners::odd_only, owners::random})
    {
      SCOPED_TRACE(testing::Message() << "owners " << static_cast<int>(who));
      problem_with_parameters<K, T> of(cloud::plummer, 600, who, {.max_leaf_size = 9}, 1, 5,
                                       {.imbalance = 1e9});
      expect_one_rank_with_parameters(of, form);
    }
  }

  TEST(distributed_near_field_with_parameters, has_the_bits_of_one_rank)
  {
    expect_one_rank_on_clouds_with_parameters<blobs, double>(pair_form::one_sided);
    expect_one_rank_on_clouds_with_parameters<dipole, float>(pair_form::one_sided);
  }
  TEST(distributed_near_field_with_parameters, is_that_of_one_rank_with_mutual_groups)
  {
    expect_one_rank_on_clouds_with_parameters<blobs, float>(pair_form::mutual);
    expect_one_rank_on_clouds_with_parameters<dipole, double>(pair_form::mutual);
  }
  TEST(distributed_near_field_with_parameters, has_the_bits_of_one_rank_with_two_sets)
  {
    for (std::uint64_t const owners : {0, 8, 17})
    {
      auto const x = make_points<double, 3>(cloud::uniform, 300, owners),
                 y = make_points<double, 3>(cloud::plummer, 400, owners);
      problem_with_parameters<dipole, double> of(x, y, owners, {.max_leaf_size = 12});
      expect_one_rank_with_parameters(of, pair_form::one_sided);
    }
  }
  // The positions there are those of images in the box; parameters are no positions.
  TEST(distributed_near_field_with_parameters, is_that_of_one_rank_in_boxes_of_any_shape)
  {
    random_numbers random(8);
    for (int time = 0; time < at_most(1, 3); ++time)
    {
      auto x = make_points<double, 2>(cloud::uniform, 400, 1);
      for (auto& column : x.columns)
        for (double& value : column) value = 4 * value - 1;
      problem_with_parameters<blobs, double> of(
          x, owners::random, {.max_leaf_size = 20, .cell = random_cell<2>(random, 1)}, 3);
      expect_one_rank_with_parameters(of, pair_form::one_sided);
      expect_one_rank_with_parameters(of, pair_form::mutual);
    }
  }

  TEST(distributed_near_field_with_parameters, refuses_wrong_columns_on_all_ranks)
  {
    problem_with_parameters<blobs, double> of(cloud::uniform, 200, owners::even, {});
    of.draw(1);
    auto const make = [&](auto const&... columns)
    {
      return message_of(
          [&]
          {
            starpu_mpi::near_field const step{runtime_of_rank(), blobs{},     of.tree,
                                              columns...,        of.inputs(), of.outputs()};
          });
    };
    std::vector<double> const given(of.here.size() + (of.rank() == 0 ? 1 : 0), 1);
    EXPECT_THAT(make(soa{given}),
                testing::AllOf(testing::HasSubstr("rank 0"), testing::HasSubstr("parameters")));
    auto const one = of.targets_here();
    EXPECT_THAT(make(soa<double const, 2>({one[0], one[0]}, one.size())),
                testing::HasSubstr("parameters have 2 columns"));
    EXPECT_THAT(make(one, one), testing::HasSubstr("one set"));
  }
}
