#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

/// \file
/// Device memory: `device_array` and `device_columns`, and where they come from. All device memory of nearfield but
/// that of StarPU's handles is allocated in the order of a stream, from nearfield's own pools, which keep what is
/// freed: work on the GPU would otherwise wait for the driver at every step. set_device_memory() replaces
/// them by your own allocator. Views of any other device memory work as well.

struct CUmemPoolHandle_st;

namespace nearfield
{
  /// An allocator for set_device_memory(). Several threads may call it at once, and each does so with the device
  /// that it was set for as the current one.
  class NEARFIELD_API device_memory
  {
  public:
    /// The memory of nearfield's own pools on a device, in bytes, without what other allocators hold.
    struct usage
    {
      /// in live arrays
      std::uint64_t used = 0;
      /// the most that `used` has been since reset_pool_peak()
      std::uint64_t peak = 0;
      /// taken from the device, in use or kept for later arrays
      std::uint64_t held = 0;
    };

    virtual ~device_memory() = default;

    /// Returns `bytes` > 0 of device memory, aligned to 256 bytes, for work that is put into the stream from now on.
    /// Null, or an exception other than nearfield::error, tells the caller that memory has run out. Who tries
    /// again after an error of CUDA's clears that (cudaGetLastError()).
    virtual void* allocate(std::size_t bytes, cuda_stream stream) = 0;
    /// Takes back what allocate(bytes, stream) returned. Work that is in the stream may still use it.
    virtual void deallocate(void* memory, std::size_t bytes, cuda_stream stream) noexcept = 0;
  };

  /// Allocates from `pool`, a cudaMemPool_t, which the caller creates and destroys. Throws nearfield::error for null.
  NEARFIELD_API std::shared_ptr<device_memory> device_memory_of(CUmemPoolHandle_st* pool);

  /// From now on arrays, lists and the scratch of searches on the current device take their memory from `memory`;
  /// null stands for nearfield's own pools. Returns what was there before. Each array keeps the allocator that it
  /// came from and returns its memory there, so arrays may outlive a replacement. The allocator is kept for as long as
  /// the process runs, unless it is replaced. Before it takes over, nearfield's pools return what they do not use.
  /// Throws nearfield::error if there is no device, or if nearfield was built without CUDA.
  NEARFIELD_API std::shared_ptr<device_memory>
  set_device_memory(std::shared_ptr<device_memory> memory);

  /// What nearfield's own pools have on the current device. This and the next two throw nearfield::error if there is no
  /// device, or if nearfield was built without CUDA.
  NEARFIELD_API device_memory::usage memory_of_pool();
  /// Restarts the peak of memory_of_pool() from the present use.
  NEARFIELD_API void reset_pool_peak();
  /// Waits for the device, then returns the unused memory of nearfield's own pools to it.
  NEARFIELD_API void trim_pool();

  namespace detail
  {
    /// Returns memory, in the order of its stream, to where it came from.
    struct NEARFIELD_API device_deleter
    {
      std::size_t bytes = 0;
      cuda_stream stream = nullptr;
      int device = 0;
      std::shared_ptr<device_memory> from{};

      void operator()(void* memory) const noexcept;
    };
    using device_block = std::unique_ptr<void, device_deleter>;

    /// Throws nearfield::error if the device has too little memory; `what` says in the message what it is for.
    NEARFIELD_API device_block device_allocate(std::size_t bytes, cuda_stream stream,
                                               char const* what);
    /// Between host and device, in either direction, in a stream of `device` (the current one, if negative); waits
    /// for it.
    NEARFIELD_API void device_copy(void* to, void const* from, std::size_t bytes,
                                   cuda_stream stream, int device = -1);
    /// In the memory of the current device, or between that and pinned memory of the host; asynchronous.
    NEARFIELD_API void device_copy_async(void* to, void const* from, std::size_t bytes,
                                         cuda_stream stream);
    /// asynchronous
    NEARFIELD_API void device_clear(void* memory, std::size_t bytes, cuda_stream stream);
    /// Destroys the pools of all devices; memory of live arrays is released once they free it. The next
    /// allocation makes new pools. To be called before a device is reset, which invalidates its pools.
    NEARFIELD_API void release_pools() noexcept;

