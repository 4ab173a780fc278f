#pragma once

#include "../keys.hpp"

#include <nearfield/core/config.hpp>
#include <nearfield/core/executor.hpp>
#include <nearfield/core/soa.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace nearfield::detail
{
  /// Sorts points of the host along a curve on a GPU: to the bit what write_keys(), sort_keys() and a gather make.
  template <class T, int Dim>
  class NEARFIELD_API gpu_points
  {
  public:
    /// On a device of gpus(); `on` copies to it and back. Throws nearfield::error if there is no such device.
    gpu_points(int device, executor& on);
    gpu_points(gpu_points const&) = delete;
    gpu_points& operator=(gpu_points const&) = delete;
    ~gpu_points();

    /// Keys ascend; order[p] is the index of the point at position p, and sorted[d][p] its coordinate. There are fewer
    /// than 2^31 points. Takes up to 36 bytes a point in f32, 60 in f64. Throws nearfield::error, of kind
    /// out_of_memory if the device has less.
    void sort(strided<T const, Dim> const& points, std::array<key_axis, Dim> const& axes,
              key_layout const& layout, std::uint64_t* keys, index_type* order,
              std::array<T*, Dim> const& sorted);

  private:
    class device;
    std::unique_ptr<device> device_;
  };
}
