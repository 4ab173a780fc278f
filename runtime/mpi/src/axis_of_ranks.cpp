#include "axis_of_ranks.hpp"

#include "cuts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  axis_of_ranks::axis_of_ranks(ranks const& all, executor& on, page_vector<std::uint64_t> bits,
                               std::uint64_t places)
      : all_(all), places_(places)
  {
    all.attempt(
        [&]
        {
          sort_scratch scratch;
          page_vector<index_type> order(bits.size());
          sort_keys(on, bits, order, scratch);
        });
    auto const cuts = cut_by_points(all, {bits}, std::numeric_limits<std::uint64_t>::max());
    auto const mine = std::move(keys_here(all, on, {bits}, cuts).front());
    total_ = all.sum(mine.size());
    before_ = all.sum_before(mine.size());
    // the last ones before the range of each rank
    auto const firsts = all.gather(before_);
    std::vector<ranks::addressed<std::uint64_t>> leaving(1);
    all.attempt(
        [&]
        {
          for (int r = all.rank() + 1; r < all.size(); ++r)
          {
            std::uint64_t const first = firsts[static_cast<std::size_t>(r)];
            std::uint64_t const wanted = first - std::min(first, places);
            for (std::uint64_t i = std::max(wanted, before_); i < before_ + mine.size(); ++i)
              leaving[0].push_back({r, mine[i - before_]});
          }
        });
    auto const arrived = all.send<std::uint64_t>(leaving);
    all.attempt(
        [&]
        {
          bits_.assign(arrived.values.begin(), arrived.values.end());
          first_ = bits_.size();
          bits_.insert(bits_.end(), mine.begin(), mine.end());
        });
  }

  axis_spacing axis_of_ranks::spacing() const
  {
    axis_spacing found;
    found.n = total_;
    if (total_ == 0) return found;
    count_distances(bits_, first_, 1, found.to_next);
    count_distances(bits_, first_, places_, found.to_nth);
    found.to_next.of = all_.sum(found.to_next.of);
    found.to_nth.of = all_.sum(found.to_nth.of);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool const is_empty = first_ == bits_.size();
    found.lower = all_.least(is_empty ? infinity : from_ordered_bits(bits_[first_]));
    found.upper = all_.greatest(is_empty ? -infinity : from_ordered_bits(bits_.back()));
    return found;
  }

  std::vector<axis_gap> axis_of_ranks::gaps(double length) const
  {
    std::vector<axis_gap> mine;
    all_.attempt([&] { mine = gaps_between(bits_, first_, length); });
    for (axis_gap& gap : mine) gap.n_before += before_ - first_;
    auto const found = all_.gather_all<axis_gap>(mine).values;
    return {found.begin(), found.end()};
  }
}
