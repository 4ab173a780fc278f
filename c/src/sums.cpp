#include "wide_view.hpp"

#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/p2p.hpp>

namespace nearfield::c
{
  namespace
  {
    /// Calls f with the columns or, if any have a stride, with strided views.
    template <class F, class... Views>
    void with_views(F const& f, Views const&... views)
    {
      if ((views.has_stride() || ...))
        f(views.view()...);
      else
        f(views.columns()...);
    }

    /// Calls f(where) with what C++ calls the place.
    template <class F>
    void at(place const& where, F const& f)
    {
      if (where.is_gpu()) return f(where.gpu());
      if (where.backend == nf_scalar)
        return where.threads != nullptr ? f(scalar.with(*where.threads)) : f(scalar);
      return where.threads != nullptr ? f(simd.with(*where.threads)) : f(simd);
    }

    /// Calls f<T>(where, k) with the type of x.
    template <class F>
    nf_status sum(nf_place const* where, nf_interaction const* k, nf_columns const& x, F const& f)
    {
      return guarded(
          [&]
          {
            place const on(where);
            any_interaction const& kernel = given(k, "k").k;
            with_real(
                x, [&]<class T>()
                { at(on, [&](auto const& place) { f.template operator()<T>(place, kernel); }); });
          });
    }
  }
}

using namespace nearfield;

nf_status nf_p2p_inner(nf_place const* where, nf_interaction const* k, nf_columns x, nf_columns q,
                       nf_columns out)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  c::with_views([&](auto const&... views) { p2p_inner(place, kernel, views...); },
                                c::inputs<T>("x", x), c::inputs<T>("q", q),
                                c::outputs<T>("out", out));
                });
}

nf_status nf_p2p_inner_mutual(nf_place const* where, nf_interaction const* k, nf_columns x,
                              nf_columns q, nf_columns out)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  c::with_views(
                      [&](auto const&... views) { p2p_inner_mutual(place, kernel, views...); },
                      c::inputs<T>("x", x), c::inputs<T>("q", q), c::outputs<T>("out", out));
                });
}

nf_status nf_p2p_outer(nf_place const* where, nf_interaction const* k, nf_columns x, nf_columns y,
                       nf_columns q, nf_columns out)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  c::with_views([&](auto const&... views) { p2p_outer(place, kernel, views...); },
                                c::inputs<T>("x", x), c::inputs<T>("y", y), c::inputs<T>("q", q),
                                c::outputs<T>("out", out));
                });
}

nf_status nf_p2p_outer_mutual(nf_place const* where, nf_interaction const* k, nf_columns x,
                              nf_columns y, nf_columns x_q, nf_columns y_q, nf_columns x_out,
                              nf_columns y_out)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  c::with_views([&](auto const&... views)
                                { p2p_outer_mutual(place, kernel, views...); },
                                c::inputs<T>("x", x), c::inputs<T>("y", y),
                                c::inputs<T>("x_q", x_q), c::inputs<T>("y_q", y_q),
                                c::outputs<T>("x_out", x_out), c::outputs<T>("y_out", y_out));
                });
}
