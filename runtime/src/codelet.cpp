#include <nearfield/starpu/codelet.hpp>

#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <cmath>

namespace nearfield::starpu::detail
{
  codelet_base::codelet_base(std::string const& name, std::string const& symbol,
                             uint32_t (*footprint)(starpu_task*))
      : name_(name), symbol_(symbol)
  {
    // a model by work: data of equal size can mean very different numbers of pairs
    model_.type = STARPU_HISTORY_BASED;
    model_.symbol = symbol_.c_str();
    model_.footprint = footprint;

    starpu_codelet_init(&codelet_);
    codelet_.name = name_.c_str();
    codelet_.model = &model_;
    codelet_.where = STARPU_CPU;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
  }

  uint32_t work_bin(double interactions)
  {
    return static_cast<uint32_t>(std::lround(2 * std::log2(std::max(interactions, 1.))));
  }

  std::string gpu_problem()
  {
    if (!starpu_is_initialized())
      return "StarPU is not running: call starpu_init, or keep a nearfield::starpu::runtime";
    if (!has_cuda())
      return "this StarPU was built without CUDA: ./dev starpu-cuda builds one with it";
    if (auto problem = cuda_problem(); !problem.empty()) return problem;
    return starpu_cuda_worker_get_count() > 0 ? ""
                                              : "StarPU has no GPU worker (--gpus, STARPU_NCUDA)";
  }
}
