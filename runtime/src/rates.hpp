#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu/kernel_of.hpp>

namespace nearfield::starpu::detail
{
  using nearfield::detail::leaf_groups_view;

  /// The directed pairs of these leaves that one CPU worker (scalar, simd) computes in a second while all do, or one GPU
  /// (cuda), from what a leaf costs there: measured at first use and kept (p2p/pair_cost.hpp). Throws nearfield::error
  /// for an instruction set that is not available.
  template <class T>
  NEARFIELD_API double rate_of(kernel<T> const& k, pair_form form, backend where,
                               leaf_groups_view const& leaves);

  /// The same for large boxes from a table, at once.
  template <class T>
  NEARFIELD_API double rough_rate_of(kernel<T> const& k, backend where);

  /// The number of StarPU's workers that share a GPU, at least 1.
  NEARFIELD_API int workers_of_a_gpu();
}
