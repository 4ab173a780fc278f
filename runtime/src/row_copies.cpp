#include "row_copies.hpp"

#include "columns.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace nearfield::starpu::detail
{
  namespace
  {
    using nearfield::detail::row_run;

    template <class T>
    class copy_rows : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<copy_argument const&>(task.argument);
        columns<T> const target(task.buffers[0], argument.n_columns);
        for (row_copy const& copy : argument.copies)
        {
          columns<T> const source(task.buffers[1 + copy.source], argument.n_columns);
          if (copy.list == row_copy::no_list)
          {
            copy_all(task, copy, source, target, argument.n_columns);
            continue;
          }
          auto const list = STARPU_VECTOR_GET_PTR(task.buffers[1 + copy.list]);
          if (copy.n_runs > 0)
            copy_runs(task, copy, reinterpret_cast<row_run const*>(list) + copy.first_run, source,
                      target, argument.n_columns);
          else
            copy_list(task, argument, copy, reinterpret_cast<index_type const*>(list) + copy.begin,
                      source, target);
        }
      }

      static void copy_list(running_task const& task, copy_argument const& argument,
                            row_copy const& copy, index_type const* list, columns<T> const& source,
                            columns<T> const& target)
      {
        if (task.on == implementation::cuda)
          return launch(task.stream, argument, copy, list, source, target);
        for (int c = 0; c < argument.n_columns; ++c)
          copy_column(argument.kind, copy, list, source[c], target[c]);
      }

      static void copy_runs(running_task const& task, row_copy const& copy, row_run const* runs,
                            columns<T> const& source, columns<T> const& target, int n_columns)
      {
        if (task.on == implementation::cuda)
        {
          auto const [from, to] = gathered(copy, source, target, n_columns);
          return nearfield::detail::device_gather_runs<T>(task.stream, runs, copy.n_runs,
                                                          copy.begin, copy.n, from.data(),
                                                          to.data(), n_columns);
        }
        for (int c = 0; c < n_columns; ++c)
          for (index_type k = 0; k < copy.n_runs; ++k)
          {
            index_type const end = k + 1 < copy.n_runs ? runs[k + 1].row : copy.begin + copy.n;
            std::copy_n(source[c] + (runs[k].place - copy.base), end - runs[k].row,
                        target[c] + runs[k].row);
          }
      }

      static void copy_all(running_task const& task, row_copy const& copy, columns<T> const& source,
                           columns<T> const& target, int n_columns)
      {
        for (int c = 0; c < n_columns; ++c)
          if (task.on == implementation::cuda)
            nearfield::detail::device_copy_async(target[c] + copy.begin, source[c],
                                                 copy.n * sizeof(T), task.stream);
          else
            std::copy_n(source[c], copy.n, target[c] + copy.begin);
      }

      static void copy_column(copy_kind kind, row_copy const& copy, index_type const* list,
                              T const* source, T* target)
      {
        for (index_type i = 0; i < copy.n; ++i)
        {
          index_type const place = list[i] - copy.base, row = copy.begin + i;
          if (kind == copy_kind::gather)
            target[row] = source[place];
          else if (kind == copy_kind::scatter)
            target[place] = source[row];
          else
            target[place] += source[row];
        }
      }

      static void launch(cuda_stream stream, copy_argument const& argument, row_copy const& copy,
                         index_type const* list, columns<T> const& source, columns<T> const& target)
      {
        if (argument.kind == copy_kind::gather)
        {
          auto const [from, to] = gathered(copy, source, target, argument.n_columns);
          return nearfield::detail::device_gather<T>(stream, list, copy.n, from.data(), to.data(),
                                                     argument.n_columns);
        }
        pointers<T const> from;
        pointers<T> to;
        for (int c = 0; c < argument.n_columns; ++c)
        {
          from.push_back(source[c] + copy.begin);
          to.push_back(target[c] - copy.base);
        }
        nearfield::detail::device_scatter<T>(stream, list, copy.n, from.data(), to.data(),
                                             argument.n_columns, argument.kind == copy_kind::add);
      }

      template <class Value>
      using pointers = inline_vector<Value*, 16>;
      /// Places begin at base, which is taken off the address.
      static std::pair<pointers<T const>, pointers<T>> gathered(row_copy const& copy,
                                                                columns<T> const& source,
                                                                columns<T> const& target,
                                                                int n_columns)
      {
        std::pair<pointers<T const>, pointers<T>> sides;
        for (int c = 0; c < n_columns; ++c)
        {
          sides.first.push_back(source[c] - copy.base);
          sides.second.push_back(target[c] + copy.begin);
        }
        return sides;
      }
    };

    template <class T>
    starpu_codelet& make(backend where)
    {
      return registered<copy_rows<T>>({.name = "copy_rows",
                                       .symbol = std::string("nearfield_copy_rows_") +
                                                 (sizeof(T) == 4 ? "f32" : "f64") +
                                                 (where == backend::cuda ? "_cuda" : ""),
                                       .profiler_name = "pack",
                                       .backends = where,
                                       .has_cuda = built_with_cuda(),
                                       .is_counted = false});
    }
  }

  template <class T>
  starpu_codelet& copy_codelet(backend where)
  {
    static auto& on_cpu = make<T>(backend::scalar);
    if (where != backend::cuda) return on_cpu;
    static auto& on_gpu = make<T>(backend::cuda);
    return on_gpu;
  }

  namespace
  {
    template <class T>
    class collect_on_gpu : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<collect_argument<T> const&>(task.argument);
        int const n_columns = argument.from.columns().width();
        columns<T> const chunk(task.buffers[0], n_columns);
        for (int c = 0; c < n_columns; ++c)
          nearfield::detail::device_copy_async(chunk[c],
                                               argument.from[c].first + argument.points->begin,
                                               argument.points->size() * sizeof(T), task.stream);
      }
    };
  }

  template <class T>
  starpu_codelet& collect_on_gpu_codelet()
  {
    static auto& made = registered<collect_on_gpu<T>>(
        {.name = "collect_on_gpu",
         .symbol = std::string("nearfield_collect_on_gpu_") + (sizeof(T) == 4 ? "f32" : "f64"),
         .profiler_name = "pack",
         .backends = backend::cuda,
         .has_cuda = built_with_cuda(),
         .is_counted = false});
    return made;
  }

  namespace
  {
    class upload_bytes : public codelet
    {
      using codelet::codelet;

      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<upload_argument const&>(task.argument);
        std::ranges::copy(argument.from,
                          reinterpret_cast<std::byte*>(STARPU_VECTOR_GET_PTR(task.buffers[0])));
      }
    };
  }

  starpu_codelet& upload_codelet()
  {
    static auto& made = registered<upload_bytes>({.name = "upload_list",
                                                  .symbol = "nearfield_upload_list",
                                                  .profiler_name = "upload",
                                                  .backends = backend::scalar,
                                                  .is_counted = false});
    return made;
  }

  template starpu_codelet& collect_on_gpu_codelet<float>();
  template starpu_codelet& collect_on_gpu_codelet<double>();
  template starpu_codelet& copy_codelet<float>(backend);
  template starpu_codelet& copy_codelet<double>(backend);
}
