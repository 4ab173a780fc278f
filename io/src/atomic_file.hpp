#pragma once

#include <nearfield/core/config.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

namespace nearfield::detail
{
  /// A file that appears under its name only when it is complete.
  ///
  ///     atomic_file file{"potential.csv"};
  ///     file.write(text);
  ///     file.commit();
  ///
  /// Until commit() the bytes are in an unnamed file in the same directory, which disappears however the
  /// process ends. On file systems without unnamed files they are in a temporary file that the destructor
  /// removes. An existing file of that name is untouched until commit(). The new file gets its mode and, as
  /// far as the system allows, its owner and group; if the group cannot be kept, the new group gets only the
  /// permissions of others. A symbolic link stays, and the file it points to is written, existing or not.
  ///
  /// A pipe or a device is not replaced: the first write() opens it, and bytes go there at once. So they do
  /// for /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N and links to them, even if these are files.
  ///
  /// Not for use by several threads at once; separate objects are independent.
  class NEARFIELD_API atomic_file
  {
  public:
    /// Opens the file. Throws nearfield::error if `target` is a directory, or if its directory does not
    /// exist or is not writable.
    explicit atomic_file(std::filesystem::path target);
    ~atomic_file();

    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;

    /// Appends `bytes`. Throws nearfield::error if writing fails, for example on a full disk.
    void write(std::string_view bytes);

    /// Gives the file its name, replacing an existing file. Throws nearfield::error if that fails.
    void commit();

  private:
    struct state;

    std::filesystem::path target_;
    std::unique_ptr<state> state_; ///< null after commit()
  };
}
