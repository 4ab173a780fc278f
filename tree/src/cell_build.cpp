#include "cell_build.hpp"

#include "gaps.hpp"
#include "images.hpp"
#include "instantiate.hpp"
#include "systems.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

namespace nearfield::detail
{
  template <int Dim>
  kept_systems<Dim> one_system(double cutoff, cell<Dim> const& box)
  {
    kept_systems<Dim> one;
    one.cutoffs = {cutoff};
    one.cells = {box};
    return one;
  }

  template <int Dim>
  kept_systems<Dim> kept(systems<Dim> const& given, bool one_set)
  {
    check_systems("cell_list", given, one_set);
    check_order("cell_list", "order", given.order, given.offsets.back());
    kept_systems<Dim> batch;
    batch.is_batch = true;
    auto const keep = [](auto& to, auto const& from)
    {
      to.assign(from.begin(), from.end());
    };
    std::size_t const first = one_set ? 0 : 1;
    keep(batch.offsets[first], given.offsets);
    keep(batch.order[first], given.order);
    if (!one_set)
    {
      check_order("cell_list", "query_order", given.query_order, given.query_offsets.back());
      keep(batch.offsets[0], given.query_offsets);
      keep(batch.order[0], given.query_order);
    }
    keep(batch.cutoffs, given.cutoffs);
    keep(batch.cells, given.cells);
    if (batch.cells.empty()) batch.cells.emplace_back();
    return batch;
  }

  namespace
  {
    /// The half list of boxes: without those images of a box itself that others are opposite to.
    template <class T, int Dim>
    void drop_opposite_images(interaction_table const& half,
                              std::vector<cell_system<T, Dim>> const& systems,
                              interaction_table& to)
    {
      to.own = half.own;
      to.offsets = half.offsets;
      to.ranges.clear();
      for (auto const& system : systems)
        for (index_type b = system.first_box; b < system.last_box; ++b)
        {
          for (index_type r = half.offsets[b]; r < half.offsets[b + 1]; ++r)
          {
            source_range const& range = half.ranges[r];
            if (range.begin != half.own[b].begin || is_positive(system.images[range.shift]))
              to.ranges.push_back(range);
          }
          to.offsets[b + 1] = static_cast<index_type>(to.ranges.size());
        }
    }

    /// Builds a list. The functions come in the order in which they are called.
    template <class T, int Dim>
    class cell_builder
    {
    public:
      cell_builder(executor& on, kept_systems<Dim>&& given,
                   two_sets<strided<T const, Dim>> const& points, bool one_set,
                   cell_list_options<T, Dim> const& options, cell_list_data<T, Dim>& data)
          : on_(on), given_(std::move(given)), points_(points), n_sets_(one_set ? 1 : 2),
            options_(options), data_(data)
      {
        if (given_.is_batch) check_batch();
        for (std::size_t k = 0; k < n_sets_ && !given_.is_batch; ++k)
          given_.offsets[k] = {0, static_cast<index_type>(points[k].size())};
        cut_parts();
        if (data_.parts.size() + 1 < first_.size()) data_.parts.resize(first_.size() - 1);
      }

      void run()
      {
        find_bounds();
        make_grids();
        make_tables();
        std::swap(data_.tables, data_.spare);
        data_.one_set = n_sets_ == 1;
        data_.is_updated = false;
        try
        {
          sort_and_list();
        }
        catch (...)
        {
          // out of memory halfway: an empty list is better than parts that do not match
          make_empty();
          data_.given = std::move(given_);
          throw;
        }
        data_.given = std::move(given_);
      }

    private:
      void check_batch() const
      {
        check_no_box("cell_list", options_);
        if ((n_sets_ == 2) == given_.offsets[1].empty())
          throw error(n_sets_ == 2 ? "cell_list: the systems are of one set, and queries are "
                                     "given; give systems with .query_offsets"
                                   : "cell_list: the systems are of queries and points, and one "
                                     "set is given; give systems without .query_offsets");
        for (std::size_t k = 0; k < n_sets_; ++k)
          check_last("cell_list", name_of(k), given_.offsets[k], points_[k].size());
      }

