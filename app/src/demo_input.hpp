#pragma once

#include "problem.hpp"

#include <string>

namespace nearfield::app
{
  /// What the demo computes on.
  struct demo_input
  {
    named_points points;
    std::string description; ///< says which it is, and why
    std::string title;
    double radius; ///< that a point is drawn with
    std::string length_unit;
    double cutoff; ///< of the radius search: some tens of neighbours a point
    /// in the picture, as UTF-8
    std::string axis_unit, potential_unit;
  };

  /// The acetylcholine-binding protein that Debian's apbs-data brings (apbs/examples/misc/achbp.pqr in
  /// one of XDG_DATA_DIRS), or, where it is missing, a seeded Plummer cloud.
  demo_input choose_demo_input();
}
