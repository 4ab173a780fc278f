#pragma once

#include <nearfield/io/points.hpp>

#include <span>
#include <vector>

namespace nearfield::app
{
  /// sum_i m_i v_i, a component for each axis.
  std::vector<double> momentum(point_set const& points, std::span<double const> masses);

  /// sum_i m_i v_i^2 / 2
  double kinetic_energy(point_set const& points, std::span<double const> masses);

  /// The sum over all pairs i < j of q_i q_j / sqrt(|x_i - x_j|^2 + eps^2), without those at distance zero if
  /// eps = 0. A plain sum over N^2 / 2 pairs in double, on all cores; the same bits with any number of them.
  double pair_energy(point_set const& points, std::span<double const> q, double eps);

  /// sum_i m_i x_i . a_i, for the accelerations in the outputs. By the virial theorem of Clausius this is the
  /// potential energy of forces between all pairs that go as 1 / r^2, at the cost of N terms.
  double virial(point_set const& points, std::span<double const> masses);
}
