#include <nearfield/starpu_mpi/radius_search.hpp>

#include "ranks.hpp"

#include "tree/src/instantiate.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>

/// \file
/// What decides which pairs count travels with the points.

namespace nearfield::starpu_mpi
{
  namespace
  {
    using detail::ranks;

    /// FNV-1a.
    std::uint64_t hash_of(std::span<std::byte const> bytes)
    {
      std::uint64_t hash = 0xcbf29ce484222325;
      for (std::byte const one : bytes)
        hash = (hash ^ static_cast<std::uint64_t>(one)) * 0x100000001b3;
      return hash;
    }

    /// What any rank gives.
    struct given_columns
    {
      bool types, radii, excluded, rows;
      std::uint64_t n_cutoffs;       ///< of types
      bool same_cutoffs, same_rules; ///< as all ranks give them: type_cutoffs, by

      template <class T>
      given_columns(ranks const& all, pair_filter<T> const& mine)
      {
        std::uint64_t const cutoffs = hash_of(std::as_bytes(std::span(mine.type_cutoffs))),
                            rule = static_cast<std::uint64_t>(mine.by);
        std::array<std::uint64_t, 9> const any = all.greatest(std::array<std::uint64_t, 9>{
            !mine.types.empty(), !mine.radii.empty(),
            mine.excluded_offsets.size() > 1 || !mine.excluded.empty(), mine.rows.has_value(),
            mine.type_cutoffs.size(), cutoffs, ~cutoffs, rule, ~rule});
        types = any[0] + any[4] > 0;
        radii = any[1] > 0;
        excluded = any[2] > 0;
        rows = any[3] > 0;
        n_cutoffs = any[4];
        same_cutoffs = any[5] == ~any[6];
        same_rules = any[7] == ~any[8];
      }
    };

    void check_size(char const* name, std::uint64_t found, std::uint64_t expected)
    {
      if (found != expected)
        throw error(std::string("pair_filter: .") + name + " has " + std::to_string(found) +
                    " values; give " + std::to_string(expected));
    }

    /// Rows of an exclusion list, of which there are n.
    std::vector<std::uint64_t> rows_of_pairs(std::vector<std::array<index_type, 2>>& pairs,
                                             std::size_t n, std::vector<index_type>& columns)
    {
      std::vector<std::uint64_t> offsets(n + 1, 0);
      std::ranges::sort(pairs);
      for (auto const& [i, j] : pairs)
      {
        ++offsets[std::size_t(i) + 1];
        columns.push_back(j);
      }
      std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
      return offsets;
    }
  }

  template <class T, int Dim>
  nearfield::pair_filter<T> filtered<T, Dim>::values::filter() const
  {
    nearfield::pair_filter<T> of{.types = types,
                                 .query_types = query_types,
                                 .type_cutoffs = type_cutoffs,
                                 .radii = radii,
                                 .query_radii = query_radii,
                                 .by = by,
                                 .excluded_offsets = excluded_offsets,
                                 .excluded = excluded};
    if (has_rows) of.rows = rows;
    return of;
  }

  template <class T, int Dim>
  filtered<T, Dim>::filtered(distributed_cells<T, Dim> const& cells, pair_filter<T> const& which)
      : cells_(&cells)
  {
    ranks const all(cells.parts_.communicator);
    given_columns const given(all, which);
    std::size_t const n = cells.parts_.to_own.sent.size();
    std::vector<unsigned char> wanted(n, 0);
    all.attempt(
        [&]
        {
          // on the rank that gives them, whose indices errors name
          if (given.types) check_size("types", which.types.size(), n);
          if (given.types) check_size("type_cutoffs", which.type_cutoffs.size(), given.n_cutoffs);
          if (!given.same_cutoffs)
            throw error(
                "pair_filter: .type_cutoffs differ from rank to rank; give the same on all");
          if (given.radii) check_size("radii", which.radii.size(), n);
          if (given.radii && !given.same_rules)
            throw error("pair_filter: .by differs from rank to rank; give the same on all");
          if (given.excluded && n > 0)
            check_size("excluded_offsets", which.excluded_offsets.size(), n + 1);
          nearfield::pair_filter<T> const columns{.types = which.types,
                                                  .type_cutoffs = which.type_cutoffs,
                                                  .radii = which.radii,
                                                  .by = which.by,
                                                  .rows = which.rows};
          nearfield::detail::row_filter<T> const check(
              columns, n, n, true, nearfield::detail::limit_of_view(cells.own().view()));
          if (which.rows)
            for (index_type const i : *which.rows) wanted[i] = 1;
        });

    values& own = own_values_;
    values& border = border_values_;
    std::size_t const n_own = cells.n_points();
    // of own points, of the halo, and of own points that meet it
    auto const travel = [&](auto const& column, auto& of_own, auto& of_halo, auto& of_border)
    {
      auto const known = cells.known_values(column);
      of_own.assign(known.begin(), known.begin() + n_own);
      of_halo.assign(known.begin() + n_own, known.end());
      for (index_type const p : cells.border_points()) of_border.push_back(known[p]);
    };
    if (given.types) travel(which.types, own.types, border.types, border.query_types);
    if (given.radii) travel(which.radii, own.radii, border.radii, border.query_radii);
    if (given.rows)
    {
      std::vector<unsigned char> of_own, of_halo, of_border;
      travel(wanted, of_own, of_halo, of_border);
      auto const take = [](values& to, std::vector<unsigned char> const& from)
      {
        to.has_rows = true;
        for (std::size_t i = 0; i < from.size(); ++i)
          if (from[i] != 0) to.rows.push_back(static_cast<index_type>(i));
      };
      take(own, of_own);
      take(border, of_border);
    }
    std::vector<exclusion> known;
    if (given.excluded) known = known_exclusions(which);
    all.attempt(
        [&]
        {
          if (given.excluded) exclude(known);
          own.by = border.by = which.by;
          own.type_cutoffs.assign(which.type_cutoffs.begin(), which.type_cutoffs.end());
          border.type_cutoffs = own.type_cutoffs;
          own_.emplace(cells.own(), own.filter());
          border_.emplace(cells.border(), border.filter());
        });
  }

