#include <nearfield/starpu/near_field.hpp>

#include "division.hpp"
#include "rates.hpp"
#include "step.hpp"

#include "kernels/src/p2p/excluded.hpp"
#include "kernels/src/p2p/plan.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <memory>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// Throws nearfield::error for columns that fit neither the tree nor each other.
    template <class T>
    void check_arguments(leaf_groups_view const& groups, kernel<T> const& k,
                         step_columns<T> const& columns)
    {
      namespace checks = nearfield::detail;
      char const* const name = "near_field";
      bool const has_one_set = columns.has_one_set;
      auto const x = columns.x.view(), y = columns.y.view(), q = columns.q.view();
      auto const out = columns.out.view();
      checks::check_sets(name, groups.has_one_set, has_one_set);
      checks::check_cutoff_value(k.cutoff, static_cast<T>(groups.cutoff));
      checks::check_view(name, "x", x, groups.target_order.size());
      if (has_one_set) return checks::check_one_set(name, x, q, out);
      checks::check_view(name, "y", y, groups.source_order.size());
      checks::check_two_sets(name, x, y, q, out);
    }

    template <class T>
    division division_of(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
                         step_columns<T> const& columns, step_options const& options)
    {
      return divide(starpu, groups,
                    {*k.type, columns.n_rhs, sizeof(T),
                     bytes_of(*k.type, columns, columns.has_one_set),
                     [&](backend where, pair_form form)
                     {
                       return rate_of(k, form, where, groups);
                     }},
                    options);
    }

    /// Pairs that a step leaves out. Sets the backend to one that can.
    std::shared_ptr<nearfield::detail::excluded_rows const>
    excluded_of(leaf_groups_view const& groups, step_options& options)
    {
      if (options.excluded.empty() && options.excluded_offsets.empty()) return nullptr;
      if (options.backend == backend::cuda)
        throw error("near_field: .excluded on backend cuda; CPU workers compute such a step: give "
                    "simd or automatic");
      if (options.backend == backend::automatic) options.backend = backend::simd;
      auto const& sources = groups.has_one_set ? groups.target_order : groups.source_order;
      return std::make_shared<nearfield::detail::excluded_rows const>(
          nearfield::detail::excluded_in(groups, groups.target_order.size(), sources.size(),
                                         options.excluded_offsets, options.excluded,
                                         nearfield::detail::threads_or_here(nullptr)));
    }

    /// The tree of one process, over the caller's columns.
    template <class T>
    step_tree<T> tree_of(runtime const& starpu, leaf_groups_view const& groups, kernel<T> const& k,
                         step_columns<T> const& columns, step_options options)
    {
      check_arguments(groups, k, columns);
      step_tree<T> tree;
      tree.excluded = excluded_of(groups, options);
      tree.is_local = true;
      tree.has_one_set = groups.has_one_set;
      tree.targets.order = groups.target_order;
      tree.targets.moves = groups.target_moves;
      tree.source_points.order = groups.source_order;
      tree.source_points.moves = groups.source_moves;
      tree.positions = [&](bool of_targets, bool)
      {
        return of_targets ? columns.x : columns.sources();
      };
      tree.ranges_may_coincide = groups.ranges_may_coincide;
      tree.shifts = [groups](pair_form form, index_type first, index_type last)
      {
        auto const& list = form == pair_form::mutual ? groups.half : groups.full;
        return nearfield::detail::shifts_of_leaves(groups, list, first, last);
      };
      tree.divide = [&starpu, &groups, &k, &columns, options](backend)
      {
        return division_of(starpu, groups, k, columns, options);
      };
      return tree;
    }
  }
}

namespace nearfield::starpu
{
  template <nearfield::detail::kernel_real T>
  near_field<T>::near_field(runtime const& starpu, detail::leaf_groups_view const& groups,
                            detail::kernel<T> const& k, detail::step_columns<T> const& columns,
                            step_options const& options)
      : step_(std::make_unique<detail::step<T>>(
            starpu, [=] { return detail::tree_of(starpu, groups, k, columns, options); }, k,
            columns, options))
  {}

  template class near_field<float>;
  template class near_field<double>;
}
