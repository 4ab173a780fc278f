#include "arguments.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cmath>
#include <limits>
#include <sstream>

namespace nearfield::app
{
  namespace
  {
    // All of `text` as a number, including nan and inf.
    double parse_number(std::string const& text, char const* option, char const* expected)
    {
      if (auto const value = nearfield::detail::read_number<double>(text)) return *value;
      throw error(std::string(option) + ": found '" + text + "', expected " + expected);
    }

    // The words between commas, including empty ones.
    std::vector<std::string> split(std::string const& text)
    {
      std::vector<std::string> parts;
      std::istringstream stream(text);
      for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
      if (text.empty() || text.back() == ',') parts.emplace_back();
      return parts;
    }

    // The value named by `text`.
    template <class Enum>
    Enum choose(std::string const& text, char const* option,
                std::vector<std::pair<char const*, Enum>> const& choices)
    {
      std::string known;
      for (auto const& [name, value] : choices)
      {
        if (text == name) return value;
        known += (known.empty() ? "" : ", ") + std::string(name);
      }
      throw error(std::string(option) + ": found '" + text + "', expected one of " + known);
    }

    precision choose_precision(std::string const& text)
    {
      return choose<precision>(text, "--precision",
                               {{"f32", precision::f32}, {"f64", precision::f64}});
    }

    backend choose_backend(std::string const& text)
    {
      return choose<backend>(text, "--backend",
                             {{"auto", backend::automatic},
                              {"scalar", backend::scalar},
                              {"simd", backend::simd},
                              {"cuda", backend::cuda}});
    }

    // Refuses options that would have no effect.
    void refuse_idle(written_run const& written)
    {
      run_options const& options = written.options;
      if (!written.source_columns.empty() && !options.sources)
        throw error("--source-columns: found no --sources; give the file, or --columns for INPUT");
      if (options.step.workers != 0) return;
      auto const refuse = [](char const* option)
      {
        throw error(std::string(option) + ": found --workers 0, which runs without StarPU; " +
                    "leave out one of them");
      };
      if (!options.step.scheduler.empty()) refuse("--scheduler");
      if (options.step.leaves_per_group) refuse("--leaves-per-group");
    }

    std::vector<double> parse_box(std::string const& text)
    {
      std::vector<double> box;
      for (std::string const& number : split(text))
      {
        box.push_back(parse_number(number, "--box", "cx,cy[,cz],half"));
        if (!std::isfinite(box.back()))
          throw error("--box: found '" + number + "', expected finite numbers cx,cy[,cz],half");
      }
      if (!(box.back() > 0))
        throw error("--box: found the half width " + number_text(box.back()) +
                    ", expected a positive length");
      return box;
    }

    double parse_positive(std::string const& text, char const* option, char const* expected)
    {
      double const value = parse_number(text, option, expected);
      if (!(value > 0) || !std::isfinite(value))
        throw error(std::string(option) + ": found '" + text + "', expected " + expected);
      return value;
    }

    // "auto", or a whole number from 1 on.
    int parse_leaf_size(std::string const& text)
    {
      if (text == "auto") return automatic;
      auto const size = nearfield::detail::read_number<int>(text);
      if (!size || *size < 1)
        throw error("--max-leaf-size: found '" + text +
                    "', expected auto, or a whole number from 1 to " +
                    std::to_string(std::numeric_limits<int>::max()));
      return *size;
    }

    double parse_cost(std::string const& text)
    {
      char const* const expected = "seconds of a leaf, finite, 0 or more";
      double const value = parse_number(text, "--far-field-cost", expected);
      if (!(value >= 0) || !std::isfinite(value))
        throw error("--far-field-cost: found '" + text + "', expected " + expected);
      return value;
    }

    std::optional<std::int64_t> parse_frame(std::string const& text)
    {
      if (text.empty()) return std::nullopt;
      auto const frame = nearfield::detail::read_number<std::int64_t>(text);
      if (!frame)
        throw error("--frame: found '" + text +
                    "', expected a whole number, from 0, or from -1, the last, back");
      return frame;
    }

