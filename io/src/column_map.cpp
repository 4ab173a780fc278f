#include "column_map.hpp"

#include "text.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace nearfield::detail::io
{
  namespace
  {
    constexpr std::size_t absent = static_cast<std::size_t>(-1);

    // q -> 1, q3 -> 3; 0 for other names
    std::size_t number_of(std::string_view name, std::string_view prefix)
    {
      if (!name.starts_with(prefix)) return 0;
      name.remove_prefix(prefix.size());
      if (name.empty()) return 1;
      std::int64_t k = 0;
      bool const good = is_digit(name[0]) && name[0] != '0' &&
                        parse_number(name, k) == number_status::good &&
                        k <= static_cast<std::int64_t>(max_values_per_point);
      return good ? static_cast<std::size_t>(k) : 0;
    }

    bool is_output(std::string_view name)
    {
      return number_of(name, "phi") != 0 || number_of(name, "gx") != 0 ||
             number_of(name, "gy") != 0 || number_of(name, "gz") != 0 || name == "ax" ||
             name == "ay" || name == "az";
    }

    // x vx -> 0, y vy -> 1, z vz -> 2; absent for other names
    std::size_t axis_of(std::string_view name, std::string_view prefix)
    {
      if (!name.starts_with(prefix) || name.size() != prefix.size() + 1) return absent;
      return std::string_view("xyz").find(name.back()); // npos is `absent`
    }

    std::string const known_names =
        "x y z, vx vy vz, m, q or q1 q2 ..., phi or phi1 phi2 ..., gx gy gz, ax ay az, _ to skip";
  }

  column_map map_of(std::vector<std::string> const& names, int dim,
                    std::function<void(std::string const&, std::string const&)> const& fail)
  {
    if (names.size() > max_values_per_point)
      fail(count_of(names.size(), "column"), "at most " + std::to_string(max_values_per_point));
    column_map map;
    map.names = names;
    std::size_t axes[3] = {absent, absent, absent}, velocities[3] = {absent, absent, absent};
    std::vector<std::size_t> inputs;
    std::set<std::string_view> seen;
    for (std::size_t c = 0; c < names.size(); ++c)
    {
      auto const& name = names[c];
      if (!is_column_name(name)) fail("column " + in_quotes(name), known_names);
      if (name == "_") continue;
      if (!seen.insert(name).second) fail("column " + in_quotes(name) + " twice", "each name once");
      if (auto const axis = axis_of(name, ""); axis != absent)
        axes[axis] = c;
      else if (auto const component = axis_of(name, "v"); component != absent)
        velocities[component] = c;
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
        fail(std::string("no column ") + "xy"[axis], "columns x and y, and z in 3D");
    int const found = axes[2] == absent ? 2 : 3;
    if (dim != 0 && dim != found)
      fail("columns of dimension " + std::to_string(found),
           std::to_string(dim) + " as requested" + (dim == 2 ? " (rename z to _ to skip it)" : ""));
    map.positions.assign(axes, axes + found);
    for (int axis = 0; axis < 3; ++axis)
      if (velocities[axis] != absent) map.velocities.push_back(velocities[axis]);
    if (!map.velocities.empty() &&
        (map.velocities.size() != map.positions.size() || map.velocities[0] != velocities[0] ||
         map.velocities[1] != velocities[1]))
      fail(count_of(map.velocities.size(), "column") + " of velocities",
           found == 2 ? "vx and vy, or none" : "vx, vy and vz, or none");

    std::stable_sort(inputs.begin(), inputs.end(),
                     [&](auto a, auto b)
                     { return number_of(names[a], "q") < number_of(names[b], "q"); });
    for (std::size_t k = 0; k < inputs.size(); ++k)
    {
      if (number_of(names[inputs[k]], "q") != k + 1)
        fail("column " + in_quotes(names[inputs[k]]),
             "inputs q, or q1 q2 ... without gaps or repeats");
      map.input_names.push_back(names[inputs[k]]);
    }
    map.inputs = inputs;
    return map;
  }

  std::vector<std::string> usual_names(std::size_t n, int dim)
  {
    std::vector<std::string> names{"x", "y", "z"};
    names.resize(dim != 0 ? static_cast<std::size_t>(dim) : n == 2 ? 2 : 3);
    auto const n_inputs = n > names.size() ? n - names.size() : 0;
    for (std::size_t k = 1; k <= n_inputs; ++k)
      names.push_back(n_inputs == 1 ? "q" : "q" + std::to_string(k));
    return names;
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

  bool is_column_name(std::string_view name)
  {
    return name == "_" || name == "m" || axis_of(name, "") != absent ||
           axis_of(name, "v") != absent || number_of(name, "q") != 0 || is_output(name);
  }
}
