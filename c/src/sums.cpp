#include "calls.hpp"

#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>

namespace nearfield::c
{
  namespace
  {
    /// A view of columns whose number the interaction decides.
    template <class T>
    class wide_view
    {
    public:
      wide_view(char const* name, nf_columns const& of)
      {
        check_columns(name, of, real_of<std::remove_const_t<T>>);
        std::size_t const n = count_of(of.n_columns, "n_columns");
        T** pointers = few_;
        if (n > std::size(few_))
        {
          many_.resize(n);
          pointers = many_.data();
        }
        for (std::size_t c = 0; c < n; ++c) pointers[c] = column_of<T>(of, static_cast<int>(c));
        columns_ = {{pointers, n}, static_cast<std::size_t>(of.n_points)};
        stride_ = of.stride;
      }
      wide_view(wide_view const&) = delete;

      [[nodiscard]] bool has_stride() const { return stride_ != 1; }
      [[nodiscard]] soa<T, run_time_columns> columns() const { return columns_; }
      [[nodiscard]] strided<T, run_time_columns> view() const { return {columns_, stride_}; }

    private:
      T* few_[12];
      std::vector<T*> many_;
      soa<T, run_time_columns> columns_;
      std::ptrdiff_t stride_;
    };

    template <class T>
    using inputs = wide_view<T const>;
    template <class T>
    using outputs = wide_view<T>;

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

    near_field_options options_of_near_field(nf_near_field_options const* given)
    {
      nf_near_field_options const of = options_of(given, "options");
      if (of.form != nf_one_sided && of.form != nf_mutual && of.form != nf_automatic)
        throw error("form is " + std::to_string(of.form) +
                    "; give nf_one_sided, nf_mutual or nf_automatic");
      pair_form const form = of.form == nf_mutual      ? pair_form::mutual
                             : of.form == nf_automatic ? pair_form::automatic
                                                       : pair_form::one_sided;
      return {of.accumulate != 0, form, of.ranges_may_coincide != 0};
    }

    /// near_field over leaves, of one set or two.
    template <class T, class Where, class Leaves>
    void over(Where const& where, any_interaction const& k, Leaves const& leaves,
              nf_columns const& x, nf_columns const* y, nf_columns const& q, nf_columns const& out,
              near_field_options const& options)
    {
      auto const run = [&](auto const&... views)
      {
        near_field(where, k, leaves, views..., options);
      };
      inputs<T> const of_targets("x", x), charges("q", q);
      outputs<T> const sums("out", out);
      if (y == nullptr)
        with_views(run, of_targets, charges, sums);
      else
        with_views(run, of_targets, inputs<T>("y", *y), charges, sums);
    }

    template <class Where>
    constexpr bool is_gpu = std::is_same_v<Where, cuda_backend>;

    /// The same over a handle, which must be where it runs.
    template <class T, class Where, class Leaves>
    void over_handle(Where const& where, any_interaction const& k, char const* name,
                     Leaves const& leaves, nf_columns const& x, nf_columns const* y,
                     nf_columns const& q, nf_columns const& out,
                     nf_near_field_options const* options)
    {
      constexpr bool is_of_gpu = detail::has_device_leaves<Leaves>;
      if constexpr (is_of_gpu == is_gpu<Where>)
        over<T>(where, k, leaves, x, y, q, out, options_of_near_field(options));
      else
        refuse_place(name, is_of_gpu);
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

nf_status nf_near_field_of_leaves(nf_place const* where, nf_interaction const* k,
                                  nf_leaf_list const* leaves, nf_columns x, nf_columns const* y,
                                  nf_columns q, nf_columns out,
                                  nf_near_field_options const* options)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  auto const& list = c::given(leaves, "leaves").leaves;
                  if constexpr (c::is_gpu<std::remove_cvref_t<decltype(place)>>)
                    throw error("leaves are in host memory; run on a CPU");
                  else
                    c::over<T>(place, kernel, leaf_list::part(list), x, y, q, out,
                               c::options_of_near_field(options));
                });
}

nf_status nf_near_field_of_tree(nf_place const* where, nf_interaction const* k, nf_tree const* tree,
                                nf_columns x, nf_columns const* y, nf_columns q, nf_columns out,
                                nf_near_field_options const* options)
{
  return c::sum(where, k, x,
                [&]<class T>(auto const& place, any_interaction const& kernel)
                {
                  std::visit(
                      [&](auto const& leaves)
                      { c::over_handle<T>(place, kernel, "tree", leaves, x, y, q, out, options); },
                      c::given(tree, "tree").of);
                });
}

nf_status nf_near_field_of_cells(nf_place const* where, nf_interaction const* k,
                                 nf_cells const* cells, nf_columns x, nf_columns const* y,
                                 nf_columns q, nf_columns out, nf_near_field_options const* options)
{
  return c::sum(
      where, k, x,
      [&]<class T>(auto const& place, any_interaction const& kernel)
      {
        c::visit_list(
            c::given(cells, "cells"), [&]<class, int>(auto const& leaves)
            { c::over_handle<T>(place, kernel, "cells", leaves, x, y, q, out, options); });
      });
}
