#pragma once

#include "options.hpp"

#include <nearfield/search/pairs.hpp>

#include <string>
#include <vector>

/// \file
/// Which pairs within the radius count, as --types, --type-cutoffs and --exclude say.

namespace nearfield::app
{
  struct named_points;

  /// As it was typed: Na:Cl=3.
  std::string text_of(type_cutoff const& each);

  /// Throws nearfield::error for options that contradict each other, before a file is read.
  void check_pair_options(search_options const& options);

  /// Reads the files of the choice, gives the points their types, and finds the cutoffs of these, which is the radius
  /// for those that are not given. Throws nearfield::error for files that are not of these points, and for types that none of them has.
  void settle_pairs(pair_choice& chosen, double radius, named_points& from);

  /// Prints a line for each of the restrictions.
  void print_pairs(pair_choice const& chosen, named_points const& from);

  /// The choice as the library takes it; it refers to all that it is made of. `cutoffs` are those of types in T.
  template <class T>
  pair_filter<T> filter_of(pair_choice const& chosen, std::vector<index_type> const& types,
                           std::vector<T> const& cutoffs)
  {
    return {.types = types,
            .type_cutoffs = cutoffs,
            .excluded_offsets = chosen.excluded.offsets,
            .excluded = chosen.excluded.others};
  }
}
