#include "environment.hpp"

#include <nearfield/core/error.hpp>

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

    /// The machine's name in StarPU's file names.
    std::string host_name()
    {
      char const* const given = std::getenv("STARPU_HOSTNAME");
      if (given && *given != '\0') return given;
      char name[256] = {};
      gethostname(name, sizeof(name) - 1);
      return std::string(name).substr(0, std::string_view(name).find('.'));
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

    /// The folder of the measurements of buses, which is there afterwards, as is that of models.
    std::filesystem::path make_bus()
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
      for (char const* const part : {"bus", "codelets"})
        if (!create_directories(found.folder / part, failed) && failed)
          throw error(found.variable + ": cannot create " + (found.folder / part).string() + ": " +
                          failed.message() + "; set " +
                          (found.variable == "HOME" ? "STARPU_HOME" : found.variable) +
                          " to a directory that you can write to",
                      error_kind::file);
      return found.folder / "bus";
    }
  }

  home::home()
  {
    auto const bus = make_bus();
    // where it is read-only there is nothing to lock: nobody writes
    lock_ = open((bus / (host_name() + ".lock")).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ >= 0 && !has_bus(bus)) flock(lock_, LOCK_EX);
    if (lock_ >= 0 && has_bus(bus)) flock(lock_, LOCK_SH);
  }

  home::~home()
  {
    if (lock_ >= 0) close(lock_);
  }
}
