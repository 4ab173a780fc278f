#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

/// \file
/// The functions of <nearfield/p2p/p2p.hpp>, and those of <nearfield/p2p/near_field.hpp> over boxes and a list, for
/// views of which at least one is strided, such as an array x0 y0 z0 x1 y1 z1 ... (interleaved()) or columns of a
/// matrix (matrix_columns()). Nothing is allocated: kernels copy a few hundred points at a time, as they do anyway.
/// Results are, to the bit, those of the same values in columns, and errors are the same.
///
///     nearfield::p2p_inner(nearfield::simd, k, nearfield::interleaved<3>(xyz), nearfield::soa{q},
///                          nearfield::interleaved<3>(forces));
///
/// Outputs may interleave with inputs and with each other. Two columns with the same stride count as overlapping if
/// they share a value; with different strides also if longer columns would share one.

namespace nearfield
{
  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    template <class... Views>
    concept one_is_strided = (columns_view<Views> && ...) && (is_strided<Views> || ...);

    /// As side, with the strides; a view that a side lacks is empty.
    template <class T, int Dim, int NQ, int NOut>
    struct strided_side
    {
      strided<T const, Dim> x;
      strided<T const, NQ> q;
      strided<T, NOut> out;

      side<T, Dim, NQ, NOut> columns() const { return {x.columns(), q.columns(), out.columns()}; }
    };

    template <class K, class T, int NQ, int NOut>
    void run_strided(p2p_function<T> kernel, K const& k, p2p_job<T> job,
                     strided_side<T, K::dim, NQ, NOut> const& targets,
                     strided_side<T, K::dim, NQ, NOut> const& sources)
    {
      p2p_strides const strides{targets.x.stride(), targets.q.stride(), targets.out.stride(),
                                sources.x.stride(), sources.q.stride(), sources.out.stride()};
      job.strides = &strides;
      job.own_is_self = &targets == &sources;
      run_right_hand_sides(kernel, k, job, targets.columns(), sources.columns());
    }

    template <class T, int N>
    void clear(strided<T, N> const& out)
    {
      for (int c = 0; c < width_of(out); ++c)
        for (std::size_t i = 0; i < out.size(); ++i) out[c][i] = 0;
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <cpu_backend Backend, interaction K, class X, class Q, class Out>
  requires detail::one_is_strided<X, Q, Out>
  void p2p_inner(Backend backend, K const& k, X const& x, Q const& q, Out const& out)
  {
    detail::check_one_set("p2p_inner", x, q, out);
    using T = typename Out::value_type;
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns> const points{x, q, out};
    detail::run_strided(kernels_of<T, K>(backend).one_sided, k, box.job(k), points, points);
  }

  /// As p2p_inner, with one evaluation per pair.
  template <cpu_backend Backend, interaction K, class X, class Q, class Out>
  requires detail::one_is_strided<X, Q, Out> && detail::has_way_back<K>
  void p2p_inner_mutual(Backend backend, K const& k, X const& x, Q const& q, Out const& out)
  {
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    using T = typename Out::value_type;
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns> const points{x, q, out};
    detail::run_strided(kernels_of<T, K>(backend).mutual, k, box.job(k), points, points);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <cpu_backend Backend, interaction K, class X, class Y, class Q, class Out>
  requires detail::one_is_strided<X, Y, Q, Out>
  void p2p_outer(Backend backend, K const& k, X const& x, Y const& y, Q const& q, Out const& out)
  {
    detail::check_two_sets("p2p_outer", x, y, q, out);
    using T = typename Out::value_type;
    detail::single_box<T, K> const box(x.size(), y.size());
    using side = detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns>;
    detail::run_strided(kernels_of<T, K>(backend).one_sided, k, box.job(k), side{x, {}, out},
                        side{y, q, {}});
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
  template <cpu_backend Backend, interaction K, class X, class Y, class XQ, class YQ, class XOut,
            class YOut>
  requires detail::one_is_strided<X, Y, XQ, YQ, XOut, YOut> && detail::has_way_back<K>
  void p2p_outer_mutual(Backend backend, K const& k, X const& x, Y const& y, XQ const& x_q,
                        YQ const& y_q, XOut const& x_out, YOut const& y_out)
  {
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    using T = typename XOut::value_type;
    detail::single_box<T, K> const box(x.size(), y.size());
    using side = detail::strided_side<T, K::dim, XQ::n_columns, XOut::n_columns>;
    detail::run_strided(kernels_of<T, K>(backend).mutual, k, box.job(k), side{x, x_q, x_out},
                        side{y, y_q, y_out});
  }

  /// One set: out_i = sum_{j != i} K(x_i - x_j) q_j over the points j of all boxes that the box of i meets;
  /// += with options.accumulate. Points are in the order of the boxes.
  template <cpu_backend Backend, interaction K, class X, class Q, class Out>
  requires detail::one_is_strided<X, Q, Out>
  void near_field(Backend backend, K const& k, boxes const& points, interaction_list const& list,
                  X const& x, Q const& q, Out const& out, near_field_options const& options = {})
  {
    detail::check_one_set("near_field", x, q, out);
    detail::check_list("near_field", points, list, x.size(), x.size());
    detail::check_own_ranges("near_field", points, list);
    using T = typename Out::value_type;
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    if (!options.accumulate) detail::clear(out);
    detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns> const all{x, q, out};
    detail::run_strided(kernels.one_sided, k, detail::job_of<T>(k, points, list, options), all,
                        all);
  }

  /// As near_field, with one evaluation per pair, over a half list.
  template <cpu_backend Backend, interaction K, class X, class Q, class Out>
  requires detail::one_is_strided<X, Q, Out> && detail::has_way_back<K>
  void near_field_mutual(Backend backend, K const& k, boxes const& points,
                         interaction_list const& half_list, X const& x, Q const& q, Out const& out,
                         near_field_options const& options = {})
  {
    detail::check_one_set("near_field_mutual", x, q, out);
    detail::check_list("near_field_mutual", points, half_list, x.size(), x.size());
    detail::check_own_ranges("near_field_mutual", points, half_list);
    detail::check_half("near_field_mutual", points, half_list);
    using T = typename Out::value_type;
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    if (!options.accumulate) detail::clear(out);
    detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns> const all{x, q, out};
    detail::run_strided(kernels.mutual, k, detail::job_of<T>(k, points, half_list, options), all,
                        all);
  }

  /// Two sets: out_i = sum_j K(x_i - y_j) q_j over the sources j of all boxes that the box of target i meets;
  /// += with options.accumulate.
  template <cpu_backend Backend, interaction K, class X, class Y, class Q, class Out>
  requires detail::one_is_strided<X, Y, Q, Out>
  void near_field(Backend backend, K const& k, boxes const& targets, interaction_list const& list,
                  X const& x, Y const& y, Q const& q, Out const& out,
                  near_field_options const& options = {})
  {
    detail::check_two_sets("near_field", x, y, q, out);
    detail::check_list("near_field", targets, list, x.size(), y.size());
    using T = typename Out::value_type;
    p2p_kernels<T> const kernels = kernels_of<T, K>(backend);
    if (!options.accumulate) detail::clear(out);
    using side = detail::strided_side<T, K::dim, Q::n_columns, Out::n_columns>;
    detail::run_strided(kernels.one_sided, k, detail::job_of<T>(k, targets, list, options),
                        side{x, {}, out}, side{y, q, {}});
  }
}
