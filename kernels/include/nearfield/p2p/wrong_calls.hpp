#pragma once

#include <nearfield/core/interaction.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <concepts>
#include <ranges>

/// \file
/// What the compiler says of a call with vectors in place of views, of one without q, and of a mutual form that K has
/// not. Of constraints that nothing satisfies it would print all.

/// \cond
namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class Where>
  concept place = cpu_place<Where> || std::same_as<Where, cuda_backend>;

  // values, since compilers explain a concept at length
  template <class... Arguments>
  inline constexpr bool are_views =
      !((std::ranges::range<Arguments const> && !columns_view<Arguments>) || ...);
  template <int N, class... Arguments>
  inline constexpr bool are_enough =
      !are_views<Arguments...> || (int(columns_view<Arguments>) + ... + 0) >= N;
  template <class K>
  inline constexpr bool is_mutual = has_way_back<K>;

  template <int N, class... Arguments>
  concept wrong_views = !are_views<Arguments...> || !are_enough<N, Arguments...>;
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  template <detail::place Where, class K, class... Views>
  requires detail::wrong_views<3, Views...>
  void p2p_inner(Where const&, K const&, Views const&...)
  {
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, Views...>, "p2p_inner takes x, q and out");
  }

  template <detail::place Where, class K, class... Views>
  requires detail::wrong_views<4, Views...>
  void p2p_outer(Where const&, K const&, Views const&...)
  {
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<4, Views...>, "p2p_outer takes x, y, q and out");
  }

  template <detail::place Where, interaction K, class... Views>
  requires(detail::wrong_views<3, Views...> || !detail::has_way_back<K>) //
      void p2p_inner_mutual(Where const&, K const&, Views const&...)
  {
    static_assert(detail::is_mutual<K>, "a mutual form needs K(-r): give the interaction "
                                        "`symmetry`, or its map a member `back`");
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, Views...>, "p2p_inner_mutual takes x, q and out");
  }

  template <detail::place Where, interaction K, class... Views>
  requires(detail::wrong_views<6, Views...> || !detail::has_way_back<K>) //
      void p2p_outer_mutual(Where const&, K const&, Views const&...)
  {
    static_assert(detail::is_mutual<K>, "a mutual form needs K(-r): give the interaction "
                                        "`symmetry`, or its map a member `back`");
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<6, Views...>,
                  "p2p_outer_mutual takes x, y, x_q, y_q, x_out and y_out");
  }

  template <detail::place Where, class K, class... LeavesAndViews>
  requires detail::wrong_views<3, LeavesAndViews...>
  void near_field(Where const&, K const&, LeavesAndViews const&...)
  {
    static_assert(detail::are_views<LeavesAndViews...>,
                  "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, LeavesAndViews...>, "near_field takes x, q and out");
  }
}
/// \endcond
