#include "energy.hpp"

#include <nearfield/core/where.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace nearfield::app
{
  namespace
  {
    constexpr std::size_t block = 8; // rows that a vector instruction may share

    // sum over j < i of q_j / sqrt(|x_i - x_j|^2 + eps^2), times q_i, over the rows i of a block
    template <int Dim>
    double block_energy(std::array<double const*, Dim> const& x, std::span<double const> q,
                        double eps2, std::size_t first)
    {
      std::size_t const n = q.size();
      double sums[block] = {}, own[Dim][block];
      for (int d = 0; d < Dim; ++d)
        for (std::size_t l = 0; l < block; ++l) own[d][l] = x[d][std::min(first + l, n - 1)];
      auto const add = [&](std::size_t j, auto is_pair)
      {
        for (std::size_t l = 0; l < block; ++l)
        {
          double r2 = eps2;
          for (int d = 0; d < Dim; ++d) r2 += (own[d][l] - x[d][j]) * (own[d][l] - x[d][j]);
          double const term = q[j] / std::sqrt(r2);
          sums[l] += is_pair(l) && r2 > 0 ? term : 0;
        }
      };
      for (std::size_t j = 0; j < first; ++j) add(j, [](std::size_t) { return true; });
      for (std::size_t j = first; j < std::min(first + block, n); ++j)
        add(j, [&](std::size_t l) { return j < first + l; });
      double sum = 0;
      for (std::size_t l = 0; l < std::min(block, n - first); ++l) sum += q[first + l] * sums[l];
      return sum;
    }

    template <int Dim>
    double sum_over_pairs(point_set const& points, std::span<double const> q, double eps2)
    {
      std::array<double const*, Dim> x;
      for (int d = 0; d < Dim; ++d) x[d] = points.positions[d].data();
      std::vector<double> sums((q.size() + block - 1) / block);
      // strided, since later blocks have more pairs
      threads all(std::numeric_limits<int>::max());
      auto const n_threads =
          std::min(static_cast<std::size_t>(all.workers()), 1 + sums.size() / 64);
      all.run(static_cast<int>(n_threads),
              [&](int thread)
              {
                for (auto b = static_cast<std::size_t>(thread); b < sums.size(); b += n_threads)
                  sums[b] = block_energy<Dim>(x, q, eps2, b * block);
              });
      double sum = 0;
      for (double const each : sums) sum += each;
      return sum;
    }
  }

  std::vector<double> momentum(point_set const& points, std::span<double const> masses)
  {
    std::vector<double> sums;
    for (auto const& column : points.velocities)
    {
      double sum = 0;
      for (std::size_t i = 0; i < column.size(); ++i) sum += masses[i] * column[i];
      sums.push_back(sum);
    }
    return sums;
  }

  double kinetic_energy(point_set const& points, std::span<double const> masses)
  {
    double sum = 0;
    for (auto const& column : points.velocities)
      for (std::size_t i = 0; i < column.size(); ++i) sum += masses[i] * column[i] * column[i];
    return sum / 2;
  }

  double pair_energy(point_set const& points, std::span<double const> q, double eps)
  {
    return points.dim == 2 ? sum_over_pairs<2>(points, q, eps * eps)
                           : sum_over_pairs<3>(points, q, eps * eps);
  }

  double virial(point_set const& points, std::span<double const> masses)
  {
    double sum = 0;
    // about a point of the set: the forces add up to zero but for rounding, which a far origin would multiply
    for (std::size_t d = 0; d < points.positions.size(); ++d)
      for (std::size_t i = 0; i < points.size(); ++i)
        sum += masses[i] * (points.positions[d][i] - points.positions[d][0]) * points.outputs[d][i];
    return sum;
  }
}
