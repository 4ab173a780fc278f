#include "table.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/search/traversal.hpp>

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

namespace nearfield
{
  namespace
  {
    struct instruction_set
    {
      isa which;
      std::string_view name;
      detail::p2p_table const& (*table)(); // null: not built in
      bool (*on_this_machine)();
    };

    bool always()
    {
      return true;
    }
#if defined(__x86_64__)
    bool has_avx2()
    {
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    bool has_avx512()
    {
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    }
#else
    bool has_avx2()
    {
      return false;
    }
    bool has_avx512()
    {
      return false;
    }
#endif

    // narrowest first
    constexpr instruction_set instruction_sets[] = {
        {isa::scalar, "scalar", &detail::scalar_table, &always},
#if defined(NEARFIELD_WITH_SSE2)
        {isa::sse2, "sse2", &detail::sse2_table, &always},
#else
        {isa::sse2, "sse2", nullptr, &always},
#endif
#if defined(NEARFIELD_WITH_AVX2)
        {isa::avx2, "avx2", &detail::avx2_table, &has_avx2},
#else
        {isa::avx2, "avx2", nullptr, &has_avx2},
#endif
#if defined(NEARFIELD_WITH_AVX512)
        {isa::avx512, "avx512", &detail::avx512_table, &has_avx512},
#else
        {isa::avx512, "avx512", nullptr, &has_avx512},
#endif
#if defined(NEARFIELD_WITH_NEON64)
        {isa::neon64, "neon64", &detail::neon64_table, &always},
#else
        {isa::neon64, "neon64", nullptr, &always},
#endif
    };

    bool available(instruction_set const& set)
    {
      return set.table && set.on_this_machine();
    }

    std::string list_available()
    {
      std::string list;
      for (instruction_set const& set : instruction_sets)
        if (available(set)) list += (list.empty() ? "" : ", ") + std::string(set.name);
      return list;
    }

    isa select()
    {
      char const* const wanted = std::getenv("NEARFIELD_ISA");
      isa widest = isa::scalar;
      for (instruction_set const& set : instruction_sets)
      {
        if (wanted && set.name == wanted)
        {
          if (available(set)) return set.which;
          throw error("NEARFIELD_ISA: '" + std::string(wanted) + "' is " +
                      (set.table ? "not on this machine" : "not built in") + "; available are " +
                      list_available());
        }
        if (available(set)) widest = set.which;
      }
      if (wanted && *wanted)
        throw error("NEARFIELD_ISA: no instruction set '" + std::string(wanted) +
                    "'; available are " + list_available());
      return widest;
    }

    instruction_set const& find(isa which)
    {
      if (which == isa::best) which = selected_isa();
      for (instruction_set const& set : instruction_sets)
        if (set.which == which)
        {
          if (available(set)) return set;
          throw error("instruction set " + std::string(set.name) + " is " +
                      (set.table ? "not on this machine" : "not built in") + "; available are " +
                      list_available());
        }
      throw error("instruction set: unknown value; available are " + list_available());
    }
  }

  std::string_view name_of(isa which)
  {
    for (instruction_set const& set : instruction_sets)
      if (set.which == which) return set.name;
    return "best";
  }

  std::vector<isa> available_isas()
  {
    std::vector<isa> list;
    for (instruction_set const& set : instruction_sets)
      if (available(set)) list.push_back(set.which);
    return list;
  }

  isa selected_isa()
  {
    static isa const which = select();
    return which;
  }

  namespace detail
  {
    isa available(isa which)
    {
      return find(which).which;
    }

    namespace
    {
      // found once: a call on a small box would feel the search
      std::atomic<p2p_table const*> known_tables[std::size(instruction_sets) + 1];

      p2p_table const& table_of(isa which)
      {
        auto const at = static_cast<std::size_t>(which);
        p2p_table const* const known = at < std::size(known_tables)
                                           ? known_tables[at].load(std::memory_order_acquire)
                                           : nullptr;
        if (known) return *known;
        p2p_table const& found = find(which).table();
        known_tables[at].store(&found, std::memory_order_release);
        return found;
      }
    }

    template <class T>
    p2p_kernels<T> builtin_kernels(int interaction, isa which)
    {
      p2p_table const& table = table_of(which);
      if constexpr (std::same_as<T, float>)
        return table.f32[interaction];
      else
        return table.f64[interaction];
    }
    template p2p_kernels<float> builtin_kernels<float>(int, isa);
    template p2p_kernels<double> builtin_kernels<double>(int, isa);
  }
}
