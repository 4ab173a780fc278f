#pragma once

#include <nearfield/core/api.hpp>

#include <stdexcept>
#include <string>

namespace nearfield
{
  /// The exception that nearfield throws. Its message is one line that names the argument, the
  /// value found and the remedy.
  class NEARFIELD_API error : public std::runtime_error
  {
  public:
    /// Keeps the message unchanged.
    explicit error(std::string const& what) : std::runtime_error(what) {}
  };
}
