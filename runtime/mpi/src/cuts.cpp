#include "cuts.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    constexpr std::uint64_t samples_per_rank = 64;

    /// part / parts of a number, without overflow
    std::uint64_t share(std::uint64_t of, std::uint64_t part, std::uint64_t parts)
    {
      return of / parts * part + of % parts * part / parts;
    }
  }

  std::vector<std::uint64_t> cut_by_points(ranks const& all, key_sets const& sets,
                                           std::uint64_t end)
  {
    auto const n_ranks = static_cast<std::uint64_t>(all.size());
    std::uint64_t n_here = 0;
    for (auto const& keys : sets) n_here += keys.size();
    std::uint64_t const n = all.sum(n_here);
    std::uint64_t before = all.sum_before(n_here);
    // every so many points one, wherever they are: no rank sees more than these
    std::uint64_t const step = std::max<std::uint64_t>(1, n / (samples_per_rank * n_ranks));
    std::vector<std::uint64_t> mine;
    for (auto const& keys : sets)
    {
      std::uint64_t const after = before + keys.size();
      for (std::uint64_t i = (before + step - 1) / step * step; i < after; i += step)
        mine.push_back(keys[i - before]);
      before = after;
    }
    auto sample = all.gather_all<std::uint64_t>(mine).values;
    std::ranges::sort(sample);
    std::vector<std::uint64_t> cuts{0};
    for (std::uint64_t r = 1; r < n_ranks; ++r)
      cuts.push_back(sample.empty() ? end : sample[share(sample.size(), r, n_ranks)]);
    cuts.push_back(end);
    return cuts;
  }

  std::vector<std::uint64_t> cuts_there_are(ranks const& all, key_sets const& sets,
                                            std::uint64_t end)
  {
    std::vector<std::uint64_t> mine;
    for (auto const& keys : sets)
      if (!keys.empty()) mine.insert(mine.end(), {keys.front(), keys.back()});
    std::ranges::sort(mine);
    by_rank<std::uint64_t> const ends = all.gather_all<std::uint64_t>(mine);
    auto const n = static_cast<std::size_t>(all.size());
    std::vector<std::uint64_t> cuts(n + 1, end);
    std::size_t after = n; // the last rank looked at that has points
    for (std::size_t r = n; r-- > 0;)
    {
      auto const of_rank = ends.of(static_cast<int>(r));
      cuts[r] = of_rank.empty() ? cuts[r + 1] : of_rank.front();
      if (of_rank.empty()) continue;
      // all ranks see the same, so all throw
      if (after < n && of_rank.back() > cuts[after])
        throw error("distributed_tree: cuts are those of the caller, but points of rank " +
                    std::to_string(after) + " come before some of rank " + std::to_string(r) +
                    " along the Z curve; let equal_interactions cut");
      after = r;
    }
    cuts[0] = 0;
    return cuts;
  }

  template <int Dim>
  void move_to_leaves(ranks const& all, std::span<key_places const> sets, int key_level,
                      std::uint64_t max_leaf_size, std::span<std::uint64_t> cuts)
  {
    std::span<std::uint64_t> const inner = cuts.subspan(1, cuts.size() - 2);
    auto const levels =
        static_cast<std::size_t>(key_level); // the deepest box is a leaf in any case
    // the points of each set in the box around a cut, of every level
    std::vector<std::uint64_t> counts;
    auto const count_of = [&](std::size_t set, std::size_t c, std::size_t level)
    {
      return counts[(set * inner.size() + c) * levels + level];
    };
    auto const box_of = [&](std::uint64_t key, std::size_t level)
    {
      int const shift = Dim * (key_level - static_cast<int>(level));
      return key >> shift << shift;
    };
    all.attempt(
        [&]
        {
          std::vector<std::uint64_t> ends;
          for (std::uint64_t const cut : inner)
            for (std::size_t level = 0; level < levels; ++level)
            {
              std::uint64_t const first = box_of(cut, level);
              ends.push_back(first);
              ends.push_back(first +
                             (std::uint64_t(1) << (Dim * (key_level - static_cast<int>(level)))));
            }
          for (key_places const& places_of : sets)
          {
            auto const places = places_of(ends);
            for (std::size_t i = 0; i < places.size(); i += 2)
              counts.push_back(places[i + 1] - places[i]);
          }
        });
    counts = all.sum(std::move(counts));
    auto const is_too_full = [&](std::size_t c, std::size_t level)
    {
      std::uint64_t most = 0;
      for (std::size_t s = 0; s < sets.size(); ++s) most = std::max(most, count_of(s, c, level));
      return most > max_leaf_size;
    };
    for (std::size_t c = 0; c < inner.size(); ++c)
    {
      if (inner[c] == cuts.back()) continue; // the end of the curve, where no box is
      std::size_t level = 0;
      while (level < levels && is_too_full(c, level)) ++level;
      inner[c] = box_of(inner[c], level);
    }
  }

  std::vector<std::uint64_t> cut_by_weight(ranks const& all,
                                           std::span<std::uint64_t const> leaf_keys,
                                           std::span<std::uint64_t const> weights,
                                           std::uint64_t end)
  {
    std::uint64_t mine = 0;
    for (std::uint64_t const weight : weights) mine += weight;
    std::uint64_t const total = all.sum(mine);
    std::uint64_t before = all.sum_before(mine);
    auto const n_ranks = static_cast<std::uint64_t>(all.size());
    std::vector<std::uint64_t> cuts(n_ranks + 1, end);
    cuts[0] = 0;
    // a leaf belongs to the rank in whose share its middle lies
    std::uint64_t r = 1;
    for (std::size_t b = 0; b < leaf_keys.size(); before += weights[b++])
      for (; r < n_ranks && before + weights[b] / 2 >= share(total, r, n_ranks); ++r)
        cuts[r] = leaf_keys[b];
    return all.least(std::move(cuts)); // of the first leaf beyond
  }

  void price::update(ranks const& all, double seconds, std::uint64_t work)
  {
    constexpr double most = 8; // of little work, times tell little
    auto const units = static_cast<double>(work);
    auto const sums = all.sum(std::array{seconds, units, work > 0 && !(seconds > 0) ? 1. : 0.});
    if (sums[2] > 0) *this = {};
    if (sums[2] > 0 || work == 0) return;
    double const now = std::clamp(seconds / units / (sums[0] / sums[1]), 1 / most, most);
    used = std::abs(std::log(now)) < std::abs(std::log(last)) ? now : last;
    last = now;
  }

  std::optional<std::vector<std::uint64_t>>
  better_cuts(ranks const& all, double load, std::span<std::uint64_t const> leaf_keys,
              std::function<std::span<std::uint64_t const>()> const& weigh, double imbalance,
              std::uint64_t end)
  {
    double const greatest = all.greatest(load), sum = all.sum(load);
    // not a number: infinity times no load
    if (!(greatest > (1 + imbalance) * sum / all.size())) return std::nullopt;
    auto const weights = weigh();
    std::vector<std::uint64_t> cuts = cut_by_weight(all, leaf_keys, weights, end);
    std::uint64_t const heaviest =
        all.greatest(std::accumulate(weights.begin(), weights.end(), std::uint64_t(0)));
    std::vector<std::uint64_t> loads(cuts.size() - 1, 0);
    std::size_t r = 0;
    for (std::size_t b = 0; b < leaf_keys.size(); ++b)
    {
      while (leaf_keys[b] >= cuts[r + 1]) ++r;
      loads[r] += weights[b];
    }
    // heavy leaves, or fewer leaves than ranks: it gets no better
    if (std::ranges::max(all.sum(std::move(loads))) >= heaviest) return std::nullopt;
    return cuts;
  }

  std::vector<std::size_t> places_of(std::span<std::uint64_t const> cuts,
                                     std::span<std::uint64_t const> keys)
  {
    std::vector<std::size_t> places;
    for (std::uint64_t const cut : cuts)
      places.push_back(
          static_cast<std::size_t>(std::ranges::lower_bound(keys, cut) - keys.begin()));
    return places;
  }

  std::vector<page_vector<std::uint64_t>> keys_here(ranks const& all, executor& on,
                                                    key_sets const& sets,
                                                    std::span<std::uint64_t const> cuts)
  {
    std::vector<page_vector<std::uint64_t>> here(sets.size());
    for (std::size_t s = 0; s < sets.size(); ++s)
    {
      auto const arrived = all.exchange<std::uint64_t>(sets[s], places_of(cuts, sets[s]));
      all.attempt(
          [&]
          {
            std::vector<key_span> runs;
            for (int r = 0; r < all.size(); ++r) runs.push_back(arrived.of(r));
            page_vector<index_type> order(arrived.values.size());
            sort_scratch scratch;
            merge_keys(on, runs, here[s], order, scratch);
          });
    }
    return here;
  }

  template void move_to_leaves<2>(ranks const&, std::span<key_places const>, int, std::uint64_t,
                                  std::span<std::uint64_t>);
  template void move_to_leaves<3>(ranks const&, std::span<key_places const>, int, std::uint64_t,
                                  std::span<std::uint64_t>);
}
