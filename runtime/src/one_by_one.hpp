#pragma once

#include <nearfield/p2p/cuda_job.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/starpu/kernel_of.hpp>

#include <cstddef>
#include <vector>

/// \file
/// For kernels that ignore n_rhs: a job of several right-hand sides as one job for each of them.

namespace nearfield::starpu::detail
{
  /// The columns of one right-hand side, n for each of several sets; none if there are none.
  template <class Column>
  std::vector<Column> columns_of(int rhs, Column const* all, int n_rhs, int n_sets, int n)
  {
    std::vector<Column> result;
    for (int set = 0; all && set < n_sets; ++set)
      for (int c = 0; c < n; ++c) result.push_back(all[(set * n_rhs + rhs) * n + c]);
    return result;
  }

  /// Calls launch(job) for each right-hand side of a job whose sources lie in n_sets sets of columns.
  template <class Job, class Launch>
  void one_by_one(interaction_shape const& k, Job const& all, int n_sets, Launch const& launch)
  {
    if (all.n_rhs == 1) return launch(all);
    for (int rhs = 0; rhs < all.n_rhs; ++rhs)
    {
      auto const of = [&](auto const* columns, int sets, int n)
      {
        return columns_of(rhs, columns, all.n_rhs, sets, n);
      };
      auto const or_null = [](auto const& columns)
      {
        return columns.empty() ? nullptr : columns.data();
      };
      auto const target_q = of(all.target_q, 1, k.n_in),
                 source_q = of(all.source_q, n_sets, k.n_in);
      auto const target_out = of(all.target_out, 1, k.n_out);
      Job job = all;
      job.n_rhs = 1;
      job.target_q = or_null(target_q);
      job.source_q = or_null(source_q);
      job.target_out = or_null(target_out);
      if constexpr (requires { job.source_out; })
      {
        auto const source_out = of(all.source_out, n_sets, k.n_out);
        job.source_out = or_null(source_out);
        launch(job);
      }
      else
      {
        auto const halo_out = of(all.halo_out, 1, k.n_out);
        job.halo_out = or_null(halo_out);
        launch(job);
      }
    }
  }
}
