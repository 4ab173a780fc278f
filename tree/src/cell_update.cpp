#include "cell_update.hpp"

#include "instantiate.hpp"
#include "skin.hpp"
#include "systems.hpp"

#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

namespace nearfield::detail
{
  namespace
  {
    template <std::size_t Dim>
    double square(std::array<double, Dim> const& x)
    {
      double sum = 0;
      for (double const of_axis : x) sum += of_axis * of_axis;
      return sum;
    }
  }

  template <class T, int Dim>
  cell_update<T, Dim>::cell_update(executor& on, cell_list_data<T, Dim> const& data,
                                   cell_list_options<T, Dim> const& options,
                                   two_sets<set_type> const& points, bool one_set,
                                   std::span<cell<Dim> const> cells)
      : on_(on), data_(data), points_(points), n_sets_(one_set ? 1 : 2),
        cells_(cells.empty() ? std::span(data.given.cells) : cells)
  {
    auto const& systems = data.tables.systems;
    check_boxes("cell_list", cells.size(), systems.size());
    fits_ = options.skin > 0 && data.one_set == one_set &&
            (cells_.size() == 1 || cells_.size() == systems.size());
    for (std::size_t k = 0; k < n_sets_; ++k)
    {
      require_columns(points[k], one_set || k == 1 ? "points" : "queries");
      fits_ &= points[k].size() == data.sorted[k].n;
    }
    if (!fits_) return;
    most_squared_.resize(systems.size());
    std::atomic<bool> fit = true;
    for_each_part(on_, cut(on_, systems.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t s = begin; s < end; ++s)
                    {
                      auto const& grid = systems[s].grid;
                      most_squared_[s] =
                          most_move_squared(grid, frame_of(s), reach_beyond(options));
                      if (cells_[cells_.size() > 1 ? s : 0].periodic != grid.frame.periodic ||
                          !(most_squared_[s] >= 0))
                        fit = false;
                    }
                  });
    fits_ = fit;
  }

  /// That of the last build, with the vectors of now.
  template <class T, int Dim>
  cell_frame<Dim> cell_update<T, Dim>::frame_of(std::size_t s) const
  {
    return with_vectors_of(data_.tables.systems[s].grid.frame, cells_[cells_.size() > 1 ? s : 0]);
  }

  template <class T, int Dim>
  bool cell_update<T, Dim>::move_points(target* to) const
  {
    std::atomic<bool> fits = true;
    for (std::size_t k = 0; k < n_sets_; ++k)
    {
      auto const& offsets = data_.given.offsets[k];
      for_each_part(on_, cut(on_, points_[k].size()),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      auto s = static_cast<std::size_t>(
                          std::upper_bound(offsets.begin(), offsets.end(), begin) -
                          offsets.begin() - 1);
                      for (; begin < end && fits; ++s)
                      {
                        std::size_t const last = std::min<std::size_t>(end, offsets[s + 1]);
                        if (!move_system(k, s, begin, last, to)) fits = false;
                        begin = last;
                      }
                    });
    }
    return fits;
  }

  /// The points of a system at positions [begin, end).
  template <class T, int Dim>
  bool cell_update<T, Dim>::move_system(std::size_t set, std::size_t s, std::size_t begin,
                                        std::size_t end, target* to) const
  {
    auto const frame = frame_of(s);
    double const most_squared = most_squared_[s];
    auto const points = points_[set];
    auto const& counters = data_.tables.counters[set];
    index_type const* const order = data_.sorted[set].order.data();
    auto const built = columns_in<Dim>(std::span<T const>(data_.built_x[set]), end);
    for (std::size_t p = begin; p < end; ++p)
    {
      index_type const i = order[p];
      auto const x = point_at(points, i);
      image_counters<Dim> image{};
      if (!counters.empty()) image = counters[i];
      std::array<T, Dim> at;
      std::array<double, Dim> move;
      auto const is_near = [&]
      {
        at = x;
        if (image != image_counters<Dim>())
        {
          auto const shift = frame.shift(image);
          for (int a = 0; a < Dim; ++a) at[a] = static_cast<T>(double(x[a]) - shift[a]);
        }
        for (int a = 0; a < Dim; ++a) move[a] = double(at[a]) - double(built[a][p]);
        return square(move) <= most_squared;
      };
      bool fits = is_near();
      for (int turn = 0; turn < most_turns && !fits; ++turn)
      {
        // wrapped by vectors, or too far
        auto const turns = turns_of<Dim>(move, frame);
        for (int a = 0; a < Dim; ++a)
        {
          double const sum = image[a] + turns[a];
          if (!(std::abs(sum) <= frame.max_image)) return false;
          image[a] = static_cast<std::int32_t>(sum);
        }
        fits = is_near();
        if (to) to->wraps = true;
      }
      if (!fits) return false;
      if (!to) continue;
      for (int a = 0; a < Dim; ++a) to->x[set][a][p] = at[a] + T(0); // 0 for -0
      if (to->counters[set]) to->counters[set][i] = image;
    }
    return true;
  }

  template <class T, int Dim>
  bool cell_update<T, Dim>::take(cell_list_data<T, Dim>& data)
  {
    if (!fits_) return false;
    target to;
    auto& systems = data.tables.systems;
    bool const any_periodic = is_any_periodic(systems);
    for (std::size_t k = 0; k < n_sets_; ++k)
    {
      std::size_t const n = points_[k].size();
      renew(data.moved[k], data.sorted[k].x.size());
      to.x[k] = columns_in<Dim>(std::span(data.moved[k]), n);
      renew(data.spare.counters[k], any_periodic ? n : 0);
      to.counters[k] = any_periodic ? data.spare.counters[k].data() : nullptr;
    }
    if (!move_points(&to)) return false;

    // what may run out of memory, before the first change
    bool const has_new_cells = cells_.data() != data.given.cells.data();
    std::vector<cell<Dim>> cells;
    if (has_new_cells) cells.assign(cells_.begin(), cells_.end());
    std::array<bool, 2> has_images{};
    for (std::size_t k = 0; k < n_sets_; ++k)
      has_images[k] = !data.tables.counters[k].empty() || to.wraps;
    for (std::size_t k = 0; k < n_sets_; ++k)
    {
      std::swap(data.sorted[k].x, data.moved[k]);
      data.sorted[k].pad();
      if (has_images[k]) std::swap(data.tables.counters[k], data.spare.counters[k]);
    }
    for (std::size_t s = 0; s < systems.size(); ++s)
    {
      auto const frame = frame_of(s);
      for (std::size_t k = 0; k < n_sets_; ++k)
      {
        std::size_t const begin = data.given.offsets[k][s], end = data.given.offsets[k][s + 1];
        if (!data.tables.counters[k].empty())
          write_moves<Dim>(on_, frame, data.tables.counters[k],
                           data.sorted[k].indices().subspan(begin, end - begin),
                           data.moves[k].data() + begin);
      }
      if (!has_new_cells || systems[s].images.empty()) continue;
      auto const first = systems[s].shifts.data() - data.tables.shifts.data();
      for (std::size_t m = 0; m < systems[s].images.size(); ++m)
        std::ranges::copy(frame.shift(systems[s].images[m]),
                          data.tables.shifts[static_cast<std::size_t>(first) + m].begin());
    }
    if (has_new_cells) data.given.cells.swap(cells);
    data.is_updated = true;
    return true;
  }

#define NEARFIELD_INSTANTIATE(T, Dim) template class cell_update<T, Dim>;
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
