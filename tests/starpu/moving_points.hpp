#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include "points.hpp"

#include <starpu.h>

#include <cstdint>

/// \file
/// A user's codelet that moves points, whose coordinates no host memory holds before.

namespace nearfield::test
{
  /// Coordinate `axis` of point i in a step, in the periodic box [0, 1); exact in float, so the same everywhere. Points
  /// go 1/64 of the box a step, each its own way.
  template <class T>
  NEARFIELD_FN T moved_coordinate(index_type i, int axis, int step)
  {
    std::uint64_t const hash =
        (3 * std::uint64_t(i) + static_cast<std::uint64_t>(axis) + 1) * 0x9e3779b97f4a7c15;
    auto const place = static_cast<std::uint32_t>(hash >> 40);
    std::uint32_t const stride = (hash >> 20 & 1) != 0 ? 1u << 18 : ~0u << 18;
    return static_cast<T>((place + static_cast<std::uint32_t>(step) * stride) & 0xffffff) /
           T(1 << 24);
  }

  /// All points in a step.
  template <class T, int Dim>
  points<T, Dim> moved_points(std::size_t n, int step)
  {
    points<T, Dim> x;
    for (int a = 0; a < Dim; ++a)
      for (std::size_t i = 0; i < n; ++i)
        x.columns[static_cast<std::size_t>(a)].push_back(
            moved_coordinate<T>(static_cast<index_type>(i), a, step));
    return x;
  }

#if defined(NEARFIELD_TEST_CUDA)
  template <class T>
  void move_points_on_gpu(T* x, index_type n, int axis, int step, cuda_stream stream);
  extern template void move_points_on_gpu(float*, index_type, int, int, cuda_stream);
  extern template void move_points_on_gpu(double*, index_type, int, int, cuda_stream);
#endif

  /// One column: x W; the arguments are the axis and the step.
  template <class T>
  class point_mover
  {
  public:
    static void insert(starpu_data_handle_t x, int axis, int step)
    {
      static starpu_codelet made = make();
      starpu_task_insert(&made, STARPU_W, x, STARPU_VALUE, &axis, sizeof axis, STARPU_VALUE, &step,
                         sizeof step, 0);
    }

  private:
    static starpu_codelet make()
    {
      starpu_codelet made;
      starpu_codelet_init(&made);
      made.name = "point_mover";
      made.nbuffers = 1;
      made.modes[0] = STARPU_W;
#if defined(NEARFIELD_TEST_CUDA)
      // on GPUs only, so that the host never has the points
      made.cuda_funcs[0] = [](void** buffers, void* arguments)
      {
        int axis = 0, step = 0;
        starpu_codelet_unpack_args(arguments, &axis, &step);
        move_points_on_gpu(reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffers[0])),
                           static_cast<index_type>(STARPU_VECTOR_GET_NX(buffers[0])), axis, step,
                           starpu_cuda_get_local_stream());
      };
      made.cuda_flags[0] = STARPU_CUDA_ASYNC;
#else
      made.cpu_funcs[0] = [](void** buffers, void* arguments)
      {
        int axis = 0, step = 0;
        starpu_codelet_unpack_args(arguments, &axis, &step);
        auto* const x = reinterpret_cast<T*>(STARPU_VECTOR_GET_PTR(buffers[0]));
        for (index_type i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); ++i)
          x[i] = moved_coordinate<T>(i, axis, step);
      };
#endif
      return made;
    }
  };
}
