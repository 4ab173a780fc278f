#pragma once

#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/scalfmm/leaf.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfield::scalfmm3::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The source leaves that one target leaf meets, up to 32 in one call of a kernel. Each is a set of
  /// sources with its own shift, and small leaves share a panel.
  template <class MatrixKernel, class T, bool Mutual>
  class met_leaves
  {
    using K = typename MatrixKernel::interaction_type;
    using columns_type = leaf_columns<T, K::dim, int{MatrixKernel::km}, int{MatrixKernel::kn}>;

  public:
    /// Adding one more leaf runs the kernel first.
    static constexpr std::size_t most = 32;

    met_leaves(K const& k, columns_type const& target) : k_(k), target_(target)
    {
      p2p_kernels<T> const kernels = kernels_of<T, K>(simd);
      kernel_ = Mutual ? kernels.mutual : kernels.one_sided;
    }

    void add(columns_type const& leaf, std::array<double, 3> const& shift)
    {
      if (count_ == most) run();
      put(x_, leaf.x, 0);
      for (std::size_t rhs = 0; rhs < n_rhs; ++rhs)
      {
        put(q_[rhs], leaf.q, rhs);
        put(out_[rhs], leaf.out, rhs);
      }
      bool const is_shifted = shift != std::array<double, 3>{};
      auto const set = static_cast<std::uint16_t>(count_++);
      auto const shift_number = static_cast<std::uint16_t>(is_shifted ? count_ : 0);
      ranges_[set] = {0, static_cast<index_type>(leaf.size), set, shift_number};
      shifts_[count_] = shift;
      shifted_ = shifted_ || is_shifted;
    }

    /// Runs the kernel over the leaves added since the last run.
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
      job.ranges = ranges_;
      job.shifts = shifts_;
      job.last_box = 1;
      job.tests_for_zero = nearfield::detail::tests_for_zero<T>(k_);
      // Points of two leaves of one set never coincide, except with those of a shifted image, on the
      // border of the box. The sources of p2p_outer may be another set.
      job.ranges_may_coincide = !Mutual || shifted_;
      job.target_x = target_.x.data();
      job.source_x = x_;
      for (std::size_t rhs = 0; rhs < n_rhs; ++rhs)
      {
        job.target_q = target_.q.data() + rhs * K::n_in;
        job.target_out = target_.out.data() + rhs * K::n_out;
        job.source_q = q_[rhs];
        job.source_out = out_[rhs];
        kernel_(&k_, job);
      }
      count_ = 0;
      shifted_ = false;
    }

  private:
    static constexpr std::size_t n_rhs = MatrixKernel::km / K::n_in;

    /// Appends a leaf's columns of one right-hand side.
    template <class Pointer, std::size_t All, std::size_t N>
    void put(Pointer (&columns)[All], std::array<Pointer, N> const& leaf, std::size_t rhs)
    {
      constexpr std::size_t n = All / most;
      for (std::size_t c = 0; c < n; ++c) columns[count_ * n + c] = leaf[rhs * n + c];
    }

    K const& k_;
    columns_type target_;
    p2p_function<T> kernel_;
    T const *x_[most * K::dim], *q_[n_rhs][most * K::n_in];
    T* out_[n_rhs][most * K::n_out];
    source_range ranges_[most];
    std::array<double, 3> shifts_[most + 1];
    std::size_t count_ = 0;
    bool shifted_ = false;
  };
}
