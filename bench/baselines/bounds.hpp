#pragma once

/// \file
/// Upper bounds on the rates of interactions on a GPU.

namespace baseline
{
  /// Launches pairs of an interaction with all operands in registers; returns the number of directed pairs. The targets move
  /// between rounds, which costs 2 to 5 %.
  using bound_function = double (*)(bool mutual);

  /// Those of a group, in float and double by turns.
  template <class Group>
  bound_function const* bounds_of();

  /// That of one built-in interaction of this build.
  bound_function bound_of(int interaction, bool is_double);
}
