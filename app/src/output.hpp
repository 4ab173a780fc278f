#pragma once

#include "files.hpp"
#include "ranks.hpp"

#include <nearfield/io/points.hpp>

#include <filesystem>
#include <functional>
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

  /// The file of a rank, which goes again if the files of others do not come to be.
  class piece
  {
  public:
    piece(std::filesystem::path path, std::string_view bytes);
    ~piece();
    piece(piece const&) = delete;
    piece& operator=(piece const&) = delete;
    void commit();
    void keep() { is_there_ = false; }

  private:
    std::filesystem::path path_;
    atomic_file file_;
    bool is_there_ = false;
  };

  /// The output files of a run, committed together, as output_files. Every function is collective.
  class output_of_ranks
  {
  public:
    explicit output_of_ranks(ranks const& all) : all_(all) {}

    /// Writes the points of all ranks, to one file or to pieces.
    void write(std::filesystem::path const& path, point_set const& points, write_options how);
    /// Writes to one file what write(put) gives on every rank, rank after rank.
    void write_in_order(std::filesystem::path const& path,
                        std::function<void(byte_sink const&)> const& write);
    /// Writes what the first rank has, if a path is given.
    void write_json(std::optional<std::filesystem::path> const& path, std::string const& json);
    /// Gives them their names. With a label, the first rank says so.
    void commit(std::optional<std::string_view> label = std::nullopt);

  private:
    ranks const& all_;
    output_files files_; ///< of the first rank
    std::optional<piece> mine_;
  };
}
