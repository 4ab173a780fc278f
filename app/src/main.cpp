#include "commands.hpp"
#include "files.hpp"
#include "launch.hpp"
#include "machine.hpp"

#include <csignal>
#include <new>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace
{
  // If a standard stream is closed (>&-), the next file opened would take its place and receive what is
  // printed. This opens /dev/null there in the wrong direction, so that using the stream fails.
  void hold_standard_streams()
  {
    for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (::fcntl(stream, F_GETFD) < 0)
        (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }

  int fail(std::string const& message)
  {
    nearfield::app::print_error_once(message);
    return nearfield::app::failed;
  }
}

int main(int argc, char** argv)
try
{
  hold_standard_streams();
  nearfield::app::spare_address_space();
  std::signal(
      SIGXFSZ,
      SIG_IGN); // a file that passes the limit of its size (ulimit -f) is an error of writing
  int const status = nearfield::app::run_command(argc, argv);
  nearfield::app::flush_output();
  return status;
}
catch (std::bad_alloc const&)
{
  return fail("this needs more memory than there is; give fewer points");
}
catch (std::exception const& e)
{
  return fail(e.what());
}
