#include "pinned.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/search/cuda.hpp>

#include <cuda_runtime_api.h>

namespace nearfield::detail
{
  search_mailbox::search_mailbox()
  {
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, 1024), "cuda_cell_list: cudaMallocHost");
    memory_ = static_cast<char*>(memory);
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
  }

  search_mailbox::~search_mailbox()
  {
    cudaEventDestroy(event_);
    cudaFreeHost(memory_);
  }

  void search_mailbox::fetch(int slot, void const* from, std::size_t bytes, cuda_stream stream)
  {
    check_cuda(cudaMemcpyAsync(memory_ + 8 * slot, from, bytes, cudaMemcpyDeviceToHost, stream),
               "cuda_cell_list: cudaMemcpyAsync");
  }

  void search_mailbox::mark(cuda_stream stream)
  {
    check_cuda(cudaEventRecord(event_, stream), "cuda_cell_list: cudaEventRecord");
  }

  void search_mailbox::wait()
  {
    check_cuda(cudaEventSynchronize(event_), "cuda_cell_list: cudaEventSynchronize");
  }

  unsigned multiprocessors()
  {
    int device = 0, count = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
               "cudaDeviceGetAttribute");
    return static_cast<unsigned>(count);
  }

  void end_stage(char const* stage, cuda_stream stream)
  {
    if (search_stage_hook) search_stage_hook(stage, stream);
  }
}
