// Your own interaction: a struct of about ten lines in a header, compiled for every instruction set by one line of
// CMake, nearfield_add_interaction() in ../CMakeLists.txt.

#include "screened.hpp"

#include <nearfield/p2p/check_interaction.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace nf = nearfield;

int main()
{
  // a cubic lattice
  std::vector<double> x, y, z, q, phi, mutual;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j)
      for (int k = 0; k < 10; ++k)
      {
        x.push_back(i), y.push_back(j), z.push_back(k);
        q.push_back((i + j + k) % 2 == 0 ? 1 : -1);
      }
  phi.resize(x.size());
  mutual.resize(x.size());

  screened const k{.length = 2};
  nf::p2p_inner(nf::simd, k, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi});
  nf::p2p_inner_mutual(nf::simd, k, nf::soa{x, y, z}, nf::soa{q}, nf::soa{mutual});

  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
  {
    double expected = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
    {
      if (j == i) continue;
      double const r = std::hypot(x[i] - x[j], y[i] - y[j], z[i] - z[j]);
      expected += q[j] * std::exp(-r / k.length) / r;
    }
    difference =
        std::max({difference, std::abs(phi[i] - expected), std::abs(mutual[i] - expected)});
  }
  std::string const mistakes = nf::check_interaction(nf::simd, k); // of K, for your tests
  std::cout << mistakes << "phi in a corner: " << phi[0]
            << ", largest difference from a plain loop: " << difference << "\n";
  return difference < 1e-12 && mistakes.empty() ? 0 : 1;
}
