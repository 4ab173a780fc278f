#pragma once

#include <nearfield/core/api.hpp>

#include <starpu.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace nearfield::starpu
{
  /// A StarPU vector handle that unregisters itself. Columns stand one after the other: of n points
  /// and c columns, value (i, column) is element column * n + i. Throws error for 2^32 values or
  /// more, and when StarPU is not running.
  class NEARFIELD_API handle
  {
  public:
    handle() = default;

    /// n values in memory that the caller owns and keeps; the tasks work on it. Several outputs to which
    /// tasks of two outputs add shall share an arbiter: yours, which must live as long.
    template <class T>
    static handle of(T* data, std::size_t n, starpu_arbiter_t arbiter = nullptr)
    {
      handle made(STARPU_MAIN_RAM, data, n, sizeof(T));
      if (arbiter) starpu_data_assign_arbiter(made, arbiter);
      return made;
    }

    /// n values that a task has to write before others read them or add to them. On a machine with
    /// GPUs StarPU allocates them where they are first written, and aborts where they are read
    /// before. Without GPUs they are allocated here, as zeros, since StarPU retries for ever if a
    /// task's data does not fit into memory; throws std::bad_alloc.
    template <class T>
    static handle of_size(std::size_t n)
    {
      return of_bytes(n, sizeof(T));
    }

    /// Takes the data of the other one.
    handle(handle&& other) noexcept
        : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr))
    {}
    /// Exchanges data with the other one.
    handle& operator=(handle&& other) noexcept
    {
      std::swap(memory_, other.memory_);
      std::swap(data_, other.data_);
      return *this;
    }
    /// Waits for the tasks that use the data. Memory of the caller is brought up to date. Where
    /// StarPU has been stopped before, nothing is done.
    ~handle();

    /// StarPU's handle; null where this one is empty.
    [[nodiscard]] starpu_data_handle_t get() const { return data_; }
    /// StarPU's handle; null where this one is empty.
    operator starpu_data_handle_t() const { return data_; } // NOLINT(google-explicit-constructor)
    /// Whether there is data.
    explicit operator bool() const { return data_ != nullptr; }

  private:
    using owned_memory = std::unique_ptr<void, decltype(&std::free)>;

    handle(int home, void const* data, std::size_t n, std::size_t element_size);
    static handle of_bytes(std::size_t n, std::size_t element_size);

    owned_memory memory_{nullptr, &std::free}; ///< of of_size()
    starpu_data_handle_t data_ = nullptr;
  };
}
