// Not a test by itself: compiled once for each CASE_..., for what the compiler says.

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/starpu/p2p.hpp>

namespace nf = nearfield;

int main()
{
  nf::starpu::handle const hx, hy, hz, hq, hphi;
  nf::starpu::p2p<nf::one_over_r<3>, double> p2p;
#if defined(CASE_swapped_handles)
  nf::starpu::box_handles const box{{hx, hy, hz}, hphi, hq};
#elif defined(CASE_swapped_packed_handles)
  p2p.insert_inner({hx, hphi, hq});
#elif defined(CASE_swapped_targets)
  nf::starpu::box_handles::targets const targets{hphi, hx};
#else
  nf::starpu::box_handles const box{.x = {hx, hy, hz}, .q = hq, .out = hphi};
  p2p.insert_inner({.x = hx, .q = hq, .out = hphi});
#endif
}
