#include "leaf_size.hpp"

#include "instantiate.hpp"
#include "interaction_lists.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    using candidate = leaf_costs::choice::candidate;

    // Sizes are powers of sqrt(2), tried from 1024 down and, if the best is the largest, up.
    constexpr int least_power = 4, first_power = 20, last_power = 60;
    // A size whose total is this much above the least one ends the search: of uniform points trees change only each time
    // that the size grows eightfold, so that the next size may be no worse.
    constexpr double hopeless = 1.5;
    constexpr double good_rate = 0.8;
    // of a sample of the leaves, in blocks that lie close together
    constexpr index_type block = 16, most_blocks = 1024;

    int size_of(int power)
    {
      return static_cast<int>(std::lround(std::exp2(0.5 * power)));
    }

    double checked(double seconds, char const* what, double a, double b)
    {
      if (seconds >= 0 && std::isfinite(seconds)) return seconds;
      throw error(std::string("leaf_costs: ") + what + "(" + number_text(a) + ", " +
                  number_text(b) + ") is " + number_text(seconds) +
                  "; give finite seconds, 0 or more");
    }

    void check(leaf_costs const& costs)
    {
      if (!(costs.seconds_per_leaf >= 0) || !std::isfinite(costs.seconds_per_leaf))
        throw error("leaf_costs: seconds_per_leaf is " + number_text(costs.seconds_per_leaf) +
                    "; give finite seconds, 0 or more");
      if (costs.has_far_field() && !costs.near_field)
        throw error("leaf_costs: there is a far field and no near_field to compare it with; give "
                    "near_field too, as pair_cost_of() measures it");
    }

    double near_seconds(leaf_costs const& costs, double targets, double sources)
    {
      if (targets == 0 || sources == 0) return 0;
      if (!costs.near_field) return (targets + 7) * sources;
      return checked(costs.near_field(targets, sources), "near_field", targets, sources);
    }

    double far_seconds(leaf_costs const& costs, int level, index_type points)
    {
      double const more =
          costs.far_field ? checked(costs.far_field(level, points), "far_field", level, points) : 0;
      return costs.seconds_per_leaf + more;
    }
  }

  leaf_costs::choice choose_leaf_size(leaf_costs const& costs, std::size_t n_points,
                                      std::function<candidate(int)> const& try_size)
  {
    check(costs);
    leaf_costs::choice choice;
    if (n_points == 0) return choice;
    auto& tried = choice.tried;
    bool const balances = costs.has_far_field();
    // what is to be least; of a near field without pairs there is no rate
    auto const badness = [&](candidate const& c)
    {
      if (balances) return c.seconds();
      return c.pairs > 0 ? 1 / c.rate() : std::numeric_limits<double>::infinity();
    };
    double best = std::numeric_limits<double>::infinity();
    int best_power = first_power;
    auto const is_hopeless = [&](int power)
    {
      tried.push_back(try_size(size_of(power)));
      tried.back().max_leaf_size = size_of(power);
      double const bad = badness(tried.back());
      if (bad < best)
      {
        best = bad;
        best_power = power;
      }
      return bad > hopeless * best;
    };
    for (int power = first_power; power >= least_power && !is_hopeless(power);) --power;
    std::ranges::reverse(tried);
    auto const is_all = [&] // one leaf
    {
      return double(tried.back().max_leaf_size) >= double(n_points);
    };
    if (balances && best_power >= first_power - 1)
      for (int power = first_power + 1; power <= last_power && !is_all() && !is_hopeless(power);)
        ++power;
    if (!std::isfinite(best)) return choice;
    if (balances)
    {
      // the middle of those that give the same tree: points that move a little should not change it
      auto const is_best = [&](candidate const& c)
      {
        return c.seconds() == best;
      };
      auto const first = std::ranges::find_if(tried, is_best);
      auto const last = std::find_if_not(first, tried.end(), is_best);
      choice.max_leaf_size = (first + (last - first) / 2)->max_leaf_size;
    }
    else
      choice.max_leaf_size = std::ranges::find_if(tried, [&](candidate const& c)
                                                  { return badness(c) * good_rate <= best; })
                                 ->max_leaf_size;
    return choice;
  }

  template <int Dim>
  candidate cost_of_leaves(leaf_costs const& costs, tree<Dim> const& leaves)
  {
    candidate sum{.leaves = static_cast<double>(leaves.size())};
    auto const list = leaves.interactions();
    for (index_type b = 0; b < leaves.size(); ++b)
    {
      double const targets = leaves.targets().count(b);
      auto const sources = targets > 0 ? static_cast<double>(list.source_count(b)) : 0;
      sum.pairs += targets * sources;
      sum.near_seconds += near_seconds(costs, targets, sources);
      index_type const points =
          leaves.targets().count(b) + (leaves.has_one_set() ? 0 : leaves.sources().count(b));
      sum.far_seconds += far_seconds(costs, leaves.cell(b).level, points);
    }
    return sum;
  }

  namespace
  {
    /// The cells of the size of a leaf around it that exist, but whose keys are not in a range.
    template <int Dim>
    int cells_beyond(leaf_cell<Dim> const& leaf, int key_level, curve_range const& owned,
                     std::array<double, Dim> const& period)
    {
      bool wraps[Dim];
      for (int d = 0; d < Dim; ++d) wraps[d] = period[d] > 0;
      int found = 0;
      for (int step = 0; step < cells_around<Dim>; ++step)
      {
        std::array<std::uint32_t, Dim> index;
        int image = 0;
        if (!find_cell_around<Dim>(leaf, step, wraps, index, image)) continue;
        std::uint64_t const key = keys_of<Dim>(index, leaf.level, key_level).begin;
        found += key < owned.begin || key >= owned.end;
      }
      return found;
    }

    /// The same from blocks of leaves, before they have lists. Around leaves of an owned range, cells beyond it have as
    /// many points as they have.
    template <int Dim>
    candidate sampled_cost(leaf_costs const& costs, leaf_set<Dim> const& leaves, bool one_set,
                           int key_level, std::array<double, Dim> const& period,
                           curve_range const* owned = nullptr)
    {
      boxes const targets{leaves.target_offsets};
      boxes const sources{one_set ? leaves.target_offsets : leaves.source_offsets};
      index_type const n = leaves.size();
      index_type const n_blocks = std::min((n + block - 1) / block, most_blocks);
      candidate sum{.leaves = static_cast<double>(n)};
      if (n == 0) return sum;
      list_pair piece;
      double n_sampled = 0;
      for (index_type k = 0; k < n_blocks; ++k)
      {
        auto const first = static_cast<index_type>(std::uint64_t(n) * k / n_blocks);
        auto const next = static_cast<index_type>(std::uint64_t(n) * (k + 1) / n_blocks);
        index_type const last = std::min(first + block, next);
        clear(piece);
        list_writer lists(piece.full, piece.half, targets, sources, one_set, "choose_leaf_size",
                          "");
        list_leaves(leaves, key_level, period, first, last, lists);
        auto const list = piece.full.view();
        for (index_type b = first; b < last; ++b)
        {
          double const of_targets = targets.count(b);
          double met = of_targets > 0 ? static_cast<double>(list.source_count(b - first)) : 0;
          if (owned && of_targets > 0)
            met += double(sources.count(b)) *
                   cells_beyond<Dim>(leaves.cells[b], key_level, *owned, period);
          sum.pairs += of_targets * met;
          sum.near_seconds += near_seconds(costs, of_targets, met);
        }
        n_sampled += last - first;
      }
      sum.pairs *= n / n_sampled;
      sum.near_seconds *= n / n_sampled;
      for (index_type b = 0; b < n; ++b)
        sum.far_seconds += far_seconds(costs, leaves.levels[b],
                                       targets.count(b) + (one_set ? 0 : sources.count(b)));
      return sum;
    }
  }

  template <int Dim>
  candidate cost_of_size(executor& on, leaf_costs const& costs,
                         std::span<std::uint64_t const> targets,
                         std::span<std::uint64_t const> sources, bool one_set, int key_level,
                         std::array<double, Dim> const& period, int size, curve_range const& owned)
  {
    auto const leaves =
        adaptive_leaves<Dim>(on, targets, sources, key_level, static_cast<index_type>(size), owned);
    return sampled_cost<Dim>(costs, leaves, one_set, key_level, period, &owned);
  }

  template <int Dim>
  leaf_costs::choice choose_leaf_size(executor& on, leaf_costs const& costs,
                                      std::span<std::uint64_t const> targets,
                                      std::span<std::uint64_t const> sources, bool one_set,
                                      int key_level, std::array<double, Dim> const& period)
  {
    return choose_leaf_size(costs, targets.size() + sources.size(),
                            [&](int size)
                            {
                              auto const leaves = adaptive_leaves<Dim>(
                                  on, targets, sources, key_level, static_cast<index_type>(size));
                              return sampled_cost<Dim>(costs, leaves, one_set, key_level, period);
                            });
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template candidate cost_of_leaves(leaf_costs const&, tree<Dim> const&);                          \
  template candidate cost_of_size<Dim>(executor&, leaf_costs const&,                               \
                                       std::span<std::uint64_t const>,                             \
                                       std::span<std::uint64_t const>, bool, int,                  \
                                       std::array<double, Dim> const&, int, curve_range const&);   \
  template leaf_costs::choice choose_leaf_size<Dim>(                                               \
      executor&, leaf_costs const&, std::span<std::uint64_t const>,                                \
      std::span<std::uint64_t const>, bool, int, std::array<double, Dim> const&);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
