#pragma once

#include <nearfield/io/points.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace nearfield::detail::io
{
  using file_part = read_options::file_part;

  /// A file that is read piece by piece, or whose bytes are all in memory. Everything throws nearfield::error with the
  /// file's name.
  class input_file
  {
  public:
    explicit input_file(std::filesystem::path const& path);
    /// `content` stays where it is.
    input_file(std::string_view content, std::string const& name);
    input_file(input_file const&) = delete;
    input_file& operator=(input_file const&) = delete;

    [[nodiscard]] std::string const& name() const { return name_; }
    [[nodiscard]] bool is_in_memory() const { return !file_; }
    /// In bytes. Throws for what is neither in memory nor a file on a disk.
    [[nodiscard]] std::uint64_t size() const;
    /// Bytes [begin, end); they are read into `buffer` unless they are in memory.
    [[nodiscard]] std::string_view piece(std::uint64_t begin, std::uint64_t end,
                                         std::string& buffer) const;
    /// The first 4096 bytes, or all.
    [[nodiscard]] std::string start() const;

    /// Reads all bytes into memory; also of a pipe, which has no size.
    void load();
    /// Puts these in their place, such as what gzip has compressed.
    void replace(std::string content);
    /// Puts what gzip has compressed in its place. Throws if it has compressed it twice.
    void unpack();

  private:
    [[noreturn]] void fail_to_read(std::uint64_t byte) const;

    std::string name_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::string own_;
    std::string_view content_;
  };

  /// Where the part begins of n things in order: n i / count, rounded up, so that the first part has one if any has.
  /// Part i ends where part i + 1 begins.
  constexpr std::uint64_t part_begin(std::uint64_t n, std::uint64_t i, std::uint64_t count)
  {
    return n - (n / count * (count - i) + n % count * (count - i) / count);
  }

  /// As parse_columns(), parse_fma() and parse_npy() do, of a part of the file, which alone is read.
  point_set read_columns(input_file const& file, file_part const& part, read_options const& options,
                         file_report* report);
  point_set read_fma_binary(input_file const& file, file_part const& part,
                            read_options const& options, file_report* report);
  point_set read_npy(input_file const& file, file_part const& part, read_options const& options,
                     file_report* report);
}
