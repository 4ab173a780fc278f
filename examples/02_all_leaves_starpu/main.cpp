// A whole near-field step on all cores, or on GPUs if StarPU has any: a tree, groups of its leaves, and
// StarPU tasks.

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

namespace nf = nearfield;

int main()
{
  std::size_t const n = 50000;
  std::vector<double> x(n), y(n), z(n), q(n), gx(n), gy(n), gz(n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (auto* column : {&x, &y, &z, &q})
    for (double& value : *column) value = uniform(random);

  auto const tree = nf::build_tree(nf::soa{x, y, z}, {.max_leaf_size = 64});
  nf::starpu::runtime starpu;
  auto const groups = nf::group_leaves(starpu, tree);
  nf::starpu::near_field step{starpu,     nf::grad_one_over_r<>{}, groups, nf::soa{x, y, z},
                              nf::soa{q}, nf::soa{gx, gy, gz}};
  step.submit();
  step.wait(); // gx, gy, gz are in the order of x, y, z

  for (auto const& [worker, implementation, tasks] : step.statistics())
    std::cout << worker << ": " << tasks << " tasks, " << implementation << "\n";

  // the same on this thread, over the same leaves
  std::vector<double> expected(n), ey(n), ez(n);
  nf::near_field(nf::scalar, nf::grad_one_over_r<>{}, tree, nf::soa{x, y, z}, nf::soa{q},
                 nf::soa{expected, ey, ez});

  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i)
  {
    difference = std::max(difference, std::abs(gx[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  std::cout << "largest difference: " << difference << " of " << largest << "\n";
  return difference <= 1e-12 * largest ? 0 : 1;
}
