#pragma once

namespace bench
{
  /// Adds the rows of a whole step from host arrays, by stage.
  template <class T>
  void add_cuda_end_to_end();
}
