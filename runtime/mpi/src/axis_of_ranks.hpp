#pragma once

#include "ranks.hpp"

#include "tree/src/gaps.hpp"

#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// Which gaps between the points of all ranks are left out: those that one rank with all points would leave out.

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  /// sorted_axis of the coordinates of all ranks, each of which gets a range of them. All functions are collective, and
  /// give the same on every rank.
  class NEARFIELD_API axis_of_ranks
  {
  public:
    /// Of the coordinates of this rank as ordered_bits(); spacing() counts distances of so many places.
    axis_of_ranks(ranks const& all, executor& on, page_vector<std::uint64_t> bits,
                  std::uint64_t places);

    [[nodiscard]] axis_spacing spacing() const;
    /// Ascending; longer than this.
    [[nodiscard]] std::vector<axis_gap> gaps(double length) const;

  private:
    ranks const& all_;
    std::uint64_t places_, total_, before_; ///< before_: coordinates of the ranks before
    /// the last ones of the ranks before, as many as places_, and those of this rank
    std::vector<std::uint64_t> bits_;
    std::size_t first_ = 0; ///< of this rank
  };

  /// The coordinates of the points of this rank along an axis. Collective.
  template <class T, int Dim>
  page_vector<std::uint64_t> bits_of_axis(ranks const& all,
                                          std::span<strided<T const, Dim> const> sets, int axis)
  {
    page_vector<std::uint64_t> bits;
    all.attempt(
        [&]
        {
          std::size_t n = 0;
          for (auto const& points : sets) n += points.size();
          bits.resize(n);
          auto to = bits.begin();
          for (auto const& points : sets)
            for (std::size_t i = 0; i < points.size(); ++i)
              *to++ = ordered_bits(double(points[axis][i]));
        });
    return bits;
  }
}
