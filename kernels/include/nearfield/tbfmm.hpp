#pragma once

#include <nearfield/p2p/p2p.hpp>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// nearfield inside TBFMM, whose kernels are classes with P2P, P2PTsm and P2PInner. Nothing of
/// TBFMM is included. docs/embedding.md says where the interface differs from ScalFMM's.

namespace nearfield::tbfmm
{
  /// What the columns of a leaf's results (Rhs in TBFMM) hold.
  enum class results
  {
    /// the outputs of the interaction, one after the other
    in_order,
    /// of an interaction with a value and a gradient: q_i times the gradient, then the value. With
    /// val_grad_one_over_r that is the force and the potential of TBFMM's own 1/r kernels.
    force_then_value
  };

  inline namespace NEARFIELD_ISA_NAMESPACE
  {
    /// A TBFMM kernel whose near field is an interaction: P2M to L2P are those of FarField, P2P,
    /// P2PTsm and P2PInner run the SIMD kernels of K on the leaves' own columns, and add to the
    /// results.
    ///
    /// The data of a particle are its dim coordinates and then n_in inputs. A pair at distance zero
    /// adds nothing where K is singular. FarField names its space system as SpaceIndexType, as the kernels
    /// of TBFMM do, and a periodic one is refused: TBFMM leaves the shifts to the kernel. Throws error for a null column of a leaf that is not
    /// empty.
    template <class FarField, interaction K, results Results = results::in_order>
    class kernel : public FarField
    {
      static_assert(Results == results::in_order || (K::n_in == 1 && K::n_out == 1 + K::dim),
                    "force_then_value needs one input, and a value and a gradient as outputs");
      static_assert(
          requires { requires !FarField::SpaceIndexType::IsPeriodic; },
          "the P2P of nearfield::tbfmm::kernel knows no periodic shifts: use a space system "
          "whose IsPeriodic is false, and let the far field name it as SpaceIndexType");

    public:
      /// FarField's constructors, with K's default parameters.
      using FarField::FarField;

      /// FarField's arguments come after the interaction.
      template <class... Arguments>
      explicit kernel(K const& k, Arguments&&... arguments)
          : FarField(std::forward<Arguments>(arguments)...), k_(k)
      {}

      /// Two leaves of one tree, both ways. `More` is the place of the neighbour, in the versions
      /// that pass it.
      template <class Leaf, class Data, class Rhs, class... More>
      void P2P(Leaf const&, long const[], Data const& neighbours, Rhs& neighbours_rhs,
               long n_neighbours, Leaf const&, long const[], Data const& targets, Rhs& targets_rhs,
               long n_targets, More...) const
      {
        auto const x = positions(targets, n_targets), y = positions(neighbours, n_neighbours);
        auto const x_q = inputs(targets, n_targets), y_q = inputs(neighbours, n_neighbours);
        into(targets, targets_rhs, n_targets,
             [&](auto const& x_out)
             {
               into(neighbours, neighbours_rhs, n_neighbours,
                    [&](auto const& y_out)
                    {
                      if constexpr (nearfield::detail::has_way_back<K>)
                        p2p_outer_mutual(simd, interaction(), x, x_q, y, y_q, x_out, y_out);
                      else
                      {
                        p2p_outer(simd, interaction(), x, y, y_q, x_out);
                        p2p_outer(simd, interaction(), y, x, x_q, y_out);
                      }
                    });
             });
      }

      /// Targets of one tree and sources of another (target/source model), one-sided.
      template <class SourceLeaf, class Sources, class TargetLeaf, class Targets, class Rhs,
                class... More>
      void P2PTsm(SourceLeaf const&, long const[], Sources const& sources, long n_sources,
                  TargetLeaf const&, long const[], Targets const& targets, Rhs& targets_rhs,
                  long n_targets, More...) const
      {
        into(targets, targets_rhs, n_targets,
             [&](auto const& out)
             {
               p2p_outer(simd, interaction(), positions(targets, n_targets),
                         positions(sources, n_sources), inputs(sources, n_sources), out);
             });
      }

      /// One leaf with itself.
      template <class Leaf, class Data, class Rhs>
      void P2PInner(Leaf const&, long const[], Data const& targets, Rhs& targets_rhs,
                    long n_targets) const
      {
        auto const x = positions(targets, n_targets);
        auto const q = inputs(targets, n_targets);
        into(targets, targets_rhs, n_targets,
             [&](auto const& out)
             {
               if constexpr (nearfield::detail::has_way_back<K>)
                 p2p_inner_mutual(simd, interaction(), x, q, out);
               else
                 p2p_inner(simd, interaction(), x, q, out);
             });
      }

      /// the near field
      [[nodiscard]] K const& interaction() const
      {
        if constexpr (std::is_empty_v<K>)
        {
          // a copy of an empty class has no bytes that were written, which compilers warn of
          static constexpr K only{};
          return only;
        }
        else
          return k_;
      }

    private:
      template <class Data>
      using real = std::remove_cv_t<
          std::remove_pointer_t<std::decay_t<decltype(std::declval<Data const&>()[0])>>>;

      template <int N, int First, class T, class Data>
      static soa<T, N> columns(Data const& data, long n)
      {
        std::array<T*, N> result;
        for (int c = 0; c < N; ++c) result[c] = data[static_cast<std::size_t>(First + c)];
        return {result, static_cast<std::size_t>(n)};
      }
      template <class Data>
      static auto positions(Data const& data, long n)
      {
        return columns<K::dim, 0, real<Data> const>(data, n);
      }
      template <class Data>
      static auto inputs(Data const& data, long n)
      {
        return columns<K::n_in, K::dim, real<Data> const>(data, n);
      }

      /// Calls compute(out), where out reaches the leaf's results as they are to be held.
      template <class Data, class Rhs, class Compute>
      static void into(Data const& data, Rhs& rhs, long n, Compute&& compute)
      {
        using T = real<Data>;
        auto const held = columns<K::n_out, 0, T>(rhs, n);
        if constexpr (Results == results::in_order)
          compute(held);
        else
        {
          std::size_t const size = held.size();
          nearfield::detail::check_view("P2P", "results", held, size);
          std::vector<T> sums(size * K::n_out);
          std::array<T*, K::n_out> out;
          for (int o = 0; o < K::n_out; ++o)
            out[o] = sums.data() + static_cast<std::size_t>(o) * size;
          compute(soa<T, K::n_out>(out, size));
          T const* const q = data[K::dim];
          for (std::size_t i = 0; i < size; ++i)
          {
            for (int d = 0; d < K::dim; ++d) held[d][i] += q[i] * out[1 + d][i];
            held[K::dim][i] += out[0][i];
          }
        }
      }

      K k_{};
    };
  }
}
