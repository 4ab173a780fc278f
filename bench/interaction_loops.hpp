#pragma once

#include "plain_loop.hpp"

namespace bench
{
  /// The plain loop of entry `number` of builtin_interactions, in float or double; null if it has none.
  template <class T>
  plain_function<T> plain_loop_of_builtin(int number);
}
