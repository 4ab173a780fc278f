#include "pair_slab_tasks.hpp"

#include "cpu_workers.hpp"
#include "environment.hpp"
#include "gpu_memory.hpp"
#include "host_rows.hpp"
#include "task.hpp"

#include "tree/src/systems.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace nearfield::starpu::detail
{
  namespace
  {
    // the search of fewer takes hardly longer than the overhead of a task, some microseconds; two sets have full rows
    constexpr std::size_t least_rows_on_cpu = 64, least_rows_of_two_sets = 32;
    // a handle holds fewer than 2^32 pairs: so many points may have 1024 pairs each
    constexpr std::size_t most_rows_on_gpu = std::size_t(1) << 22;
    constexpr std::size_t slabs_a_worker = 32; // all finish at about the same time

    /// The number of values of each column.
    std::size_t check_columns(std::vector<starpu_data_handle_t> const& x, std::size_t begin,
                              std::size_t end, std::size_t element_size, char const* name)
    {
      std::size_t n = 0;
      for (std::size_t k = begin; k < end; ++k)
      {
        std::string const column =
            "pair_slabs: column " + std::to_string(k - begin) + " of the " + name;
        if (!x[k] || starpu_data_get_interface_id(x[k]) != STARPU_VECTOR_INTERFACE_ID)
          throw error(column + " is not a vector handle; register it with handle::of");
        std::size_t const size = starpu_vector_get_nx(x[k]);
        if (k == begin) n = size;
        if (size != n)
          throw error(column + " has " + std::to_string(size) + " values, column 0 has " +
                      std::to_string(n) + "; give columns of one size");
        if (starpu_vector_get_elemsize(x[k]) != element_size)
          throw error(column + " has values of " +
                      std::to_string(starpu_vector_get_elemsize(x[k])) + " bytes, the list of " +
                      std::to_string(element_size) + "; take one precision for both");
      }
      return n;
    }

    /// The options with a backend that is not automatic.
    template <class Options>
    Options with_backend(Options options)
    {
      if (options.backend == backend::automatic)
        options.backend = gpu_problem().empty() ? backend::cuda : backend::simd;
      return options;
    }

    template <class V>
    V* values_of(void* buffer)
    {
      return reinterpret_cast<V*>(STARPU_VECTOR_GET_PTR(buffer));
    }

    /// Whether a vector may have fewer values than there is memory for. Before version 1.4, StarPU takes the number
    /// of values from the buffer that it finds in its cache.
    bool may_be_shorter()
    {
      return STARPU_MAJOR_VERSION > 1 || STARPU_MINOR_VERSION >= 4 ||
             starpu_memory_nodes_get_count() == 1;
    }

    /// Of a vector that no task uses. Its memory stays as it is.
    void set_size(starpu_data_handle_t data, std::uint64_t n)
    {
      for (unsigned node = 0; node < STARPU_MAXNODES; ++node)
      {
        auto& on_node =
            *static_cast<starpu_vector_interface*>(starpu_data_get_interface_on_node(data, node));
        on_node.nx = static_cast<decltype(on_node.nx)>(n);
      }
    }

    template <class T, int Dim, search_work What>
    void run_slab(running_task const& task)
    {
      auto const& one = static_cast<typename pair_slab_tasks<T, Dim>::slab const&>(task.argument);
      bool const on_gpu = task.on == implementation::cuda;
      one.list->run(What, one, task.buffers, on_gpu ? std::optional(task.stream) : std::nullopt);
    }

    /// The codelet of one kind of task and one choice of back-end.
    template <class T, int Dim, search_work What>
    starpu_codelet& slab_codelet(backend where)
    {
      static char const* const names[] = {"automatic", "scalar", "simd", "cuda"};
      char const* const name = What == search_work::count ? "pair_slabs_count" : "pair_slabs_fill";
      std::string const symbol = "nearfield_" + std::string(name) + "_" + std::to_string(Dim) +
                                 "d_" + (sizeof(T) == 4 ? "f32_" : "f64_") +
                                 names[static_cast<int>(where)];
      return registered<codelet_of<&run_slab<T, Dim, What>>>(
          {name, symbol, name, where, built_with_cuda()});
    }
  }

  template <class T, int Dim>
  pair_slab_tasks<T, Dim>::pair_slab_tasks(runtime const& s, handles const& of_caller,
                                           options_type const& o, double cutoff,
                                           systems<Dim> const* batch)
      : starpu(s), options(with_backend(o)), query{.grid = options.grid,
                                                   .cutoff = static_cast<T>(cutoff),
                                                   .is_batch = batch != nullptr,
                                                   .batch = batch ? *batch : systems<Dim>(),
                                                   .one_set = of_caller.size() == Dim,
                                                   .which = options.which,
                                                   .filter = nullptr,
                                                   .distances = options.distances,
                                                   .displacements = options.displacements,
                                                   .images = options.images},
        count_codelet(slab_codelet<T, Dim, search_work::count>(options.backend)),
        fill_codelet(slab_codelet<T, Dim, search_work::fill>(options.backend)), x(of_caller)
  {
    check_may_wait("pair_slabs"); // before there are handles, which a worker may not destroy
    bool const for_gpus = options.backend == backend::cuda;
    if (auto const problem = gpu_problem(); for_gpus && !problem.empty())
      throw error("backend cuda: " + problem, error_kind::not_available);
    std::size_t const n = make_query();

    // of each GPU one worker: a second one would sort the points too
    std::vector<int> const workers = for_gpus ? first_workers_of_gpus() : std::vector{-1};
    std::size_t n_slabs = options.slabs;
    if (n_slabs == 0 && for_gpus)
      n_slabs = workers.size() * (n / workers.size() / most_rows_on_gpu + 1);
    else if (n_slabs == 0)
      n_slabs =
          std::clamp<std::size_t>(n / (query.one_set ? least_rows_on_cpu : least_rows_of_two_sets),
                                  1, slabs_a_worker * static_cast<std::size_t>(n_cpu_workers()));
    n_slabs = std::min(n_slabs, n);
    std::size_t const n_points = std::min(n_slabs, workers.size());
    points.reserve(n_points); // slabs have their addresses
    for (std::size_t p = 0; p < n_points; ++p)
      points.push_back({workers[p], handle::of_size<std::uint32_t>(1)});
    slabs = std::vector<slab>(n_slabs);
    for (std::size_t k = 0; k < n_slabs; ++k)
    {
      slab& one = slabs[k];
      one.points = &points[k % n_points];
      one.number = one.points->n_slabs++;
      one.first = static_cast<index_type>(n * k / n_slabs);
      one.last = static_cast<index_type>(n * (k + 1) / n_slabs);
      std::size_t const n_rows = one.last - one.first;
      one.rows = handle::of_size<index_type>(n_rows);
      one.offsets = handle::of_size<std::uint64_t>(n_rows + 1);
      one.watch = &watch;
      one.work = static_cast<double>(n_rows);
      one.list = this;
    }
    count();
  }

  template <class T, int Dim>
  std::size_t pair_slab_tasks<T, Dim>::make_query()
  {
    bool const one_set = query.one_set;
    nearfield::detail::cutoff_limit<T> limit{query.cutoff, options.grid.closed};
    if (!query.is_batch)
      nearfield::detail::check_cell_options(query.cutoff, options.grid);
    else
    {
      nearfield::detail::check_no_box("pair_slabs", options.grid);
      nearfield::detail::check_systems("pair_slabs", query.batch, one_set);
      limit.most = static_cast<T>(*std::ranges::min_element(query.batch.cutoffs));
    }
    if (query.which == pairs::half && !one_set)
      throw error("pair_slabs: two sets have no half list; ask for pairs::full");
    char const* const targets = one_set ? "points" : "queries";
    std::size_t const n = check_columns(x, 0, Dim, sizeof(T), targets),
                      n_sources =
                          one_set ? n : check_columns(x, Dim, x.size(), sizeof(T), "points");
    if (query.is_batch)
    {
      auto const& of = query.batch;
      nearfield::detail::check_last("pair_slabs", targets, one_set ? of.offsets : of.query_offsets,
                                    n);
      nearfield::detail::check_last("pair_slabs", "points", of.offsets, n_sources);
    }
    if (options.filter)
    {
      filter.emplace(*options.filter, n, n_sources, one_set, limit);
      filter->check(query.which, n, n_sources, limit.most);
      query.filter = &*filter;
    }
    if (n_sources == 0) x.resize(Dim); // nothing for StarPU to bring

    sizes[named::j] = sizeof(index_type);
    if (options.with_i) sizes[named::i] = sizeof(index_type);
    if (query.distances) sizes[named::r2] = sizeof(T);
    if (query.displacements) std::fill_n(sizes.begin() + named::displacements, Dim, sizeof(T));
    if (query.images == image_columns::counters)
      std::fill_n(sizes.begin() + named::images, Dim, sizeof(std::int32_t));
    if (query.images == image_columns::packed) sizes[named::packed_images] = sizeof(std::uint32_t);
    return n;
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::count()
  {
    check_may_wait("pair_slabs");
    if (has_failed)
    {
      wait_for_tasks(); // or what they throw would be of the next round
      try
      {
        watch.rethrow();
      }
      catch (...)
      {
        // not the first failure of the last round, which has been thrown
      }
      has_failed = false;
    }
    else
      rethrow();
    is_filled = false;
    for (slab& one : slabs) one.is_filled = false;
    try
    {
      check_address_space(4, slabs.size());
      for (slab& one : slabs) submit(search_work::count, one);
    }
    catch (...)
    {
      has_failed = true; // some slabs have no task
      throw;
    }
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::submit(search_work what, slab& mine)
  {
    bool const counts_pairs = what == search_work::count;
    task one(counts_pairs ? count_codelet : fill_codelet, mine, STARPU_DEFAULT_PRIO,
             mine.points->worker);
    one.add(mine.points->order, counts_pairs && mine.number == 0 ? STARPU_W : STARPU_R);
    one.add(mine.offsets, counts_pairs ? STARPU_W : STARPU_R);
    for (starpu_data_handle_t const column : x) one.add(column, STARPU_R);
    if (counts_pairs) one.add(mine.rows, STARPU_W);
    // A count has them too, so that nobody reads the last list when its size changes.
    for (handle const& pairs : mine.pairs)
      if (pairs) one.add(pairs, STARPU_W);
    one.submit();
  }

  template <class T, int Dim>
  std::uint64_t pair_slab_tasks<T, Dim>::wait_for_count(slab const& one)
  {
    check_may_wait("pair_slabs");
    wait_for_writers(one.offsets, "pair_slabs");
    rethrow();
    return one.points->rows->n_pairs(one.number);
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::fill()
  {
    check_may_wait("pair_slabs");
    rethrow();
    if (is_filled) return;
    is_filled = true;
    try
    {
      for (slab& one : slabs)
      {
        std::uint64_t const found = wait_for_count(one);
        make_room(one, found);
        if (found == 0) continue;
        // for each slab, since the lists of earlier ones may have taken what there was
        check_address_space(4, 1);
        submit(search_work::fill, one);
        one.is_filled = true;
      }
    }
    catch (...)
    {
      has_failed = true; // some slabs have no pairs
      throw;
    }
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::wait_for_tasks() const
  {
    for (slab const& one : slabs)
      wait_for_writers(one.is_filled ? one.pairs[named::j] : one.offsets, "pair_slabs");
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::make_room(slab& one, std::uint64_t found)
  {
    constexpr std::uint64_t most = std::numeric_limits<index_type>::max();
    if (found > most)
      throw error("pair_slabs: positions " + std::to_string(one.first) + " to " +
                  std::to_string(one.last) + " have " + std::to_string(found) +
                  " pairs; a slab has fewer than 2^32, so ask for more than " +
                  std::to_string(slabs.size()) + " slabs");
    bool const has_spare = may_be_shorter();
    bool const fits =
        found <= one.capacity && found >= std::max<std::uint64_t>(1, one.capacity / 4);
    if (fits && (has_spare || found == one.capacity))
    {
      // StarPU may still be releasing what the count has claimed
      for (handle const& data : one.pairs)
        if (data) wait_for_writers(data, "pair_slabs");
    }
    else
    {
      one.capacity = 0;
      for (handle& data : one.pairs) data = {};
      if (found == 0) return;
      // an eighth more, since pairs come and go when points move
      std::uint64_t const room = has_spare ? std::min(found + found / 8, most) : found;
      // StarPU would try for ever to allocate what does not fit beside the results of the count
      one.points->rows->leave_room(
          one.number, room * std::accumulate(sizes.begin(), sizes.end(), std::uint64_t(0)));
      for (std::size_t c = 0; c < sizes.size(); ++c)
        if (sizes[c] > 0)
          one.pairs[c] = sizes[c] == 4 ? handle::of_size<std::uint32_t>(room)
                                       : handle::of_size<std::uint64_t>(room);
      one.capacity = room;
    }
    for (handle const& data : one.pairs)
      if (data) set_size(data, found); // found == capacity too: the last round may have had fewer
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
      void** const outputs = buffers + 2 + x.size();
      if (what == search_work::count)
      {
        clear(buffers[1]);
        clear(outputs[0]); // rows
      }
      else
        for (std::ptrdiff_t c = std::ranges::count_if(sizes, std::identity()); c > 0; --c)
          clear(outputs[c - 1]);
    }
    catch (...)
    {
      // a GPU that fails here runs nothing any more
    }
  }

  template <class T, int Dim>
  soa<T const, Dim> pair_slab_tasks<T, Dim>::column_views(void** buffers, std::size_t set) const
  {
    if (set * Dim >= x.size()) return {};
    void** const columns = buffers + 2 + set * Dim;
    std::array<T const*, Dim> pointers;
    for (int a = 0; a < Dim; ++a) pointers[a] = values_of<T const>(columns[a]);
    return {pointers, STARPU_VECTOR_GET_NX(columns[0])};
  }

  template <class T, int Dim>
  void pair_slab_tasks<T, Dim>::run(search_work what, slab const& one, void** buffers,
                                    std::optional<cuda_stream> gpu)
  {
    try
    {
      bool const counts_pairs = what == search_work::count;
      sorted_points& sorted = *one.points;
      auto const targets = column_views(buffers, 0);
      auto const sources = query.one_set ? targets : column_views(buffers, 1);
      void** outputs = buffers + 2 + x.size();
      if (counts_pairs && one.number == 0)
      {
        sorted.is_sorted = false;
        if (!sorted.rows && gpu)
          sorted.rows = nearfield::detail::device_rows<T, Dim>::make(*gpu, query, sorted.n_slabs);
        else if (!sorted.rows)
          sorted.rows = std::make_unique<host_rows<T, Dim>>(options.backend, query, sorted.n_slabs);
        sorted.rows->sort(targets, sources);
        sorted.is_sorted = true;
      }
      else if (sorted.is_sorted)
        sorted.rows->bind(targets, sources); // StarPU may have moved the columns
      else
        return clear_outputs(what, buffers, gpu); // and the task that should have sorted reports it
      if (counts_pairs)
        return sorted.rows->count(one.number, one.first, one.last,
                                  values_of<index_type>(outputs[0]),
                                  values_of<std::uint64_t>(buffers[1]));
      nearfield::detail::slab_columns<T, Dim> to{};
      auto const take = [&]<class V>(std::size_t c, V*& values)
      {
        if (sizes[c] > 0) values = values_of<V>(*outputs++);
      };
      take(named::j, to.j);
      take(named::i, to.i);
      take(named::r2, to.r2);
      for (std::size_t a = 0; a < Dim; ++a) take(named::displacements + a, to.displacements[a]);
      for (std::size_t a = 0; a < Dim; ++a) take(named::images + a, to.images[a]);
      take(named::packed_images, to.packed_images);
      sorted.rows->fill(one.number, to);
    }
    catch (...)
    {
      clear_outputs(what, buffers, gpu);
      throw;
    }
  }

  template class pair_slab_tasks<float, 2>;
  template class pair_slab_tasks<float, 3>;
  template class pair_slab_tasks<double, 2>;
  template class pair_slab_tasks<double, 3>;
}
