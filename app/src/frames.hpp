#pragma once

#include "options.hpp"

#include <nearfield/io/points.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::app
{
  /// The files of a time loop beside its last state OUTPUT: every so many steps one with the number of the step,
  /// and for .vtu a collection of them. For out.vtu: out_000000.vtu, out_000010.vtu ..., out.pvd. Each appears
  /// when it is complete, and the collection lists those that are.
  class frame_files
  {
  public:
    /// The loop has the steps 0 ... last, and a frame at every `every`-th.
    frame_files(std::filesystem::path output, std::uint64_t every, std::uint64_t last);

    [[nodiscard]] bool has_frame(std::uint64_t step) const { return step % every_ == 0; }
    [[nodiscard]] std::filesystem::path path(std::uint64_t step) const;
    /// The name of the collection; empty for formats without one.
    [[nodiscard]] std::filesystem::path collection() const;

    /// Throws nearfield::error if a file would overwrite one of `others`, or cannot be written.
    void check(std::vector<std::filesystem::path> const& others) const;

    /// Adds a frame that is written, and writes the collection anew. Throws nearfield::error.
    void add(double time, std::filesystem::path const& frame);

    /// The first file that was written.
    [[nodiscard]] std::filesystem::path first() const
    {
      return output_.parent_path() / written_.at(0).second;
    }
    /// The number of frames that are written.
    [[nodiscard]] std::size_t size() const { return written_.size(); }

  private:
    [[nodiscard]] bool is_frame(std::filesystem::path const& name) const;

    std::filesystem::path output_;
    std::uint64_t every_, last_;
    std::vector<std::pair<double, std::string>> written_; ///< times, and names of files
  };
}