    /// Throws nearfield::error if a span of host memory is shorter than what is copied from or to it.
    inline void check_span(char const* function, std::size_t found, std::size_t expected)
    {
      if (found < expected)
        throw error(std::string(function) + ": found a span of " + std::to_string(found) +
                    " values, expected " + std::to_string(expected));
    }
  }

  /// Owns n values in the memory of the current device. They are allocated, copied and freed in the order of a
  /// stream, which must outlive the array. Work on another stream must start after the allocation (synchronize(), or
  /// an event) and end before the array is destroyed. cudaStreamPerThread is another stream in each thread: an array with
  /// it stays in one.
  template <class T>
  class device_array
  {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    device_array() = default;
    /// Not initialised. Throws nearfield::error if the device has too little memory; `what` starts the message.
    explicit device_array(std::size_t n, cuda_stream stream = nullptr,
                          char const* what = "device_array")
        : block_(detail::device_allocate(n * sizeof(T), stream, what))
    {}
    /// A copy of host memory.
    explicit device_array(std::span<T const> from, cuda_stream stream = nullptr)
        : device_array(from.size(), stream)
    {
      copy_from(from);
    }

    /// The first value, in device memory.
    [[nodiscard]] T* data() { return static_cast<T*>(block_.get()); }
    /// The first value, in device memory.
    [[nodiscard]] T const* data() const { return static_cast<T const*>(block_.get()); }
    /// The number of values; 0 in an array that was moved from.
    [[nodiscard]] std::size_t size() const
    {
      return block_ ? block_.get_deleter().bytes / sizeof(T) : 0;
    }
    /// The stream that orders the use of the memory; null is the default stream.
    [[nodiscard]] cuda_stream stream() const { return block_.get_deleter().stream; }

    /// Copies size() values from host memory, and waits for the stream.
    void copy_from(std::span<T const> from)
    {
      detail::check_span("device_array::copy_from", from.size(), size());
      detail::device_copy(data(), from.data(), size() * sizeof(T), stream(),
                          block_.get_deleter().device);
    }
    /// Copies size() values to host memory, and waits for the stream.
    void copy_to(std::span<T> to) const
    {
      detail::check_span("device_array::copy_to", to.size(), size());
      detail::device_copy(to.data(), data(), size() * sizeof(T), stream(),
                          block_.get_deleter().device);
    }

  private:
    detail::device_block block_;
  };

  /// N columns in device memory, each a device_array.
  template <class T, int N>
  class device_columns
  {
  public:
    /// n values per column, not initialised. Throws nearfield::error if the device has too little memory.
    explicit device_columns(std::size_t n, cuda_stream stream = nullptr)
    {
      for (auto& column : columns_) column = device_array<T>(n, stream);
    }
    /// A copy of columns in host memory.
    template <class U>
      requires std::is_same_v<std::remove_const_t<U>, T>
    explicit device_columns(soa<U, N> const& from, cuda_stream stream = nullptr)
    {
      for (int c = 0; c < N; ++c)
        columns_[c] = device_array<T>(std::span<T const>(from[c], from.size()), stream);
    }
    /// A copy of columns in host memory, such as gather() makes.
    explicit device_columns(column_set<T, N> const& from, cuda_stream stream = nullptr)
        : device_columns(from.view(), stream)
    {}

    /// The number of values in each column.
    [[nodiscard]] std::size_t size() const { return columns_[0].size(); }
    /// The columns as kernels take them.
    [[nodiscard]] soa<T, N> view() & { return {pointers<T>(columns_), size()}; }
    /// Read-only view of the columns.
    [[nodiscard]] soa<T const, N> view() const& { return {pointers<T const>(columns_), size()}; }
    void view() const&& = delete; ///< deleted: give the columns a name, which outlives the view
    /// Copies to columns of size() values in host memory, and waits for the stream.
    void copy_to(soa<T, N> const& to) const
    {
      for (int c = 0; c < N; ++c) columns_[c].copy_to({to[c], to.size()});
    }

  private:
    template <class U, class Columns>
    static std::array<U*, N> pointers(Columns& columns)
    {
      std::array<U*, N> result;
      for (int c = 0; c < N; ++c) result[c] = columns[c].data();
      return result;
    }

    std::array<device_array<T>, N> columns_;
  };
}
