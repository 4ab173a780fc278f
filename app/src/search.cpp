#include "build.hpp"
#include "commands.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "json.hpp"
#include "search_compute.hpp"
#include "search_output.hpp"
#include "step.hpp"

#include <nearfield/core/isa.hpp>
#include <nearfield/io/read.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace nearfield::app
{
  namespace
  {
    // What can be refused before a file is read.
    void check_early(search_options const& options)
    {
      if (options.precision == precision::f32)
        check_lengths<float>(options);
      else
        check_lengths<double>(options);
      check_devices({.backend = options.backend, .workers = 0});
      if (options.workers > 0 && !has_tasks())
        throw error("--workers: this program was built without StarPU; leave it out, or configure "
                    "with -DNEARFIELD_ENABLE_STARPU=ON");
      if (options.output)
      {
        check_list_format(*options.output);
        check_output("--output", *options.output, {options.input});
      }
      if (options.json) check_output("--json", *options.json, {options.input, options.output});
      if (options.backend != backend::scalar && options.backend != backend::cuda)
        (void)selected_isa();
    }

    named_points read(search_options const& options)
    {
      named_points from{options.input.string(),
                        read_points(options.input, {.dim = options.dim,
                                                    .columns = options.columns,
                                                    .atom_style = options.atom_style})};
      auto const dim = static_cast<std::size_t>(from.points.dim);
      if (!options.periodic.empty() && options.periodic.size() != dim)
        throw error("--periodic: found " + std::to_string(options.periodic.size()) +
                    " lengths, expected " + std::to_string(dim) + ", as many as " + from.name +
                    " has coordinates");
      from.points.inputs = {}; // a search has no use for charges
      from.points.outputs = {};
      return from;
    }

    std::string backend_name(search_options const& options)
    {
      std::string name = name_of(options.backend);
      if (options.backend == backend::simd)
        name += " (" + std::string(nearfield::name_of(selected_isa())) + ")";
      if (options.workers > 0)
        name += ", " + std::to_string(options.workers) +
                (options.workers == 1 ? " worker" : " workers");
      return name;
    }

    void print_summary(search_options const& options, int dim, search_result const& result)
    {
      std::cout << "points        " << result.points << ", " << dim << "D\n"
                << "search        " << backend_name(options) << ", " << name_of(options.precision)
                << ", radius " << options.radius << "\n"
                << "pairs         " << result.pairs << " (" << name_of(options.list) << "), "
                << std::setprecision(4) << result.mean_neighbours << " neighbours a point, at most "
                << result.max_neighbours << "\n";
      if (result.overflow)
        std::cout << "overflow      rows of the table hold " << *result.table_width << " of up to "
                  << result.max_neighbours << " neighbours; counts are true\n";
      std::cout << std::setprecision(3) << "seconds       grid " << result.grid_seconds
                << ", count " << result.count_seconds << ", fill " << result.fill_seconds << "\n"
                << "memory        the list takes " << result.bytes << " bytes, the peak is "
                << result.peak_memory << "\n";
    }

    std::string json_of(search_options const& options, int dim, search_result const& result,
                        double read_seconds)
    {
      json_writer json;
      json.begin_object();
      json.key("program").value(std::string("nearfield ") + build.version);
      json.key("input").value(options.input.string());
      json.key("points").value(result.points);
      json.key("dim").value(dim);
      json.key("precision").value(name_of(options.precision));
      json.key("backend").value(name_of(options.backend));
      json.key("workers").value(std::max(1, options.workers));
      json.key("radius").value(options.radius);
      json.key("periodic").begin_array();
      for (double const length : options.periodic) json.value(length);
      json.end_array();
      json.key("list").value(name_of(options.list));
      json.key("pairs").value(result.pairs);
      json.key("mean_neighbours").value(result.mean_neighbours);
      json.key("max_neighbours").value(result.max_neighbours);
      if (result.table_width)
      {
        json.key("width").value(std::uint64_t(*result.table_width));
        json.key("overflow").value(result.overflow);
      }
      json.key("seconds").begin_object();
      json.key("read").value(read_seconds);
      if (result.upload_seconds) json.key("upload").value(*result.upload_seconds);
      json.key("grid").value(result.grid_seconds);
      json.key("count").value(result.count_seconds);
      json.key("fill").value(result.fill_seconds);
      if (result.download_seconds) json.key("download").value(*result.download_seconds);
      json.end_object();
      json.key("bytes").value(result.bytes);
      json.key("peak_memory").value(result.peak_memory);
      json.end_object();
      return json.text();
    }
  }

  exit_status search(search_options const& asked)
  {
    search_options options = asked;
    check_early(options);
    if (options.backend == backend::automatic)
      options.backend = options.workers == 0 && no_gpu().empty() ? backend::cuda : backend::simd;

    auto const start = std::chrono::steady_clock::now();
    auto const from = read(options);
    double const read_seconds = seconds_since(start);
    auto const result = options.precision == precision::f32 ? search_points<float>(from, options)
                                                            : search_points<double>(from, options);
    print_summary(options, from.points.dim, result);

    output_files files;
    if (options.output)
      write_list(files.open(*options.output), *options.output, options.list, result);
    if (options.json)
      files.write(*options.json, json_of(options, from.points.dim, result, read_seconds));
    files.commit("written       ");
    return success;
  }
}
