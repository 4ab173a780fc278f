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
        if (!argument.points) return gather_columns(argument.from, argument.order, chunk, 0);
        for (int c = 0; c < argument.from.columns().width(); ++c)
          for (index_type i = 0; i < argument.points->size(); ++i)
            chunk[c][i] = argument.from[c][argument.points->begin + i];
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
        if (argument.points)
          return deliver_points(argument, columns<T const>(task.buffers[0], n_columns));
        deliver_group(argument, columns<T const>(task.buffers[0], n_columns),
                      [&](std::size_t halo)
                      { return columns<T const>(task.buffers[1 + halo], n_columns); });
      }

      static void deliver_points(deliver_argument<T> const& what, columns<T const> const& out)
      {
        for (int c = 0; c < what.to.columns().width(); ++c)
        {
          auto const to = what.to[c];
          for (index_type i = 0; i < what.points->size(); ++i)
            if (what.accumulate)
              to[what.points->begin + i] += out[c][i];
            else
              to[what.points->begin + i] = out[c][i];
        }
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
