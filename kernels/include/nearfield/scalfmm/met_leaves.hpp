#pragma once

#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/scalfmm/leaf.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfield::scalfmm3::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// What one target leaf meets, up to 32 other leaves in one call of a kernel: each is a chunk of
  /// sources of its own, with its shift, and small leaves fill a panel together.
  template <class MatrixKernel, class T, bool Mutual>
  class met_leaves
  {
    using K = typename MatrixKernel::interaction_type;
    static constexpr std::size_t km = MatrixKernel::km, kn = MatrixKernel::kn;
    using columns_type = leaf_columns<T, K::dim, int{km}, int{kn}>;

  public:
    met_leaves(K const& k, columns_type const& target) : k_(k), target_(target)
    {
      p2p_kernels<T> const kernels = kernels_of<T, K>(simd);
      kernel_ = Mutual ? kernels.mutual : kernels.one_sided;
    }

    void add(columns_type const& leaf, std::array<double, 3> const& shift)
    {
      if (count_ == most) run();
      leaves_[count_] = leaf;
      ranges_[count_] = {.begin = 0,
                         .end = static_cast<index_type>(leaf.size),
                         .chunk = static_cast<std::uint16_t>(count_),
                         .shift = static_cast<std::uint16_t>(count_ + 1)};
      shifts_[++count_] = shift;
      shifted_ = shifted_ || shift != std::array<double, 3>{};
    }

    /// Meets the leaves added since the last run.
    void run()
    {
      if (count_ == 0) return;
      index_type const offsets[] = {0, static_cast<index_type>(target_.size)};
      index_type const range_offsets[] = {0, static_cast<index_type>(count_)};
      source_range const own;
      p2p_job<T> job;
      job.box_offsets = offsets;
      job.own = &own;
      job.range_offsets = range_offsets;
      job.ranges = ranges_.data();
      job.shifts = shifts_.data();
      job.last_box = 1;
      job.tests_for_zero = nearfield::detail::tests_for_zero<T>(k_);
      // Two leaves of one set share no place, but an image on the far border may touch one, and the
      // sources of p2p_outer may be another set.
      job.ranges_may_coincide = !Mutual || shifted_;
      for (std::size_t rhs = 0; rhs < km / K::n_in; ++rhs) run_right_hand_side(job, rhs);
      count_ = 0;
      shifted_ = false;
    }

  private:
    static constexpr std::size_t most = 32;

    void run_right_hand_side(p2p_job<T>& job, std::size_t rhs)
    {
      T const *x[most * K::dim], *q[most * K::n_in];
      T* out[most * K::n_out];
      for (std::size_t l = 0; l < count_; ++l)
      {
        for (std::size_t d = 0; d < K::dim; ++d) x[l * K::dim + d] = leaves_[l].x[d];
        for (std::size_t i = 0; i < K::n_in; ++i)
          q[l * K::n_in + i] = leaves_[l].q[rhs * K::n_in + i];
        for (std::size_t o = 0; o < K::n_out; ++o)
          out[l * K::n_out + o] = leaves_[l].out[rhs * K::n_out + o];
      }
      job.target_x = target_.x.data();
      job.target_q = target_.q.data() + rhs * K::n_in;
      job.target_out = target_.out.data() + rhs * K::n_out;
      job.source_x = x;
      job.source_q = q;
      job.source_out = out;
      kernel_(&k_, job);
    }

    K const& k_;
    columns_type target_;
    p2p_function<T> kernel_;
    std::array<columns_type, most> leaves_;
    std::array<source_range, most> ranges_;
    std::array<std::array<double, 3>, most + 1> shifts_{};
    std::size_t count_ = 0;
    bool shifted_ = false;
  };
}
