#pragma once

#include "near_field.hpp"

#include <xsimd/xsimd.hpp>

#include <cmath>
#include <limits>

namespace baseline
{
  using nearfield::index_type;
  using nearfield::interaction_list;

  /// What a pair at r gives for unit charges: the value, and the factor of r in its gradient.
  template <class T>
  struct pair_value
  {
    T r[3], value, slope;

    __attribute__((always_inline)) pair_value(T const* const* x, index_type i, index_type j)
    {
      T r2 = 0;
      for (int d = 0; d < 3; ++d)
      {
        r[d] = x[d][i] - x[d][j];
        r2 += r[d] * r[d];
      }
      value = T(1) / std::sqrt(r2);
      slope = -value / r2;
    }
  };

  /// Target i, without SIMD. Arch only keeps the instances of different files apart.
  template <class Arch, class T, bool Gradient>
  void loop_of_target(index_type i, interaction_list::range const& own,
                      std::span<interaction_list::range const> ranges, T const* const* x,
                      T const* q, T* const* out)
  {
    T sum[4] = {};
    auto const add = [&](index_type j)
    {
      pair_value<T> const pair(x, i, j);
      sum[0] += q[j] * pair.value;
      if constexpr (Gradient)
        for (int d = 0; d < 3; ++d) sum[1 + d] += q[j] * pair.slope * pair.r[d];
    };
    for (index_type j = own.begin; j < i; ++j) add(j);
    for (index_type j = i + 1; j < own.end; ++j) add(j);
    for (interaction_list::range const& range : ranges)
      for (index_type j = range.begin; j < range.end; ++j) add(j);
    for (int o = 0; o < (Gradient ? 4 : 1); ++o) out[o][i] = sum[o];
  }

  template <class Arch, class T, bool Gradient>
  void plain_list(nearfield::boxes const& boxes, nearfield::interaction_list const& list,
                  T const* const* x, T const* q, T* const* out)
  {
    for (index_type b = 0; b < boxes.size(); ++b)
      for (index_type i = boxes.begin(b); i < boxes.end(b); ++i)
        loop_of_target<Arch, T, Gradient>(i, list.own[b], list.neighbours(b), x, q, out);
  }

  template <class Arch, class T, bool Gradient>
  void plain_mutual_list(nearfield::boxes const& boxes, nearfield::interaction_list const& list,
                         T const* const* x, T const* q, T* const* out)
  {
    constexpr int n_out = Gradient ? 4 : 1;
    index_type const n = boxes.offsets.back();
    for (int o = 0; o < n_out; ++o)
      for (index_type i = 0; i < n; ++i) out[o][i] = 0;
    for (index_type b = 0; b < boxes.size(); ++b)
      for (index_type i = boxes.begin(b); i < boxes.end(b); ++i)
      {
        T sum[4] = {};
        auto const add = [&](index_type j)
        {
          pair_value<T> const pair(x, i, j);
          sum[0] += q[j] * pair.value;
          out[0][j] += q[i] * pair.value;
          if constexpr (Gradient)
            for (int d = 0; d < 3; ++d)
            {
              sum[1 + d] += q[j] * pair.slope * pair.r[d];
              out[1 + d][j] -= q[i] * pair.slope * pair.r[d];
            }
        };
        for (index_type j = i + 1; j < boxes.end(b); ++j) add(j);
        for (interaction_list::range const& range : list.neighbours(b))
          for (index_type j = range.begin; j < range.end; ++j) add(j);
        for (int o = 0; o < n_out; ++o) out[o][i] += sum[o];
      }
  }

  template <class Arch, class T, bool Gradient>
  void simd_list(nearfield::boxes const& boxes, nearfield::interaction_list const& list,
                 T const* const* x, T const* q, T* const* out)
  {
    using batch = xsimd::batch<T, Arch>;
    constexpr index_type width = batch::size;
    constexpr int n_out = Gradient ? 4 : 1;
    alignas(64) T lanes[width];
    for (index_type lane = 0; lane < width; ++lane) lanes[lane] = static_cast<T>(lane);
    batch const lane = batch::load_unaligned(lanes), zero(T(0));
    batch const tolerance(std::numeric_limits<T>::epsilon());
    for (index_type b = 0; b < boxes.size(); ++b)
    {
      index_type i = boxes.begin(b);
      for (; i + width <= boxes.end(b); i += width)
      {
        batch target[3], sum[n_out];
        for (int d = 0; d < 3; ++d) target[d] = batch::load_unaligned(x[d] + i);
        for (batch& s : sum) s = zero;
        auto const add = [&](index_type j, auto const& kept)
        {
          batch r[3];
          for (int d = 0; d < 3; ++d) r[d] = target[d] - batch(x[d][j]);
          batch r2 = r[0] * r[0];
          for (int d = 1; d < 3; ++d) r2 += r[d] * r[d];
          batch const inverse = batch(T(1)) / xsimd::sqrt(r2);
          batch const value = kept(batch(q[j]) * inverse);
          sum[0] += value;
          if constexpr (Gradient)
          {
            batch const slope = kept(value * inverse * inverse);
            for (int d = 0; d < 3; ++d) sum[1 + d] -= slope * r[d];
          }
        };
        for (index_type j = list.own[b].begin; j < list.own[b].end; ++j)
        {
          auto const other =
              xsimd::abs(lane - batch(static_cast<T>(static_cast<double>(j) - double(i)))) >
              tolerance;
          add(j, [&](batch const& v) { return xsimd::select(other, v, zero); });
        }
        for (interaction_list::range const& range : list.neighbours(b))
          for (index_type j = range.begin; j < range.end; ++j)
            add(j, [](batch const& v) { return v; });
        for (int o = 0; o < n_out; ++o) sum[o].store_unaligned(out[o] + i);
      }
      for (; i < boxes.end(b); ++i)
        loop_of_target<Arch, T, Gradient>(i, list.own[b], list.neighbours(b), x, q, out);
    }
  }

  template <class Arch, class T>
  constexpr list_functions<T> make_list_functions()
  {
    return {{&plain_list<Arch, T, false>, &plain_list<Arch, T, true>},
            {&plain_mutual_list<Arch, T, false>, &plain_mutual_list<Arch, T, true>},
            {&simd_list<Arch, T, false>, &simd_list<Arch, T, true>}};
  }

  template <class Arch>
  constexpr near_field_table make_near_field_table()
  {
    return {make_list_functions<Arch, float>(), make_list_functions<Arch, double>()};
  }
}
