// Points that move: a tree, sums over it, and a leapfrog of your own around them, on a GPU if there is one.
//
//     example_07_points_that_move [POINTS [STEPS [FOLDER]]]        1000 points, 50 steps, no files
//     example_07_points_that_move 100000 300 .                     for a GPU
//     python3 picture.py . 300 points_that_move.png                draws the files of FOLDER, of 300 steps
//
// A Plummer sphere whose stars are too slow to hold it up falls together; a crystal of salt, given heat, melts.

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/io/points.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace nf = nearfield;

using vectors = nf::column_set<double, 3>;

struct cloud
{
  std::string name;
  double eps, dt;
  vectors x = {}, v = {}, a = {};
  std::vector<double> q = {}; // masses or charges
  bool attracts = false;      // equal signs

  void add(nf::vec<double, 3> const& place, nf::vec<double, 3> const& velocity, double of)
  {
    for (int d = 0; d < 3; ++d)
    {
      x.columns[d].push_back(place[d]);
      v.columns[d].push_back(velocity[d]);
      a.columns[d].push_back(0);
    }
    q.push_back(of);
  }
  // inert masses are 1 for ions
  [[nodiscard]] double mass(std::size_t i) const { return attracts ? q[i] : 1; }
};

// With a quarter of the speeds of equilibrium. (S. J. Aarseth, M. Henon, R. Wielen, Astron. Astrophys. 37, 183, 1974)
cloud plummer_sphere(std::size_t n)
{
  cloud made{.name = "plummer", .eps = 0.05, .dt = 0.01, .attracts = true};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  auto const on_sphere = [&](double radius)
  {
    double const z = 2 * uniform(random) - 1, angle = 2 * std::numbers::pi * uniform(random);
    double const rho = radius * std::sqrt(1 - z * z);
    return nf::vec<double, 3>{rho * std::cos(angle), rho * std::sin(angle), radius * z};
  };
  while (made.q.size() < n)
  {
    double const r = 1 / std::sqrt(std::pow(uniform(random), -2.0 / 3) - 1);
    double const s = uniform(random), density = s * s * std::pow(1 - s * s, 3.5);
    if (r > 5 || 0.1 * uniform(random) > density) continue;
    made.add(on_sphere(r), on_sphere(0.25 * s * std::sqrt(2 / std::sqrt(1 + r * r))),
             1.0 / double(n));
  }
  return made;
}

cloud salt_crystal(std::size_t n)
{
  cloud made{.name = "salt", .eps = 0.4, .dt = 0.02};
  std::mt19937_64 random(2);
  std::normal_distribution<double> heat(0, 0.45);
  auto const side = static_cast<int>(std::cbrt(double(n)) + 0.5);
  double const centre = 0.5 * (side - 1);
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k)
        made.add({i - centre, j - centre, k - centre}, {heat(random), heat(random), heat(random)},
                 (i + j + k) % 2 == 0 ? 1 : -1);
  return made;
}

// sum_j q_j (x_i - x_j) / (r^2 + eps^2)^(3/2) for all i. The boxes of level 1 all touch, so j runs over all points;
// with a deeper tree, or .max_leaf_size, over those near i.
constexpr nf::tree_options<3> cut{.level = 1};

void sum_on_cpu(cloud& c)
{
  auto const tree = nf::build_tree(c.x.view(), cut);
  nf::near_field(nf::simd, nf::r_over_r3<3>{c.eps}, tree, c.x.view(), nf::soa{c.q}, c.a.view(),
                 {.form = nf::pair_form::automatic});
}

// The tree is rebuilt in place. A program whose own kernels move the points leaves out the copies.
class sum_on_gpu
{
public:
  explicit sum_on_gpu(cloud const& c) : q_(std::span<double const>(c.q)), out_(c.q.size()) {}

