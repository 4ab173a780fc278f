#pragma once

#include "files.hpp"
#include "ranks.hpp"

#include <nearfield/io/points.hpp>

#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield::app
{
  /// The files that this rank writes for --output: the first rank the file itself or, of several ranks' pieces, the
  /// .pvtu over them; and each its piece, of a .vtu: out_rank3.vtu.
  std::vector<std::filesystem::path> files_of(ranks const& all,
                                              std::filesystem::path const& output);

  /// The file that shows all of it, which the first rank writes.
  std::filesystem::path file_of_first(ranks const& all, std::filesystem::path const& output);

  /// The output files of a run, committed together. Every function is collective, and throws nearfield::error.
  class output_files
  {
  public:
    explicit output_files(ranks const& all) : all_(all) {}

    /// Writes the points of all ranks, to one file or to pieces.
    void write(std::filesystem::path const& path, point_set const& points, write_options how);
    /// Writes to one file what write(put) gives on every rank, rank after rank.
    void write_in_order(std::filesystem::path const& path,
                        std::function<void(byte_sink const&)> const& write);
    /// Writes what text() gives on the first rank, which alone calls it, if a path is given.
    void write(std::optional<std::filesystem::path> const& path,
               std::function<std::string()> const& text);
    /// Gives the files their names; with a label, the first rank prints each name after it. If standard output fails,
    /// that is an error too and leaves no files.
    void commit(std::optional<std::string_view> label = std::nullopt);

  private:
    struct output
    {
      std::filesystem::path path;
      atomic_file file;

      explicit output(std::filesystem::path const& p) : path(p), file(p) {}
    };
    /// The file of a rank. It is removed if another rank fails to write its own.
    struct piece : output
    {
      bool is_alone = false; ///< it has its name, and others do not

      using output::output;
      ~piece()
      {
        std::error_code ignored;
        if (is_alone) std::filesystem::remove(path, ignored);
      }
    };

    void commit_of_first(std::optional<std::string_view> label);

    ranks const& all_;
    std::list<output> files_; ///< of the first rank
    std::string to_print_;
    std::optional<piece> mine_;
  };
}
