// Every built-in interaction is run by its name, with parameters of points from columns or from --point-param.
#include "named_interactions.hpp"
#include "outcome.hpp"

#include <nearfield/kernels/any_interaction.hpp>

#include <algorithm>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  std::vector<std::string> arguments_for(interaction_info const& of,
                                         std::vector<std::string> const& more)
  {
    std::vector<std::string> arguments{"--interaction",        std::string(of.name), "--dim",
                                       std::to_string(of.dim), "--max-leaf-size",    "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
}

TEST(by_name, every_interaction_passes_its_check)
{
  temporary_folder const folder;
  for (interaction_info const& of : interaction_infos())
  {
    if (!of.is_built) continue;
    write_points(folder / "points.csv", points_for(of, 150));
    for (std::string const precision : {"f32", "f64"})
    {
      SCOPED_TRACE(std::string(of.name) + " " + precision);
      bool const is_by_tasks = precision == "f64" && NEARFIELD_APP_HAS_STARPU;
      auto const [end, points, json] =
          compute(folder, "points.csv",
                  arguments_for(of, {"--precision", precision, "--check", "20", "--workers",
                                     is_by_tasks ? "1" : "0"}));
      EXPECT_EQ(json.at("check.passed"), "true");
      EXPECT_EQ(points.outputs.size(), static_cast<std::size_t>(of.n_out));
    }
  }
}

TEST(by_name, parameters_of_points_come_from_a_column_or_an_option)
{
  auto const found = one_with_parameters_of_points();
  if (!found) GTEST_SKIP() << "no built-in interaction reads parameters of points";
  auto const& of = *found;
  temporary_folder const folder;
  auto points = points_for(of, 100);
  for (auto& column : points.parameters) std::fill(column.begin(), column.end(), 0.375);
  write_points(folder / "with.csv", points);
  points.parameters.clear();
  points.parameter_names.clear();
  write_points(folder / "without.csv", points);
  std::vector<std::string> options;
  for (auto const& each : of.point_parameters)
    options.insert(options.end(), {"--point-param", std::string(each.name) + "=0.375"});

  auto const by_column = compute(folder, "with.csv", arguments_for(of, {}));
  auto const by_option = compute(folder, "without.csv", arguments_for(of, options));
  EXPECT_EQ(by_column.points.outputs, by_option.points.outputs);
  std::string const name(of.point_parameters[0].name);
  EXPECT_EQ(by_option.json.at("point_parameters." + name), "0.375");
  EXPECT_EQ(by_column.json.at("files.0.parameters.0"), name);

  // targets without the column, sources with it
  auto two_sets = options;
  two_sets.insert(two_sets.end(), {"--sources", (folder / "with.csv").string()});
  EXPECT_EQ(compute(folder, "without.csv", arguments_for(of, two_sets)).points.outputs.size(),
            static_cast<std::size_t>(of.n_out));

  auto const run = [&](std::string const& file, std::vector<std::string> const& more)
  {
    auto arguments = arguments_for(of, more);
    arguments.insert(arguments.begin(), {"run", (folder / file).string()});
    return run_program(arguments);
  };
  expect_refusal(run("without.csv", {}), "without.csv: found no column " + name +
                                             ".*--columns, or give --point-param " + name + "=");
  expect_refusal(run("with.csv", options), "--point-param: found " + name + ".*leave it out");
  expect_refusal(run("without.csv", {"--point-param", name + "=inf"}),
                 "--point-param: " + name + " is inf");
  expect_refusal(run("without.csv", {"--point-param", name + "=-1"}),
                 "--point-param: " + name + " is -1; give .*" +
                     std::string(of.point_parameters[0].unit));
  points.parameter_names.emplace_back(name);
  points.parameters = {std::vector<double>(points.size(), 0.5)};
  points.parameters[0][3] = -1;
  write_points(folder / "wrong.csv", points);
  expect_refusal(run("wrong.csv", {}), "wrong.csv: point 3: " + name + " is -1; give ");
  expect_refusal(run("without.csv", {"--point-param", "colour=1"}),
                 "--point-param: .* reads no 'colour' of points; it has .*" + name);
}
