#pragma once

#include <type_traits>

namespace nearfield::detail
{
  /// A list of types at compile time.
  template <class... Ts>
  struct type_list
  {
    /// the number of types
    static constexpr int size = sizeof...(Ts);

    /// The position of T in the list, or -1.
    template <class T>
    static constexpr int index_of()
    {
      int at = -1, i = 0;
      ((std::is_same_v<T, Ts> ? (at = i, ++i) : ++i), ...);
      return at;
    }

    /// Calls `f.template operator()<T>()` for every T of the list.
    template <class F>
    static constexpr void for_each(F&& f)
    {
      (f.template operator()<Ts>(), ...);
    }
  };

  template <class... Lists>
  struct joined;
  template <class... Ts>
  struct joined<type_list<Ts...>>
  {
    using type = type_list<Ts...>;
  };
  template <class... As, class... Bs, class... Lists>
  struct joined<type_list<As...>, type_list<Bs...>, Lists...>
      : joined<type_list<As..., Bs...>, Lists...>
  {};

  template <class... Lists>
  auto flattened(type_list<Lists...>) -> typename joined<Lists...>::type;

  /// The types of all lists of a list.
  template <class Lists>
  using flatten = decltype(flattened(Lists{}));
}
