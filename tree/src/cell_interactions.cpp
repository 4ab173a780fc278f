#include "cell_interactions.hpp"

#include "instantiate.hpp"

#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// A row of boxes as seen from a row of targets, which meet the boxes with column + offset within reach. The section
    /// [low, high) moves along with the column of the target box.
    struct met_row
    {
      bool is_own; // the row of the targets, or an image of it
      std::uint16_t shift;
      std::int64_t offset;      // 0 unless the row is an image along the last axis
      std::int64_t first, last; // columns of targets that it may reach: few, if it is an image
      index_type low, high, end;
    };

    struct neighbour_row
    {
      std::uint64_t key;
      int image; // in the sense of image_numbers::weight
    };

    /// How often n fits into a number, which may be negative.
    std::int64_t turns(std::int64_t i, std::int64_t n)
    {
      return i >= 0 ? i / n : -((n - 1 - i) / n);
    }

    /// Finds the rows within reach of a row.
    template <class T, int Dim>
    class rows_around
    {
    public:
      rows_around(cell_grid<T, Dim> const& grid, image_numbers<Dim> const& images)
          : grid_(grid), images_(images)
      {}

      /// By ascending key, unless cells are met in several images.
      std::span<neighbour_row const> operator()(std::uint64_t row)
      {
        found_.clear();
        auto const push = [&](neighbour_row const& r)
        {
          found_.push_back(r);
        };
        if constexpr (Dim == 2)
          for_each_cell(0, static_cast<std::int64_t>(row), push);
        else
        {
          std::uint64_t const n = grid_.cells[1], at = row / n;
          inner_.clear();
          for_each_cell(1, static_cast<std::int64_t>(row - at * n),
                        [&](neighbour_row const& r) { inner_.push_back(r); });
          for_each_cell(0, static_cast<std::int64_t>(at),
                        [&](neighbour_row const& outer)
                        {
                          for (neighbour_row const& r : inner_)
                            push({outer.key * n + r.key, outer.image + r.image});
                        });
        }
        return found_;
      }

    private:
      template <class Add>
      void for_each_cell(int a, std::int64_t at, Add const& add) const
      {
        std::int64_t const n = grid_.cells[a], low = at - grid_.reach[a],
                           high = at + grid_.reach[a];
        bool const wraps = grid_.wraps[a];
        // the image after the last cell consists of the first cells
        for (std::int64_t image = wraps ? turns(high, n) : 0; image >= (wraps ? turns(low, n) : 0);
             --image)
        {
          std::int64_t const first = std::max(low - image * n, std::int64_t(0));
          std::int64_t const last = std::min(high - image * n, n - 1);
          for (std::int64_t i = first; i <= last; ++i)
            add(neighbour_row{static_cast<std::uint64_t>(i),
                              static_cast<int>(image) * images_.weight[a]});
        }
      }

      cell_grid<T, Dim> const& grid_;
      image_numbers<Dim> const& images_;
      std::vector<neighbour_row> found_, inner_;
    };

    /// The position of the first row with this key or a larger one, which the last of the rows has; fast if it is a
    /// little after the hint.
    index_type find_row(std::span<cell_row const> rows, std::uint64_t key, index_type hint)
    {
      std::size_t low = hint, step = 1;
      if (low > 0 && rows[low - 1].key >= key) low = 0;
      std::size_t high = low;
      while (rows[high].key < key)
      {
        low = high + 1;
        high = std::min(high + step, rows.size() - 1);
        step *= 2;
      }
      return static_cast<index_type>(
          std::ranges::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(low),
                                   rows.begin() + static_cast<std::ptrdiff_t>(high), key, {},
                                   &cell_row::key) -
          rows.begin());
    }

    // With so few boxes, testing every pair takes less time than finding rows.
    inline constexpr index_type few_boxes = 16;

    /// list_cells() for at most few_boxes boxes.
    template <class T, int Dim>
    void list_few_cells(cell_grid<T, Dim> const& grid, image_numbers<Dim> const& images,
                        cell_rows const& boxes_of, index_type first, index_type last,
                        list_writer& lists)
    {
      std::array<std::array<int, Dim>, few_boxes> at;
      for (std::size_t r = 0; r + 1 < boxes_of.rows.size(); ++r)
        for (index_type b = boxes_of.rows[r].first_box; b < boxes_of.rows[r + 1].first_box; ++b)
        {
          std::uint64_t key = boxes_of.rows[r].key;
          at[b][Dim - 1] = static_cast<int>(boxes_of.columns[b]);
          for (int a = Dim - 2; a > 0; key /= grid.cells[a--])
            at[b][a] = static_cast<int>(key % grid.cells[a]);
          at[b][0] = static_cast<int>(key);
        }
      std::array<int, Dim> period{}; // in cells
      for (int a = 0; a < Dim; ++a)
        if (grid.wraps[a]) period[a] = static_cast<int>(grid.cells[a]);

      auto const is_far = static_cast<std::uint16_t>(images.n); // no shift has this number
      std::array<std::array<std::uint16_t, few_boxes>, few_boxes> shifts;
      index_type const n = lists.n_boxes();
      for (index_type b = 0; b < n; ++b)
      {
        shifts[b][b] = is_far; // the own range is not in the list
        for (index_type c = b + 1; c < n; ++c)
        {
          int image = 0;
          bool meet = true;
          for (int a = 0; a < Dim; ++a)
          {
            int const d = at[c][a] - at[b][a], reach = grid.reach[a];
            int const turn = (d < -reach) - (d > reach);
            image += turn * images.weight[a];
            meet &= std::abs(d + turn * period[a]) <= reach;
          }
          shifts[b][c] = meet ? images.shift_of(image) : is_far;
          shifts[c][b] = meet ? images.shift_of(-image) : is_far;
        }
      }
      for (index_type b = first; b < last; ++b)
      {
        for (index_type c = 0; c < n && lists.has_targets(b); ++c)
          if (shifts[b][c] != is_far) lists.add(c, c + 1, shifts[b][c]);
        lists.close(b);
      }
    }
  }

  template <class T, int Dim>
  void find_rows(executor& on, cell_grid<T, Dim> const& grid, std::span<std::uint64_t const> keys,
                 cell_rows& found)
  {
    std::uint64_t const line = grid.cells[Dim - 1];
    loop_parts const loop = cut(on, keys.size(), std::size_t(1) << 11);
    std::vector<std::vector<cell_row>> later(loop.parts - 1); // the rows of the parts but the first
    found.rows.clear();
    found.columns.resize(keys.size());
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    std::vector<cell_row> own =
                        part == 0 ? std::move(found.rows) : std::vector<cell_row>();
                    if (begin == end) return;
                    std::uint64_t row = keys[begin] / line;
                    if (begin == 0 || keys[begin - 1] / line != row)
                      own.push_back({row, static_cast<index_type>(begin)});
                    for (std::size_t b = begin; b < end; ++b)
                    {
                      // Most boxes lie in the row of the box before, and a division takes long.
                      if (keys[b] - row * line >= line)
                        own.push_back({row = keys[b] / line, static_cast<index_type>(b)});
                      found.columns[b] = static_cast<std::uint32_t>(keys[b] - row * line);
                    }
                    (part == 0 ? found.rows : later[part - 1]) = std::move(own);
                  });
    for (auto const& rows : later) found.rows.insert(found.rows.end(), rows.begin(), rows.end());
    found.rows.push_back({~std::uint64_t(0), static_cast<index_type>(keys.size())});
  }

  template <class T, int Dim>
  void list_cells(cell_grid<T, Dim> const& grid, image_numbers<Dim> const& images,
                  cell_rows const& boxes_of, index_type first, index_type last, list_writer& lists)
  {
    bool const has_own_images = grid.meets_several_images();
    if (has_own_images) lists.expect_own_images();
    if (lists.n_boxes() <= few_boxes && !has_own_images)
      return list_few_cells(grid, images, boxes_of, first, last, lists);
    std::int64_t const columns = grid.cells[Dim - 1];
    std::int64_t const reach = grid.reach[Dim - 1];
    bool const wraps = grid.wraps[Dim - 1];
    std::span<cell_row const> const rows = boxes_of.rows;
    std::span<std::uint32_t const> const column_of = boxes_of.columns;

    auto const first_column = [&](index_type from, index_type to, std::int64_t column)
    {
      auto const in_row = column_of.subspan(from, to - from);
      auto const as_signed = [](std::uint32_t c)
      {
        return std::int64_t(c);
      };
      return from + static_cast<index_type>(
                        std::ranges::lower_bound(in_row, column, {}, as_signed) - in_row.begin());
    };

    rows_around<T, Dim> around(grid, images);
    std::vector<met_row> met;
    std::vector<index_type> hints; // of each row around
    auto const beyond = std::ranges::upper_bound(rows, first, {}, &cell_row::first_box);
    for (auto r = static_cast<std::size_t>(beyond - rows.begin()) - 1;
         first < last && rows[r].first_box < last; ++r)
    {
      index_type const begin = std::max(first, rows[r].first_box),
                       end = std::min(last, rows[r + 1].first_box);
      auto const wanted = around(rows[r].key);
      hints.resize(std::max(hints.size(), wanted.size()));
      met.clear();
      // what the boxes of the row reach
      std::int64_t const lowest = column_of[begin] - reach, highest = column_of[end - 1] + reach;
      std::int64_t const from_image = wraps ? turns(lowest, columns) : 0;
      std::int64_t const to_image = wraps ? turns(highest, columns) : 0;
      index_type q = 0;
      for (std::size_t w = 0; w < wanted.size(); ++w)
      {
        auto const [key, row_image] = wanted[w];
        if (w > 0 && key == wanted[w - 1].key + 1)
          q += rows[q].key < key ? 1 : 0; // it is the row of the key before, or that of this one
        else if (w == 0 || key != wanted[w - 1].key)
          q = hints[w] = find_row(rows, key, hints[w]);
        if (rows[q].key != key) continue;
        index_type const first_of_row = rows[q].first_box, end_of_row = rows[q + 1].first_box;
        std::int64_t const first_of_columns = column_of[first_of_row],
                           last_of_columns = column_of[end_of_row - 1];
        // positions ascend: the image after the last column consists of the first columns
        for (std::int64_t image = to_image; image >= from_image; --image)
        {
          std::int64_t const offset = image * columns;
          if (first_of_columns + offset > highest || last_of_columns + offset < lowest) continue;
          index_type const low = begin > rows[r].first_box // in the middle of a long row
                                     ? first_column(first_of_row, end_of_row, lowest - offset)
                                     : first_of_row;
          met.push_back(
              {q == r,
               images.shift_of(row_image + static_cast<int>(image) * images.weight[Dim - 1]),
               offset, first_of_columns + offset - reach, last_of_columns + offset + reach, low,
               low, end_of_row});
        }
      }
      for (index_type b = begin; b < end; ++b)
      {
        std::int64_t const column = column_of[b];
        if (lists.has_targets(b))
          for (met_row& row : met)
          {
            if (column < row.first || column > row.last) continue;
            std::int64_t const from = column - reach - row.offset;
            std::int64_t const to = column + reach - row.offset;
            while (row.low < row.end && column_of[row.low] < from) ++row.low;
            if (row.high < row.low) row.high = row.low;
            while (row.high < row.end && column_of[row.high] <= to) ++row.high;
            if (row.is_own && row.low <= b && b < row.high)
            {
              lists.add(row.low, b, row.shift);
              if (has_own_images) lists.add_own(b, row.shift);
              lists.add(b + 1, row.high, row.shift);
            }
            else
              lists.add(row.low, row.high, row.shift);
          }
        lists.close(b);
      }
    }
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template void find_rows(executor&, cell_grid<T, Dim> const&, std::span<std::uint64_t const>,     \
                          cell_rows&);                                                             \
  template void list_cells(cell_grid<T, Dim> const&, image_numbers<Dim> const&, cell_rows const&,  \
                           index_type, index_type, list_writer&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
