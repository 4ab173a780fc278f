#include "cells.hpp"

#include "pair_results.hpp"
#include "sums.hpp"
#include "threads.hpp"

#include <nearfield/search/pairs.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include <pthread.h>

namespace nearfield::python
{
  namespace
  {
    /// Boxes of systems: cell has an axis more than that of one, or is None or one for all; so has pbc.
    std::vector<nf_box> boxes_of(int dim, std::size_t n, nb::handle cell, nb::handle pbc,
                                 nb::handle origin)
    {
      auto const item = [n](nb::handle of, std::size_t s, std::size_t n_axes_of_one) -> nb::object
      {
        if (of.is_none() || !nb::hasattr(of, "ndim") ||
            nb::cast<std::size_t>(of.attr("ndim")) <= n_axes_of_one)
          return nb::borrow(of);
        if (nb::len(of) != n)
          throw nb::value_error(("cell or pbc has " + std::to_string(nb::len(of)) +
                                 " systems; give " + std::to_string(n))
                                    .c_str());
        return of[s];
      };
      std::vector<nf_box> boxes;
      for (std::size_t s = 0; s < n; ++s)
        boxes.push_back(box_of(dim, item(cell, s, 2), item(pbc, s, 1), origin));
      return boxes;
    }

    // of this process and its parents: getpid() takes longer than a search of few points
    std::atomic<int> n_forks = 0;
    [[maybe_unused]] int const counts_forks = pthread_atfork(nullptr, nullptr, [] { ++n_forks; });

    std::int64_t const* data_of(std::vector<std::int64_t> const& values)
    {
      return values.empty() ? nullptr : values.data();
    }
    double const* data_of(std::vector<double> const& values)
    {
      return values.empty() ? nullptr : values.data();
    }
    template <class Values>
    auto values_if(Values const& of, char const* name, nb::handle from)
    {
      return from.is_none() ? decltype(of(name, from))() : of(name, from);
    }

    /// Bytes that the system can give, as it says.
    std::uint64_t free_memory()
    {
      std::ifstream file("/proc/meminfo");
      std::string word;
      while (file >> word)
        if (std::uint64_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes)
          return kilobytes * 1024;
      return no_limit;
    }
  }

