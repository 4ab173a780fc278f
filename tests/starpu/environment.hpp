#pragma once

#include <nearfield/core/error.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nearfield::test
{
  /// What the error of f() says.
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

  /// Gives environment variables back the values that they had, when it ends.
  class environment
  {
  public:
    environment() = default;
    environment(environment const&) = delete;
    environment& operator=(environment const&) = delete;
    ~environment()
    {
      for (auto const& [name, value] : before_)
        if (value)
          setenv(name, value->c_str(), 1);
        else
          unsetenv(name);
    }
    /// Null: unset.
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
