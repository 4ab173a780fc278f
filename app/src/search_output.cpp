#include "search_result.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/io/npy.hpp>

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
      std::string extension = path.extension().string();
      for (char& c : extension)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      if (extension == ".csv") return list_format::csv;
      if (extension == ".npy") return list_format::npy;
      throw error("--output: " + path.string() + ": found extension '" + extension +
                  "', expected .csv .npy");
    }

    // A buffer for the bytes of a file.
    class block
    {
    public:
      explicit block(atomic_file& file) : file_(file) { bytes_.reserve(size + reserve); }

      std::string& bytes()
      {
        if (bytes_.size() >= size) flush();
        return bytes_;
      }
      void flush()
      {
        file_.write(bytes_);
        bytes_.clear();
      }

    private:
      static constexpr std::size_t size = 1 << 20, reserve = 1 << 10;
      atomic_file& file_;
      std::string bytes_;
    };

    // Calls f(i, j) for every pair of a half or full list.
    template <class F>
    void for_each_pair(list_kind kind, search_result const& result, F const& f)
    {
      if (kind == list_kind::half)
        for (std::size_t p = 0; p < result.i.size(); ++p) f(result.i[p], result.j[p]);
      else
        for (std::size_t i = 0; i < result.points; ++i)
          for (std::uint64_t at = result.offsets[i]; at < result.offsets[i + 1]; ++at)
            f(i, result.columns[at]);
    }

    void write_csv(atomic_file& file, list_kind kind, search_result const& result)
    {
      block out(file);
      auto const write_two = [&](std::uint64_t first, std::uint64_t second)
      {
        std::string& bytes = out.bytes();
        append_number(bytes, first);
        bytes += ',';
        append_number(bytes, second);
      };
      std::size_t const n = result.points, width = result.table_width.value_or(0);
      switch (kind)
      {
      case list_kind::half:
      case list_kind::full:
        out.bytes() += "i,j\n";
        for_each_pair(kind, result,
                      [&](std::uint64_t i, std::uint64_t j)
                      {
                        write_two(i, j);
                        out.bytes() += '\n';
                      });
        break;
      case list_kind::count:
        out.bytes() += "i,count\n";
        for (std::size_t i = 0; i < n; ++i)
        {
          write_two(i, result.counts[i]);
          out.bytes() += '\n';
        }
        break;
      case list_kind::table:
        out.bytes() += "i,count";
        for (std::size_t k = 0; k < width; ++k) append_number(out.bytes() += ",j", k);
        out.bytes() += '\n';
        for (std::size_t i = 0; i < n; ++i)
        {
          write_two(i, result.table.counts[i]);
          auto const row = result.table.row(i);
          for (index_type const j : row) append_number(out.bytes() += ',', j);
          for (std::size_t k = row.size(); k < width; ++k) out.bytes() += ',';
          out.bytes() += '\n';
        }
        break;
      }
      out.flush();
    }

    void write_npy(atomic_file& file, list_kind kind, search_result const& result)
    {
      block out(file);
      std::size_t const n = result.points, width = result.table_width.value_or(0);
      auto const put = [&](std::int64_t value)
      {
        append_npy(out.bytes(), value);
      };
      switch (kind)
      {
      case list_kind::half:
      case list_kind::full:
        out.bytes() += format_npy_header({result.pairs, 2});
        for_each_pair(kind, result,
                      [&](std::uint64_t i, std::uint64_t j)
                      {
                        put(static_cast<std::int64_t>(i));
                        put(static_cast<std::int64_t>(j));
                      });
        break;
      case list_kind::count:
        out.bytes() += format_npy_header({n});
        for (index_type const count : result.counts) put(count);
        break;
      case list_kind::table:
        out.bytes() += format_npy_header({n, 1 + width});
        for (std::size_t i = 0; i < n; ++i)
        {
          put(result.table.counts[i]);
          auto const row = result.table.row(i);
          for (index_type const j : row) put(j);
          for (std::size_t k = row.size(); k < width; ++k) put(-1);
        }
        break;
      }
      out.flush();
    }
  }

  void check_list_format(std::filesystem::path const& path)
  {
    static_cast<void>(format_of(path));
  }

  void write_list(atomic_file& file, std::filesystem::path const& path, list_kind kind,
                  search_result const& result)
  {
    if (format_of(path) == list_format::csv)
      write_csv(file, kind, result);
    else
      write_npy(file, kind, result);
  }
}
