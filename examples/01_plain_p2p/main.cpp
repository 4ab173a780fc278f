// Kernels on plain arrays: all pairs of points.

// [p2p_inner]
#include <nearfield/p2p/p2p.hpp>
// [p2p_inner]

#include <cmath>
#include <iostream>
#include <vector>

namespace nf = nearfield;

int main()
{
  // alternating charges +1 and -1 on a line, one unit of length apart
  std::vector<double> x, y, z, q, phi;
  for (int i = 0; i < 1001; ++i)
  {
    x.push_back(i);
    y.push_back(0);
    z.push_back(0);
    q.push_back(i % 2 == 0 ? 1 : -1);
    phi.push_back(0); // kernels add to their outputs
  }

  // [p2p_inner]
  nf::p2p_inner(nf::simd, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi});
  // [p2p_inner]

  // at the middle charge each side contributes an alternating harmonic series: -2 (1 - 1/2 + 1/3 - ...)
  double expected = 0;
  for (int k = 500; k >= 1; --k) expected += (k % 2 == 0 ? 2.0 : -2.0) / k;
  std::cout << "phi in the middle: " << phi[500] << ", expected " << expected << "\n";
  return std::abs(phi[500] - expected) < 1e-12 ? 0 : 1;
}
