#include "environment.hpp"

#include <nearfield/core/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// The directory of StarPU's measurements, and the variable that determines it.
    struct measurements
    {
      std::string variable;
      std::filesystem::path folder;
    };

    measurements find_measurements()
    {
      char const* const folder = std::getenv("STARPU_PERF_MODEL_DIR");
      if (folder && *folder != '\0') return {"STARPU_PERF_MODEL_DIR", folder};
      for (char const* const name : {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"})
        if (char const* const home = std::getenv(name))
          return {name, std::string(home) + "/.starpu/sampling"};
      return {};
    }

    [[noreturn]] void refuse(measurements const& of, std::string const& problem,
                             std::string const& wanted)
    {
      throw error(of.variable + ": StarPU cannot " + problem + "; set " +
                      (of.variable == "HOME" ? "STARPU_HOME" : of.variable) + " to a directory " +
                      wanted,
                  error_kind::file);
    }

    /// The machine's name in StarPU's file names.
    std::string host_name()
    {
      char const* const given = std::getenv("STARPU_HOSTNAME");
      if (given && *given != '\0') return given;
      char name[256] = {};
      gethostname(name, sizeof(name) - 1);
      return std::string(name).substr(0, std::string_view(name).find('.'));
    }

    /// Throws nearfield::error if StarPU would cut the names of the files that it reads.
    void check_length(measurements const& of)
    {
      std::size_t const longest = 255 - ("//bus/" + host_name() + ".bandwidth").size();
      if (std::size_t const found = of.folder.native().size(); found > longest)
        refuse(of,
               "use " + of.folder.string() + ", whose name has " + std::to_string(found) +
                   " characters, more than " + std::to_string(longest),
               "with a shorter name");
    }

    /// Creates the directory. Throws nearfield::error if that fails, or if the directory is not writable
    /// and empty. One with contents may be read-only: schedulers without models do not write to it.
    void make(measurements const& of, std::filesystem::path const& folder)
    {
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      if (!failed && access(folder.c_str(), W_OK | X_OK) != 0)
      {
        std::error_code const refused(errno, std::generic_category());
        if (std::filesystem::is_empty(folder, failed)) failed = refused;
      }
      if (failed)
        refuse(of, "write to " + folder.string() + ": " + failed.message(),
               "that you can write to");
    }

    /// Throws nearfield::error if StarPU would abort when it reads its measurements of this machine's buses: an
    /// empty file, as a full disk leaves it, or none where StarPU cannot write one.
    void check_bus(measurements const& of)
    {
      std::filesystem::path const folder = of.folder / "bus";
      for (auto const* extension : {".config", ".affinity"})
      {
        std::filesystem::path const file = folder / (host_name() + extension);
        std::error_code failed;
        if (file_size(file, failed) == 0)
          throw error(file.string() + ": the file is empty; remove it, and StarPU writes a new one",
                      error_kind::file);
        if (failed && std::string_view(extension) == ".config" && access(folder.c_str(), W_OK) != 0)
          refuse(of, "write to " + folder.string() + ", which has no " + file.filename().string(),
                 "that you can write to");
      }
    }

    /// Whether StarPU has measured the buses of this machine. The platform is what it writes last.
    bool has_bus(std::filesystem::path const& folder)
    {
      std::error_code failed;
      for (auto const* extension :
           {".config", ".affinity", ".latency", ".bandwidth", ".platform.xml"})
        if (!exists(folder / (host_name() + extension), failed)) return false;
      return true;
    }

    std::filesystem::path temporary_home()
    {
      std::error_code failed;
      std::filesystem::path const folder = std::filesystem::temp_directory_path(failed) /
                                           ("nearfield-starpu-" + std::to_string(geteuid()));
      // Other users can create this name in a shared directory: it must be ours, and not a link.
      struct stat found;
      if (failed || (mkdir(folder.c_str(), 0700) != 0 &&
                     (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
                      found.st_uid != geteuid())))
        throw error(
            "STARPU_HOME: " + folder.string() +
                " cannot be created or is not your directory; set STARPU_HOME to a directory that "
                "you can write to",
            error_kind::file);
      return folder;
    }

    std::filesystem::path make_measurements()
    {
      measurements found = find_measurements();
      std::error_code failed;
      if (found.variable.empty() || (found.variable == "HOME" &&
                                     (!std::filesystem::is_directory(std::getenv("HOME"), failed) ||
                                      access(std::getenv("HOME"), W_OK | X_OK) != 0)))
      {
        setenv("STARPU_HOME", temporary_home().c_str(), 1);
        found = find_measurements();
      }
      check_length(found);
      for (char const* const part : {"bus", "codelets"}) make(found, found.folder / part);
      return found.folder;
    }
  }

  void make_swap()
  {
    char const* const folder = std::getenv("STARPU_DISK_SWAP");
    char const* const given = std::getenv("STARPU_DISK_SWAP_BACKEND");
    std::string_view const backend = given ? given : "unistd";
    if (!folder || *folder == '\0') return;
    if (backend != "unistd" && backend != "unistd_o_direct" && backend != "stdio") return;
    measurements const swap{"STARPU_DISK_SWAP", folder};
    make(swap, folder);
    if (access(folder, W_OK | X_OK) != 0)
      refuse(swap, "write to " + std::string(folder), "that you can write to");
  }

  home::home(std::filesystem::path const& bus)
      // where it is read-only there is nothing to lock: nobody writes
      : lock_(open((bus / (host_name() + ".lock")).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666))
  {
    if (lock_ >= 0 && !has_bus(bus)) flock(lock_, LOCK_EX);
    if (lock_ >= 0 && has_bus(bus)) flock(lock_, LOCK_SH);
  }

  home::home() : home(make_measurements() / "bus")
  {
    check_bus(find_measurements());
  }

  home::~home()
  {
    if (lock_ >= 0) close(lock_);
  }
}
