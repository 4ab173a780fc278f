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
    template <class T>
    class moving_tasks : public p2p_codelet<T>
    {
    public:
      moving_tasks(codelet::description const& what, kernel_type<T> const& of)
          : p2p_codelet<T>(what, of)
      {}

    private:
      [[nodiscard]] std::size_t argument_size() const override
      {
        return sizeof(moving_argument<T>);
      }
      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<moving_argument<T> const&>(task.argument);
        bool const is_on_gpu = task.on == implementation::cuda;
        try
        {
          argument.step->run(task, argument, is_on_gpu ? nullptr : &this->cpu_kernels(task.on),
                             is_on_gpu ? &this->gpu_kernels() : nullptr);
        }
        catch (error const& e)
        {
          throw error("near_field, step " + std::to_string(argument.number) + ": " + e.what(),
                      e.kind(), e.code());
        }
      }
    };
  }

  /// The columns of a task: those of the targets and, of two sets, of the sources.
  template <class T, int Dim>
  struct moving_work_of<T, Dim>::task_columns
  {
    task_columns(p2p_buffers& from, interaction_shape const& shape, bool one_set)
        : both(one_set ? array_form::inner : array_form::outer, shape, sizeof(T), from),
          n_rhs(both.targets().n_rhs), targets(both.targets(), shape, n_rhs),
          sources(both.sources(), shape, n_rhs), points{one_set, positions(targets, both.targets()),
                                                        positions(sources, both.sources())}
    {
      static_cast<void>(both.n_rhs()); // throws if those of q and out differ
    }

    static soa<T const, Dim> positions(side_columns<T> const& columns, side const& of)
    {
      std::array<T const*, Dim> x;
      std::copy_n(columns.x.data(), Dim, x.begin());
      return {x, of.x.size()};
    }
    [[nodiscard]] std::size_t n_targets() const { return both.targets().x.size(); }
    [[nodiscard]] std::size_t n_sources() const { return both.sources().x.size(); }
    [[nodiscard]] soa<T const, run_time_columns> x() const
    {
      return {{targets.x.data(), targets.x.size()}, n_targets()};
    }
    [[nodiscard]] soa<T const, run_time_columns> y() const
    {
      return {{sources.x.data(), sources.x.size()}, n_sources()};
    }
    [[nodiscard]] soa<T const, run_time_columns> q() const
    {
      return {{sources.q.data(), sources.q.size()}, n_sources()};
    }
    [[nodiscard]] soa<T, run_time_columns> out() const
    {
      return {{targets.out.data(), targets.out.size()}, n_targets()};
    }

    sides both;
    int n_rhs;
    side_columns<T> targets, sources;
    points_of_task<T, Dim> points;
  };

  template <class T, int Dim>
  void moving_work_of<T, Dim>::run(running_task const& task, moving_argument<T> const& argument,
                                   p2p_kernels<T> const* on_cpu, cuda_kernels<T> const* on_gpu)
  {
    p2p_buffers from("near_field", layout(), task.buffers);
    task_columns const given(from, *this->k.type, has_one_set());
    if (given.n_targets() == 0) return;
    try
    {
      if (on_gpu)
        run_on_gpu(given, argument, *on_gpu, task.stream);
      else
        run_on_cpu(given, argument, *on_cpu);
    }
    catch (...)
    {
      // tasks that follow may read them before the failure is reported
      if (!options_.accumulate) clear(given, on_gpu ? &task.stream : nullptr);
      throw;
    }
  }

  template <class T, int Dim>
  void moving_work_of<T, Dim>::clear(task_columns const& given,
                                     cuda_stream const* gpu) const noexcept
  {
    try
    {
      for (T* const out : given.targets.out)
        if (gpu)
          nearfield::detail::device_clear(out, given.n_targets() * sizeof(T), *gpu);
        else
          std::fill_n(out, given.n_targets(), T(0));
    }
    catch (...)
    {
      // a GPU that fails here runs nothing any more
    }
  }

  template <class T, int Dim>
  void moving_work_of<T, Dim>::run_on_gpu(task_columns const& given,
                                          moving_argument<T> const& argument,
                                          cuda_kernels<T> const& kernels, cuda_stream stream) const
  {
    auto const& tree = points->on_gpu(stream, argument.round, given.points);
    nearfield::detail::cuda_step<T> const step{
        "near_field",
        stream,
        kernels,
        argument.k,
        argument.is_singular,
        form_case_of(given.n_rhs),
        {.accumulate = options_.accumulate, .form = options_.form}};
    nearfield::detail::cuda_set<T> const sources{given.y(), given.q(), given.out()};
    if (has_one_set())
      step.run_sorted(tree.on_device(), tree.size(), sources, sources);
    else
      step.run_sorted(tree.on_device(), tree.size(), {given.x(), {}, given.out()},
                      {given.y(), given.q(), {}});
  }

  template <class T, int Dim>
  void moving_work_of<T, Dim>::run_on_cpu(task_columns const& given,
                                          moving_argument<T> const& argument,
                                          p2p_kernels<T> const& kernels) const
  {
    task_workers on;
    auto const tree = points->on_host(on, argument.round, given.points);
    bool const is_mutual = form_on_cpu() == pair_form::mutual;
    nearfield::detail::list_step<T> const step{&on,
                                               is_mutual ? kernels.mutual : kernels.one_sided,
                                               argument.k,
                                               argument.tests_for_zero,
                                               given.n_rhs,
                                               is_mutual,
                                               {.accumulate = options_.accumulate}};
    if (has_one_set())
      step.run_sorted(tree->target_order(), tree->targets(),
                      is_mutual ? tree->half_interactions() : tree->interactions(), given.x(),
                      given.q(), given.out());
    else
      step.run_sorted(tree->target_order(), tree->source_order(), tree->targets(),
                      tree->interactions(), given.x(), given.y(), given.q(), given.out());
  }

  template <class T>
  starpu_codelet& moving_codelet(kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<moving_tasks<T>>("near_field", k, backends);
  }

  template class moving_work_of<float, 2>;
  template class moving_work_of<float, 3>;
  template class moving_work_of<double, 2>;
  template class moving_work_of<double, 3>;
  template starpu_codelet& moving_codelet(kernel_type<float> const&, backend_set);
  template starpu_codelet& moving_codelet(kernel_type<double> const&, backend_set);
}
