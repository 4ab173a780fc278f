#pragma once

#include <nearfield/cuda/stream.hpp>

#include <cstddef>
#include <cstring>

struct CUevent_st;

namespace nearfield::detail
{
  template <int Dim>
  struct device_bounds;

  /// A few words of pinned host memory that the device writes, and an event that tells when.
  class search_mailbox
  {
  public:
    search_mailbox();
    ~search_mailbox();
    search_mailbox(search_mailbox const&) = delete;
    search_mailbox& operator=(search_mailbox const&) = delete;

    /// Copies device memory into slots of 8 bytes, of 16.
    void fetch(int slot, void const* from, std::size_t bytes, cuda_stream stream);
    /// wait() returns when the stream has come here.
    void mark(cuda_stream stream);
    void wait();

    template <class V>
    [[nodiscard]] V read(int slot) const
    {
      V value;
      std::memcpy(&value, memory_ + 8 * slot, sizeof value);
      return value;
    }
    /// A slot that kernels write to.
    [[nodiscard]] unsigned volatile* word(int slot)
    {
      return reinterpret_cast<unsigned volatile*>(memory_ + 8 * slot);
    }
    /// Room for two.
    template <int Dim>
    [[nodiscard]] device_bounds<Dim>* bounds()
    {
      return reinterpret_cast<device_bounds<Dim>*>(memory_ + 128);
    }

  private:
    char* memory_ = nullptr;
    CUevent_st* event_ = nullptr;
  };

  /// Of the current device.
  unsigned multiprocessors();

  /// Tells search_stage_hook that the work of a stage has been given to the stream.
  void end_stage(char const* stage, cuda_stream stream);
}
