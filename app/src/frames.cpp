#include "frames.hpp"

#include "files.hpp"

#include <algorithm>

namespace nearfield::app
{
  frame_files::frame_files(std::filesystem::path output, std::uint64_t every, std::uint64_t last)
      : output_(std::move(output)), every_(every), last_(last)
  {}

  std::filesystem::path frame_files::path(std::uint64_t step) const
  {
    auto const width = std::max<std::size_t>(6, std::to_string(last_).size());
    auto const digits = std::to_string(step);
    std::string const number = std::string(width - digits.size(), '0') + digits;
    return output_.parent_path() /
           (output_.stem().string() + "_" + number + output_.extension().string());
  }

  std::filesystem::path frame_files::collection() const
  {
    return extension_of(output_) == ".vtu"
               ? std::filesystem::path(output_).replace_extension(".pvd")
               : std::filesystem::path();
  }

  void frame_files::check(std::vector<std::filesystem::path> const& others) const
  {
    if (auto const all = collection(); !all.empty())
    {
      for (auto const& other : others) check_output("--frames", all, {other});
    }
    check_writable_place(path(0));
    auto const refuse_same = [&](std::filesystem::path const& frame)
    {
      for (auto const& other : others)
        if (same_file(frame, other))
          throw error("--frames: " + frame.string() + " is also " + other.string() +
                      ", which this run reads or writes; give another name");
    };
    // what exists, which may be a link, and what the run makes; there may be too many frames to look at each
    auto const folder = output_.parent_path();
    std::error_code ignored;
    for (auto const& entry :
         std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored))
      if (is_frame(entry.path().filename())) refuse_same(folder / entry.path().filename());
    for (auto const& other : others)
      if (is_frame(other.filename())) refuse_same(folder / other.filename());
  }

  bool frame_files::is_frame(std::filesystem::path const& name) const
  {
    std::string const text = name.string(), start = output_.stem().string() + "_",
                      end = output_.extension().string();
    if (!text.starts_with(start) || !text.ends_with(end)) return false;
    auto const digits = text.substr(start.size(), text.size() - start.size() - end.size());
    auto const step = nearfield::detail::read_number<std::uint64_t>(digits);
    return step && *step <= last_ && has_frame(*step) && path(*step).filename() == name;
  }

  void frame_files::add(double time, std::filesystem::path const& frame)
  {
    written_.emplace_back(time, frame.filename().string());
    if (collection().empty()) return;
    atomic_file file(collection());
    file.write(format_pvd(written_));
    file.commit();
  }
}
