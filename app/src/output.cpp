#include "output.hpp"

#include "rounding.hpp"

#include <cstdio>
#include <iostream>

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

  void output_files::write(std::filesystem::path const& path, point_set const& points,
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
          mine_.emplace(here).file.write(format_points(here, points, how));
          if (!all_.is_first()) return;
          std::vector<std::string> names;
          for (int r = 0; r < all_.size(); ++r)
            names.push_back(piece_of(path, r).filename().string());
          files_.emplace_back(file_of_first(all_, path))
              .file.write(format_pvtu(points, names, how));
        });
  }

  void output_files::write_in_order(std::filesystem::path const& path,
                                    std::function<void(byte_sink const&)> const& write)
  {
    atomic_file* file = nullptr;
    all_.attempt(
        [&]
        {
          if (all_.is_first()) file = &files_.emplace_back(path).file;
        });
    all_.pass_to_first(write, [&](std::string_view bytes) { file->write(bytes); });
  }

  void output_files::write(std::optional<std::filesystem::path> const& path,
                           std::function<std::string()> const& text)
  {
    all_.attempt(
        [&]
        {
          if (!path || !all_.is_first()) return;
          if (is_standard_output(*path))
            to_print_ += text();
          else
            files_.emplace_back(*path).file.write(text());
        });
  }

  void output_files::commit(std::optional<std::string_view> label)
  {
    all_.attempt(
        [&]
        {
          if (!mine_) return;
          mine_->file.commit();
          mine_->is_alone = true;
        });
    all_.attempt(
        [&]
        {
          if (all_.is_first()) commit_of_first(label);
        });
    if (mine_) mine_->is_alone = false;
  }

  void output_files::commit_of_first(std::optional<std::string_view> label)
  {
    if (label)
    {
      for (output const& each : files_) std::cout << *label << each.path.string() << "\n";
      flush_output();
    }
    if (!to_print_.empty() &&
        (std::fwrite(to_print_.data(), 1, to_print_.size(), stdout) != to_print_.size() ||
         std::fflush(stdout) != 0))
      refuse_output();
    for (output& each : files_) each.file.commit();
  }
}
