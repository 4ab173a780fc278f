// Your own interaction: a struct of about ten lines, compiled for the instruction set of this file.

#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/simd.hpp> // the SIMD back-end for interactions that are not built in

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

namespace nf = nearfield;

/// K(r) = exp(-|r| / length) / |r|, a screened (Yukawa) potential.
struct screened
{
  static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 14;
  static constexpr auto symmetry = nf::parity::even;
  static constexpr auto name = "screened";
  double length = 1;

  // radial: the loop computes 1/|r|, and passes 0 if |r| = 0
  template <class V>
  NEARFIELD_FN auto operator()(nf::vec<V, dim> const& r, V const& inv_r) const -> nf::mat<V, 1, 1>
  {
    return {{{inv_r * nf::exp(V(-1 / length) * (dot(r, r) * inv_r))}}};
  }
};

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
  std::cout << "phi in a corner: " << phi[0]
            << ", largest difference from a plain loop: " << difference << "\n";
  return difference < 1e-12 ? 0 : 1;
}
