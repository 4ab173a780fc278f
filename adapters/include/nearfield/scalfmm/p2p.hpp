#pragma once

#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/scalfmm/leaf.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

/// \file
/// The P2P operators of ScalFMM 3 for a matrix_kernel. Each has ScalFMM's signature, so that a pass
/// that declares `using operators::p2p_inner;` and calls it unqualified finds the one here. All of them
/// add to the outputs of their leaves and run nearfield's SIMD kernels directly on the leaves' columns.
///
/// Periodicity and box width are used only if scalfmm_BUILD_PBC is defined, as in ScalFMM. Define it for
/// the whole program or not at all.
///
/// A pair at distance zero adds nothing if the interaction is singular, not an infinity. All functions
/// throw nearfield::error for a null column of a leaf that is not empty. Your own interactions are compiled by
/// nearfield_add_interaction(), or need <nearfield/p2p/simd.hpp> where they are used.

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
      put(x_, leaf.x);
      put(q_, leaf.q);
      put(out_, leaf.out);
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
      // two leaves of a few points are a small box, which needs no panel
      bool const few = count_ == 1 && !shifted_ && offsets[1] <= small_box_points &&
                       ranges_[0].end <= small_box_points;
      index_type const range_offsets[] = {0, static_cast<index_type>(few ? 0 : count_)};
      source_range const own = few ? ranges_[0] : source_range{};
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
      job.n_rhs = n_rhs;
      job.target_q = target_.q.data();
      job.target_out = target_.out.data();
      job.source_q = q_;
      job.source_out = out_;
      kernel_(&k_, job);
      count_ = 0;
      shifted_ = false;
    }

  private:
    static constexpr int n_rhs = MatrixKernel::km / K::n_in;

    /// Appends a leaf's columns.
    template <class Pointer, std::size_t N>
    void put(Pointer (&columns)[most * N], std::array<Pointer, N> const& leaf)
    {
      std::copy(leaf.begin(), leaf.end(), columns + count_ * N);
    }

    K const& k_;
    columns_type target_;
    p2p_function<T> kernel_;
    T const *x_[most * K::dim], *q_[most * MatrixKernel::km];
    T* out_[most * MatrixKernel::kn];
    source_range ranges_[most];
    std::array<double, 3> shifts_[most + 1];
    std::size_t count_ = 0;
    bool shifted_ = false;
  };
}

namespace nearfield::scalfmm3
{
  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// The multiple of the box width that moves the source leaf next to the target leaf along the
    /// periodic axes: width * round((target - source) / width), as in ScalFMM's index::get_shift.
    /// Without scalfmm_BUILD_PBC no axis is periodic, and `periodic` and `box_width` must not be read:
    /// in the tasks of ScalFMM's OpenMP passes they refer to locals of a function that has returned.
    template <int Dim, class Target, class Source, class Periodic, class Width>
    std::array<double, 3> shift_between([[maybe_unused]] Target const& target,
                                        [[maybe_unused]] Source const& source,
                                        [[maybe_unused]] Periodic const& periodic,
                                        [[maybe_unused]] Width const& box_width)
    {
      std::array<double, 3> shift{};
#ifdef scalfmm_BUILD_PBC
      double const width = static_cast<double>(box_width);
      for (std::size_t d = 0; d < Dim; ++d)
        if (periodic[d])
          shift[d] =
              width *
              std::round(static_cast<double>(target.center()[d] - source.center()[d]) / width);
#endif
      return shift;
    }

