#pragma once

#include "codelet.hpp"

#include <nearfield/search/cuda_slabs.hpp>
#include <nearfield/search/slabs.hpp>
#include <nearfield/starpu/search/pair_slabs.hpp>

#include <optional>

/// \file
/// What the tasks of a list of pairs share, and what they do.

namespace nearfield::starpu::detail
{
  enum class pair_slab_work
  {
    count,
    fill
  };

  template <class T, int Dim>
  class pair_slab_tasks
  {
  public:
    using columns = std::vector<starpu_data_handle_t>;

    /// `x` are those of targets and, of two sets, of sources.
    pair_slab_tasks(runtime const& starpu, cell_view<T, Dim> const& cells, columns const& x,
                    pair_slab_options const& options);
    pair_slab_tasks(pair_slab_tasks const&) = delete;
    pair_slab_tasks& operator=(pair_slab_tasks const&) = delete;

    /// Cuts slabs and submits the count tasks, of other cells after the first time; waits for the tasks on
    /// those before.
    void count(cell_view<T, Dim> const& cells);
    void submit(pair_slab_work what, std::size_t s);
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

    // what a task does, on a CPU and on a GPU
    void count_on_cpu(std::size_t s, void** buffers);
    void fill_on_cpu(std::size_t s, void** buffers);
    void count_on_gpu(std::size_t s, void** buffers, cuda_stream stream);
    void fill_on_gpu(std::size_t s, void** buffers, cuda_stream stream);

    /// What a task is told.
    struct argument : task_argument
    {
      pair_slab_tasks* list;
      std::size_t slab;
    };

    // the runtime is the last to go; handles go first, and wait for the tasks that use the rest
    runtime starpu;
    starpu_codelet &count_codelet, &fill_codelet;
    cell_view<T, Dim> cells;
    columns x;
    pair_slab_options options;
    std::vector<nearfield::detail::slab> slabs;
    monitor watch;
    bool is_filled = false;
    bool has_failed = false; ///< and it was said
    std::vector<argument> arguments;
    /// by slab; StarPU's as long as a count task runs
    std::vector<std::uint64_t> n_pairs;
    /// of each point of the caller's, as CPU workers count them
    std::vector<index_type> counts;
    /// The points in the memory of a GPU.
    struct gpu_cells
    {
      std::unique_ptr<nearfield::detail::cuda_slabs<T, Dim>> points;
      int round = 0; ///< of counts that they were sorted in
    };
    int round = 0;
    std::vector<gpu_cells> on_gpu; ///< by worker: each has a stream of its own
    std::vector<handle> rows, offsets, sizes, i, j;

    /// Throws the first exception of a task, and after one, until the next count, always.
    void rethrow();
    /// What a task that failed was to write is zero: others may read it before anybody hears of the failure.
    void clear_outputs(pair_slab_work what, void** buffers,
                       std::optional<cuda_stream> gpu) noexcept;

  private:
    void drop_slabs();
    nearfield::detail::cuda_slabs<T, Dim>& cells_on_gpu(void** buffers, cuda_stream stream);
  };
}
