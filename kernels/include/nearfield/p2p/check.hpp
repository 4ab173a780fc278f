#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/interaction.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ranges>
#include <string>
#include <type_traits>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class K, class Positions>
  inline constexpr bool has_columns_of_points = Positions::n_columns == point_columns<K>;
  template <run_time_interaction K, class Positions>
  inline constexpr bool has_columns_of_points<K, Positions> =
      true; // right_hand_sides() counts them

  /// The type of the values of a call, that of its outputs. Views that fit neither K nor each other do not compile.
  template <class K, class Out, class Q, class... Positions>
  struct call_values
  {
    using type = typename Out::value_type;
    static_assert(std::is_same_v<type, float> || std::is_same_v<type, double>,
                  "out must be a view of float or double, not of const values");
    static_assert(std::is_same_v<value_of<Q>, type> &&
                      (std::is_same_v<value_of<Positions>, type> && ...),
                  "positions, q and out must be views of one type, float or double");
    static_assert(
        (has_columns_of_points<K, Positions> && ...),
        "positions must have a column for each dimension of the interaction, then one for "
        "each of its parameters");
  };
  template <class K, class Out, class Q, class... Positions>
  using real_of_call = typename call_values<K, Out, Q, Positions...>::type;

  /// Throws nearfield::error if an interaction reaches further than cells have pairs: some cells meet there, and others do
  /// not.
  template <class T>
  void check_cutoff_value(double of_interaction, T of_cells)
  {
    // rounded once, or twice
    double const most = double(of_cells) * (1 + 4 * std::numeric_limits<T>::epsilon());
    if (!(of_interaction <= most))
      throw error("near_field: the cutoff of the interaction is " + number_text(of_interaction) +
                  ", and that of the cells is " + number_text(double(of_cells)) +
                  "; make the cell list with the larger one");
  }
  /// Leaves in another dimension than the interaction do not compile or, if it is known at run time only, throw
  /// nearfield::error.
  template <int Dim, called_interaction K>
  void check_dim(K const& k)
  {
    if constexpr (interaction<K>)
      static_assert(K::dim == Dim, "the leaves must have the dimension of the interaction");
    else if (interaction_shape const& of = shape_of(k); of.dim != Dim)
      throw error("near_field: " + std::string(of.name) + " is an interaction of points in " +
                  std::to_string(of.dim) + "D, and the leaves are in " + std::to_string(Dim) +
                  "D; take it in that dimension");
  }
  /// check_dim(), and check_cutoff_value() of each system of a cell list.
  template <class K, class Leaves>
  void check_leaves(K const& k, Leaves const& leaves)
  {
    check_dim<Leaves::dim>(k);
    if constexpr (requires { leaves.cutoff(0); })
      for (std::size_t s = 0; shape_of(k).has_cutoff && s < leaves.n_systems(); ++s)
        check_cutoff_value(cutoff_of(k), leaves.cutoff(s));
  }

  // Checks take a noticeable part of a call on a small box: they have few branches, and the messages are made in
  // functions of their own, called only if something is wrong.

  /// Says what is wrong with a view of `size` points.
  [[noreturn, gnu::cold, gnu::noinline]] inline void
  refuse_view(char const* function, char const* argument, std::size_t size, std::size_t expected,
              int null_column)
  {
    std::string const name = std::string(function) + ": " + argument;
    if (size != expected)
      throw error(name + " has " + std::to_string(size) + " points, expected " +
                  std::to_string(expected) + "; give one value per point");
    if (size > std::numeric_limits<index_type>::max())
      throw error(name + " has " + std::to_string(size) +
                  " points; split it into sets of fewer than 2^32");
    throw error(name + ": column " + std::to_string(null_column) + " is null; give a column of " +
                std::to_string(size) + " values");
  }

  /// The memory from the first value of a view to its last; not of a view without points.
  struct extent
  {
    std::uintptr_t begin, end;
  };
  template <class View>
  [[gnu::always_inline]] inline extent extent_of(View const& view)
  {
    auto const& columns = pointers_of(view);
    extent all{std::numeric_limits<std::uintptr_t>::max(), 0};
    for (int c = 0; c < width_of(view); ++c)
    {
      auto const at = reinterpret_cast<std::uintptr_t>(columns[c]);
      all = {std::min(all.begin, at), std::max(all.end, at)};
    }
    auto const last = (view.size() - 1) * static_cast<std::size_t>(stride_of(view));
    all.end += (last + 1) * sizeof(*columns[0]);
    return all;
  }

  /// Throws nearfield::error unless the view has `expected` points, fewer than 2^32, and no null column. Returns its memory.
  template <class View>
  [[gnu::always_inline]] inline extent check_view(char const* function, char const* argument,
                                                  View const& view, std::size_t expected)
  {
    auto const& columns = pointers_of(view);
    extent const memory = extent_of(view);
    bool const wrong_size =
        view.size() != expected || view.size() > std::numeric_limits<index_type>::max();
    if (!wrong_size && !(memory.begin == 0 && expected > 0)) return memory;
    int null_column = 0;
    while (!wrong_size && columns[null_column] != nullptr) ++null_column;
    refuse_view(function, argument, view.size(), expected, null_column);
  }

  inline constexpr std::size_t most_in_box = std::numeric_limits<int>::max() - 1024;

  [[noreturn, gnu::cold, gnu::noinline]] inline void refuse_box_size(std::size_t targets,
                                                                     std::size_t sources)
  {
    throw error("p2p: " + std::to_string(targets) + " targets and " + std::to_string(sources) +
                " sources in one call; give at most " + std::to_string(most_in_box) + " of each");
  }

  /// Throws nearfield::error if there are more points than one box can hold: its points are counted in int.
  inline void check_box_size(std::size_t targets, std::size_t sources)
  {
    if (targets > most_in_box || sources > most_in_box) refuse_box_size(targets, sources);
  }

  /// The bytes from a to b, modulo 2^64.
  inline std::uintptr_t distance(void const* a, void const* b)
  {
    return reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a);
  }

  /// Whether [a, a + n_a) and [b, b + n_b) share memory: the distance from a to b is more than -n_b and less
  /// than n_a.
  template <class A, class B>
  bool overlap(A const* a, std::size_t n_a, B const* b, std::size_t n_b)
  {
    std::size_t const last_of_b = n_b * sizeof(B) - 1;
    return n_a > 0 && n_b > 0 && distance(a, b) + last_of_b < n_a * sizeof(A) + last_of_b;
  }

  /// The same of columns with strides. Columns that interleave are apart. Two of one stride are judged exactly; with
  /// different strides, whose distances repeat with their greatest common divisor, columns count as overlapping
  /// if longer ones would.
  template <class A, class B>
  bool overlap(strided_column<A> const& a, std::size_t n_a, strided_column<B> const& b,
               std::size_t n_b)
  {
    if (n_a == 0 || n_b == 0) return false;
    std::size_t const a_step = static_cast<std::size_t>(a.stride) * sizeof(A);
    std::size_t const b_step = static_cast<std::size_t>(b.stride) * sizeof(B);
    if (!overlap(reinterpret_cast<char const*>(a.first), (n_a - 1) * a_step + sizeof(A),
                 reinterpret_cast<char const*>(b.first), (n_b - 1) * b_step + sizeof(B)))
      return false;
    std::size_t const period = std::gcd(a_step, b_step);
    std::size_t const from_a = a.first <= b.first
                                   ? distance(a.first, b.first) % period
                                   : period - 1 - (distance(b.first, a.first) - 1) % period;
    return from_a < sizeof(A) || period - from_a < sizeof(B);
  }

  /// A column of any view.
  template <class View>
  auto column_of(View const& view, int c)
  {
    return strided_column<typename View::value_type>{pointers_of(view)[c], stride_of(view)};
  }

  /// Says which output column shares memory with which column of `other`, if one does: sets without points have
  /// none. A function of its own, so that what it computes is not kept ready in registers.
  template <class Out, class View>
  [[gnu::cold, gnu::noinline]] void refuse_overlap(char const* function, Out const& out,
                                                   char const* argument, View const& other)
  {
    for (int c = 0; c < width_of(out); ++c)
      for (int o = 0; o < width_of(other); ++o)
        if (overlap(column_of(out, c), out.size(), column_of(other, o), other.size()))
          throw error(std::string(function) + ": output column " + std::to_string(c) +
                      " overlaps column " + std::to_string(o) + " of " + argument +
                      "; give each output its own memory");
  }

  /// A view and its memory, of which the loops over columns of a number known at run time only are slow.
  template <class View>
  struct placed
  {
    View const& view;
    extent memory;
  };
  template <class View>
  placed(View const&, extent const&) -> placed<View>;
  template <class View>
  [[gnu::always_inline]] inline placed<View> placed_of(View const& view)
  {
    return {view, extent_of(view)};
  }

  /// Whether an output column may share memory with a column of `other`: exact for columns without strides, unless a view
  /// is empty.
  template <class Out, class View>
  [[gnu::always_inline]] inline bool column_shares(placed<Out> const& of_out,
                                                   placed<View> const& of_other)
  {
    Out const& out = of_out.view;
    View const& other = of_other.view;
    bool const extents_meet = int(of_out.memory.begin < of_other.memory.end) +
                                  int(of_other.memory.begin < of_out.memory.end) ==
                              2;
    if constexpr (is_strided<Out> || is_strided<View>)
      return out.size() > 0 && other.size() > 0 && extents_meet;
    else
    {
      // overlap() of all columns in one comparison
      std::size_t const last_of_other = other.size() * sizeof(*other[0]) - 1;
      std::uintptr_t nearest = std::numeric_limits<std::uintptr_t>::max();
      // few columns cost less than the extents of both
      constexpr bool are_few =
          Out::n_columns > 0 && View::n_columns > 0 && Out::n_columns * View::n_columns <= 4;
      if (are_few || extents_meet)
        for (int c = 0; c < width_of(out); ++c)
          for (int o = 0; o < width_of(other); ++o)
            nearest = std::min(nearest, distance(out[c], other[o]) + last_of_other);
      return nearest < out.size() * sizeof(*out[0]) + last_of_other;
    }
  }

  /// Whether two output columns may share memory.
  template <class Out>
  [[gnu::always_inline]] inline bool columns_share(Out const& out)
  {
    if constexpr (is_strided<Out>)
    {
      bool shared = false;
      for (int c = 0; c < width_of(out); ++c)
        for (int o = c + 1; o < width_of(out); ++o)
          shared |= overlap(column_of(out, c), out.size(), column_of(out, o), out.size());
      return shared;
    }
    else
    {
      std::size_t const last = out.size() * sizeof(*out[0]) - 1;
      std::uintptr_t nearest = std::numeric_limits<std::uintptr_t>::max();
      for (int c = 0; c < width_of(out); ++c)
        for (int o = c + 1; o < width_of(out); ++o)
          nearest = std::min(nearest, distance(out[c], out[o]) + last);
      return nearest < 2 * last + 1;
    }
  }

  /// Whether an output column may share memory with another one or one of `others`. One branch for all of them: after
  /// each call that may throw, pointers would be loaded anew.
  template <class Out, class... Views>
  [[gnu::always_inline]] inline bool may_share(placed<Out> const& out,
                                               placed<Views> const&... others)
  {
    return (int(column_shares(out, others)) + ... + int(columns_share(out.view))) != 0;
  }

  /// Throws nearfield::error if an output column shares memory with a column of `other`.
  template <class Out, class View>
  [[gnu::always_inline]] inline void check_apart(char const* function, Out const& out,
                                                 char const* argument, View const& other)
  {
    if (column_shares(placed_of(out), placed_of(other)))
      refuse_overlap(function, out, argument, other);
  }

  /// Says which two output columns share memory, if any do.
  template <class Out>
  [[gnu::cold, gnu::noinline]] void refuse_columns(char const* function, Out const& out)
  {
    for (int c = 0; c < width_of(out); ++c)
      for (int o = c + 1; o < width_of(out); ++o)
        if (overlap(column_of(out, c), out.size(), column_of(out, o), out.size()))
          throw error(std::string(function) + ": output columns " + std::to_string(c) + " and " +
                      std::to_string(o) + " overlap; give each output its own memory");
  }

  /// Throws nearfield::error if two output columns share memory.
  template <class Out>
  [[gnu::always_inline]] inline void check_columns_apart(char const* function, Out const& out)
  {
    if (columns_share(out)) refuse_columns(function, out);
  }

  /// Says what an output column shares memory with, if it does. `others`: a name before each view.
  template <class Out, class... Others>
  [[gnu::cold, gnu::noinline]] void refuse_shared(char const* function, Out const& out,
                                                  Others const&... others)
  {
    auto const refuse = [&](auto const& self, char const* name, auto const& view,
                            auto const&... rest) -> void
    {
      refuse_overlap(function, out, name, view);
      if constexpr (sizeof...(rest) > 0) self(self, rest...);
    };
    refuse(refuse, others...);
    refuse_columns(function, out);
  }

  /// Checks the views of one set. All back-ends call this and the next two, which throw nearfield::error for
  /// sizes that differ, null columns, and outputs that overlap.
  template <class X, class Q, class Out>
  [[gnu::always_inline]] inline void check_one_set(char const* function, X const& x, Q const& q,
                                                   Out const& out)
  {
    placed const of_x{x, check_view(function, "x", x, x.size())};
    placed const of_q{q, check_view(function, "q", q, x.size())};
    placed const of_out{out, check_view(function, "out", out, x.size())};
    if (may_share(of_out, of_x, of_q)) [[unlikely]]
      refuse_shared(function, out, "x", x, "q", q);
  }

  /// Checks the views of targets x and of sources y with inputs q.
  template <class X, class Y, class Q, class Out>
  [[gnu::always_inline]] inline void check_two_sets(char const* function, X const& x, Y const& y,
                                                    Q const& q, Out const& out)
  {
    placed const of_x{x, check_view(function, "x", x, x.size())};
    placed const of_y{y, check_view(function, "y", y, y.size())};
    placed const of_q{q, check_view(function, "q", q, y.size())};
    placed const of_out{out, check_view(function, "out", out, x.size())};
    if (may_share(of_out, of_x, of_y, of_q)) [[unlikely]]
      refuse_shared(function, out, "x", x, "y", y, "q", q);
  }

  /// Checks the views of two sets that both give and receive.
  template <class X, class Y, class XQ, class YQ, class XOut, class YOut>
  [[gnu::always_inline]] inline void check_both_sides(char const* function, X const& x, Y const& y,
                                                      XQ const& x_q, YQ const& y_q,
                                                      XOut const& x_out, YOut const& y_out)
  {
    placed const of_x{x, check_view(function, "x", x, x.size())};
    placed const of_x_q{x_q, check_view(function, "x_q", x_q, x.size())};
    placed const of_x_out{x_out, check_view(function, "x_out", x_out, x.size())};
    placed const of_y{y, check_view(function, "y", y, y.size())};
    placed const of_y_q{y_q, check_view(function, "y_q", y_q, y.size())};
    placed const of_y_out{y_out, check_view(function, "y_out", y_out, y.size())};
    if (int(may_share(of_x_out, of_x, of_x_q, of_y, of_y_q, of_y_out)) +
            int(may_share(of_y_out, of_x, of_x_q, of_y, of_y_q)) !=
        0) [[unlikely]]
    {
      refuse_shared(function, x_out, "x", x, "x_q", x_q, "y", y, "y_q", y_q, "y_out", y_out);
      refuse_shared(function, y_out, "x", x, "x_q", x_q, "y", y, "y_q", y_q);
    }
  }

  [[noreturn, gnu::cold, gnu::noinline]] inline void refuse_sides(interaction_shape const& of,
                                                                  int n_q, int n_out)
  {
    throw error(std::string(of.name) + ": found " + std::to_string(n_q) +
                " columns of inputs and " + std::to_string(n_out) + " of outputs; give " +
                std::to_string(of.n_in) + " and " + std::to_string(of.n_out) +
                " for each right-hand side");
  }

  [[noreturn, gnu::cold, gnu::noinline]] inline void refuse_points(interaction_shape const& of,
                                                                   int n_x)
  {
    std::string const parameters =
        of.n_x > of.dim ? " and " + std::to_string(of.n_x - of.dim) + " of parameters" : "";
    throw error(std::string(of.name) + ": found " + std::to_string(n_x) +
                " columns of points; give " + std::to_string(of.dim) + " of coordinates" +
                parameters);
  }

  /// The number of right-hand sides of q, for points in x. Unless the outputs have as many, and points the columns of K, it
  /// does not compile or, if a number of columns or the interaction is known at run time only, throws nearfield::error.
  template <called_interaction K, columns_view Q, columns_view Out, columns_view... X>
  [[gnu::always_inline]] inline int right_hand_sides(K const& k, Q const& q, Out const& out,
                                                     X const&... x)
  {
    constexpr int NQ = Q::n_columns, NOut = Out::n_columns;
    if constexpr (interaction<K> && NQ != run_time_columns && NOut != run_time_columns)
    {
      static_assert(NQ % K::n_in == 0,
                    "the inputs must have n_in columns for each right-hand side");
      static_assert(NOut == NQ / K::n_in * K::n_out,
                    "the outputs must have n_out columns for each right-hand side");
      return NQ / K::n_in;
    }
    else
    {
      interaction_shape const& of = shape_of(k);
      int const n_rhs = width_of(q) == of.n_in ? 1 : width_of(q) / of.n_in; // without a division
      if (n_rhs == 0 || width_of(q) != n_rhs * of.n_in || width_of(out) != n_rhs * of.n_out)
        refuse_sides(of, width_of(q), width_of(out));
      if constexpr (run_time_interaction<K>)
        for (int const n_x : {of.n_x, width_of(x)...})
          if (n_x != of.n_x) refuse_points(of, n_x);
      return n_rhs;
    }
  }

  /// Throws nearfield::error for a mutual call of an interaction that has no K(-r).
  template <called_interaction K>
  void check_way_back(char const* function, K const& k)
  {
    interaction_shape const& of = shape_of(k);
    if (!of.has_way_back)
      throw error(std::string(function) + ": " + std::string(of.name) +
                  " has no mutual form; give one that is one-sided");
  }
}

