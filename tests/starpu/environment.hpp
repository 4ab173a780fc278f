#pragma once

#include <nearfield/core/error.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::test
{
  /// The message of the error that f() throws.
  template <class F>
  std::string message_of(F&& f)
  {
    try
    {
      f();
    }
    catch (error const& failure)
    {
      return failure.what();
    }
    return "nothing was thrown";
  }

  /// Restores the previous values of environment variables in its destructor.
  class environment
  {
  public:
    environment() = default;
    environment(environment const&) = delete;
    environment& operator=(environment const&) = delete;
    ~environment()
    {
      for (; !before_.empty(); before_.pop_back())
        if (auto const& [name, value] = before_.back(); value)
          setenv(name, value->c_str(), 1);
        else
          unsetenv(name);
    }
    /// Sets a variable; null unsets it.
    void set(char const* name, char const* value)
    {
      char const* const before = std::getenv(name);
      before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
      value ? setenv(name, value, 1) : unsetenv(name);
    }

  private:
    std::vector<std::pair<char const*, std::optional<std::string>>> before_;
  };
}
