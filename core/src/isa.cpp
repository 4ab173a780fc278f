#include <nearfield/core/where.hpp>

#include <nearfield/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace nearfield
{
  namespace
  {
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

    struct instruction_set
    {
      isa which;
      std::string_view name; // no name is part of another: is_built_in() looks for substrings
      bool (*on_this_machine)();
    };

    constexpr instruction_set instruction_sets[] = {
        // narrowest first
        {isa::scalar, "scalar", &always}, {isa::sse2, "sse2", &always},
        {isa::avx2, "avx2", &has_avx2},   {isa::avx512, "avx512", &has_avx512},
        {isa::neon64, "neon64", &always},
    };

    // NEARFIELD_BUILT_IN holds their names, set by CMake
    bool is_built_in(instruction_set const& set)
    {
      return std::string_view(NEARFIELD_BUILT_IN).find(set.name) != std::string_view::npos;
    }

    bool is_available(instruction_set const& set)
    {
      return is_built_in(set) && set.on_this_machine();
    }

    std::string list_available()
    {
      std::string list;
      for (instruction_set const& set : instruction_sets)
        if (is_available(set)) list += (list.empty() ? "" : ", ") + std::string(set.name);
      return list;
    }

    error not_available(std::string const& what, instruction_set const& set)
    {
      return error(what + " is " +
                       (is_built_in(set) ? "not supported by this machine" : "not built in") +
                       "; available are " + list_available(),
                   error_kind::not_available);
    }

    isa select()
    {
      char const* const wanted = std::getenv("NEARFIELD_ISA");
      isa widest = isa::scalar;
      for (instruction_set const& set : instruction_sets)
      {
        if (wanted && set.name == wanted)
        {
          if (is_available(set)) return set.which;
          throw not_available("NEARFIELD_ISA: '" + std::string(wanted) + "'", set);
        }
        if (is_available(set)) widest = set.which;
      }
      if (wanted && *wanted)
        throw error("NEARFIELD_ISA: unknown instruction set '" + std::string(wanted) +
                    "'; available are " + list_available());
      return widest;
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
      if (is_available(set)) list.push_back(set.which);
    return list;
  }

  isa selected_isa()
  {
    static isa const which = select();
    return which;
  }

  isa detail::available(isa which)
  {
    if (which == isa::best) which = selected_isa();
    // found once: every P2P call asks, and for a small box the search would cost noticeable time
    static auto const known = []
    {
      std::array<bool, 1 + std::size(instruction_sets)> found{};
      for (instruction_set const& set : instruction_sets)
        found[static_cast<std::size_t>(set.which)] = is_available(set);
      return found;
    }();
    auto const at = static_cast<std::size_t>(which);
    if (at < known.size() && known[at]) return which;
    for (instruction_set const& set : instruction_sets)
      if (set.which == which) throw not_available("instruction set " + std::string(set.name), set);
    throw error("instruction set: unknown value; available are " + list_available());
  }

  std::string detail::cpu_name(std::string const& file)
  {
    std::ifstream lines(file);
    std::string name = "unknown CPU";
    for (std::string line; std::getline(lines, line);)
    {
      auto const colon = line.find(": ");
      if (colon == std::string::npos) continue;
      std::string const value = line.substr(colon + 2);
      if (line.starts_with("model name")) return value;
      // Linux has numbers only for those of ARM
      if (line.starts_with("CPU implementer")) name = "ARM, implementer " + value;
      if (line.starts_with("CPU part")) return name + ", part " + value;
    }
    return name;
  }
}
