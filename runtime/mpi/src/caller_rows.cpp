#include "caller_rows.hpp"

#include "columns.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <cstddef>
#include <string>

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    template <class T>
    class caller_rows : public starpu::detail::codelet
    {
      using codelet::codelet;
      using columns = starpu::detail::columns<T>;

      void run(starpu::detail::running_task const& task) const override
      {
        auto const& argument = static_cast<caller_rows_argument const&>(task.argument);
        columns const data(task.buffers[0], argument.n_columns);
        nearfield::detail::column_pieces<T> pieces{};
        pieces.shift = argument.shift;
        for (std::size_t k = 0; k < argument.n_pieces; ++k)
        {
          columns const piece(task.buffers[1 + k], argument.n_columns);
          pieces.first[k] = piece.first;
          pieces.rows[k] = piece.n;
          if (argument.clears)
            nearfield::detail::device_clear(
                piece.first, std::size_t(piece.n) * argument.n_columns * sizeof(T), task.stream);
        }
        if (argument.to_caller)
          nearfield::detail::device_scatter_to_pieces<T>(task.stream, argument.list, argument.n,
                                                         data.first, data.n, pieces,
                                                         argument.n_columns);
        else
          nearfield::detail::device_gather_from_pieces<T>(task.stream, argument.list, argument.n,
                                                          pieces, data.first, data.n,
                                                          argument.n_columns);
      }
    };
  }

  template <class T>
  starpu_codelet& caller_rows_codelet()
  {
    static auto& made = starpu::detail::registered<caller_rows<T>>(
        {.name = "caller_rows",
         .symbol = std::string("nearfield_caller_rows_") + (sizeof(T) == 4 ? "f32" : "f64"),
         .profiler_name = "pack",
         .backends = backend::cuda,
         .has_cuda = built_with_cuda(),
         .is_counted = false});
    return made;
  }

  template starpu_codelet& caller_rows_codelet<float>();
  template starpu_codelet& caller_rows_codelet<double>();
}
