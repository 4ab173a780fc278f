#pragma once

#include <nearfield/core/api.hpp>

#include <stdexcept>
#include <string>

namespace nearfield
{
  /// The one exception of the library. Its message is one line that names the argument, the value
  /// that was found and the remedy.
  class NEARFIELD_API error : public std::runtime_error
  {
  public:
    /// The message is kept as it stands.
    explicit error(std::string const& what) : std::runtime_error(what) {}
  };
}
