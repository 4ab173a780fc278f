#include <nearfield/starpu/codelet.hpp>

#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <cmath>

namespace nearfield::starpu
{
  backend_set::backend_set(backend_choice one) : backend_set({one}) {}

  backend_set::backend_set(std::initializer_list<backend_choice> several)
  {
    for (backend_choice const one : several)
    {
      bool const all = one == backend_choice::automatic;
      // scalar where it is named: SIMD is faster, but models that have not seen both yet would try
      bits_ |= one == backend_choice::scalar ? 1u : 0u;
      bits_ |= all || one == backend_choice::simd ? 2u : 0u;
      bits_ |= all || one == backend_choice::cuda ? 4u : 0u;
      names_cuda_ = names_cuda_ || one == backend_choice::cuda;
    }
    if (bits_ == 0) throw error("backends: found none; name scalar, simd or cuda");
  }
}

namespace nearfield::starpu::detail
{
  namespace
  {
    std::string file_name(std::string symbol)
    {
      auto const may_stand = [](char c)
      {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-' || c == '.';
      };
      for (char& c : symbol)
        if (!may_stand(c)) c = '_';
      return symbol;
    }
  }

  codelet_base::codelet_base(std::string const& name, std::string const& symbol,
                             uint32_t (*footprint)(starpu_task*))
      : name_(name), symbol_(file_name(symbol))
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

  uint32_t type_number(std::type_info const& type)
  {
    uint32_t hash = 2166136261u; // FNV-1a
    for (char const* c = type.name(); *c; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
    return hash;
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
