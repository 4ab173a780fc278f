#include <nearfield/core/error.hpp>
#include <nearfield/io/atomic_file.hpp>

#include "text.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nearfield
{
  // A node of a list that only grows: nodes are reused and never freed, so that a signal handler
  // can walk the list whatever the program was doing.
  struct atomic_file::registration
  {
    std::atomic<bool> taken{true};
    std::atomic<bool> live{false};
    char path[PATH_MAX] = {};
    registration* next = nullptr;

    static inline std::atomic<registration*> head{nullptr};

    static registration* take()
    {
      for (auto* node = head.load(); node; node = node->next)
      {
        bool free = false;
        if (node->taken.compare_exchange_strong(free, true)) return node;
      }
      auto* node = new registration;
      node->next = head.load();
      while (!head.compare_exchange_weak(node->next, node))
      {}
      return node;
    }

    void release()
    {
      live = false;
      taken = false;
    }

    /// async-signal-safe: loads, unlink, signal and raise only
    static void on_signal(int signal)
    {
      for (auto const* node = head.load(); node; node = node->next)
        if (node->live) ::unlink(node->path);
      // SA_RESETHAND has done so, unless another library, as StarPU does, has put this handler back
      // by itself; the default action takes effect when the handler returns
      std::signal(signal, SIG_DFL);
      ::raise(signal);
    }
  };

  namespace
  {
    [[noreturn]] void fail(std::filesystem::path const& target, std::string const& what)
    {
      throw error(detail::io::printable(target.string()) + ": cannot be written: " + what);
    }

    std::string system_message()
    {
      return std::strerror(errno);
    }
  }

  atomic_file::atomic_file(std::filesystem::path target) : target_(std::move(target))
  {
    std::error_code unusable, ignored;
    auto const there = std::filesystem::status(target_, unusable);
    // a name that is too long, a link to itself: known now, and not when the name is given
    if (there.type() == std::filesystem::file_type::none) fail(target_, unusable.message());
    if (std::filesystem::is_directory(there))
      fail(target_, "found a folder, expected a file's name");
    if (!target_.has_filename()) fail(target_, "found no file name, expected one");
    // a link stays, and what it names is replaced; a device or a pipe would be replaced by a file
    if (std::filesystem::exists(there))
    {
      if (!std::filesystem::is_regular_file(there))
        fail(target_, "found a device or a pipe, expected a file");
      target_ = std::filesystem::canonical(target_, ignored);
    }
    target_ = std::filesystem::absolute(target_);
    auto const folder = target_.parent_path();

    static std::atomic<unsigned> counter{0};
    temporary_ = registration::take();
    for (;;)
    {
      // the name does not hold the target's, which may be as long as names can be
      auto const path = (folder / (".nearfield-" + std::to_string(::getpid()) + "-" +
                                   std::to_string(counter++) + ".tmp"))
                            .string();
      if (path.size() >= sizeof temporary_->path)
      {
        temporary_->release();
        fail(target_, "its folder's name is too long");
      }
      std::memcpy(temporary_->path, path.c_str(), path.size() + 1);
      // registered first: a signal between the two lines finds it
      temporary_->live = true;
      descriptor_ = ::open(temporary_->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ >= 0) return;
      temporary_->live = false;
      if (errno == EEXIST) continue;
      auto const reason = system_message();
      temporary_->release();
      fail(target_, reason);
    }
  }

  atomic_file::~atomic_file()
  {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_) return;
    ::unlink(temporary_->path);
    temporary_->release();
  }

  void atomic_file::write(std::string_view bytes)
  {
    if (descriptor_ < 0) fail(target_, "it was committed already");
    while (!bytes.empty())
    {
      auto const n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(target_, system_message());
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void atomic_file::commit()
  {
    if (descriptor_ < 0) fail(target_, "it was committed already");
    auto const closed = ::close(descriptor_);
    descriptor_ = -1;
    // network file systems report a full disk here
    if (closed != 0) fail(target_, system_message());
    if (::rename(temporary_->path, target_.c_str()) != 0) fail(target_, system_message());
    temporary_->release();
    temporary_ = nullptr;
  }

  void remove_temporaries_on_signal()
  {
    struct sigaction action = {};
    action.sa_handler = atomic_file::registration::on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU})
    {
      struct sigaction old = {};
      ::sigaction(signal, nullptr, &old);
      if (old.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
    }
    std::signal(SIGXFSZ, SIG_IGN);
  }
}
