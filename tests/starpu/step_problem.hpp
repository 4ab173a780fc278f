#pragma once

#include "near_field_cases.hpp"

namespace nearfield::test
{
  /// A cloud of n points with its tree, charges and potential.
  struct problem
  {
    points<double, 3> x;
    std::vector<double> q, out;
    tree<3> leaves;
    leaf_groups<3> groups;

    explicit problem(std::size_t n, int leaves_per_group = 5)
        : x(make_points<double, 3>(cloud::plummer, n)), q(make_values<double>(n)), out(n, -3.),
          leaves(build_tree(x.view(), {.max_leaf_size = 20})),
          groups(group_leaves(leaves, {.leaves_per_group = leaves_per_group}))
    {}

    auto step(starpu::step_options const& options = {})
    {
      return starpu::near_field{one_runtime(), one_over_r<>{}, groups, x.view(),
                                soa{q},        soa{out},       options};
    }
    [[nodiscard]] auto expected() const
    {
      return reference_near_field(one_over_r<>{}, leaves, x, x, soa<double const, 1>(soa{q}));
    }
    [[nodiscard]] double error() { return error_of(soa{out}, expected()); }
  };
}
