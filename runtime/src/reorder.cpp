#include "reorder.hpp"

#include "columns.hpp"

#include <nearfield/core/parallel.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    template <class T>
    void collect(running_task const& task)
    {
      auto const& argument = static_cast<collect_argument<T> const&>(task.argument);
      int const n_columns = argument.from.columns().width();
      columns<T> const chunk(task.buffers[0], n_columns);
      for (int c = 0; c < n_columns; ++c)
        if (task.on == implementation::cuda)
          nearfield::detail::device_copy_async(chunk[c],
                                               argument.from[c].first + argument.points->begin,
                                               argument.points->size() * sizeof(T), task.stream);
        else if (!argument.points)
          nearfield::detail::take_in_order(argument.order, argument.from[c], chunk[c]);
        else
          for (index_type i = 0; i < argument.points->size(); ++i)
            chunk[c][i] = argument.from[c][argument.points->begin + i];
    }

    template <class T>
    void deliver_group(deliver_argument<T> const& what, running_task const& task,
                       columns<T const> const& out)
    {
      int const n_columns = what.to.columns().width();
      std::vector<T> with_halos;
      for (int c = 0; c < n_columns; ++c)
      {
        T const* sums = out[c];
        if (!what.pieces.empty())
        {
          with_halos.assign(sums, sums + out.n);
          sums = with_halos.data();
        }
        for (auto const& piece : what.pieces)
        {
          // pointers: an index of 32 bits may wrap, which keeps the compiler from vectorising
          columns<T const> const halo(task.buffers[1 + piece.halo], n_columns);
          T* const sum = with_halos.data() + piece.begin;
          T const* const from = halo[c] + piece.halo_begin;
          for (index_type i = 0; i < piece.size; ++i) sum[i] += from[i];
        }
        if (what.accumulate)
          nearfield::detail::put_in_order(what.order, sums, what.to[c], nearfield::detail::add{});
        else
          nearfield::detail::put_in_order(what.order, sums, what.to[c]);
      }
    }

    template <class T>
    void deliver_points(deliver_argument<T> const& what, columns<T const> const& out)
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

    template <class T>
    void deliver(running_task const& task)
    {
      auto const& argument = static_cast<deliver_argument<T> const&>(task.argument);
      int const n_columns = argument.to.columns().width();
      if (argument.points)
        return deliver_points(argument, columns<T const>(task.buffers[0], n_columns));
      deliver_group(argument, task, columns<T const>(task.buffers[0], n_columns));
    }
  }

  template <class T>
  starpu_codelet& collect_codelet(backend where)
  {
    return copying_codelet<T, &collect<T>>("collect", "upload", where);
  }
  template <class T>
  starpu_codelet& deliver_codelet()
  {
    return copying_codelet<T, &deliver<T>>("deliver", "download", backend::scalar);
  }

  template starpu_codelet& collect_codelet<float>(backend);
  template starpu_codelet& collect_codelet<double>(backend);
  template starpu_codelet& deliver_codelet<float>();
  template starpu_codelet& deliver_codelet<double>();
}
