#pragma once

namespace nearfield::app
{
  /// What this program was built from and how.
  struct build_description
  {
    char const* version;
    char const* commit;
    char const* compiler;
    char const* build_type;
    char const* isas; ///< divided by blanks
  };
  extern build_description const build;
}