  cells::cells(nb::handle points, nb::handle cutoff, nb::handle queries, nb::handle cell,
               nb::handle pbc, nb::handle origin, bool closed, double skin, bool skin_is_each,
               nb::handle offsets, nb::handle order, nb::handle query_offsets,
               nb::handle query_order, int n_threads)
      : fork_(n_forks), has_two_sets_(!queries.is_none())
  {
    point_sets const given(points, queries, has_two_sets_);
    dim_ = given.dim();
    real_ = given.real();
    n_sources_ = given.n_sources();
    n_targets_ = given.n_targets();
    nf_cells_options options{};
    options.size = sizeof options;
    options.closed = closed;
    options.skin = skin;
    options.skin_is_each = skin_is_each;

    std::vector<std::int64_t> of_points, of_queries, points_by_system, queries_by_system;
    std::vector<double> cutoffs;
    std::vector<nf_box> boxes;
    double reach = 0;
    if (offsets.is_none())
    {
      reach = number("cutoff", cutoff);
      options.box = box_of(dim_, cell, pbc, origin);
    }
    else
    {
      of_points = indices("offsets", offsets);
      points_by_system = values_if(indices, "order", order);
      of_queries = values_if(indices, "query_offsets", query_offsets);
      queries_by_system = values_if(indices, "query_order", query_order);
      if (of_points.empty() || (has_two_sets_ && of_queries.size() != of_points.size()))
        throw nb::value_error("offsets: give one more than systems, of points and of queries");
      std::size_t const n = of_points.size() - 1;
      if (nb::isinstance<nb::float_>(cutoff) || nb::isinstance<nb::int_>(cutoff))
        reach = number("cutoff", cutoff);
      else if (cutoffs = lengths("cutoff", cutoff); cutoffs.size() != n)
        throw nb::value_error(("cutoff has " + std::to_string(cutoffs.size()) +
                               " values; give one, or " + std::to_string(n))
                                  .c_str());
      boxes = boxes_of(dim_, n, cell, pbc, origin);
      options.n_systems = static_cast<std::int64_t>(n);
      options.offsets = data_of(has_two_sets_ ? of_queries : of_points);
      options.order = data_of(has_two_sets_ ? queries_by_system : points_by_system);
      if (has_two_sets_)
      {
        options.source_offsets = data_of(of_points);
        options.source_order = data_of(points_by_system);
      }
      options.cutoffs = data_of(cutoffs);
      options.boxes = boxes.data();
      auto const check_order = [](char const* name, std::vector<std::int64_t> const& by_system,
                                  std::size_t n_points, std::int64_t n_offsets)
      {
        if (n_offsets != static_cast<std::int64_t>(n_points) ||
            (!by_system.empty() && by_system.size() != n_points))
          throw nb::value_error((std::string(name) + ": systems have " + std::to_string(n_offsets) +
                                 " points, and there are " + std::to_string(n_points))
                                    .c_str());
      };
      check_order("offsets", points_by_system, n_sources_, of_points.back());
      if (has_two_sets_)
        check_order("query_offsets", queries_by_system, n_targets_, of_queries.back());
    }

    threads_ = threads_for(n_threads, n_sources_ + n_targets_ > 2 * few_points);
    nf_place const where = place_on(threads_);
    nf_cells* made = nullptr;
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_cells_create(&where, given.targets(), given.sources(), reach, &options, &made);
    }
    check(status);
    cells_.reset(made);
  }

  cells::lock cells::alone(bool rebuilds)
  {
    if (fork_ != n_forks)
    {
      static_cast<void>(mutex_.release());
      mutex_ = std::make_unique<std::recursive_mutex>();
      fork_ = n_forks;
    }
    lock held(*mutex_, std::try_to_lock);
    if (!held)
    {
      nb::gil_scoped_release const free;
      held.lock();
    }
    if (is_broken_ && !rebuilds)
    {
      held.unlock();
      PyErr_SetString(PyExc_RuntimeError, "the last rebuild has failed; rebuild the list");
      throw nb::python_error();
    }
    return held;
  }

  void cells::finish(nf_status status, point_sets const& given)
  {
    if (status == nf_ok)
    {
      n_sources_ = given.n_sources();
      n_targets_ = given.n_targets();
    }
    // points that do not fit leave the list as it was
    if (status != nf_invalid_argument) is_broken_ = status != nf_ok;
    check(status);
  }

  void cells::rebuild(nb::handle points, nb::handle queries)
  {
    point_sets const given(points, queries, has_two_sets_);
    auto const held = alone(true);
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_cells_rebuild(cells_.get(), given.targets(), given.sources());
    }
    finish(status, given);
  }

  bool cells::update(nb::handle points, nb::handle queries)
  {
    point_sets const given(points, queries, has_two_sets_);
    auto const held = alone();
    nf_status status;
    std::int32_t rebuilt = 0;
    {
      nb::gil_scoped_release const free;
      status = nf_cells_update(cells_.get(), given.targets(), given.sources(), &rebuilt);
    }
    finish(status, given);
    return rebuilt != 0;
  }

  void cells::filter(nb::handle types, nb::handle query_types, nb::handle type_cutoffs,
                     nb::handle radii, nb::handle query_radii, int by, nb::handle excluded_offsets,
                     nb::handle excluded, nb::handle rows)
  {
    auto const of_points = values_if(indices, "types", types),
               of_queries = values_if(indices, "query_types", query_types),
               first = values_if(indices, "excluded_offsets", excluded_offsets),
               left_out = values_if(indices, "excluded", excluded),
               wanted = values_if(indices, "rows", rows);
    auto const matrix = values_if(lengths, "type_cutoffs", type_cutoffs),
               reach = values_if(lengths, "radii", radii),
               query_reach = values_if(lengths, "query_radii", query_radii);
    auto const expect = [](char const* name, std::size_t found, std::size_t expected)
    {
      if (found != 0 && found != expected)
        throw nb::value_error((std::string(name) + " has " + std::to_string(found) +
                               " values; give " + std::to_string(expected))
                                  .c_str());
    };
    auto const held = alone();
    expect("types", of_points.size(), n_sources_);
    expect("radii", reach.size(), n_sources_);
    if (has_two_sets_)
    {
      expect("query_types", of_queries.size(), n_targets_);
      expect("query_radii", query_reach.size(), n_targets_);
      if (of_points.empty() != of_queries.empty() || reach.empty() != query_reach.empty())
        throw nb::value_error("types or radii: give those of points and of queries");
    }
    expect("excluded_offsets", first.size(), n_targets_ + 1);
    if (!first.empty() && first.back() != static_cast<std::int64_t>(left_out.size()))
      throw nb::value_error("excluded_offsets do not end at the size of excluded");
    nf_filter_options options{};
    options.size = sizeof options;
    std::int64_t n_types = 0;
    while (n_types * n_types < static_cast<std::int64_t>(matrix.size())) ++n_types;
    expect("type_cutoffs", matrix.size(), static_cast<std::size_t>(n_types * n_types));
    options.n_types = n_types;
    options.types = data_of(has_two_sets_ ? of_queries : of_points);
    options.radii = data_of(has_two_sets_ ? query_reach : reach);
    if (has_two_sets_)
    {
      options.source_types = data_of(of_points);
      options.source_radii = data_of(reach);
    }
    options.type_cutoffs = data_of(matrix);
    options.by = by;
    options.excluded_offsets = data_of(first);
    static constexpr std::int64_t none = 0;
    options.excluded = left_out.empty() ? &none : left_out.data();
    options.rows = rows.is_none() ? nullptr : wanted.empty() ? &none : wanted.data();
    options.n_rows = static_cast<std::int64_t>(wanted.size());
    check(nf_cells_filter(cells_.get(), &options));
  }

  std::int64_t cells::count(bool half)
  {
    auto const held = alone();
    nf_place const where = place_on(threads_);
    std::int64_t n = 0;
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_count_pairs(&where, cells_.get(), half ? nf_half : nf_full, &n, nullptr);
    }
    check(status);
    return n;
  }

  nb::object cells::counts(bool half)
  {
    auto const held = alone();
    nf_place const where = place_on(threads_);
    result to(nb::dtype<std::uint32_t>(), n_targets_);
    std::int64_t n = 0;
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_count_pairs(&where, cells_.get(), half ? nf_half : nf_full, &n,
                              static_cast<std::uint32_t*>(to.data()));
    }
    check(status);
    return std::move(to).take(n_targets_, false);
  }

  nb::object cells::histogram(double r_max, std::int64_t n, bool half)
  {
    constexpr std::int64_t most = 1 << 20;
    if (n < 1 || n > most)
      throw nb::value_error(
          ("n_bins is " + std::to_string(n) + "; give 1 to " + std::to_string(most)).c_str());
    auto const held = alone();
    nf_place const where = place_on(threads_);
    result to(nb::dtype<std::int64_t>(), static_cast<std::size_t>(n));
    auto* const counts = static_cast<std::int64_t*>(to.data());
    std::fill_n(counts, n, 0);
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_pair_histogram(&where, cells_.get(), half ? nf_half : nf_full, r_max, n, counts);
    }
    check(status);
    return std::move(to).take(static_cast<std::size_t>(n), false);
  }

  nb::object cells::find(char const* quantities, bool half, int order, char const* index,
                         std::uint64_t max_bytes)
  {
    auto held = alone();
    pair_results columns(quantities, index_of(index), real_, dim_, n_targets_);
    nf_place const where = place_on(threads_);
    nf_pair_columns to{};
    to.size = sizeof to;
    to.which = half ? nf_half : nf_full;
    to.order = order;

    // no more than `bound` pairs, for which there is address space: it becomes memory where pairs are written
    nf_status status;
    std::int64_t n = 0;
    bool is_counted = false;
    auto const ask = [&](auto const& call)
    {
      {
        nb::gil_scoped_release const free;
        status = call();
      }
      check(status);
    };
    auto const count = [&]
    {
      ask([&] { return nf_count_pairs(&where, cells_.get(), to.which, &n, nullptr); });
      is_counted = true;
    };
    auto const bytes = [&]
    {
      return static_cast<std::uint64_t>(n) * columns.bytes_of_pair();
    };
    ask([&] { return nf_pair_bound(cells_.get(), to.which, &n); });
    constexpr std::uint64_t much = std::uint64_t(1) << 28;
    std::uint64_t const limit =
        max_bytes == no_limit && bytes() > much ? free_memory() / 2 : max_bytes;
    if (bytes() > limit) count();
    if (bytes() > limit)
    {
      PyErr_SetString(PyExc_MemoryError,
                      (std::to_string(n) + " pairs take " + std::to_string(bytes()) +
                       " bytes, and " + std::to_string(limit) +
                       " are allowed; use a smaller cutoff, fewer quantities, or set max_bytes")
                          .c_str());
      throw nb::python_error();
    }

    try
    {
      columns.make(static_cast<std::size_t>(n), to);
    }
    catch (nb::python_error const&)
    {
      if (is_counted) throw;
      count(); // a limit of address space
      columns.make(static_cast<std::size_t>(n), to);
    }
    ask([&] { return nf_find_pairs(&where, cells_.get(), &to, &n); });
    held.unlock();

    return columns.take(static_cast<std::size_t>(n));
  }

  void cells::near_field(nf_interaction const* k, nb::handle points, nb::handle queries,
                         nb::handle q, nb::handle out, bool accumulate, int form)
  {
    point_sets const given(points, queries, has_two_sets_);
    array const charges("charges", q), sums("out", out, true);
    nf_near_field_options const options = near_field_options(accumulate, form);
    nf_place const where = place_on(threads_);
    auto const held = alone();
    nf_status status;
    {
      nb::gil_scoped_release const free;
      status = nf_near_field_of_cells(&where, k, cells_.get(), given.targets(), given.sources(),
                                      charges.columns(), sums.columns(), &options);
    }
    check(status);
  }

  void bind_cells(nb::module_& m)
  {
    using namespace nb::literals;
    nb::class_<cells>(m, "Cells")
        .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, bool,
                      double, bool, nb::handle, nb::handle, nb::handle, nb::handle, int>(),
             "positions"_a.none(), "cutoff"_a.none(), "queries"_a = nb::none(),
             "cell"_a = nb::none(), "pbc"_a = nb::none(), "origin"_a = nb::none(),
             "closed"_a = false, "skin"_a = 0., "skin_is_each"_a = false, "offsets"_a = nb::none(),
             "order"_a = nb::none(), "query_offsets"_a = nb::none(), "query_order"_a = nb::none(),
             "n_threads"_a = 0)
        .def("rebuild", &cells::rebuild, "positions"_a.none(), "queries"_a = nb::none())
        .def("update", &cells::update, "positions"_a.none(), "queries"_a = nb::none())
        .def("filter", &cells::filter, "types"_a = nb::none(), "query_types"_a = nb::none(),
             "type_cutoffs"_a = nb::none(), "radii"_a = nb::none(), "query_radii"_a = nb::none(),
             "by"_a = 0, "excluded_offsets"_a = nb::none(), "excluded"_a = nb::none(),
             "rows"_a = nb::none())
        .def("count", &cells::count, "half"_a = false)
        .def("counts", &cells::counts, "half"_a = false)
        .def("histogram", &cells::histogram, "r_max"_a, "n_bins"_a, "half"_a = false)
        .def("find", &cells::find, "quantities"_a, "half"_a = false, "order"_a = 1,
             "index"_a = "int64", "max_bytes"_a = no_limit)
        .def(
            "near_field",
            [](cells& of, interaction const& k, nb::handle positions, nb::handle queries,
               nb::handle charges, nb::handle out, bool accumulate, int form)
            { of.near_field(k.k, positions, queries, charges, out, accumulate, form); },
            "k"_a, "positions"_a.none(), "queries"_a.none(), "charges"_a.none(), "out"_a.none(),
            "accumulate"_a, "form"_a)
        .def_prop_ro("n_targets", &cells::n_targets)
        .def_prop_ro("n_sources", &cells::n_sources)
        .def_prop_ro("dim", &cells::dim);
    m.def(
        "pairs",
        [](char const* quantities, nb::handle positions, nb::handle cutoff, nb::handle cell,
           nb::handle pbc, bool half, int order, char const* index, bool closed, int n_threads,
           nb::handle queries, nb::handle origin, std::uint64_t max_bytes)
        {
          nb::object const none = nb::none();
          return cells(positions, cutoff, queries, cell, pbc, origin, closed, 0, false, none, none,
                       none, none, n_threads)
              .find(quantities, half, order, index, max_bytes);
        },
        "quantities"_a, "positions"_a.none(), "cutoff"_a.none(), "cell"_a = nb::none(),
        "pbc"_a = nb::none(), "half"_a = false, "order"_a = 1, "index"_a = "int64",
        "closed"_a = false, "n_threads"_a = 0, "queries"_a = nb::none(), "origin"_a = nb::none(),
        "max_bytes"_a = no_limit);
  }
}
