// The time loop of `nearfield run --move`, against a serial leapfrog of this file's own.
#include "time_loop.hpp"

#include <cmath>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  // The reference: all pairs, or those whose boxes, of 4 an axis in [-1, 1], touch.
  struct reference
  {
    point_set points;
    bool is_gravity;
    double eps;
    bool near_only = false;
    columns a = {};

    [[nodiscard]] double mass(std::size_t i) const
    {
      if (is_gravity) return points.inputs[0][i];
      return points.masses.empty() ? 1 : points.masses[i];
    }

    void accelerate()
    {
      auto const& q = points.inputs[0];
      a.assign(points.positions.size(), std::vector<double>(points.size()));
      for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = 0; j < points.size(); ++j)
        {
          double r2 = eps * eps;
          bool touch = true;
          for (auto const& x : points.positions)
          {
            r2 += (x[i] - x[j]) * (x[i] - x[j]);
            touch = touch && std::abs(box(x[i]) - box(x[j])) <= 1;
          }
          if (i == j || r2 == 0 || (near_only && !touch)) continue;
          double const f = (is_gravity ? -q[j] : q[i] * q[j] / mass(i)) / (r2 * std::sqrt(r2));
          for (std::size_t d = 0; d < a.size(); ++d)
            a[d][i] += f * (points.positions[d][i] - points.positions[d][j]);
        }
    }

    static double box(double x) { return std::min(3.0, std::floor((x + 1) * 2)); }

    void run(int steps, double dt)
    {
      auto const add = [](double h, columns const& rates, columns& to)
      {
        for (std::size_t d = 0; d < to.size(); ++d)
          for (std::size_t i = 0; i < to[d].size(); ++i) to[d][i] += h * rates[d][i];
      };
      accelerate();
      for (int k = 0; k < steps; ++k)
      {
        add(dt / 2, a, points.velocities);
        add(dt, points.velocities, points.positions);
        accelerate();
        add(dt / 2, a, points.velocities);
      }
    }

    [[nodiscard]] double energy() const
    {
      double sum = 0;
      auto const& q = points.inputs[0];
      for (std::size_t i = 0; i < points.size(); ++i)
      {
        for (auto const& v : points.velocities) sum += mass(i) * v[i] * v[i] / 2;
        for (std::size_t j = 0; j < i; ++j)
        {
          double r2 = eps * eps;
          for (auto const& x : points.positions) r2 += (x[i] - x[j]) * (x[i] - x[j]);
          sum += (is_gravity ? -1 : 1) * q[i] * q[j] / std::sqrt(r2);
        }
      }
      return sum;
    }
  };

  void expect_near(columns const& got, columns const& expected, double tolerance)
  {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t d = 0; d < got.size(); ++d)
      for (std::size_t i = 0; i < got[d].size(); ++i)
        ASSERT_NEAR(got[d][i], expected[d][i], tolerance) << "point " << i << ", axis " << d;
  }
}

class in_two_and_three : public testing::TestWithParam<int>
{};
INSTANTIATE_TEST_SUITE_P(dim, in_two_and_three, testing::Values(2, 3));

TEST_P(in_two_and_three, trajectories_and_energies_are_those_of_the_reference)
{
  temporary_folder const folder;
  for (auto const* force : {"gravity", "charges"})
    for (auto const* eps : {"0", "0.3"})
    {
      bool const is_gravity = std::string(force) == "gravity";
      reference serial{cluster(GetParam(), 40, !is_gravity), is_gravity, std::stod(eps)};
      write_points(folder / "a.csv", serial.points);
      double const first = serial.energy();
      // without softening they soon meet, and rounding grows
      int const steps = serial.eps == 0 ? 10 : 60;
      double const dt = serial.eps == 0 ? 0.0005 : 0.005;
      serial.run(steps, dt);
      auto const got = move(folder, "a.csv", force, steps, dt,
                            {"--level", serial.eps == 0 ? "0" : "1", // all pairs both
                             "--param", std::string("eps=") + eps});
      expect_near(got.points.positions, serial.points.positions, 1e-11);
      expect_near(got.points.velocities, serial.points.velocities, 1e-10);
      expect_near(got.points.outputs, serial.a, 1e-7);
      EXPECT_NEAR(std::stod(got.json.at("energy.first")), first, 1e-11) << force << eps;
      EXPECT_NEAR(std::stod(got.json.at("energy.last")), serial.energy(), 1e-9) << force << eps;
      double const drift = serial.energy() - first;
      EXPECT_NE(drift, 0);
      EXPECT_NEAR(std::stod(got.json.at("energy.last")) - std::stod(got.json.at("energy.first")),
                  drift, 1e-9);
      for (int d = 0; d < GetParam(); ++d)
      {
        double sum = 0;
        for (std::size_t i = 0; i < serial.points.size(); ++i)
          sum += serial.mass(i) * cluster(GetParam(), 40, !is_gravity).velocities[d][i];
        for (auto const* when : {"first.", "last."})
          EXPECT_NEAR(std::stod(got.json.at(std::string("momentum.") + when + std::to_string(d))),
                      sum, 1e-11);
      }
    }
}

