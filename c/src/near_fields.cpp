#include "wide_view.hpp"

#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>

namespace nearfield::c
{
  namespace
  {
    /// The arguments of a near field but its leaves.
    struct near_field_call
    {
      place where;
      any_interaction const& k;
      nf_columns const &x, *y, &q, &out;
      near_field_options options;

      near_field_call(nf_place const* on, nf_interaction const* interaction,
                      nf_columns const& targets, nf_columns const* sources,
                      nf_columns const& charges, nf_columns const& sums,
                      nf_near_field_options const* given_options)
          : where(on), k(given(interaction, "k").k), x(targets), y(sources), q(charges), out(sums),
            options(near_field_options_of(given_options))
      {}

      /// Over leaves that must be where it runs.
      template <class Leaves>
      void over(char const* name, Leaves const& leaves) const
      {
        constexpr bool is_of_gpu =
            detail::has_device_leaves<Leaves> || std::same_as<Leaves, cuda_list>;
        where.check_handle(name, is_of_gpu);
        with_real(x,
                  [&]<class T>()
                  {
                    if constexpr (is_of_gpu)
                      run<T>(where.gpu(), leaves);
                    else if (where.backend == nf_scalar)
                      run<T>(detail::on_threads<scalar_backend>{scalar, where.threads}, leaves);
                    else
                      run<T>(where.cpu(), leaves);
                  });
      }

    private:
      template <class T, class Where, class Leaves>
      void run(Where const& on, Leaves const& leaves) const
      {
        inputs<T> const targets("x", x), charges("q", q);
        outputs<T> const sums("out", out);
        if (y == nullptr)
          near_field(on, k, leaves, targets.view(), charges.view(), sums.view(), options);
        else
          near_field(on, k, leaves, targets.view(), inputs<T>("y", *y).view(), charges.view(),
                     sums.view(), options);
      }
    };
  }
}

using namespace nearfield;

nf_status nf_near_field_of_leaves(nf_place const* where, nf_interaction const* k,
                                  nf_leaf_list const* leaves, nf_columns x, nf_columns const* y,
                                  nf_columns q, nf_columns out,
                                  nf_near_field_options const* options)
{
  return c::guarded(
      [&]
      {
        c::near_field_call const call(where, k, x, y, q, out, options);
        auto const& all = c::given(leaves, "leaves").of;
        if (auto const* of_cpus = std::get_if<leaf_list>(&all))
          call.over("leaves", leaf_list::part(*of_cpus));
        else
          call.over("leaves", *std::get_if<cuda_list>(&all));
      });
}

nf_status nf_near_field_of_tree(nf_place const* where, nf_interaction const* k, nf_tree const* tree,
                                nf_columns x, nf_columns const* y, nf_columns q, nf_columns out,
                                nf_near_field_options const* options)
{
  return c::guarded(
      [&]
      {
        c::near_field_call const call(where, k, x, y, q, out, options);
        std::visit([&](auto const& leaves) { call.over("tree", leaves); },
                   c::given(tree, "tree").of);
      });
}

nf_status nf_near_field_of_cells(nf_place const* where, nf_interaction const* k,
                                 nf_cells const* cells, nf_columns x, nf_columns const* y,
                                 nf_columns q, nf_columns out, nf_near_field_options const* options)
{
  return c::guarded(
      [&]
      {
        c::near_field_call const call(where, k, x, y, q, out, options);
        c::visit_list(c::given(cells, "cells"),
                      [&]<class, int>(auto const& leaves) { call.over("cells", leaves); });
      });
}
