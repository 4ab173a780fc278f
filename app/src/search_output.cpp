#include "list_lines.hpp"

#include <nearfield/core/error.hpp>

namespace nearfield::app
{
  namespace
  {
    // Otherwise NPY.
    bool is_csv(std::filesystem::path const& path)
    {
      auto const extension = extension_of(path);
      if (extension != ".csv" && extension != ".npy")
        throw error("--output: " + path.string() + ": found extension '" + extension +
                    "', expected .csv .npy");
      return extension == ".csv";
    }
  }

  void check_list_format(std::filesystem::path const& path)
  {
    static_cast<void>(is_csv(path));
  }

  void write_list(byte_sink const& put, search_options const& options, int dim,
                  search_result const& result, bool has_header)
  {
    list_lines lines(put, is_csv(*options.output), options.list, result.table_width.value_or(0),
                     options.shifts ? dim : 0);
    if (has_header) lines.header(result);
    result.write_rows(lines);
    lines.flush();
  }
}
