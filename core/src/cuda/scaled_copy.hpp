#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <cstddef>
#include <cstdint>

namespace nearfield::detail
{
  /// What device_scaled_copy() does beside multiplying.
  struct scaled_copy_options
  {
    double const* scale = nullptr;       ///< a factor for each value, in device memory; null: 1
    double origin[3] = {};               ///< subtracted from each column of `from` first
    bool accumulate = false;             ///< += instead of =
    std::uint32_t* not_finite = nullptr; ///< set to 1 in device memory if a result is not finite
  };

  /// to[c][i] = h scale[i] (from[c][i] - origin[c]) for i < n, computed in double without contraction, as a loop of the host does it;
  /// columns are host arrays of device pointers, at most 3. From and To are float or double, not both float.
  template <class From, class To>
  NEARFIELD_API void device_scaled_copy(cuda_stream stream, std::size_t n, int n_columns, double h,
                                        From const* const* from, To* const* to,
                                        scaled_copy_options const& options = {});
}
