#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>

/// \file
/// P2P on arrays: the interaction of all points of one set, or of two. The arguments are where to run, what
/// to compute, inputs, outputs: x before q before out, and of each the targets' before the sources'. Every
/// function *adds* to its outputs.
///
/// Shapes: for n points, x has K::dim columns of n values, q has n_in and out has n_out. The units are the caller's
/// (docs/conventions.md). The cost is one evaluation of K for each directed pair, or for two of them in a mutual form.
///
/// Several right-hand sides: q may have k * n_in columns and the outputs k * n_out, those of the first right-hand
/// side first. They share the evaluations of K(r), and their sums equal those of single calls within rounding.
///
/// A pair at distance zero contributes zero for a singular interaction (is_singular) and counts for a regular
/// one; p2p_inner leaves out i = j in either case. Inputs must be finite; docs/conventions.md gives the range
/// of |r| in which results hold for each interaction. The sums must stay finite when multiplied by 2^12 (a
/// loop may leave a factor of 16 in the root). All functions are re-entrant. They throw nearfield::error for
/// views that differ in size or are null, outputs that overlap other columns, 2^31 - 1024 points or more in a set, and
/// an instruction set that is not available.

namespace nearfield
{
  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// One box without neighbours.
    template <class T, class K>
    struct single_box
    {
      index_type offsets[2];
      source_range own;
      index_type no_ranges[2] = {0, 0};
      source_range no_range;

      single_box(std::size_t targets, std::size_t sources)
          : offsets{0, static_cast<index_type>(targets)}, own{.end =
                                                                  static_cast<index_type>(sources)}
      {
        check_box_size(targets, sources);
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

    /// The columns of one set; q is empty if it gives nothing, out if it receives nothing. References, since to
    /// copy pointers that the caller has just stored takes a small box's time.
    template <class T, int Dim, int NQ, int NOut>
    struct side
    {
      soa<T const, Dim> const& x;
      soa<T const, NQ> const& q;
      soa<T, NOut> const& out;
    };

    /// Runs a kernel over a job of two sets.
    template <class K, class T, int NQ, int NOut>
    void run_right_hand_sides(p2p_function<T> kernel, K const& k, p2p_job<T> job,
                              side<T, K::dim, NQ, NOut> const& targets,
                              side<T, K::dim, NQ, NOut> const& sources)
    {
      job.n_rhs = right_hand_sides<K>(sources.q, targets.out);
      job.target_x = targets.x.data();
      job.source_x = sources.x.data();
      job.target_q = targets.q.data();
      job.source_q = sources.q.data();
      job.target_out = targets.out.data();
      job.source_out = sources.out.data();
      kernel(&k, job);
    }

    /// The same over a job of one set.
    template <class K, class T, int NQ, int NOut>
    void run_right_hand_sides(p2p_function<T> kernel, K const& k, p2p_job<T> job,
                              side<T, K::dim, NQ, NOut> const& points)
    {
      job.own_is_self = true;
      run_right_hand_sides(kernel, k, job, points, points);
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <cpu_backend Backend, interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  void p2p_inner(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Q, NQ> const& q,
                 soa<T, NOut> const& out)
  {
    detail::check_one_set("p2p_inner", x, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::side<T, K::dim, NQ, NOut> const points{x, q, out};
    detail::run_right_hand_sides(kernels.one_sided, k, box.job(k), points);
  }

  /// As p2p_inner, with one evaluation per pair: about twice as fast, in another order of summation.
  template <cpu_backend Backend, interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_inner_mutual(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Q, NQ> const& q,
                        soa<T, NOut> const& out)
  {
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::side<T, K::dim, NQ, NOut> const points{x, q, out};
    detail::run_right_hand_sides(kernels.mutual, k, box.job(k), points);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <cpu_backend Backend, interaction K, class X, class Y, class Q, int NQ, kernel_real T,
            int NOut>
  void p2p_outer(Backend backend, K const& k, soa<X, K::dim> const& x, soa<Y, K::dim> const& y,
                 soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    detail::check_two_sets("p2p_outer", x, y, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    detail::single_box<T, K> const box(x.size(), y.size());
    detail::side<T, K::dim, NQ, NOut> const targets{x, {}, out}, sources{y, q, {}};
    detail::run_right_hand_sides(kernels.one_sided, k, box.job(k), targets, sources);
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
  template <cpu_backend Backend, interaction K, class X, class XQ, class Y, class YQ, int NQ,
            kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_outer_mutual(Backend backend, K const& k, soa<X, K::dim> const& x,
                        soa<Y, K::dim> const& y, soa<XQ, NQ> const& x_q, soa<YQ, NQ> const& y_q,
                        soa<T, NOut> const& x_out, soa<T, NOut> const& y_out)
  {
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    detail::single_box<T, K> const box(x.size(), y.size());
    detail::side<T, K::dim, NQ, NOut> const targets{x, x_q, x_out}, sources{y, y_q, y_out};
    detail::run_right_hand_sides(kernels.mutual, k, box.job(k), targets, sources);
  }
}
