#include "input_file.hpp"

#include "text.hpp"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>

namespace nearfield::detail::io
{
  input_file::input_file(std::filesystem::path const& path)
      : path_(path), name_(path.string()), file_(nullptr, std::fclose)
  {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw error(printable(name_) + ": found a directory, expected a file", error_kind::file);
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_)
      throw error(printable(name_) + ": cannot be opened: " + std::strerror(errno),
                  error_kind::file);
  }

  std::string input_file::whole() const
  {
    std::rewind(file_.get()); // a piece may have been read
    std::error_code status;
    std::string content;
    auto const size = std::filesystem::file_size(path_, status);
    std::size_t n = 0;
    content.resize(status ? 0 : static_cast<std::size_t>(size));
    // a pipe has no size, and a file may grow while being read
    for (;;)
    {
      if (n == content.size()) content.resize(n + 65536);
      auto const got = std::fread(content.data() + n, 1, content.size() - n, file_.get());
      if (got == 0) break;
      n += got;
    }
    if (std::ferror(file_.get())) fail_to_read(n);
    content.resize(n);
    return content;
  }

  std::string input_file::start(std::size_t n) const
  {
    std::string content(n, '\0');
    content.resize(std::fread(content.data(), 1, n, file_.get()));
    return content;
  }

  std::uint64_t input_file::size() const
  {
    struct stat there = {};
    if (::fstat(::fileno(file_.get()), &there) != 0) fail_to_read(0);
    if (!S_ISREG(there.st_mode))
      throw error(printable(name_) + ": found a pipe or a device, expected a file, of which each "
                                     "rank can read its part",
                  error_kind::file);
    return static_cast<std::uint64_t>(there.st_size);
  }

  std::string input_file::piece(std::uint64_t begin, std::uint64_t end) const
  {
    std::string content(static_cast<std::size_t>(end - begin), '\0');
    if (::fseeko(file_.get(), static_cast<::off_t>(begin), SEEK_SET) != 0) fail_to_read(begin);
    errno = 0;
    auto const n = std::fread(content.data(), 1, content.size(), file_.get());
    if (n < content.size()) fail_to_read(begin + n);
    return content;
  }

  void input_file::fail_to_read(std::uint64_t byte) const
  {
    throw error(printable(name_) + ": cannot be read past byte " + std::to_string(byte) + ": " +
                    (errno != 0 ? std::strerror(errno) : "the file has become shorter"),
                error_kind::file);
  }
}
