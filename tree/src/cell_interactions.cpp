#include "cell_interactions.hpp"

#include "images.hpp"
#include "instantiate.hpp"

#include <algorithm>

namespace nearfield::detail
{
  namespace
  {
    /// A row of boxes as seen from a row of targets, which meet the boxes with column + offset within reach. The section
    /// [low, high) moves along with the column of the target box.
    struct met_row
    {
      index_type row;
      std::uint16_t shift;
      std::int64_t offset; // 0 unless the row is an image along the last axis
      index_type low, high, end;
    };

    struct neighbour_row
    {
      std::uint64_t key;
      int image;
    };

    /// A vector in an array of the most values that it can have.
    template <class T, std::size_t Most>
    struct bounded_vector
    {
      std::array<T, Most> values;
      std::size_t size = 0;

      T& operator[](std::size_t i) { return values[i]; }
      void push_back(T const& value) { values[size++] = value; }
      [[nodiscard]] T* begin() { return values.data(); }
      [[nodiscard]] T* end() { return values.data() + size; }
    };

    /// The most rows within reach of a row.
    template <int Dim>
    inline constexpr std::size_t most_rows = (2 * max_cells_per_cutoff + 1) *
                                             (Dim == 3 ? 2 * max_cells_per_cutoff + 1 : 1);

    /// The rows within reach of a row, by ascending key.
    template <class T, int Dim>
    void find_keys(cell_grid<T, Dim> const& grid, std::uint64_t row,
                   bounded_vector<neighbour_row, most_rows<Dim>>& found)
    {
      std::array<std::int64_t, Dim> at{};
      for (int a = Dim - 2; a >= 0; --a)
      {
        at[a] = static_cast<std::int64_t>(row % grid.cells[a]);
        row /= grid.cells[a];
      }
      found.size = 0;
      found.push_back({0, 0});
      for (int a = 0; a < Dim - 1; ++a)
      {
        std::int64_t const n = grid.cells[a], reach = grid.reach[a];
        int const wraps = grid.axes[a] == grid_axis::periodic ? 1 : 0;
        std::int64_t const first = wraps ? at[a] - reach : std::max(at[a] - reach, std::int64_t(0));
        std::int64_t const last = wraps ? at[a] + reach : std::min(at[a] + reach, n - 1);
        // Each row makes way for longer ones, from the last on.
        std::size_t from = found.size;
        std::size_t to = found.size *= static_cast<std::size_t>(last - first + 1);
        while (from-- > 0)
        {
          neighbour_row const prefix = found[from];
          for (int image = -wraps; image <= wraps; ++image)
            for (std::int64_t i = std::min(last, (image + 1) * n - 1);
                 i >= std::max(first, image * n); --i)
              found[--to] = {prefix.key * static_cast<std::uint64_t>(n) +
                                 static_cast<std::uint64_t>(i - image * n),
                             prefix.image + image * image_step(a)};
        }
      }
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
    found.rows.reserve(std::min<std::uint64_t>(keys.size(), grid.size() / line));
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
    std::span<std::uint32_t const> const column_of = boxes_of.columns;
    row_finder const find(rows);
    auto const end_of = [&](std::size_t r)
    {
      return r + 1 < rows.size() ? rows[r + 1].first_box : n;
    };

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

    bounded_vector<neighbour_row, most_rows<Dim>> wanted;
    bounded_vector<met_row, 3 * most_rows<Dim>> met;
    std::array<index_type, most_rows<Dim>> hints{};
    auto const beyond = std::ranges::upper_bound(rows, first, {}, &cell_row::first_box);
    std::size_t r =
        first < last ? static_cast<std::size_t>(beyond - rows.begin()) - 1 : rows.size();
    for (; r < rows.size() && rows[r].first_box < last; ++r)
    {
      index_type const begin = std::max(first, rows[r].first_box), end = std::min(last, end_of(r));
      find_keys(grid, rows[r].key, wanted);
      met.size = 0;
      // what the boxes of the row reach
      std::int64_t const lowest = column_of[begin] - reach, highest = column_of[end - 1] + reach;
      int const from_image = wraps && lowest < 0 ? -1 : 0;
      int const to_image = wraps && highest >= columns ? 1 : 0;
      for (std::size_t w = 0; w < wanted.size; ++w)
      {
        index_type const q = hints[w] = find(wanted[w].key, hints[w]);
        if (q == rows.size() || rows[q].key != wanted[w].key) continue;
        // positions ascend: the image after the last column consists of the first columns
        for (int image = to_image; image >= from_image; --image)
        {
          index_type low = rows[q].first_box;
          index_type const end_of_row = end_of(q);
          std::int64_t const offset = image * columns;
          if (column_of[low] + offset > highest || column_of[end_of_row - 1] + offset < lowest)
            continue;
          if (begin > rows[r].first_box) // in the middle of a long row
            low = first_column(low, end_of_row, lowest - offset);
          met.push_back({q, shift_of(wanted[w].image + image * image_step(Dim - 1)), offset, low,
                         low, end_of_row});
        }
      }
      for (index_type b = begin; b < end; ++b)
      {
        std::int64_t const column = column_of[b];
        for (met_row& row : met)
        {
          std::int64_t const from = column - reach - row.offset;
          std::int64_t const to = column + reach - row.offset;
          while (row.low < row.end && column_of[row.low] < from) ++row.low;
          if (row.high < row.low) row.high = row.low;
          while (row.high < row.end && column_of[row.high] <= to) ++row.high;
          if (!lists.has_targets(b)) continue;
          if (row.row == r && row.low <= b && b < row.high && row.offset == 0)
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
