// nearfield without CUDA: the same names, which say how to build it.

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

namespace nearfield
{
  std::vector<gpu> gpus()
  {
    return {};
  }

  bool built_with_cuda() noexcept
  {
    return false;
  }

  std::string cuda_problem()
  {
    return "this nearfield was built without CUDA: configure with -DNEARFIELD_ENABLE_CUDA=ON";
  }

  void check_cuda(int code, char const* what)
  {
    if (code == 0) return;
    throw error(std::string(what) + " failed with CUDA's error " + std::to_string(code) + ": " +
                cuda_problem());
  }
}
