#include "interactions.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    error of_parameters(error const& e)
    {
      return error(std::string("--param: ") + e.what(), e.kind());
    }
  }

  any_interaction interaction_of(interaction_choice const& choice, int dim)
  {
    auto const infos = interaction_infos();
    auto const found = std::ranges::find(infos, choice.name, &interaction_info::name);
    if (dim == 0) dim = found == infos.end() ? 3 : found->dim;
    any_interaction const by_default(choice.name, dim);
    std::vector<std::pair<std::string_view, double>> const parameters(choice.parameters.begin(),
                                                                      choice.parameters.end());
    try
    {
      return {by_default.info().name, dim, parameters};
    }
    catch (error const& e)
    {
      throw of_parameters(e);
    }
  }

  std::vector<point_parameter> point_parameters_of(std::string const& interaction)
  {
    std::vector<point_parameter> all;
    for (interaction_info const& of : interaction_infos())
      for (auto const& each : of.point_parameters)
        if (of.name == interaction &&
            std::ranges::find(all, each.name, &point_parameter::name) == all.end())
          all.push_back(each);
    return all;
  }

  void check_interaction(interaction_choice const& choice, int dim, precision in)
  {
    auto const k = interaction_of(choice, dim);
    try
    {
      static_cast<void>(in == precision::f32 ? k.erased().zero<float>()
                                             : k.erased().zero<double>());
    }
    catch (error const& e)
    {
      throw of_parameters(e);
    }
    auto const known = point_parameters_of(choice.name);
    for (auto const& [name, value] : choice.point_parameters)
    {
      std::string names;
      for (auto const& each : known)
        names += (names.empty() ? "; it has " : ", ") + std::string(each.name);
      auto const found = std::ranges::find(known, name, &point_parameter::name);
      if (found == known.end())
        throw error("--point-param: " + choice.name + " reads no '" + name + "' of points" +
                    (names.empty() ? "; it reads none" : names));
      if (auto const wrong = detail::wrong_value(name, found->range, found->unit, value);
          !wrong.empty())
        throw error("--point-param: " + wrong);
    }
  }

  void settle_point_parameters(interaction_choice const& choice, named_points& targets,
                               named_points* sources)
  {
    auto const k = interaction_of(choice, targets.points.dim);
    std::set<std::string> needed;
    for (named_points* of : {&targets, sources})
    {
      if (!of) continue;
      auto& points = of->points;
      std::vector<std::vector<double>> columns;
      std::vector<std::string> names;
      for (auto const& wanted : k.info().point_parameters)
      {
        auto const& name = names.emplace_back(wanted.name);
        auto const at = std::ranges::find(points.parameter_names, name);
        auto const given = std::ranges::find(choice.point_parameters, name,
                                             &std::pair<std::string, double>::first);
        if (at != points.parameter_names.end())
        {
          columns.push_back(std::move(
              points.parameters[static_cast<std::size_t>(at - points.parameter_names.begin())]));
          for (std::size_t i = 0; i < points.size(); ++i)
            if (auto const wrong =
                    detail::wrong_value(name, wanted.range, wanted.unit, columns.back()[i]);
                !wrong.empty())
              throw error(of->name + ": point " + std::to_string(i) + ": " + wrong,
                          error_kind::invalid_data);
        }
        else if (given != choice.point_parameters.end())
        {
          columns.emplace_back(points.size(), given->second);
          needed.insert(name);
        }
        else
          throw error(of->name + ": found no column " + name + ", which " + choice.name +
                          " reads of each point; name one so in the file or by --columns, or give "
                          "--point-param " +
                          name + "=... for all points",
                      error_kind::invalid_data);
      }
      points.parameters = std::move(columns);
      points.parameter_names = std::move(names);
    }
    for (auto const& [name, value] : choice.point_parameters)
      if (needed.count(name) == 0)
        throw error("--point-param: found " + name +
                    ", of which the file has a column; leave it out");
  }
}
