#include "run.hpp"
#include "commands.hpp"
#include "compute.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "frames.hpp"
#include "interactions.hpp"
#include "json.hpp"
#include "summary.hpp"
#include "taken.hpp"
#include "time_loop.hpp"
#include "tune.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/io/points.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    // Interactions compute the square of a length, or its reciprocal, in the precision of the run.
    void check_squares(run_options const& options)
    {
      double const largest = options.precision == precision::f32
                                 ? double(std::numeric_limits<float>::max())
                                 : std::numeric_limits<double>::max();
      for (auto const& [name, value] : options.interaction.parameters)
        if (double const square = value * value;
            value != 0 && !(square <= largest && 1 / square <= largest))
          throw error("--param: " + name + " is " + number_text(value) +
                      ", whose square underflows or overflows in " + name_of(options.precision) +
                      "; use other units of length");
    }

    named_points read(run_options const& options, std::filesystem::path const& path, int dim,
                      std::string const& dim_of, std::vector<std::string> const& columns,
                      std::optional<file_part> const& part)
    {
      // with two files, --atom-style applies to those in LAMMPS format; if there is none, the reader refuses it; --frame
      // and --format are for INPUT, and for the other file if it is of the same kind
      bool const is_alike = path.extension() == options.input.extension();
      auto const has_style = [&](std::filesystem::path const& of)
      {
        return has_atom_style(of,
                              of.extension() == options.input.extension() ? options.format : "");
      };
      bool const is_for_the_other = options.sources && !has_style(path) &&
                                    (has_style(options.input) || has_style(*options.sources));
      named_points from{.name = path.string()};
      from.points = read_points(path,
                                {.dim = dim,
                                 .dim_of = dim_of,
                                 .columns = columns,
                                 .atom_style = is_for_the_other ? "" : options.atom_style,
                                 .frame = is_alike ? options.frame : std::nullopt,
                                 .format = is_alike ? options.format : "",
                                 .part = part},
                                &from.report);
      if (!part) refuse_no_rows(from, from.points.size());
      return from;
    }

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

    // INPUT and, if there is one, the file of --sources. read_file(path, read) gives what read() does for a file.
    template <class ReadFile>
    std::pair<named_points, std::optional<named_points>> read_both(run_options const& options,
                                                                   ReadFile const& read_file)
    {
      auto targets = read_file(
          options.input, [&](std::optional<file_part> const& part)
          { return read(options, options.input, options.dim, "", options.columns, part); });
      std::optional<named_points> sources;
      if (options.sources)
        sources = read_file(*options.sources,
                            [&](std::optional<file_part> const& part)
                            {
                              auto from = read(options, *options.sources, targets.points.dim,
                                               options.dim == 0 ? targets.name : "",
                                               options.source_columns, part);
                              refuse_z_as_input(options, from);
                              return from;
                            });
      return {std::move(targets), std::move(sources)};
    }

    // The box of --box, otherwise that of the file; with two files only if they have the same one. The box of a
    // file says nothing of points that move.
    std::optional<bounding_box> choose_box(run_options const& options, point_set const& targets,
                                           point_set const* sources)
    {
      auto const dim = static_cast<std::size_t>(targets.dim);
      if (options.box.empty())
        return options.motion || (sources && sources->box != targets.box) ? std::nullopt
                                                                          : targets.box;
      if (options.box.size() != dim + 1)
        throw error("--box: found " + std::to_string(options.box.size()) +
                    (options.box.size() == 1 ? " number" : " numbers") + ", expected " +
                    (dim == 2 ? "3: cx,cy,half" : "4: cx,cy,cz,half") + " for points in " +
                    std::to_string(dim) + "D");
      return bounding_box{{options.box.begin(), options.box.end() - 1}, options.box.back()};
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
  }

  void check_motion(run_options const& options)
  {
    if (options.motion && !can_hold_velocities(*options.output))
      throw error("--output: " + options.output->string() +
                  " cannot hold velocities; give .csv, .vtu or .xyz");
  }

  void check_frames(run_options const& options)
  {
    if (!options.motion || !options.motion->frames) return;
    std::vector<std::filesystem::path> others{options.input};
    if (options.json) others.push_back(*options.json);
    frame_files(*options.output, *options.motion->frames, options.motion->steps).check(others);
  }

  void check_early(run_options const& options)
  {
    check_interaction(options.interaction, options.dim);
    check_squares(options);
    check_devices(options.step);
    if (options.output)
    {
      check_writable_format(*options.output);
      check_output("--output", *options.output, {options.input, options.sources});
      check_motion(options);
    }
    if (options.json)
      check_output("--json", *options.json, {options.input, options.sources, options.output});
    check_frames(options);
    if (options.step.backend != backend::scalar) (void)selected_isa();
  }

  exit_status run(run_host& on, run_options const& asked)
  {
    run_options options = asked;
    auto start = std::chrono::steady_clock::now();
    on.attempt([&] { on.check_early(options); });
    double const early_seconds = seconds_since(start);

    start = std::chrono::steady_clock::now();
    auto both = read_both(options, [&](std::filesystem::path const& path, part_reader const& read)
                          { return on.read(path, read); });
    auto& targets = both.first; // names that lambdas capture with clang++ 14 too
    auto& points = targets.points;
    named_points const* const sources = both.second ? &*both.second : nullptr;
    point_set const* const source_points = sources ? &sources->points : nullptr;
    double const read_seconds = on.slowest(seconds_since(start));

    cut_options cut{
        .level = options.level, .max_leaf_size = options.max_leaf_size, .period = options.periodic};
    on.attempt(
        [&]
        {
          leave_out_velocities(options, points);
          check_axes(options.periodic, targets);
          cut.box = choose_box(options, points, source_points);
        });
    auto const taken = taken_of(options, targets, sources, cut.box);
    if (on.is_first()) print_taken(taken);
    start = std::chrono::steady_clock::now();
    std::uint64_t merged = 0;
    if (options.precision == precision::f32)
    {
      auto const origin = on.rounding_origins(targets, sources, options.periodic);
      options.has_origin = has_origin(origin);
      merged = on.report_merged(targets, sources, origin);
    }
    on.prepare(options, targets, sources, cut);
    if (options.motion)
      return run_steps(on, options, std::move(targets), cut, read_seconds,
                       early_seconds + seconds_since(start), merged);

    auto result = on.compute(options, targets, sources, cut);
    result.setup_seconds = on.slowest(early_seconds + seconds_since(start) - result.tree_seconds -
                                      result.step.seconds - result.check_seconds);
    result.merged = merged;
    on.count_not_finite(result, targets.first);
    std::string json;
    if (on.is_first())
    {
      print_summary(options, points, source_points, result);
      if (options.json) json = json_of(options, points, source_points, taken, result, read_seconds);
    }
    points.outputs = std::move(result.outputs);
    points.output_names = std::move(result.output_names);
    on.write(options, targets);
    on.commit(options, json);
    if (on.is_first() && result.not_finite > 0) report_not_finite(options, result);
    if (on.is_first()) report_rounding(options, result);
    bool const passed = result.not_finite == 0 && (!result.check || result.check->passed());
    return passed ? success : check_failed;
  }

  exit_status run(run_options const& options)
  {
    run_host here;
    return run(here, options);
  }

  exit_status tune(run_options const& options)
  {
    check_early(options);
    auto const [targets, sources] =
        read_both(options, [](std::filesystem::path const&, part_reader const& read)
                  { return read(std::nullopt); });
    check_axes(options.periodic, targets);
    auto const box = choose_box(options, targets.points, sources ? &sources->points : nullptr);
    auto const taken = taken_of(options, targets, sources ? &*sources : nullptr, box);
    print_taken(taken);
    auto const found = tune_leaves(options, targets, sources ? &*sources : nullptr, box, true);
    print_tuning(options, targets.points, found);
    if (options.json)
    {
      output_files files;
      files.write(*options.json, json_of(options, targets.points, taken, found));
      files.commit("written       ");
    }
    return success;
  }
}
