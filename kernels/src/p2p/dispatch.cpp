#include "builtins.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/p2p/backend.hpp>

#include <algorithm>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    using built_groups = type_list<NEARFIELD_GROUPS>;

    /// The kernels of all interactions for one instruction set; null where this build leaves out their group.
    template <class T>
    struct kernel_table
    {
      p2p_kernels<T> of[builtin_interactions::size];

      /// of_group.operator()<Group>() has those of each group.
      template <class F>
      explicit kernel_table(F const& of_group)
      {
        built_groups::for_each(
            [&]<class Group>()
            {
              group_kernels<Group> const& from = of_group.template operator()<Group>();
              auto* const to = of + first_of_group<Group>();
              if constexpr (std::same_as<T, float>)
                std::ranges::copy(from.f32, to);
              else
                std::ranges::copy(from.f64, to);
            });
      }
    };

    template <class T, class F>
    kernel_table<T> const& table_of(F const& of_group)
    {
      static kernel_table<T> const all(of_group);
      return all;
    }

    template <class T>
    kernel_table<T> const& table_of(isa where)
    {
      switch (available(where))
      {
#if defined(NEARFIELD_WITH_SSE2)
      case isa::sse2:
        return table_of<T>([]<class Group>() -> auto const& { return sse2_builtins<Group>(); });
#endif
#if defined(NEARFIELD_WITH_AVX2)
      case isa::avx2:
        return table_of<T>([]<class Group>() -> auto const& { return avx2_builtins<Group>(); });
#endif
#if defined(NEARFIELD_WITH_AVX512)
      case isa::avx512:
        return table_of<T>([]<class Group>() -> auto const& { return avx512_builtins<Group>(); });
#endif
#if defined(NEARFIELD_WITH_NEON64)
      case isa::neon64:
        return table_of<T>([]<class Group>() -> auto const& { return neon64_builtins<Group>(); });
#endif
      default:
        return table_of<T>([]<class Group>() -> auto const& { return scalar_builtins<Group>(); });
      }
    }
  }

  bool is_built(std::string_view group)
  {
    bool found = false;
    built_groups::for_each([&]<class Group>()
                           { found = found || group == name_of_group<Group>(); });
    return found;
  }

  void refuse_left_out(int interaction)
  {
    std::string name;
    int at = 0;
    builtin_interactions::for_each(
        [&]<class K>()
        {
          if (at++ == interaction) name = K::name;
        });
    std::string const group(group_of(interaction));
    std::string groups;
    built_groups::for_each([&]<class Group>()
                           { groups += std::string(name_of_group<Group>()) + ";"; });
    throw error(name + ": this build leaves out its group, " + group +
                    "; configure nearfield with -DNEARFIELD_KERNELS=\"" + groups + group + "\"",
                error_kind::not_available);
  }

  template <class T>
  p2p_kernels<T> builtin_kernels(int interaction, isa where)
  {
    auto const widest = []() -> kernel_table<T> const&
    {
      // found once: every call of any_interaction asks, and for a small box the search would cost noticeable time
      static kernel_table<T> const& found = table_of<T>(isa::best);
      return found;
    };
    auto const& kernels = (where == isa::best ? widest() : table_of<T>(where)).of[interaction];
    if (kernels.one_sided == nullptr) refuse_left_out(interaction);
    return kernels;
  }
  template p2p_kernels<float> builtin_kernels<float>(int, isa);
  template p2p_kernels<double> builtin_kernels<double>(int, isa);
}
