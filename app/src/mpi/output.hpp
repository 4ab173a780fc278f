#pragma once

#include "compute.hpp"
#include "files.hpp"
#include "mpi/ranks.hpp"

namespace nearfield::app
{
  /// Whether each rank writes a file of its own: .vtu.
  bool has_pieces(std::filesystem::path const& output);

  /// The piece of a rank: out.vtu -> out_rank3.vtu.
  std::filesystem::path piece_of(std::filesystem::path const& output, int rank);

  /// The file that the first rank writes for --output: itself or, of pieces, the .pvtu over them.
  std::filesystem::path file_of_first(std::filesystem::path const& output);

  /// On the first rank opens the file, which gets what write(put) gives on every rank, rank after rank. Collective.
  void write_in_order(ranks const& all, output_files& files, std::filesystem::path const& path,
                      std::function<void(byte_sink const&)> const& write);

  /// Writes the points of all ranks to a file, or to pieces. Collective.
  void write_state(ranks const& all, std::filesystem::path const& path, point_set const& points,
                   write_options how);

  /// Writes `json`, if it is asked for, and gives the files of the first rank their names. Collective.
  void commit(ranks const& all, output_files& files,
              std::optional<std::filesystem::path> const& json_path, std::string const& json);

  /// Writes the points and `json`, which the first rank has, to the files of the options, or none of them. Collective.
  void write_files(ranks const& all, run_options const& options, named_points const& points,
                   std::string const& json);
}
