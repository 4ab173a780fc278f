#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// How many columns a view has. Views are soa, or have size(), columns by [] and a width_of of their own.
  template <class T, int N>
  constexpr int width_of(soa<T, N> const& view)
  {
    if constexpr (N == run_time_columns)
      return view.width();
    else
      return N;
  }

  /// Throws nearfield::error unless the view has `expected` points, fewer than 2^32, and no null column. The
  /// names are C strings, because building a std::string for nothing would slow down calls on small boxes.
  template <class View>
  void check_view(char const* function, char const* argument, View const& view,
                  std::size_t expected)
  {
    auto const fail = [&](std::string const& what)
    {
      throw error(std::string(function) + ": " + argument + what);
    };
    if (view.size() != expected)
      fail(" has " + std::to_string(view.size()) + " points, expected " + std::to_string(expected) +
           "; give one value per point");
    if (view.size() > std::numeric_limits<index_type>::max())
      fail(" has " + std::to_string(view.size()) +
           " points; split it into sets of fewer than 2^32");
    for (int c = 0; c < width_of(view); ++c)
      if (view.size() > 0 && view[c] == nullptr)
        fail(": column " + std::to_string(c) + " is null; give a column of " +
             std::to_string(view.size()) + " values");
  }

  /// Throws nearfield::error if there are more points than one box can hold: its points are counted in int.
  inline void check_box_size(std::size_t targets, std::size_t sources)
  {
    std::size_t const most = std::numeric_limits<int>::max() - 1024;
    if (targets > most || sources > most)
      throw error("p2p: " + std::to_string(targets) + " targets and " + std::to_string(sources) +
                  " sources in one call; give at most " + std::to_string(most) + " of each");
  }

  template <class A, class B>
  bool overlap(A const* a, std::size_t n_a, B const* b, std::size_t n_b)
  {
    // std::less orders pointers into different arrays too
    std::less<void const*> const less;
    return n_a > 0 && n_b > 0 && less(a, b + n_b) && less(b, a + n_a);
  }

  /// Throws nearfield::error if an output column shares memory with a column of `other`.
  template <class Out, class View>
  void check_apart(char const* function, Out const& out, char const* argument, View const& other)
  {
    for (int c = 0; c < width_of(out); ++c)
      for (int o = 0; o < width_of(other); ++o)
        if (overlap(out[c], out.size(), other[o], other.size()))
          throw error(std::string(function) + ": output column " + std::to_string(c) +
                      " overlaps column " + std::to_string(o) + " of " + argument +
                      "; give each output its own memory");
  }

  /// Throws nearfield::error if two output columns share memory.
  template <class Out>
  void check_columns_apart(char const* function, Out const& out)
  {
    for (int c = 0; c < width_of(out); ++c)
      for (int o = c + 1; o < width_of(out); ++o)
        if (overlap(out[c], out.size(), out[o], out.size()))
          throw error(std::string(function) + ": output columns " + std::to_string(c) + " and " +
                      std::to_string(o) + " overlap; give each output its own memory");
  }

  /// Checks the views of one set. All back-ends call this and the next two, which throw nearfield::error for
  /// sizes that differ, null columns, and outputs that overlap.
  template <class X, class Q, class Out>
  void check_one_set(char const* function, X const& x, Q const& q, Out const& out)
  {
    check_view(function, "x", x, x.size());
    check_view(function, "q", q, x.size());
    check_view(function, "out", out, x.size());
    check_apart(function, out, "x", x);
    check_apart(function, out, "q", q);
    check_columns_apart(function, out);
  }

  /// Checks the views of targets x and of sources y with inputs q.
  template <class X, class Y, class Q, class Out>
  void check_two_sets(char const* function, X const& x, Y const& y, Q const& q, Out const& out)
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

  /// Checks the views of two sets that both give and receive.
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
    for (auto const& out : {x_out, y_out})
    {
      check_apart(function, out, "x", x);
      check_apart(function, out, "x_q", x_q);
      check_apart(function, out, "y", y);
      check_apart(function, out, "y_q", y_q);
      check_columns_apart(function, out);
    }
    check_apart(function, x_out, "y_out", y_out);
  }

  /// The number of right-hand sides of q. Unless the outputs have as many it does not compile or, if a number of
  /// columns is known at run time only, throws nearfield::error.
  template <class K, class Q, int NQ, class T, int NOut>
  int right_hand_sides(soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    if constexpr (NQ != run_time_columns && NOut != run_time_columns)
    {
      static_assert(NQ % K::n_in == 0,
                    "the inputs must have n_in columns for each right-hand side");
      static_assert(NOut == NQ / K::n_in * K::n_out,
                    "the outputs must have n_out columns for each right-hand side");
      return NQ / K::n_in;
    }
    else
    {
      int const n_rhs = width_of(q) / K::n_in;
      if (n_rhs == 0 || width_of(q) != n_rhs * K::n_in || width_of(out) != n_rhs * K::n_out)
        throw error(std::string(K::name) + ": found " + std::to_string(width_of(q)) +
                    " columns of inputs and " + std::to_string(width_of(out)) +
                    " of outputs; give " + std::to_string(K::n_in) + " and " +
                    std::to_string(K::n_out) + " for each right-hand side");
      return n_rhs;
    }
  }
}