      /// By points, for the threads; one part if there are few systems, of which each is built by all threads.
      void cut_parts()
      {
        std::size_t const n = given_.size();
        first_ = {0};
        if (workers_of(on_) == 1 || n < static_cast<std::size_t>(workers_of(on_)))
        {
          first_.push_back(static_cast<index_type>(n));
          return;
        }
        constexpr double of_system = 16; // it takes as long as these points
        constexpr int parts_of_thread = 4;
        std::vector<double> work(n + 1);
        for (std::size_t s = 0; s <= n; ++s)
        {
          work[s] = of_system * static_cast<double>(s);
          for (std::size_t k = 0; k < n_sets_; ++k) work[s] += given_.offsets[k][s];
        }
        cut_evenly(work, static_cast<index_type>(n),
                   static_cast<std::size_t>(parts_of_thread * workers_of(on_)), first_);
      }

      /// f(executor, s, part) for all systems. An error is that of the first system, which it names.
      template <class F>
      void for_each_system(F const& f)
      {
        std::mutex mutex;
        std::size_t failed = given_.size();
        std::exception_ptr failure;
        this_thread here;
        int const n_parts = static_cast<int>(first_.size()) - 1;
        executor& inside = n_parts > 1 ? here : on_;
        auto const run_part = [&](int part)
        {
          for (std::size_t s = first_[unsigned(part)]; s < first_[unsigned(part) + 1]; ++s) try
            {
              f(inside, s, static_cast<std::size_t>(part));
            }
            catch (...)
            {
              std::lock_guard const lock(mutex);
              if (s < failed) failure = std::current_exception();
              failed = std::min(failed, s);
              return;
            }
        };
        if (n_parts > 1)
          on_.run(n_parts, run_part);
        else
          run_part(0);
        if (!failure) return;
        if (!given_.is_batch) std::rethrow_exception(failure);
        in_system(failed, [&] { std::rethrow_exception(failure); });
      }

      [[nodiscard]] char const* name_of(std::size_t set) const
      {
        return n_sets_ == 2 && set == 0 ? "queries" : "points";
      }
      [[nodiscard]] std::size_t begin(std::size_t set, std::size_t s) const
      {
        return given_.offsets[set][s];
      }
      [[nodiscard]] std::size_t count(std::size_t set, std::size_t s) const
      {
        return given_.offsets[set][s + 1] - given_.offsets[set][s];
      }
      /// As they were given, system after system.
      [[nodiscard]] strided<T const, Dim> given_points(std::size_t set, std::size_t s) const
      {
        auto const& all = points_[set];
        std::array<T const*, Dim> columns;
        for (int a = 0; a < Dim; ++a)
          columns[a] = all.size() > 0 ? &all[a][begin(set, s)] : nullptr;
        return {soa<T const, Dim>(columns, count(set, s)), all.stride()};
      }
      /// Those in the box.
      [[nodiscard]] strided<T const, Dim> inner_points(std::size_t set, std::size_t s) const
      {
        if (!data_.bounds[set][s].moved) return given_points(set, s);
        std::span<T const> const moved = data_.moved[set];
        return columns_in<Dim>(moved, count(set, s), begin(set, s));
      }

      void gather(std::size_t set)
      {
        std::size_t const n = points_[set].size();
        renew(data_.gathered[set], Dim * n);
        auto const to = columns_in<Dim>(std::span(data_.gathered[set]), n);
        gather_columns(on_, given_.order[set], Dim, points_[set], to);
        points_[set] = soa<T const, Dim>(to);
      }

      void find_bounds()
      {
        auto& systems = data_.spare.systems;
        systems.resize(given_.size());
        for (std::size_t k = 0; k < n_sets_; ++k)
        {
          data_.bounds[k].resize(given_.size());
          if (!given_.order[k].empty()) gather(k);
        }
        cell_frame<Dim> shared;
        if (given_.cells.size() == 1) shared = frame_of(given_.cells[0]);
        for_each_system(
            [&](executor& on, std::size_t s, std::size_t)
            {
              auto& frame = systems[s].grid.frame;
              frame = given_.cells.size() == 1 ? shared : frame_of(given_.cells[s]);
              for (std::size_t k = 0; k < n_sets_; ++k)
              {
                auto& bounds = data_.bounds[k][s];
                bounds = bounds_along(on, frame, given_points(k, s), name_of(k));
                bounds.moved = count(k, s) > 0 && !are_inside(frame, bounds);
              }
            });
      }

