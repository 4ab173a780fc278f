#include "atomic_file.hpp"

#include "text.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nearfield::detail
{
  namespace
  {
    [[noreturn]] void fail(std::filesystem::path const& target, std::string const& what)
    {
      throw error(io::printable(target.string()) + ": cannot be written: " + what,
                  error_kind::file);
    }

    [[noreturn]] void fail(std::filesystem::path const& target)
    {
      fail(target, std::strerror(errno));
    }

    // The descriptor that `target` names, such as /dev/stdout or /dev/fd/3; -1 for other names.
    int open_descriptor(std::filesystem::path const& target)
    {
      if (target == "/dev/stdout") return STDOUT_FILENO;
      if (target == "/dev/stderr") return STDERR_FILENO;
      auto const folder = target.parent_path();
      if (folder != "/dev/fd" && folder != "/proc/self/fd") return -1;
      auto const number = io::integer_in(target.filename().string()).value_or(-1);
      bool const is_good = number >= 0 && number <= std::numeric_limits<int>::max();
      return is_good ? static_cast<int>(number) : -1;
    }

    // Follows symbolic links from `place` to a file, existing or not, or to an open descriptor. In a cycle
    // of links it returns one of them, which cannot be opened.
    std::filesystem::path behind_links(std::filesystem::path place)
    {
      int const most_links = 40; // the limit of Linux
      for (int n = 0; n < most_links && open_descriptor(place) < 0; ++n)
      {
        std::error_code no_link;
        auto const next = std::filesystem::read_symlink(place, no_link);
        if (no_link) break;
        place = place.parent_path() / next;
      }
      return place;
    }
  }

  struct atomic_file::state
  {
    /// the directory in which commit() names the file; -1 for a pipe or a device
    int folder = -1;
    std::string name;
    int descriptor = -1;
    std::string temporary; ///< its temporary name, if it has one

    state() = default;
    ~state()
    {
      if (!temporary.empty()) ::unlinkat(folder, temporary.c_str(), 0);
      for (int const open : {descriptor, folder})
        if (open >= 0) ::close(open);
    }
    state(state const&) = delete;
    state& operator=(state const&) = delete;

    /// Calls make(name) with new names until one is free. Returns false, with errno set, if it fails for
    /// another reason.
    template <class Make>
    bool make_temporary(Make const& make)
    {
      static std::atomic<unsigned> counter{0};
      do {
        // without the target's name, which may already have the maximal length
        auto const unused =
            ".nearfield-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
        if (make(unused.c_str()))
        {
          temporary = unused;
          return true;
        }
      } while (errno == EEXIST);
      return false;
    }

    /// a path to the open file, which may have no name
    [[nodiscard]] std::string open_file() const
    {
      return "/proc/self/fd/" + std::to_string(descriptor);
    }

    void open(mode_t mode)
    {
      descriptor = ::openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
      // not every file system has unnamed files, nor every container the /proc that is needed to link them
      if (descriptor >= 0 && ::access(open_file().c_str(), F_OK) != 0)
        ::close(std::exchange(descriptor, -1));
      if (descriptor < 0)
        make_temporary(
            [&](char const* path)
            {
              descriptor = ::openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
              return descriptor >= 0;
            });
    }

    bool link(char const* path)
    {
      return ::linkat(AT_FDCWD, open_file().c_str(), folder, path, AT_SYMLINK_FOLLOW) == 0;
    }

    bool give_name()
    {
      if (temporary.empty())
      {
        if (link(name.c_str())) return true;
        // linkat() does not replace a file, renameat() does
        if (errno != EEXIST || !make_temporary([&](char const* path) { return link(path); }))
          return false;
      }
      if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) return false;
      temporary.clear();
      return true;
    }
  };

  atomic_file::atomic_file(std::filesystem::path target)
      : target_(std::move(target)), state_(std::make_unique<state>())
  {
    auto const place = behind_links(target_);
    if (int const open = open_descriptor(place); open >= 0)
    {
      // written in place, even if it is a file
      state_->descriptor = ::fcntl(open, F_DUPFD_CLOEXEC, 0);
      if (state_->descriptor < 0) fail(target_);
      return;
    }

    struct stat there = {};
    bool const exists = ::stat(target_.c_str(), &there) == 0;
    // report a name that is too long, or a link to itself, now rather than in commit()
    if (!exists && errno != ENOENT) fail(target_);
    if (exists && S_ISDIR(there.st_mode)) fail(target_, "it is a directory; give a file name");
    if (exists && !S_ISREG(there.st_mode))
    {
      // opened later: opening a pipe waits for its reader
      if (::access(target_.c_str(), W_OK) != 0) fail(target_);
      return;
    }

    if (!place.has_filename()) fail(target_, "the path has no file name");
    auto const folder = place.has_parent_path() ? place.parent_path() : ".";
    state_->name = place.filename().string();
    state_->folder = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (state_->folder < 0) fail(target_);

    mode_t const permissions = S_IRWXU | S_IRWXG | S_IRWXO;
    state_->open(exists ? there.st_mode & permissions : 0666);
    if (state_->descriptor < 0) fail(target_);
    if (!exists) return;
    // as far as the system allows: only root can give a file to another user
    auto mode = there.st_mode & permissions;
    if (::fchown(state_->descriptor, there.st_uid, there.st_gid) != 0 &&
        ::fchown(state_->descriptor, uid_t(-1), there.st_gid) != 0)
      mode = (mode & ~mode_t(S_IRWXG)) | ((mode & S_IRWXO) << 3); // another group than before
    [[maybe_unused]] auto const changed = ::fchmod(state_->descriptor, mode);
  }

  atomic_file::~atomic_file() = default;

  void atomic_file::write(std::string_view bytes)
  {
    if (!state_) fail(target_, "it has already been committed");
    auto& descriptor = state_->descriptor;
    if (descriptor < 0) descriptor = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) fail(target_);
    while (!bytes.empty())
    {
      auto const n = ::write(descriptor, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(target_);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void atomic_file::commit()
  {
    write({}); // opens a pipe that nothing was written to, so that its reader sees the end of file
    auto const done = std::move(state_);
    // Network file systems report a full disk on close. Close a copy: the file must be open to get its name.
    auto const copy = ::dup(done->descriptor);
    if (copy < 0 || ::close(copy) != 0) fail(target_);
    if (done->folder >= 0 && !done->give_name()) fail(target_);
  }
}
