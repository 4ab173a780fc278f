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
      void pairs(std::uint64_t i, auto const& neighbours)
      {
        for (auto const j : neighbours)
        {
          begin(i);
          value(j);
          end();
        }
      }
      void row(std::uint64_t i, std::uint64_t count, auto const& neighbours, std::size_t width)
      {
        begin(i);
        value(count);
        for (auto const j : neighbours) value(j);
        for (std::size_t k = neighbours.size(); k < width; ++k) nothing();
        end();
      }
      void flush()
      {
        put_(bytes_);
        bytes_.clear();
      }

    private:
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

    // f(i, count, neighbours) for each row of the list of one process; of a half list for each pair.
    template <class F>
    void each_row_of_one(list_kind kind, search_result const& whole, F const& f)
    {
      using row = std::span<index_type const>;
      if (kind == list_kind::half)
        for (std::size_t p = 0; p < whole.i.size(); ++p) f(whole.i[p], 1, row(&whole.j[p], 1));
      else if (kind == list_kind::full)
        for (std::size_t i = 0; i < whole.points; ++i)
        {
          std::size_t const begin = whole.offsets[i], n = whole.offsets[i + 1] - begin;
          f(i, n, row(whole.columns).subspan(begin, n));
        }
      else if (kind == list_kind::count)
        for (std::size_t i = 0; i < whole.points; ++i) f(i, whole.counts[i], row());
      else
        for (std::size_t i = 0; i < whole.points; ++i)
          f(i, whole.table.counts[i], row(whole.table.row(i)));
    }

    // The same for the rows of one of several ranks.
    template <class F>
    void each_row_of_rank(list_kind kind, search_result const& whole, F const& f)
    {
      auto const& [is_first, first, counts, neighbours] = whole.rows;
      std::span<std::uint64_t const> rest = neighbours;
      for (std::size_t i = 0; i < counts.size(); ++i)
      {
        auto const row = rest.first(stored(kind, counts[i], whole.table_width));
        f(first + i, counts[i], row);
        rest = rest.subspan(row.size());
      }
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
    list_lines lines(put, is_csv(path), !has_rows(kind));
    if (result.ranks == 1 || result.rows.is_first) lines.header(kind, result);
    auto const write = [&](std::uint64_t i, std::uint64_t count, auto const& neighbours)
    {
      if (has_rows(kind))
        lines.row(i, count, neighbours, result.table_width.value_or(0));
      else
        lines.pairs(i, neighbours);
    };
    if (result.ranks > 1)
      each_row_of_rank(kind, result, write);
    else
      each_row_of_one(kind, result, write);
    lines.flush();
  }
}
