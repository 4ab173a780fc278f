#include "reorder.hpp"

#include "columns.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    template <class T>
    codelet::description host_task(std::string const& name, char const* range)
    {
      return {.name = name,
              .symbol = "nearfield_" + name + (sizeof(T) == 4 ? "_f32" : "_f64"),
              .profiler_name = range,
              .backends = backend::scalar,
              .is_counted = false};
    }

    template <class T>
    class collect : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<collect_argument<T> const&>(task.argument);
        columns<T> const chunk(task.buffers[0], argument.from.columns().width());
        if (!argument.order.empty()) return gather_columns(argument.from, argument.order, chunk, 0);
        for (int c = 0; c < argument.from.columns().width(); ++c)
          for (std::size_t i = 0; i < chunk.n; ++i)
            chunk[c][i] = argument.from[c][*argument.first + i];
      }
    };

    template <class T>
    class deliver : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<deliver_argument<T> const&>(task.argument);
        int const n_columns = argument.to.columns().width();
        deliver_group(argument, columns<T const>(task.buffers[0], n_columns),
                      [&](std::size_t halo)
                      { return columns<T const>(task.buffers[1 + halo], n_columns); });
      }
    };
  }

  template <class T>
  starpu_codelet& collect_codelet()
  {
    static auto& made = registered<collect<T>>(host_task<T>("collect", "upload"));
    return made;
  }
  template <class T>
  starpu_codelet& deliver_codelet()
  {
    static auto& made = registered<deliver<T>>(host_task<T>("deliver", "download"));
    return made;
  }

  template starpu_codelet& collect_codelet<float>();
  template starpu_codelet& collect_codelet<double>();
  template starpu_codelet& deliver_codelet<float>();
  template starpu_codelet& deliver_codelet<double>();
}
