#include "builtin.hpp"

#include <nearfield/p2p/backend.hpp>

namespace nearfield::detail
{
  template <class T>
  cuda_kernels<T> builtin_cuda_kernels(int interaction)
  {
    cuda_kernels<T> kernels;
    type_list<NEARFIELD_GROUPS>::for_each(
        [&]<class Group>()
        {
          int const at = interaction - first_of_group<Group>();
          if (at >= 0 && at < Group::size) kernels = cuda_builtins<Group, T>()[at];
        });
    if (kernels.one_sided == nullptr) refuse_left_out(interaction);
    return kernels;
  }
  template cuda_kernels<float> builtin_cuda_kernels(int);
  template cuda_kernels<double> builtin_cuda_kernels(int);
}
