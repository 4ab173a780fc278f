#pragma once

#include <nearfield/core/api.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

namespace nearfield
{
  /// A file that appears under its name only when it is complete.
  ///
  ///     nearfield::atomic_file file{"potential.csv"};
  ///     file.write(text);
  ///     file.commit();
  ///
  /// Until commit() the bytes are in a file without a name in the same folder, which is gone
  /// however the process ends; where the file system has no such files, in a temporary one that the
  /// destructor removes. An older file of that name stays as it is until then, and the new one gets
  /// its mode and, as far as the system allows, its owner and group; without its group, it gives its
  /// own group what it gives to all others. A link stays, and the file it names is written, whether it exists or not.
  ///
  /// A pipe or a device is not replaced: the first write() opens it, and bytes go to it at once, as
  /// they do to /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N and links to them, whatever
  /// those are.
  ///
  /// One thread uses an atomic_file; several may each have their own.
  class NEARFIELD_API atomic_file
  {
  public:
    /// Opens the file. Throws error where `target` is a folder, or its folder does not exist or
    /// cannot be written.
    explicit atomic_file(std::filesystem::path target);
    ~atomic_file();

    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;

    /// Appends `bytes`. Throws error where the system refuses them (a full disk).
    void write(std::string_view bytes);

    /// Gives the file its name, in place of what had it. Throws error where the system refuses.
    void commit();

  private:
    struct state;

    std::filesystem::path target_;
    std::unique_ptr<state> state_; ///< null after commit()
  };

  /// Makes SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU remove the temporaries of all live
  /// atomic_files before they end the process as they would have (a parent sees death by that
  /// signal). A signal that is ignored stays ignored. SIGXFSZ becomes ignored, so that a file beyond
  /// the limit (ulimit -f) is an error of write(). For the main function of a program; a library does
  /// not call it.
  NEARFIELD_API void remove_temporaries_on_signal();
}
