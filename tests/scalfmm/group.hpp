#pragma once

#include "points.hpp"
#include "reference.hpp"
#include "scalfmm/stand_in.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield::test
{
  /// A box of 3^Dim leaves of unequal sizes, some of them empty, as slices of the same columns, as in a
  /// group of ScalFMM: leaf l holds the particles [offsets[l], offsets[l + 1]).
  template <class T, int Dim, int NIn, int NOut>
  class group
  {
  public:
    using particle = scalfmm::container::particle<T, Dim, T, NIn, T, NOut>;
    using leaf = scalfmm::component::leaf_view<particle>;

    static constexpr int per_axis = 3;

    explicit group(double box_width, std::uint64_t seed = 1) : box_width_(box_width)
    {
      constexpr std::size_t sizes[] = {7, 0, 33, 1, 16, 2, 21, 5};
      random_numbers random(seed);
      int const n_leaves = Dim == 3 ? 27 : 9;
      offsets.push_back(1); // no column of a leaf is aligned
      for (int l = 0; l < n_leaves; ++l)
        offsets.push_back(offsets.back() + sizes[static_cast<std::size_t>(l) % std::size(sizes)]);
      std::size_t const n = offsets.back() + 3;
      for (auto& column : x) column.assign(n, T(0));
      for (auto& column : q) column = make_values<T>(n, ++seed);
      for (auto& column : out) column.assign(n, initial);
      for (int l = 0; l < n_leaves; ++l)
        for (std::size_t i = offsets[l]; i < offsets[l + 1]; ++i)
          for (int d = 0; d < Dim; ++d)
            x[d][i] = static_cast<T>((cell(l)[d] + random.uniform()) * box_width / per_axis);

      auto first = iterator();
      auto last = first;
      for (int l = 0; l < n_leaves; ++l)
      {
        first.index = static_cast<int>(offsets[l]);
        last.index = static_cast<int>(offsets[l + 1]);
        typename leaf::position_type center;
        for (int d = 0; d < Dim; ++d)
          center[d] = static_cast<T>((cell(l)[d] + 0.5) * box_width / per_axis);
        leaves.emplace_back(typename leaf::range{first, last}, center);
      }
    }

    [[nodiscard]] std::array<int, Dim> cell(int l) const
    {
      std::array<int, Dim> c;
      for (int& coordinate : c)
      {
        coordinate = l % per_axis;
        l /= per_axis;
      }
      return c;
    }

    /// Whether two leaves touch, with the shift that moves b next to a.
    [[nodiscard]] bool touch(int a, int b, std::array<bool, Dim> const& periodic,
                             std::array<double, Dim>& shift) const
    {
      for (int d = 0; d < Dim; ++d)
      {
        int const apart = cell(a)[d] - cell(b)[d];
        shift[d] = 0;
        if (std::abs(apart) <= 1) continue;
        if (!periodic[d]) return false;
        shift[d] = apart > 0 ? box_width_ : -box_width_;
      }
      return true;
    }

    /// Lists as ScalFMM makes them: all neighbours or, if mutual, only those before the leaf.
    void make_lists(std::array<bool, Dim> const& periodic, bool mutual)
    {
      for (int a = 0; a < static_cast<int>(leaves.size()); ++a)
      {
        auto& symbolics = leaves[a].symbolic_data();
        symbolics = {};
        std::array<double, Dim> shift;
        for (int b = 0; b < (mutual ? a : static_cast<int>(leaves.size())); ++b)
          if (b != a && touch(a, b, periodic, shift))
            symbolics.interaction_iterators[symbolics.number_of_neighbors++] = &leaves[b];
        symbolics.existing_neighbors_in_group = symbolics.number_of_neighbors;
      }
    }

    /// The coordinates of leaf l, shifted in the group's precision.
    [[nodiscard]] points<T, Dim> positions(int l, std::array<double, Dim> const& shift = {}) const
    {
      points<T, Dim> result;
      for (int d = 0; d < Dim; ++d)
        for (std::size_t i = offsets[l]; i < offsets[l + 1]; ++i)
          result.columns[d].push_back(x[d][i] + static_cast<T>(shift[d]));
      return result;
    }

    template <int N, class Columns>
    static auto slice(Columns& columns, int first, std::size_t begin, std::size_t end)
    {
      using value = std::remove_reference_t<decltype(columns[0][0])>;
      std::array<value*, N> data;
      for (int c = 0; c < N; ++c) data[c] = columns[first + c].data() + begin;
      return soa<value, N>(data, end - begin);
    }
    template <int N>
    [[nodiscard]] soa<T const, N> inputs(int l, int first = 0) const
    {
      return slice<N>(q, first, offsets[l], offsets[l + 1]);
    }
    template <int N>
    [[nodiscard]] soa<T const, N> outputs(int l, int first = 0) const
    {
      return slice<N>(out, first, offsets[l], offsets[l + 1]);
    }

    [[nodiscard]] auto iterator()
    {
      scalfmm::container::particle_iterator<particle> it;
      point_at(it.positions, x);
      point_at(it.inputs, q);
      point_at(it.outputs, out);
      return it;
    }

    /// Whether the outputs of particles that belong to no leaf are unchanged.
    [[nodiscard]] bool is_intact() const
    {
      for (auto const& column : out)
        for (std::size_t i = 0; i < column.size(); ++i)
          if ((i < offsets.front() || i >= offsets.back()) && column[i] != initial) return false;
      return true;
    }

    static constexpr T initial = T(0.375);
    std::vector<std::size_t> offsets;
    std::array<std::vector<T>, Dim> x;
    std::array<std::vector<T>, NIn> q;
    std::array<std::vector<T>, NOut> out;
    std::vector<leaf> leaves;

  private:
    template <class Pointers, class Columns>
    static void point_at(Pointers& pointers, Columns& columns)
    {
      [&]<std::size_t... C>(std::index_sequence<C...>)
      {
        ((std::get<C>(pointers) = columns[C].data()), ...);
      }(std::make_index_sequence<std::tuple_size_v<Pointers>>{});
    }

    double box_width_;
  };

  template <int NOut>
  void add(reference_sums<NOut>& sums, reference_sums<NOut> const& more)
  {
    for (int o = 0; o < NOut; ++o)
      for (std::size_t i = 0; i < sums.value[o].size(); ++i)
      {
        sums.value[o][i] += more.value[o][i];
        sums.scale[o][i] += more.scale[o][i];
      }
  }

  /// The expected outputs of leaf l after its own pairs, if inner, and those with the leaves for which
  /// meets(other, shift) holds. Shifts are rounded where they are applied: to the other leaf or, for mutual
  /// pairs, to the leaf that comes first.
  template <class K, class Group, class Meets>
  auto expected(K const& k, Group const& g, int l, int rhs, bool inner, bool mutual, Meets&& meets)
  {
    auto const x = g.positions(l);
    auto sums = reference(k, x.view(), x.view(), g.template inputs<K::n_in>(l, rhs * K::n_in),
                          [&](std::size_t i, std::size_t j) { return inner && i != j; });
    add_initial(sums, g.initial);
    for (int b = 0; b < static_cast<int>(g.leaves.size()); ++b)
    {
      std::array<double, K::dim> shift{}, none{}, back{};
      if (b == l || !meets(b, shift)) continue;
      for (int d = 0; d < K::dim; ++d) back[d] = -shift[d];
      bool const moves_targets = mutual && l < b;
      auto const targets = g.positions(l, moves_targets ? back : none);
      auto const sources = g.positions(b, moves_targets ? none : shift);
      add(sums, reference(k, targets.view(), sources.view(),
                          g.template inputs<K::n_in>(b, rhs * K::n_in), all_pairs));
    }
    return sums;
  }
}
