#include "wide_view.hpp"

#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/p2p.hpp>

#include <concepts>
#include <memory>
#include <utility>
#include <variant>

using namespace nearfield;

struct nf_p2p_tasks
{
  std::variant<std::unique_ptr<starpu::p2p<any_interaction, float>>,
               std::unique_ptr<starpu::p2p<any_interaction, double>>>
      of;
};

struct nf_step
{
  std::shared_ptr<void const> groups; ///< of leaves
  std::variant<std::unique_ptr<starpu::near_field<float>>,
               std::unique_ptr<starpu::near_field<double>>>
      of;
};

namespace nearfield::c
{
  namespace
  {
    starpu::detail::column_handles handles_of(char const* name, nf_handles const& of)
    {
      std::size_t const n = count_of(of.n_handles, "n_handles");
      if (n > 0) given(of.handles, name);
      std::vector<starpu_data_handle_t> handles;
      for (std::size_t h = 0; h < n; ++h)
        handles.push_back(static_cast<starpu_data_handle_t>(of.handles[h]));
      return handles;
    }

    /// Calls f<T>() with the type that the caller names.
    template <class F>
    auto with_named_real(nf_real real, F const& f)
    {
      if (real == nf_float32) return f.template operator()<float>();
      if (real != nf_float64) refuse_real("values", real);
      return f.template operator()<double>();
    }

    /// Calls insert(tasks, options) with the tasks of a handle.
    template <class Insert>
    nf_status insert(nf_p2p_tasks* tasks, nf_task_options const* given_options,
                     Insert const& insert)
    {
      return guarded(
          [&]
          {
            nf_task_options const of = options_of(given_options, "options");
            starpu::task_options options;
            options.priority = of.priority;
            options.callback = of.callback;
            options.callback_argument = of.callback_argument;
            std::visit([&](auto& one) { insert(*one, options); }, given(tasks, "tasks").of);
          });
    }

    /// What all steps are made with.
    struct step_call
    {
      any_interaction const& k;
      starpu::step_options options;

      step_call(nf_interaction const* interaction, nf_near_field_options const* given_options)
          : k(given(interaction, "k").k)
      {
        near_field_options const of = near_field_options_of(given_options);
        options.accumulate = of.accumulate;
        options.form = of.form;
      }
    };

    /// A step over a tree or cells and the columns of the caller.
    template <class Leaves>
    nf_step* step_over(step_call const& of, char const* name, Leaves const& leaves,
                       nf_columns const& x, nf_columns const* y, nf_columns const& q,
                       nf_columns const& out)
    {
      if constexpr (detail::has_device_leaves<Leaves>)
        throw error(std::string(name) + " is on a GPU; make it in host memory");
      else
      {
        starpu::runtime const starpu;
        auto const groups =
            std::make_shared<leaf_groups<Leaves::dim> const>(group_leaves(starpu, leaves));
        return with_real(x,
                         [&]<class T>()
                         {
                           inputs<T> const targets("x", x), charges("q", q);
                           outputs<T> const sums("out", out);
                           auto const make = [&](auto const&... points)
                           {
                             return new nf_step{groups,
                                                std::make_unique<starpu::near_field<T>>(
                                                    starpu, of.k, *groups, points...,
                                                    charges.view(), sums.view(), of.options)};
                           };
                           if (y == nullptr) return make(targets.view());
                           return make(targets.view(), inputs<T>("y", *y).view());
                         });
      }
    }

    template <class T, int Dim>
    nf_step* step_over_handles(step_call const& of, nf_handles const& x, nf_handles const* y,
                               nf_handles const& q, nf_handles const& out,
                               tree_options<Dim> const& of_tree)
    {
      starpu::runtime const starpu;
      auto const over = [&](starpu::moving_tree<T, Dim> const& tree)
      {
        return new nf_step{
            nullptr, std::make_unique<starpu::near_field<T>>(starpu, of.k, tree, handles_of("q", q),
                                                             handles_of("out", out), of.options)};
      };
      auto const targets = handles_of("x", x);
      if (y == nullptr) return over({starpu, targets, of_tree});
      return over({starpu, targets, handles_of("y", *y), of_tree});
    }

    /// Calls f(near_field) with that of a step.
    template <class F>
    nf_status with_step(nf_step* step, F const& f)
    {
      return guarded([&] { std::visit([&](auto& of) { f(*of); }, given(step, "step").of); });
    }
  }
}

int32_t nf_has_starpu(void)
{
  return 1;
}

