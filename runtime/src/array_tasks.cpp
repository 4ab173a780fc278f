#include "array_tasks.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/cuda_job.hpp>

#include <string>

namespace nearfield::starpu::detail
{
  namespace
  {
    char const* name_of(array_form form)
    {
      switch (form)
      {
      case array_form::inner:
        return "p2p_inner";
      case array_form::outer:
        return "p2p_outer";
      default:
        return "p2p_outer_mutual";
      }
    }

    p2p_buffers::layout layout_of(array_form form, interaction_shape const& k)
    {
      switch (form)
      {
      case array_form::inner:
        return {.roles = 3, .coordinates = k.dim, .values = k.n_in + k.n_out};
      case array_form::outer:
        return {.roles = 4, .coordinates = 2 * k.dim, .values = k.n_in + k.n_out};
      default:
        return {.roles = 6, .coordinates = 2 * k.dim, .values = 2 * (k.n_in + k.n_out)};
      }
    }

    /// The points of one side of a task: coordinates and, if the task has them on this side, inputs and
    /// outputs.
    struct side
    {
      p2p_buffers::role x, q, out;
      int n_rhs = 1;
    };

    /// The two sides of a task, made from its buffers role by role.
    class sides
    {
    public:
      sides(array_form form, interaction_shape const& k, std::size_t size_of_real,
            p2p_buffers& from)
          : from_(from), k_(k), size_of_real_(size_of_real), is_one_(form == array_form::inner)
      {
        take_x(x_, "x");
        switch (form)
        {
        case array_form::inner:
          take_q(x_, "q");
          take_out(x_, "out");
          break;
        case array_form::outer:
          take_x(y_, "y");
          take_q(y_, "q");
          take_out(x_, "out");
          break;
        case array_form::outer_mutual:
          take_x(y_, "y");
          take_q(x_, "x_q");
          take_q(y_, "y_q");
          take_out(x_, "x_out");
          take_out(y_, "y_out");
          break;
        }
      }

      [[nodiscard]] bool is_one() const { return is_one_; }
      [[nodiscard]] side const& targets() const { return x_; }
      [[nodiscard]] side const& sources() const { return is_one_ ? x_ : y_; }

      /// The number of right-hand sides; 0 if a side has no points, since packed columns then do not tell.
      /// Throws nearfield::error if the numbers of both sides differ.
      [[nodiscard]] int n_rhs() const
      {
        side const &targets = this->targets(), &sources = this->sources();
        if (targets.x.size() == 0 || sources.x.size() == 0) return 0;
        if (targets.n_rhs != sources.n_rhs)
          throw error(std::string(from_.codelet()) + ": the targets have " +
                      std::to_string(targets.n_rhs) + " right-hand sides, the sources " +
                      std::to_string(sources.n_rhs) + "; give one output for each");
        return targets.n_rhs;
      }

      /// Directed pairs, times the number of right-hand sides.
      [[nodiscard]] double pairs() const
      {
        double const n = targets().x.size(), m = sources().x.size();
        double const of_one = is_one_ ? n * (n - 1) : sources().out ? 2 * n * m : n * m;
        return n_rhs() * of_one;
      }

    private:
      void take_x(side& to, char const* what)
      {
        to.x = from_.coordinates(what, k_.dim, size_of_real_);
      }
      void take_q(side& to, char const* what)
      {
        to.q = from_.values(what, k_.n_in, size_of_real_, to.x.size(), false);
        to.n_rhs = to.q.n_rhs();
      }
      void take_out(side& to, char const* what)
      {
        to.out = from_.values(what, k_.n_out, size_of_real_, to.x.size(), true);
        if (to.q && to.out.n_rhs() != to.n_rhs)
          throw error(std::string(from_.codelet()) + ": q has " + std::to_string(to.n_rhs) +
                      " right-hand sides, " + what + " has " + std::to_string(to.out.n_rhs()) +
                      "; give one output for each");
        to.n_rhs = to.out.n_rhs();
      }

      p2p_buffers& from_;
      interaction_shape const& k_;
      std::size_t size_of_real_;
      bool is_one_;
      side x_, y_;
    };

    /// The columns of one side, those of q and out for all right-hand sides.
    template <class T>
    struct side_columns
    {
      inline_vector<T const*, 16> x, q;
      inline_vector<T*, 16> out;

