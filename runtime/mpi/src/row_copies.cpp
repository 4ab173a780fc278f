#include "row_copies.hpp"

#include "columns.hpp"

namespace nearfield::starpu_mpi::detail
{
  namespace
  {
    template <class T>
    class copy_rows : public starpu::detail::codelet
    {
      using codelet::codelet;

      void run(starpu::detail::running_task const& task) const override
      {
        using starpu::detail::columns;
        auto const& argument = static_cast<copy_argument const&>(task.argument);
        columns<T> const target(task.buffers[0], argument.n_columns);
        for (row_copy const& copy : argument.copies)
        {
          columns<T const> const source(task.buffers[1 + copy.source], argument.n_columns);
          for (int c = 0; c < argument.n_columns; ++c)
            for (index_type i = 0; i < copy.n; ++i)
            {
              index_type const from = (copy.from ? copy.from[i] : i) + copy.from_offset;
              index_type const to = (copy.to ? copy.to[i] : i) + copy.to_offset;
              if (argument.adds)
                target[c][to] += source[c][from];
              else
                target[c][to] = source[c][from];
            }
        }
      }
    };
  }

  template <class T>
  starpu_codelet& copy_codelet()
  {
    static auto& made = starpu::detail::registered<copy_rows<T>>(
        {.name = "copy_rows",
         .symbol = sizeof(T) == 4 ? "nearfield_copy_rows_f32" : "nearfield_copy_rows_f64",
         .profiler_name = "pack",
         .backends = backend::scalar,
         .is_counted = false});
    return made;
  }

  template starpu_codelet& copy_codelet<float>();
  template starpu_codelet& copy_codelet<double>();
}
