#pragma once

#include "options.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace nearfield::app
{
  /// Sets the parameter of that name; returns false if K has none. Throws nearfield::error for a value out of
  /// its range.
  template <class K>
  bool set_parameter(K& k, std::string const& name, double value)
  {
    auto const set = [&](double& to, bool fits, char const* expected)
    {
      if (!fits || !std::isfinite(value))
        throw error("--param: " + name + " is " + number_text(value) + "; give " + expected);
      to = value;
      return true;
    };
    if constexpr (requires { k.sigma; })
      if (name == "sigma") return set(k.sigma, value > 0, "a positive, finite length");
    if constexpr (requires { k.eps; })
      if (name == "eps") return set(k.eps, value >= 0, "a finite length, 0 or more");
    return false;
  }

  /// The names of K's parameters for --param.
  template <class K>
  std::vector<std::string> parameters_of()
  {
    std::vector<std::string> names;
    K k{};
    for (char const* name : {"sigma", "eps"})
      if (set_parameter(k, name, 1)) names.emplace_back(name);
    return names;
  }

  /// Throws nearfield::error unless an interaction of that name is built in for dimension `dim` (0: any) and
  /// has every parameter given, with a valid value.
  inline void check_interaction(interaction_choice const& choice, int dim)
  {
    std::string known, parameters;
    bool found = false, in_dim = false;
    nearfield::detail::builtin_interactions::for_each(
        [&]<class K>()
        {
          std::string const name = K::name;
          if ((" " + known + ",").find(" " + name + ",") == std::string::npos)
            known += (known.empty() ? "" : ", ") + name;
          if (name != choice.name) return;
          if (!found)
            for (std::string const& parameter : parameters_of<K>())
              parameters += (parameters.empty() ? "" : ", ") + parameter;
          found = true;
          in_dim = in_dim || dim == 0 || K::dim == dim;
          K k{};
          for (auto const& [parameter, value] : choice.parameters)
            if (!set_parameter(k, parameter, value))
              throw error("--param: " + name + " has no parameter '" + parameter + "'" +
                          (parameters.empty() ? "; it has none" : "; it has " + parameters));
        });
    if (!found)
      throw error("--interaction: there is no '" + choice.name + "'; built in are " + known);
    if (!in_dim)
      throw error("--interaction: " + choice.name + " does not exist in " + std::to_string(dim) +
                  "D; choose another, or other points");
  }

  /// Calls f(k) with the chosen interaction and its parameters, which check_interaction() has accepted.
  template <int Dim, class F>
  void with_interaction(interaction_choice const& choice, F&& f)
  {
    nearfield::detail::builtin_interactions::for_each(
        [&]<class K>()
        {
          if constexpr (K::dim == Dim)
            if (choice.name == K::name)
            {
              K k{};
              for (auto const& [parameter, value] : choice.parameters)
                set_parameter(k, parameter, value);
              f(k);
            }
        });
  }
}
