// The integrator, the progress bar and the energies by themselves; what the program does with them is in
// time_loop_test.cpp.
#include "energy.hpp"
#include "motion.hpp"
#include "progress.hpp"

#include "points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

using namespace nearfield;
using namespace nearfield::app;
using namespace nearfield::test;

namespace
{
  using vectors = std::vector<std::vector<double>>;

  // a = -x / |x|^3 for every point on its own, towards the origin
  vectors attract(vectors const& positions)
  {
    auto pulls = positions;
    for (std::size_t i = 0; i < positions[0].size(); ++i)
    {
      double const r = std::hypot(positions[0][i], positions[1][i]);
      for (auto& column : pulls) column[i] /= -(r * r * r);
    }
    return pulls;
  }

  /// Points that move by accelerate(positions).
  struct moving_points
  {
    explicit moving_points(point_set const& points, double dt,
                           std::function<vectors(vectors const&)> const& accelerate = attract)
        : of{.name = "points", .points = points},
          loop(make_host_motion(alone, of, dt, std::vector<double>(points.size(), 1),
                                [this, accelerate]
                                {
                                  run_result result;
                                  result.outputs = accelerate(of.points.positions);
                                  return result;
                                }))
    {}

    ranks alone;
    named_points of;
    std::unique_ptr<motion> loop;
  };

  // The position at time 1.5 of a point on an ellipse of eccentricity 0.36.
  std::array<double, 2> ellipse_after(int steps)
  {
    point_set const points{.dim = 2, .positions = {{1}, {0}}, .velocities = {{0}, {0.8}}};
    moving_points moved(points, 1.5 / steps);
    for (int k = 0; k < steps; ++k) moved.loop->step();
    auto const& x = moved.of.points.positions;
    return {x[0][0], x[1][0]};
  }

  point_set random_cluster(int dim, std::size_t n)
  {
    random_numbers random(7);
    point_set points{.dim = dim};
    auto const columns = [&](int count)
    {
      std::vector<std::vector<double>> all(static_cast<std::size_t>(count), std::vector<double>(n));
      for (auto& column : all)
        for (double& value : column) value = random.uniform(-1, 1);
      return all;
    };
    points.positions = columns(dim);
    points.velocities = columns(dim);
    points.inputs = columns(1);
    return points;
  }
}

TEST(leapfrog, moves_as_written)
{
  int calls = 0;
  moving_points moved({.dim = 2, .positions = {{1, 2}, {3, 4}}}, 0.5,
                      [&](vectors const& positions)
                      {
                        ++calls;
                        return positions;
                      });
  auto const& points = moved.of.points;
  EXPECT_EQ(points.velocities, (vectors{{0, 0}, {0, 0}}));
  EXPECT_EQ(calls, 1);
  moved.loop->step();
  EXPECT_EQ(calls, 2);
  // v = a/4, x += v/2, v += a/4
  EXPECT_EQ(points.positions[0][0], 1.125);
  EXPECT_EQ(points.velocities[0][0], 0.25 + 1.125 / 4);
  EXPECT_EQ(points.positions[1][1], 4.5);
  EXPECT_EQ(points.outputs, points.positions);
}

TEST(leapfrog, is_of_second_order)
{
  auto const exact = ellipse_after(1 << 14); // error 2^-14 of that of 128 steps
  auto const error = [&](int steps)
  {
    auto const x = ellipse_after(steps);
    return std::hypot(x[0] - exact[0], x[1] - exact[1]);
  };
  for (int const steps : {64, 128}) EXPECT_NEAR(error(steps) / error(2 * steps), 4, 0.05);
}

