#pragma once

#include "any_step.hpp"
#include "moving_points.hpp"
#include "p2p_codelet.hpp"
#include "p2p_sides.hpp"

#include <nearfield/p2p/tuning.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <cstdint>
#include <memory>
#include <utility>

/// \file
/// The task of a step over a moving_tree.

namespace nearfield::starpu::detail
{
  /// What the tasks of a step over moving points share: they follow each other, since each writes the outputs.
  template <class T, int Dim>
  struct moving_work
  {
    moving_work(std::shared_ptr<moving_points<T, Dim>> of, kernel<T> const& interaction,
                step_options const& how)
        : points(std::move(of)), k(interaction), options(how)
    {}

    std::shared_ptr<moving_points<T, Dim>> const points;
    kernel<T> const k;
    step_options const options;
    monitor watch;

    [[nodiscard]] bool has_one_set() const { return !points->y; }
    /// The buffers of the task.
    template <class... Buffers>
    [[nodiscard]] p2p_sides<T> sides(Buffers... of) const
    {
      p2p_form form{"near_field", p2p_roles::outer, options.accumulate ? STARPU_RW : STARPU_W};
      if (has_one_set()) form.roles = p2p_roles::inner;
      return {form, *k.type, of...};
    }
    [[nodiscard]] nearfield::detail::form_case form_case_of(int n_rhs) const
    {
      return nearfield::detail::form_case_of(*k.type, has_one_set(), n_rhs);
    }
    /// The form on CPUs. Throws nearfield::error for form mutual where there is none.
    [[nodiscard]] pair_form form_on_cpu() const
    {
      return nearfield::detail::choose_form("near_field", options.form, backend::simd,
                                            form_case_of(1));
    }
  };

  /// The argument of the task.
  template <class T, int Dim>
  struct moving_argument : p2p_argument
  {
    moving_work<T, Dim> const* step;
    std::uint64_t round;  ///< of the positions
    std::uint64_t number; ///< of the step, from 0
  };

  /// The codelet; its buffers have the p2p_roles inner or outer, with outputs that it may overwrite.
  template <class T, int Dim>
  starpu_codelet& moving_codelet(kernel_type<T> const& k, backend_set backends);
}
