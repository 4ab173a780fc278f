#pragma once

#include "codelet.hpp"
#include "search_tasks.hpp"

#include <nearfield/search/cuda.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/starpu/pair_slabs.hpp>

#include <optional>

/// \file
/// The tasks of pair_slabs and the data they share.

namespace nearfield::starpu::detail
{
  template <class T, int Dim>
  class pair_slab_tasks
  {
  public:
    using handles = std::vector<starpu_data_handle_t>;

    /// `x`: the columns of the targets, then, with two sets, of the sources.
    pair_slab_tasks(runtime const& starpu, cell_view<T, Dim> const& cells, handles const& x,
                    pair_slab_options const& options);
    pair_slab_tasks(pair_slab_tasks const&) = delete;
    pair_slab_tasks& operator=(pair_slab_tasks const&) = delete;

    /// Cuts slabs and submits the count tasks, after waiting for the tasks on the previous slabs.
    void count(cell_view<T, Dim> const& cells);
    void submit(search_work what, std::size_t s);
    void make_pairs(std::size_t s);
    std::uint64_t wait_for_count(std::size_t s);

    [[nodiscard]] index_type first(std::size_t s) const
    {
      return cells.targets.begin(slabs[s].first_box);
    }
    [[nodiscard]] index_type last(std::size_t s) const
    {
      return cells.targets.end(slabs[s].last_box - 1);
    }

    // the bodies of the tasks, on a CPU and on a GPU
    void count_on_cpu(std::size_t s, void** buffers);
    void fill_on_cpu(std::size_t s, void** buffers);
    void count_on_gpu(std::size_t s, void** buffers, cuda_stream stream);
    void fill_on_gpu(std::size_t s, void** buffers, cuda_stream stream);

    /// The argument of a task.
    struct argument : task_argument
    {
      pair_slab_tasks* list;
      std::size_t slab;
    };

    // Destroyed in reverse order: first the handles, which wait for the tasks that use the rest; the
    // runtime last.
    runtime starpu;
    starpu_codelet &count_codelet, &fill_codelet;
    cell_view<T, Dim> cells;
    handles x;
    pair_slab_options options;
    std::vector<nearfield::detail::slab> slabs;
    monitor watch;
    bool is_filled = false;
    bool has_failed = false; ///< and that exception has been thrown
    std::vector<argument> arguments;
    /// per slab; owned by StarPU while a count task runs
    std::vector<std::uint64_t> n_pairs;
    /// pairs of each point, at the caller's index, as counted by CPU workers
    std::vector<index_type> counts;
    /// The sorted points in the memory of a GPU.
    struct gpu_cells
    {
      std::unique_ptr<nearfield::detail::cuda_rows<T, Dim>> points;
      int round = 0; ///< value of pair_slab_tasks::round when they were sorted
    };
    int round = 0;
    std::vector<gpu_cells> on_gpu; ///< by worker, each with its own stream
    std::vector<handle> rows, offsets, sizes, i, j;

    /// Throws the first exception of a task; later calls throw nearfield::error until the next count().
    void rethrow();
    /// Zeroes the outputs of a failed task: other tasks may read them before the failure is reported.
    void clear_outputs(search_work what, void** buffers, std::optional<cuda_stream> gpu) noexcept;

  private:
    void drop_slabs();
    nearfield::detail::cuda_rows<T, Dim>& cells_on_gpu(void** buffers, cuda_stream stream);
  };
}
