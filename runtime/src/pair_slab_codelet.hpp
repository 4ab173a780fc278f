#pragma once

#include "pair_slab_tasks.hpp"

#include <map>
#include <memory>
#include <utility>

namespace nearfield::starpu::detail
{
  /// The codelet of one kind of tasks and one choice of workers.
  template <class T, int Dim>
  class pair_slab_codelet : public codelet_base
  {
  public:
    static starpu_codelet& of(pair_slab_work what, backend_choice backend)
    {
      // never destroyed: StarPU writes the models when it stops, maybe after static objects are gone
      static codelets const& all = *new codelets(make_all());
      return all.at({what, backend})->get();
    }

  private:
    using tasks = pair_slab_tasks<T, Dim>;

    using codelets =
        std::map<std::pair<pair_slab_work, backend_choice>, std::unique_ptr<pair_slab_codelet>>;

    static codelets make_all()
    {
      codelets made;
      for (auto const what : {pair_slab_work::count, pair_slab_work::fill})
        for (auto const backend : {backend_choice::automatic, backend_choice::scalar,
                                   backend_choice::simd, backend_choice::cuda})
          made[{what, backend}].reset(new pair_slab_codelet(what, backend));
      return made;
    }

    pair_slab_codelet(pair_slab_work what, backend_choice backend)
        : codelet_base(name_of(what), symbol(what, backend), &footprint)
    {
      starpu_codelet& to = get();
      bool const counts = what == pair_slab_work::count;
      if (backend == backend_choice::cuda)
        to.where = 0;
      else
        to.cpu_funcs[0] = counts ? &on_cpu<pair_slab_work::count, &tasks::count_on_cpu>
                                 : &on_cpu<pair_slab_work::fill, &tasks::fill_on_cpu>;
#if defined(STARPU_USE_CUDA)
      bool const may = backend == backend_choice::automatic || backend == backend_choice::cuda;
      if (may && built_with_cuda())
      {
        to.cuda_funcs[0] = counts ? &on_cuda<pair_slab_work::count, &tasks::count_on_gpu>
                                  : &on_cuda<pair_slab_work::fill, &tasks::fill_on_gpu>;
        to.cuda_flags[0] = STARPU_CUDA_ASYNC;
        to.where |= STARPU_CUDA;
      }
#endif
    }

    static std::string name_of(pair_slab_work what)
    {
      return what == pair_slab_work::count ? "pair_slabs_count" : "pair_slabs_fill";
    }
    static std::string symbol(pair_slab_work what, backend_choice backend)
    {
      static char const* const names[] = {"automatic", "scalar", "simd", "cuda"};
      return "nearfield_" + name_of(what) + "_" + std::to_string(Dim) + "d_" +
             (sizeof(T) == 4 ? "f32_" : "f64_") + names[static_cast<int>(backend)];
    }

    static uint32_t footprint(starpu_task* task)
    {
      auto const& mine = *static_cast<typename tasks::argument const*>(task->cl_arg);
      return work_bin(static_cast<double>(mine.list->slabs[mine.slab].candidates));
    }

    template <pair_slab_work What, void (tasks::*Run)(std::size_t, void**)>
    static void on_cpu(void** buffers, void* cl_arg) noexcept
    {
      auto const& mine = *static_cast<typename tasks::argument const*>(cl_arg);
      try
      {
        mine.list->watch.count(mine.list->options.backend == backend_choice::scalar ? 1 : 0);
        (mine.list->*Run)(mine.slab, buffers);
      }
      catch (...)
      {
        mine.list->watch.caught();
        mine.list->clear_outputs(What, buffers, std::nullopt);
      }
    }

#if defined(STARPU_USE_CUDA)
    template <pair_slab_work What, void (tasks::*Run)(std::size_t, void**, cuda_stream)>
    static void on_cuda(void** buffers, void* cl_arg) noexcept
    {
      auto const& mine = *static_cast<typename tasks::argument const*>(cl_arg);
      try
      {
        mine.list->watch.count(2);
        (mine.list->*Run)(mine.slab, buffers, starpu_cuda_get_local_stream());
      }
      catch (...)
      {
        mine.list->watch.caught();
        mine.list->clear_outputs(What, buffers, starpu_cuda_get_local_stream());
      }
    }
#endif
  };
}
