#pragma once

#include <concepts>
#include <utility>

/// \file
/// Whether an object with a name lends a view, and a temporary does not.

namespace nearfield::test
{
  /// Of get(owner), a call of an accessor.
  template <class Owner, class Get>
  constexpr bool needs_a_name(Get)
  {
    return std::invocable<Get, Owner const&> && std::invocable<Get, Owner&> &&
           !std::invocable<Get, Owner> && !std::invocable<Get, Owner const>;
  }
}

/// A call of an accessor that can be tested for.
#define NEARFIELD_ACCESS(call)                                                                     \
  []<class Owner>(Owner&& owner) -> decltype((void)std::forward<Owner>(owner).call) {              \
  }