    /// Adds to the target leaf (and, if Mutual, to the source leaves) the interactions with the n
    /// leaves from *source on, each moved by shift_of(leaf).
    template <bool Mutual, leaf_side OfTarget, leaf_side OfSource, class MatrixKernel, class Target,
              class Pointers, class ShiftOf>
    void meet(char const* function, MatrixKernel const& mk, Target& target, Pointers source, int n,
              ShiftOf&& shift_of)
    {
      using T = real_of_leaf<Target>;
      using met_type = met_leaves<MatrixKernel, T, Mutual>;
      if (target.size() == 0) return;
      met_type met(mk.interaction,
                   columns_of<OfTarget, MatrixKernel, T>(function, "target", target));
      // All leaves are checked before any output is written. The loop below does so for the leaves of
      // one call of the kernel; more need a pass ahead of it.
      if (n > int{met_type::most})
      {
        auto ahead = source;
        for (int i = 0; i < n; ++i, ++ahead)
          if ((**ahead).size() != 0)
            columns_of<OfSource, MatrixKernel, T>(function, "source", **ahead);
      }
      for (int i = 0; i < n; ++i, ++source)
      {
        auto& leaf = **source;
        if (leaf.size() != 0)
          met.add(columns_of<OfSource, MatrixKernel, T>(function, "source", leaf), shift_of(leaf));
      }
      met.run();
    }
  }

  inline namespace NEARFIELD_ISA_NAMESPACE
  {
    /// outputs_i += sum_{j != i} K(x_i - x_j) inputs_j within one leaf. With `mutual` each pair is evaluated
    /// once, about twice as fast; results differ only by rounding.
    template <class K, int RightHandSides, class Leaf>
    void p2p_inner(matrix_kernel<K, RightHandSides> const& mk, Leaf& leaf, bool mutual = true)
    {
      using kernel = matrix_kernel<K, RightHandSides>;
      using T = detail::real_of_leaf<Leaf>;
      if (leaf.size() == 0) return;
      auto const columns =
          detail::columns_of<detail::leaf_side::both, kernel, T>("p2p_inner", "target", leaf);
      soa<T const, K::dim> const x(columns.x, columns.size);
      soa<T const, K::n_in * RightHandSides> const q(columns.q, columns.size);
      soa<T, K::n_out * RightHandSides> const out(columns.out, columns.size);
      if constexpr (nearfield::detail::has_way_back<K>)
        if (mutual) return nearfield::p2p_inner_mutual(simd, mk.interaction, x, q, out);
      nearfield::p2p_inner(simd, mk.interaction, x, q, out);
    }

    /// outputs_i += sum_j K(x_i - (y_j + shift)) inputs_j
    template <class K, int RightHandSides, class Target, class Source, class Shift>
    void p2p_outer(matrix_kernel<K, RightHandSides> const& mk, Target& target, Source const& source,
                   Shift const& shift)
    {
      std::array<double, 3> of_source{};
      for (std::size_t d = 0; d < std::size_t{K::dim}; ++d)
        of_source[d] = static_cast<double>(shift[d]);
      Source const* const pointer = &source;
      detail::meet<false, detail::leaf_side::receives, detail::leaf_side::gives>(
          "p2p_outer", mk, target, &pointer, 1, [&](auto const&) { return of_source; });
    }

    /// The same over the first `size` neighbours of the target leaf, each at its image nearest to the
    /// target along periodic axes.
    template <class K, int RightHandSides, class Leaf, class Neighbours, class Periodic,
              class Width>
    void p2p_outer(matrix_kernel<K, RightHandSides> const& mk, Leaf& target,
                   Neighbours const& neighbours, int const size, Periodic const& periodic,
                   Width const& box_width)
    {
      auto const shift_of = [&](auto const& leaf)
      {
        return detail::shift_between<K::dim>(target, leaf, periodic, box_width);
      };
      detail::meet<false, detail::leaf_side::receives, detail::leaf_side::gives>(
          "p2p_outer", mk, target, std::begin(neighbours), size, shift_of);
    }

    /// The same over all neighbours, as counted in the target leaf's symbolic data.
    template <class K, int RightHandSides, class Leaf, class Neighbours, class Periodic,
              class Width>
    void p2p_outer(matrix_kernel<K, RightHandSides> const& mk, Leaf& target,
                   Neighbours const& neighbours, Periodic const& periodic, Width const& box_width)
    {
      p2p_outer(mk, target, neighbours, static_cast<int>(target.csymbolics().number_of_neighbors),
                periodic, box_width);
    }

    /// The target leaf and the first `size` of its neighbours, in both directions:
    /// outputs_i += sum_j K(x_i - y_j) inputs_j and outputs_j += sum_i K(y_j - x_i) inputs_i.
    ///
    /// `neighbours` holds pointers or iterators to leaves of the same set, without the target. Along a
    /// periodic axis only the image nearest to the target counts, as in ScalFMM, so such an axis needs
    /// at least three leaves. An interaction without a mutual form (neither a symmetry nor a map with
    /// back()) is evaluated twice.
    template <class K, int RightHandSides, class Leaf, class Neighbours, class Periodic,
              class Width>
    void p2p_full_mutual(matrix_kernel<K, RightHandSides> const& mk, Leaf& target,
                         Neighbours const& neighbours, int const& size, Periodic const& periodic,
                         Width const& box_width)
    {
      auto const shift_of = [&](auto const& leaf)
      {
        return detail::shift_between<K::dim>(target, leaf, periodic, box_width);
      };
      constexpr bool from_one_evaluation = nearfield::detail::has_way_back<K>;
      // OfSource is `both` even if only one side is added to: all columns are checked before any is written
      detail::meet<from_one_evaluation, detail::leaf_side::both, detail::leaf_side::both>(
          "p2p_full_mutual", mk, target, std::begin(neighbours), size, shift_of);
      if constexpr (!from_one_evaluation)
      {
        auto neighbour = std::begin(neighbours);
        for (int i = 0; i < size; ++i, ++neighbour)
          p2p_outer(mk, **neighbour, target,
                    detail::shift_between<K::dim>(**neighbour, target, periodic, box_width));
      }
    }
  }
}
