// Every field of the JSON, and every line that is printed, of runs so small that all numbers are known.
#include "program.hpp"
#include "read_json.hpp"

#include <nearfield/core/numbers.hpp>

#include <chrono>
#include <sstream>

using namespace nearfield::test;

namespace
{
  std::string const square = "x,y,z,q\n0,0,0,1\n1,0,0,2\n0,1,0,-1\n1,1,0,2\n";

  struct said
  {
    std::string text;   ///< without its numbers of seconds
    json_values fields; ///< without times, the machine, the version and "files"
    std::vector<std::string> times;
  };

  // Runs the program on files "a.csv", "b.csv" ... with this content.
  said run(std::vector<std::string> const& files, std::vector<std::string> arguments)
  {
    temporary_folder const folder;
    for (std::size_t f = 0; f < files.size(); ++f)
      write_text(folder / (std::string(1, static_cast<char>('a' + f)) + ".csv"), files[f]);
    for (auto& argument : arguments)
      if (argument.ends_with(".csv")) argument = (folder / argument).string();
    arguments.insert(arguments.end(), {"--json", (folder / "out.json").string()});
    auto const start = std::chrono::steady_clock::now();
    auto const end = run_program(arguments, {{"NEARFIELD_CACHE", (folder / "cache").string()},
                                             {"CUDA_VISIBLE_DEVICES", ""},
                                             {"NEARFIELD_ISA", "scalar"}});
    double const wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    expect_success(end);
    said result{end.out, {}, {}};
    double sum = 0;
    for (auto const& [name, value] : read_json(folder / "out.json"))
      if (name.starts_with("seconds."))
      {
        result.times.push_back(name.substr(8));
        EXPECT_GE(std::stod(value), 0) << name;
        sum += std::stod(value);
      }
      else if (!name.starts_with("machine.") && !name.starts_with("files.") && name != "program" &&
               name != "commit" && name != "input" && name != "peak_memory")
        result.fields[name] = value;
    EXPECT_LE(sum, wall) << end.out; // no time counts twice
    return result;
  }

  using testing::ElementsAre;
  using testing::MatchesRegex;
  std::string const some = "[0-9.e+-]+";
}

TEST(fields, of_one_set)
{
  auto const [text, fields, times] =
      run({square}, {"run", "a.csv", "--workers", "0", "--level", "1", "--check", "3"});
  EXPECT_THAT(text,
              MatchesRegex("read          a.csv: columns of text; positions x, y, z; inputs q\n"
                           "points        4, 3D\n"
                           "tree          4 leaves, depth 1, at most 1 point per leaf, 12 "
                           "interactions\n"
                           "near field    auto \\(scalar\\), f64, 1 worker: " +
                           some + " s, " + some + " pairs/s, setup " + some +
                           " s\n"
                           "check         3 targets, max relative error " +
                           some +
                           ", limit 1e-13: PASS\n"
                           "results       not kept: give --output FILE\n"
                           "written       [^\n]*\n"));
  auto rest = fields;
  for (auto const* error : {"check.max_relative_error", "check.plain_relative_error"})
    EXPECT_LT(std::stod(rest.extract(error).mapped()), 1e-13);
  EXPECT_EQ(rest, (json_values{{"points", "4"},
                               {"sources", "4"},
                               {"dim", "3"},
                               {"interaction", "one_over_r"},
                               {"parameters", "{}"},
                               {"point_parameters", "{}"},
                               {"precision", "f64"},
                               {"backend", "auto"},
                               {"periodic", "[]"},
                               {"cell", "[]"},
                               {"pbc", "[]"},
                               {"leaves", "4"},
                               {"depth", "1"},
                               {"max_leaf", "1"},
                               {"interactions", "12"},
                               {"runtime", "calling thread"},
                               {"workers", "1"},
                               {"gpus", "0"},
                               {"tasks", "[]"},
                               {"not_finite", "0"},
                               {"merged", "0"},
                               {"check.targets", "3"},
                               {"check.limit", "1e-13"},
                               {"check.passed", "true"}}));
  EXPECT_THAT(times, ElementsAre("check", "near_field", "read", "setup", "tree"));
}

