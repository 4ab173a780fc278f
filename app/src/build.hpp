#pragma once

namespace nearfield::app
{
  /// How this program was built, and from which commit.
  struct build_description
  {
    char const* version;
    char const* commit;
    char const* compiler;
    char const* build_type;
    char const* isas; ///< separated by semicolons, as CMake lists are
  };
  extern build_description const build;
}
