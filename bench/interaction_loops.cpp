#include "interaction_loops.hpp"

#include <nearfield/kernels/builtin.hpp>

namespace bench
{
  namespace
  {
    namespace nf = nearfield;

    using looped =
        nf::detail::type_list<nf::one_over_r<3>, nf::val_grad_one_over_r<3>, nf::stokeslet,
                              nf::algebraic_vortex_stretching, nf::gaussian_vortex_stretching,
                              nf::yukawa, nf::val_grad_yukawa, nf::helmholtz,
                              nf::val_grad_helmholtz>;
  }

  template <class T>
  plain_function<T> plain_loop_of_builtin(int number)
  {
    plain_function<T> found = nullptr;
    looped::for_each(
        [&]<class K>
        {
          if (nf::detail::builtin_interactions::index_of<K>() == number) found = &plain_loop<K, T>;
        });
    return found;
  }
  template plain_function<float> plain_loop_of_builtin(int number);
  template plain_function<double> plain_loop_of_builtin(int number);
}
