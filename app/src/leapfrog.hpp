#pragma once

#include <nearfield/io/points.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace nearfield::app
{
  /// Moves points by leapfrog steps: kick, drift, kick,
  ///
  ///     v += dt/2 a(x),   x += dt v,   v += dt/2 a(x),
  ///
  /// in double. Of second order in dt, and reversible: with -v the same steps lead back. (L. Verlet, Phys. Rev. 159,
  /// 98, 1967, doi:10.1103/PhysRev.159.98, in the form with velocities)
  class leapfrog
  {
  public:
    /// Sets the outputs of the points to the accelerations at their positions, a column for each axis.
    using field = std::function<void(point_set&)>;

    /// Velocities are zero if the points have none. Calls `accelerate` once. The points must outlive it.
    leapfrog(point_set& points, field accelerate, double dt)
        : points_(points), accelerate_(std::move(accelerate)), dt_(dt)
    {
      if (points.velocities.empty())
        points.velocities.assign(points.positions.size(), std::vector<double>(points.size()));
      accelerate_(points_);
    }

    /// One step. What `accelerate` throws passes through and leaves the velocities at half a step.
    void step()
    {
      add(dt_ / 2, points_.outputs, points_.velocities);
      add(dt_, points_.velocities, points_.positions);
      accelerate_(points_);
      add(dt_ / 2, points_.outputs, points_.velocities);
    }

  private:
    using columns = std::vector<std::vector<double>>;

    // to += h * rates
    static void add(double h, columns const& rates, columns& to)
    {
      for (std::size_t d = 0; d < to.size(); ++d)
        for (std::size_t i = 0; i < to[d].size(); ++i) to[d][i] += h * rates[d][i];
    }

    point_set& points_;
    field accelerate_;
    double dt_;
  };
}
