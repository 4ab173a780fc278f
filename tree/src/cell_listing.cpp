#include "cell_builder.hpp"

#include "images.hpp"
#include "instantiate.hpp"

#include <nearfield/core/cell.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace nearfield::detail
{
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
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::sort_and_list()
  {
    auto& systems = data_.tables.systems;
    // steps of StarPU see the memory of the moves, which update() may need later
    bool const keeps_moves = options_.skin > 0 && is_any_periodic(systems);
    for (std::size_t k = 0; k < 2; ++k)
    {
      std::size_t const n = k < n_sets_ ? points_[k].size() : 0;
      data_.sorted[k].renew_for(n);
      bool const has_images = !data_.tables.counters[k].empty();
      data_.moves[k].resize(has_images || keeps_moves ? n : 0);
      if (!has_images) std::ranges::fill(data_.moves[k], std::array<double, 3>());
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
    {
      std::span<T const> const from = data_.sorted[k].x;
      renew(data_.built_x[k], from.size());
      for_each_part(
          on_, cut(on_, from.size()), [&](int, std::size_t first, std::size_t last)
          { std::copy_n(from.data() + first, last - first, data_.built_x[k].data() + first); });
    }
    data_.leaf_systems.clear();
    if (given_.is_batch)
      for (auto const& system : systems)
        data_.leaf_systems.push_back({system.first_box, system.last_box, system.shifts});
    if (data_.one_set && notes_own_at_)
      drop_opposite_images(data_.lists.half, systems, data_.half_of_boxes);
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::sort(executor& on, std::size_t s, cell_part& part)
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
        for_each_part(on, cut(on, order.size()),
                      [&](int, std::size_t first, std::size_t last)
                      {
                        for (index_type& i : order.subspan(first, last - first))
                        {
                          i += static_cast<index_type>(begin(k, s));
                          if (!given.empty()) i = given[i];
                        }
                      });
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

  template <class T, int Dim>
  void cell_builder<T, Dim>::list(executor& on, std::size_t s, cell_part& part)
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
        {boxes_of(0), boxes_of(n_sets_ - 1), n_sets_ == 1, "cell_list", "fewer cells_per_cutoff",
         Dim == 3 ? 10u : 4u},
        [&](index_type first, index_type last, list_writer& to)
        {
          if (notes_own_at_) to.note_own_at();
          list_cells(system.grid, images, part.rows, first, last, to);
        },
        part.lists, &part.list_pieces);
  }

  template <class T, int Dim>
  void cell_builder<T, Dim>::join_parts()
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

#define NEARFIELD_INSTANTIATE(T, Dim) template void cell_builder<T, Dim>::sort_and_list();
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
