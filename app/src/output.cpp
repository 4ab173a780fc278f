#include "output.hpp"

#include "rounding.hpp"

#include <utility>

namespace nearfield::app
{
  namespace
  {
    write_options::whole_file whole_of(ranks const& all, point_set const& points)
    {
      write_options::whole_file whole{.n_points = all.sum(points.size()),
                                      .has_header = all.is_first()};
      for (auto const& column : points.positions)
      {
        extent const here = extent_of(column);
        whole.lower.push_back(all.least(here.lower));
        whole.upper.push_back(all.greatest(here.upper));
      }
      return whole;
    }

    // Whether each rank writes a file of its own.
    bool has_pieces(ranks const& all, std::filesystem::path const& output)
    {
      return all.size() > 1 && extension_of(output) == ".vtu";
    }

    std::filesystem::path piece_of(std::filesystem::path output, int rank)
    {
      return output.replace_filename(output.stem().string() + "_rank" + std::to_string(rank) +
                                     output.extension().string());
    }
  }

  std::filesystem::path file_of_first(ranks const& all, std::filesystem::path const& output)
  {
    auto path = output;
    return has_pieces(all, output) ? path.replace_extension(".pvtu") : path;
  }

  std::vector<std::filesystem::path> files_of(ranks const& all, std::filesystem::path const& output)
  {
    std::vector<std::filesystem::path> files;
    if (all.is_first()) files.push_back(file_of_first(all, output));
    if (has_pieces(all, output)) files.push_back(piece_of(output, all.rank()));
    return files;
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

  void output_of_ranks::write(std::filesystem::path const& path, point_set const& points,
                              write_options how)
  {
    if (!has_pieces(all_, path))
    {
      if (all_.size() > 1) how.part = whole_of(all_, points);
      return write_in_order(path,
                            [&](byte_sink const& put) { put(format_points(path, points, how)); });
    }
    all_.attempt(
        [&]
        {
          auto const here = piece_of(path, all_.rank());
          mine_.emplace(here, format_points(here, points, how));
          std::vector<std::string> names;
          for (int r = 0; r < all_.size(); ++r)
            names.push_back(piece_of(path, r).filename().string());
          if (all_.is_first())
            files_.write(file_of_first(all_, path), format_pvtu(points, names, how));
        });
  }

  void output_of_ranks::write_in_order(std::filesystem::path const& path,
                                       std::function<void(byte_sink const&)> const& write)
  {
    atomic_file* file = nullptr;
    all_.attempt(
        [&]
        {
          if (all_.is_first()) file = &files_.open(path);
        });
    all_.pass_to_first(write, [&](std::string_view bytes) { file->write(bytes); });
  }

  void output_of_ranks::write_json(std::optional<std::filesystem::path> const& path,
                                   std::string const& json)
  {
    all_.attempt(
        [&]
        {
          if (path && all_.is_first()) files_.write(*path, json);
        });
  }

  void output_of_ranks::commit(std::optional<std::string_view> label)
  {
    all_.attempt(
        [&]
        {
          if (mine_) mine_->commit();
        });
    all_.attempt(
        [&]
        {
          if (all_.is_first()) files_.commit(label);
        });
    if (mine_) mine_->keep();
  }
}
