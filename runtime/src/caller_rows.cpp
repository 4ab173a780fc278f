#include "caller_rows.hpp"

#include "columns.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <cstddef>

namespace nearfield::starpu::detail
{
  namespace
  {
    template <class T>
    void caller_rows(running_task const& task)
    {
      auto const& argument = static_cast<caller_rows_argument const&>(task.argument);
      int const n_columns = argument.n_columns;
      void** const of_pieces = task.buffers + argument.data.size();
      nearfield::detail::column_pieces<T> pieces{};
      pieces.shift = argument.shift;
      for (std::size_t k = 0; k < argument.n_pieces; ++k)
      {
        columns<T> const piece(of_pieces[k], n_columns);
        pieces.first[k] = piece.first;
        pieces.rows[k] = piece.n;
        if (argument.to_caller && argument.clears)
          nearfield::detail::device_clear(piece.first, std::size_t(piece.n) * n_columns * sizeof(T),
                                          task.stream);
      }
      index_type const* const list = argument.list
                                         ? argument.list
                                         : reinterpret_cast<index_type const*>(
                                               STARPU_VECTOR_GET_PTR(of_pieces[argument.n_pieces]));
      for (std::size_t d = 0; d < argument.data.size(); ++d)
      {
        auto const& points = argument.points[d];
        columns<T> const data(task.buffers[d], n_columns);
        if (argument.to_caller)
          nearfield::detail::device_scatter_to_pieces<T>(task.stream, list + points.begin,
                                                         points.size(), data.first, data.n, pieces,
                                                         n_columns);
        else
          nearfield::detail::device_gather_from_pieces<T>(task.stream, list + points.begin,
                                                          points.size(), pieces, data.first, data.n,
                                                          n_columns);
      }
    }

    template <class T>
    void pinned_columns(running_task const& task)
    {
      using nearfield::detail::device_copy_async;
      auto const& argument = static_cast<pinned_columns_argument<T> const&>(task.argument);
      int const n_columns =
          argument.to ? argument.to->columns().width() : argument.from->columns().width();
      for (std::size_t k = 0; k < argument.n_pieces; ++k)
      {
        columns<T> const piece(task.buffers[k], n_columns);
        std::size_t const row = (argument.first_piece + k) << argument.shift,
                          bytes = piece.n * sizeof(T);
        for (int c = 0; c < n_columns; ++c)
          if (argument.to)
            device_copy_async((*argument.to)[c].first + row, piece[c], bytes, task.stream);
          else
            device_copy_async(piece[c], (*argument.from)[c].first + row, bytes, task.stream);
      }
    }
  }

  template <class T>
  starpu_codelet& caller_rows_codelet()
  {
    return copying_codelet<T, &caller_rows<T>>("caller_rows", "pack", backend::cuda);
  }
  template <class T>
  starpu_codelet& pinned_columns_codelet()
  {
    return copying_codelet<T, &pinned_columns<T>>("pinned_columns", "copy", backend::cuda);
  }

  template starpu_codelet& caller_rows_codelet<float>();
  template starpu_codelet& caller_rows_codelet<double>();
  template starpu_codelet& pinned_columns_codelet<float>();
  template starpu_codelet& pinned_columns_codelet<double>();
}
