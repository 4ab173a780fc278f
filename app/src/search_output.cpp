#include "search_result.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/io/points.hpp>

#include <algorithm>
#include <span>

namespace nearfield::app
{
  namespace
  {
    using nearfield::detail::append_number;

    // Otherwise NPY.
    bool is_csv(std::filesystem::path const& path)
    {
      auto const extension = extension_of(path);
      if (extension != ".csv" && extension != ".npy")
        throw error("--output: " + path.string() + ": found extension '" + extension +
                    "', expected .csv .npy");
      return extension == ".csv";
    }

    bool has_rows(list_kind kind)
    {
      return kind == list_kind::count || kind == list_kind::table;
    }

    // The lines of a list, which go to the file block by block.
    class list_lines
    {
    public:
      list_lines(byte_sink const& put, bool csv, bool starts_with_point)
          : put_(put), is_csv_(csv), starts_with_point_(starts_with_point)
      {
        bytes_.reserve(size + reserve);
      }

      void header(list_kind kind, search_result const& whole)
      {
        if (!is_csv_)
        {
          bytes_ += !has_rows(kind) ? format_npy_header({whole.pairs, 2})
                    : whole.table_width
                        ? format_npy_header({whole.points, *whole.table_width + 1ull})
                        : format_npy_header({whole.points});
          return;
        }
        bytes_ += has_rows(kind) ? "i,count" : "i,j";
        for (std::size_t k = 0; k < whole.table_width.value_or(0); ++k)
          append_number(bytes() += ",j", k);
        end();
      }
      void begin(std::uint64_t i)
      {
        if (is_csv_)
          append_number(bytes(), i);
        else if (starts_with_point_)
          value(i);
      }
      void value(std::uint64_t j)
      {
        if (is_csv_)
          append_number(bytes() += ',', j);
        else
          append_npy(bytes(), static_cast<std::int64_t>(j));
      }
      void nothing()
      {
        if (is_csv_)
          bytes() += ',';
        else
          append_npy(bytes(), -1);
      }
      void end()
      {
        if (is_csv_) bytes() += '\n';
      }
      void flush()
      {
        put_(bytes_);
        bytes_.clear();
      }

    private:
      std::string& bytes()
      {
        if (bytes_.size() >= size) flush();
        return bytes_;
      }

      static constexpr std::size_t size = 1 << 20, reserve = 1 << 10;
      byte_sink const& put_;
      bool is_csv_, starts_with_point_;
      std::string bytes_;
    };

    // The list of one process: pairs of half and full lists, f(i, j), rows of the others, f(i, count, neighbours).
    struct list_of_one
    {
      list_kind kind;
      search_result const& whole;
      static constexpr bool has_header = true;

      template <class F>
      void each_pair(F const& f) const
      {
        if (kind == list_kind::half)
          for (std::size_t p = 0; p < whole.i.size(); ++p) f(whole.i[p], whole.j[p]);
        else
          for (std::size_t i = 0; i < whole.points; ++i)
            for (std::uint64_t at = whole.offsets[i]; at < whole.offsets[i + 1]; ++at)
              f(i, whole.columns[at]);
      }
      template <class F>
      void each_row(F const& f) const
      {
        for (std::size_t i = 0; i < whole.points; ++i)
          if (kind == list_kind::count)
            f(i, whole.counts[i], std::span<index_type const>());
          else
            f(i, whole.table.counts[i], std::span<index_type const>(whole.table.row(i)));
      }
    };

    // The part that one of several ranks writes.
    struct list_of_rank
    {
      list_kind kind;
      search_result const& whole;
      list_rows const& mine = whole.rows;
      bool has_header = mine.is_first;

      template <class F>
      void each_pair(F const& f) const
      {
        each_row(
            [&](std::uint64_t i, std::uint64_t, std::span<std::uint64_t const> row)
            {
              for (std::uint64_t const j : row) f(i, j);
            });
      }
      template <class F>
      void each_row(F const& f) const
      {
        std::span<std::uint64_t const> rest = mine.neighbours;
        for (std::size_t i = 0; i < mine.counts.size(); ++i)
        {
          auto const row = rest.first(stored(kind, mine.counts[i], whole.table_width));
          f(mine.first + i, mine.counts[i], row);
          rest = rest.subspan(row.size());
        }
      }
    };

    template <class List>
    void write(byte_sink const& put, std::filesystem::path const& path, List const& list)
    {
      list_lines lines(put, is_csv(path), !has_rows(list.kind));
      if (list.has_header) lines.header(list.kind, list.whole);
      std::size_t const width = list.whole.table_width.value_or(0);
      if (has_rows(list.kind))
        list.each_row(
            [&](std::uint64_t i, std::uint64_t count, auto const& row)
            {
              lines.begin(i);
              lines.value(count);
              for (auto const j : row) lines.value(j);
              for (std::size_t k = row.size(); k < width; ++k) lines.nothing();
              lines.end();
            });
      else
        list.each_pair(
            [&](std::uint64_t i, std::uint64_t j)
            {
              lines.begin(i);
              lines.value(j);
              lines.end();
            });
      lines.flush();
    }
  }

  std::uint64_t stored(list_kind kind, std::uint64_t count, std::optional<index_type> width)
  {
    if (kind == list_kind::count) return 0;
    return kind == list_kind::table ? std::min<std::uint64_t>(count, *width) : count;
  }

  void check_list_format(std::filesystem::path const& path)
  {
    static_cast<void>(is_csv(path));
  }

  void write_list(byte_sink const& put, std::filesystem::path const& path, list_kind kind,
                  search_result const& result)
  {
    if (result.ranks > 1)
      write(put, path, list_of_rank{kind, result});
    else
      write(put, path, list_of_one{kind, result});
  }
}
