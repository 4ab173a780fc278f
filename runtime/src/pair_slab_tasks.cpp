#include "environment.hpp"
#include "pair_slab_codelet.hpp"
#include "task.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace nearfield::starpu::detail
{
  namespace
  {
    // two per worker: a slab costs 0.1 ms or more for handles and tasks, but the next steps of a graph
    // can start after the first slab
    constexpr std::uint64_t slabs_per_gpu = 4;
    // a handle holds fewer than 2^32 pairs, and there are no more pairs than candidates
    constexpr std::uint64_t most_candidates = std::uint64_t(1) << 31;

    void check_columns(std::vector<starpu_data_handle_t> const& x, std::size_t begin,
                       std::size_t end, std::size_t n, std::size_t element_size, char const* name)
    {
      for (std::size_t k = begin; k < end; ++k)
      {
        std::string const column =
            "pair_slabs: column " + std::to_string(k - begin) + " of the " + name;
        if (!x[k] || starpu_data_get_interface_id(x[k]) != STARPU_VECTOR_INTERFACE_ID)
          throw error(column + " is not a vector handle; register it with handle::of");
        std::size_t const size = starpu_vector_get_nx(x[k]);
        if (size != n)
          throw error(column + " has " + std::to_string(size) + " values, the cells have " +
                      std::to_string(n) + " points; register the columns they were built from");
        if (starpu_vector_get_elemsize(x[k]) != element_size)
          throw error(column + " has values of " +
                      std::to_string(starpu_vector_get_elemsize(x[k])) + " bytes, the cells of " +
                      std::to_string(element_size) + "; take one precision for both");
      }
    }

    template <class V>
    V* values_of(void* buffer)
    {
      return reinterpret_cast<V*>(STARPU_VECTOR_GET_PTR(buffer));
    }

    /// Writes rows one after the other, with i if asked for.
    template <class T, int Dim>
    struct row_writer
    {
      index_type* i;
      index_type* j;

      static void row(void* self, nearfield::detail::search_row<T, Dim> const& hits)
      {
        auto& to = *static_cast<row_writer*>(self);
        to.j = std::copy_n(hits.j, hits.count, to.j);
        if (to.i) to.i = std::fill_n(to.i, hits.count, hits.i);
      }
    };
  }

  template <class T, int Dim>
  pair_slab_tasks<T, Dim>::pair_slab_tasks(runtime const& s, cell_view<T, Dim> const& view,
                                           handles const& of_caller, pair_slab_options const& how)
      : starpu(s), count_codelet(pair_slab_codelet<T, Dim>::of(search_work::count, how.backend)),
        fill_codelet(pair_slab_codelet<T, Dim>::of(search_work::fill, how.backend)), cells(view),
        x(of_caller), options(how)
  {
    if (auto const problem = gpu_problem(); options.backend == backend::cuda && !problem.empty())
      throw error("backend cuda: " + problem, error_kind::not_available);
    on_gpu.resize(starpu_worker_get_count());
    count(view);
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::count(cell_view<T, Dim> const& view)
  {
    check_may_wait("pair_slabs");
    nearfield::detail::check_pairs(view, options.which);
    if (std::size_t const n_handles = view.one_set ? Dim : 2 * Dim; x.size() != n_handles)
      throw error(std::string("pair_slabs: the cells have ") +
                  (view.one_set ? "one set of points, the list is given two"
                                : "two sets of points, the list is given one") +
                  "; give the handles of what the cells were built from");
    check_columns(x, 0, Dim, view.target_order.size(), sizeof(T),
                  view.one_set ? "points" : "queries");
    check_columns(x, Dim, x.size(), view.source_order.size(), sizeof(T), "points");
    drop_slabs();
    bool const is_known = std::exchange(has_failed, false);
    try
    {
      rethrow();
    }
    catch (...)
    {
      if (!is_known) throw;
      has_failed = false;
    }
    cells = view;
    is_filled = false;
    ++round;

    auto const before = nearfield::detail::candidates_before_boxes(cells, options.which);
    bool const for_gpus =
        built_with_cuda() && starpu.n_gpus() > 0 &&
        (options.backend == backend::automatic || options.backend == backend::cuda);
    auto const n_gpus = static_cast<std::uint64_t>(starpu.n_gpus());
    std::uint64_t const per_slab =
        options.candidates > 0 ? options.candidates
        : for_gpus ? std::min(before.back() / (slabs_per_gpu * n_gpus) + 1, most_candidates)
                   : slab_size({}, before.back(), ~std::uint64_t(0));
    slabs = nearfield::detail::cut_slabs(before, per_slab);
    // cells after the last query may hold only sources
    while (!slabs.empty() && first(slabs.size() - 1) == last(slabs.size() - 1)) slabs.pop_back();

    try
    {
      std::size_t const n = slabs.size();
      if (options.backend != backend::cuda) counts.resize(cells.target_order.size());
      n_pairs.assign(n, 0);
      i.resize(n);
      j.resize(n);
      for (std::size_t s = 0; s < n; ++s)
      {
        arguments.push_back({{&watch, static_cast<double>(slabs[s].candidates)}, this, s});
        std::size_t const n_rows = last(s) - first(s);
        rows.push_back(handle::of(cells.target_order.data() + first(s), n_rows));
        offsets.push_back(handle::of_size<std::uint64_t>(n_rows + 1));
        sizes.push_back(handle::of(&n_pairs[s], 1));
      }
      check_address_space(4, n);
      for (std::size_t s = 0; s < n; ++s) submit(search_work::count, s);
    }
    catch (...)
    {
      drop_slabs(); // some slabs have no task
      has_failed = true;
      throw;
    }
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::drop_slabs()
  {
    for (auto* const of_slabs : {&i, &j, &sizes, &offsets, &rows})
      of_slabs->clear(); // waits for the tasks
    arguments.clear();
    slabs.clear();
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::rethrow()
  {
    try
    {
      watch.rethrow();
    }
    catch (...)
    {
      // only the first failure after a count is rethrown
      if (!std::exchange(has_failed, true)) throw;
    }
    if (has_failed) throw error("pair_slabs: a task has failed before; begin again with recount()");
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::clear_outputs(search_work what, void** buffers,
                                              std::optional<cuda_stream> gpu) noexcept
  {
    auto const clear = [&](void* buffer)
    {
      auto* const values = values_of<char>(buffer);
      std::size_t const bytes = STARPU_VECTOR_GET_NX(buffer) * STARPU_VECTOR_GET_ELEMSIZE(buffer);
      if (gpu)
        nearfield::detail::device_clear(values, bytes, *gpu);
      else
        std::fill_n(values, bytes, char(0));
    };
    try
    {
      clear(buffers[1]); // the size, or j
      if (what == search_work::count)
        clear(buffers[0]);
      else if (options.with_i)
        clear(buffers[2 + x.size()]);
    }
    catch (...)
    {
      // a GPU that fails here runs nothing any more
    }
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::submit(search_work what, std::size_t s)
  {
    bool const counts_pairs = what == search_work::count;
    task one(counts_pairs ? count_codelet : fill_codelet,
             static_cast<unsigned>(x.size()) + (counts_pairs     ? 2
                                                : options.with_i ? 3
                                                                 : 2));
    one.add(offsets[s], counts_pairs ? STARPU_W : STARPU_R);
    one.add(counts_pairs ? sizes[s] : j[s], STARPU_W);
    for (starpu_data_handle_t const column : x) one.add(column, STARPU_R);
    if (!counts_pairs && options.with_i) one.add(i[s], STARPU_W);
    one.set_argument(&arguments[s], sizeof(argument));
    one.submit();
  }

  template <class T, int Dim>
  std::uint64_t pair_slab_tasks<T, Dim>::wait_for_count(std::size_t s)
  {
    check_may_wait("pair_slabs");
    acquire_to_read(sizes[s], STARPU_MAIN_RAM, "pair_slabs");
    std::uint64_t const found = n_pairs[s];
    starpu_data_release(sizes[s]);
    rethrow();
    return found;
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::make_pairs(std::size_t s)
  {
    std::uint64_t const found = wait_for_count(s);
    if (found == 0) return;
    if (found > std::numeric_limits<index_type>::max())
      throw error("pair_slabs: slab " + std::to_string(s) + " has " + std::to_string(found) +
                  " pairs; a slab has fewer than 2^32, so ask for fewer candidates in one");
    j[s] = handle::of_size<index_type>(found);
    if (options.with_i) i[s] = handle::of_size<index_type>(found);
    // for each slab, since the lists of earlier ones may have taken what there was
    check_address_space(4, 1);
    submit(search_work::fill, s);
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::count_on_cpu(std::size_t s, void** buffers)
  {
    auto* const to = values_of<std::uint64_t>(buffers[0]);
    nearfield::detail::count_rows(nearfield::detail::isa_of(options.backend),
                                  nearfield::detail::job_of(cells, options.which, slabs[s]),
                                  counts.data());
    index_type const begin = first(s), n = last(s) - begin;
    to[0] = 0;
    for (index_type row = 0; row < n; ++row)
      to[row + 1] = to[row] + counts[cells.target_order[begin + row]];
    *values_of<std::uint64_t>(buffers[1]) = to[n];
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::fill_on_cpu(std::size_t s, void** buffers)
  {
    row_writer<T, Dim> to{options.with_i ? values_of<index_type>(buffers[2 + x.size()]) : nullptr,
                          values_of<index_type>(buffers[1])};
    nearfield::detail::search_rows(nearfield::detail::isa_of(options.backend),
                                   nearfield::detail::job_of(cells, options.which, slabs[s]),
                                   nearfield::detail::row_content::indices,
                                   &row_writer<T, Dim>::row, &to);
  }

  template <class T, int Dim>
  nearfield::detail::cuda_rows<T, Dim>& pair_slab_tasks<T, Dim>::cells_on_gpu(void** buffers,
                                                                              cuda_stream stream)
  {
    auto const view = [&](void** first, std::size_t n)
    {
      std::array<T const*, Dim> pointers;
      for (int a = 0; a < Dim; ++a) pointers[a] = values_of<T const>(first[a]);
      return soa<T const, Dim>(pointers, n);
    };
    auto const targets = view(buffers, cells.target_order.size());
    auto const sources = cells.one_set ? targets : view(buffers + Dim, cells.source_order.size());
    auto& mine = on_gpu[static_cast<std::size_t>(starpu_worker_get_id())];
    if (mine.points && mine.round == round)
      mine.points->bind(targets, sources); // StarPU may have moved the columns
    else if (mine.points)
      mine.points->rebuild(cells.grid, targets, sources, cells.one_set);
    else
      mine.points = std::make_unique<nearfield::detail::cuda_rows<T, Dim>>(
          stream, cells.grid, targets, sources, cells.one_set);
    mine.round = round;
    return *mine.points;
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::count_on_gpu(std::size_t s, void** buffers, cuda_stream stream)
  {
    cells_on_gpu(buffers + 2, stream)
        .count(options.which, first(s), last(s), values_of<std::uint64_t>(buffers[0]),
               values_of<std::uint64_t>(buffers[1]));
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::fill_on_gpu(std::size_t s, void** buffers, cuda_stream stream)
  {
    cells_on_gpu(buffers + 2, stream)
        .fill(options.which, first(s), last(s), values_of<std::uint64_t>(buffers[0]),
              options.with_i ? values_of<index_type>(buffers[2 + x.size()]) : nullptr,
              values_of<index_type>(buffers[1]));
  }

  template class pair_slab_tasks<float, 2>;
  template class pair_slab_tasks<float, 3>;
  template class pair_slab_tasks<double, 2>;
  template class pair_slab_tasks<double, 3>;
}