  /// The exclusions in the rows of known points, as (the point, another).
  template <class T, int Dim>
  auto filtered<T, Dim>::known_exclusions(pair_filter<T> const& which) const
      -> std::vector<exclusion>
  {
    auto const& parts = cells_->parts_;
    ranks const all(parts.communicator);
    std::size_t const n = parts.to_own.sent.size();
    std::uint64_t const begin = parts.options.first_number, first = begin + all.sum_before(n);
    // a row travels as its point does
    auto const send = [&](detail::journey const& way, auto const& append_row)
    {
      std::vector<exclusion> leaving;
      std::vector<std::size_t> offsets{0};
      all.attempt(
          [&]
          {
            for (std::size_t r = 0; r + 1 < way.sent_offsets.size(); ++r)
            {
              for (std::size_t k = way.sent_offsets[r]; k < way.sent_offsets[r + 1]; ++k)
                append_row(way.sent[k], leaving);
              offsets.push_back(leaving.size());
            }
          });
      auto const arrived = all.exchange<exclusion>(leaving, offsets).values;
      return std::vector<exclusion>(arrived.begin(), arrived.end());
    };
    all.attempt(
        [&]
        {
          auto const& offsets = which.excluded_offsets;
          std::size_t const size = which.excluded.size();
          if (n > 0 &&
              (offsets[0] != 0 || !std::ranges::is_sorted(offsets) || offsets.back() != size))
            throw error("pair_filter: .excluded_offsets must ascend from 0 to " +
                        std::to_string(size) + ", the number of values in .excluded");
          for (std::size_t k = 0; k < size; ++k)
            if (which.excluded[k] - begin >= parts.total_points)
              throw error("pair_filter: value " + std::to_string(k) + " of .excluded is " +
                          std::to_string(which.excluded[k]) + ", and there are " +
                          std::to_string(parts.total_points) + " points, from number " +
                          std::to_string(begin) + " on");
        });
    auto known = send(parts.to_own,
                      [&](index_type i, std::vector<exclusion>& to)
                      {
                        for (std::uint64_t k = which.excluded_offsets[i];
                             k < which.excluded_offsets[i + std::size_t(1)]; ++k)
                          to.push_back({first + i, which.excluded[k]});
                      });
    std::ranges::sort(known);
    auto const of_halo = send(parts.to_halo,
                              [&](index_type p, std::vector<exclusion>& to)
                              {
                                std::uint64_t const number = parts.numbers[p];
                                auto at = std::ranges::lower_bound(known, exclusion{number, 0});
                                for (; at != known.end() && (*at)[0] == number; ++at)
                                  to.push_back(*at);
                              });
    known.insert(known.end(), of_halo.begin(), of_halo.end());
    return known;
  }

  template <class T, int Dim>
  void filtered<T, Dim>::exclude(std::vector<exclusion> const& known)
  {
    auto const numbers = cells_->numbers();
    auto const n_own = static_cast<index_type>(cells_->n_points());
    auto const at_border = cells_->border_points();
    std::vector<index_type> order(numbers.size());
    std::iota(order.begin(), order.end(), index_type(0));
    std::ranges::sort(order, {}, [&](index_type p) { return numbers[p]; });
    constexpr index_type unknown = ~index_type(0);
    auto const place_of = [&](std::uint64_t number)
    {
      auto const at =
          std::ranges::lower_bound(order, number, {}, [&](index_type p) { return numbers[p]; });
      return at != order.end() && numbers[*at] == number ? *at : unknown;
    };
    std::vector<std::array<index_type, 2>> of_own, of_border;
    for (auto const& [a, b] : known)
    {
      index_type const p = place_of(a), q = place_of(b);
      if (q == unknown) continue;
      index_type const own = std::min(p, q), other = std::max(p, q);
      if (other < n_own) of_own.push_back({p, q});
      if (own >= n_own || other < n_own) continue;
      auto const query = std::ranges::lower_bound(at_border, own);
      if (query != at_border.end() && *query == own)
        of_border.push_back({static_cast<index_type>(query - at_border.begin()), other - n_own});
    }
    own_values_.excluded_offsets = rows_of_pairs(of_own, n_own, own_values_.excluded);
    border_values_.excluded_offsets =
        rows_of_pairs(of_border, at_border.size(), border_values_.excluded);
  }

#define NEARFIELD_INSTANTIATE(T, Dim) template class filtered<T, Dim>;
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
