#pragma once

#include "options.hpp"
#include "ranks.hpp"

#include <string>

/// \file
/// Which pairs within the radius count, as --types, --type-cutoffs and --exclude say.

namespace nearfield::app
{
  struct named_points;

  /// As it was typed: Na:Cl=3.
  std::string text_of(type_cutoff const& each);

  /// Throws nearfield::error for options that contradict each other, before a file is read.
  void check_pair_options(search_options const& options);

  /// Reads the files of the choice, and gives the points their types, and each pair of types its cutoff: the radius, if
  /// none is given. Collective. Throws nearfield::error for files that are not of these points, and for types that none of
  /// them has.
  void settle_pairs(ranks const& all, pair_choice& chosen, double radius, named_points& from);

  /// Prints a line for each of the restrictions.
  void print_pairs(pair_choice const& chosen, named_points const& from);
}
