#include "search_result.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/io/npy.hpp>

#include <algorithm>
#include <span>

namespace nearfield::app
{
  namespace
  {
    using nearfield::detail::append_number;

    enum class list_format
    {
      csv,
      npy
    };

    list_format format_of(std::filesystem::path const& path)
    {
      auto const extension = extension_of(path);
      if (extension == ".csv") return list_format::csv;
      if (extension == ".npy") return list_format::npy;
      throw error("--output: " + path.string() + ": found extension '" + extension +
                  "', expected .csv .npy");
    }

    // A buffer for the bytes of a file.
    class block
    {
    public:
      explicit block(byte_sink const& put) : put_(put) { bytes_.reserve(size + reserve); }

      std::string& bytes()
      {
        if (bytes_.size() >= size) flush();
        return bytes_;
      }
      void flush()
      {
        put_(bytes_);
        bytes_.clear();
      }

    private:
      static constexpr std::size_t size = 1 << 20, reserve = 1 << 10;
      byte_sink const& put_;
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
    void write_csv(byte_sink const& put, List const& list)
    {
      block out(put);
      auto const write_two = [&](std::uint64_t first, std::uint64_t second)
      {
        std::string& bytes = out.bytes();
        append_number(bytes, first);
        bytes += ',';
        append_number(bytes, second);
      };
      bool const has_rows = list.kind == list_kind::count || list.kind == list_kind::table;
      std::size_t const width = list.whole.table_width.value_or(0);
      if (list.has_header)
      {
        out.bytes() += has_rows ? "i,count" : "i,j";
        for (std::size_t k = 0; k < width; ++k) append_number(out.bytes() += ",j", k);
        out.bytes() += '\n';
      }
      if (!has_rows)
        list.each_pair(
            [&](std::uint64_t i, std::uint64_t j)
            {
              write_two(i, j);
              out.bytes() += '\n';
            });
      else
        list.each_row(
            [&](std::uint64_t i, std::uint64_t count, auto const& row)
            {
              write_two(i, count);
              for (auto const j : row) append_number(out.bytes() += ',', j);
              for (std::size_t k = row.size(); k < width; ++k) out.bytes() += ',';
              out.bytes() += '\n';
            });
      out.flush();
    }

    template <class List>
    void write_npy(byte_sink const& put, List const& list)
    {
      block out(put);
      auto const write = [&](std::uint64_t value)
      {
        append_npy(out.bytes(), static_cast<std::int64_t>(value));
      };
      bool const is_table = list.kind == list_kind::table,
                 has_rows = is_table || list.kind == list_kind::count;
      std::uint64_t const width = list.whole.table_width.value_or(0);
      if (list.has_header)
        out.bytes() += !has_rows  ? format_npy_header({list.whole.pairs, 2})
                       : is_table ? format_npy_header({list.whole.points, 1 + width})
                                  : format_npy_header({list.whole.points});
      if (!has_rows)
        list.each_pair(
            [&](std::uint64_t i, std::uint64_t j)
            {
              write(i);
              write(j);
            });
      else
        list.each_row(
            [&](std::uint64_t, std::uint64_t count, auto const& row)
            {
              write(count);
              for (auto const j : row) write(j);
              for (std::size_t k = row.size(); k < width; ++k) append_npy(out.bytes(), -1);
            });
      out.flush();
    }

    template <class List>
    void write(byte_sink const& put, std::filesystem::path const& path, List const& list)
    {
      if (format_of(path) == list_format::csv)
        write_csv(put, list);
      else
        write_npy(put, list);
    }
  }

  std::uint64_t stored(list_kind kind, std::uint64_t count, std::optional<index_type> width)
  {
    if (kind == list_kind::count) return 0;
    return kind == list_kind::table ? std::min<std::uint64_t>(count, *width) : count;
  }

  void check_list_format(std::filesystem::path const& path)
  {
    static_cast<void>(format_of(path));
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
