#include <nearfield/starpu/check.hpp>

#include <nearfield/core/error.hpp>

#include <cerrno>
#include <system_error>

namespace nearfield::starpu
{
  void check(int code, std::string const& what)
  {
    if (code == 0) return;
    std::string message = "StarPU: " + what + " returned " + std::to_string(code) + " (" +
                          std::generic_category().message(-code) + ")";
    if (code == -ENODEV)
      message +=
          "; no worker can do this: give StarPU CPU workers (STARPU_NCPU >= 1), and for tasks "
          "of backend cuda GPUs (STARPU_NCUDA >= 1)";
    throw error(message);
  }
}