TEST(leapfrog, leads_back)
{
  point_set points{.dim = 2, .positions = {{1, 0.5}, {0, 1}}, .velocities = {{0, 0.3}, {0.8, -1}}};
  auto const start = points;
  auto const run = [&]
  {
    moving_points moved(points, 0.01);
    for (int k = 0; k < 500; ++k) moved.loop->step();
    points = moved.of.points;
    for (auto& column : points.velocities)
      for (double& v : column) v = -v;
  };
  run();
  EXPECT_GT(std::abs(points.positions[0][0] - 1), 0.1);
  run();
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t i = 0; i < 2; ++i)
    {
      EXPECT_NEAR(points.positions[d][i], start.positions[d][i], 1e-11);
      EXPECT_NEAR(points.velocities[d][i], start.velocities[d][i], 1e-11);
    }
}

TEST(leapfrog, keeps_a_circle)
{
  int const steps = 1000;
  moving_points moved({.dim = 2, .positions = {{1}, {0}}, .velocities = {{0}, {1}}},
                      2 * std::numbers::pi / steps);
  auto const& points = moved.of.points;
  for (int k = 0; k < steps; ++k)
  {
    moved.loop->step();
    ASSERT_NEAR(std::hypot(points.positions[0][0], points.positions[1][0]), 1, 1e-4);
  }
  EXPECT_NEAR(points.positions[0][0], 1, 1e-4);
  EXPECT_NEAR(points.positions[1][0], 0, 1e-3);
}

// Sizes around the blocks of the sum, coincident points included.
TEST(energy, of_pairs_is_the_plain_sum)
{
  for (int const dim : {2, 3})
    for (std::size_t const n : {0u, 1u, 2u, 7u, 8u, 9u, 40u, 1100u})
      for (double const eps : {0.0, 0.1})
      {
        auto points = random_cluster(dim, n);
        if (n > 8)
          for (auto& column : points.positions) column[8] = column[3];
        auto const& q = points.inputs[0];
        long double expected = 0, size = 0;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < i; ++j)
          {
            long double r2 = static_cast<long double>(eps) * eps;
            for (auto const& x : points.positions)
              r2 +=
                  (static_cast<long double>(x[i]) - x[j]) * (static_cast<long double>(x[i]) - x[j]);
            if (r2 == 0) continue;
            expected += q[i] * q[j] / std::sqrt(r2);
            size += std::abs(q[i] * q[j]) / std::sqrt(r2);
          }
        EXPECT_NEAR(pair_energy(points, q, eps), static_cast<double>(expected),
                    1e-14 * static_cast<double>(size))
            << dim << "D, " << n << " points";
      }
}

TEST(energy, kinetic_energy_momentum_and_virial)
{
  point_set const points{.dim = 2,
                         .positions = {{1, 2}, {3, 5}},
                         .velocities = {{1, 3}, {-2, 4}},
                         .outputs = {{1, -1}, {2, 1.5}}};
  std::vector<double> const masses{2, 4};
  EXPECT_EQ(kinetic_energy(points, masses), (2 * 5 + 4 * 25) / 2.0);
  EXPECT_EQ(momentum(points, masses), (std::vector<double>{14, 12}));
  // about the first point
  EXPECT_EQ(virial(points, masses), 4 * (-1 + 2 * 1.5));
}

TEST(progress, says_how_far_how_fast_and_how_long)
{
  EXPECT_EQ(progress_line(0, 40, 0), "[--------------------]   0 %, 0 of 40 steps");
  EXPECT_EQ(progress_line(10, 40, 4),
            "[#####---------------]  25 %, 10 of 40 steps, 2.5 steps/s, 12 s left");
  EXPECT_EQ(progress_line(40, 40, 4),
            "[####################] 100 %, 40 of 40 steps, 10 steps/s, 0 s left");
  EXPECT_THAT(progress_line(1, 126, 1), testing::EndsWith(", 1 steps/s, 2 min 05 s left"));
  EXPECT_THAT(progress_line(1, 2, 3 * 3600 + 7 * 60), testing::EndsWith(" 3 h 07 min left"));
  EXPECT_THAT(progress_line(1, std::uint64_t(-1), 1), testing::EndsWith(" years left"));
}
