#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>

/// \file
/// P2P on arrays: the interaction of all points of one set, or of two. Each function takes where to run
/// first, what to compute, inputs, outputs last, and *adds* to its outputs.
///
/// Several right-hand sides: q may have k * n_in columns and the outputs k * n_out, right-hand side
/// after right-hand side.
///
/// A pair at distance zero contributes zero for a singular interaction (is_singular) and counts for a
/// regular one; p2p_inner leaves i = j out in either case. Results hold wherever |r|^2 and the powers
/// of 1/|r| in K are normal numbers of the precision, and 2^12 times the sums finite (a loop may leave a
/// factor of 16 in the root). All of them are re-entrant. They throw error for views that differ in size,
/// are null, or whose outputs overlap other columns.

namespace nearfield
{
  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// One box that meets one range.
    template <class T, class K>
    struct single_box
    {
      index_type offsets[2];
      source_range own;
      index_type no_ranges[2] = {0, 0};
      source_range no_range;

      /// Throws error for more points than one box can hold.
      /// Throws error for more points than one box can hold: those of a box are counted in int.
      single_box(std::size_t targets, std::size_t sources)
          : offsets{0, static_cast<index_type>(targets)}, own{.end =
                                                                  static_cast<index_type>(sources)}
      {
        std::size_t const most = std::numeric_limits<int>::max() - 1024;
        if (targets > most || sources > most)
          throw error("p2p: " + std::to_string(targets) + " targets and " +
                      std::to_string(sources) + " sources in one call; give at most " +
                      std::to_string(most) + " of each");
      }

      p2p_job<T> job(K const& k) const
      {
        p2p_job<T> job;
        job.box_offsets = offsets;
        job.own = &own;
        job.range_offsets = no_ranges;
        job.ranges = &no_range;
        job.last_box = 1;
        job.tests_for_zero = tests_for_zero<T>(k);
        return job;
      }
    };
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <cpu_backend Backend, interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  void p2p_inner(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Q, NQ> const& q,
                 soa<T, NOut> const& out)
  {
    constexpr int n_rhs = detail::right_hand_sides<K, NQ, NOut>();
    detail::check_view("p2p_inner", "x", x, x.size());
    detail::check_view("p2p_inner", "q", q, x.size());
    detail::check_view("p2p_inner", "out", out, x.size());
    detail::check_apart("p2p_inner", out, "x", x);
    detail::check_apart("p2p_inner", out, "q", q);
    detail::check_columns_apart("p2p_inner", out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    soa<T const, K::dim> const xs = x;
    soa<T const, NQ> const qs = q;
    detail::single_box<T, K> const box(x.size(), x.size());
    p2p_job<T> job = box.job(k);
    job.own_is_self = true;
    job.target_x = job.source_x = xs.data();
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      job.source_q = qs.data() + rhs * K::n_in;
      job.target_out = out.data() + rhs * K::n_out;
      kernels.one_sided(&k, job);
    }
  }

  /// p2p_inner from one evaluation a pair: about twice as fast, in another order of summation.
  template <cpu_backend Backend, interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_inner_mutual(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Q, NQ> const& q,
                        soa<T, NOut> const& out)
  {
    constexpr int n_rhs = detail::right_hand_sides<K, NQ, NOut>();
    detail::check_view("p2p_inner_mutual", "x", x, x.size());
    detail::check_view("p2p_inner_mutual", "q", q, x.size());
    detail::check_view("p2p_inner_mutual", "out", out, x.size());
    detail::check_apart("p2p_inner_mutual", out, "x", x);
    detail::check_apart("p2p_inner_mutual", out, "q", q);
    detail::check_columns_apart("p2p_inner_mutual", out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    soa<T const, K::dim> const xs = x;
    soa<T const, NQ> const qs = q;
    detail::single_box<T, K> const box(x.size(), x.size());
    p2p_job<T> job = box.job(k);
    job.own_is_self = true;
    job.target_x = job.source_x = xs.data();
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      job.source_q = job.target_q = qs.data() + rhs * K::n_in;
      job.target_out = job.source_out = out.data() + rhs * K::n_out;
      kernels.mutual(&k, job);
    }
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <cpu_backend Backend, interaction K, class X, class Y, class Q, int NQ, kernel_real T,
            int NOut>
  void p2p_outer(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Y, K::dim> const& y,
                 soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    constexpr int n_rhs = detail::right_hand_sides<K, NQ, NOut>();
    detail::check_view("p2p_outer", "x", x, x.size());
    detail::check_view("p2p_outer", "y", y, y.size());
    detail::check_view("p2p_outer", "q", q, y.size());
    detail::check_view("p2p_outer", "out", out, x.size());
    detail::check_apart("p2p_outer", out, "x", x);
    detail::check_apart("p2p_outer", out, "y", y);
    detail::check_apart("p2p_outer", out, "q", q);
    detail::check_columns_apart("p2p_outer", out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    soa<T const, K::dim> const xs = x;
    soa<T const, K::dim> const ys = y;
    soa<T const, NQ> const qs = q;
    detail::single_box<T, K> const box(x.size(), y.size());
    p2p_job<T> job = box.job(k);
    job.target_x = xs.data();
    job.source_x = ys.data();
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      job.source_q = qs.data() + rhs * K::n_in;
      job.target_out = out.data() + rhs * K::n_out;
      kernels.one_sided(&k, job);
    }
  }

  /// Both sides of p2p_outer from one evaluation a pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
  template <cpu_backend Backend, interaction K, class X, class XQ, class Y, class YQ, int NQ,
            kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_outer_mutual(Backend backend, K const& k, soa<X, K::dim> const& x,
                        soa<XQ, NQ> const& x_q, soa<Y, K::dim> const& y, soa<YQ, NQ> const& y_q,
                        soa<T, NOut> const& x_out, soa<T, NOut> const& y_out)
  {
    constexpr int n_rhs = detail::right_hand_sides<K, NQ, NOut>();
    char const* const name = "p2p_outer_mutual";
    detail::check_view(name, "x", x, x.size());
    detail::check_view(name, "x_q", x_q, x.size());
    detail::check_view(name, "x_out", x_out, x.size());
    detail::check_view(name, "y", y, y.size());
    detail::check_view(name, "y_q", y_q, y.size());
    detail::check_view(name, "y_out", y_out, y.size());
    for (auto const& out : {x_out, y_out})
    {
      detail::check_apart(name, out, "x", x);
      detail::check_apart(name, out, "x_q", x_q);
      detail::check_apart(name, out, "y", y);
      detail::check_apart(name, out, "y_q", y_q);
      detail::check_columns_apart(name, out);
    }
    detail::check_apart(name, x_out, "y_out", y_out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    soa<T const, K::dim> const xs = x;
    soa<T const, K::dim> const ys = y;
    soa<T const, NQ> const xqs = x_q;
    soa<T const, NQ> const yqs = y_q;
    detail::single_box<T, K> const box(x.size(), y.size());
    p2p_job<T> job = box.job(k);
    job.target_x = xs.data();
    job.source_x = ys.data();
    for (int rhs = 0; rhs < n_rhs; ++rhs)
    {
      job.target_q = xqs.data() + rhs * K::n_in;
      job.source_q = yqs.data() + rhs * K::n_in;
      job.target_out = x_out.data() + rhs * K::n_out;
      job.source_out = y_out.data() + rhs * K::n_out;
      kernels.mutual(&k, job);
    }
  }
}
