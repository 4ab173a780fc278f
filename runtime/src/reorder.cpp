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
              .has_work = false,
              .is_counted = false};
    }

    template <class T>
    class collect : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<collect_argument<T> const&>(task.argument);
        int const n_columns = argument.from.columns().width();
        columns<T> const chunk(task.buffers[0], n_columns);
        for (int c = 0; c < n_columns; ++c)
        {
          auto const from = argument.from[c];
          T* const to = chunk[c];
          for (index_type i = 0; i < chunk.n; ++i) to[i] = from[argument.order[i]];
        }
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
        columns<T const> const out(task.buffers[0], n_columns);
        std::vector<T> with_halos(argument.pieces.empty() ? 0 : out.n);
        for (int c = 0; c < n_columns; ++c)
        {
          T const* sums = out[c];
          if (!with_halos.empty())
          {
            std::copy_n(sums, out.n, with_halos.begin());
            sums = with_halos.data();
          }
          for (auto const& piece : argument.pieces)
          {
            T const* const halo = columns<T const>(task.buffers[1 + piece.halo], n_columns)[c];
            for (index_type i = 0; i < piece.size; ++i)
              with_halos[piece.begin + i] += halo[piece.halo_begin + i];
          }
          auto const to = argument.to[c];
          if (argument.accumulate)
            for (index_type i = 0; i < out.n; ++i) to[argument.order[i]] += sums[i];
          else
            for (index_type i = 0; i < out.n; ++i) to[argument.order[i]] = sums[i];
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
