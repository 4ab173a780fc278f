#include "json.hpp"

#include "build.hpp"
#include "machine.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>

// included only here: it takes seconds to compile
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nearfield::app
{
  namespace
  {
    using json = nlohmann::ordered_json;

    // Whole numbers as integers: nlohmann-json writes a double of 2 as 2.0.
    json number(double value)
    {
      if (std::abs(value) < 0x1p53 && value == std::trunc(value))
        return static_cast<std::int64_t>(value);
      return value;
    }

    // Invalid UTF-8, as of a file name, becomes U+FFFD.
    std::string text_of(json const& value)
    {
      return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    }

    std::string program()
    {
      return std::string("nearfield ") + build.version;
    }

    json json_of(check_report const& check)
    {
      return {{"targets", check.targets},
              {"max_relative_error", number(check.max_relative_error)},
              {"plain_relative_error", number(check.plain_relative_error)},
              {"limit", number(check.limit)},
              {"passed", check.passed()}};
    }

    json object_of(std::vector<std::pair<std::string, double>> const& values)
    {
      json object = json::object();
      for (auto const& [name, value] : values) object[name] = number(value);
      return object;
    }

    json array_of(std::vector<double> const& values)
    {
      json array = json::array();
      for (double const value : values) array.push_back(number(value));
      return array;
    }

    // A box of atoms; null if the file has none.
    json json_of(std::optional<file_report::periodic_cell> const& cell)
    {
      if (!cell) return {};
      json value{{"from", cell->from}, {"origin", cell->origin}, {"vectors", cell->vectors}};
      value["periodic"] = cell->periodic ? json(*cell->periodic) : json();
      return value;
    }

    json json_of(taken_files const& files)
    {
      json array = json::array();
      for (auto const& [name, report, box, uses_box] : files)
        array.push_back({{"name", name},
                         {"format", report.format},
                         {"positions", report.positions},
                         {"inputs", report.inputs},
                         {"velocities", report.velocities},
                         {"masses", report.masses},
                         {"parameters", report.parameters},
                         {"types", report.types},
                         {"left_out", report.left_out},
                         {"box", json_of(report.cell)},
                         {"uses_box", uses_box}});
      return array;
    }

    // GPUs only if there are some to name, which starts CUDA; check_early() has checked the instruction set.
    json machine(backend on, bool has_gpus)
    {
      json devices = json::array();
      if (has_gpus)
        for (gpu const& device : gpus()) devices.push_back(device.name);
      return {{"cpu", cpu_name()},
              {"processors", cpu_count()},
              {"isa", std::string(nearfield::name_of(on == backend::scalar ? isa::scalar
                                                                           : selected_isa()))},
              {"gpus", devices}};
    }

    json of_run(run_options const& options, int dim, taken_files const& files,
                run_result const& result, double read_seconds)
    {
      json tasks = json::array();
      for (worker_tasks const& of : result.step.tasks)
        tasks.push_back(
            {{"worker", of.worker}, {"implementation", of.implementation}, {"tasks", of.tasks}});
      json value{{"program", program()},
                 {"commit", build.commit},
                 {"machine", machine(options.step.backend, result.step.gpus > 0)},
                 {"input", options.input.string()},
                 {"points", result.points},
                 {"sources", result.sources},
                 {"dim", dim},
                 {"interaction", options.interaction.name},
                 {"parameters", object_of(options.interaction.parameters)},
                 {"point_parameters", object_of(options.interaction.point_parameters)},
                 {"precision", name_of(options.precision)},
                 {"backend", name_of(options.step.backend)},
                 {"periodic", array_of(options.periodic)},
                 {"cell", array_of(options.cell.numbers)},
                 {"pbc", options.cell.pbc},
                 {"leaves", result.leaves},
                 {"depth", result.depth},
                 {"max_leaf", result.max_leaf},
                 {"interactions", result.interactions},
                 {"seconds",
                  {{"read", number(read_seconds)},
                   {"setup", number(result.setup_seconds)},
                   {"tree", number(result.tree_seconds)},
                   {"near_field", number(result.step.seconds)},
                   {"check", number(result.check_seconds)}}},
                 {"runtime", result.step.runtime},
                 {"workers", result.step.workers},
                 {"gpus", result.step.gpus},
                 {"tasks", tasks},
                 {"not_finite", result.not_finite},
                 {"merged", result.merged},
                 {"check", result.check ? json_of(*result.check) : json()},
                 {"files", json_of(files)}};
      if (result.ranks > 1) value["ranks"] = result.ranks;
      return value;
    }

    json json_of(demo_row const& row)
    {
      json value{{"backend", row.backend}, {"precision", row.precision}};
      if (!row.skipped.empty())
        value["skipped"] = row.skipped;
      else
        value.update({{"seconds", number(row.step.seconds)},
                      {"interactions_per_second", number(row.rate)},
                      {"speed_up", number(row.speed_up)},
                      {"workers", row.step.workers},
                      {"gpus", row.step.gpus},
                      {"max_relative_error", number(row.check.max_relative_error)},
                      {"limit", number(row.check.limit)},
                      {"passed", row.check.passed()}});
      return value;
    }

    json json_of(demo_search_row const& row, double radius)
    {
      json value{
          {"backend", row.backend}, {"precision", row.precision}, {"radius", number(radius)}};
      if (!row.skipped.empty())
        value["skipped"] = row.skipped;
      else
        value.update({{"seconds", number(row.seconds)},
                      {"pairs", row.pairs},
                      {"same_pairs", row.same_pairs}});
      return value;
    }
  }

  std::string json_of(run_options const& options, int dim, taken_files const& files,
                      run_result const& result, double read_seconds)
  {
    return text_of(of_run(options, dim, files, result, read_seconds));
  }

  std::string json_of(run_options const& options, int dim, taken_files const& files,
                      time_loop_result const& result, double read_seconds)
  {
    json value = of_run(options, dim, files, result.last, read_seconds);
    auto& seconds = value["seconds"];
    seconds["move"] = number(result.move_seconds);
    seconds["write"] = number(result.write_seconds);
    seconds["energy"] = number(result.energy_seconds);
    value["move"] = name_of(options.motion->force);
    value["dt"] = number(options.motion->dt);
    value["steps"] = result.steps;
    value["interrupted"] = result.interrupted;
    value["frames"] = result.frames;
    auto const& [first, last] = std::tie(result.at_first, result.at_last);
    value["energy"] = first.energy && last.energy
                          ? json{{"first", number(*first.energy)}, {"last", number(*last.energy)}}
                          : json();
    value["momentum"] = {{"first", array_of(first.momentum)}, {"last", array_of(last.momentum)}};
    return text_of(value);
  }

  std::string json_of(run_options const& options, point_set const& targets,
                      taken_files const& files, tuning const& found)
  {
    char const* const forms[] = {"automatic", "one_sided", "mutual"};
    char const* const origins[] = {"table", "kept", "measured"};
    json costs = json::array(), sizes = json::array();
    for (auto const& sample : found.cost.samples())
      costs.push_back({{"targets", number(sample.targets)},
                       {"seconds_per_leaf", number(sample.seconds)},
                       {"seconds_per_source", number(sample.seconds_per_source)}});
    for (auto const& tried : found.choice.tried)
      sizes.push_back({{"max_leaf_size", tried.max_leaf_size},
                       {"leaves", number(tried.leaves)},
                       {"pairs", number(tried.pairs)},
                       {"near_seconds", number(tried.near_seconds)},
                       {"far_seconds", number(tried.far_seconds)}});
    return text_of(
        {{"program", program()},
         {"commit", build.commit},
         {"input", options.input.string()},
         {"points", targets.size()},
         {"dim", targets.dim},
         {"interaction", options.interaction.name},
         {"precision", name_of(options.precision)},
         {"worker", found.worker},
         {"form", forms[static_cast<int>(found.form)]},
         {"cpu", cpu_name()},
         {"far_field_cost", options.far_field_cost ? number(*options.far_field_cost) : json()},
         {"costs_are", origins[static_cast<int>(found.cost.from())]},
         {"costs", costs},
         {"sizes", sizes},
         {"max_leaf_size", found.choice.max_leaf_size},
         {"groups", found.groups > 0 ? json(found.groups) : json()},
         {"files", json_of(files)},
         {"seconds",
          {{"costs", number(found.cost_seconds)}, {"choice", number(found.choice_seconds)}}}});
  }

  std::string json_of(search_options const& options, point_set const& points,
                      taken_files const& files, search_result const& result, double read_seconds)
  {
    json seconds;
    seconds["read"] = number(read_seconds);
    if (result.upload_seconds) seconds["upload"] = number(*result.upload_seconds);
    seconds["grid"] = number(result.grid_seconds);
    seconds["count"] = number(result.count_seconds);
    seconds["fill"] = number(result.fill_seconds);
    if (result.download_seconds) seconds["download"] = number(*result.download_seconds);

    json value{{"program", program()},
               {"commit", build.commit},
               {"machine", machine(options.backend, options.backend == backend::cuda)},
               {"input", options.input.string()},
               {"points", result.points},
               {"dim", points.dim},
               {"precision", name_of(options.precision)},
               {"backend", name_of(options.backend)},
               {"workers", std::max(1, options.workers) * result.ranks},
               {"radius", number(options.radius)},
               {"periodic", array_of(options.periodic)},
               {"cell", array_of(options.cell.numbers)},
               {"pbc", options.cell.pbc},
               {"list", name_of(options.list)},
               {"pairs", result.pairs},
               {"mean_neighbours", number(result.mean_neighbours)},
               {"max_neighbours", result.max_neighbours},
               {"merged", result.merged}};
    if (result.table_width)
    {
      value["width"] = *result.table_width;
      value["overflow"] = result.overflow;
    }
    if (!options.pairs.types.empty())
    {
      value["types"] = points.type_names;
      value["type_cutoffs"] = array_of(options.pairs.matrix);
    }
    if (options.pairs.exclude) value["excluded"] = options.pairs.n_excluded;
    if (result.ranks > 1) value["ranks"] = result.ranks;
    value["files"] = json_of(files);
    value["seconds"] = seconds;
    value["bytes"] = result.bytes;
    value["peak_memory"] = result.peak_memory;
    return text_of(value);
  }

  std::string json_of(demo_input const& input, tree<3> const& leaves,
                      std::string const& interaction, std::string const& tasks,
                      std::vector<demo_row> const& rows,
                      std::vector<demo_search_row> const& searches)
  {
    json measured = json::array(), searched = json::array(),
         here = machine(backend::automatic, true);
    here["tasks"] = tasks;
    for (demo_row const& row : rows) measured.push_back(json_of(row));
    for (demo_search_row const& row : searches) searched.push_back(json_of(row, input.cutoff));
    return text_of({{"program", program()},
                    {"commit", build.commit},
                    {"machine", here},
                    {"input", input.points.name},
                    {"points", input.points.points.size()},
                    {"interaction", interaction},
                    {"leaves", leaves.size()},
                    {"depth", leaves.depth()},
                    {"max_leaf", leaves.largest_leaf()},
                    {"interactions", leaves.interaction_count()},
                    {"rows", measured},
                    {"search", searched}});
  }
}
