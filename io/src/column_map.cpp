#include "column_map.hpp"

#include "column_names.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace nearfield::detail::io
{
  namespace
  {
    std::string const given_names = "x y z, vx vy vz, m, q or q1 q2 ..., phi or phi1 phi2 ..., gx "
                                    "gy gz, ax ay az, id mol type of "
                                    "atoms, _ to skip";

    // a, b, c, for messages
    std::string in_a_row(std::vector<std::string> const& names)
    {
      std::string text;
      for (auto const& name : names) text += name + ", ";
      return text;
    }

    // 'a' 'b' 'c' ..., for messages
    std::string some_of(std::vector<std::string> const& titles)
    {
      std::string text;
      for (std::size_t c = 0; c < std::min<std::size_t>(titles.size(), 6); ++c)
        text += (c == 0 ? "" : " ") + in_quotes(titles[c]);
      return text + (titles.size() > 6 ? " ..." : "");
    }

    // One title for the columns of a vector.
    void add_titles(std::vector<std::string>& to, column_map const& map,
                    std::vector<std::size_t> const& columns)
    {
      for (auto const c : columns)
      {
        bool const needs_masses = map.lacks_masses && map.names[c].starts_with("mv");
        bool const is_partial =
            !map.incomplete.empty() && axis_of(map.names[c], map.incomplete) < 3;
        auto const title = printable(map.titles[c]) + (needs_masses ? " (without masses)" : "") +
                           (is_partial ? " (incomplete)" : "");
        if (to.empty() || to.back() != title) to.push_back(title);
      }
    }
  }

  std::string numbered(std::size_t k)
  {
    return "column " + std::to_string(k + 1);
  }

  named_columns columns_named(std::vector<std::string_view> const& titles)
  {
    named_columns columns;
    for (std::size_t c = 0; c < titles.size(); ++c)
    {
      auto const title = trimmed(unquoted(titles[c]));
      auto const known = known_name(title);
      columns.names.push_back(known.empty() ? "_" : known);
      columns.titles.push_back(title.empty() || title == "_" ? numbered(c) : std::string(title));
    }
    return columns;
  }

  named_columns columns_given(read_options const& options, std::string const& file)
  {
    named_columns columns;
    for (std::size_t c = 0; c < options.columns.size(); ++c)
    {
      auto const& name = options.columns[c];
      auto const known = known_name(name);
      if (known.empty() && name != "_" && !is_label(name) &&
          one_of(options.parameters, name).empty())
        throw error(printable(file) + ": columns (--columns): found column " + in_quotes(name) +
                    ", expected " + in_a_row(options.parameters) + given_names);
      columns.names.push_back(known.empty() ? "_" : known);
      columns.titles.push_back(numbered(c));
    }
    return columns;
  }

  named_columns usual_columns(std::size_t n, int dim)
  {
    named_columns columns{{"x", "y", "z"}};
    auto& names = columns.names;
    names.resize(dim != 0 ? static_cast<std::size_t>(dim) : n == 2 ? 2 : 3);
    auto const n_inputs = n > names.size() ? n - names.size() : 0;
    for (std::size_t k = 1; k <= n_inputs; ++k)
      names.push_back(n_inputs == 1 ? "q" : "q" + std::to_string(k));
    for (std::size_t c = 0; c < names.size(); ++c) columns.titles.push_back(numbered(c));
    return columns;
  }

  column_map map_of(named_columns columns, read_options const& options, place const& where)
  {
    if (columns.names.size() > max_values_per_point)
      where.fail(count_of(columns.names.size(), "column"),
                 "at most " + std::to_string(max_values_per_point));
    column_map map{std::move(columns)};
    std::map<std::string, std::size_t> places;
    std::multimap<std::size_t, std::size_t> inputs; // by their numbers
    for (std::size_t c = 0; c < map.names.size(); ++c)
    {
      auto& name = map.names[c];
      auto const parameter =
          one_of(options.parameters, options.columns.empty() ? map.titles[c] : options.columns[c]);
      if (!parameter.empty())
      {
        if (one_of(map.parameter_names, parameter) == parameter)
          where.fail("column " + in_quotes(map.titles[c]) + " and another for " + parameter,
                     "one for " + parameter + ", and _ for the other");
        map.parameters.push_back(c);
        map.parameter_names.push_back(name = parameter);
        continue;
      }
      if (name == "type" && options.types) map.types.push_back(c);
      if (name == "type" && !options.types) name = "_";
      if (name == "_" || name == "type") continue;
      if (!places.emplace(name, c).second)
        where.fail("column " + in_quotes(map.titles[c]) + " and another for " + name,
                   "one for " + name + ", and _ for the other");
      if (auto const number = number_of(name, "q"); number != 0)
        inputs.emplace(number, c);
      else if (name == "m")
        map.masses = {c};
      else if (axis_of(name, "") == 3 && axis_of(name, "v") == 3 && axis_of(name, "mv") == 3)
      {
        map.outputs.push_back(c);
        map.output_names.push_back(name);
      }
    }
    // the components of a vector that there are, `xz` if y is missing
    auto const find_vector = [&](std::string const& prefix, std::vector<std::size_t>& found)
    {
      std::string axes;
      for (char const axis : {'x', 'y', 'z'})
        if (auto const place = places.find(prefix + axis); place != places.end())
        {
          axes += axis;
          found.push_back(place->second);
        }
      return axes;
    };
    if (options.types && map.types.size() != 1)
      where.fail(map.types.empty() ? "no column of types among " + some_of(map.titles)
                                   : "columns " + in_quotes(map.titles[map.types[0]]) + " and " +
                                         in_quotes(map.titles[map.types[1]]) + " of types",
                 "one column named type, species, element or symbol");
    auto const axes = find_vector("", map.positions);
    for (char const axis : {'x', 'y'})
      if (axes.find(axis) == axes.npos)
        where.fail(std::string("no column ") + axis + " among " + some_of(map.titles),
                   "columns x and y, and z in 3D");
    if (options.dim != 0 && static_cast<std::size_t>(options.dim) != axes.size())
      where.fail("columns of dimension " + std::to_string(axes.size()),
                 wanted(options) + (options.dim == 2 ? " (rename z to _ to skip it)" : ""));
    auto components = find_vector("v", map.velocities);
    bool const has_momenta = components.empty();
    if (has_momenta) components = find_vector("mv", map.velocities);
    map.lacks_masses = has_momenta && !components.empty() && map.masses.empty();
    if (!components.empty() && components != axes && !map.lacks_masses)
      map.incomplete = has_momenta ? "mv" : "v";
    if (map.lacks_masses || components != axes) map.velocities.clear();
    map.are_momenta = has_momenta && !map.velocities.empty();
    for (auto const& [number, c] : inputs)
    {
      map.inputs.push_back(c);
      map.input_names.push_back(map.names[c]);
      if (number != map.inputs.size())
        where.fail("column " + in_quotes(map.titles[c]),
                   "inputs q, or q1 q2 ... without gaps or repeats");
    }
    return map;
  }

  point_set empty_set(column_map const& map)
  {
    point_set points;
    points.dim = static_cast<int>(map.positions.size());
    points.positions.resize(map.positions.size());
    points.velocities.resize(map.velocities.size());
    points.parameters.resize(map.parameters.size());
    points.inputs.resize(map.inputs.size());
    points.outputs.resize(map.outputs.size());
    points.parameter_names = map.parameter_names;
    points.input_names = map.input_names;
    points.output_names = map.output_names;
    return points;
  }

  std::vector<filled_column> columns_to_fill(column_map const& map, point_set& points)
  {
    std::vector<filled_column> columns;
    auto const add = [&](std::vector<std::size_t> const& from, std::vector<std::vector<double>>& to,
                         bool may_be_infinite = false)
    {
      for (std::size_t k = 0; k < from.size(); ++k)
        columns.push_back({from[k], &to[k], may_be_infinite});
    };
    add(map.positions, points.positions);
    for (auto const c : map.masses) columns.push_back({c, &points.masses});
    add(map.velocities, points.velocities);
    add(map.parameters, points.parameters);
    add(map.inputs, points.inputs);
    add(map.outputs, points.outputs, true);
    return columns;
  }

  void describe(column_map const& map, std::string const& format, file_report* report)
  {
    if (!report) return;
    *report = {.format = format,
               .lacks_masses = map.lacks_masses,
               .lacks_components = !map.incomplete.empty()};
    std::set<std::size_t> others;
    for (std::size_t c = 0; c < map.names.size(); ++c) others.insert(others.end(), c);
    auto const add = [&](std::vector<std::string>& to, std::vector<std::size_t> const& columns)
    {
      add_titles(to, map, columns);
      for (auto const c : columns) others.erase(c);
    };
    add(report->positions, map.positions);
    add(report->velocities, map.velocities);
    add(report->masses, map.masses);
    add(report->parameters, map.parameters);
    add(report->inputs, map.inputs);
    add(report->outputs, map.outputs);
    add(report->types, map.types);
    add_titles(report->left_out, map, {others.begin(), others.end()});
  }

  void type_numbers::add(std::string_view name, place const& where)
  {
    if (name.empty()) where.fail("no name of a type", "one");
    auto found = numbers_.find(name);
    if (found == numbers_.end())
    {
      found = numbers_.emplace(name, static_cast<index_type>(names_.size())).first;
      names_.emplace_back(name);
    }
    of_points_.push_back(found->second);
  }

  void type_numbers::move_to(point_set& points)
  {
    points.types = std::move(of_points_);
    points.type_names = std::move(names_);
  }

  double velocity_of(double momentum, double mass, place const& where)
  {
    double const velocity = momentum / mass;
    if (!std::isfinite(velocity))
      where.fail("the momentum " + number_text(momentum) + " of a point of mass " +
                     number_text(mass),
                 "a mass that makes it a finite velocity");
    return velocity;
  }
}
