// `nearfield tune`, and `nearfield run` with the leaf size that it chooses.
#include "program.hpp"
#include "read_json.hpp"

#include "points.hpp"

#include <gmock/gmock.h>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  std::string write_cloud(temporary_folder const& folder)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 2000);
    std::string text = "x,y,z,q\n";
    for (std::size_t i = 0; i < x.size(); ++i)
    {
      for (double const value : x[i]) text += std::to_string(value) + ",";
      text += "1\n";
    }
    write_text(folder / "points.csv", text);
    return (folder / "points.csv").string();
  }

  TEST(tune, prints_what_it_chose_by_and_keeps_costs)
  {
    temporary_folder const folder;
    auto const input = write_cloud(folder);
    auto const json_file = (folder / "tune.json").string();
    auto const tune = [&](std::vector<std::string> arguments)
    {
      arguments.insert(arguments.begin(), {"tune", input, "--backend", "simd", "--workers", "0"});
      arguments.insert(arguments.end(), {"--json", json_file});
      auto const end = run_program(arguments, {{"NEARFIELD_CACHE", (folder / "cache").string()}});
      expect_success(end);
      return std::pair(end.out, read_json(json_file));
    };
    auto const [out, json] = tune({"--far-field-cost", "1e-5"});
    EXPECT_EQ(json.at("costs_are"), "measured");
    EXPECT_THAT(out, testing::HasSubstr("measured now"));
    EXPECT_THAT(
        out, testing::HasSubstr("--max-leaf-size " + json.at("max_leaf_size") + ": the least sum"));
    auto const again = tune({"--far-field-cost", "1e-5"}).second;
    EXPECT_EQ(again.at("costs_are"), "kept");
    EXPECT_EQ(again.at("max_leaf_size"), json.at("max_leaf_size"));
    // a dear far field wants one leaf
    auto const dear = tune({"--far-field-cost", "10"}).second;
    EXPECT_GE(std::stoi(dear.at("max_leaf_size")), 2000);
    EXPECT_THAT(tune({}).first, testing::HasSubstr("0.8 of the best rate"));
  }

  TEST(tune, refuses_periods_of_another_dimension)
  {
    temporary_folder const folder;
    write_text(folder / "two.csv", "x,y,q\n0,0,1\n1,1,1\n");
    write_text(folder / "three.csv", "x,y,z,q\n0,0,0,1\n1,1,1,1\n");
    for (auto const& [file, periods] :
         {std::pair("two.csv", "3,3,3"), std::pair("three.csv", "3,3")})
      expect_refusal(run_program({"tune", (folder / file).string(), "--periodic", periods},
                                 {{"NEARFIELD_CACHE", "no"}}),
                     "--periodic: found . lengths, expected ., one for each coordinate of .*" +
                         std::string(file));
  }

  TEST(tune, chooses_for_run)
  {
    temporary_folder const folder;
    auto const input = write_cloud(folder);
    auto const run = [&](std::vector<std::string> arguments)
    {
      arguments.insert(arguments.begin(), {"run", input, "--workers", "0", "--backend", "simd",
                                           "--json", (folder / "run.json").string()});
      expect_success(run_program(arguments, {{"NEARFIELD_CACHE", (folder / "cache").string()}}));
      return read_json(folder / "run.json");
    };
    EXPECT_EQ(
        run({"--max-leaf-size", "auto", "--far-field-cost", "10", "--check", "20"}).at("leaves"),
        "1");
    EXPECT_GT(std::stoi(run({"--max-leaf-size", "auto", "--far-field-cost", "1e-8"}).at("leaves")),
              10);
    EXPECT_EQ(run({"--max-leaf-size", "auto", "--far-field-cost", "10", "--interaction",
                   "one_over_r", "--precision", "f32"})
                  .at("leaves"),
              "1");
  }
}
