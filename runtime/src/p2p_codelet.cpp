#include "p2p_codelet.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <string>

namespace nearfield::starpu::detail
{
  std::string_view worker_of(kernel_shape const& k, backend where)
  {
    switch (where)
    {
    case backend::cuda:
      return "cuda";
    case backend::scalar:
      return "scalar";
    default:
      return k.own_isa.empty() ? name_of(selected_isa()) : k.own_isa;
    }
  }

  void check_cuda_backend(kernel_shape const& k, backend_set backends)
  {
    if (!backends.names_cuda()) return;
    std::string problem;
    if (!k.has_cuda)
      problem = "the interaction " + std::string(k.name) +
                " has no CUDA kernels: give it has_cuda and NEARFIELD_CUDA_KERNELS";
    else if (!built_with_cuda())
      problem = cuda_problem();
    else if (!backends.has_scalar() && !backends.has_simd())
      problem = gpu_problem();
    if (!problem.empty())
      throw error("backend cuda: " + problem,
                  k.has_cuda ? error_kind::not_available : error_kind::invalid_argument);
  }

  std::vector<monitor::worker_tasks> statistics_of(monitor const& watch, kernel_shape const& k)
  {
    std::string_view const names[] = {worker_of(k, backend::simd), "scalar", "cuda"};
    return watch.tasks(names);
  }

  template <class T>
  codelet::description p2p_codelet<T>::describe(char const* operation, kernel_type<T> const& k,
                                                backend_set backends)
  {
    std::string implementations;
    if (backends.has_simd()) implementations += "_" + std::string(worker_of(k, backend::simd));
    if (backends.has_scalar()) implementations += "_scalar";
    if (implementations.empty()) implementations = "_cuda";
    // two interactions of the same name have separate models
    std::string const type = k.type_name.empty() ? "" : "_" + std::to_string(k.number);
    std::string const symbol = "nearfield_" + std::string(operation) + "_" + std::string(k.name) +
                               type + "_" + std::to_string(k.dim) + "d_" +
                               (sizeof(T) == 4 ? "f32" : "f64") + implementations;
    return {operation, symbol, "near field", backends, k.cuda && built_with_cuda()};
  }

  template <class T>
  p2p_codelet<T>::p2p_codelet(description const& what, kernel_type<T> const& k)
      : codelet(what), type_(k), scalar_(k.scalar(k.number))
  {
    // get the kernels now: errors are thrown here rather than in a task
    if (what.backends.has_simd()) simd_ = k.simd(k.number);
    if (what.backends.has_cuda() && what.has_cuda) cuda_ = k.cuda(k.number);
  }

  template <class T>
  p2p_argument const& p2p_codelet<T>::argument_of(starpu_task const& task) const
  {
    auto const fail = [&](std::string const& what)
    {
      throw error(std::string(starpu_codelet::name) + ": " + what);
    };
    if (!task.cl_arg)
    {
      if (!type_.by_default)
        fail("a task without an argument, but " + std::string(type_.name) +
             " has parameters; pass those of p2p::argument()");
      std::call_once(has_default_,
                     [&]
                     {
                       default_kernel_ = type_.by_default(type_.number);
                       default_ = detail::argument_of(default_kernel_, nullptr);
                     });
      return default_;
    }
    if (task.cl_arg_size != argument_size())
      fail("the task's argument has " + std::to_string(task.cl_arg_size) + " bytes, that of " +
           std::string(type_.name) + " has " + std::to_string(argument_size()) +
           "; pass STARPU_CL_ARGS_NFREE, p2p.argument(), p2p.argument_size()");
    auto const& argument = *static_cast<p2p_argument const*>(task.cl_arg);
    if (argument.number != type_.number)
      fail("the task's argument is not that of a p2p of " + std::string(type_.name) +
           "; pass the argument of the object whose codelet it is");
    return argument;
  }

  template class p2p_codelet<float>;
  template class p2p_codelet<double>;
}
