#pragma once

namespace bench
{
  /// Rows of a whole step from arrays of the host, by stage.
  template <class T>
  void add_cuda_end_to_end();
}
