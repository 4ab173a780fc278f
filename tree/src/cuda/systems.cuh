#pragma once

#include "geometry.hpp"

#include <cstdint>

/// \file
/// The systems of a batch, as kernels take them.

namespace nearfield::detail
{
  /// What search kernels need of a system, whatever the precision of points.
  struct device_system
  {
    cell_geometry geometry;
    /// of all cells; a multiple of the group
    std::uint64_t first_cell;
    /// into the tables of images, which hold those of all systems one after another
    std::uint32_t first_image;
    /// positions, which are those of the given columns where the system begins
    std::uint32_t first_target, first_source;
  };

  /// And in the precision of the points.
  template <class T>
  struct device_system_cutoff
  {
    T cutoff_squared;
  };
}
