#include "mpi/output.hpp"

#include <nearfield/io/atomic_file.hpp>
#include <nearfield/io/points.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    whole_file whole_of(ranks const& all, point_set const& points)
    {
      whole_file whole{.n_points = all.sum(points.size()), .has_header = all.is_first()};
      for (auto const& column : points.positions)
      {
        double least = std::numeric_limits<double>::infinity(), greatest = -least;
        for (double const x : column)
        {
          least = std::min(least, x);
          greatest = std::max(greatest, x);
        }
        whole.lower.push_back(all.least(least));
        whole.upper.push_back(all.greatest(greatest));
      }
      return whole;
    }

    std::vector<std::string> names_of_pieces(ranks const& all, std::filesystem::path const& path)
    {
      std::vector<std::string> names;
      for (int r = 0; r < all.size(); ++r) names.push_back(piece_of(path, r).filename().string());
      return names;
    }
  }

  bool has_pieces(std::filesystem::path const& output)
  {
    return extension_of(output) == ".vtu";
  }

  std::filesystem::path piece_of(std::filesystem::path const& output, int rank)
  {
    auto piece = output;
    return piece.replace_filename(output.stem().string() + "_rank" + std::to_string(rank) +
                                  output.extension().string());
  }

  std::filesystem::path file_of_first(std::filesystem::path const& output)
  {
    auto path = output;
    return has_pieces(output) ? path.replace_extension(".pvtu") : path;
  }

  piece::piece(std::filesystem::path path, std::string_view bytes)
      : path_(std::move(path)), file_(path_)
  {
    file_.write(bytes);
  }
  piece::~piece()
  {
    std::error_code ignored;
    if (is_there_) std::filesystem::remove(path_, ignored);
  }
  void piece::commit()
  {
    file_.commit();
    is_there_ = true;
  }

  void output_of_ranks::write(ranks const& all, std::filesystem::path const& path,
                              point_set const& points, write_options how)
  {
    if (!has_pieces(path))
    {
      how.part = whole_of(all, points);
      return write_in_order(all, path,
                            [&](byte_sink const& put) { put(format_points(path, points, how)); });
    }
    all.attempt(
        [&]
        {
          auto const here = piece_of(path, all.rank());
          mine_.emplace(here, format_points(here, points, how));
          if (all.is_first())
            files_.write(file_of_first(path), format_pvtu(points, names_of_pieces(all, path), how));
        });
  }

  void output_of_ranks::write_in_order(ranks const& all, std::filesystem::path const& path,
                                       std::function<void(byte_sink const&)> const& write)
  {
    atomic_file* file = nullptr;
    all.attempt(
        [&]
        {
          if (all.is_first()) file = &files_.open(path);
        });
    all.pass_to_first(write, [&](std::string_view bytes) { file->write(bytes); });
  }

  void output_of_ranks::write_json(ranks const& all,
                                   std::optional<std::filesystem::path> const& path,
                                   std::string const& json)
  {
    all.attempt(
        [&]
        {
          if (path && all.is_first()) files_.write(*path, json);
        });
  }

  void output_of_ranks::commit(ranks const& all, std::optional<std::string_view> label)
  {
    all.attempt(
        [&]
        {
          if (mine_) mine_->commit();
        });
    all.attempt(
        [&]
        {
          if (!all.is_first()) return;
          if (label)
            files_.commit(*label);
          else
            files_.commit();
        });
    if (mine_) mine_->keep();
  }
}
