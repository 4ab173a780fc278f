#pragma once

#include <nearfield/search/cuda.hpp>

#include <cstdint>

/// \file
/// Which pairs within the cutoff count: what row_filter decides on CPUs.

namespace nearfield::detail
{
  /// The arrays of a filter as kernels take them; null where it does not restrict.
  template <class T>
  struct pair_rules
  {
    bool any = false; ///< false: all pairs count
    bool is_closed = false;
    cutoff_by by = cutoff_by::sum;
    std::uint32_t n_types = 0;
    std::uint32_t const *types = nullptr, *query_types = nullptr;
    T const* squares = nullptr;
    T const *radii = nullptr, *query_radii = nullptr;
    std::uint64_t const* excluded_offsets = nullptr;
    std::uint32_t const* excluded = nullptr;
    unsigned char const* wanted = nullptr;

    pair_rules() = default;
    explicit pair_rules(device_filter<T> const& of)
        : any(true), is_closed(of.is_closed), by(of.by), n_types(of.n_types),
          types(of.types.data()), query_types(of.query_types.data()), squares(of.squares.data()),
          radii(of.radii.data()), query_radii(of.query_radii.data()),
          excluded_offsets(of.excluded_offsets.data()), excluded(of.excluded.data()),
          wanted(of.wanted.data())
    {}

    __device__ bool count(std::uint32_t i, std::uint32_t j, T r2) const
    {
      if (wanted && !wanted[i]) return false;
      if (squares && !is_within(r2, squares[query_types[i] * n_types + types[j]])) return false;
      if (query_radii)
      {
        T const own = query_radii[i];
        T const cutoff = by == cutoff_by::sum      ? own + radii[j]
                         : by == cutoff_by::larger ? (own < radii[j] ? radii[j] : own)
                                                   : own;
        if (!is_within(r2, cutoff > 0 ? cutoff * cutoff : T(-1))) return false;
      }
      if (excluded)
        for (std::uint64_t e = excluded_offsets[i]; e < excluded_offsets[i + 1]; ++e)
          if (excluded[e] == j) return false;
      return true;
    }

  private:
    __device__ bool is_within(T r2, T square) const
    {
      return is_closed ? r2 <= square : r2 < square;
    }
  };
}
