#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/p2p/leaf.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

/// \file
/// The columns of a ScalFMM leaf. A leaf is a slice of its group's columns, so its own are neither
/// padded nor aligned.

namespace nearfield::scalfmm3::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class Tuple>
  inline constexpr bool is_tuple_of_pointers = false;
  template <class... Ts>
  inline constexpr bool is_tuple_of_pointers<std::tuple<Ts*...>> = true;
  template <class T, std::size_t N>
  inline constexpr bool is_tuple_of_pointers<std::array<T*, N>> = true;

  /// The first elements of the columns, as a tuple of pointers. An iterator over a leaf's columns is a
  /// tuple of pointers, or has one and an index (data() and index(), as in ScalFMM's views), or
  /// dereferences to a tuple of references. The second form is tried before the third: a reference to an
  /// element of a null column is undefined behaviour, and its address would not compare equal to null.
  template <class Iterator>
  auto pointers_of(Iterator const& at)
  {
    if constexpr (is_tuple_of_pointers<Iterator>)
      return at;
    else if constexpr (requires {
                         at.data();
                         at.index();
                       })
      return std::apply([&](auto*... column)
                        { return std::tuple(column ? column + at.index() : column...); },
                        at.data());
    else
      return std::apply([](auto&... value) { return std::tuple(std::addressof(value)...); }, *at);
  }

  /// The first N columns, as pointers to T.
  template <class T, int N, class Pointers, int... C>
  std::array<T*, N> first_columns(Pointers const& columns, std::integer_sequence<int, C...>)
  {
    static_assert(
        (std::is_convertible_v<std::tuple_element_t<C, Pointers>, T*> && ...),
        "the positions, inputs and outputs of leaves must be of one type, float or double");
    return {std::get<C>(columns)...};
  }

  template <class T, int N, class Pointers>
  std::array<T*, N> first_columns(Pointers const& columns)
  {
    static_assert(std::tuple_size_v<Pointers> >= N,
                  "the particles have fewer columns than the matrix kernel: give them at least km "
                  "inputs and kn outputs");
    return first_columns<T, N>(columns, std::make_integer_sequence<int, N>{});
  }

  /// A leaf's positions, found by argument-dependent lookup as in ScalFMM.
  template <class Leaf>
  auto positions_of(Leaf const& leaf)
  {
    return pointers_of(position_begin(leaf.cparticles()));
  }

  template <class Leaf>
  concept has_positions = requires(Leaf const& leaf) {
    leaf.size();
    position_begin(leaf.cparticles());
  };

  template <class Leaf>
  struct real_of_positions
  {
    static_assert(has_positions<Leaf>,
                  "not a ScalFMM leaf: it needs size(), cparticles() and particles(), and "
                  "position_begin, inputs_begin and outputs_begin of those particles, found by "
                  "argument-dependent look-up");
    using type = std::remove_cv_t<std::remove_pointer_t<
        std::tuple_element_t<0, decltype(positions_of(std::declval<Leaf const&>()))>>>;
    static_assert(std::is_same_v<type, float> || std::is_same_v<type, double>,
                  "the positions, inputs and outputs of leaves must be of one type, float or "
                  "double");
  };

  /// The real type of a leaf.
  template <class Leaf>
  using real_of_leaf = typename real_of_positions<Leaf>::type;

  /// The columns of one leaf that a matrix kernel uses; particles may have more inputs and outputs.
  template <class T, int Dim, int NQ, int NOut>
  using leaf_columns = leaf<soa<T const, Dim>, soa<T const, NQ>, soa<T, NOut>>;

  [[noreturn, gnu::cold, gnu::noinline]] inline void
  refuse_null_column(char const* function, char const* leaf, char const* what, std::size_t column,
                     std::size_t size)
  {
    throw error(std::string(function) + ": " + what + ' ' + std::to_string(column) + " of the " +
                leaf + " leaf is a null column; give a leaf of " + std::to_string(size) +
                " particles columns of " + std::to_string(size) + " values");
  }

  template <class T, std::size_t N>
  [[gnu::always_inline]] inline void
  check_columns(char const* function, char const* leaf, char const* what,
                std::array<T*, N> const& columns, std::size_t size)
  {
    bool has_null = false;
    for (T* const column : columns) has_null |= column == nullptr;
    if (!has_null) return;
    std::size_t c = 0;
    while (columns[c] != nullptr) ++c;
    refuse_null_column(function, leaf, what, c, size);
  }

  enum class leaf_side
  {
    gives,    ///< positions and inputs
    receives, ///< positions and outputs
    both
  };

  /// The columns of a leaf that is not empty, moved by `shift` as a source. Throws nearfield::error for a null column.
  template <leaf_side Side, class MatrixKernel, class T, class Leaf>
  [[gnu::always_inline]] inline auto columns_of(char const* function, char const* name, Leaf& leaf,
                                                std::array<double, 3> const& shift = {})
  {
    constexpr int dim = MatrixKernel::dim;
    constexpr int km = static_cast<int>(MatrixKernel::km), kn = static_cast<int>(MatrixKernel::kn);
    auto const size = static_cast<std::size_t>(leaf.size());
    nearfield::detail::check_box_size(size, 0);
    auto const positions = positions_of(leaf);
    static_assert(std::tuple_size_v<decltype(positions)> == dim,
                  "the particles differ in dimension from the interaction");
    auto const x = first_columns<T const, dim>(positions);
    check_columns(function, name, "position", x, size);
    std::array<T const*, km> q{};
    std::array<T*, kn> out{};
    if constexpr (Side != leaf_side::receives)
    {
      q = first_columns<T const, km>(pointers_of(inputs_begin(leaf.cparticles())));
      check_columns(function, name, "input", q, size);
    }
    if constexpr (Side != leaf_side::gives)
    {
      out = first_columns<T, kn>(pointers_of(outputs_begin(leaf.particles())));
      check_columns(function, name, "output", out, size);
    }
    return leaf_columns<T, dim, km, kn>({x, size}, {q, size}, {out, size}, shift);
  }
}
