#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <starpu.h>

#include <cmath>
#include <cstddef>
#include <vector>

/// \file
/// A user's codelet that moves points where they are: on GPUs, if the runtime has some.

namespace nearfield::test
{
  template <class T>
  NEARFIELD_FN void move_point(T* const* x, int dim, std::size_t i)
  {
    for (int d = 0; d < dim; ++d) x[d][i] += T(0.125) * std::sin(T(9) * x[(d + 1) % dim][i] + T(d));
  }

#if defined(NEARFIELD_TEST_CUDA)
  /// x: at most 3 columns of n points in device memory.
  template <class T>
  void move_on_gpu(T* const* x, int dim, std::size_t n, cuda_stream stream);
  extern template void move_on_gpu(float* const*, int, std::size_t, cuda_stream);
  extern template void move_on_gpu(double* const*, int, std::size_t, cuda_stream);
#endif

  template <class T>
  struct point_mover : starpu_codelet
  {
    point_mover()
    {
      starpu_codelet_init(this);
      name = "move";
      nbuffers = STARPU_VARIABLE_NBUFFERS;
#if defined(NEARFIELD_TEST_CUDA)
      cuda_funcs[0] = [](void** buffers, void*)
      {
        auto const x = columns(buffers);
        move_on_gpu(x.data(), static_cast<int>(x.size()), STARPU_VECTOR_GET_NX(buffers[0]),
                    starpu_cuda_get_local_stream());
      };
      cuda_flags[0] = STARPU_CUDA_ASYNC;
#else
      cpu_funcs[0] = [](void** buffers, void*)
      {
        auto const x = columns(buffers);
        for (std::size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i)
          move_point(x.data(), static_cast<int>(x.size()), i);
      };
#endif
    }

    /// x: at most STARPU_NMAXBUFS columns.
    void submit(std::vector<starpu::handle> const& x)
    {
      starpu_task* const task = starpu_task_create();
      task->cl = this;
      task->nbuffers = static_cast<int>(x.size());
      for (std::size_t d = 0; d < x.size(); ++d)
      {
        STARPU_TASK_SET_HANDLE(task, x[d], d);
        task->modes[d] = STARPU_RW;
      }
      starpu::check(starpu_task_submit(task), "starpu_task_submit");
    }

  private:
    static std::vector<T*> columns(void** buffers)
    {
      std::vector<T*> x;
      for (int d = 0; d < starpu_task_get_current()->nbuffers; ++d)
        x.push_back(reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffers[d])));
      return x;
    }
  };
}
