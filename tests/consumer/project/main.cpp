// A user's program: one call of each installed component.

#include <nearfield/p2p/isa.hpp>
#ifdef WITH_io
#include <nearfield/io/read.hpp>
#endif

#include <cstdlib>
#include <iostream>

namespace
{
  void expect(bool holds, char const* what)
  {
    if (holds) return;
    std::cerr << "consumer: " << what << " does not hold\n";
    std::exit(1);
  }
}

int main()
{
  namespace nf = nearfield;
  expect(!nf::available_isas().empty(), "kernels: some instruction set is available");

#ifdef WITH_io
  auto const points = nf::parse_columns("x,y,z,q\n0,0,0,1\n1,0,0,-1\n", "two points");
  expect(points.size() == 2 && points.inputs.size() == 1, "io: two points with one input");
#endif
}
