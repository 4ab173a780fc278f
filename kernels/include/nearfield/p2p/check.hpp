#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  // A call on a small box feels its checks: what is tested stands apart from what is said, in functions that are
  // called only where something is wrong.

  /// Says what is wrong with a view.
  template <class T, int N>
  [[noreturn, gnu::cold, gnu::noinline]] void
  refuse_view(char const* function, char const* argument, soa<T, N> const& view,
              std::size_t expected)
  {
    std::string what = std::string(function) + ": " + argument;
    if (view.size() != expected)
      throw error(what + " has " + std::to_string(view.size()) + " points, expected " +
                  std::to_string(expected) + "; give one value per point");
    if (view.size() > std::numeric_limits<index_type>::max())
      throw error(what + " has " + std::to_string(view.size()) +
                  " points; split the set, one has fewer than 2^32");
    int c = 0;
    while (view[c]) ++c;
    throw error(what + ": column " + std::to_string(c) + " is null; give a column of " +
                std::to_string(view.size()) + " values");
  }

  /// Throws error unless the view has `expected` points, fewer than 2^32, and no null column.
  template <class T, int N>
  void check_view(char const* function, char const* argument, soa<T, N> const& view,
                  std::size_t expected)
  {
    bool is_null = false;
    for (int c = 0; c < N; ++c) is_null |= view[c] == nullptr;
    if (view.size() != expected || view.size() > std::numeric_limits<index_type>::max() ||
        (is_null && view.size() > 0))
      refuse_view(function, argument, view, expected);
  }

  inline constexpr std::size_t most_in_box = std::numeric_limits<int>::max() - 1024;

  [[noreturn, gnu::cold, gnu::noinline]] inline void refuse_box_size(std::size_t targets,
                                                                     std::size_t sources)
  {
    throw error("p2p: " + std::to_string(targets) + " targets and " + std::to_string(sources) +
                " sources in one call; give at most " + std::to_string(most_in_box) + " of each");
  }

  /// Throws error for more points than one box can hold: those of a box are counted in int.
  inline void check_box_size(std::size_t targets, std::size_t sources)
  {
    if (targets > most_in_box || sources > most_in_box) refuse_box_size(targets, sources);
  }

  /// Whether two arrays of so many bytes, none of them empty, share memory: the distance from a to b lies above
  /// -b_bytes and below a_bytes.
  inline __attribute__((always_inline)) bool overlap_bytes(void const* a, std::size_t a_bytes,
                                                           void const* b, std::size_t b_bytes)
  {
    std::uintptr_t const distance =
        reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a);
    return distance + (b_bytes - 1) < a_bytes + (b_bytes - 1);
  }

  /// Whether [a, a + n_a) and [b, b + n_b) share memory.
  template <class A, class B>
  bool overlap(A const* a, std::size_t n_a, B const* b, std::size_t n_b)
  {
    return n_a > 0 && n_b > 0 && overlap_bytes(a, n_a * sizeof(A), b, n_b * sizeof(B));
  }

  /// Says which output column shares memory with which column of `other`.
  template <class T, int N, class U, int M>
  [[noreturn, gnu::cold, gnu::noinline]] void
  refuse_overlap(char const* function, soa<T, N> const& out, char const* argument,
                 soa<U, M> const& other)
  {
    int c = 0, o = 0;
    while (!overlap(out[c], out.size(), other[o], other.size()))
      if (++o == M) o = 0, ++c;
    throw error(std::string(function) + ": output column " + std::to_string(c) +
                " overlaps column " + std::to_string(o) + " of " + argument +
                "; give outputs memory of their own");
  }

  /// Throws error where an output column shares memory with a column of `other`.
  template <class T, int N, class U, int M>
  void check_apart(char const* function, soa<T, N> const& out, char const* argument,
                   soa<U, M> const& other)
  {
    if (out.size() == 0 || other.size() == 0) return;
    bool any = false;
    NEARFIELD_UNROLL
    for (int c = 0; c < N; ++c)
    {
      NEARFIELD_UNROLL
      for (int o = 0; o < M; ++o)
        any |= overlap_bytes(out[c], out.size() * sizeof(T), other[o], other.size() * sizeof(U));
    }
    if (any) refuse_overlap(function, out, argument, other);
  }

  /// Says which columns of the outputs share memory.
  template <class T, int N>
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_columns(char const* function,
                                                             soa<T, N> const& out)
  {
    int c = 0, o = 1;
    while (!overlap(out[c], out.size(), out[o], out.size()))
      if (++o == N) o = ++c + 1;
    throw error(std::string(function) + ": output columns " + std::to_string(c) + " and " +
                std::to_string(o) + " overlap; give outputs memory of their own");
  }

  /// Throws error where two columns of the outputs share memory.
  template <class T, int N>
  void check_columns_apart(char const* function, soa<T, N> const& out)
  {
    if (out.size() == 0) return;
    bool any = false;
    for (int c = 0; c < N; ++c)
      for (int o = c + 1; o < N; ++o)
        any |= overlap_bytes(out[c], out.size() * sizeof(T), out[o], out.size() * sizeof(T));
    if (any) refuse_columns(function, out);
  }

  /// The views of one set. Like the two that follow, for every back-end: throws error for sizes that differ,
  /// null columns, and outputs that overlap.
  template <class X, int Dim, class Q, int NQ, class T, int NOut>
  void check_one_set(char const* function, soa<X, Dim> const& x, soa<Q, NQ> const& q,
                     soa<T, NOut> const& out)
  {
    check_view(function, "x", x, x.size());
    check_view(function, "q", q, x.size());
    check_view(function, "out", out, x.size());
    check_apart(function, out, "x", x);
    check_apart(function, out, "q", q);
    check_columns_apart(function, out);
  }

  /// The views of targets x and sources y with inputs q.
  template <class X, class Y, int Dim, class Q, int NQ, class T, int NOut>
  void check_two_sets(char const* function, soa<X, Dim> const& x, soa<Y, Dim> const& y,
                      soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    check_view(function, "x", x, x.size());
    check_view(function, "y", y, y.size());
    check_view(function, "q", q, y.size());
    check_view(function, "out", out, x.size());
    check_apart(function, out, "x", x);
    check_apart(function, out, "y", y);
    check_apart(function, out, "q", q);
    check_columns_apart(function, out);
  }

  /// The views of two sets that both give and receive.
  template <class X, class XQ, class Y, class YQ, int Dim, int NQ, class T, int NOut>
  void check_both_sides(char const* function, soa<X, Dim> const& x, soa<XQ, NQ> const& x_q,
                        soa<Y, Dim> const& y, soa<YQ, NQ> const& y_q, soa<T, NOut> const& x_out,
                        soa<T, NOut> const& y_out)
  {
    check_view(function, "x", x, x.size());
    check_view(function, "x_q", x_q, x.size());
    check_view(function, "x_out", x_out, x.size());
    check_view(function, "y", y, y.size());
    check_view(function, "y_q", y_q, y.size());
    check_view(function, "y_out", y_out, y.size());
    auto const check = [&](soa<T, NOut> const& out)
    {
      check_apart(function, out, "x", x);
      check_apart(function, out, "x_q", x_q);
      check_apart(function, out, "y", y);
      check_apart(function, out, "y_q", y_q);
      check_columns_apart(function, out);
    };
    check(x_out);
    check(y_out);
    check_apart(function, x_out, "y_out", y_out);
  }

  /// The number of right-hand sides of q, checked against the columns of the outputs.
  template <class K, int NInputs, int NOutputs>
  constexpr int right_hand_sides()
  {
    static_assert(NInputs % K::n_in == 0,
                  "the inputs must have n_in columns for each right-hand side");
    static_assert(NOutputs == NInputs / K::n_in * K::n_out,
                  "the outputs must have n_out columns for each right-hand side");
    return NInputs / K::n_in;
  }
}
