#include "moving_tasks.hpp"

#include "cpu_workers.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// The columns of a task.
    template <class T>
    struct task_columns
    {
      explicit task_columns(p2p_sides<T> const& sides)
          : targets{of(sides.targets(), p2p_roles::x), {}, of(sides.targets(), p2p_roles::out)},
            sources{of(sides.sources(), p2p_roles::x), of(sides.sources(), p2p_roles::q), {}}
      {
        if (sides.is_one()) sources.out = targets.out, targets.q = sources.q;
      }

      nearfield::detail::step_set<T> targets, sources;

    private:
      static soa<T, run_time_columns> of(typename p2p_sides<T>::side const& side,
                                         p2p_roles::kind what)
      {
        return {{side.columns[what].data(), side.columns[what].size()}, side.n};
      }
    };

    template <class T, int Dim>
    soa<T const, Dim> positions_of(typename p2p_sides<T>::side const& side)
    {
      std::array<T const*, Dim> x;
      std::copy_n(side[p2p_roles::x], Dim, x.begin());
      return {x, side.n};
    }

    template <class T, int Dim>
    points_of_task<T, Dim> points_of(p2p_sides<T> const& sides)
    {
      return {sides.is_one(), positions_of<T, Dim>(sides.targets()),
              positions_of<T, Dim>(sides.sources())};
    }

    template <class T, int Dim>
    class moving_tasks final : public p2p_codelet<T>
    {
    public:
      moving_tasks(codelet::description const& what, kernel_type<T> const& of)
          : p2p_codelet<T>(what, of)
      {}

    private:
      using argument_type = moving_argument<T, Dim>;

      [[nodiscard]] std::size_t argument_size() const override { return sizeof(argument_type); }

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<argument_type const&>(task.argument);
        try
        {
          run_step(task, argument);
        }
        catch (error const& e)
        {
          throw error("near_field, step " + std::to_string(argument.number) + ": " + e.what(),
                      e.kind(), e.code());
        }
      }

      void run_step(running_task const& task, argument_type const& argument) const
      {
        auto const given = argument.step->sides(starpu_task_get_current(), task.buffers);
        if (given.targets().n == 0) return;
        bool const is_on_gpu = task.on == implementation::cuda;
        try
        {
          if (is_on_gpu)
            run_on_gpu(given, argument, task.stream);
          else
            run_on_cpu(given, argument, this->cpu_kernels(task.on));
        }
        catch (...)
        {
          // tasks that follow may read them before the failure is reported
          if (!argument.step->options.accumulate) clear(given, is_on_gpu ? &task.stream : nullptr);
          throw;
        }
      }

      static void clear(p2p_sides<T> const& given, cuda_stream const* gpu) noexcept
      {
        try
        {
          for (T* const out : given.targets().columns[p2p_roles::out])
            if (gpu)
              nearfield::detail::device_clear(out, given.targets().n * sizeof(T), *gpu);
            else
              std::fill_n(out, given.targets().n, T(0));
        }
        catch (...)
        {
          // a GPU that fails here runs nothing any more
        }
      }

      void run_on_gpu(p2p_sides<T> const& given, argument_type const& argument,
                      cuda_stream stream) const
      {
        moving_work<T, Dim> const& work = *argument.step;
        auto const& tree = work.points->on_gpu(stream, argument.round, points_of<T, Dim>(given));
        nearfield::detail::cuda_step<T> const step{
            "near_field",
            stream,
            this->gpu_kernels(),
            argument.k,
            argument.is_singular,
            work.form_case_of(given.n_rhs()),
            {.accumulate = work.options.accumulate, .form = work.options.form}};
        task_columns<T> const of(given);
        step.run_sorted(tree.on_device(), tree.size(), of.targets, of.sources);
      }

      static void run_on_cpu(p2p_sides<T> const& given, argument_type const& argument,
                             nearfield::detail::p2p_kernels<T> const& kernels)
      {
        moving_work<T, Dim> const& work = *argument.step;
        helping_workers on;
        auto const tree = work.points->on_host(on, argument.round, points_of<T, Dim>(given));
        bool const is_mutual = work.form_on_cpu() == pair_form::mutual;
        nearfield::detail::list_step<T> const step{&on,
                                                   is_mutual ? kernels.mutual : kernels.one_sided,
                                                   argument.k,
                                                   argument.tests_for_zero,
                                                   given.n_rhs(),
                                                   is_mutual,
                                                   {.accumulate = work.options.accumulate}};
        task_columns<T> const of(given);
        step.run_sorted(nearfield::detail::leaves_of(*tree, is_mutual), of.targets, of.sources);
      }
    };
  }

  template <class T, int Dim>
  starpu_codelet& moving_codelet(kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<moving_tasks<T, Dim>>("near_field", k, backends);
  }

  template starpu_codelet& moving_codelet<float, 2>(kernel_type<float> const&, backend_set);
  template starpu_codelet& moving_codelet<float, 3>(kernel_type<float> const&, backend_set);
  template starpu_codelet& moving_codelet<double, 2>(kernel_type<double> const&, backend_set);
  template starpu_codelet& moving_codelet<double, 3>(kernel_type<double> const&, backend_set);
}