TEST(time_loop, near_field_of_a_tree_of_the_present_positions)
{
  temporary_folder const folder;
  reference serial{cluster(3, 300, true), false, 0.2, true};
  // the root of each step is the box around the corners, which stay
  for (std::size_t d = 0; d < 3; ++d)
  {
    for (double& x : serial.points.positions[d]) x *= 0.8;
    for (std::size_t i = 0; i < 2; ++i)
    {
      serial.points.positions[d][i] = i == 0 ? -1 : 1;
      serial.points.velocities[d][i] = 0;
    }
  }
  serial.points.masses[0] = serial.points.masses[1] = 1e30;
  write_points(folder / "a.csv", serial.points);
  auto const start = serial.points;
  serial.run(20, 0.01);
  std::vector<std::vector<std::string>> ways{{"--workers", "0"},
                                             {"--workers", "0", "--backend", "scalar"}};
#if NEARFIELD_APP_HAS_STARPU
  ways.push_back({"--workers", "2"});
#endif
  for (auto options : ways)
  {
    options.insert(options.end(), {"--level", "2", "--param", "eps=0.2"});
    auto const got = move(folder, "a.csv", "charges", 20, 0.01, options);
    expect_near(got.points.positions, serial.points.positions, 1e-10);
    EXPECT_EQ(got.json.at("energy"), "null");
    EXPECT_EQ(got.json.at("steps"), "20");
    if (options[1] == "2")
    {
      int tasks = 0;
      for (int w = 0; got.json.contains("tasks." + std::to_string(w) + ".tasks"); ++w)
        tasks += std::stoi(got.json.at("tasks." + std::to_string(w) + ".tasks"));
      EXPECT_GE(tasks, 21); // of all steps, and of the accelerations at first
    }
  }
  // points do cross borders of boxes
  serial.near_only = false;
  serial.points = start;
  serial.run(20, 0.01);
  EXPECT_GT(
      std::abs(serial.points.positions[0][5] - read_points(folder / "out.csv").positions[0][5]),
      1e-6);
}

TEST(time_loop, f32_rounds_the_sums_only)
{
  temporary_folder const folder;
  reference serial{cluster(3, 40, false), true, 0.3};
  write_points(folder / "a.csv", serial.points);
  serial.run(20, 0.01);
  auto const got = move(folder, "a.csv", "gravity", 20, 0.01,
                        {"--level", "0", "--param", "eps=0.3", "--precision", "f32"});
  expect_near(got.points.positions, serial.points.positions, 1e-5);
}

TEST(time_loop, goes_on_from_its_output_to_the_bit)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", cluster(3, 100, true));
  auto const whole = move(folder, "a.csv", "charges", 10, 0.01, {"--max-leaf-size", "10"});
  move(folder, "a.csv", "charges", 4, 0.01, {"--max-leaf-size", "10"});
  std::filesystem::rename(folder / "out.csv", folder / "b.csv");
  EXPECT_EQ(move(folder, "b.csv", "charges", 6, 0.01, {"--max-leaf-size", "10"}).points,
            whole.points);
}