nf_status nf_p2p_tasks_create(nf_interaction const* k, nf_real real, nf_p2p_tasks** tasks)
{
  return c::create(
      tasks, "tasks",
      [&]
      {
        any_interaction const& of = c::given(k, "k").k;
        return c::with_named_real(
            real, [&]<class T>()
            { return new nf_p2p_tasks{std::make_unique<starpu::p2p<any_interaction, T>>(of)}; });
      });
}

void nf_p2p_tasks_destroy(nf_p2p_tasks* tasks)
{
  delete tasks;
}

nf_status nf_p2p_tasks_inner(nf_p2p_tasks* tasks, nf_handles x, nf_handles q, nf_handles out,
                             nf_task_options const* options)
{
  return c::insert(tasks, options,
                   [&](auto& to, starpu::task_options const& of)
                   {
                     to.insert_inner({.x = c::handles_of("x", x),
                                      .q = c::handles_of("q", q),
                                      .out = c::handles_of("out", out)},
                                     of);
                   });
}

nf_status nf_p2p_tasks_outer(nf_p2p_tasks* tasks, nf_handles x, nf_handles y, nf_handles q,
                             nf_handles out, nf_task_options const* options)
{
  return c::insert(tasks, options,
                   [&](auto& to, starpu::task_options const& of)
                   {
                     to.insert_outer({.x = c::handles_of("x", x), .out = c::handles_of("out", out)},
                                     {.x = c::handles_of("y", y), .q = c::handles_of("q", q)}, of);
                   });
}

nf_status nf_p2p_tasks_outer_mutual(nf_p2p_tasks* tasks, nf_handles x, nf_handles y, nf_handles x_q,
                                    nf_handles y_q, nf_handles x_out, nf_handles y_out,
                                    nf_task_options const* options)
{
  return c::insert(tasks, options,
                   [&](auto& to, starpu::task_options const& of)
                   {
                     to.insert_outer_mutual({.x = c::handles_of("x", x),
                                             .q = c::handles_of("x_q", x_q),
                                             .out = c::handles_of("x_out", x_out)},
                                            {.x = c::handles_of("y", y),
                                             .q = c::handles_of("y_q", y_q),
                                             .out = c::handles_of("y_out", y_out)},
                                            of);
                   });
}

nf_status nf_p2p_tasks_wait(nf_p2p_tasks* tasks)
{
  return c::guarded([&] { std::visit([](auto& of) { of->wait(); }, c::given(tasks, "tasks").of); });
}

nf_status nf_step_of_tree(nf_interaction const* k, nf_tree const* tree, nf_columns x,
                          nf_columns const* y, nf_columns q, nf_columns out,
                          nf_near_field_options const* options, nf_step** step)
{
  return c::create(step, "step",
                   [&]
                   {
                     c::step_call const of(k, options);
                     return std::visit([&](auto const& leaves)
                                       { return c::step_over(of, "tree", leaves, x, y, q, out); },
                                       c::given(tree, "tree").of);
                   });
}

nf_status nf_step_of_cells(nf_interaction const* k, nf_cells const* cells, nf_columns x,
                           nf_columns const* y, nf_columns q, nf_columns out,
                           nf_near_field_options const* options, nf_step** step)
{
  return c::create(step, "step",
                   [&]
                   {
                     c::step_call const of(k, options);
                     return c::visit_list(
                         c::given(cells, "cells"), [&]<class, int>(auto const& leaves)
                         { return c::step_over(of, "cells", leaves, x, y, q, out); });
                   });
}

nf_status nf_step_of_handles(nf_interaction const* k, nf_real real, nf_handles x,
                             nf_handles const* y, nf_handles q, nf_handles out,
                             nf_tree_options const* tree_options,
                             nf_near_field_options const* options, nf_step** step)
{
  return c::create(
      step, "step",
      [&]
      {
        c::step_call const of(k, options);
        nf_tree_options const of_tree = c::options_of(tree_options, "tree_options");
        return c::with_named_real(
            real,
            [&]<class T>()
            {
              if (of.k.info().dim == 2)
                return c::step_over_handles<T>(of, x, y, q, out, c::tree_options_of<2>(of_tree));
              return c::step_over_handles<T>(of, x, y, q, out, c::tree_options_of<3>(of_tree));
            });
      });
}

void nf_step_destroy(nf_step* step)
{
  delete step;
}

nf_status nf_step_submit(nf_step* step)
{
  return c::with_step(step, [](auto& of) { of.submit(); });
}

nf_status nf_step_wait(nf_step* step)
{
  return c::with_step(step, [](auto& of) { of.wait(); });
}

nf_status nf_step_inputs_changed(nf_step* step)
{
  return c::with_step(step, [](auto& of) { of.inputs_changed(); });
}

nf_status nf_step_positions_changed(nf_step* step)
{
  return c::with_step(step, [](auto& of) { of.positions_changed(); });
}