      side_columns(side const& of, interaction_shape const& k, int n_rhs)
      {
        for (int d = 0; d < k.dim; ++d) x.push_back(of.x.column<T const>(d));
        if (of.q)
          for (int i = 0; i < n_rhs * k.n_in; ++i) q.push_back(of.q.column<T const>(i));
        if (of.out)
          for (int o = 0; o < n_rhs * k.n_out; ++o) out.push_back(of.out.column<T>(o));
      }
      [[nodiscard]] T const* const* inputs() const { return q.size() > 0 ? q.data() : nullptr; }
      [[nodiscard]] T* const* outputs() const { return out.size() > 0 ? out.data() : nullptr; }
    };

    /// Calls launch(job) with the columns of both sides in the job; not at all if a side has no points.
    template <class T, class Job, class Launch>
    void launch_columns(sides const& both, interaction_shape const& k, Job job,
                        Launch const& launch)
    {
      job.n_rhs = both.n_rhs();
      if (job.n_rhs == 0) return;
      side_columns<T> const targets(both.targets(), k, job.n_rhs),
          sources(both.sources(), k, job.n_rhs);
      job.own_is_self = both.is_one();
      job.target_x = targets.x.data();
      job.target_q = targets.inputs();
      job.target_out = targets.outputs();
      job.source_x = sources.x.data();
      job.source_q = sources.inputs();
      if constexpr (requires { job.source_out; })
        job.source_out = sources.outputs();
      else if (!both.is_one())
        job.halo_out = sources.outputs();
      launch(job);
    }
  }

  template <class T>
  array_tasks<T>& array_tasks<T>::of(array_form form, kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<array_tasks>(name_of(form), k, backends, form);
  }

  template <class T>
  void array_tasks<T>::run(running_task const& task) const
  {
    auto const& argument = static_cast<p2p_argument const&>(task.argument);
    interaction_shape const& k = this->shape();
    p2p_buffers from(this->name, layout_of(form_, k), task.buffers);
    sides const both(form_, k, sizeof(T), from);
    index_type const n_targets = both.targets().x.size(), n_sources = both.sources().x.size();
    bool const may_be_mutual = form_ != array_form::outer;
    if (task.on == implementation::cuda)
    {
      cuda_kernels<T> const& kernels = this->gpu_kernels();
      auto const kernel = may_be_mutual && kernels.mutual ? kernels.mutual : kernels.one_sided;
      cuda_job<T> job;
      job.singular = argument.is_singular;
      job.stream = task.stream;
      job.n_targets = n_targets;
      job.n_sources = n_sources;
      launch_columns<T>(both, k, job,
                        [&](cuda_job<T> const& ready)
                        { check_cuda(kernel(argument.k, ready), this->name); });
    }
    else
    {
      p2p_kernels<T> const& kernels = this->cpu_kernels(task.on);
      auto const kernel = may_be_mutual && kernels.mutual ? kernels.mutual : kernels.one_sided;
      // one box, whose own sources are all sources
      index_type const box_offsets[] = {0, n_targets}, no_ranges[] = {0, 0};
      source_range const own{.end = n_sources}, no_range;
      p2p_job<T> job;
      job.box_offsets = box_offsets;
      job.own = &own;
      job.range_offsets = no_ranges;
      job.ranges = &no_range;
      job.last_box = 1;
      job.tests_for_zero = argument.tests_for_zero;
      launch_columns<T>(both, k, job, [&](p2p_job<T> const& ready) { kernel(argument.k, ready); });
    }
  }

  template <class T>
  double array_tasks<T>::pairs(std::span<p2p_handles const> roles) const
  {
    p2p_buffers from(this->name, layout_of(form_, this->shape()), roles);
    return sides(form_, this->shape(), sizeof(T), from).pairs();
  }

  template <class T>
  double array_tasks<T>::work_of(starpu_task* task) const noexcept
  {
    try
    {
      p2p_buffers from(this->name, layout_of(form_, this->shape()), task);
      return sides(form_, this->shape(), sizeof(T), from).pairs();
    }
    catch (...)
    {
      return 0;
    }
  }

  template class array_tasks<float>;
  template class array_tasks<double>;
}