// What the compiler says of a call with vectors in place of views, of one without q, and of a mutual form that K has
// not. Of constraints that nothing satisfies it would print all.

/// \cond
namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  template <class Where>
  concept place = cpu_place<Where> || std::same_as<Where, cuda_backend>;

  // values, since compilers explain a concept at length
  template <class... Arguments>
  inline constexpr bool are_views =
      !((std::ranges::range<Arguments const> && !columns_view<Arguments>) || ...);
  template <int N, class... Arguments>
  inline constexpr bool are_enough =
      !are_views<Arguments...> || (int(columns_view<Arguments>) + ... + 0) >= N;
  template <class K>
  inline constexpr bool is_mutual = mutual_interaction<K>;

  template <int N, class... Arguments>
  concept wrong_views = !are_views<Arguments...> || !are_enough<N, Arguments...>;
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  template <detail::place Where, class K, class... Views>
    requires detail::wrong_views<3, Views...>
  void p2p_inner(Where const&, K const&, Views const&...)
  {
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, Views...>, "p2p_inner takes x, q and out");
  }

  template <detail::place Where, class K, class... Views>
    requires detail::wrong_views<4, Views...>
  void p2p_outer(Where const&, K const&, Views const&...)
  {
    static_assert(detail::are_views<Views...>,
                  "give views: soa{x, y, z}, soa{q}, soa{out}; or, on one thread, a range of "
                  "nearfield::leaf (nearfield/p2p/leaf.hpp)");
    static_assert(detail::are_enough<4, Views...>, "p2p_outer takes x, y, q and out");
  }

  template <detail::place Where, detail::called_interaction K, class... Views>
    requires(detail::wrong_views<3, Views...> || !detail::mutual_interaction<K>)
  void p2p_inner_mutual(Where const&, K const&, Views const&...)
  {
    static_assert(detail::is_mutual<K>, "a mutual form needs K(-r): give the interaction "
                                        "`symmetry`, or its map a member `back`");
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, Views...>, "p2p_inner_mutual takes x, q and out");
  }

  template <detail::place Where, detail::called_interaction K, class... Views>
    requires(detail::wrong_views<6, Views...> || !detail::mutual_interaction<K>)
  void p2p_outer_mutual(Where const&, K const&, Views const&...)
  {
    static_assert(detail::is_mutual<K>, "a mutual form needs K(-r): give the interaction "
                                        "`symmetry`, or its map a member `back`");
    static_assert(detail::are_views<Views...>, "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<6, Views...>,
                  "p2p_outer_mutual takes x, y, x_q, y_q, x_out and y_out");
  }
}
/// \endcond
