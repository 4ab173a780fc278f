#pragma once

#include <nearfield/core/api.hpp>

#include <starpu.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace nearfield::starpu
{
  /// A StarPU vector handle that unregisters itself. Columns are stored one after the other: with n points,
  /// value (i, column) is element column * n + i. Making one throws nearfield::error for 2^32 values or
  /// more, or if StarPU is not running.
  class NEARFIELD_API handle
  {
  public:
    handle() = default;

    /// n values in the caller's memory, which must outlive the handle; tasks work on it in place. Outputs
    /// of mutual tasks (p2p_tasks::insert_outer_mutual) should share an arbiter, which must outlive the
    /// handles.
    template <class T>
    static handle of(T* data, std::size_t n, starpu_arbiter_t arbiter = nullptr)
    {
      handle made(STARPU_MAIN_RAM, data, n, sizeof(T));
      if (arbiter) starpu_data_assign_arbiter(made, arbiter);
      return made;
    }

    /// n values that a task must write before others read them or add to them. If StarPU has GPU workers,
    /// it allocates the values where they are first written, and aborts if they are read before. Without
    /// GPUs they are allocated here, as zeros, because StarPU retries for ever if the data of a task do not
    /// fit into memory; throws std::bad_alloc.
    template <class T>
    static handle of_size(std::size_t n)
    {
      return of_bytes(n, sizeof(T));
    }

    /// Takes the data of `other`, which is empty afterwards.
    handle(handle&& other) noexcept
        : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr))
    {}
    /// Exchanges data with `other`.
    handle& operator=(handle&& other) noexcept
    {
      std::swap(memory_, other.memory_);
      std::swap(data_, other.data_);
      return *this;
    }
    /// Waits for the tasks that use the data and updates the caller's memory. Does nothing if StarPU has
    /// already been stopped.
    ~handle();

    /// StarPU's handle; null if this one is empty.
    [[nodiscard]] starpu_data_handle_t get() const { return data_; }
    /// StarPU's handle; null if this one is empty.
    operator starpu_data_handle_t() const { return data_; } // NOLINT(google-explicit-constructor)
    /// Whether it holds data.
    explicit operator bool() const { return data_ != nullptr; }

  private:
    using owned_memory = std::unique_ptr<void, decltype(&std::free)>;

    handle(int home, void const* data, std::size_t n, std::size_t element_size);
    static handle of_bytes(std::size_t n, std::size_t element_size);

    owned_memory memory_{nullptr, &std::free}; ///< allocated by of_size()
    starpu_data_handle_t data_ = nullptr;
  };
}