  void operator()(cloud& c)
  {
    nf::device_columns<double, 3> const x(c.x.view());
    if (tree_)
      tree_->rebuild(x.view());
    else
      tree_.emplace(nf::build_tree(nf::cuda, x.view(), cut));
    nf::near_field(nf::cuda, nf::r_over_r3<3>{c.eps}, *tree_, x.view(),
                   nf::soa<double const, 1>({q_.data()}, q_.size()), out_.view());
    out_.copy_to(c.a.view());
  }

private:
  nf::device_array<double> const q_;
  nf::device_columns<double, 3> out_;
  std::optional<nf::cuda_tree<3>> tree_;
};

using summation = std::function<void(cloud&)>;

void accelerate(cloud& c, summation const& sum_over_pairs)
{
  sum_over_pairs(c);
  for (auto& column : c.a.columns)
    for (std::size_t i = 0; i < column.size(); ++i) column[i] *= c.attracts ? -1 : c.q[i];
}

void add(double h, vectors const& rates, vectors& to)
{
  for (int d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < to.size(); ++i) to.columns[d][i] += h * rates.columns[d][i];
}

// kinetic and potential, by a plain loop over all pairs
double energy(cloud const& c)
{
  double sum = 0;
  auto const x = c.x.view(), v = c.v.view();
  for (std::size_t i = 0; i < c.q.size(); ++i)
  {
    for (int d = 0; d < 3; ++d) sum += c.mass(i) * v[d][i] * v[d][i] / 2;
    for (std::size_t j = 0; j < i; ++j)
    {
      double r2 = c.eps * c.eps;
      for (int d = 0; d < 3; ++d) r2 += (x[d][i] - x[d][j]) * (x[d][i] - x[d][j]);
      sum += (c.attracts ? -1 : 1) * c.q[i] * c.q[j] / std::sqrt(r2);
    }
  }
  return sum;
}

void write(std::filesystem::path const& folder, cloud const& c, std::string const& when)
{
  nf::point_set points;
  points.positions.assign(c.x.columns.begin(), c.x.columns.end());
  points.velocities.assign(c.v.columns.begin(), c.v.columns.end());
  points.inputs = {c.q};
  nf::write_points(folder / (c.name + "_" + when + ".csv"), points);
}

// Returns whether the energy is kept.
bool move(cloud c, int steps, summation const& sum_over_pairs, std::string const& folder)
{
  bool const has_energy = c.q.size() >= 2 && c.q.size() <= 20000; // for a plain loop
  double const first = has_energy ? energy(c) : 0;
  if (!folder.empty()) write(folder, c, "first");
  accelerate(c, sum_over_pairs);
  for (int k = 0; k < steps; ++k)
  {
    add(c.dt / 2, c.a, c.v);
    add(c.dt, c.v, c.x);
    accelerate(c, sum_over_pairs);
    add(c.dt / 2, c.a, c.v);
  }
  if (!folder.empty()) write(folder, c, "last");
  std::cout << c.name << ": " << c.q.size() << " points, " << steps << " steps of " << c.dt;
  if (has_energy)
  {
    double const drift = std::abs(energy(c) / first - 1);
    std::cout << ", energy " << first << ", relative drift " << drift << "\n";
    return steps < 1 || (drift > 0 && drift < 1e-3);
  }
  std::cout << "\n";
  return true;
}

int main(int argc, char** argv)
try
{
  std::size_t const n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  int const steps = argc > 2 ? std::atoi(argv[2]) : 50;
  std::string const folder = argc > 3 ? argv[3] : "";
  bool const has_gpu = !nf::gpus().empty();
  std::cout << "on " << (has_gpu ? nf::gpus()[0].name : "the CPU: " + nf::cuda_problem()) << "\n";
  bool good = true;
  for (auto const& made : {plummer_sphere(n), salt_crystal(n)})
  {
    std::optional<sum_on_gpu> on_gpu;
    if (has_gpu) on_gpu.emplace(made);
    summation const sum_over_pairs = has_gpu ? summation(std::ref(*on_gpu)) : sum_on_cpu;
    good = move(made, steps, sum_over_pairs, folder) && good;
  }
  return good ? 0 : 1;
}
catch (nf::error const& failure)
{
  std::cerr << failure.what() << "\n";
  return 1;
}
