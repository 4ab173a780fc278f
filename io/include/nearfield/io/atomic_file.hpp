#pragma once

#include <nearfield/core/api.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace nearfield
{
  NEARFIELD_API void remove_temporaries_on_signal();

  /// A file that appears under its name only when it is complete.
  ///
  ///     nearfield::atomic_file file{"potential.csv"};
  ///     file.write(text);
  ///     file.commit();
  ///
  /// Until commit() the bytes go to a temporary file in the same folder, which the destructor
  /// removes. An older file of that name stays as it is until then. One thread uses an atomic_file;
  /// several may each have their own.
  class NEARFIELD_API atomic_file
  {
  public:
    /// Creates the temporary. Throws error where `target` is a folder, or its folder does not exist
    /// or cannot be written.
    explicit atomic_file(std::filesystem::path target);
    ~atomic_file();

    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;

    /// Appends `bytes`. Throws error where the system refuses them (a full disk).
    void write(std::string_view bytes);

    /// Gives the file its name, in place of what had it. Throws error where the system refuses.
    void commit();

  private:
    struct registration;
    friend void remove_temporaries_on_signal();

    std::filesystem::path target_;
    registration* temporary_ = nullptr;
    int descriptor_ = -1;
  };

  /// Makes SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU remove the temporaries of all live
  /// atomic_files before they end the process as they would have (a parent sees death by that
  /// signal). A signal that is ignored stays ignored. SIGXFSZ becomes ignored, so that a file beyond
  /// the limit (ulimit -f) is an error of write(). For the main function of a program; a library does
  /// not call it.
  void remove_temporaries_on_signal();
}
