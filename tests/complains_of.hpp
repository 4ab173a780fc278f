#pragma once

#include <nearfield/core/error.hpp>

#include <gmock/gmock.h>

namespace nearfield::test
{
  /// Matches what throws error with one line that holds all the words.
  template <class... Words>
  auto complains_of(Words const&... words)
  {
    using ::testing::AllOf;
    using ::testing::HasSubstr;
    using ::testing::Not;
    return ::testing::ThrowsMessage<error>(AllOf(HasSubstr(words)..., Not(HasSubstr("\n"))));
  }
}
