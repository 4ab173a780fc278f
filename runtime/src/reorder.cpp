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
        {
          nearfield::detail::take_in_order(argument.order, argument.from[c], chunk[c]);
          for (std::size_t i = 0; c < 3 && i < argument.moves.size(); ++i)
            chunk[c][i] = static_cast<T>(double(chunk[c][i]) + argument.moves[i][c]);
        }
        else
          for (index_type i = 0; i < argument.points->size(); ++i)
            chunk[c][i] = argument.from[c][argument.points->begin + i];
    }

    template <class T>
    void deliver(running_task const& task)
    {
      auto const& argument = static_cast<deliver_argument<T> const&>(task.argument);
      int const n_columns = argument.to.columns().width();
      columns<T const> const out(task.buffers[0], n_columns);
      std::vector<T> with_halos;
      for (int c = 0; c < n_columns; ++c)
      {
        T const* sums = out[c];
        if (!argument.pieces.empty())
        {
          with_halos.assign(sums, sums + out.n);
          sums = with_halos.data();
        }
        for (auto const& piece : argument.pieces)
        {
          // pointers: an index of 32 bits may wrap, which keeps the compiler from vectorising
          columns<T const> const halo(task.buffers[1 + piece.halo], n_columns);
          T* const sum = with_halos.data() + piece.begin;
          T const* const from = halo[c] + piece.halo_begin;
          for (index_type i = 0; i < piece.size; ++i) sum[i] += from[i];
        }
        auto const deliver_by = [&, to = argument.to[c]](auto const& put)
        {
          if (argument.points)
            for (index_type i = 0; i < argument.points->size(); ++i)
              put(to[argument.points->begin + i], sums[i]);
          else
            nearfield::detail::put_in_order(argument.order, sums, to, put);
        };
        if (argument.accumulate)
          deliver_by(nearfield::detail::add{});
        else
          deliver_by(nearfield::detail::assign{});
      }
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
