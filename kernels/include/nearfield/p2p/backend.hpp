#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/every_isa.hpp>
#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tile.hpp>

#include <concepts>
#include <string_view>

namespace nearfield::detail
{
  /// The precisions that kernels are compiled for.
  template <class T>
  concept kernel_real = std::same_as<T, float> || std::same_as<T, double>;

  /// Built-in interactions, also those that are known at run time only.
  template <class K>
  concept library_interaction = builtin_interaction<K> || run_time_interaction<K>;

  /// Interactions whose kernels are compiled for every instruction set and chosen at run time.
  template <class K>
  concept dispatched_interaction = library_interaction<K> || is_registered<K>;

  /// Whether this build has the kernels of a group.
  NEARFIELD_API bool is_built(std::string_view group);
  /// Throws nearfield::error: this build leaves out the group of entry `interaction` of builtin_interactions.
  [[noreturn]] NEARFIELD_API void refuse_left_out(int interaction);

  /// The compiled kernels of entry `interaction` of builtin_interactions. Throws nearfield::error if the
  /// instruction set is not available, and for a group that is left out.
  template <class T>
  NEARFIELD_API p2p_kernels<T> builtin_kernels(int interaction, isa where);
  extern template p2p_kernels<float> builtin_kernels<float>(int, isa);
  extern template p2p_kernels<double> builtin_kernels<double>(int, isa);
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The entry of builtin_interactions.
  template <library_interaction K>
  int number_of(K const& k)
  {
    if constexpr (run_time_interaction<K>)
      return k.erased().type->number;
    else
      return builtin_interactions::index_of<K>();
  }

  /// Instantiates the tile of K for value types OneSided and Mutual, with their register blocks.
  template <class K, class OneSided, register_block One, class Mutual, register_block Both>
  constexpr p2p_kernels<real_of<OneSided>> make_kernels()
  {
    p2p_kernels<real_of<OneSided>> kernels;
    kernels.one_sided = &run<false, K, OneSided, One.targets, One.packs>;
    if constexpr (has_way_back<K>) kernels.mutual = &run<true, K, Mutual, Both.targets, Both.packs>;
    return kernels;
  }

  /// One pair at a time.
  template <class K, class T>
  constexpr p2p_kernels<T> scalar_kernels()
  {
    constexpr register_block single{1, 1, 0};
    return make_kernels<K, T, single, T, single>();
  }

  /// The SIMD kernels of a user-defined interaction; <nearfield/p2p/simd.hpp> specialises it.
  template <class K, class T, class = void>
  struct own_simd_kernels
  {
    static_assert(sizeof(K) == 0,
                  "the simd back-end needs this interaction compiled: end its header with "
                  "NEARFIELD_INTERACTION and give it to nearfield_add_interaction(), or for the "
                  "instruction set of this file #include <nearfield/p2p/simd.hpp>");
  };
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// The compiled kernels of an interaction, which all P2P calls, near fields and codelets run. Throws
  /// nearfield::error if the instruction set is not available. Hidden: two modules of a program may each have an
  /// interaction of the same name, and keep kernels of their own.
  template <detail::kernel_real T, interaction K, detail::cpu_backend Backend>
  [[gnu::visibility("hidden")]] detail::p2p_kernels<T> kernels_of(Backend where)
  {
    if constexpr (detail::dispatched_interaction<K>)
    {
      auto const of = [](isa which)
      {
        if constexpr (detail::builtin_interaction<K>)
          return detail::builtin_kernels<T>(detail::builtin_interactions::index_of<K>(), which);
        else
          return detail::registered_kernels<K, T>(which);
      };
      if constexpr (std::same_as<Backend, scalar_backend>)
        return of(isa::scalar);
      else
      {
        if (where.which != isa::best) return of(where.which);
        // found once: every call asks, and for a small box the search would cost noticeable time
        static detail::p2p_kernels<T> const widest = of(isa::best);
        return widest;
      }
    }
    else if constexpr (std::same_as<Backend, scalar_backend>)
      return detail::scalar_kernels<K, T>();
    else
      return detail::own_simd_kernels<K, T>::get();
  }
}

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The same of an interaction that may be known at run time only.
  template <kernel_real T, called_interaction K, cpu_backend Backend>
  p2p_kernels<T> kernels_for(K const& k, Backend where)
  {
    if constexpr (interaction<K>)
      return kernels_of<T, K>(where);
    else if constexpr (std::same_as<Backend, scalar_backend>)
      return builtin_kernels<T>(number_of(k), isa::scalar);
    else
      return builtin_kernels<T>(number_of(k), where.which);
  }
}
