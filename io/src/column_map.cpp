#include "column_map.hpp"

#include "column_names.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace nearfield::detail::io
{
  namespace
  {
    constexpr std::size_t absent = static_cast<std::size_t>(-1);

    std::string const given_names = "x y z, vx vy vz, m, q or q1 q2 ..., phi or phi1 phi2 ..., gx "
                                    "gy gz, ax ay az, id mol type of "
                                    "atoms, _ to skip";

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
      if (known.empty() && name != "_" && !is_label(name))
        throw error(printable(file) + ": columns (--columns): found column " + in_quotes(name) +
                    ", expected " + given_names);
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

  column_map map_of(named_columns columns, int dim,
                    std::function<void(std::string const&, std::string const&)> const& fail,
                    std::string const& dim_of)
  {
    if (columns.names.size() > max_values_per_point)
      fail(count_of(columns.names.size(), "column"),
           "at most " + std::to_string(max_values_per_point));
    column_map map;
    map.names = std::move(columns.names);
    map.titles = std::move(columns.titles);
    auto const& names = map.names;
    std::size_t axes[3] = {absent, absent, absent}, velocities[3] = {absent, absent, absent},
                momenta[3] = {absent, absent, absent};
    std::vector<std::size_t> inputs;
    std::set<std::string_view> seen;
    for (std::size_t c = 0; c < names.size(); ++c)
    {
      auto const& name = names[c];
      if (name == "_") continue;
      if (!seen.insert(name).second)
        fail("column " + in_quotes(map.titles[c]) + " and another for " + name,
             "one for " + name + ", and _ for the other");
      if (auto const axis = axis_of(name, ""); axis < 3)
        axes[axis] = c;
      else if (auto const of_velocity = axis_of(name, "v"); of_velocity < 3)
        velocities[of_velocity] = c;
      else if (auto const of_momentum = axis_of(name, "mv"); of_momentum < 3)
        momenta[of_momentum] = c;
      else if (name == "m")
        map.masses = {c};
      else if (number_of(name, "q") != 0)
        inputs.push_back(c);
      else
      {
        map.outputs.push_back(c);
        map.output_names.push_back(name);
      }
    }
    for (int axis = 0; axis < 2; ++axis)
      if (axes[axis] == absent)
        fail(std::string("no column ") + "xy"[axis] + " among " + some_of(map.titles),
             "columns x and y, and z in 3D");
    int const found = axes[2] == absent ? 2 : 3;
    if (dim != 0 && dim != found)
      fail("columns of dimension " + std::to_string(found),
           wanted(dim, dim_of) + (dim == 2 ? " (rename z to _ to skip it)" : ""));
    map.positions.assign(axes, axes + found);
    auto const has = [](std::size_t const* of)
    {
      return std::any_of(of, of + 3, [](std::size_t c) { return c != absent; });
    };
    map.are_momenta = has(momenta) && !has(velocities) && !map.masses.empty();
    map.lacks_masses = has(momenta) && !has(velocities) && map.masses.empty();
    if (map.are_momenta) std::copy(momenta, momenta + 3, velocities);
    for (std::size_t const component : velocities)
      if (component != absent) map.velocities.push_back(component);
    if (!map.velocities.empty() &&
        (map.velocities.size() != map.positions.size() || map.velocities[0] != velocities[0] ||
         map.velocities[1] != velocities[1]))
    {
      map.incomplete = map.are_momenta ? "mv" : "v";
      map.velocities.clear();
      map.are_momenta = false;
    }

    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](auto a, auto b)
                     { return number_of(names[a], "q") < number_of(names[b], "q"); });
    for (std::size_t k = 0; k < inputs.size(); ++k)
    {
      if (number_of(names[inputs[k]], "q") != k + 1)
        fail("column " + in_quotes(map.titles[inputs[k]]),
             "inputs q, or q1 q2 ... without gaps or repeats");
      map.input_names.push_back(names[inputs[k]]);
    }
    map.inputs = inputs;
    return map;
  }

  point_set empty_set(column_map const& map)
  {
    point_set points;
    points.dim = static_cast<int>(map.positions.size());
    points.positions.resize(map.positions.size());
    points.velocities.resize(map.velocities.size());
    points.inputs.resize(map.inputs.size());
    points.outputs.resize(map.outputs.size());
    points.input_names = map.input_names;
    points.output_names = map.output_names;
    return points;
  }

  void describe(column_map const& map, file_report& report)
  {
    add_titles(report.positions, map, map.positions);
    add_titles(report.velocities, map, map.velocities);
    add_titles(report.masses, map, map.masses);
    add_titles(report.inputs, map, map.inputs);
    add_titles(report.outputs, map, map.outputs);
    std::vector<bool> is_taken(map.names.size());
    for (auto const* group :
         {&map.positions, &map.velocities, &map.masses, &map.inputs, &map.outputs})
      for (auto const c : *group) is_taken[c] = true;
    std::vector<std::size_t> others;
    for (std::size_t c = 0; c < is_taken.size(); ++c)
      if (!is_taken[c]) others.push_back(c);
    add_titles(report.left_out, map, others);
    report.lacks_masses = map.lacks_masses;
    report.lacks_components = !map.incomplete.empty();
  }

  double velocity_of(double momentum, double mass,
                     std::function<void(std::string const&, std::string const&)> const& fail)
  {
    double const velocity = momentum / mass;
    if (!std::isfinite(velocity))
      fail("the momentum " + number_text(momentum) + " of a point of mass " + number_text(mass),
           "a mass that makes it a finite velocity");
    return velocity;
  }
}
