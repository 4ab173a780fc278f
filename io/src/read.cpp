#include "fma.hpp"
#include "foreign.hpp"
#include "input_file.hpp"
#include "text.hpp"
#include "xyz.hpp"

#include <algorithm>
#include <new>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    std::string read_file(std::filesystem::path const& path)
    {
      input_file const file(path);
      auto content = file.whole();
      if (content.empty()) fail_at_byte(file.name(), 0, "an empty file", "points");
      return content;
    }

    // The points of the part, of those of a file that has been read whole.
    void keep_part(point_set& points, file_part const& part)
    {
      auto const begin = part_begin(points.size(), part.index, part.count);
      auto const end = part_begin(points.size(), part.index + 1, part.count);
      auto const keep = [&](std::vector<double>& column)
      {
        if (!column.empty())
          column = std::vector<double>(column.begin() + static_cast<std::ptrdiff_t>(begin),
                                       column.begin() + static_cast<std::ptrdiff_t>(end));
      };
      for (auto* group : {&points.positions, &points.velocities, &points.inputs, &points.outputs})
        for (auto& column : *group) keep(column);
      keep(points.masses);
    }

    using parser = point_set (*)(std::string_view, std::string const&, read_options const&,
                                 file_report*);

    // The extension must match the content, so that a misnamed file is not read as something else.
    point_set read_fma(std::string_view content, std::string const& name,
                       read_options const& options, file_report* report, bool binary)
    {
      if (binary && !is_binary_fma(content))
        fail_at_byte(name, 0, in_quotes(content.substr(0, 4)),
                     "sizeof_real = 4 or 8 in binary (.bfma; the name of a text ends in .fma)");
      if (!binary && is_binary_fma(content))
        fail_at_line(name, 1, "a binary file", "text (.fma; the name of a binary ends in .bfma)");
      return parse_fma(content, name, options, report);
    }

    constexpr char const* formats =
        ".fma .bfma .pqr .data .lmp .lammps (or a name data.*) .csv .tsv "
        ".txt .dat .xyz .npy";

    // `a.csv` of `a.csv.gz`
    std::filesystem::path without_gz(std::filesystem::path const& path)
    {
      return lower(path.extension().string()) == ".gz" ? path.parent_path() / path.stem() : path;
    }

    // Null for an unknown extension.
    parser parser_for(std::string const& extension)
    {
      auto const is_one_of = [&](auto... known)
      {
        return ((extension == known) || ...);
      };
      if (is_one_of(".fma"))
        return [](auto content, auto const& name, auto const& options, auto* report)
        {
          return read_fma(content, name, options, report, false);
        };
      if (is_one_of(".bfma"))
        return [](auto content, auto const& name, auto const& options, auto* report)
        {
          return read_fma(content, name, options, report, true);
        };
      if (is_one_of(".pqr")) return parse_pqr;
      if (is_one_of(".npy")) return parse_npy;
      if (is_one_of(".csv", ".tsv", ".txt", ".dat")) return parse_columns;
      if (is_one_of(".xyz"))
        return [](auto content, auto const& name, auto const& options, auto* report)
        {
          return (is_xyz(content) ? parse_xyz : parse_columns)(content, name, options, report);
        };
      if (is_one_of(".data", ".lmp", ".lammps")) return parse_lammps;
      return nullptr;
    }

    // The extension that stands for the format: .lmp for the names data.* too.
    std::string extension_of(std::filesystem::path const& path, std::string const& format)
    {
      if (!format.empty()) return (format.starts_with('.') ? "" : ".") + lower(format);
      auto const name = without_gz(path);
      auto const extension = lower(name.extension().string());
      bool const is_named_data = name.filename().string().starts_with("data.");
      return is_named_data && !parser_for(extension) ? ".lmp" : extension;
    }
    void refuse_foreign(std::string const& name, std::filesystem::path const& path,
                        std::string_view start)
    {
      if (auto const foreign = foreign_format(path, start); !foreign.empty())
        throw error(printable(name) + ": found " + foreign, error_kind::invalid_data);
    }

    constexpr std::size_t start_size = 4096;

    // What gzip has compressed, which may be of another program too.
    std::string unpacked(std::string_view content, std::string const& name,
                         std::filesystem::path const& path)
    {
      auto text = inflated(content, name);
      refuse_foreign(name, path, std::string_view(text).substr(0, start_size));
      if (is_gzip(text))
        throw error(printable(name) +
                        ": found a file that gzip has compressed twice; gunzip it once",
                    error_kind::invalid_data);
      return text;
    }

    parser choose_parser(std::filesystem::path const& path, read_options const& options)
    {
      auto const extension = extension_of(path, options.format);
      if (auto const parse = parser_for(extension)) return parse;
      auto const name = path.string();
      if (!options.format.empty())
        throw error(printable(name) + ": found the format " + in_quotes(options.format) +
                    " (--format), expected one of: fma bfma pqr lammps csv xyz npy");
      refuse_foreign(name, without_gz(path), {});
      std::error_code ignored;
      if (std::filesystem::is_directory(path, ignored)) input_file{path}; // which says so
      if (std::filesystem::is_regular_file(path, ignored))
        refuse_foreign(name, path, input_file(path).start(start_size));
      throw error(printable(name) + ": found extension " + in_quotes(extension) + ", expected " +
                  formats + ", or --format csv (xyz, lmp ...) for what it holds");
    }

    // Rows of a fixed size are cut by number, lines by bytes; other formats are read whole.
    point_set read_part(std::filesystem::path const& path, file_part const& part,
                        parser const& parse, read_options const& options, file_report* report)
    {
      if (part.count == 0 || part.index >= part.count)
        throw error("read_options.part: found part " + std::to_string(part.index) + " of " +
                    std::to_string(part.count) + ", expected an index below the count");
      input_file const file(path);
      std::uint64_t const size = file.size();
      if (size == 0) fail_at_byte(file.name(), 0, "an empty file", "points");
      auto const extension = extension_of(path, options.format);
      std::string const start = file.piece(0, std::min<std::uint64_t>(size, start_size));
      refuse_foreign(file.name(), path, start);
      bool const is_packed = is_gzip(start);
      if (!is_packed && extension == ".bfma" && is_binary_fma(start))
        return parse_fma_binary_part(file, options, report);
      if (!is_packed && parse == parse_npy) return parse_npy_part(file, options, report);
      bool const is_columns = parse == parse_columns || (extension == ".xyz" && !is_xyz(start));
      if (!is_packed && is_columns) return parse_columns_part(file, options, report);
      auto content = file.whole();
      if (is_packed) content = unpacked(content, file.name(), path);
      auto points = parse(content, file.name(), options, report);
      keep_part(points, part);
      return points;
    }
  }

  bool has_atom_style(std::filesystem::path const& path, std::string const& format)
  {
    return parser_for(extension_of(path, format)) == parse_lammps;
  }

  point_set read_points(std::filesystem::path const& path, read_options const& options,
                        file_report* report)
  try
  {
    auto const name = path.string();
    auto const parse = choose_parser(path, options);
    if (auto const& part = options.part) return read_part(path, *part, parse, options, report);
    auto content = read_file(path);
    refuse_foreign(name, path, std::string_view(content).substr(0, start_size));
    if (is_gzip(content)) content = unpacked(content, name, path);
    return parse(content, name, options, report);
  }
  catch (std::bad_alloc const&)
  {
    throw error(printable(path.string()) + ": needs more memory than there is; use a smaller file",
                error_kind::out_of_memory);
  }
}