      /// Brings points into their boxes, and makes the grids.
      void make_grids()
      {
        auto& counters = data_.spare.counters;
        for (std::size_t k = 0; k < 2; ++k)
        {
          std::size_t const n = points_[k].size();
          bool const any =
              k < n_sets_ &&
              std::ranges::any_of(data_.bounds[k], [](auto const& of) { return of.moved; });
          renew(counters[k], any ? n : 0);
          renew(data_.moved[k], any ? Dim * n : 0);
        }
        data_.spare.pieces.resize(given_.size());
        for_each_system(
            [&](executor& on, std::size_t s, std::size_t part)
            {
              auto& grid = data_.spare.systems[s].grid;
              auto const frame = grid.frame;
              for (std::size_t k = 0; k < n_sets_; ++k)
                if (!counters[k].empty()) move_inside(on, frame, s, k);
              auto const &targets = data_.bounds[0][s], &sources = data_.bounds[n_sets_ - 1][s];
              auto const& bounds = count(0, s) == 0             ? sources
                                   : count(n_sets_ - 1, s) == 0 ? targets
                                                                : united(targets, sources);
              grid = make_cell_grid(bounds, static_cast<T>(given_.cutoff(s)), options_, frame);
              leave_gaps_out(on, s, data_.parts[part].sorting);
            });
        for (std::size_t k = 0; k < n_sets_; ++k)
          if (!counters[k].empty() && !given_.order[k].empty())
          {
            page_vector<image_counters<Dim>> by_index(counters[k].size());
            put_in_order(given_.order[k], counters[k], by_index.data());
            counters[k].swap(by_index);
          }
      }

      void move_inside(executor& on, cell_frame<Dim> const& frame, std::size_t s, std::size_t k)
      {
        image_counters<Dim>* const of_system = data_.spare.counters[k].data() + begin(k, s);
        auto& bounds = data_.bounds[k][s];
        if (!bounds.moved)
        {
          std::fill_n(of_system, count(k, s), image_counters<Dim>());
          return;
        }
        bring_inside(on, frame, given_points(k, s), name_of(k),
                     columns_in<Dim>(std::span(data_.moved[k]), count(k, s), begin(k, s)),
                     of_system);
        bounds = bounds_along(on, frame, inner_points(k, s), name_of(k));
        bounds.moved = true;
      }

      /// Leaves out gaps that would make cells wide.
      void leave_gaps_out(executor& on, std::size_t s, sort_scratch& scratch)
      {
        auto& grid = data_.spare.systems[s].grid;
        for (int a = 0; a < Dim; ++a)
        {
          if (!has_wide_cells(grid, options_, a)) continue;
          std::size_t const n_sources = n_sets_ == 2 ? count(1, s) : 0;
          if (count(0, s) + n_sources > std::numeric_limits<index_type>::max()) return;
          auto const targets = inner_points(0, s);
          auto const sources = n_sets_ == 2 ? inner_points(1, s) : strided<T const, Dim>();
          sorted_axis const axis(on, targets[a], targets.size(), sources[a], n_sources, scratch);
          detail::leave_gaps_out(
              grid, options_, a, axis.spacing(crowd_of_cell),
              [&](double length) { return axis.gaps(length); }, data_.spare.pieces[s][a]);
        }
      }

