#pragma once

#include <nearfield/p2p/pair.hpp>

#include <cstddef>

/// \file
/// The loop that a user would write around an interaction. Files that ask for one are compiled with -O3 -march=native
/// -ffast-math.

/// Before a loop whose sources do not overlap targets. clang compares addresses at run time; a pragma would make it
/// complain of exp and log.
#if defined(__clang__)
#define NEARFIELD_PLAIN_LOOP
#else
#define NEARFIELD_PLAIN_LOOP _Pragma("GCC ivdep")
#endif

namespace bench
{
  /// One box with itself, if y is x, or two boxes of n points.
  template <class T>
  struct plain_boxes
  {
    std::size_t n;
    T const *const *x, *const *y;     ///< columns of points: coordinates, then parameters
    T const *const *x_q, *const *y_q; ///< columns
    T* const* x_out;
    T* const* y_out; ///< null: one-sided
  };

  /// A loop, and the interaction that it calls.
  template <class T>
  using plain_function = void (*)(void const* k, plain_boxes<T> const& boxes);

  namespace detail
  {
    template <class K, class T, bool Mutual, bool OneBox>
    void plain_loop(K const k, plain_boxes<T> const& of)
    {
      namespace nf = nearfield;
      constexpr int n_x = nf::detail::point_columns<K>;
      T const *x[n_x], *y[n_x], *x_q[K::n_in], *y_q[K::n_in];
      T *x_out[K::n_out], *y_out[K::n_out];
      for (int d = 0; d < n_x; ++d) x[d] = of.x[d], y[d] = of.y[d];
      for (int c = 0; c < K::n_in; ++c) x_q[c] = of.x_q[c], y_q[c] = of.y_q[c];
      for (int o = 0; o < K::n_out; ++o)
      {
        x_out[o] = of.x_out[o];
        y_out[o] = Mutual ? of.y_out[o] : nullptr;
      }
      for (std::size_t i = 0; i < of.n; ++i)
      {
        nf::vec<T, n_x> target;
        nf::vec<T, K::n_in> q_i;
        nf::vec<T, K::n_out> sum{};
        for (int d = 0; d < n_x; ++d) target[d] = x[d][i];
        for (int c = 0; c < K::n_in; ++c) q_i[c] = x_q[c][i];
        auto const meet = [&](std::size_t begin, std::size_t end)
        {
          NEARFIELD_PLAIN_LOOP
          for (std::size_t j = begin; j < end; ++j)
          {
            nf::vec<T, n_x> source;
            nf::vec<T, K::n_in> q;
            for (int d = 0; d < n_x; ++d) source[d] = y[d][j];
            for (int c = 0; c < K::n_in; ++c) q[c] = y_q[c][j];
            auto const map = nf::detail::evaluate(k, nf::detail::between<K>(target, source));
            sum += map.to(q);
            if constexpr (Mutual)
            {
              auto const back = nf::detail::apply_back<K>(map, q_i);
              for (int o = 0; o < K::n_out; ++o) y_out[o][j] += back[o];
            }
          }
        };
        if constexpr (!OneBox)
          meet(0, of.n);
        else
        {
          if constexpr (!Mutual) meet(0, i);
          meet(i + 1, of.n);
        }
        for (int o = 0; o < K::n_out; ++o) x_out[o][i] += sum[o];
      }
    }
  }

  /// The loop of an interaction, a plain_function.
  template <class K, class T>
  void plain_loop(void const* value, plain_boxes<T> const& of)
  {
    K const& k = *static_cast<K const*>(value);
    bool const is_one = of.x == of.y;
    if constexpr (nearfield::detail::has_way_back<K>)
      if (of.y_out)
        return is_one ? detail::plain_loop<K, T, true, true>(k, of)
                      : detail::plain_loop<K, T, true, false>(k, of);
    is_one ? detail::plain_loop<K, T, false, true>(k, of)
           : detail::plain_loop<K, T, false, false>(k, of);
  }
}
