#include "axis_of_ranks.hpp"

#include "cuts.hpp"

#include <algorithm>
#include <limits>

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
    auto const mine = keys_here(all, on, bits, cuts);
    total_ = all.sum(mine.size());
    before_ = all.sum_before(mine.size());
    // the last ones before the range of each rank that has one
    auto const ranges = all.gather_all(std::array<std::uint64_t, 2>{before_, mine.size()});
    std::vector<std::uint64_t> leaving;
    std::vector<std::size_t> offsets{0};
    all.attempt(
        [&]
        {
          for (int r = 0; r < all.size(); ++r)
          {
            std::uint64_t const first = ranges.of(r)[0];
            if (r > all.rank() && ranges.of(r)[1] > 0)
            {
              std::uint64_t const wanted = first - std::min(first, places);
              for (std::uint64_t i = std::max(wanted, before_); i < before_ + mine.size(); ++i)
                leaving.push_back(mine[i - before_]);
            }
            offsets.push_back(leaving.size());
          }
        });
    auto const arrived = all.exchange<std::uint64_t>(leaving, offsets);
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
    std::vector<std::uint64_t> mine;
    all_.attempt(
        [&]
        {
          for (axis_gap const& gap : gaps_between(bits_, first_, length))
            mine.insert(mine.end(), {ordered_bits(gap.before), ordered_bits(gap.after),
                                     before_ + gap.n_before - first_});
        });
    auto const of_all = all_.gather_all(mine);
    std::vector<axis_gap> found;
    for (std::size_t i = 0; i < of_all.values.size(); i += 3)
      found.push_back({from_ordered_bits(of_all.values[i]), from_ordered_bits(of_all.values[i + 1]),
                       of_all.values[i + 2]});
    return found;
  }
}
