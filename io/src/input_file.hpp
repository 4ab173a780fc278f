#pragma once

#include <nearfield/io/points.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace nearfield::detail::io
{
  /// A file that is read, whole or piece by piece. Everything throws nearfield::error with the file's name.
  class input_file
  {
  public:
    explicit input_file(std::filesystem::path const& path);

    [[nodiscard]] std::string const& name() const { return name_; }
    /// All bytes; also of a pipe, which has no size.
    [[nodiscard]] std::string whole() const;
    /// The first bytes, at most n.
    [[nodiscard]] std::string start(std::size_t n) const;
    /// In bytes. Throws for what is not a file on a disk.
    [[nodiscard]] std::uint64_t size() const;
    /// Bytes [begin, end).
    [[nodiscard]] std::string piece(std::uint64_t begin, std::uint64_t end) const;

  private:
    [[noreturn]] void fail_to_read(std::uint64_t byte) const;

    std::filesystem::path path_;
    std::string name_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  };

  /// Where the part begins of n things in order: n i / count, rounded up, so that the first part has one if any has.
  /// Part i ends where part i + 1 begins.
  constexpr std::uint64_t part_begin(std::uint64_t n, std::uint64_t i, std::uint64_t count)
  {
    return n - (n / count * (count - i) + n % count * (count - i) / count);
  }

  /// As parse_columns(), parse_fma() and parse_npy() do, of a part of the file, which alone is read.
  point_set parse_columns_part(input_file const& file, read_options const& options,
                               file_report* report);
  point_set parse_fma_binary_part(input_file const& file, read_options const& options,
                                  file_report* report);
  point_set parse_npy_part(input_file const& file, read_options const& options,
                           file_report* report);
}
