#include <nearfield/starpu_mpi/radius_search.hpp>

#include "axis_of_ranks.hpp"
#include "carry.hpp"
#include "cuts.hpp"
#include "halo.hpp"
#include "ranks.hpp"
#include "travelling_points.hpp"

#include "tree/src/cell_sort.hpp"
#include "tree/src/instantiate.hpp"
#include "tree/src/reduce.hpp"
#include "tree/src/systems.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

namespace nearfield::starpu_mpi
{
  namespace
  {
    using namespace nearfield::detail;
    using detail::lattice;
    using detail::ranks;

    template <class T, int Dim>
    cell_grid<T, Dim>
    agree_on_grid(ranks const& all, strided<T const, Dim> const& points, T cutoff,
                  std::type_identity_t<cell_list_options<T, Dim>> options,
                  std::type_identity_t<std::array<std::vector<axis_piece>, Dim>>& pieces)
    {
      options.cells_per_cutoff.fill(1);
      reduced_points<T, Dim> inside;
      points_along<Dim>& bounds = inside.bounds;
      all.attempt(
          [&]
          {
            require_columns(points, "points");
            check_cell_options(cutoff, options);
            reduce_points(threads_or_here(nullptr), frame_of(options), points, "points", inside);
          });
      if (points.size() == 0)
      {
        bounds.lower.fill(std::numeric_limits<double>::infinity());
        bounds.upper.fill(-std::numeric_limits<double>::infinity());
      }
      bounds = {all.least(bounds.lower), all.greatest(bounds.upper), all.greatest(bounds.largest),
                all.greatest(double(bounds.moved)) > 0};
      if (bounds.lower[0] > bounds.upper[0]) bounds = {}; // no points at all
      cell_grid<T, Dim> grid;
      all.attempt([&] { grid = make_cell_grid(bounds, cutoff, options); });
      for (int a = 0; a < Dim; ++a)
      {
        if (!has_wide_cells(grid, options, a)) continue;
        detail::axis_of_ranks const axis(
            all, threads_or_here(nullptr),
            detail::bits_of_axis<T, Dim>(all, std::span(&inside.x, 1), a), crowd_of_cell);
        leave_gaps_out(
            grid, options, a, axis.spacing(), [&](double length) { return axis.gaps(length); },
            pieces[a]);
      }
      return grid;
    }

    /// Cuts between cells with about equal sums of squares of numbers of points: the candidates of a cell whose
    /// neighbours are as full, and something for a point that is alone.
    std::vector<std::uint64_t> cut_by_cells(ranks const& all, std::span<std::uint64_t const> keys,
                                            std::uint64_t end)
    {
      std::vector<std::uint64_t> const by_points = detail::cut_by_points(all, {keys}, end);
      executor& here = threads_or_here(nullptr);
      auto const arrived = detail::keys_here(all, here, {keys}, by_points);
      occupied_cells const cells = cells_of(here, arrived.front());
      std::vector<std::uint64_t> weights;
      for (std::size_t c = 0; c < cells.keys.size(); ++c)
      {
        std::uint64_t const count = cells.offsets[c + 1] - cells.offsets[c];
        weights.push_back(count * count);
      }
      return detail::cut_by_weight(all, cells.keys, weights, end);
    }

    void check_numbers(std::uint64_t first, std::uint64_t total)
    {
      if (total > 0 && first > std::numeric_limits<std::uint64_t>::max() - (total - 1))
        throw error("distributed_cells: first_number is " + std::to_string(first) +
                    ", so the numbers of " + std::to_string(total) +
                    " points would pass 2^64; give a smaller one");
    }

    /// The system of each point of a batch, by number from 0.
    template <int Dim>
    std::vector<index_type> systems_by_point(systems<Dim> const& batch)
    {
      std::vector<index_type> system_of(batch.offsets.back());
      for (std::size_t s = 0; s + 1 < batch.offsets.size(); ++s)
        for (index_type k = batch.offsets[s]; k < batch.offsets[s + 1]; ++k)
          system_of[batch.order.empty() ? k : batch.order[k]] = static_cast<index_type>(s);
      return system_of;
    }

    /// The places of points, by system and in it as they come.
    void sort_by_system(std::span<index_type const> system, page_vector<index_type>& order)
    {
      order.resize(system.size());
      std::iota(order.begin(), order.end(), index_type(0));
      std::stable_sort(order.begin(), order.end(),
                       [&](index_type a, index_type b) { return system[a] < system[b]; });
    }
  }

