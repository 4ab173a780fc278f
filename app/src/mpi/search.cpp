#include "list_lines.hpp"
#include "machine.hpp"
#include "merged.hpp"
#include "mpi/host_over.hpp"
#include "task_step.hpp"

#include <nearfield/starpu_mpi/near_field.hpp>
#include <nearfield/starpu_mpi/radius_search.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace nearfield::app
{
  namespace
  {
    /// Rows of points that follow each other in the file.
    struct list_rows
    {
      list_kind kind;
      std::uint64_t first; // the number of the first point
      int n_shifts;        // numbers of the image of a pair
      // of each row its point, its count, how many neighbours follow, and these, ascending, each with its image; in a half
      // list, those of larger numbers, and of the images of a point itself the positive ones
      nearfield::detail::page_vector<std::uint64_t> arrived;
      std::vector<std::size_t> places = {}; // in `arrived`, of the row of each point

      void operator()(list_lines& lines) const
      {
        for (std::size_t i = 0; i < places.size(); ++i)
        {
          std::uint64_t const* const row = &arrived[places[i]];
          std::uint64_t const* const neighbours = row + 3;
          auto const of_pair = 1 + static_cast<std::size_t>(n_shifts);
          if (kind == list_kind::count || kind == list_kind::table)
            lines.row(first + i, row[1], std::span(neighbours, row[2]));
          else
            for (auto const* pair = neighbours; pair < neighbours + row[2]; pair += of_pair)
              lines.pair(first + i, *pair,
                         [&](std::size_t a) { return static_cast<std::int64_t>(pair[1 + a]); });
        }
      }
    };

    /// The rows of the points of this rank's part of the file. `counts` and `found` are those of own points, rows
    /// sorted, both ways. Collective.
    template <class T, int Dim>
    list_rows bring_home(mpi_ranks const& all, named_points const& mine,
                         search_options const& options, std::optional<index_type> width,
                         starpu_mpi::distributed_cells<T, Dim> const& cells,
                         page_array<index_type> const& counts, csr<T, Dim> found)
    {
      auto const numbers = cells.numbers();
      auto const first = all.gather(mine.first);
      int const n_shifts = options.shifts ? Dim : 0;
      // rows on their way to the rank whose part of the file has the point
      std::vector<std::uint64_t> leaving;
      std::vector<std::size_t> begin_of_rank;
      all.attempt(
          [&]
          {
            std::vector<index_type> order(cells.n_points());
            std::iota(order.begin(), order.end(), index_type(0));
            std::ranges::sort(order, {}, [&](index_type p) { return numbers[p]; });
            for (index_type const p : order)
            {
              // of ranks without points, which begin where the next one does, the last has it
              auto const n_begun = std::ranges::upper_bound(first, numbers[p]) - first.begin();
              begin_of_rank.resize(static_cast<std::size_t>(n_begun), leaving.size());
              auto const head = leaving.size();
              leaving.insert(leaving.end(), {numbers[p], counts[p], 0});
              auto const n_wanted = options.list == list_kind::count
                                        ? 0
                                        : std::min(counts[p], width.value_or(counts[p]));
              for (std::uint64_t k = 0; k < n_wanted; ++k)
              {
                auto const at = found.offsets[p] + k;
                auto const j = numbers[found.columns[at]];
                nearfield::detail::image_counters<Dim> image{};
                for (int a = 0; a < Dim && !found.images[a].empty(); ++a)
                  image[a] = found.images[a][at];
                bool const is_later =
                    j > numbers[p] || (j == numbers[p] && nearfield::detail::is_positive(image));
                if (options.list == list_kind::half && !is_later) continue;
                leaving.push_back(j);
                for (int a = 0; a < n_shifts; ++a)
                  leaving.push_back(static_cast<std::uint64_t>(std::int64_t(image[a])));
              }
              leaving[head + 2] = leaving.size() - head - 3;
            }
            begin_of_rank.resize(static_cast<std::size_t>(all.size()) + 1, leaving.size());
          });
      found = {};
      list_rows home{options.list, mine.first, n_shifts,
                     all.exchange<std::uint64_t>(leaving, begin_of_rank).values};
      all.attempt(
          [&]
          {
            home.places.resize(mine.points.size());
            for (std::size_t at = 0; at < home.arrived.size(); at += 3 + home.arrived[at + 2])
              home.places[home.arrived[at] - mine.first] = at;
          });
      return home;
    }

    /// What f gives on this rank, and the time of the slowest. Collective.
    template <class F>
    auto timed(mpi_ranks const& all, double& seconds, F const& f)
    {
      auto const start = std::chrono::steady_clock::now();
      decltype(f()) result;
      all.attempt([&] { result = f(); });
      seconds += all.greatest(seconds_since(start));
      return result;
    }

    template <class T, int Dim>
    search_result search_in(mpi_ranks const& all, named_points const& mine,
                            search_options const& options)
    {
      search_result result;
      std::optional<rounded_columns<T>> x;
      std::optional<session> running;
      threads here(1);
      auto const origin = rounding_origins<T>(all, here, mine, nullptr, options.periodic);
      if (std::is_same_v<T, float>) result.merged = report_merged(all, mine, nullptr, origin);
      auto const grid =
          grid_options<T, Dim, typename starpu_mpi::distributed_cells<T, Dim>::options_type>(
              options, origin);
      all.attempt(
          [&]
          {
            x.emplace(rounded_positions<T>(here, mine, origin));
            if (options.workers > 0)
              running.emplace(
                  execution_options{.backend = backend::simd, .workers = options.workers});
          });
      auto const cells = timed(all, result.grid_seconds,
                               [&]
                               {
                                 return std::make_optional<starpu_mpi::distributed_cells<T, Dim>>(
                                     MPI_COMM_WORLD, x->template view<Dim>(), options.radius, grid);
                               });
      std::vector<T> const cutoffs(options.pairs.matrix.begin(), options.pairs.matrix.end());
      std::optional<starpu_mpi::filtered<T, Dim>> some;
      if (!options.pairs.is_all())
        some.emplace(*cells,
                     starpu_mpi::pair_filter<T>{.types = mine.points.types,
                                                .type_cutoffs = cutoffs,
                                                .excluded_offsets = options.pairs.excluded.offsets,
                                                .excluded = options.pairs.excluded.others});
      auto const search_in = [&](auto const& where, auto const& what)
      {
        return some ? starpu_mpi::radius_search(where, *some, what)
                    : starpu_mpi::radius_search(where, *cells, what);
      };
      auto const search = [&](auto const& what)
      {
        if (options.backend == backend::cuda) return search_in(cuda, what);
        return on_cpu(running ? &*running : nullptr, options.backend,
                      [&](auto const& where) { return search_in(where, what); });
      };

      result.ranks = all.size();
      result.points = cells->total_points();
      auto const limit = options.max_memory.value_or(
          all.sum(available_memory() / static_cast<std::uint64_t>(all.on_this_machine())));
      // counts per point that exceed the limit are not allocated
      bool const fits =
          options.list != list_kind::count || result.points * sizeof(std::uint64_t) <= limit;
      auto const counts =
          timed(all, result.count_seconds, [&] { return search(count_pairs{pairs::full, fits}); });
      for (index_type const count : counts.per_point)
        result.max_neighbours = std::max<std::uint64_t>(result.max_neighbours, count);
      result.max_neighbours = all.greatest(result.max_neighbours);
      set_sizes(options, all.sum(counts.total), Dim, sizeof(std::uint64_t), result);
      all.attempt([&] { check_size(options, result, limit); });

      csr<T, Dim> found;
      // a half list has one of two opposite images of a point
      bool const needs_images = options.shifts || (options.list == list_kind::half &&
                                                   cells->grid().meets_several_images());
      if (options.list != list_kind::count)
        found = timed(all, result.fill_seconds,
                      [&]
                      {
                        return search(to_csr{.sorted = true,
                                             .images = needs_images ? image_columns::counters
                                                                    : image_columns::none});
                      });
      running.reset();
      if (options.output)
        result.write_rows = bring_home(all, mine, options, result.table_width, *cells,
                                       counts.per_point, std::move(found));
      result.peak_memory = all.greatest(peak_memory());
      return result;
    }
  }

  search_result host_over::search(search_options const& options, named_points const& mine) const
  {
    if (options.backend == backend::cuda) starpu_mpi::share_gpus(MPI_COMM_WORLD);
    return with_types(options.precision, mine.points.dim,
                      [&]<class T, int Dim>() { return search_in<T, Dim>(all_, mine, options); });
  }
}
