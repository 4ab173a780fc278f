#include "list_lines.hpp"
#include "machine.hpp"
#include "merged.hpp"
#include "pair_choice.hpp"
#include "run_host.hpp"
#include "task_step.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::app
{
  namespace
  {
    /// Calls f() in a profiler range of that name and adds the time to `seconds`.
    template <class F>
    auto timed(char const* name, double& seconds, F&& f)
    {
      auto const start = std::chrono::steady_clock::now();
      auto result = profiled(name, std::forward<F>(f));
      seconds += seconds_since(start);
      return result;
    }

    /// Counts, then fills: search(what) runs a search, fetch(list) copies its result to host memory, and
    /// available() returns the bytes that a list may have.
    template <int Dim, class Search, class Fetch, class Available>
    void count_and_fill(search_options const& options, Search const& search, Fetch const& fetch,
                        Available const& available, search_result& result)
    {
      auto const limit = [&]
      {
        return options.max_memory ? *options.max_memory : available();
      };
      bool const only_counts = options.list == list_kind::count;
      // counts per point that exceed the limit are not allocated
      bool const fits = !only_counts || result.points * sizeof(index_type) <= limit();
      pair_counts counts = fetch(timed("count", result.count_seconds,
                                       [&] { return search(count_pairs{pairs::full, fits}); }));
      if (!counts.per_point.empty())
        result.max_neighbours = *std::max_element(counts.per_point.begin(), counts.per_point.end());
      set_sizes(options, counts.total, Dim, sizeof(index_type), result);
      check_size(options, result, limit());
      auto const keep = [&](auto&& list, auto const& write)
      {
        auto const here = std::make_shared<std::decay_t<decltype(list)> const>(std::move(list));
        result.write_rows = [here, write](list_lines& lines)
        {
          write(lines, *here);
        };
      };
      if (only_counts)
      {
        if (options.output)
          keep(std::move(counts.per_point),
               [](list_lines& lines, auto const& each)
               {
                 for (std::size_t i = 0; i < each.size(); ++i)
                   lines.row(i, each[i], std::span<index_type const>());
               });
        return;
      }
      counts = {};

      // Fetching is not timed here. The size has been checked: with a limit, the library would count again.
      auto const fill = [&](auto const& what, auto const& write)
      {
        auto list = timed("fill", result.fill_seconds, [&] { return search(what); });
        if (options.output) keep(fetch(std::move(list)), write);
      };
      auto const images = options.shifts ? image_columns::counters : image_columns::none;
      auto const image_of = [](auto const& list, std::uint64_t p)
      {
        return [&list, p](std::size_t a)
        {
          return list.images[a][p];
        };
      };
      if (options.list == list_kind::half)
        fill(to_coo{.images = images},
             [image_of](list_lines& lines, auto const& list)
             {
               for (std::size_t p = 0; p < list.size(); ++p)
                 lines.pair(list.i[p], list.j[p], image_of(list, p));
             });
      else if (options.list == list_kind::full)
        fill(to_csr{.images = images},
             [image_of, n = result.points](list_lines& lines, auto const& list)
             {
               for (std::size_t i = 0; i < n; ++i)
                 for (std::uint64_t p = list.offsets[i]; p < list.offsets[i + 1]; ++p)
                   lines.pair(i, list.columns[p], image_of(list, p));
             });
      else
        fill(to_table{.width = *result.table_width},
             [n = result.points](list_lines& lines, auto const& list)
             {
               for (std::size_t i = 0; i < n; ++i) lines.row(i, list.counts[i], list.row(i));
             });
    }

    template <class T, int Dim>
    void search_on_cpu(soa<T const, Dim> const& x, search_options const& options,
                       cell_list_options<T, Dim> const& grid, pair_filter<T> const* which,
                       search_result& result)
    {
      auto const cells = timed("grid", result.grid_seconds,
                               [&] { return cell_list<T, Dim>(x, options.radius, grid); });
      auto const fetch = [](auto list)
      {
        return list;
      };
      auto const available = []
      {
        return available_memory();
      };
      std::optional<session> workers;
      if (options.workers > 0)
        workers.emplace(execution_options{.backend = backend::simd, .workers = options.workers});
      auto const some =
          which ? std::make_optional<filtered<cell_list<T, Dim>>>(cells, *which) : std::nullopt;
      auto const search = [&](auto const& what)
      {
        return on_cpu(workers ? &*workers : nullptr, options.backend,
                      [&](auto const& where)
                      {
                        return some ? radius_search(where, *some, what)
                                    : radius_search(where, cells, what);
                      });
      };
      count_and_fill<Dim>(options, search, fetch, available, result);
      result.peak_memory = peak_memory();
    }

    template <class T, int Dim>
    void search_on_gpu(soa<T const, Dim> const& x, search_options const& options,
                       cell_list_options<T, Dim> const& grid, pair_filter<T> const* which,
                       search_result& result)
    {
      result.upload_seconds = result.download_seconds = 0;
      auto const on_device =
          timed("upload", *result.upload_seconds, [&] { return device_columns<T, Dim>(x); });
      auto const waited = [](auto f)
      {
        return [f]
        {
          auto value = f();
          synchronize(cuda.stream);
          return value;
        };
      };
      reset_pool_peak();
      auto cells = timed("grid", result.grid_seconds,
                         waited(
                             [&]
                             {
                               return cuda_cell_list<T, Dim>(cuda, on_device.view(),
                                                             static_cast<T>(options.radius), grid);
                             }));
      auto const some =
          which ? std::make_optional<cuda_filtered<T, Dim>>(cells, *which) : std::nullopt;
      auto const search = [&](auto const& what)
      {
        return waited(
            [&]
            {
              return some ? radius_search(cuda, *some, what) : radius_search(cuda, cells, what);
            })();
      };
      auto const fetch = [&](auto list)
      {
        return timed("download", *result.download_seconds, [&] { return list.to_host(); });
      };
      // a list that is written to a file is copied to the host
      auto const available = [&]
      {
        std::uint64_t const on_gpu = free_gpu_memory();
        return options.output ? std::min(on_gpu, available_memory()) : on_gpu;
      };
      count_and_fill<Dim>(options, search, fetch, available, result);
      result.peak_memory = memory_of_pool().peak;
    }

    template <class T, int Dim>
    search_result search_in(named_points const& from, search_options const& options)
    {
      search_result result;
      threads here(1);
      auto const origin = rounding_origins<T>(ranks(), here, from, nullptr, options.periodic);
      if (std::is_same_v<T, float>) result.merged = report_merged(ranks(), from, nullptr, origin);
      auto const rounded = rounded_positions<T>(here, from, origin);
      auto const x = rounded.template view<Dim>();
      result.points = x.size();
      auto const grid = grid_options<T, Dim, cell_list_options<T, Dim>>(options, origin);
      std::vector<T> const cutoffs(options.pairs.matrix.begin(), options.pairs.matrix.end());
      auto const& [offsets, others] = options.pairs.excluded;
      std::vector<index_type> const excluded(others.begin(), others.end());
      pair_filter<T> const filter{.types = from.points.types,
                                  .type_cutoffs = cutoffs,
                                  .excluded_offsets = offsets,
                                  .excluded = excluded};
      auto const* const which = options.pairs.is_all() ? nullptr : &filter;
      if (options.backend == backend::cuda)
        search_on_gpu(x, options, grid, which, result);
      else
        search_on_cpu(x, options, grid, which, result);
      return result;
    }

    template <class T>
    void check_lengths_in(search_options const& options)
    {
      std::string const in = sizeof(T) == 4 ? "f32" : "f64";
      T const radius = static_cast<T>(options.radius);
      if (!std::isnormal(radius * radius))
        throw error("--radius: found " + number_text(options.radius) +
                    ", whose square underflows or overflows in " + in +
                    "; use other units of length");
      for (auto const& each : options.pairs.cutoffs)
        if (T const cutoff = static_cast<T>(each.cutoff);
            each.cutoff > 0 && !std::isnormal(cutoff * cutoff))
          throw error("--type-cutoffs: found " + text_of(each) + ", whose square underflows in " +
                      in + "; use other units of length, or 0 for no pairs");
      for (std::size_t a = 0; a < options.periodic.size(); ++a)
      {
        if (options.periodic[a] == 0) continue;
        T const period = static_cast<T>(options.periodic[a]);
        auto const found =
            "--periodic: found " + number_text(options.periodic[a]) + " for axis " + "xyz"[a];
        if (!std::isnormal(period))
          throw error(found + ", which " + in + " cannot represent; use --precision f64");
      }
    }
  }

  void check_size(search_options const& options, search_result const& result, std::uint64_t limit)
  {
    if (result.bytes <= limit) return;
    std::string const allowed = options.max_memory ? " bytes given; raise it, or "
                                : options.backend == backend::cuda
                                    ? " bytes that are free; use --backend simd, or "
                                    : " bytes that are available; ";
    std::string const smaller = options.list == list_kind::count ? "search fewer points"
                                : options.list == list_kind::table && options.width
                                    ? "use a smaller --width"
                                    : "use a smaller --radius, or --list count";
    throw error("--max-memory: the " + std::string(name_of(options.list)) + " list has " +
                std::to_string(result.pairs) + (result.pairs == 1 ? " pair in " : " pairs in ") +
                std::to_string(result.bytes) + " bytes, more than the " + std::to_string(limit) +
                allowed + smaller);
  }

  void set_sizes(search_options const& options, std::uint64_t total, int dim, std::size_t of_index,
                 search_result& result)
  {
    std::uint64_t const n = result.points, index = of_index;
    std::uint64_t const image =
        options.shifts ? static_cast<std::uint64_t>(dim) * sizeof(std::int32_t) : 0;
    result.pairs = options.list == list_kind::half ? total / 2 : total;
    result.mean_neighbours = n == 0 ? 0 : static_cast<double>(total) / static_cast<double>(n);
    if (options.list == list_kind::table)
      result.table_width = options.width.value_or(
          static_cast<index_type>(std::max<std::uint64_t>(1, result.max_neighbours)));
    switch (options.list)
    {
    case list_kind::half:
      result.bytes = (2 * index + image) * result.pairs;
      break;
    case list_kind::full:
      result.bytes = (n + 1) * sizeof(std::uint64_t) + (index + image) * result.pairs;
      break;
    case list_kind::count:
      result.bytes = index * n;
      break;
    case list_kind::table:
      result.bytes = n * index * (std::uint64_t(*result.table_width) + 1);
      result.overflow = result.max_neighbours > *result.table_width;
      break;
    }
  }

  void check_lengths(search_options const& options)
  {
    options.precision == precision::f32 ? check_lengths_in<float>(options)
                                        : check_lengths_in<double>(options);
  }

  search_result run_host::search(search_options const& options, named_points const& from) const
  {
    return with_types(options.precision, from.points.dim,
                      [&]<class T, int Dim>() { return search_in<T, Dim>(from, options); });
  }
}
