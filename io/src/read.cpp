#include "fma.hpp"
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

    using parser = point_set (*)(std::string_view, std::string const&, read_options const&);

    // The extension must match the content, so that a misnamed file is not read as something else.
    point_set read_fma(std::string_view content, std::string const& name,
                       read_options const& options, bool binary)
    {
      if (binary && !is_binary_fma(content))
        fail_at_byte(name, 0, in_quotes(content.substr(0, 4)),
                     "sizeof_real = 4 or 8 in binary (.bfma; the name of a text ends in .fma)");
      if (!binary && is_binary_fma(content))
        fail_at_line(name, 1, "a binary file", "text (.fma; the name of a binary ends in .bfma)");
      return parse_fma(content, name, options);
    }

    // Null for an unknown name.
    parser parser_for(std::filesystem::path const& path)
    {
      auto const extension = lower(path.extension().string());
      auto const is_one_of = [&](auto... known)
      {
        return ((extension == known) || ...);
      };
      if (is_one_of(".fma"))
        return [](auto content, auto const& name, auto const& options)
        {
          return read_fma(content, name, options, false);
        };
      if (is_one_of(".bfma"))
        return [](auto content, auto const& name, auto const& options)
        {
          return read_fma(content, name, options, true);
        };
      if (is_one_of(".pqr")) return parse_pqr;
      if (is_one_of(".npy")) return parse_npy;
      if (is_one_of(".csv", ".tsv", ".txt", ".dat")) return parse_columns;
      if (is_one_of(".xyz"))
        return [](auto content, auto const& name, auto const& options)
        {
          return (is_xyz(content) ? parse_xyz : parse_columns)(content, name, options);
        };
      if (is_one_of(".data", ".lmp", ".lammps") || path.filename().string().starts_with("data."))
        return parse_lammps;
      return nullptr;
    }

    // Rows of a fixed size are cut by number, lines by bytes; other formats are read whole.
    point_set read_part(std::filesystem::path const& path, file_part const& part,
                        parser const& parse, read_options const& options)
    {
      if (part.count == 0 || part.index >= part.count)
        throw error("read_options.part: found part " + std::to_string(part.index) + " of " +
                    std::to_string(part.count) + ", expected an index below the count");
      input_file const file(path);
      std::uint64_t const size = file.size();
      if (size == 0) fail_at_byte(file.name(), 0, "an empty file", "points");
      auto const extension = lower(path.extension().string());
      std::string const start = file.piece(0, std::min<std::uint64_t>(size, 4096));
      if (extension == ".bfma" && is_binary_fma(start)) return parse_fma_binary_part(file, options);
      if (parse == parse_npy) return parse_npy_part(file, options);
      bool const is_columns = parse == parse_columns || (extension == ".xyz" && !is_xyz(start));
      if (is_columns) return parse_columns_part(file, options);
      auto points = parse(file.whole(), file.name(), options);
      keep_part(points, part);
      return points;
    }
  }

  bool has_atom_style(std::filesystem::path const& path)
  {
    return parser_for(path) == parse_lammps;
  }

  point_set read_points(std::filesystem::path const& path, read_options const& options)
  try
  {
    auto const name = path.string();
    auto const parse = parser_for(path);
    std::error_code ignored;
    if (!parse && !std::filesystem::is_directory(path, ignored))
      throw error(printable(name) + ": found extension " +
                  in_quotes(lower(path.extension().string())) +
                  ", expected .fma .bfma .pqr .data .lmp .lammps (or a name data.*) .csv .tsv .txt "
                  ".dat .xyz .npy");
    if (auto const& part = options.part) return read_part(path, *part, parse, options);
    auto const content = read_file(path);
    return parse(content, name, options);
  }
  catch (std::bad_alloc const&)
  {
    throw error(printable(path.string()) + ": needs more memory than there is; use a smaller file",
                error_kind::out_of_memory);
  }
}
