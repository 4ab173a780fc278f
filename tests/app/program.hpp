#pragma once

#include "io/files.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nearfield::test
{
  /// The result of a run of the program.
  struct ending
  {
    int status = -1; ///< exit status; -1 if ended by a signal
    int signal = 0;
    std::string out = {}, err = {};
  };

  /// Whether this build uses AddressSanitizer or ThreadSanitizer.
  constexpr bool is_sanitized()
  {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
  }

  /// The path of the program: beside the tests, also in a bundle for another machine.
  inline std::string program_path()
  {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "nearfield").string();
  }

  /// The running program with the given command line, behind that of a launcher; its output goes to files in a
  /// directory of its own.
  class program
  {
  public:
    explicit program(std::vector<std::string> const& arguments,
                     std::map<std::string, std::string> const& environment = {},
                     std::vector<std::string> const& launcher = {})
    {
      auto const out = (folder_ / "out").string(), err = (folder_ / "err").string();
      auto path = program_path();
      std::vector<char*> words;
      for (auto const& word : launcher) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(path.data());
      for (auto const& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
      words.push_back(nullptr);
      child_ = ::fork();
      if (child_ != 0) return;
      std::signal(SIGINT,
                  SIG_DFL); // tests run in the background inherit it as ignored
      for (auto const& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
      ::execv(words[0], words.data());
      ::_exit(127);
    }

    [[nodiscard]] ::pid_t id() const { return child_; }
    void send(int signal) const { ::kill(child_, signal); }

    [[nodiscard]] ending wait() const
    {
      int status = 0;
      ::waitpid(child_, &status, 0);
      return ending_of(status);
    }

    /// Waits for the program, and kills it when the time is up.
    [[nodiscard]] ending wait_at_most(std::chrono::milliseconds time) const
    {
      auto const end = std::chrono::steady_clock::now() + time;
      int status = 0;
      while (::waitpid(child_, &status, WNOHANG) == 0)
      {
        if (std::chrono::steady_clock::now() > end) send(SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      return ending_of(status);
    }

  private:
    [[nodiscard]] ending ending_of(int status) const
    {
      ending result;
      if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
      result.out = read_text(folder_ / "out");
      result.err = read_text(folder_ / "err");
      return result;
    }

    temporary_folder folder_;
    ::pid_t child_ = -1;
  };

  inline ending run_program(std::vector<std::string> const& arguments,
                            std::map<std::string, std::string> const& environment = {})
  {
    return program(arguments, environment).wait();
  }

  /// Runs a line of /bin/sh, in which $PROGRAM is the program: for limits and redirections.
  inline ending run_in_shell(std::string const& line)
  {
    temporary_folder const folder;
    auto const err = (folder / "err").string();
    int const status =
        std::system(("PROGRAM='" + program_path() + "'; exec 2>'" + err + "'; " + line).c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .err = read_text(err)};
  }

  /// What the program itself has written to standard error, without StarPU's unavoidable message that its
  /// installation directory does not exist on this machine.
  inline std::string own_messages(ending const& end)
  {
    std::istringstream lines(end.err);
    std::string own;
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("[starpu]")) own += line + (lines.eof() ? "" : "\n");
    return own;
  }

  /// Expects success; otherwise the program's message is part of the failure.
  inline void expect_success(ending const& end)
  {
    EXPECT_EQ(end.status, 0) << "signal " << end.signal << "\n" << end.out << end.err;
    EXPECT_EQ(own_messages(end), "");
  }

  /// Expects status 2 and one line that matches.
  inline void expect_refusal(ending const& end, std::string const& pattern)
  {
    EXPECT_EQ(end.status, 2) << "signal " << end.signal << "\n" << end.out;
    std::string const message = own_messages(end);
    EXPECT_THAT(message, testing::ContainsRegex(pattern));
    EXPECT_THAT(message, testing::StartsWith("nearfield: "));
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
    EXPECT_TRUE(message.ends_with('\n')) << message;
  }
}
