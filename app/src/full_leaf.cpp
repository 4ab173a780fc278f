#include "full_leaf.hpp"

#include <algorithm>
#include <iostream>

namespace nearfield::app
{
  std::string warning_of(cut_options const& cut, full_leaf const& of)
  {
    constexpr std::uint64_t few = 10'000;
    bool const has_two_sets = of.sources > 0;
    std::uint64_t const points = std::max(of.targets, of.sources);
    double const all_pairs = static_cast<double>(of.targets) *
                             static_cast<double>(has_two_sets ? of.sources : of.targets),
                 pairs = static_cast<double>(of.pairs);
    bool const is_full = of.in_leaf > few && of.in_leaf > points / 2;
    bool const are_most = pairs > few * few && pairs > all_pairs / 2;
    if (cut.level.value_or(0) < 2 || !(is_full || are_most)) return {};
    return "--level " + std::to_string(*cut.level) + " makes " + std::to_string(of.pairs) +
           " pairs: one of its leaves holds " + std::to_string(of.in_leaf) +
           (has_two_sets ? " targets or sources" : " of " + std::to_string(points) + " points") +
           "; leave out --level: the adaptive tree leaves gaps out";
  }

  void report_full_leaf(cut_options const& cut, full_leaf const& of)
  {
    static bool is_said = false;
    auto const text = is_said ? std::string() : warning_of(cut, of);
    if (text.empty()) return;
    is_said = true;
    std::cerr << "nearfield: warning: " << text << std::endl;
  }
}
