#include "devices.hpp"
#include "files.hpp"
#include "frames.hpp"
#include "interactions.hpp"
#include "json.hpp"
#include "merged.hpp"
#include "output.hpp"
#include "run_host.hpp"
#include "summary.hpp"
#include "taken.hpp"
#include "time_loop.hpp"
#include "tune.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/io/points.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    // Columns without names are x y z and inputs, if nothing says otherwise. Where INPUT is in 2D, z would become an input.
    void refuse_z_as_input(run_options const& options, named_points const& sources)
    {
      bool const is_asked = options.dim != 0 || !options.source_columns.empty();
      if (is_asked || sources.points.dim != 2 || sources.points.inputs.empty() ||
          sources.report.inputs[0] != "column 3")
        return;
      throw error(sources.name + ": found columns without names for sources in 2D, as INPUT is, "
                                 "expected names, or --source-columns (x,y,q or x,y,_,q): the "
                                 "third may be z",
                  error_kind::invalid_data);
    }

    // INPUT and, if there is one, the file of --sources, with the parameters of points that the interaction reads.
    std::pair<named_points, std::optional<named_points>> read_both(ranks const& all,
                                                                   run_options const& options)
    {
      auto how = reading_of(options);
      for (auto const& each : point_parameters_of(options.interaction.name))
        how.parameters.emplace_back(each.name);
      if (!options.sources)
      {
        auto points = read_file(all, options.input, how);
        all.attempt([&] { settle_point_parameters(options.interaction, points, nullptr); });
        return {std::move(points), std::nullopt};
      }
      // --frame and --format are for INPUT, and for the other file if it is of the same kind
      auto how_sources = how;
      if (options.sources->extension() != options.input.extension())
      {
        how_sources.frame = std::nullopt;
        how_sources.format = "";
      }
      // --atom-style applies to those in LAMMPS format; if there is none, the reader refuses it
      bool const has_style = has_atom_style(options.input, how.format),
                 has_style_too = has_atom_style(*options.sources, how_sources.format);
      if (has_style && !has_style_too) how_sources.atom_style = "";
      if (!has_style && has_style_too) how.atom_style = "";

      auto targets = read_file(all, options.input, how);
      how_sources.dim = targets.points.dim;
      how_sources.dim_of = options.dim == 0 ? targets.name : "";
      how_sources.columns = options.source_columns;
      auto sources = read_file(all, *options.sources, how_sources);
      all.attempt(
          [&]
          {
            refuse_z_as_input(options, sources);
            settle_point_parameters(options.interaction, targets, &sources);
          });
      return {std::move(targets), std::move(sources)};
    }

    // The box of --box, otherwise that of the file; with two files only if they have the same one. The box of a
    // file says nothing of points that move.
    std::optional<point_set::bounding_box>
    choose_box(run_options const& options, named_points const& targets, named_points const* sources)
    {
      auto const dim = static_cast<std::size_t>(targets.points.dim);
      if (options.box.empty())
        return options.motion || options.cell.is_given() ||
                       (sources && sources->points.box != targets.points.box)
                   ? std::nullopt
                   : targets.points.box;
      if (options.box.size() != dim + 1)
        throw error("--box: found " + std::to_string(options.box.size()) +
                    (options.box.size() == 1 ? " number" : " numbers") + ", expected " +
                    (dim == 2 ? "3: cx,cy,half" : "4: cx,cy,cz,half") + " for points in " +
                    std::to_string(dim) + "D");
      return point_set::bounding_box{{options.box.begin(), options.box.end() - 1},
                                     options.box.back()};
    }

    // Removes velocities and masses if --output is of a format without them.
    void leave_out_velocities(run_options const& options, point_set& of)
    {
      if (options.motion || !options.output || can_hold_velocities(*options.output)) return;
      of.velocities.clear();
      of.masses.clear();
    }

    void report_not_finite(run_options const& options, run_result const& result)
    {
      std::cerr << "nearfield: results that are not finite: " << result.not_finite
                << ", the first at point " << result.first_not_finite
                << "; a term or a sum leaves the range of " << name_of(options.precision) << ": "
                << (options.precision == precision::f32 ? "use --precision f64 or " : "use ")
                << "other units of length or of the inputs" << std::endl;
    }

    // Says how much rounding the coordinates changes, if the check passes only because it excuses that.
    void report_rounding(run_options const& options, run_result const& result)
    {
      if (options.precision == precision::f32 && result.check && result.check->excuses_rounding())
        std::cerr << "nearfield: warning: rounding the coordinates to f32 changes sums by up to "
                  << number_text(result.check->plain_relative_error, std::chars_format::scientific,
                                 1)
                  << ", which --check allows; --precision f64 keeps them" << std::endl;
    }

    void check_for_ranks(execution_options const& step)
    {
      if (step.workers == 0)
        throw error(
            "--workers 0: not available over ranks of MPI, which compute as StarPU tasks; give "
            "1 or more");
      if (step.gpus.value_or(0) > 0 && std::getenv("STARPU_WORKERS_CUDAID"))
        throw error("--gpus: found STARPU_WORKERS_CUDAID, which names the GPUs of each rank; leave "
                    "out one of them");
    }

    // Needs no input file. Starts CUDA, if it is asked for.
    void check_early(ranks const& all, run_options const& options)
    {
      if (all.size() > 1) check_for_ranks(options.step);
      check_interaction(options.interaction, options.dim, options.precision);
      check_devices(options.step);
      std::vector<std::filesystem::path> outputs;
      if (options.output)
      {
        check_writable_format(*options.output);
        outputs = files_of(all, *options.output);
        auto const json = all.size() > 1 ? options.json : std::nullopt; // also for pieces
        for (auto const& path : outputs)
          check_output("--output", path, {options.input, options.sources, json});
        if (options.motion && !can_hold_velocities(*options.output))
          throw error("--output: " + options.output->string() +
                      " cannot hold velocities; give .csv, .vtu or .xyz");
      }
      if (options.json && all.is_first())
      {
        check_output("--json", *options.json, {options.input, options.sources});
        for (auto const& path : outputs) check_output("--json", *options.json, {path});
      }
      if (options.motion && options.motion->frames && all.is_first())
      {
        std::vector<std::filesystem::path> others{options.input};
        if (options.json) others.push_back(*options.json);
        for (auto const& named : {*options.output, file_of_first(all, *options.output)})
          frame_files(named, *options.motion->frames, options.motion->steps).check(others);
      }
      if (options.step.backend != backend::scalar) (void)selected_isa();
    }

    // Of all ranks.
    void count_not_finite(ranks const& all, run_result& result, std::uint64_t first_here)
    {
      std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), n = 0;
      for (auto const& column : result.outputs)
        for (std::size_t i = 0; i < column.size(); ++i)
          if (!std::isfinite(column[i]))
          {
            first = std::min(first, first_here + i);
            ++n;
          }
      result.first_not_finite = all.least(first);
      result.not_finite = all.sum(n);
    }
  }

  exit_status run(run_host& on, run_options const& asked)
  {
    ranks const& all = on.ranks();
    run_options options = asked;
    auto start = std::chrono::steady_clock::now();
    all.attempt([&] { check_early(all, options); });
    double const early_seconds = seconds_since(start);

    start = std::chrono::steady_clock::now();
    auto both = read_both(all, options);
    auto& targets = both.first; // names that lambdas capture with clang++ 14 too
    auto& points = targets.points;
    named_points const* const sources = both.second ? &*both.second : nullptr;
    double const read_seconds = all.greatest(seconds_since(start));

    cut_options cut{
        .level = options.level, .max_leaf_size = options.max_leaf_size, .period = options.periodic};
    all.attempt(
        [&]
        {
          leave_out_velocities(options, points);
          settle_box(options, targets, sources);
          cut.cell = options.cell;
          cut.box = choose_box(options, targets, sources);
        });
    auto const taken = taken_of(options, targets, sources, cut.box);
    if (all.is_first()) print_taken(taken);
    start = std::chrono::steady_clock::now();
    std::uint64_t merged = 0;
    options.written = options.precision;
    if (options.precision == precision::f32)
    {
      threads here;
      auto const origin = rounding_origins<float>(all, here, targets, sources, options.periodic);
      if (std::ranges::any_of(origin, [](double o) { return o != 0; }))
        options.written = precision::f64;
      merged = report_merged(all, targets, sources, origin);
    }
    on.prepare(options, targets, sources, cut);
    if (options.motion)
      return run_steps(on, options, std::move(targets), cut, read_seconds,
                       early_seconds + seconds_since(start), merged);

    auto result = on.compute(options, targets, sources, cut);
    result.setup_seconds = all.greatest(early_seconds + seconds_since(start) - result.tree_seconds -
                                        result.step.seconds - result.check_seconds);
    result.merged = merged;
    count_not_finite(all, result, targets.first);
    if (all.is_first()) print_summary(options, points.dim, result);
    if (options.output && !can_hold_velocities(*options.output)) points.parameters.clear();
    points.outputs = std::move(result.outputs);
    points.output_names = std::move(result.output_names);
    output_files files(all);
    if (options.output) files.write(*options.output, points, {.precision = options.written});
    files.write(options.json,
                [&] { return json_of(options, points.dim, taken, result, read_seconds); });
    files.commit("written       ");
    if (all.is_first() && result.not_finite > 0) report_not_finite(options, result);
    if (all.is_first()) report_rounding(options, result);
    bool const passed = result.not_finite == 0 && (!result.check || result.check->passed());
    return passed ? success : check_failed;
  }

  exit_status tune(run_options const& asked)
  {
    ranks const alone;
    run_options options = asked;
    check_early(alone, options);
    auto const both = read_both(alone, options);
    auto const& targets = both.first; // as above
    named_points const* const sources = both.second ? &*both.second : nullptr;
    settle_box(options, targets, sources);
    auto const box = choose_box(options, targets, sources);
    auto const taken = taken_of(options, targets, sources, box);
    print_taken(taken);
    auto const found = tune_leaves(options, targets, sources, box, true);
    print_tuning(options, targets.points, found);
    output_files files(alone);
    files.write(options.json, [&] { return json_of(options, targets.points, taken, found); });
    files.commit("written       ");
    return success;
  }
}
