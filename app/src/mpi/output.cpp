#include "mpi/output.hpp"

#include "run.hpp"

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

    /// The file of this rank, which goes again if the files of others do not come to be.
    class piece
    {
    public:
      piece(std::filesystem::path path, std::string_view bytes)
          : path_(std::move(path)), file_(path_)
      {
        file_.write(bytes);
      }
      void commit()
      {
        file_.commit();
        is_there_ = true;
      }
      void keep() { is_there_ = false; }
      ~piece()
      {
        std::error_code ignored;
        if (is_there_) std::filesystem::remove(path_, ignored);
      }
      piece(piece const&) = delete;
      piece& operator=(piece const&) = delete;

    private:
      std::filesystem::path path_;
      atomic_file file_;
      bool is_there_ = false;
    };
  }

  bool has_pieces(std::filesystem::path const& output)
  {
    auto extension = output.extension().string();
    std::ranges::transform(extension, extension.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return extension == ".vtu";
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

  void write_in_order(ranks const& all, output_files& files, std::filesystem::path const& path,
                      std::function<void(byte_sink const&)> const& write)
  {
    atomic_file* file = nullptr;
    all.attempt(
        [&]
        {
          if (all.is_first()) file = &files.open(path);
        });
    all.pass_to_first(write, [&](std::string_view bytes) { file->write(bytes); });
  }

  void commit(ranks const& all, output_files& files,
              std::optional<std::filesystem::path> const& json_path, std::string const& json)
  {
    all.attempt(
        [&]
        {
          if (json_path && all.is_first()) files.write(*json_path, json);
        });
    all.attempt(
        [&]
        {
          if (all.is_first()) files.commit("written       ");
        });
  }

  void write_state(ranks const& all, std::filesystem::path const& path, point_set const& points,
                   write_options how)
  {
    std::optional<piece> mine;
    std::optional<atomic_file> whole; // of the first rank
    if (has_pieces(path))
      all.attempt(
          [&]
          {
            auto const here = piece_of(path, all.rank());
            mine.emplace(here, format_points(here, points, how));
            if (!all.is_first()) return;
            whole.emplace(file_of_first(path));
            whole->write(format_pvtu(points, names_of_pieces(all, path), how));
          });
    else
    {
      how.part = whole_of(all, points);
      all.attempt(
          [&]
          {
            if (all.is_first()) whole.emplace(path);
          });
      all.pass_to_first([&](byte_sink const& put) { put(format_points(path, points, how)); },
                        [&](std::string_view bytes) { whole->write(bytes); });
    }
    all.attempt(
        [&]
        {
          if (mine) mine->commit();
        });
    all.attempt(
        [&]
        {
          if (whole) whole->commit();
        });
    if (mine) mine->keep();
  }

  void write_files(ranks const& all, run_options const& options, named_points const& points,
                   std::string const& json)
  {
    output_files files; // of the first rank
    std::optional<piece> mine;
    write_options how{.precision = of_file(options.precision)};
    if (options.output && has_pieces(*options.output))
      all.attempt(
          [&]
          {
            auto const path = piece_of(*options.output, all.rank());
            mine.emplace(path, format_points(path, points.points, how));
            if (!all.is_first()) return;
            files.write(file_of_first(*options.output),
                        format_pvtu(points.points, names_of_pieces(all, *options.output), how));
          });
    else if (options.output)
    {
      how.part = whole_of(all, points.points);
      write_in_order(all, files, *options.output,
                     [&](byte_sink const& put)
                     { put(format_points(*options.output, points.points, how)); });
    }
    // before any piece has its name, which may be that of an older one
    all.attempt(
        [&]
        {
          if (options.json && all.is_first()) files.write(*options.json, json);
        });
    all.attempt(
        [&]
        {
          if (mine) mine->commit();
        });
    commit(all, files, std::nullopt, json);
    if (mine) mine->keep();
  }
}