  template <nearfield::detail::cell_real T, int Dim>
  distributed_cells<T, Dim>::distributed_cells(MPI_Comm communicator,
                                               strided<T const, Dim> const& points, double cutoff,
                                               options_type const& options)
  {
    ranks const all(communicator);
    lattice<T, Dim> const cells(
        agree_on_grid(all, points, static_cast<T>(cutoff), options.of_lists(), parts_.pieces));
    parts_.communicator = communicator;
    parts_.options = options;
    parts_.grid = cells.grid;
    parts_.total_points = all.sum(points.size());
    std::uint64_t const first = options.first_number, total = parts_.total_points;
    distribution_options distribution;
    distribution.first_number = first;
    detail::travelling_points<T, Dim> own(distribution, nullptr);
    all.attempt(
        [&]
        {
          check_numbers(first, total);
          own.sort(points, [&](auto const&... of) { cells.write_keys(of...); }, parts_.to_own);
        });
    parts_.cuts = cut_by_cells(all, own.keys, cells.end());
    own.exchange(all, parts_.cuts);

    using halo_point = detail::traveller<T, Dim, std::uint64_t>;
    std::vector<halo_point> leaving;
    auto& to_halo = parts_.to_halo;
    all.attempt(
        [&]
        {
          own.settle(parts_.numbers);
          parts_.n_points = parts_.numbers.size();
          auto const x = own.positions(n_points());
          for (int a = 0; a < Dim; ++a) parts_.positions[a].assign(x[a], x[a] + n_points());
          for (auto const& [rank, p] :
               detail::halo_search<T, Dim>(cells, parts_.cuts, all.rank()).of(own.own_keys(), x))
          {
            to_halo.sent_offsets.resize(static_cast<std::size_t>(rank) + 1, to_halo.sent.size());
            to_halo.sent.push_back(p);
            auto& point = leaving.emplace_back();
            for (int a = 0; a < Dim; ++a) point.x[a] = x[a][p];
            point.number = parts_.numbers[p];
          }
          to_halo.sent_offsets.resize(static_cast<std::size_t>(all.size()) + 1,
                                      to_halo.sent.size());
        });
    auto const arrived = all.exchange<halo_point>(leaving, to_halo.sent_offsets);
    to_halo.received_offsets = arrived.offsets;

    all.attempt(
        [&]
        {
          for (halo_point const& point : arrived.values)
          {
            parts_.numbers.push_back(point.number);
            for (int a = 0; a < Dim; ++a) parts_.positions[a].push_back(point.x[a]);
          }
          auto& border = parts_.at_border;
          border.assign(to_halo.sent.begin(), to_halo.sent.end());
          std::ranges::sort(border);
          border.erase(std::unique(border.begin(), border.end()), border.end());
          std::array<std::vector<T>, Dim> queries;
          std::array<T const*, Dim> first_own, of_border, of_halo;
          for (int a = 0; a < Dim; ++a)
          {
            for (index_type const p : border) queries[a].push_back(parts_.positions[a][p]);
            first_own[a] = parts_.positions[a].data();
            of_border[a] = queries[a].data();
            of_halo[a] = first_own[a] + n_points();
          }
          using view = soa<T const, Dim>;
          parts_.own.emplace(view(first_own, n_points()), cutoff, options.of_lists());
          parts_.border.emplace(view(of_border, border.size()),
                                view(of_halo, arrived.values.size()), cutoff, options.of_lists());
        });
  }

