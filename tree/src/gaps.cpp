#include "gaps.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace nearfield::detail
{
  namespace
  {
    constexpr double infinity = std::numeric_limits<double>::infinity();

    int exponent_of(double distance)
    {
      return static_cast<int>(std::bit_cast<std::uint64_t>(distance) >> 52);
    }
    /// The least distance of an exponent.
    double least_of(int exponent)
    {
      return exponent == 0 ? 0 : std::ldexp(1., exponent - 1023);
    }

    /// What is left of an axis if gaps are cut to some length.
    class lengths
    {
    public:
      explicit lengths(axis_spacing const& spacing) : counts_(spacing.to_next.of) {}

      /// Of gaps that are at least 2^(exponent - 1023) long.
      [[nodiscard]] std::uint64_t gaps(int exponent) const
      {
        std::uint64_t sum = 0;
        for (std::size_t e = static_cast<std::size_t>(exponent); e < counts_.size(); ++e)
          sum += counts_[e];
        return sum;
      }
      /// A bound of the length with each of them cut to `gap`.
      [[nodiscard]] double bound(int exponent, double gap) const
      {
        double sum = static_cast<double>(gaps(exponent)) * gap;
        for (int e = 0; e < exponent; ++e)
          if (auto const n = counts_[static_cast<std::size_t>(e)]; n > 0)
            sum += static_cast<double>(n) * least_of(e + 1);
        return sum;
      }

    private:
      std::array<std::uint64_t, 2047> const& counts_;
    };
  }

  double gaps_of_grid(axis_spacing const& spacing, double wider, double width, double n_cells,
                      int reach)
  {
    std::uint64_t crowded = 0;
    for (int e = 0; e < exponent_of(wider); ++e)
      crowded += spacing.to_nth.of[static_cast<std::size_t>(e)];
    if (crowded < spacing.n / 64 + 1) return infinity;
    lengths const left(spacing);
    double const least = (reach + 2) * width;
    int const last = exponent_of(least);
    // The cells of a gap must fit too, and a few gaps more make fewer cells, which are sorted faster.
    auto const most = static_cast<std::uint64_t>(n_cells / (2 * (reach + 1)));
    constexpr std::uint64_t few = 1024;
    int e = exponent_of(spacing.upper - spacing.lower);
    while (e > last && left.gaps(e - 1) <= most &&
           (left.bound(e, 0) > n_cells / 2 * width || left.gaps(e - 1) <= few))
      --e;
    return std::max(least_of(e), least);
  }

  std::uint32_t pieces_of_grid(std::span<axis_gap const> gaps, double lower, double upper,
                               int reach, double n_cells, double& width,
                               std::vector<axis_piece>& pieces)
  {
    for (;;)
    {
      double const inverse_width = 1 / width;
      pieces.assign(1, {lower, lower, 0});
      for (axis_gap const& gap : gaps)
      {
        axis_piece const& last = pieces.back();
        double const cell = std::floor(last.offset + (gap.before - last.origin) * inverse_width);
        pieces.push_back({gap.after, gap.after, cell + 1 + reach});
      }
      axis_piece const& last = pieces.back();
      double const cells = std::floor(last.offset + (upper - last.origin) * inverse_width) + 1;
      if (cells <= n_cells) return static_cast<std::uint32_t>(cells);
      double const empty = static_cast<double>(gaps.size()) * (reach + 1);
      width *= std::max(1.01, (cells - empty) / std::max(1., n_cells - empty));
    }
  }

  double resolved_length(std::span<axis_spacing const> axes, int levels)
  {
    auto const n_apart = [](axis_spacing const& axis)
    {
      auto const& counts = axis.to_nth.of;
      return std::accumulate(counts.begin() + 1, counts.end(), std::uint64_t(0));
    };
    std::uint64_t most = 0;
    for (axis_spacing const& axis : axes) most = std::max(most, n_apart(axis));
    double longest = 0;
    for (axis_spacing const& axis : axes)
    {
      std::uint64_t const n = n_apart(axis);
      if (8 * n < most) continue; // a plane, and what lies outside it
      std::uint64_t before = 0;
      for (int e = 1; n > 0 && e < static_cast<int>(axis.to_nth.of.size()); ++e)
      {
        before += axis.to_nth.of[static_cast<std::size_t>(e)];
        if (8 * before < n) continue;
        longest = std::max(longest, least_of(e));
        break;
      }
    }
    constexpr int spare = 3;
    return std::ldexp(longest, levels - spare);
  }

  double gaps_of_tree(axis_spacing const& spacing, double resolved)
  {
    double const extent = spacing.upper - spacing.lower;
    if (extent <= resolved) return infinity;
    lengths const left(spacing);
    int e = exponent_of(extent);
    while (e > 1 && left.bound(e, least_of(e)) > resolved) --e;
    return least_of(e);
  }

  cut_axis cut_gaps(std::span<axis_gap const> gaps, axis_spacing const& spacing, double length)
  {
    std::size_t main = 0;
    std::uint64_t most = 0;
    for (std::size_t p = 0; p <= gaps.size(); ++p)
    {
      std::uint64_t const begin = p == 0 ? 0 : gaps[p - 1].n_before;
      std::uint64_t const end = p < gaps.size() ? gaps[p].n_before : spacing.n;
      if (end - begin > most)
      {
        most = end - begin;
        main = p;
      }
    }
    cut_axis axis{.pieces = std::vector<axis_piece>(gaps.size() + 1)};
    auto const at = [&](std::size_t p, double x)
    {
      return axis.pieces[p].offset + (x - axis.pieces[p].origin);
    };
    // Outwards, since a coordinate far away may lose what tells its piece from the next.
    for (std::size_t p = main; p > 0; --p)
    {
      auto const [before, after, n_before] = gaps[p - 1];
      axis.pieces[p].first = after - length / 2;
      axis.pieces[p - 1].origin = before;
      axis.pieces[p - 1].offset = at(p, after) - length;
    }
    for (std::size_t p = main; p < gaps.size(); ++p)
    {
      auto const [before, after, n_before] = gaps[p];
      axis.pieces[p + 1] = {after - length / 2, after, at(p, before) + length};
    }
    axis.pieces[0].first = spacing.lower;
    axis.lower = at(0, spacing.lower);
    axis.upper = at(gaps.size(), spacing.upper);
    return axis;
  }

  void count_distances(std::span<std::uint64_t const> sorted, std::size_t first, std::size_t step,
                       distance_counts& to)
  {
    for (std::size_t i = std::max(first, step); i < sorted.size(); ++i)
      ++to.of[static_cast<std::size_t>(
          exponent_of(from_ordered_bits(sorted[i]) - from_ordered_bits(sorted[i - step])))];
  }

  std::vector<axis_gap> gaps_between(std::span<std::uint64_t const> sorted, std::size_t first,
                                     double length)
  {
    std::vector<axis_gap> found;
    for (std::size_t i = std::max<std::size_t>(first, 1); i < sorted.size(); ++i)
    {
      double const before = from_ordered_bits(sorted[i - 1]), after = from_ordered_bits(sorted[i]);
      if (after - before > length) found.push_back({before, after, i});
    }
    return found;
  }

  template <class T>
  sorted_axis::sorted_axis(executor& on, strided_column<T const> const& a, std::size_t n_a,
                           strided_column<T const> const& b, std::size_t n_b, sort_scratch& scratch)
      : bits_(n_a + n_b)
  {
    auto const copy = [&](strided_column<T const> const& from, std::size_t n, std::uint64_t* to)
    {
      for_each_part(on, cut(on, n),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t i = begin; i < end; ++i) to[i] = ordered_bits(from[i]);
                    });
    };
    copy(a, n_a, bits_.data());
    copy(b, n_b, bits_.data() + n_a);
    page_vector<index_type> order(bits_.size());
    sort_keys(on, bits_, order, scratch);
  }

  axis_spacing sorted_axis::spacing(std::uint64_t places) const
  {
    axis_spacing found;
    found.n = bits_.size();
    if (bits_.empty()) return found;
    found.lower = from_ordered_bits(bits_.front());
    found.upper = from_ordered_bits(bits_.back());
    count_distances(bits_, 0, 1, found.to_next);
    count_distances(bits_, 0, places, found.to_nth);
    return found;
  }

  std::vector<axis_gap> sorted_axis::gaps(double length) const
  {
    return gaps_between(bits_, 0, length);
  }

  template sorted_axis::sorted_axis(executor&, strided_column<float const> const&, std::size_t,
                                    strided_column<float const> const&, std::size_t, sort_scratch&);
  template sorted_axis::sorted_axis(executor&, strided_column<double const> const&, std::size_t,
                                    strided_column<double const> const&, std::size_t,
                                    sort_scratch&);
}
