#pragma once

#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/leaf.hpp>
#include <nearfield/scalfmm/leaf.hpp>
#include <nearfield/scalfmm/matrix_kernel.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

/// \file
/// The P2P operators of ScalFMM 3 for a matrix_kernel. Each has ScalFMM's signature, so that a pass
/// that declares `using operators::p2p_inner;` and calls it unqualified finds the one here, as do calls of
/// `scalfmm::operators::p2p_inner` that come after this header. All of them add to the outputs of their leaves and run
/// nearfield's SIMD kernels directly on the leaves' columns.
///
/// Periodicity and box width are used only if scalfmm_BUILD_PBC is defined, as in ScalFMM. Define it for
/// the whole program or not at all.
///
/// A pair at distance zero adds nothing if the interaction is singular, not an infinity. All functions
/// throw nearfield::error for a null column of a leaf that is not empty. Your own interactions are compiled by
/// nearfield_add_interaction(), or need <nearfield/p2p/simd.hpp> where they are used.

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

    /// Adds to a leaf what its own points give.
    template <bool Mutual, class MatrixKernel, class Leaf>
    void inner(MatrixKernel const& mk, Leaf& leaf)
    {
      if (leaf.size() == 0) return;
      using T = real_of_leaf<Leaf>;
      auto const of = columns_of<leaf_side::both, MatrixKernel, T>("p2p_inner", "target", leaf);
      nearfield::detail::set_views const points{of.x, of.q, of.out};
      nearfield::detail::run_sets<Mutual, T>(simd, mk.interaction, points, points, true);
    }

    /// Adds to the target leaf (and, if Mutual, to the source leaves) the interactions with the n
    /// leaves from *source on, each moved by shift_of(leaf).
    template <bool Mutual, leaf_side OfTarget, leaf_side OfSource, class MatrixKernel, class Target,
              class Pointers, class ShiftOf>
    void meet(char const* function, MatrixKernel const& mk, Target& target, Pointers source, int n,
              ShiftOf&& shift_of)
    {
      using T = real_of_leaf<Target>;
      using K = typename MatrixKernel::interaction_type;
      if (target.size() == 0) return;
      auto const receiver = columns_of<OfTarget, MatrixKernel, T>(function, "target", target);
      nearfield::detail::set_views const views{receiver.x, receiver.q, receiver.out};
      nearfield::detail::p2p_kernels<T> const kernels = kernels_of<T, K>(simd);
      using met_type =
          nearfield::detail::met_leaves<T, K, Mutual, decltype(views), decltype(receiver)>;
      // Points of two leaves of one set never coincide. The sources of p2p_outer may be another set.
      met_type met(Mutual ? kernels.mutual : kernels.one_sided, mk.interaction, views,
                   MatrixKernel::km / K::n_in, !Mutual);
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
          met.add(columns_of<OfSource, MatrixKernel, T>(function, "source", leaf, shift_of(leaf)));
      }
      met.run();
    }
  }

  inline namespace NEARFIELD_ISA_NAMESPACE
  {
    /// outputs_i += sum_{j != i} K(x_i - x_j) inputs_j within one leaf.
    template <class K, int RightHandSides, class Leaf>
    void p2p_inner_non_mutual(matrix_kernel<K, RightHandSides> const& mk, Leaf& leaf)
    {
      detail::inner<false>(mk, leaf);
    }

    /// The same with one evaluation per pair, about twice as fast; results differ only by rounding. An interaction
    /// without a mutual form is evaluated twice.
    template <class K, int RightHandSides, class Leaf>
    void p2p_inner_mutual(matrix_kernel<K, RightHandSides> const& mk, Leaf& leaf)
    {
      detail::inner<nearfield::detail::has_way_back<K>>(mk, leaf);
    }

    /// One of the two.
    template <class K, int RightHandSides, class Leaf>
    void p2p_inner(matrix_kernel<K, RightHandSides> const& mk, Leaf& leaf, bool mutual = true)
    {
      mutual ? p2p_inner_mutual(mk, leaf) : p2p_inner_non_mutual(mk, leaf);
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

// For calls with the full name, which argument-dependent lookup does not serve.
namespace scalfmm::operators
{
  using nearfield::scalfmm3::p2p_full_mutual;
  using nearfield::scalfmm3::p2p_inner;
  using nearfield::scalfmm3::p2p_inner_mutual;
  using nearfield::scalfmm3::p2p_inner_non_mutual;
  using nearfield::scalfmm3::p2p_outer;
}
