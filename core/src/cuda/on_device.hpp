#pragma once

#include <nearfield/core/config.hpp>

namespace nearfield::detail
{
  /// Makes a device the current one while it lives; a negative one is the current one.
  class NEARFIELD_API on_device
  {
  public:
    explicit on_device(int device) noexcept;
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device();

  private:
    int before_ = 0;
    bool changed_ = false;
  };
}
