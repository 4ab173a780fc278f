#include "columns.hpp"
#include "fma.hpp"
#include "foreign.hpp"
#include "input_file.hpp"
#include "text.hpp"

#include <algorithm>
#include <new>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    // The points of the part, of those of a file that has been read whole.
    void keep_part(point_set& points, file_part const& part)
    {
      if (part.count == 1) return;
      auto const begin = part_begin(points.size(), part.index, part.count);
      auto const end = part_begin(points.size(), part.index + 1, part.count);
      auto const keep = [&](auto& column)
      {
        if (!column.empty())
          column = {column.begin() + static_cast<std::ptrdiff_t>(begin),
                    column.begin() + static_cast<std::ptrdiff_t>(end)};
      };
      for (auto* group : {&points.positions, &points.velocities, &points.parameters, &points.inputs,
                          &points.outputs})
        for (auto& column : *group) keep(column);
      keep(points.masses);
      keep(points.types);
    }

    using reader = point_set (*)(input_file const&, file_part const&, read_options const&,
                                 file_report*);

    // Of formats whose files cannot be cut.
    template <auto parse>
    point_set read_whole(input_file const& file, file_part const& part, read_options const& options,
                         file_report* report)
    {
      std::string buffer;
      auto points = parse(file.piece(0, file.size(), buffer), file.name(), options, report);
      keep_part(points, part);
      return points;
    }

    // The extension must match the content, so that a misnamed file is not read as something else.
    template <bool is_binary>
    point_set read_fma(input_file const& file, file_part const& part, read_options const& options,
                       file_report* report)
    {
      auto const start = file.start();
      if (is_binary && !is_binary_fma(start))
        fail_at_byte(file.name(), 0, in_quotes(start.substr(0, 4)),
                     "sizeof_real = 4 or 8 in binary (.bfma; the name of a text ends in .fma)");
      if (!is_binary && is_binary_fma(start))
        fail_at_line(file.name(), 1, "a binary file",
                     "text (.fma; the name of a binary ends in .bfma)");
      return (is_binary ? read_fma_binary : read_whole<parse_fma>)(file, part, options, report);
    }

    point_set read_xyz(input_file const& file, file_part const& part, read_options const& options,
                       file_report* report)
    {
      return (is_xyz(file.start()) ? read_whole<parse_xyz> : read_columns)(file, part, options,
                                                                           report);
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
    reader reader_for(std::string const& extension)
    {
      auto const is_one_of = [&](auto... known)
      {
        return ((extension == known) || ...);
      };
      if (is_one_of(".fma")) return read_fma<false>;
      if (is_one_of(".bfma")) return read_fma<true>;
      if (is_one_of(".pqr")) return read_whole<parse_pqr>;
      if (is_one_of(".npy")) return read_npy;
      if (is_one_of(".csv", ".tsv", ".txt", ".dat")) return read_columns;
      if (is_one_of(".xyz")) return read_xyz;
      if (is_one_of(".data", ".lmp", ".lammps")) return read_whole<parse_lammps>;
      return nullptr;
    }

    // The extension that stands for the format: .lmp for the names data.* too.
    std::string extension_of(std::filesystem::path const& path, std::string const& format)
    {
      if (!format.empty()) return (format.starts_with('.') ? "" : ".") + lower(format);
      auto const name = without_gz(path);
      auto const extension = lower(name.extension().string());
      bool const is_named_data = name.filename().string().starts_with("data.");
      return is_named_data && !reader_for(extension) ? ".lmp" : extension;
    }

    void refuse_foreign(std::string const& name, std::filesystem::path const& path,
                        std::string_view start)
    {
      if (auto const foreign = foreign_format(path, start); !foreign.empty())
        throw error(printable(name) + ": found " + foreign, error_kind::invalid_data);
    }

    reader choose_reader(std::filesystem::path const& path, read_options const& options)
    {
      auto const extension = extension_of(path, options.format);
      if (auto const read = reader_for(extension)) return read;
      auto const name = path.string();
      if (!options.format.empty())
        throw error(printable(name) + ": found the format " + in_quotes(options.format) +
                    " (--format), expected one of: fma bfma pqr lammps csv xyz npy");
      refuse_foreign(name, without_gz(path), {});
      std::error_code ignored;
      if (auto const type = std::filesystem::status(path, ignored).type();
          type == std::filesystem::file_type::regular ||
          type == std::filesystem::file_type::directory)
        refuse_foreign(name, path, input_file(path).start());
      throw error(printable(name) + ": found extension " + in_quotes(extension) + ", expected " +
                  formats + ", or --format csv (xyz, lmp ...) for what it holds");
    }
  }

  bool has_atom_style(std::filesystem::path const& path, std::string const& format)
  {
    return reader_for(extension_of(path, format)) == read_whole<parse_lammps>;
  }

  point_set read_points(std::filesystem::path const& path, read_options const& options,
                        file_report* report)
  try
  {
    auto const read = choose_reader(path, options);
    auto const part = options.part.value_or(file_part{});
    if (part.index >= part.count)
      throw error("read_options.part: found part " + std::to_string(part.index) + " of " +
                  std::to_string(part.count) + ", expected an index below the count");
    input_file file(path);
    if (!options.part) file.load();
    auto const start = file.start();
    if (start.empty()) fail_at_byte(file.name(), 0, "an empty file", "points");
    refuse_foreign(file.name(), path, start);
    if (!is_gzip(start)) return read(file, part, options, report);
    file.unpack();
    refuse_foreign(file.name(), path, file.start()); // of another program too
    auto points = read(file, {}, options, report);
    keep_part(points, part);
    return points;
  }
  catch (std::bad_alloc const&)
  {
    throw error(printable(path.string()) + ": needs more memory than there is; use a smaller file",
                error_kind::out_of_memory);
  }
}