      /// The tables of shifts.
      void make_tables()
      {
        auto& [systems, pieces, shifts, images, counters] = data_.spare;
        std::size_t n = 0;
        for (auto const& system : systems) n += number_of(numbers_of(system.grid));
        shifts.resize(n);
        images.resize(n);
        n = 0;
        for (auto& system : systems)
        {
          std::size_t const own = number_of(numbers_of(system.grid));
          system.shifts = {};
          system.images = {};
          if (own == 0) continue; // null: writers know that there are none
          system.shifts = std::span(shifts).subspan(n, own);
          system.images = std::span(images).subspan(n, own);
          n += own;
        }
        for_each_system(
            [&](executor&, std::size_t s, std::size_t)
            {
              auto const& system = data_.spare.systems[s];
              std::size_t const own = system.images.size();
              if (own == 0) return;
              auto const first = system.images.data() - data_.spare.images.data();
              write_images<Dim>(system.grid.frame, numbers_of(system.grid),
                                {data_.spare.shifts.data() + first, own},
                                {data_.spare.images.data() + first, own});
            });
      }

      void sort_and_list()
      {
        auto& systems = data_.tables.systems;
        for (std::size_t k = 0; k < 2; ++k)
        {
          std::size_t const n = k < n_sets_ ? points_[k].size() : 0;
          data_.sorted[k].renew_for(n);
          data_.moves[k].resize(data_.tables.counters[k].empty() ? 0 : n);
        }
        notes_own_at_ = std::ranges::any_of(systems, [](auto const& system)
                                            { return system.grid.meets_several_images(); });
        bool const in_parts = first_.size() > 2;
        for (std::size_t p = 0; p + 1 < first_.size(); ++p)
        {
          cell_part& part = data_.parts[p];
          if (!in_parts) part.lists = std::move(data_.lists);
          if (!in_parts) part.offsets = std::move(data_.offsets);
          clear(part.lists);
          for (std::size_t k = 0; k < n_sets_; ++k)
            part.offsets[k].assign(1, static_cast<index_type>(begin(k, first_[p])));
        }
        for_each_system(
            [&](executor& on, std::size_t s, std::size_t part)
            {
              sort(on, s, data_.parts[part]);
              list(on, s, data_.parts[part]);
            });
        if (in_parts)
          join_parts();
        else
        {
          data_.lists = std::move(data_.parts[0].lists);
          data_.offsets = std::move(data_.parts[0].offsets);
        }
        for (std::size_t k = 0; k < n_sets_ && options_.skin > 0; ++k)
          data_.built_x[k] = data_.sorted[k].x;
        data_.leaf_systems.clear();
        if (given_.is_batch)
          for (auto const& system : systems)
            data_.leaf_systems.push_back({system.first_box, system.last_box, system.shifts});
        if (data_.one_set && notes_own_at_)
          drop_opposite_images(data_.lists.half, systems, data_.half_of_boxes);
      }

      /// Sorts the points of a system, and appends its boxes.
      void sort(executor& on, std::size_t s, cell_part& part)
      {
        auto& system = data_.tables.systems[s];
        for (std::size_t k = 0; k < n_sets_; ++k)
        {
          auto const& counters = data_.tables.counters[k];
          auto const order = std::span(data_.sorted[k].order).subspan(begin(k, s), count(k, s));
          sort_into_cells(on, inner_points(k, s), system.grid, begin(k, s), data_.sorted[k],
                          part.cells[k], part.sorting);
          auto const& given = given_.order[k];
          if (begin(k, s) > 0 || !given.empty())
            for (index_type& i : order)
            {
              i += static_cast<index_type>(begin(k, s));
              if (!given.empty()) i = given[i];
            }
          if (!counters.empty())
            write_moves<Dim>(on, system.grid.frame, counters, order,
                             data_.moves[k].data() + begin(k, s));
        }
        if (n_sets_ == 2)
          unite(part.cells[0], part.cells[1], part.keys, part.united[0], part.united[1]);
        system.first_box = static_cast<index_type>(part.offsets[0].size() - 1);
        for (std::size_t k = 0; k < n_sets_; ++k)
        {
          auto const& own = n_sets_ == 2 ? part.united[k] : part.cells[k].offsets;
          auto& all = part.offsets[k];
          for (std::size_t b = 1; b < own.size(); ++b)
            all.push_back(static_cast<index_type>(begin(k, s)) + own[b]);
        }
        system.last_box = static_cast<index_type>(part.offsets[0].size() - 1);
      }

