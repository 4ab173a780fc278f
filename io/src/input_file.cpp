#include "input_file.hpp"

#include "foreign.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>

namespace nearfield::detail::io
{
  input_file::input_file(std::filesystem::path const& path)
      : name_(path.string()), file_(nullptr, std::fclose)
  {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      throw error(printable(name_) + ": found a directory, expected a file", error_kind::file);
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_)
      throw error(printable(name_) + ": cannot be opened: " + std::strerror(errno),
                  error_kind::file);
  }

  input_file::input_file(std::string_view content, std::string const& name)
      : name_(name), file_(nullptr, std::fclose), content_(content)
  {}

  std::uint64_t input_file::size() const
  {
    if (is_in_memory()) return content_.size();
    struct stat there = {};
    if (::fstat(::fileno(file_.get()), &there) != 0) fail_to_read(0);
    if (!S_ISREG(there.st_mode))
      throw error(printable(name_) + ": found a pipe or a device, expected a file, of which each "
                                     "rank can read its part",
                  error_kind::file);
    return static_cast<std::uint64_t>(there.st_size);
  }

  std::string_view input_file::piece(std::uint64_t begin, std::uint64_t end,
                                     std::string& buffer) const
  {
    auto const size = static_cast<std::size_t>(end - begin);
    if (is_in_memory()) return content_.substr(static_cast<std::size_t>(begin), size);
    buffer.resize(size);
    if (::fseeko(file_.get(), static_cast<::off_t>(begin), SEEK_SET) != 0) fail_to_read(begin);
    errno = 0;
    auto const n = std::fread(buffer.data(), 1, size, file_.get());
    if (n < size) fail_to_read(begin + n);
    return buffer;
  }

  std::string input_file::start() const
  {
    std::string buffer;
    return std::string(piece(0, std::min<std::uint64_t>(size(), 4096), buffer));
  }

  void input_file::load()
  {
    if (is_in_memory()) return;
    struct stat there = {};
    bool const has_size = ::fstat(::fileno(file_.get()), &there) == 0 && there.st_size > 0;
    std::string content(has_size ? static_cast<std::size_t>(there.st_size) : 0, '\0');
    std::rewind(file_.get()); // a piece may have been read
    std::size_t n = 0;
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
    replace(std::move(content));
  }

  void input_file::replace(std::string content)
  {
    file_.reset();
    own_ = std::move(content);
    content_ = own_;
  }

  void input_file::unpack()
  {
    load();
    replace(inflated(content_, name_));
    if (is_gzip(start()))
      throw error(printable(name_) +
                      ": found a file that gzip has compressed twice; gunzip it once",
                  error_kind::invalid_data);
  }

  void input_file::fail_to_read(std::uint64_t byte) const
  {
    throw error(printable(name_) + ": cannot be read past byte " + std::to_string(byte) + ": " +
                    (errno != 0 ? std::strerror(errno) : "the file has become shorter"),
                error_kind::file);
  }
}
