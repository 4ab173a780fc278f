#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

/// \file
/// P2P on arrays: the interaction of all points of one set, or of two. The arguments are where to run, what
/// to compute, inputs, outputs: x before q before out, and of each the targets' before the sources'. Every
/// function *adds* to its outputs.
///
/// Shapes: for n points, x has K::dim columns of n values, q has n_in and out has n_out. The units are the caller's
/// (docs/conventions.md). The cost is one evaluation of K for each directed pair, or for two of them in a mutual form.
///
/// x, q and out are views of columns: soa, or strided for values that lie apart, such as an array x0 y0 z0 x1 ...
/// (interleaved()) or columns of a matrix (matrix_columns()), also beside each other in one call. Nothing is allocated
/// for strided ones: kernels copy a few hundred points at a time, as they do anyway. Results are, to the bit, those of
/// the same values in columns.
///
///     nearfield::p2p_inner(nearfield::simd, k, nearfield::interleaved<3>(xyz), nearfield::soa{q},
///                          nearfield::interleaved<3>(forces));
///
/// Outputs may interleave with inputs and with each other. Two columns with the same stride count as overlapping if
/// they share a value; with different strides also if longer columns would share one.
///
/// On `simd.with(threads)` threads share a large box: one-sided sums keep the bits of one thread, and mutual ones are
/// the same for any number of threads.
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
  namespace detail
  {
    /// Runs a kernel over the job of one box on threads.
    template <class T>
    NEARFIELD_API void run_box(executor& on, p2p_function<T> kernel, void const* k,
                               p2p_job<T> const& job, bool is_mutual);
  }

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
          : offsets{0, static_cast<index_type>(targets)},
            own{.end = static_cast<index_type>(sources)}
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

    /// The views of one set; that of what it does not give or receive is empty. References, since to copy pointers
    /// that the caller has just stored takes a small box's time.
    template <class X, class Q, class Out>
    struct set_views
    {
      static constexpr bool has_strides = is_strided<X> || is_strided<Q> || is_strided<Out>;
      X const& x;
      Q const& q;
      Out const& out;
    };
    template <class X, class Q, class Out>
    set_views(X const&, Q const&, Out const&) -> set_views<X, Q, Out>;

    /// Throws nearfield::error unless both directions have as many right-hand sides.
    template <class K, class Targets, class Sources>
    void check_both_ways(char const* function, K const& k, Targets const& targets,
                         Sources const& sources)
    {
      int const there = right_hand_sides(k, sources.q, targets.out);
      int const back = right_hand_sides(k, targets.q, sources.out);
      if (there != back)
        throw error(std::string(function) + ": found " + std::to_string(there) +
                    " right-hand sides in y_q and " + std::to_string(back) +
                    " in x_q; give both sides the same number");
    }

    /// Runs the kernel of one form over two sets, or one that is given twice, whose views the caller has checked. The
    /// job is not copied: to load what has just been stored in parts takes a small box's time.
    template <bool Mutual, class T, cpu_place Where, class K, class Targets, class Sources>
    void run_sets(Where const& where, K const& k, Targets const& targets, Sources const& sources,
                  bool is_one_set = false)
    {
      p2p_kernels<T> const kernels = kernels_for<T>(k, backend_of(where));
      p2p_function<T> const kernel = Mutual ? kernels.mutual : kernels.one_sided;
      single_box<T, K> const box(targets.x.size(), sources.x.size());
      p2p_job<T> job = box.job(k);
      job.own_is_self = is_one_set;
      job.n_rhs = right_hand_sides(k, sources.q, targets.out, targets.x, sources.x);
      job.target_x = pointers_of(targets.x).data();
      job.source_x = pointers_of(sources.x).data();
      job.target_q = pointers_of(targets.q).data();
      job.source_q = pointers_of(sources.q).data();
      job.target_out = pointers_of(targets.out).data();
      job.source_out = pointers_of(sources.out).data();
      p2p_strides const strides{stride_of(targets.x), stride_of(targets.q), stride_of(targets.out),
                                stride_of(sources.x), stride_of(sources.q), stride_of(sources.out)};
      if constexpr (Targets::has_strides || Sources::has_strides) job.strides = &strides;
      if constexpr (cpu_backend<Where>)
        kernel(value_at(k), job);
      else
        run_box(*where.threads, kernel, value_at(k), job, Mutual);
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out>
  void p2p_inner(Where const& where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("p2p_inner", x, q, out);
    detail::set_views const points{x, q, out};
    detail::run_sets<false, T>(where, k, points, points, true);
  }

  /// As p2p_inner, with one evaluation per pair: about twice as fast, in another order of summation.
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out>
    requires detail::mutual_interaction<K>
  void p2p_inner_mutual(Where const& where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_way_back("p2p_inner_mutual", k);
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    detail::set_views const points{x, q, out};
    detail::run_sets<true, T>(where, k, points, points, true);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Y, detail::columns_view Q, detail::columns_view Out>
  void p2p_outer(Where const& where, K const& k, X const& x, Y const& y, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_two_sets("p2p_outer", x, y, q, out);
    detail::set_views const targets{x, Q{}, out};
    detail::set_views const sources{y, q, Out{}};
    detail::run_sets<false, T>(where, k, targets, sources);
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Y, detail::columns_view XQ, detail::columns_view YQ,
            detail::columns_view XOut, detail::columns_view YOut>
    requires detail::mutual_interaction<K>
  void p2p_outer_mutual(Where const& where, K const& k, X const& x, Y const& y, XQ const& x_q,
                        YQ const& y_q, XOut const& x_out, YOut const& y_out)
  {
    using T = detail::real_of_call<K, XOut, YQ, X, Y>;
    static_assert(std::is_same_v<T, detail::real_of_call<K, YOut, XQ>>,
                  "both sides must be views of one type, float or double");
    detail::check_way_back("p2p_outer_mutual", k);
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    detail::set_views const targets{x, x_q, x_out};
    detail::set_views const sources{y, y_q, y_out};
    detail::check_both_ways("p2p_outer_mutual", k, targets, sources);
    detail::run_sets<true, T>(where, k, targets, sources);
  }
}
