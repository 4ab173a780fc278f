#pragma once

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>

namespace nearfield::test
{
  /// The CUDA back-end over views of host memory, so that tests of the other back-ends run over it: copies
  /// everything in, computes, and copies the outputs back. Arrays on the device are exactly as long as the
  /// views, for compute-sanitizer to see what lies outside.
  struct copied_cuda
  {};

  template <interaction K, class X, class Q, int NQ, detail::kernel_real T, int NOut>
  void p2p_inner(copied_cuda, K const& k, soa<X, detail::point_columns<K>> const& x,
                 soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    device_columns<T, detail::point_columns<K>> const on_x(x);
    device_columns<T, NQ> const on_q(q);
    device_columns<T, NOut> on_out(out);
    nearfield::p2p_inner(cuda, k, on_x.view(), on_q.view(), on_out.view());
    on_out.copy_to(out);
  }

  template <interaction K, class X, class Q, int NQ, detail::kernel_real T, int NOut>
  void p2p_inner_mutual(copied_cuda, K const& k, soa<X, detail::point_columns<K>> const& x,
                        soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    device_columns<T, detail::point_columns<K>> const on_x(x);
    device_columns<T, NQ> const on_q(q);
    device_columns<T, NOut> on_out(out);
    nearfield::p2p_inner_mutual(cuda, k, on_x.view(), on_q.view(), on_out.view());
    on_out.copy_to(out);
  }

  template <interaction K, class X, class Y, class Q, int NQ, detail::kernel_real T, int NOut>
  void p2p_outer(copied_cuda, K const& k, soa<X, detail::point_columns<K>> const& x,
                 soa<Y, detail::point_columns<K>> const& y, soa<Q, NQ> const& q,
                 soa<T, NOut> const& out)
  {
    device_columns<T, detail::point_columns<K>> const on_x(x), on_y(y);
    device_columns<T, NQ> const on_q(q);
    device_columns<T, NOut> on_out(out);
    nearfield::p2p_outer(cuda, k, on_x.view(), on_y.view(), on_q.view(), on_out.view());
    on_out.copy_to(out);
  }

  template <interaction K, class X, class XQ, class Y, class YQ, int NQ, detail::kernel_real T,
            int NOut>
  void p2p_outer_mutual(copied_cuda, K const& k, soa<X, detail::point_columns<K>> const& x,
                        soa<Y, detail::point_columns<K>> const& y, soa<XQ, NQ> const& x_q,
                        soa<YQ, NQ> const& y_q, soa<T, NOut> const& x_out,
                        soa<T, NOut> const& y_out)
  {
    device_columns<T, detail::point_columns<K>> const on_x(x), on_y(y);
    device_columns<T, NQ> const on_x_q(x_q), on_y_q(y_q);
    device_columns<T, NOut> on_x_out(x_out), on_y_out(y_out);
    nearfield::p2p_outer_mutual(cuda, k, on_x.view(), on_y.view(), on_x_q.view(), on_y_q.view(),
                                on_x_out.view(), on_y_out.view());
    on_x_out.copy_to(x_out);
    on_y_out.copy_to(y_out);
  }

  template <interaction K, class X, class Q, int NQ, detail::kernel_real T, int NOut>
  void near_field(copied_cuda, K const& k, boxes const& points, interaction_list const& list,
                  soa<X, detail::point_columns<K>> const& x, soa<Q, NQ> const& q,
                  soa<T, NOut> const& out, near_field_options const& options = {})
  {
    cuda_list const on_list(cuda, points, list, x.size(), options.form);
    device_columns<T, detail::point_columns<K>> const on_x(x);
    device_columns<T, NQ> const on_q(q);
    device_columns<T, NOut> on_out(out);
    nearfield::near_field(cuda, k, on_list, on_x.view(), on_q.view(), on_out.view(), options);
    on_out.copy_to(out);
  }

  template <interaction K, class X, class Y, class Q, int NQ, detail::kernel_real T, int NOut>
  void near_field(copied_cuda, K const& k, boxes const& targets, interaction_list const& list,
                  soa<X, detail::point_columns<K>> const& x,
                  soa<Y, detail::point_columns<K>> const& y, soa<Q, NQ> const& q,
                  soa<T, NOut> const& out, near_field_options const& options = {})
  {
    cuda_list const on_list(cuda, targets, list, y.size());
    device_columns<T, detail::point_columns<K>> const on_x(x), on_y(y);
    device_columns<T, NQ> const on_q(q);
    device_columns<T, NOut> on_out(out);
    nearfield::near_field(cuda, k, on_list, on_x.view(), on_y.view(), on_q.view(), on_out.view(),
                          options);
    on_out.copy_to(out);
  }
}
