#pragma once

#include <nearfield/p2p/pair.hpp>

/// \file
/// The operations of a pair, counted by running the interaction once with a value that counts.

namespace bench
{
  /// What is done to values of type `counted`.
  struct operations
  {
    double products = 0; ///< multiplications, with the additions that they take along (fma)
    double sums = 0;     ///< additions and subtractions of two values that are no products
    double roots = 0;    ///< roots, quotients, exponentials and logarithms
  };

  /// A value without a value: its operators count themselves.
  class counted
  {
  public:
    counted() = default;
    explicit counted(double value) : is_unit_(value == 1 || value == -1) {}

    /// A factor of 1 or -1 costs nothing.
    friend counted operator*(counted a, counted b)
    {
      if (a.is_unit_) return b;
      if (b.is_unit_) return a;
      ++done.products;
      return product();
    }
    friend counted operator+(counted a, counted b)
    {
      if (!a.is_product_ && !b.is_product_) ++done.sums;
      return {};
    }
    friend counted operator-(counted a, counted b) { return a + b; }
    /// A sign folds into the operation that follows.
    friend counted operator-(counted a) { return a; }
    friend counted operator/(counted, counted) { return root(); }
    static counted root()
    {
      ++done.roots;
      return {};
    }

    static inline operations done;

  private:
    static counted product()
    {
      counted result;
      result.is_product_ = true;
      return result;
    }
    bool is_product_ = false, is_unit_ = false;
  };
}

/// \cond
template <>
struct nearfield::math<bench::counted>
{
  using V = bench::counted;
  using real = double;
  static V rsqrt(V) { return V::root(); }
  static V scaled_rsqrt(V) { return V::root(); }
  static V sqrt(V) { return V::root(); }
  static V exp(V) { return V::root(); }
  static V log(V) { return V::root(); }
  static V keep_nonzero(V, V y) { return y; }
  static V keep_less(V, V, V y) { return y; }
  static constexpr double root_scale = 1;
};
/// \endcond

namespace bench
{
  /// One evaluation of K and what it adds: to the target, and with `mutual` to the source too. With several right-hand
  /// sides, K's evaluation and a product for each entry of its matrix and right-hand side.
  template <class K>
  operations operations_of(bool mutual, int n_rhs = 1)
  {
    namespace nf = nearfield;
    nf::vec<counted, K::dim> const x{}, y{};
    nf::vec<counted, K::n_in> const q{};
    nf::vec<counted, K::n_out> out{}, back{};
    counted::done = {};
    if (n_rhs > 1)
    {
      (void)nf::detail::evaluate(K{}, x - y);
      counted::done.products += (mutual ? 2. : 1.) * n_rhs * K::n_in * K::n_out;
      return counted::done;
    }
    if constexpr (nf::detail::has_way_back<K>)
      if (mutual)
      {
        nf::detail::interact<true, false>(K{}, nf::detail::between<K>(x, y), q, out, q, back);
        return counted::done;
      }
    nf::detail::interact<false, false>(K{}, nf::detail::between<K>(x, y), q, out, q, back);
    return counted::done;
  }
}
