// A user's program: one use of each installed component, and an interaction of its own.

#include "softened.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/p2p.hpp>
#ifndef WITH_every_isa
#include <nearfield/p2p/simd.hpp>
#endif
#ifdef WITH_cuda
#include <nearfield/p2p/cuda.hpp>
#endif
#ifdef WITH_tree
#include <nearfield/tree/build_tree.hpp>
#endif
#ifdef WITH_io
#include <nearfield/io/points.hpp>
#endif

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace nf = nearfield;

namespace
{
  void expect(bool holds, char const* what)
  {
    if (holds) return;
    std::cerr << "consumer: does not hold: " << what << '\n';
    std::exit(1);
  }

  bool agree(double got, double wanted)
  {
    return std::abs(got - wanted) <= 1e-13 * wanted;
  }
}

int main()
{
  std::vector<double> const x{0, 3, 0}, y{0, 4, 0}, z{0, 0, 2}, q{1, 10, 100};
  std::vector<double> phi(3), own(3);
  nf::p2p_inner(nf::simd, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{phi});
  expect(agree(phi[0], 10 / 5. + 100 / 2.), "kernels: a potential of two charges");
  nf::p2p_inner(nf::simd, my::softened{11}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{own});
  expect(agree(own[0], 10 / 6. + 100 / std::sqrt(15)), "kernels: a softened potential");
#ifdef WITH_every_isa
  for (nf::isa const which : nf::available_isas())
  {
    std::vector<double> same(3);
    nf::p2p_inner(nf::simd_backend{which}, my::softened{11}, nf::soa{x, y, z}, nf::soa{q},
                  nf::soa{same});
    expect(agree(same[0], own[0]), "kernels: the same on every instruction set");
  }
#endif
  try
  {
    nf::p2p_inner(nf::simd, nf::one_over_r<>{}, nf::soa{x, y, z}, nf::soa{q}, nf::soa<double, 1>{});
    expect(false, "kernels: an output of another size is an error");
  }
  catch (nf::error const&)
  {}

#ifdef WITH_cuda
  expect(nf::gpus().empty() == !nf::cuda_problem().empty(), "cuda: no GPU without a reason");
#ifndef NEARFIELD_HAS_CUDA
  try
  {
    nf::p2p_inner(nf::cuda, my::softened{11}, nf::soa{x, y, z}, nf::soa{q}, nf::soa{own});
    expect(false, "cuda: without CUDA a call throws");
  }
  catch (nf::error const&)
  {}
#endif
#endif

#ifdef WITH_tree
  auto const tree = nf::build_tree(nf::soa{x, y, z}, {.max_leaf_size = 1});
  expect(tree.depth() > 0, "tree: three points, one per leaf, are not one leaf");
#endif

#ifdef WITH_io
  auto const points = nf::parse_columns("x,y,z,q\n0,0,0,1\n1,0,0,-1\n", "two points");
  expect(points.size() == 2 && points.inputs.size() == 1, "io: two points with one input");
#endif
}
