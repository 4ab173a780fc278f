#include "list_tasks.hpp"

#include "columns.hpp"
#include "core/src/cuda/gpu_clock.hpp"
#include "kernels/src/p2p/group_job.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <cstddef>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// The work of one group: its list, and the columns that the list refers to, which may be in GPU memory: only
    /// addresses are computed. Pointers to columns fit without allocation in a launch with up to three columns each.
    template <class T>
    struct list_data
    {
      list_data(pair_form form, kernel_shape const& shape, p2p_argument const& argument,
                void** buffers)
          : k(shape), head(*argument.head), n_in(argument.n_rhs * k.n_in),
            n_out(argument.n_rhs * k.n_out)
      {
        void** next = buffers;
        if (!argument.list_on_gpu)
          list = {head, reinterpret_cast<void const*>(STARPU_VECTOR_GET_PTR(*next++))};
        sums = {*next++, n_out};
        push(sums, n_out, out);
        if (form == pair_form::mutual)
        {
          halo_sums = {*next++, n_out};
          push(halo_sums, n_out, halo);
        }
        for (index_type b = 0; b < std::max(head.n_sources, head.target_buffer + 1); ++b)
          push(columns<T const>(*next++, k.n_x), k.n_x, x);
        for (index_type b = 0; b < head.n_sources; ++b)
          push(columns<T const>(*next++, n_in), n_in, q);
      }
      template <class U, class Pointers>
      static void push(columns<U> const& buffer, int n, Pointers& to)
      {
        for (int c = 0; c < n; ++c) to.push_back(buffer[c]);
      }

      kernel_shape const& k;
      nearfield::detail::task_head const& head;
      nearfield::detail::task_list_view list;
      int n_in, n_out;            ///< columns of all right-hand sides
      columns<T> sums, halo_sums; ///< no halo in the one-sided form
      /// by source buffer, x also of the targets
      inline_vector<T const*, std::size_t(nearfield::detail::most_source_allocations) * 3> x, q;
      inline_vector<T*, 16> out, halo;

      /// Calls clear(first, values) for what the task overwrites.
      template <class Clear>
      void clear(bool accumulates, Clear const& clear) const
      {
        auto const values = [&](columns<T> const& of)
        {
          return std::size_t(of.n) * static_cast<std::size_t>(n_out);
        };
        if (!accumulates) clear(sums.first, values(sums));
        if (halo_sums.first) clear(halo_sums.first, values(halo_sums));
      }
    };

    template <class T>
    void compute(nearfield::detail::p2p_function<T> kernel, p2p_argument const& argument,
                 list_data<T> const& data)
    {
      data.clear(argument.accumulates,
                 [](T* first, std::size_t n) { std::fill_n(first, n, T(0)); });
      nearfield::detail::p2p_job<T> job;
      job.n_rhs = argument.n_rhs;
      job.tests_for_zero = argument.tests_for_zero;
      job.ranges_may_coincide = argument.ranges_may_coincide;
      nearfield::detail::run_group<T>(kernel, argument.k, job, data.head, data.list,
                                      {data.k.n_x, data.n_in, data.n_out, data.x.data(),
                                       data.q.data(), data.out.data(),
                                       data.halo_sums.first ? data.halo.data() : nullptr},
                                      argument.excluded);
    }

    template <class T>
    void launch(char const* operation, nearfield::detail::cuda_function<T> kernel,
                p2p_argument const& argument, list_data<T> const& data, cuda_stream stream)
    {
      bool const has_halo = data.halo_sums.first != nullptr;
      data.clear(argument.accumulates, [&](T* first, std::size_t n)
                 { nearfield::detail::device_clear(first, n * sizeof(T), stream); });
      inline_vector<T const*, 16> target_x, target_q;
      auto const of_targets = [&](auto const& columns, int n, auto& to)
      {
        for (int c = 0; c < n; ++c)
          to.push_back(columns[data.head.target_buffer * static_cast<std::size_t>(n) +
                               static_cast<std::size_t>(c)] +
                       data.head.target_begin);
      };
      of_targets(data.x, data.k.n_x, target_x);

      nearfield::detail::cuda_job<T> job;
      job.n_rhs = argument.n_rhs;
      job.own_is_self = data.head.target_buffer < data.head.n_sources;
      job.ranges_may_coincide = argument.ranges_may_coincide;
      if (argument.list_on_gpu)
        argument.list_on_gpu->describe_to(job);
      else
      {
        static_cast<nearfield::detail::list_view&>(job) = data.list;
        job.items = data.list.items;
        job.n_wide = data.head.n_wide;
        job.n_medium = data.head.n_medium;
        job.n_items = data.head.n_items;
        if (has_halo) job.sets = data.list.sets;
      }
      job.singular = argument.is_singular;
      job.stream = stream;
      job.n_allocations = static_cast<int>(data.head.n_sources);
      job.target_x = target_x.data();
      job.source_x = data.x.data();
      job.source_q = data.q.data();
      job.target_out = data.out.data();
      if (has_halo)
      {
        of_targets(data.q, data.n_in, target_q);
        job.target_q = target_q.data();
        job.halo_out = data.halo.data();
      }
      void* const begun = argument.clock ? argument.clock->begin(stream) : nullptr;
      check_cuda(kernel(argument.k, job), operation);
      if (begun) argument.clock->end(begun, stream);
    }

    template <class T>
    class list_tasks : public p2p_codelet<T>
    {
    public:
      list_tasks(codelet::description const& what, kernel_type<T> const& k, pair_form form)
          : p2p_codelet<T>(what, k), form_(form)
      {}

    private:
      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<p2p_argument const&>(task.argument);
        list_data<T> const data(form_, this->shape(), argument, task.buffers);
        bool const is_mutual = form_ == pair_form::mutual;
        if (task.on == implementation::cuda)
        {
          nearfield::detail::cuda_kernels<T> const& kernels = this->gpu_kernels();
          launch(this->name, is_mutual ? kernels.mutual : kernels.one_sided, argument, data,
                 task.stream);
        }
        else
        {
          nearfield::detail::p2p_kernels<T> const& kernels = this->cpu_kernels(task.on);
          double const begin = starpu_timing_now(); // in microseconds
          compute(is_mutual ? kernels.mutual : kernels.one_sided, argument, data);
          if (argument.watch) argument.watch->took(1e-6 * (starpu_timing_now() - begin));
        }
      }

      pair_form form_;
    };
  }

  template <class T>
  starpu_codelet& list_codelet(pair_form form, kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<list_tasks<T>>(
        form == pair_form::mutual ? "p2p_mutual_group" : "p2p_gather", k, backends, form);
  }

  template starpu_codelet& list_codelet(pair_form, kernel_type<float> const&, backend_set);
  template starpu_codelet& list_codelet(pair_form, kernel_type<double> const&, backend_set);
}