// A target and a source, and a point of its own: one of each is named so.
TEST(fields, of_two_sets_and_of_one_point)
{
  auto const two = run({"x,y,q\n0.5,1,3\n", "x,y,q\n1,1,1\n"},
                       {"run", "a.csv", "--sources", "b.csv", "--workers", "0", "--backend",
                        "scalar", "--precision", "f32", "--interaction", "gaussian", "--param",
                        "sigma=0.5", "--periodic", "0,9"});
  EXPECT_THAT(two.text,
              testing::ContainsRegex("\npoints        1 targets, 1 sources, 2D\n"
                                     "tree          1 leaf, depth 0, at most 1 point per leaf, 3 "
                                     "interactions\n"
                                     "near field    scalar, f32, 1 worker: "));
  auto const& fields = two.fields;
  EXPECT_EQ(fields.at("points"), "1");
  EXPECT_EQ(fields.at("sources"), "1");
  EXPECT_EQ(fields.at("dim"), "2");
  EXPECT_EQ(fields.at("interaction"), "gaussian");
  EXPECT_EQ(fields.at("parameters.sigma"), "0.5");
  EXPECT_EQ(fields.at("precision"), "f32");
  EXPECT_EQ(fields.at("backend"), "scalar");
  EXPECT_EQ(fields.at("periodic.0"), "0");
  EXPECT_EQ(fields.at("periodic.1"), "9");
  EXPECT_EQ(fields.at("check"), "null");
  auto const one = run({"x,y,q\n0.5,1,3\n"}, {"run", "a.csv", "--workers", "0"});
  EXPECT_THAT(one.text,
              testing::ContainsRegex("\ntree          1 leaf, depth 0, at most 1 point per leaf, 0 "
                                     "interactions\nnear field    auto .scalar., f64, 1 worker: " +
                                     some + " s, setup"));
  EXPECT_THAT(run({"x,y,q\n0,0,1\n", "x,y,q\n1,1,1\n"},
                  {"run", "a.csv", "--sources", "b.csv", "--workers", "0"})
                  .text,
              testing::HasSubstr(", 1 interaction\n"));
}

TEST(fields, of_a_search)
{
  auto const [text, fields, times] =
      run({square}, {"search", "a.csv", "--radius", "1.25", "--backend", "scalar", "--precision",
                     "f32", "--periodic", "0,0,5"});
  EXPECT_THAT(text, MatchesRegex("read          a.csv: columns of text; positions x, y, z; left "
                                 "out: q\n"
                                 "points        4, 3D\n"
                                 "search        scalar, f32, radius 1.25\n"
                                 "pairs         4 \\(half\\), 2 neighbours per point, at most 2\n"
                                 "seconds       grid " +
                                 some + ", count " + some + ", fill " + some +
                                 "\n"
                                 "memory        the list takes 32 bytes, the peak is [0-9]+ "
                                 "bytes\n"
                                 "list          not kept: give --output FILE\n"
                                 "written       [^\n]*\n"));
  EXPECT_EQ(fields, (json_values{{"points", "4"},
                                 {"dim", "3"},
                                 {"precision", "f32"},
                                 {"backend", "scalar"},
                                 {"workers", "1"},
                                 {"radius", "1.25"},
                                 {"cell", "[]"},
                                 {"pbc", "[]"},
                                 {"periodic.0", "0"},
                                 {"periodic.1", "0"},
                                 {"periodic.2", "5"},
                                 {"list", "half"},
                                 {"pairs", "4"},
                                 {"mean_neighbours", "2"},
                                 {"max_neighbours", "2"},
                                 {"merged", "0"},
                                 {"bytes", "32"}}));
  EXPECT_THAT(times, ElementsAre("count", "fill", "grid", "read"));

  auto const table = run({square}, {"search", "a.csv", "--radius", "1.25", "--list", "table",
                                    "--width", "1", "--backend", "simd"});
  EXPECT_THAT(table.text,
              testing::HasSubstr("search        simd (scalar), f64, radius 1.25\n"
                                 "pairs         8 (table), 2 neighbours per point, at most 2\n"
                                 "overflow      rows of the table hold 1 of up to 2 neighbours; "
                                 "counts are true\n"));
  EXPECT_EQ(table.fields.at("width"), "1");
  EXPECT_EQ(table.fields.at("overflow"), "true");
  EXPECT_EQ(table.fields.at("bytes"), "32");
  // a width that just suffices
  auto const wide = run({square}, {"search", "a.csv", "--radius", "1.25", "--list", "table",
                                   "--width", "2", "--backend", "simd"});
  EXPECT_EQ(wide.fields.at("overflow"), "false");
  EXPECT_THAT(wide.text, testing::Not(testing::HasSubstr("overflow")));
}

