#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/search/pairs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace nearfield::detail
{
  namespace
  {
    void check_size(char const* name, std::size_t found, std::size_t expected)
    {
      if (found != expected)
        throw error(std::string("pair_filter: .") + name + " has " + std::to_string(found) +
                    " values; give " + std::to_string(expected));
    }

    /// Throws nearfield::error unless all of the values are below n.
    void check_below(char const* name, std::span<index_type const> values, std::size_t n,
                     char const* what)
    {
      for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k] >= n)
          throw error(std::string("pair_filter: value ") + std::to_string(k) + " of ." + name +
                      " is " + std::to_string(values[k]) + ", and there are " + std::to_string(n) +
                      " " + what);
    }

    /// Whether it is 0 or a length whose square some distance can be below.
    template <class T>
    bool is_length(T length)
    {
      return length == 0 || (length > 0 && std::isfinite(length) &&
                             length * length >= std::numeric_limits<T>::min());
    }

    template <class T>
    [[noreturn]] void refuse(std::string const& what, T length)
    {
      throw error("pair_filter: " + what + " is " + number_text(length) +
                  "; give a finite length whose square does not underflow, or 0 for none");
    }

    /// Throws nearfield::error for one that is none, or exceeds that of the list.
    template <class T>
    void check_cutoff(std::string const& of, T cutoff, T most)
    {
      if (!is_length(cutoff)) refuse("the cutoff " + of, cutoff);
      if (cutoff > most)
        throw error("pair_filter: the cutoff " + of + ", " + number_text(cutoff) +
                    ", exceeds that of the cell list, " + number_text(most) +
                    "; make the list with the largest cutoff");
    }

    template <class T>
    T largest(std::span<T const> radii, char const* name)
    {
      T most = 0;
      for (std::size_t i = 0; i < radii.size(); ++i)
      {
        if (!is_length(radii[i])) refuse("value " + std::to_string(i) + " of ." + name, radii[i]);
        most = std::max(most, radii[i]);
      }
      return most;
    }
  }

  template <class T>
  row_filter<T>::row_filter(pair_filter<T> const& of, std::size_t n_targets, std::size_t n_sources,
                            bool one_set, cutoff_limit<T> cutoff)
      : n_targets_(n_targets), n_sources_(n_sources)
  {
    arrays_.by = of.by;
    arrays_.is_closed = cutoff.is_closed;
    if (one_set && (!of.query_types.empty() || !of.query_radii.empty()))
      throw error("pair_filter: .query_types and .query_radii are for lists of two sets");
    if (!of.types.empty() || !of.query_types.empty() || !of.type_cutoffs.empty())
    {
      arrays_.types = of.types;
      arrays_.query_types = one_set ? of.types : of.query_types;
      check_size("types", of.types.size(), n_sources);
      check_size("query_types", arrays_.query_types.size(), n_targets);
      std::size_t const size = of.type_cutoffs.size(),
                        n = static_cast<std::size_t>(std::lround(std::sqrt(double(size))));
      if (size == 0 || n * n != size)
        throw error("pair_filter: .type_cutoffs has " + std::to_string(size) +
                    " values; give a square matrix, row by row");
      check_below("types", of.types, n, "types in .type_cutoffs");
      check_below("query_types", of.query_types, n, "types in .type_cutoffs");
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
        {
          T const c = of.type_cutoffs[a * n + b], turned = of.type_cutoffs[b * n + a];
          std::string const types = "of types " + std::to_string(a) + " and " + std::to_string(b);
          check_cutoff(types, c, cutoff.most);
          if (c != turned)
            throw error("pair_filter: the cutoff " + types + " is " + number_text(c) +
                        " and, the other way, " + number_text(turned) +
                        "; give a symmetric matrix");
          largest_cutoff_ = std::max(largest_cutoff_, c);
          squares_.push_back(c > 0 ? c * c : T(-1));
        }
      arrays_.squares = squares_;
      arrays_.n_types = n;
    }
    if (!of.radii.empty() || !of.query_radii.empty())
    {
      arrays_.radii = of.radii;
      arrays_.query_radii = one_set ? of.radii : of.query_radii;
      if (of.by != cutoff_by::own || one_set) check_size("radii", of.radii.size(), n_sources);
      check_size("query_radii", arrays_.query_radii.size(), n_targets);
      T const of_points = largest<T>(of.radii, "radii"),
              of_targets = largest<T>(arrays_.query_radii, "query_radii");
      T const of_pair = of.by == cutoff_by::sum      ? of_targets + of_points
                        : of.by == cutoff_by::larger ? std::max(of_targets, of_points)
                                                     : of_targets;
      check_cutoff("of two points", of_pair, cutoff.most);
      largest_cutoff_ = std::max(largest_cutoff_, of_pair);
    }
    excluded_ = excluded_rows_of("pair_filter", of.excluded_offsets, of.excluded, n_targets,
                                 n_sources, one_set);
    arrays_.excluded_offsets = excluded_.offsets;
    arrays_.excluded = excluded_.sources;
    if (of.rows)
    {
      check_below("rows", *of.rows, n_targets, one_set ? "points" : "queries");
      wanted_.assign(n_targets, 0);
      for (index_type const i : *of.rows) wanted_[i] = 1;
      arrays_.wanted = wanted_;
    }
  }

  template <class T>
  void row_filter<T>::check(pairs which, std::size_t n_targets, std::size_t n_sources,
                            T cutoff) const
  {
    bool const is_own = !arrays_.query_radii.empty() && arrays_.by == cutoff_by::own;
    if (which == pairs::half && (!wants_all() || is_own))
      throw error("radius_search: a filter with .rows, or .radii by the cutoff of their own point, "
                  "has no half list; ask for pairs::full");
    if (n_targets != n_targets_ || n_sources != n_sources_)
      throw error("radius_search: the cell list has other points than when it was filtered; make "
                  "the filter again");
    check_cutoff("of some pairs", largest_cutoff_, cutoff);
  }

  template <class T>
  void row_filter<T>::mark(index_type i, index_type const* j, T const* r2, index_type n,
                           unsigned char* keep) const
  {
    std::fill_n(keep, n, static_cast<unsigned char>(1));
    auto const within = [&](auto const& square)
    {
      if (arrays_.is_closed)
        for (index_type k = 0; k < n; ++k) keep[k] &= r2[k] <= square(j[k]);
      else
        for (index_type k = 0; k < n; ++k) keep[k] &= r2[k] < square(j[k]);
    };
    if (!arrays_.squares.empty())
    {
      T const* const squares = arrays_.squares.data() + arrays_.query_types[i] * arrays_.n_types;
      within([&](index_type of) { return squares[arrays_.types[of]]; });
    }
    if (!arrays_.query_radii.empty())
    {
      T const own = arrays_.query_radii[i];
      auto const square = [](T cutoff)
      {
        return cutoff > 0 ? cutoff * cutoff : T(-1);
      };
      if (arrays_.by == cutoff_by::sum)
        within([&](index_type of) { return square(own + arrays_.radii[of]); });
      else if (arrays_.by == cutoff_by::larger)
        within([&](index_type of) { return square(std::max(own, arrays_.radii[of])); });
      else
        within([&](index_type) { return square(own); });
    }
    if (excluded_.empty()) return;
    for (index_type const other : excluded_.row(i))
      for (index_type k = 0; k < n; ++k) keep[k] &= j[k] != other;
  }

  template class row_filter<float>;
  template class row_filter<double>;
}
