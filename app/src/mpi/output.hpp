#pragma once

#include "files.hpp"
#include "mpi/ranks.hpp"

#include <nearfield/io/points.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace nearfield::app
{
  /// Whether each rank writes a file of its own: .vtu.
  bool has_pieces(std::filesystem::path const& output);

  /// The piece of a rank: out.vtu -> out_rank3.vtu.
  std::filesystem::path piece_of(std::filesystem::path const& output, int rank);

  /// The file that the first rank writes for --output: itself or, of pieces, the .pvtu over them.
  std::filesystem::path file_of_first(std::filesystem::path const& output);

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

  /// The output files of all ranks, committed together, as output_files. Every function is collective and throws
  /// agreed_error.
  class output_of_ranks
  {
  public:
    /// Writes the points of all ranks, to one file or to pieces.
    void write(ranks const& all, std::filesystem::path const& path, point_set const& points,
               write_options how);
    /// Writes to one file what write(put) gives on every rank, rank after rank.
    void write_in_order(ranks const& all, std::filesystem::path const& path,
                        std::function<void(byte_sink const&)> const& write);
    /// Writes what the first rank has, if a path is given.
    void write_json(ranks const& all, std::optional<std::filesystem::path> const& path,
                    std::string const& json);
    /// Gives them their names. With a label, the first rank says so.
    void commit(ranks const& all, std::optional<std::string_view> label = std::nullopt);

  private:
    output_files files_; ///< of the first rank
    std::optional<piece> mine_;
  };
}
