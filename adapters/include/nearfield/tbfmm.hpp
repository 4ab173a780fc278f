#pragma once

#include <nearfield/p2p/leaf.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// nearfield inside TBFMM, whose kernels are classes with P2P, P2PTsm and P2PInner. No header of TBFMM
/// is included. docs/embedding.md lists the differences from the ScalFMM adapter.

namespace nearfield::tbfmm
{
  /// What the result columns of a leaf (Rhs in TBFMM) hold.
  enum class results
  {
    /// the outputs of the interaction, one after the other
    in_order,
    /// for an interaction with a value and a gradient: q_i times the gradient, then the value. With
    /// val_grad_one_over_r these are the force and the potential of TBFMM's 1/r kernels.
    force_then_value
  };

  namespace detail
  {
    template <class FarField>
    constexpr bool is_periodic()
    {
      if constexpr (requires { FarField::SpaceIndexType::IsPeriodic; })
        return FarField::SpaceIndexType::IsPeriodic;
      else
      {
        static_assert(sizeof(FarField) == 0,
                      "let the far field name its space system SpaceIndexType, with IsPeriodic");
        return false;
      }
    }

    /// FarField, and the space of a periodic one, which TBFMM's kernels keep private.
    template <class FarField, bool IsPeriodic = is_periodic<FarField>()>
    class with_space : public FarField
    {
    public:
      using FarField::FarField;

      template <class... Arguments>
      [[nodiscard]] static std::array<double, 3> shift_at(Arguments const&...)
      {
        return {};
      }
    };
    template <class FarField>
    class with_space<FarField, true> : public FarField
    {
    public:
      template <class Configuration, class... More>
      explicit with_space(Configuration const& space, More&&... more)
          : FarField(space, std::forward<More>(more)...), space_(space)
      {}

      /// What moves a neighbour to the place where the targets meet it: number `position` of those around their leaf.
      template <class Leaf, class... Position>
      [[nodiscard]] std::array<double, 3> shift_at(Leaf const& targets, Position... position) const
      {
        static_assert(sizeof...(Position) == 1,
                      "this version of TBFMM does not pass the position of a neighbour, which a "
                      "periodic space needs");
        auto const place = space_.getRelativePosFromNeighborIndex(position...);
        auto const& widths = space_.getConfiguration().getBoxWidths();
        auto const n = static_cast<long>(space_.getBoxLimitAtLeafLevel());
        std::array<double, 3> shift{};
        for (std::size_t d = 0; d < std::size_t{FarField::SpaceIndexType::Dim}; ++d)
        {
          long const at = static_cast<long>(targets.boxCoord[d]) + static_cast<long>(place[d]);
          if (at < 0)
            shift[d] = -static_cast<double>(widths[d]);
          else if (at >= n)
            shift[d] = static_cast<double>(widths[d]);
        }
        return shift;
      }

    private:
      typename FarField::SpaceIndexType space_;
    };
  }

