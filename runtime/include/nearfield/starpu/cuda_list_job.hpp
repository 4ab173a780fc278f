#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda_job.hpp>
#include <nearfield/runtime/task_list.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <array>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// list_job on a GPU: the buffers are the same, in device memory, and only their addresses are used here.
  template <class K, class T, bool HasHalo>
  class cuda_list_job
  {
  public:
    cuda_list_job(nearfield::detail::task_head const& head, void** buffers, cuda_stream stream)
        : head_(head),
          list_(head, reinterpret_cast<void const*>(STARPU_VECTOR_GET_PTR(buffers[0]))),
          stream_(stream)
    {
      columns<T> const all_out(buffers[1], 1);
      n_rhs_ = static_cast<int>(all_out.n / head.n_targets) / K::n_out;
      out_ = columns<T>(buffers[1], n_rhs_ * K::n_out);
      nearfield::detail::device_clear(all_out.first, all_out.n * sizeof(T), stream);
      void** next = buffers + 2;
      if constexpr (HasHalo)
      {
        columns<T> const all_halo(*next, 1);
        halo_ = columns<T>(*next, n_rhs_ * K::n_out);
        nearfield::detail::device_clear(all_halo.first, all_halo.n * sizeof(T), stream);
        ++next;
      }
      for (index_type b = 0; b < head.n_sources; ++b)
        for (int d = 0; d < K::dim; ++d)
          source_x_[b * K::dim + d] = columns<T const>(next[b], K::dim)[d];
      for (int d = 0; d < K::dim; ++d)
        target_x_[d] = columns<T const>(next[head.target_buffer], K::dim)[d] + head.target_begin;
      q_buffers_ = next + std::max(head.n_sources, head.target_buffer + 1);
    }

    [[nodiscard]] int n_rhs() const { return n_rhs_; }

    /// The job for one right-hand side.
    cuda_job<T> job(K const& k, int rhs)
    {
      for (index_type b = 0; b < head_.n_sources; ++b)
        for (int i = 0; i < K::n_in; ++i)
          source_q_[b * K::n_in + i] =
              columns<T const>(q_buffers_[b], n_rhs_ * K::n_in)[rhs * K::n_in + i];
      for (int o = 0; o < K::n_out; ++o) target_out_[o] = out_[rhs * K::n_out + o];

      cuda_job<T> job;
      job.target_x = target_x_.data();
      job.target_out = target_out_.data();
      job.source_x = source_x_.data();
      job.source_q = source_q_.data();
      job.n_buffers = static_cast<int>(head_.n_sources);
      if constexpr (HasHalo)
      {
        for (int i = 0; i < K::n_in; ++i)
          target_q_[i] = source_q_[head_.target_buffer * K::n_in + i] + head_.target_begin;
        for (int o = 0; o < K::n_out; ++o) halo_out_[o] = halo_[rhs * K::n_out + o];
        job.target_q = target_q_.data();
        job.halo_out = halo_out_.data();
        job.slots = list_.slots;
      }
      job.box_offsets = list_.box_offsets;
      job.own = list_.own;
      job.range_offsets = list_.range_offsets;
      job.ranges = list_.ranges;
      job.items = list_.items;
      job.n_wide = head_.n_wide;
      job.n_medium = head_.n_medium;
      job.n_items = head_.n_items;
      job.own_is_self = head_.target_buffer < head_.n_sources;
      job.singular = is_singular<T>(k);
      job.stream = stream_;
      return job;
    }

  private:
    nearfield::detail::task_head head_;
    nearfield::detail::task_list_view list_;
    cuda_stream stream_;
    int n_rhs_ = 0;
    columns<T> out_, halo_;
    void** q_buffers_ = nullptr;
    std::array<T const*, K::dim> target_x_;
    std::array<T const*, K::n_in> target_q_;
    std::array<T*, K::n_out> target_out_, halo_out_;
    std::array<T const*, most_cuda_buffers * K::dim> source_x_;
    std::array<T const*, most_cuda_buffers * K::n_in> source_q_;
  };
}
