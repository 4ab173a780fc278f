#include "cell_interactions.hpp"

#include "images.hpp"
#include "instantiate.hpp"

#include <algorithm>

namespace nearfield::detail
{
  namespace
  {
    /// A row of boxes as seen from a row of targets, which meet the boxes with column + image * cells within
    /// reach. The section [low, high) moves along with the column of the target box.
    struct met_row
    {
      index_type row;
      std::uint16_t shift;
      int image; // along the last axis
      index_type low, high, end;
    };

    template <int Dim>
    struct neighbour_row
    {
      std::uint64_t key;
      int image;
    };

    /// The rows within reach of a row, by ascending key. `longer` is scratch.
    template <class T, int Dim>
    void find_keys(cell_grid<T, Dim> const& grid, std::uint64_t row,
                   std::vector<neighbour_row<Dim>>& found, std::vector<neighbour_row<Dim>>& longer)
    {
      found.assign(1, {0, 0});
      std::array<std::int64_t, Dim> at{};
      for (int a = Dim - 2; a >= 0; --a)
      {
        at[a] = static_cast<std::int64_t>(row % grid.cells[a]);
        row /= grid.cells[a];
      }
      bool ascends = true; // unless the row wraps round
      for (int a = 0; a < Dim - 1; ++a)
      {
        longer.clear();
        std::int64_t const n = grid.cells[a];
        for (auto const& prefix : found)
          for (int d = -grid.reach[a]; d <= grid.reach[a]; ++d)
          {
            std::int64_t index = at[a] + d;
            int const image = index < 0 ? -1 : index >= n ? 1 : 0;
            if (image != 0 && grid.axes[a] != grid_axis::periodic) continue;
            index -= image * n;
            ascends &= image == 0;
            longer.push_back(
                {prefix.key * static_cast<std::uint64_t>(n) + static_cast<std::uint64_t>(index),
                 prefix.image + image * image_step(a)});
          }
        found.swap(longer);
      }
      if (!ascends) std::ranges::sort(found, {}, &neighbour_row<Dim>::key);
    }

    /// Finds rows by key; fast if each is a little after the one before.
    class row_finder
    {
    public:
      explicit row_finder(std::span<cell_row const> rows) : rows_(rows) {}

      /// the position of the first row with this key or a larger one
      index_type operator()(std::uint64_t key, index_type hint) const
      {
        std::size_t low = hint, step = 1;
        if (low > 0 && rows_[low - 1].key >= key) low = 0;
        std::size_t high = low;
        while (high < rows_.size() && rows_[high].key < key)
        {
          low = high + 1;
          high += step;
          step *= 2;
        }
        high = std::min(high, rows_.size());
        auto const from = rows_.begin() + static_cast<std::ptrdiff_t>(low);
        auto const to = rows_.begin() + static_cast<std::ptrdiff_t>(high);
        return static_cast<index_type>(std::lower_bound(from, to, key,
                                                        [](cell_row const& row, std::uint64_t k)
                                                        { return row.key < k; }) -
                                       rows_.begin());
      }

    private:
      std::span<cell_row const> rows_;
    };
  }

  template <class T, int Dim>
  void find_rows(cell_grid<T, Dim> const& grid, std::span<std::uint64_t const> keys,
                 cell_rows& found)
  {
    std::uint64_t const line = grid.cells[Dim - 1];
    found.rows.clear();
    found.columns.resize(keys.size());
    for (std::size_t b = 0; b < keys.size(); ++b)
    {
      // Most boxes lie in the row of the box before, and a division takes long.
      if (b == 0 || keys[b] - found.rows.back().key * line >= line)
        found.rows.push_back({keys[b] / line, static_cast<index_type>(b)});
      found.columns[b] = static_cast<std::uint32_t>(keys[b] - found.rows.back().key * line);
    }
  }

  template <class T, int Dim>
  void list_cells(cell_grid<T, Dim> const& grid, cell_rows const& boxes_of, index_type first,
                  index_type last, list_writer& lists)
  {
    index_type const n = lists.n_boxes();
    std::int64_t const columns = grid.cells[Dim - 1];
    std::int64_t const reach = grid.reach[Dim - 1];
    bool const wraps = grid.axes[Dim - 1] == grid_axis::periodic;
    std::span<cell_row const> const rows = boxes_of.rows;
    row_finder const find(rows);
    auto const end_of = [&](std::size_t r)
    {
      return r + 1 < rows.size() ? rows[r + 1].first_box : n;
    };

    auto const first_column = [&](index_type from, index_type to, std::int64_t column)
    {
      auto const in_row = std::span(boxes_of.columns).subspan(from, to - from);
      auto const column_of = [](std::uint32_t c)
      {
        return std::int64_t(c);
      };
      return from + static_cast<index_type>(
                        std::ranges::lower_bound(in_row, column, {}, column_of) - in_row.begin());
    };

    std::vector<neighbour_row<Dim>> wanted, longer;
    std::vector<index_type> hints;
    std::vector<met_row> met;
    auto const beyond = std::ranges::upper_bound(rows, first, {}, &cell_row::first_box);
    std::size_t r =
        first < last ? static_cast<std::size_t>(beyond - rows.begin()) - 1 : rows.size();
    for (; r < rows.size() && rows[r].first_box < last; ++r)
    {
      index_type const begin = std::max(first, rows[r].first_box), end = std::min(last, end_of(r));
      find_keys(grid, rows[r].key, wanted, longer);
      hints.resize(std::max(hints.size(), wanted.size()), 0);
      met.clear();
      for (std::size_t w = 0; w < wanted.size(); ++w)
      {
        index_type const q = hints[w] = find(wanted[w].key, hints[w]);
        if (q == rows.size() || rows[q].key != wanted[w].key) continue;
        // positions ascend: the image after the last column consists of the first columns
        for (int image = wraps ? 1 : 0; image >= (wraps ? -1 : 0); --image)
        {
          index_type low = rows[q].first_box;
          if (begin > rows[r].first_box) // in the middle of a long row
            low = first_column(low, end_of(q), boxes_of.columns[begin] - reach - image * columns);
          met.push_back({q, shift_of(wanted[w].image + image * image_step(Dim - 1)), image, low,
                         low, end_of(q)});
        }
      }
      for (index_type b = begin; b < end; ++b)
      {
        std::int64_t const column = boxes_of.columns[b];
        for (met_row& row : met)
        {
          std::int64_t const from = column - reach - row.image * columns;
          std::int64_t const to = column + reach - row.image * columns;
          while (row.low < row.end && boxes_of.columns[row.low] < from) ++row.low;
          if (row.high < row.low) row.high = row.low;
          while (row.high < row.end && boxes_of.columns[row.high] <= to) ++row.high;
          if (!lists.has_targets(b)) continue;
          if (row.row == r && row.low <= b && b < row.high && row.image == 0)
          {
            lists.add(row.low, b, row.shift);
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
  template void find_rows(cell_grid<T, Dim> const&, std::span<std::uint64_t const>, cell_rows&);   \
  template void list_cells(cell_grid<T, Dim> const&, cell_rows const&, index_type, index_type,     \
                           list_writer&);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
