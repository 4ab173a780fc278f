#include "commands.hpp"
#include "devices.hpp"
#include "json.hpp"
#include "output.hpp"
#include "pair_choice.hpp"
#include "run_host.hpp"
#include "step.hpp"
#include "taken.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/io/points.hpp>

#include <algorithm>
#include <iostream>

namespace nearfield::app
{
  namespace
  {
    std::string backend_name(search_options const& options, int ranks)
    {
      std::string name = name_of(options.backend);
      if (options.backend == backend::simd)
        name += " (" + std::string(nearfield::name_of(selected_isa())) + ")";
      if (int const workers = options.workers * ranks; workers > 0)
        name += ", " + std::to_string(workers) + (workers == 1 ? " worker" : " workers");
      return name;
    }

    void check_early(search_options const& options)
    {
      check_lengths(options);
      check_devices({.backend = options.backend, .workers = 0});
      if (options.workers > 0 && !has_tasks())
        throw error("--workers: this program was built without StarPU; leave it out, or configure "
                    "with -DNEARFIELD_ENABLE_STARPU=ON");
      check_workers(options.workers, "give fewer");
      if (options.output)
      {
        check_list_format(*options.output);
        check_output("--output", *options.output,
                     {options.input, options.pairs.file_of_types(), options.pairs.exclude});
      }
      if (options.json)
        check_output(
            "--json", *options.json,
            {options.input, options.pairs.file_of_types(), options.pairs.exclude, options.output});
      if (options.backend != backend::scalar) (void)selected_isa();
    }

    void print_summary(search_options const& options, int dim, search_result const& result)
    {
      constexpr auto general = std::chars_format::general;
      std::cout << "points        " << result.points << ", " << dim << "D";
      if (result.ranks > 1) std::cout << ", on " << result.ranks << " ranks";
      std::cout << "\nsearch        " << backend_name(options, result.ranks) << ", "
                << name_of(options.precision) << ", radius "
                << number_text(options.radius, general, 6) << "\n"
                << "pairs         " << result.pairs << " (" << name_of(options.list) << "), "
                << number_text(result.mean_neighbours, general, 4)
                << " neighbours per point, at most " << result.max_neighbours << "\n";
      if (result.overflow)
        std::cout << "overflow      rows of the table hold " << *result.table_width << " of up to "
                  << result.max_neighbours << " neighbours; counts are true\n";
      std::cout << "seconds       grid " << number_text(result.grid_seconds, general, 3)
                << ", count " << number_text(result.count_seconds, general, 3) << ", fill "
                << number_text(result.fill_seconds, general, 3) << "\n"
                << "memory        the list takes " << result.bytes << " bytes, the peak is "
                << result.peak_memory << " bytes\n";
      if (!options.output) std::cout << "list          not kept: give --output FILE\n";
    }
  }

  exit_status search(run_host& on, search_options const& asked)
  {
    ranks const& all = on.ranks();
    auto options = asked;
    if (options.backend == backend::automatic)
    {
      bool const may_use_gpu = all.size() == 1 && options.workers == 0;
      options.backend = may_use_gpu && no_gpu().empty() ? backend::cuda : backend::simd;
    }
    auto early = options; // the first rank alone writes
    if (!all.is_first()) early.output = early.json = std::nullopt;
    all.attempt([&] { check_early(early); });

    auto const start = std::chrono::steady_clock::now();
    auto reading = reading_of(options);
    reading.types = options.pairs.has_types_of_input();
    auto from = read_file(all, options.input, reading);
    all.attempt([&] { settle_box(options, from, nullptr); });
    settle_pairs(all, options.pairs, options.radius, from);
    from.points.inputs = {}; // a search does not use them
    from.points.outputs = {};
    double const read_seconds = all.greatest(seconds_since(start));
    auto const taken = taken_of(options, from);
    if (all.is_first())
    {
      print_taken(taken);
      print_pairs(options.pairs, from);
    }
    auto const result = on.search(options, from);

    if (all.is_first()) print_summary(options, from.points.dim, result);
    output_files files(all);
    if (options.output)
      files.write_in_order(*options.output, [&](byte_sink const& put)
                           { write_list(put, options, from.points.dim, result, all.is_first()); });
    files.write(options.json,
                [&] { return json_of(options, from.points, taken, result, read_seconds); });
    files.commit("written       ");
    return success;
  }
}