      /// Appends the lists of a system.
      void list(executor& on, std::size_t s, cell_part& part)
      {
        auto const& system = data_.tables.systems[s];
        image_numbers<Dim> const images = numbers_of(system.grid);
        find_rows(on, system.grid, n_sets_ == 2 ? part.keys : part.cells[0].keys, part.rows);
        auto const boxes_of = [&](std::size_t set)
        {
          return boxes{std::span<index_type const>(part.offsets[set])
                           .subspan(system.first_box, system.last_box - system.first_box + 1)};
        };
        list_in_parts(
            on,
            // by default a range per row within reach, and two in the box's own row
            {boxes_of(0), boxes_of(n_sets_ - 1), n_sets_ == 1, "cell_list",
             "fewer cells_per_cutoff", Dim == 3 ? 10u : 4u},
            [&](index_type first, index_type last, list_writer& to)
            {
              if (notes_own_at_) to.note_own_at();
              list_cells(system.grid, images, part.rows, first, last, to);
            },
            part.lists, &part.list_pieces);
      }

      void join_parts()
      {
        std::size_t const n_parts = first_.size() - 1;
        std::vector<list_pair> pieces(n_parts), kept;
        std::vector<std::size_t> first_box(n_parts + 1, 0);
        for (std::size_t p = 0; p < n_parts; ++p)
        {
          pieces[p] = std::move(data_.parts[p].lists);
          first_box[p + 1] = first_box[p] + data_.parts[p].offsets[0].size() - 1;
        }
        clear(data_.lists);
        join(on_, pieces, "cell_list", "fewer cells_per_cutoff", data_.lists, &kept);
        for (std::size_t k = 0; k < n_sets_; ++k)
        {
          renew(data_.offsets[k], first_box.back() + 1);
          data_.offsets[k].back() = static_cast<index_type>(points_[k].size());
        }
        on_.run(static_cast<int>(n_parts),
                [&](int at)
                {
                  auto const p = static_cast<std::size_t>(at);
                  cell_part& part = data_.parts[p];
                  part.lists = std::move(kept[p]);
                  for (std::size_t k = 0; k < n_sets_; ++k)
                    // the last one is the first of the next part
                    std::copy(part.offsets[k].begin(), part.offsets[k].end() - 1,
                              data_.offsets[k].data() + first_box[p]);
                  for (std::size_t s = first_[p]; s < first_[p + 1]; ++s)
                  {
                    data_.tables.systems[s].first_box += static_cast<index_type>(first_box[p]);
                    data_.tables.systems[s].last_box += static_cast<index_type>(first_box[p]);
                  }
                });
      }

      void make_empty()
      {
        data_.sorted = {};
        data_.moves = {};
        data_.built_x = {};
        data_.offsets = {};
        data_.lists = {};
        data_.half_of_boxes = {};
        data_.leaf_systems.clear();
        data_.tables.counters = {};
        data_.parts = {};
        for (auto& system : data_.tables.systems) system.first_box = system.last_box = 0;
      }

      executor& on_;
      kept_systems<Dim> given_;
      two_sets<strided<T const, Dim>> points_;
      std::size_t n_sets_;
      cell_list_options<T, Dim> const& options_;
      cell_list_data<T, Dim>& data_;
      std::vector<index_type> first_; ///< system of each part
      bool notes_own_at_ = false;     ///< points of some system meet a cell in several images
    };
  }

  template <class T, int Dim>
  void build_cells(executor& on, kept_systems<Dim>&& given, strided<T const, Dim> const& targets,
                   strided<T const, Dim> const* sources, cell_list_options<T, Dim> const& options,
                   cell_list_data<T, Dim>& data)
  {
    require_columns(targets, sources ? "queries" : "points");
    if (sources) require_columns(*sources, "points");
    cell_builder<T, Dim>(on, std::move(given), {targets, sources ? *sources : targets}, !sources,
                         options, data)
        .run();
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void build_cells(executor&, kept_systems<Dim>&&, strided<T const, Dim> const&,          \
                            strided<T const, Dim> const*, cell_list_options<T, Dim> const&,        \
                            cell_list_data<T, Dim>&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template kept_systems<Dim> one_system(double, cell<Dim> const&);                                 \
  template kept_systems<Dim> kept(systems<Dim> const&, bool);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
