#include "row_copies.hpp"

#include "columns.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/starpu/handles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nearfield::starpu::detail
{
  namespace
  {
    using nearfield::detail::row_run;

    template <class T>
    void copy_column(copy_kind kind, row_copy const& copy, std::uintptr_t list, T const* from,
                     T* to)
    {
      if (copy.n_runs > 0)
      {
        auto const* const runs = reinterpret_cast<row_run const*>(list) + copy.first_run;
        for (index_type k = 0; k < copy.n_runs; ++k)
        {
          index_type const end = k + 1 < copy.n_runs ? runs[k + 1].row : copy.begin + copy.n;
          std::copy_n(from + runs[k].place, end - runs[k].row, to + (runs[k].row - copy.begin));
        }
      }
      else
      {
        auto const* const places = reinterpret_cast<index_type const*>(list) + copy.begin;
        for (index_type i = 0; i < copy.n; ++i)
          if (kind == copy_kind::gather)
            to[i] = from[places[i]];
          else if (kind == copy_kind::scatter)
            to[places[i]] = from[i];
          else
            to[places[i]] += from[i];
      }
    }

    template <class T>
    void launch(cuda_stream stream, copy_kind kind, row_copy const& copy, std::uintptr_t list,
                soa<T const, run_time_columns> const& from, soa<T, run_time_columns> const& to)
    {
      auto const* const places = reinterpret_cast<index_type const*>(list) + copy.begin;
      if (list == 0)
        for (int c = 0; c < from.width(); ++c)
          nearfield::detail::device_copy_async(to[c], from[c], copy.n * sizeof(T), stream);
      else if (copy.n_runs > 0)
        nearfield::detail::device_gather_runs<T>(
            stream, reinterpret_cast<row_run const*>(list) + copy.first_run, copy.n_runs,
            copy.begin, copy.n, from, to);
      else if (kind == copy_kind::gather)
        nearfield::detail::device_gather<T>(stream, places, copy.n, from, to);
      else
        nearfield::detail::device_scatter<T>(stream, places, copy.n, from, to,
                                             kind == copy_kind::add);
    }

    template <class T>
    void copy_rows(running_task const& task)
    {
      auto const& argument = static_cast<copy_argument const&>(task.argument);
      bool const gathers = argument.kind == copy_kind::gather;
      columns<T> const target(task.buffers[0], argument.n_columns);
      for (row_copy const& copy : argument.copies)
      {
        columns<T> const source(task.buffers[1 + copy.source], argument.n_columns);
        // places begin at base, which is taken off the address
        std::ptrdiff_t const rows = copy.begin, places = -std::ptrdiff_t(copy.base);
        inline_vector<T const*, 16> from;
        inline_vector<T*, 16> to;
        for (int c = 0; c < argument.n_columns; ++c)
        {
          from.push_back(source[c] + (gathers ? places : rows));
          to.push_back(target[c] + (gathers ? rows : places));
        }
        auto const list =
            copy.list == row_copy::no_list ? 0 : STARPU_VECTOR_GET_PTR(task.buffers[1 + copy.list]);
        if (task.on == implementation::cuda)
          launch<T>(task.stream, argument.kind, copy, list, {from, copy.n}, {to, copy.n});
        else
          for (int c = 0; c < argument.n_columns; ++c)
            copy_column(argument.kind, copy, list, from[c], to[c]);
      }
    }

    void upload_bytes(running_task const& task)
    {
      auto const& argument = static_cast<upload_argument const&>(task.argument);
      std::ranges::copy(argument.from,
                        reinterpret_cast<std::byte*>(STARPU_VECTOR_GET_PTR(task.buffers[0])));
    }
  }

  template <class T>
  starpu_codelet& copy_codelet(backend where)
  {
    return copying_codelet<T, &copy_rows<T>>("copy_rows", "pack", where);
  }

  starpu_codelet& upload_codelet()
  {
    static auto& made = registered<codelet_of<&upload_bytes>>({.name = "upload_list",
                                                               .symbol = "nearfield_upload_list",
                                                               .profiler_name = "upload",
                                                               .backends = backend::scalar,
                                                               .is_counted = false});
    return made;
  }

  template starpu_codelet& copy_codelet<float>(backend);
  template starpu_codelet& copy_codelet<double>(backend);
}
