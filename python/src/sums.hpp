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

  void bind_sums(nb::module_& m);
}