  inline namespace NEARFIELD_ISA_NAMESPACE
  {
    /// A TBFMM kernel with the near field of an interaction. P2M to L2P are those of FarField; P2P,
    /// P2PTsm and P2PInner run the SIMD kernels of K directly on the leaves' columns and add to the
    /// results.
    ///
    /// The data of a particle are its dim coordinates, then n_in inputs. A pair at distance zero adds
    /// nothing if K is singular. FarField must name its space system SpaceIndexType, as TBFMM's kernels
    /// do. In a periodic one neighbours are met at their images, and the first argument of FarField's constructor must
    /// make a SpaceIndexType, as TBFMM's configuration of space does. The operators throw nearfield::error for a null
    /// column of a leaf that is not empty, and for a leaf that is its own neighbour, other than through a period.
    template <class FarField, interaction K, results Results = results::in_order>
    class kernel : public detail::with_space<FarField>
    {
      using base = detail::with_space<FarField>;
      static_assert(Results == results::in_order || (K::n_in == 1 && K::n_out == 1 + K::dim),
                    "force_then_value needs one input, and a value and a gradient as outputs");

    public:
      /// FarField's constructors, with K's default parameters.
      using base::base;

      /// The interaction, then the arguments of FarField's constructor.
      template <class... Arguments>
      explicit kernel(K const& k, Arguments&&... arguments)
          : base(std::forward<Arguments>(arguments)...), k_(k)
      {}

      /// Two different leaves of one tree, in both directions. `position` is that of the neighbour, which some versions
      /// of TBFMM pass; a periodic space needs it.
      template <class Leaf, class Data, class Rhs, class... Position>
      void P2P(Leaf const&, long const[], Data const& neighbours, Rhs& neighbours_rhs,
               long n_neighbours, Leaf const& target, long const[], Data const& targets,
               Rhs& targets_rhs, long n_targets, Position... position) const
      {
        auto const x = positions("P2P", "x", targets, n_targets);
        auto const y = positions("P2P", "y", neighbours, n_neighbours);
        auto const x_q = inputs("P2P", "x_q", targets, n_targets);
        auto const y_q = inputs("P2P", "y_q", neighbours, n_neighbours);
        auto const x_held = results_of(x, targets_rhs), y_held = results_of(y, neighbours_rhs);
        // TBFMM's columns never overlap; those of a leaf and itself do, and then the first
        nearfield::detail::check_apart("P2P", first_of(x_held), "the neighbour's results",
                                       first_of(y_held));
        into(std::array{receiver<Data>{targets, x_held}, receiver<Data>{neighbours, y_held}},
             [&](auto const& x_out, auto const& y_out)
             {
               auto const shift = this->shift_at(target, position...);
               if (shift != std::array<double, 3>{})
                 return meet_image(leaf{x, x_q, x_out}, leaf{y, y_q, y_out, shift});
               nearfield::detail::set_views const here{x, x_q, x_out}, there{y, y_q, y_out};
               meet<nearfield::detail::has_way_back<K>>(here, there);
               if constexpr (!nearfield::detail::has_way_back<K>) meet<false>(there, here);
             });
      }

      /// Targets of one tree and sources of another (target/source model). Adds to the targets only.
      template <class SourceLeaf, class Sources, class TargetLeaf, class Targets, class Rhs,
                class... Position>
      void P2PTsm(SourceLeaf const&, long const[], Sources const& sources, long n_sources,
                  TargetLeaf const& target, long const[], Targets const& targets, Rhs& targets_rhs,
                  long n_targets, Position... position) const
      {
        auto const x = positions("P2PTsm", "x", targets, n_targets);
        auto const y = positions("P2PTsm", "y", sources, n_sources);
        into(std::array{receiver<Targets>{targets, results_of(x, targets_rhs)}},
             [&](auto const& out)
             {
               auto const q = inputs("P2PTsm", "q", sources, n_sources);
               auto const shift = this->shift_at(target, position...);
               if (shift != std::array<double, 3>{})
                 p2p_outer(simd, interaction(), x, std::array{leaf{y, q, shift}}, out);
               else
                 meet<false>(nearfield::detail::set_views{x, q, out},
                             nearfield::detail::set_views{y, q, out});
             });
      }

      /// One leaf with itself.
      template <class Leaf, class Data, class Rhs>
      void P2PInner(Leaf const&, long const[], Data const& targets, Rhs& targets_rhs,
                    long n_targets) const
      {
        auto const x = positions("P2PInner", "x", targets, n_targets);
        auto const q = inputs("P2PInner", "q", targets, n_targets);
        into(std::array{receiver<Data>{targets, results_of(x, targets_rhs)}},
             [&](auto const& out)
             {
               nearfield::detail::set_views const points{x, q, out};
               meet<nearfield::detail::has_way_back<K>>(points, points, true);
             });
      }

      /// The interaction.
      [[nodiscard]] K const& interaction() const
      {
        if constexpr (std::is_empty_v<K>)
        {
          // a copy of an empty class has no initialised bytes, and compilers warn about that
          static constexpr K only{};
          return only;
        }
        else
          return k_;
      }

    private:
      /// Two leaves, or one given twice, whose views have been checked.
      template <bool Mutual, class Targets, class Sources>
      void meet(Targets const& targets, Sources const& sources, bool is_one_leaf = false) const
      {
        using T = typename std::remove_cvref_t<decltype(targets.out)>::value_type;
        nearfield::detail::run_sets<Mutual, T>(simd, interaction(), targets, sources, is_one_leaf);
      }

      /// Both directions of two leaves, one of which is an image.
      template <class Target, class Image>
      void meet_image(Target const& target, Image const& image) const
      {
        constexpr bool is_mutual = nearfield::detail::has_way_back<K>;
        p2p_leaf(simd, interaction(), target, std::array{image},
                 {.form = is_mutual ? pair_form::mutual : pair_form::one_sided, .inner = false});
        if constexpr (!is_mutual)
        {
          auto back = target;
          for (std::size_t d = 0; d < 3; ++d) back.shift[d] = -image.shift[d];
          p2p_outer(simd, interaction(), image.x, std::array{back}, image.out);
        }
      }

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
      static auto positions(char const* function, char const* argument, Data const& data, long n)
      {
        auto const x = columns<K::dim, 0, real<Data> const>(data, n);
        nearfield::detail::check_view(function, argument, x, x.size());
        return x;
      }
      template <class Data>
      static auto inputs(char const* function, char const* argument, Data const& data, long n)
      {
        auto const q = columns<K::n_in, K::dim, real<Data> const>(data, n);
        nearfield::detail::check_view(function, argument, q, q.size());
        return q;
      }

      /// The result columns of a leaf.
      template <class T, class Rhs>
      static soa<T, K::n_out> results_of(soa<T const, K::dim> const& x, Rhs& rhs)
      {
        auto const results = columns<K::n_out, 0, T>(rhs, static_cast<long>(x.size()));
        nearfield::detail::check_view("P2P", "results", results, x.size());
        return results;
      }

      template <class T>
      static soa<T, 1> first_of(soa<T, K::n_out> const& results)
      {
        return {{results[0]}, results.size()};
      }

      /// A leaf that a call adds to.
      template <class Data>
      struct receiver
      {
        Data const& data;
        soa<real<Data>, K::n_out> out;
      };

      /// Calls compute(out...), with one output view per leaf, and stores what it adds in the layout of
      /// Results.
      template <class Data, std::size_t N, class Compute>
      static void into(std::array<receiver<Data>, N> const& leaves, Compute&& compute)
      {
        using T = real<Data>;
        auto const compute_into = [&](auto const& of)
        {
          std::apply([&](auto const&... leaf) { compute(leaf.out...); }, of);
        };
        if constexpr (Results == results::in_order)
          compute_into(leaves);
        else
        {
          std::size_t size = 0;
          for (auto const& leaf : leaves) size += leaf.out.size();
          thread_local std::vector<T> memory; // reused: small leaves cannot afford it
          memory.assign(size * K::dim, T(0));
          T* unused = memory.data();
          // The value goes where it belongs; the gradient has still to be multiplied by q_i. No loop makes the pointers:
          // to copy what it has just stored takes a small leaf's time.
          auto const sums_of =
              [&]<std::size_t... D>(receiver<Data> const& leaf, std::index_sequence<D...>)
          {
            std::size_t const n = leaf.out.size();
            T* const gradient = std::exchange(unused, unused + K::dim * n);
            return receiver<Data>{leaf.data, {{leaf.out[K::dim], gradient + D * n...}, n}};
          };
          auto const sums = std::apply(
              [&](auto const&... leaf)
              { return std::array{sums_of(leaf, std::make_index_sequence<K::dim>())...}; }, leaves);
          compute_into(sums);
          for (std::size_t l = 0; l < N; ++l)
          {
            T const* const q = leaves[l].data[K::dim];
            auto const &held = leaves[l].out, &sum = sums[l].out;
            for (std::size_t i = 0; i < held.size(); ++i)
              for (int d = 0; d < K::dim; ++d) held[d][i] += q[i] * sum[1 + d][i];
          }
        }
      }

      K k_{};
    };
  }
}
