#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/runtime/task_list.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::starpu::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The kernel's job of a task with a list: column pointers from its buffers, which are
  ///
  ///     list, out, [halo], the x of every source buffer, [x of the targets], the q of every source buffer
  ///
  /// Outputs are set to zero: the first kernel call adds to nothing.
  template <class K, class T, bool HasHalo>
  class list_job
  {
  public:
    list_job(nearfield::detail::task_head const& head, void** buffers)
        : head_(head), list_(head, reinterpret_cast<void const*>(STARPU_VECTOR_GET_PTR(buffers[0])))
    {
      columns<T> const all_out(buffers[1], 1);
      n_rhs_ = static_cast<int>(all_out.n / head.n_targets) / K::n_out;
      out_ = columns<T>(buffers[1], n_rhs_ * K::n_out);
      std::fill_n(all_out.first, all_out.n, T(0));
      void** next = buffers + 2;
      if constexpr (HasHalo)
      {
        columns<T> const all_halo(*next, 1);
        halo_ = columns<T>(*next, n_rhs_ * K::n_out);
        std::fill_n(all_halo.first, all_halo.n, T(0));
        ++next;
      }
      index_type const n_x = std::max(head.n_sources, head.target_buffer + 1);
      std::size_t const n_slots = head.n_slots;
      source_x_.reserve(n_slots * K::dim);
      for (source_slot const& slot : slots())
        for (int d = 0; d < K::dim; ++d)
          source_x_.push_back(columns<T const>(next[slot.buffer], K::dim)[d] + slot.begin);
      for (int d = 0; d < K::dim; ++d)
        target_x_[d] = columns<T const>(next[head.target_buffer], K::dim)[d] + head.target_begin;
      q_buffers_ = next + n_x;
      source_q_.resize(n_slots * K::n_in);
      if constexpr (HasHalo) source_out_.resize(n_slots * K::n_out);
    }

    [[nodiscard]] int n_rhs() const { return n_rhs_; }

    /// The job for one right-hand side.
    p2p_job<T> job(K const& k, int rhs)
    {
      std::size_t s = 0;
      for (source_slot const& slot : slots())
      {
        columns<T const> const q(q_buffers_[slot.buffer], n_rhs_ * K::n_in);
        for (int i = 0; i < K::n_in; ++i)
          source_q_[s * K::n_in + i] = q[rhs * K::n_in + i] + slot.begin;
        if constexpr (HasHalo)
          for (int o = 0; o < K::n_out; ++o)
            source_out_[s * K::n_out + o] =
                s == 0 ? out_[rhs * K::n_out + o] : halo_[rhs * K::n_out + o] + slot.halo;
        ++s;
      }
      for (int o = 0; o < K::n_out; ++o) target_out_[o] = out_[rhs * K::n_out + o];

      p2p_job<T> job;
      job.target_x = target_x_;
      job.target_out = target_out_;
      job.source_x = source_x_.data();
      job.source_q = source_q_.data();
      if constexpr (HasHalo)
      {
        // slot 0 is the group itself
        job.target_q = source_q_.data();
        job.source_out = source_out_.data();
      }
      job.box_offsets = list_.box_offsets;
      job.own = list_.own;
      job.range_offsets = list_.range_offsets;
      job.ranges = list_.ranges;
      job.last_box = head_.n_boxes;
      job.own_is_self = head_.target_buffer < head_.n_sources;
      job.tests_for_zero = nearfield::detail::tests_for_zero<T>(k);
      return job;
    }

  private:
    [[nodiscard]] std::span<source_slot const> slots() const
    {
      return {list_.slots, head_.n_slots};
    }

    nearfield::detail::task_head head_;
    nearfield::detail::task_list_view list_;
    int n_rhs_ = 0;
    columns<T> out_, halo_;
    void** q_buffers_ = nullptr;
    T const* target_x_[K::dim];
    T* target_out_[K::n_out];
    std::vector<T const*> source_x_, source_q_;
    std::vector<T*> source_out_;
  };
}