    std::vector<double> parse_periodic(std::string const& text, int dim)
    {
      char const* const expected = "Lx,Ly[,Lz], positive, finite lengths, and 0 for an open axis";
      std::vector<double> lengths;
      for (std::string const& number : split(text))
      {
        lengths.push_back(parse_number(number, "--periodic", expected));
        if (!(lengths.back() >= 0) || !std::isfinite(lengths.back()))
          throw error("--periodic: found '" + number + "', expected " + expected);
      }
      std::size_t const n = lengths.size();
      if (dim != 0 ? n != static_cast<std::size_t>(dim) : n != 2 && n != 3)
        throw error("--periodic: found " + std::to_string(n) + (n == 1 ? " length" : " lengths") +
                    ", expected " + (dim != 0 ? std::to_string(dim) : "2 or 3") +
                    ", one for each axis, 0 for an open one");
      return lengths;
    }
  }

  run_options interpret(written_run const& written)
  {
    refuse_idle(written);
    run_options options = written.options;
    options.precision = choose_precision(written.precision);
    options.step.backend = choose_backend(written.backend);
    options.max_leaf_size = parse_leaf_size(written.max_leaf_size);
    if (!written.far_field_cost.empty())
    {
      options.far_field_cost = parse_cost(written.far_field_cost);
      if (options.max_leaf_size != automatic)
        throw error("--far-field-cost: found --max-leaf-size " + written.max_leaf_size +
                    ", which it would not change; give auto");
    }
    if (!written.force.empty())
    {
      options.motion = {
          .force = choose<force>(written.force, "--move",
                                 {{"gravity", force::gravity}, {"charges", force::charges}}),
          .steps = written.steps,
          .dt = parse_positive(written.dt, "--dt", "a positive, finite time"),
          .frames = written.frames};
      options.interaction.name = "r_over_r3"; // whose sums are the forces of both
    }
    for (std::string const& parameter : written.parameters)
    {
      auto const equals = parameter.find('=');
      if (equals == std::string::npos)
        throw error("--param: found '" + parameter + "', expected name=value");
      auto const name = parameter.substr(0, equals);
      for (auto const& known : options.interaction.parameters)
        if (known.first == name)
          throw error("--param: found " + name + " twice; give each parameter once");
      options.interaction.parameters.emplace_back(
          name, parse_number(parameter.substr(equals + 1), "--param", "a number after ="));
    }
    if (!written.box.empty()) options.box = parse_box(written.box);
    if (!written.periodic.empty()) options.periodic = parse_periodic(written.periodic, options.dim);
    if (!written.columns.empty()) options.columns = split(written.columns);
    options.frame = parse_frame(written.frame);
    if (!written.source_columns.empty())
      options.source_columns = split(written.source_columns);
    else if (options.sources && options.sources->extension() == options.input.extension())
      options.source_columns = options.columns;
    return options;
  }

  search_options interpret(written_search const& written)
  {
    search_options options = written.options;
    options.precision = choose_precision(written.precision);
    options.backend = choose_backend(written.backend);
    options.list = choose<list_kind>(written.list, "--list",
                                     {{"half", list_kind::half},
                                      {"full", list_kind::full},
                                      {"count", list_kind::count},
                                      {"table", list_kind::table}});
    // refuse options that would have no effect
    if (options.width && options.list != list_kind::table)
      throw error("--width: found --list " + written.list +
                  ", which has no width; give --list table, or leave it out");
    if (options.workers > 0 &&
        (options.backend == backend::scalar || options.backend == backend::cuda))
      throw error("--workers: found " + std::to_string(options.workers) + " with --backend " +
                  written.backend + ", which runs on the calling thread; leave out one of them");
    if (options.cells_per_cutoff > max_cells_per_cutoff)
      throw error("--cells-per-cutoff: found " + std::to_string(options.cells_per_cutoff) +
                  ", expected 1 to " + std::to_string(max_cells_per_cutoff) +
                  ": more cells cost more than they save; leave it out for the default");
    options.radius = parse_positive(written.radius, "--radius", "a positive, finite length");
    if (!written.periodic.empty()) options.periodic = parse_periodic(written.periodic, options.dim);
    if (!written.columns.empty()) options.columns = split(written.columns);
    options.frame = parse_frame(written.frame);
    return options;
  }
}
