#pragma once

#include "codelet.hpp"
#include "pair_slab_tasks.hpp"

#include <nearfield/cuda/device.hpp>

#include <optional>

namespace nearfield::starpu::detail
{
  /// The codelet of one kind of task and one choice of back-end.
  template <class T, int Dim>
  class pair_slab_codelet : public codelet
  {
  public:
    static starpu_codelet& of(search_work what, backend where)
    {
      static char const* const names[] = {"automatic", "scalar", "simd", "cuda"};
      char const* const name = what == search_work::count ? "pair_slabs_count" : "pair_slabs_fill";
      std::string const symbol = "nearfield_" + std::string(name) + "_" + std::to_string(Dim) +
                                 "d_" + (sizeof(T) == 4 ? "f32_" : "f64_") +
                                 names[static_cast<int>(where)];
      return registered<pair_slab_codelet>({name, symbol, name, where, built_with_cuda()}, nullptr,
                                           what);
    }

    pair_slab_codelet(description const& how, search_work what) : codelet(how), what_(what) {}

  private:
    void run(running_task const& task) const override
    {
      auto const& mine =
          static_cast<typename pair_slab_tasks<T, Dim>::argument const&>(task.argument);
      bool const on_gpu = task.on == implementation::cuda;
      mine.list->run(what_, *mine.one, task.buffers,
                     on_gpu ? std::optional(task.stream) : std::nullopt);
    }

    search_work what_;
  };
}
