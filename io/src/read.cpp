#include "fma.hpp"
#include "text.hpp"
#include "xyz.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

namespace nearfield
{
  namespace
  {
    using namespace detail::io;

    std::string read_file(std::filesystem::path const& path, std::string const& name)
    {
      std::error_code status;
      if (std::filesystem::is_directory(path, status))
        throw error(printable(name) + ": found a directory, expected a file", error_kind::file);
      std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"),
                                                                 std::fclose);
      if (!file)
        throw error(printable(name) + ": cannot be opened: " + std::strerror(errno),
                    error_kind::file);
      std::string content;
      auto const size = std::filesystem::file_size(path, status);
      std::size_t n = 0;
      content.resize(status ? 0 : static_cast<std::size_t>(size));
      // a pipe has no size, and a file may grow while being read
      for (;;)
      {
        if (n == content.size()) content.resize(n + 65536);
        auto const got = std::fread(content.data() + n, 1, content.size() - n, file.get());
        if (got == 0) break;
        n += got;
      }
      if (std::ferror(file.get()))
        throw error(printable(name) + ": cannot be read past byte " + std::to_string(n) + ": " +
                        std::strerror(errno),
                    error_kind::file);
      content.resize(n);
      if (n == 0) fail_at_byte(name, 0, "an empty file", "points");
      return content;
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
                  ".dat .xyz");
    auto const content = read_file(path, name);
    return parse(content, name, options);
  }
  catch (std::bad_alloc const&)
  {
    throw error(printable(path.string()) + ": needs more memory than there is; use a smaller file",
                error_kind::out_of_memory);
  }
}
