#pragma once

#include "points.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/kernels/any_interaction.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// \file
/// Built-in interactions by name, and columns for them.

namespace nearfield::test
{
  /// Columns whose number is known at run time.
  template <class T>
  struct run_time_set
  {
    std::vector<std::vector<T>> memory;
    std::vector<T*> pointers;

    template <class Value>
    run_time_set(int width, std::size_t n, Value const& value)
    {
      for (int c = 0; c < width; ++c)
      {
        auto& column = memory.emplace_back(n);
        for (std::size_t i = 0; i < n; ++i) column[i] = static_cast<T>(value(c));
        pointers.push_back(column.data());
      }
    }
    run_time_set(run_time_set const&) = delete;
    run_time_set& operator=(run_time_set const&) = delete;

    [[nodiscard]] soa<T const, run_time_columns> view() const
    {
      return soa<T, run_time_columns>(pointers, memory[0].size());
    }
    soa<T, run_time_columns> view() { return {pointers, memory[0].size()}; }
  };

  /// Coordinates in (-0.125, 0.125), where no logarithm is close to zero, then parameters in [0.05, 0.15).
  template <class T>
  run_time_set<T> points_of(any_interaction const& k, std::size_t n, random_numbers& random)
  {
    int const n_x = k.info().dim + static_cast<int>(k.info().point_parameters.size());
    return {n_x, n, [&](int c)
            {
              return c < k.info().dim ? random.uniform(-0.125, 0.125) : random.uniform(0.05, 0.15);
            }};
  }

  template <class T>
  run_time_set<T> values(int width, std::size_t n, random_numbers& random)
  {
    return {width, n, [&](int)
            {
              return random.uniform(-1, 1);
            }};
  }

  /// With parameters that suit those points.
  inline any_interaction example_of(interaction_info const& info)
  {
    std::vector<std::pair<std::string_view, double>> parameters;
    for (parameter_info const& each : info.parameters)
      if (each.unit == "length") parameters.emplace_back(each.name, 0.1);
    return {info.name, info.dim, parameters};
  }

  /// The numbers in interaction_infos() of those that this build has.
  inline std::vector<std::size_t> built_interactions()
  {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < interaction_infos().size(); ++i)
      if (interaction_infos()[i].is_built) numbers.push_back(i);
    return numbers;
  }

  /// Of tests whose parameter is a number in interaction_infos().
  inline std::string name_of_interaction(::testing::TestParamInfo<std::size_t> const& of)
  {
    auto const& info = interaction_infos()[of.param];
    return std::string(info.name) + "_" + std::to_string(info.dim) + "d";
  }
}