  template <nearfield::detail::cell_real T, int Dim>
  distributed_cells<T, Dim>::distributed_cells(MPI_Comm communicator,
                                               strided<T const, Dim> const& points,
                                               systems<Dim> const& batch,
                                               options_type const& options)
  {
    ranks const all(communicator);
    auto const me = static_cast<std::size_t>(all.rank()), n_ranks = std::size_t(all.size());
    parts_.communicator = communicator;
    parts_.options = options;
    std::uint64_t const total = parts_.total_points = all.sum(points.size());
    std::uint64_t const before = all.sum_before(points.size()), first = options.first_number;
    auto& way = parts_.to_own;
    std::vector<index_type> system_of, here; // of all points, and of some
    using travelling = detail::traveller<T, Dim, std::uint64_t>;
    std::vector<travelling> leaving;
    all.attempt(
        [&]
        {
          std::string const name = "distributed_cells";
          require_columns(points, "points");
          check_no_box(name, options.of_lists());
          check_systems(name, batch, true);
          check_last(name, "points", batch.offsets, total);
          check_order(threads_or_here(nullptr), name, "order", batch.order, total);
          check_numbers(first, total);
          // with about equal numbers of points
          for (std::size_t r = 0; r <= n_ranks; ++r)
            parts_.cuts.push_back(
                r == n_ranks ? batch.offsets.size() - 1
                             : std::size_t(std::ranges::lower_bound(batch.offsets.begin(),
                                                                    batch.offsets.end() - 1,
                                                                    total * r / n_ranks) -
                                           batch.offsets.begin()));
          system_of = systems_by_point(batch);
          auto const of_given = std::span(system_of).subspan(before, points.size());
          sort_by_system(of_given, way.sent);
          way.sent_offsets.assign(n_ranks + 1, 0);
          for (index_type const p : way.sent)
          {
            auto const to =
                std::ranges::upper_bound(parts_.cuts, of_given[p]) - parts_.cuts.begin();
            ++way.sent_offsets[std::size_t(to)];
            auto& point = leaving.emplace_back();
            for (int a = 0; a < Dim; ++a) point.x[a] = points[a][p];
            point.number = before + p;
          }
          std::partial_sum(way.sent_offsets.begin(), way.sent_offsets.end(),
                           way.sent_offsets.begin());
        });
    auto const arrived = all.exchange<travelling>(leaving, way.sent_offsets);
    way.received_offsets = arrived.offsets;
    all.attempt(
        [&]
        {
          std::size_t const n = parts_.n_points = arrived.values.size();
          for (auto const& point : arrived.values) here.push_back(system_of[point.number]);
          page_vector<index_type> order;
          sort_by_system(here, order);
          way.received.resize(n);
          for (std::size_t p = 0; p < n; ++p)
          {
            auto const& point = arrived.values[order[p]];
            way.received[order[p]] = static_cast<index_type>(p);
            parts_.numbers.push_back(first + point.number);
            for (int a = 0; a < Dim; ++a) parts_.positions[a].push_back(point.x[a]);
          }
          parts_.to_halo.sent_offsets.assign(n_ranks + 1, 0);
          parts_.to_halo.received_offsets = parts_.to_halo.sent_offsets;
          // all systems, so that they keep their numbers
          for (std::size_t s = 0; s < batch.offsets.size(); ++s)
            parts_.offsets.push_back(
                batch.offsets[std::clamp<std::size_t>(s, parts_.cuts[me], parts_.cuts[me + 1])] -
                batch.offsets[parts_.cuts[me]]);
          parts_.cutoffs.assign(batch.cutoffs.begin(), batch.cutoffs.end());
          parts_.cells.assign(batch.cells.begin(), batch.cells.end());
          parts_.own.emplace(positions(), own_systems(), options.of_lists());
          std::vector<index_type> const none(batch.offsets.size(), 0);
          auto empty = own_systems();
          empty.offsets = empty.query_offsets = none;
          parts_.border.emplace(soa<T const, Dim>(), soa<T const, Dim>(), empty,
                                options.of_lists());
        });
  }

  template <nearfield::detail::cell_real T, int Dim>
  systems<Dim> distributed_cells<T, Dim>::own_systems() const&
  {
    return {.offsets = parts_.offsets, .cutoffs = parts_.cutoffs, .cells = parts_.cells};
  }

  template <nearfield::detail::cell_real T, int Dim>
  soa<T const, Dim> distributed_cells<T, Dim>::positions() const&
  {
    std::array<T const*, Dim> columns;
    for (int a = 0; a < Dim; ++a) columns[a] = parts_.positions[a].data();
    return {columns, parts_.numbers.size()};
  }

  template <nearfield::detail::cell_real T, int Dim>
  std::uint64_t distributed_cells<T, Dim>::sum_over_ranks(std::uint64_t of_this_rank) const
  {
    return ranks(parts_.communicator).sum(of_this_rank);
  }

  template <nearfield::detail::cell_real T, int Dim>
  void distributed_cells<T, Dim>::spread(void const* given, std::size_t n, std::size_t size,
                                         void* known) const
  {
    ranks const all(parts_.communicator);
    all.attempt(
        [&]
        {
          if (n != parts_.to_own.sent.size())
            throw error("known_values: " + std::to_string(n) + " values for " +
                        std::to_string(parts_.to_own.sent.size()) +
                        " points; give one for each point that this rank gave");
        });
    auto const step = static_cast<std::ptrdiff_t>(size);
    detail::carry_to_own(all, parts_.to_own, given, step, size, known);
    detail::carry(all, parts_.to_halo, known, step, size,
                  static_cast<std::byte*>(known) + n_points() * size);
  }

#define NEARFIELD_INSTANTIATE(T, Dim) template class distributed_cells<T, Dim>;
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