TEST(fields, of_a_time_loop)
{
  // two bodies at distance 2: q^2 / 2, and the forces 1 / 4
  auto const [text, fields, times] =
      run({"x,y,q,vx,vy\n0,0,1,1,0\n2,0,1,0,-1\n"},
          {"run", "a.csv", "--workers", "0", "--move", "charges", "--steps", "1", "--dt",
           "0.015625", "--level", "0", "--precision", "f32"});
  EXPECT_THAT(
      text,
      MatchesRegex("read          [^\n]*; inputs q; velocities vx, vy\n"
                   "points        2, 2D\n"
                   "tree          1 leaf, depth 0, at most 2 points per leaf, 2 interactions\n"
                   "near field    auto \\(scalar\\), f32, 1 worker: " +
                   some + " s, setup " + some +
                   " s\n"
                   "(              so few pairs [^\n]*\n)?"
                   "moved         charges, 1 step of 0.015625: " +
                   some + " steps/s\nseconds       tree " + some + ", near field " + some +
                   ", move " + some + ", write " + some + "\nenergy        1.5 at first, " + some +
                   " at last\nresults       not kept: give --output FILE\nwritten       [^\n]*\n"))
      << text;
  EXPECT_EQ(fields.at("interaction"), "r_over_r3");
  EXPECT_EQ(fields.at("move"), "charges");
  EXPECT_EQ(fields.at("dt"), "0.015625");
  EXPECT_EQ(fields.at("steps"), "1");
  EXPECT_EQ(fields.at("interrupted"), "false");
  EXPECT_EQ(fields.at("frames"), "0");
  EXPECT_EQ(fields.at("energy.first"), "1.5");
  EXPECT_NEAR(std::stod(fields.at("energy.last")), 1.5, 1e-3);
  EXPECT_EQ(fields.at("momentum.first.0"), "1");
  EXPECT_EQ(fields.at("momentum.first.1"), "-1");
  EXPECT_EQ(fields.at("momentum.last.1"), "-1");
  EXPECT_THAT(times, ElementsAre("check", "energy", "move", "near_field", "read", "setup", "tree",
                                 "write"));
  auto const several = run({square}, {"run", "a.csv", "--workers", "0", "--move", "charges",
                                      "--steps", "2", "--dt", "0.5"});
  EXPECT_THAT(several.text, testing::HasSubstr("moved         charges, 2 steps of 0.5: "));
  EXPECT_THAT(several.text, testing::Not(testing::HasSubstr("energy  ")));
  EXPECT_EQ(several.fields.at("energy"), "null"); // only of all pairs
}

// Rows of costs and of sizes, of which one is chosen.
TEST(fields, of_tune)
{
  auto const [text, fields, times] =
      run({square}, {"tune", "a.csv", "--workers", "0", "--backend", "simd", "--interaction",
                     "grad_one_over_r", "--precision", "f32", "--far-field-cost", "1e-4"});
  EXPECT_THAT(text, testing::ContainsRegex(
                        "\npoints        4, 3D\n"
                        "costs         grad_one_over_r, f32, scalar, [a-z -]+: measured now\n"
                        "               targets   ns a leaf  ns a source  G pairs/s\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nchosen        --max-leaf-size " +
                                           fields.at("max_leaf_size") + ": the least sum\n"));
  EXPECT_EQ(fields.at("points"), "4");
  EXPECT_EQ(fields.at("dim"), "3");
  EXPECT_EQ(fields.at("interaction"), "grad_one_over_r");
  EXPECT_EQ(fields.at("precision"), "f32");
  EXPECT_EQ(fields.at("worker"), "scalar");
  EXPECT_EQ(fields.at("form"), "automatic");
  EXPECT_EQ(fields.at("far_field_cost"), "0.0001");
  EXPECT_EQ(fields.at("costs_are"), "measured");
  EXPECT_EQ(fields.at("groups"), "null"); // those of tasks
  EXPECT_GT(std::stod(fields.at("costs.0.seconds_per_leaf")), 0);
  EXPECT_GT(std::stod(fields.at("costs.0.seconds_per_source")), 0);
  EXPECT_EQ(fields.at("costs.0.targets"), "1");
  EXPECT_EQ(fields.at("sizes.0.max_leaf_size"), "4"); // all points
  EXPECT_EQ(fields.at("sizes.0.leaves"), "1");
  EXPECT_EQ(fields.at("sizes.0.pairs"), "16");
  EXPECT_GT(std::stod(fields.at("sizes.0.near_seconds")), 0);
  EXPECT_EQ(fields.at("sizes.0.far_seconds"), "0.0001");
  EXPECT_THAT(times, ElementsAre("choice", "costs"));

  // of each row the rate follows from its other numbers, and one row has the star
  std::istringstream lines(text);
  int stars = 0, sizes = 0;
  for (std::string line; std::getline(lines, line);)
  {
    bool const has_star = line.starts_with("            * ");
    std::istringstream words(line.substr(std::min<std::size_t>(line.size(), 14)));
    double size = 0, leaves = 0, pairs = 0, rate = 0, near = 0, far = 0, sum = 0;
    if (!line.starts_with("          ") ||
        !(words >> size >> leaves >> pairs >> rate >> near >> far >> sum))
      continue;
    ++sizes;
    stars += has_star;
    EXPECT_NEAR(rate, pairs / near / 1e9, 1e-2 * rate) << line;
    EXPECT_NEAR(sum, near + far, 1e-3 * sum) << line;
    EXPECT_EQ(has_star, fields.at("max_leaf_size") == nearfield::detail::number_text(size)) << line;
  }
  EXPECT_EQ(stars, 1);
  EXPECT_GT(sizes, 3);
}