TEST(time_loop, leads_back_with_reversed_velocities)
{
  temporary_folder const folder;
  auto const start = cluster(3, 60, true);
  write_points(folder / "a.csv", start);
  std::vector<std::string> const options{"--level", "0", "--param", "eps=0.2"};
  auto there = move(folder, "a.csv", "charges", 40, 0.01, options).points;
  EXPECT_GT(std::abs(there.positions[0][0] - start.positions[0][0]), 1e-3);
  for (auto& column : there.velocities)
    for (double& v : column) v = -v;
  write_points(folder / "b.csv", there);
  auto const back = move(folder, "b.csv", "charges", 40, 0.01, options).points;
  expect_near(back.positions, start.positions, 1e-11);
}

TEST(time_loop, a_circular_orbit_of_two)
{
  temporary_folder const folder;
  // at distance 2 around masses 1 each: v = 1/2, a period of 4 pi
  write_text(folder / "a.csv", "x,y,m,vx,vy\n1,0,1,0,0.5\n-1,0,1,0,-0.5\n");
  auto const got = move(folder, "a.csv", "gravity", 1000, 0.012566370614, {}).points;
  expect_near(got.positions, {{1, -1}, {0, 0}}, 1e-3);
  expect_near(got.velocities, {{0, 0}, {0.5, -0.5}}, 1e-3);
  EXPECT_TRUE(read_text(folder / "out.csv").starts_with("x,y,vx,vy,m,ax,ay\n")) << "input order";
}

TEST(time_loop, columns_of_the_output)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "m,q,z,y,x,phi\n2,1,0,0,0,9\n4,-3,0,0,2,9\n");
  auto const got = move(folder, "a.csv", "charges", 1, 0.5, {}).points;
  EXPECT_TRUE(read_text(folder / "out.csv").starts_with("x,y,z,vx,vy,vz,m,q,ax,ay,az\n"));
  EXPECT_EQ(got.masses, (std::vector<double>{2, 4}));
  // a = q_i / m_i q_j r / r^3: 3/8 and -3/16; x += dt^2 a / 2
  EXPECT_NEAR(got.positions[0][0], 0.375 / 8, 1e-15);
  EXPECT_NEAR(got.positions[0][1], 2 - 0.1875 / 8, 1e-15);
  // masses 1 without a column m
  write_text(folder / "a.csv", "x,y,z,q\n0,0,0,1\n2,0,0,-3\n");
  EXPECT_NEAR(move(folder, "a.csv", "charges", 1, 0.5, {}).points.positions[0][0], 0.75 / 8, 1e-15);
}

TEST(time_loop, points_at_one_place_and_single_points)
{
  temporary_folder const folder;
  std::string equal = "x,y,z,q,vx,vy,vz\n";
  for (int i = 0; i < 100; ++i) equal += "1,2,3,4,1,0,-1\n";
  write_text(folder / "equal.csv", equal);
  write_text(folder / "one.csv", "x,y,z,q,vx,vy,vz\n1,2,3,4,1,0,-1\n");
  write_text(folder / "none.fma", "8 4 3 1\n0 1 0 0 0\n");
  for (auto const* name : {"equal.csv", "one.csv"})
    for (auto const* eps : {"eps=0", "eps=0.5"})
    {
      auto const got = move(folder, name, "gravity", 4, 0.25, {"--param", eps}).points;
      EXPECT_EQ(got.positions[0], std::vector<double>(got.size(), 2));
      EXPECT_EQ(got.positions[2], std::vector<double>(got.size(), 2));
    }
  EXPECT_EQ(move(folder, "none.fma", "gravity", 2, 1, {"--level", "0"}).points.size(), 0u);
}

TEST(time_loop, points_leave_the_box_of_their_file)
{
  temporary_folder const folder;
  auto points = cluster(3, 20, false);
  points.velocities.clear();
  points.box = point_set::bounding_box{{0, 0, 0}, 1};
  points.inputs[0].assign(20, -1);
  write_points(folder / "a.fma", points);
  auto const got = move(folder, "a.fma", "charges", 20, 0.1, {"--param", "eps=0.1"}).points;
  EXPECT_GT(*std::max_element(got.positions[0].begin(), got.positions[0].end()), 1.1);
  expect_refusal(run_program(motion(folder / "a.fma", "charges", 20, 0.1,
                                    {"--param", "eps=0.1", "--box", "0,0,0,1", "--workers", "0"})),
                 "step [0-9]+: .*a.fma: point [0-9]+ has [xyz] = .*outside the box");
}
