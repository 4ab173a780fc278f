#include "pair_choice.hpp"

#include "problem.hpp"
#include "taken.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::app
{
  namespace
  {
    std::optional<index_type> number_of(std::string const& type, point_set const& points)
    {
      auto const found = std::ranges::find(points.type_names, type);
      if (found == points.type_names.end()) return std::nullopt;
      return static_cast<index_type>(found - points.type_names.begin());
    }

    // A symmetric matrix: the radius for pairs that are not named.
    std::vector<double> cutoffs_of(pair_choice const& chosen, point_set const& points,
                                   double radius)
    {
      auto const n = points.type_names.size();
      constexpr std::size_t most = 4096; // the matrix then takes 128 MiB
      if (n > most)
        throw error("--types: found " + std::to_string(n) + " types, such as '" +
                    points.type_names.front() + "', expected at most " + std::to_string(most) +
                    "; is this a column of types?");
      std::vector<double> cutoffs(n * n, radius);
      std::vector<bool> is_given(n * n, false);
      for (auto const& each : chosen.cutoffs)
      {
        std::array<std::size_t, 2> at{};
        for (std::size_t k = 0; k < 2; ++k)
        {
          auto const number = number_of(each.types[k], points);
          if (!number)
            throw error(
                "--type-cutoffs: found the type '" + each.types[k] + "' in " + text_of(each) +
                ", expected one of those that the points have: " + listed(points.type_names));
          at[k] = *number;
        }
        if (is_given[at[0] * n + at[1]])
          throw error("--type-cutoffs: found " + text_of(each) +
                      " and another cutoff of these types; give it once");
        for (auto const place : {at[0] * n + at[1], at[1] * n + at[0]})
        {
          cutoffs[place] = each.cutoff;
          is_given[place] = true;
        }
      }
      return cutoffs;
    }
  }

  std::string text_of(type_cutoff const& each)
  {
    return each.types[0] + ":" + each.types[1] + "=" + number_text(each.cutoff);
  }

  void check_pair_options(search_options const& options)
  {
    pair_choice const& chosen = options.pairs;
    if (chosen.types.empty() != chosen.cutoffs.empty())
      throw error(chosen.types.empty()
                      ? "--type-cutoffs: found no --types; give the file, or --types file if the "
                        "types are in INPUT"
                      : "--types: found no --type-cutoffs, without which types change nothing; "
                        "give A:B=R for two types A and B");
    for (auto const& each : chosen.cutoffs)
      if (each.cutoff > options.radius)
        throw error("--type-cutoffs: found " + text_of(each) + ", more than --radius " +
                    number_text(options.radius) + "; give the largest cutoff as --radius");
  }

  void settle_pairs(ranks const& all, pair_choice& chosen, double radius, named_points& from)
  {
    auto& points = from.points;
    nearfield::detail::range_of_points const range{all.sum(std::uint64_t(points.size())),
                                                   from.first, points.size()};
    if (auto const path = chosen.file_of_types())
    {
      all.require_same_file(*path);
      all.attempt([&] { nearfield::detail::read_types(*path, range, points); });
    }
    else if (chosen.has_types_of_input())
    {
      auto const own = std::exchange(points.type_names, all.united(points.type_names));
      all.attempt(
          [&]
          {
            std::vector<index_type> number;
            for (auto const& name : own) number.push_back(*number_of(name, points));
            for (auto& type : points.types) type = number[type];
          });
    }
    if (!chosen.types.empty())
      all.attempt([&] { chosen.matrix = cutoffs_of(chosen, points, radius); });
    if (!chosen.exclude) return;
    all.require_same_file(*chosen.exclude);
    all.attempt([&] { chosen.excluded = nearfield::detail::read_pairs(*chosen.exclude, range); });
    chosen.n_excluded = all.sum(std::uint64_t(chosen.excluded.others.size()));
  }

  void print_pairs(pair_choice const& chosen, named_points const& from)
  {
    auto const print =
        [](char const* what, std::string const& text, std::filesystem::path const& path)
    {
      std::cout << what << text << " (" << path.filename().string() << ")\n";
    };
    if (!chosen.types.empty())
      print("types         ", listed(from.points.type_names),
            chosen.file_of_types().value_or(from.name));
    if (chosen.exclude)
      print("excluded      ",
            std::to_string(chosen.n_excluded) + (chosen.n_excluded == 1 ? " pair" : " pairs"),
            *chosen.exclude);
  }
}
