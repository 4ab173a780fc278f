#include "list_tasks.hpp"

#include "core/src/cuda/gpu_clock.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    using nearfield::detail::task_head;

    /// What the buffers of a task hold. They may be in GPU memory: only addresses are computed.
    template <class T>
    list_data<T> list_of_buffers(pair_form form, interaction_shape const& k,
                                 p2p_argument const& argument, void** buffers)
    {
      task_head const& head = *argument.head;
      bool const has_halo = form == pair_form::mutual;
      void** next = buffers;
      nearfield::detail::task_list_view list;
      if (!argument.list_on_gpu)
        list = {head, reinterpret_cast<void const*>(STARPU_VECTOR_GET_PTR(*next++))};
      list_data<T> data{k, head, list, argument.n_rhs};
      data.out = {*next++, data.n_rhs * k.n_out};
      if (has_halo) data.halo = {*next++, data.n_rhs * k.n_out};
      for (index_type b = 0; b < std::max(head.n_sources, head.target_buffer + 1); ++b)
        data.x.push_back({*next++, k.dim});
      for (index_type b = 0; b < head.n_sources; ++b)
        data.q.push_back({*next++, data.n_rhs * k.n_in});
      return data;
    }

    template <class T>
    void launch(char const* operation, cuda_function<T> kernel, p2p_argument const& argument,
                list_data<T> const& data, cuda_stream stream)
    {
      interaction_shape const& k = data.k;
      bool const has_halo = data.halo.first != nullptr;
      if (!argument.accumulates)
        nearfield::detail::device_clear(data.out.first, data.n_out_values() * sizeof(T), stream);
      if (has_halo)
        nearfield::detail::device_clear(data.halo.first, data.n_halo_values() * sizeof(T), stream);
      // all sources of a launch with up to three columns each fit without allocation
      inline_vector<T const*, std::size_t(most_source_allocations) * 3> source_x, source_q;
      inline_vector<T const*, 16> target_x;
      for (int d = 0; d < k.dim; ++d)
        target_x.push_back(data.x[data.head.target_buffer][d] + data.head.target_begin);
      for (index_type b = 0; b < data.head.n_sources; ++b)
        for (int d = 0; d < k.dim; ++d) source_x.push_back(data.x[b][d]);

      cuda_job<T> job;
      data.set_common(job, argument);
      if (argument.list_on_gpu)
        argument.list_on_gpu->describe_to(job);
      else
      {
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
      job.source_x = source_x.data();
      inline_vector<T const*, 16> target_q;
      inline_vector<T*, 16> target_out, halo_out;
      for (index_type b = 0; b < data.head.n_sources; ++b)
        for (int i = 0; i < data.n_rhs * k.n_in; ++i) source_q.push_back(data.q[b][i]);
      for (int o = 0; o < data.n_rhs * k.n_out; ++o) target_out.push_back(data.out[o]);
      job.source_q = source_q.data();
      job.target_out = target_out.data();
      if (has_halo)
      {
        for (int i = 0; i < data.n_rhs * k.n_in; ++i)
          target_q.push_back(data.q[data.head.target_buffer][i] + data.head.target_begin);
        for (int o = 0; o < data.n_rhs * k.n_out; ++o) halo_out.push_back(data.halo[o]);
        job.target_q = target_q.data();
        job.halo_out = halo_out.data();
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
        auto const data = list_of_buffers<T>(form_, this->shape(), argument, task.buffers);
        bool const is_mutual = form_ == pair_form::mutual;
        if (task.on == implementation::cuda)
        {
          cuda_kernels<T> const& kernels = this->gpu_kernels();
          launch(this->name, is_mutual ? kernels.mutual : kernels.one_sided, argument, data,
                 task.stream);
        }
        else
        {
          p2p_kernels<T> const& kernels = this->cpu_kernels(task.on);
          double const begin = starpu_timing_now(); // in microseconds
          run_list(is_mutual ? kernels.mutual : kernels.one_sided, argument, data);
          if (argument.watch) argument.watch->took(1e-6 * (starpu_timing_now() - begin));
        }
      }

      pair_form form_;
    };
  }

  template <class T>
  void run_list(p2p_function<T> kernel, p2p_argument const& argument, list_data<T> const& data)
  {
    interaction_shape const& k = data.k;
    bool const has_halo = data.halo.first != nullptr;
    if (!argument.accumulates) std::fill_n(data.out.first, data.n_out_values(), T(0));
    if (has_halo) std::fill_n(data.halo.first, data.n_halo_values(), T(0));
    std::span<source_set const> const sets(data.list.sets, data.head.n_sets);
    inline_vector<T const*, 16> target_x;
    inline_vector<T*, 16> target_out;
    std::vector<T const*> source_x, source_q;
    std::vector<T*> source_out;
    for (int d = 0; d < k.dim; ++d)
      target_x.push_back(data.x[data.head.target_buffer][d] + data.head.target_begin);
    source_x.reserve(sets.size() * static_cast<std::size_t>(k.dim));
    source_q.reserve(sets.size() * static_cast<std::size_t>(data.n_rhs * k.n_in));
    if (has_halo) source_out.reserve(sets.size() * static_cast<std::size_t>(data.n_rhs * k.n_out));
    for (source_set const& set : sets)
      for (int d = 0; d < k.dim; ++d) source_x.push_back(data.x[set.allocation][d] + set.begin);

    p2p_job<T> job;
    data.set_common(job, argument);
    job.last_box = data.head.n_boxes;
    job.tests_for_zero = argument.tests_for_zero;
    job.target_x = target_x.data();
    job.source_x = source_x.data();
    for (int o = 0; o < data.n_rhs * k.n_out; ++o) target_out.push_back(data.out[o]);
    for (source_set const& set : sets)
    {
      for (int i = 0; i < data.n_rhs * k.n_in; ++i)
        source_q.push_back(data.q[set.allocation][i] + set.begin);
      if (has_halo) // set 0 is the group itself
        for (int o = 0; o < data.n_rhs * k.n_out; ++o)
          source_out.push_back(&set == sets.data() ? data.out[o] : data.halo[o] + set.halo);
    }
    job.target_out = target_out.data();
    job.source_q = source_q.data();
    if (has_halo)
    {
      job.target_q = source_q.data();
      job.source_out = source_out.data();
    }
    kernel(argument.k, job);
  }

  template <class T>
  starpu_codelet& list_codelet(pair_form form, kernel_type<T> const& k, backend_set backends)
  {
    return p2p_codelet<T>::template of<list_tasks<T>>(
        form == pair_form::mutual ? "p2p_mutual_group" : "p2p_gather", k, backends, form);
  }

  template void run_list(p2p_function<float>, p2p_argument const&, list_data<float> const&);
  template void run_list(p2p_function<double>, p2p_argument const&, list_data<double> const&);
  template starpu_codelet& list_codelet(pair_form, kernel_type<float> const&, backend_set);
  template starpu_codelet& list_codelet(pair_form, kernel_type<double> const&, backend_set);
}
