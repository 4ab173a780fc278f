#pragma once

#include "arrays.hpp"

/// \file
/// Interactions, sums over all pairs, trees.

namespace nearfield::python
{
  /// An interaction and its parameters.
  struct interaction
  {
    interaction(char const* name, int dim, nb::dict const& parameters);
    ~interaction() { nf_interaction_destroy(k); }
    interaction(interaction const&) = delete;

    nf_interaction* k = nullptr;
    nf_interaction_info info{};
  };

  inline nf_near_field_options near_field_options(bool accumulate, nf_form form)
  {
    nf_near_field_options options{};
    options.size = sizeof options;
    options.accumulate = accumulate;
    options.form = form;
    return options;
  }

  void bind_sums(nb::module_& m);
}
