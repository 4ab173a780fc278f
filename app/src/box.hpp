#pragma once

#include "options.hpp"

#include <nearfield/core/cell.hpp>

#include <span>

/// \file
/// The box that points repeat in, as --cell and --pbc give it.

namespace nearfield::app
{
  struct named_points;

  /// Throws nearfield::error for options that contradict each other, before a file is read.
  void check_box_options(file_options const& options);

  /// Takes the box of the files, if --cell asks for it; `sources` may be null. Throws nearfield::error for a box that is
  /// not one of these points.
  void settle_box(file_options& options, named_points const& targets, named_points const* sources);

  /// The box of points from whose coordinates `origin` is subtracted; empty: zeros.
  template <int Dim>
  cell<Dim> box_of(cell_choice const& chosen, std::span<double const> origin = {});
}
