#pragma once

#include "core/src/cuda/pinned.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nearfield::test
{
  /// Columns in memory that StarPU has pinned for GPUs, or not.
  template <class T>
  class pinned_columns
  {
  public:
    pinned_columns(std::size_t width, std::size_t n, bool is_pinned = true)
        : n_(n), flags_(is_pinned ? STARPU_MALLOC_PINNED : 0)
    {
      void* memory = nullptr;
      starpu::check(starpu_malloc_flags(&memory, width * n * sizeof(T), flags_),
                    "starpu_malloc_flags");
      for (std::size_t c = 0; c < width; ++c) columns_.push_back(static_cast<T*>(memory) + c * n);
      EXPECT_EQ(nearfield::detail::is_pinned(memory, width * n * sizeof(T)), is_pinned);
    }
    pinned_columns(pinned_columns const&) = delete;
    pinned_columns& operator=(pinned_columns const&) = delete;
    ~pinned_columns() { starpu_free_flags(columns_[0], columns_.size() * n_ * sizeof(T), flags_); }

    [[nodiscard]] soa<T, run_time_columns> view() const { return {columns_, n_}; }

  private:
    std::size_t n_;
    int flags_;
    std::vector<T*> columns_;
  };

  template <class To, class From>
  void copy_columns(From const& from, To const& to)
  {
    for (int c = 0; c < to.width(); ++c) std::copy_n(from[c], from.size(), to[c]);
  }
}
