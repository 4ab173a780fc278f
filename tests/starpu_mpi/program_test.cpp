// `mpirun nearfield run` beside the same on one process.

#include "named_interactions.hpp"
#include "program_over_ranks.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  TEST(program_over_ranks, has_the_results_of_one_process)
  {
    temporary_folder const folder;
    auto const file = [&](char const* name)
    {
      return (folder / name).string();
    };
    write_points(file("in.csv"), uniform_points(3000));
    std::vector<std::string> const options{file("in.csv"),
                                           "--interaction",
                                           "val_grad_one_over_r",
                                           "--max-leaf-size",
                                           "20",
                                           "--check",
                                           "30"}; // among them the first points of ranks
    auto const with = [&](char const* name, char const* json = nullptr)
    {
      auto all = options;
      all.insert(all.end(), {"--output", file(name)});
      if (json) all.insert(all.end(), {"--json", file(json)});
      return all;
    };
    expect_success(run_alone(with("one.csv", "one.json")));
    auto const wanted = read_points(file("one.csv"));
    for (int const n : {1, 2, 3})
    {
      SCOPED_TRACE(testing::Message() << n << " ranks");
      auto const end = run_over(n, with("many.csv", "many.json"));
      expect_success(end);
      EXPECT_EQ(fields_of(file("many.json")), fields_of(file("one.json")));
      expect_near(read_points(file("many.csv")), wanted, 1e-12);
      if (n < 3) continue;
      EXPECT_THAT(end.out, testing::ContainsRegex(
                               "points +3000, 3D, on 3 ranks\ntree .*\nnear field .*, 3 workers.*\n"
                               "check  .*: PASS\nwritten .*many.csv\nwritten .*many.json\n$"));
      EXPECT_THAT(end.out,
                  testing::StartsWith("read          in.csv: columns of text; positions x, "
                                      "y, z; inputs q\npoints "));
      EXPECT_EQ(read_json(file("many.json")).at("ranks"), "3");
      EXPECT_EQ(read_json(file("many.json")).at("workers"), "3");
    }
  }

  TEST(program_over_ranks, takes_parameters_of_points)
  {
    auto const found = one_with_parameters_of_points();
    if (!found) GTEST_SKIP() << "no built-in interaction reads parameters of points";
    temporary_folder const folder;
    auto points = points_for(*found, 1000);
    write_points(folder / "in.csv", points);
    points.parameters.clear();
    points.parameter_names.clear();
    write_points(folder / "targets.csv", points);
    std::vector<std::string> of_targets{"--sources", (folder / "in.csv").string()};
    for (auto const& each : found->point_parameters)
      of_targets.insert(of_targets.end(), {"--point-param", std::string(each.name) + "=0.4"});
    for (bool const has_two_sets : {false, true})
    {
      auto const with = [&](char const* output)
      {
        std::vector<std::string> all{(folder / (has_two_sets ? "targets.csv" : "in.csv")).string(),
                                     "--interaction",
                                     std::string(found->name),
                                     "--max-leaf-size",
                                     "30",
                                     "--check",
                                     "20",
                                     "--output",
                                     (folder / output).string()};
        if (has_two_sets) all.insert(all.end(), of_targets.begin(), of_targets.end());
        return all;
      };
      expect_success(run_alone(with("one.csv")));
      expect_success(run_over(3, with("many.csv")));
      expect_near(read_points(folder / "many.csv"), read_points(folder / "one.csv"), 1e-12);
    }
    expect_refusal(
        run_over(2, {(folder / "targets.csv").string(), "--interaction", std::string(found->name)}),
        "targets.csv: found no column " + std::string(found->point_parameters[0].name));
  }

  TEST(program_over_ranks, computes_in_a_periodic_box)
  {
    temporary_folder const folder;
    write_points(folder / "in.csv", uniform_points(1000));
    std::vector<std::string> const options{(folder / "in.csv").string(),
                                           "--periodic",
                                           "1,0,1.5",
                                           "--max-leaf-size",
                                           "30",
                                           "--check",
                                           "20",
                                           "--json",
                                           (folder / "run.json").string()};
    auto const with = [&](char const* output)
    {
      auto all = options;
      all.insert(all.end(), {"--output", (folder / output).string()});
      return all;
    };
    expect_success(run_alone(with("one.csv")));
    expect_success(run_over(3, with("many.csv"))); // --check has all images too
    expect_near(read_points(folder / "many.csv"), read_points(folder / "one.csv"), 1e-12);
    EXPECT_THAT(read_text(folder / "run.json"), testing::HasSubstr("\"periodic\": ["));
    expect_refusal(run_over(2, {(folder / "in.csv").string(), "--periodic", "1,0.1,1"}),
                   "point 0 has y = .* that --periodic gives");
    expect_refusal(run_over(2, {(folder / "in.csv").string(), "--periodic", "1,1"}),
                   "--periodic: found 2 lengths");
  }

  TEST(program_over_ranks, computes_in_the_box_of_a_file)
  {
    temporary_folder const folder;
    auto points = uniform_points(1000);
    for (double& x : points.positions[0]) x = 3 * x - 1; // some are outside
    write_points(folder / "in.xyz", points);
    auto text = read_text(folder / "in.xyz");
    text.insert(text.find('\n') + 1, "Lattice=\"1 0 0 0.25 1.5 0 0.5 -0.5 2\" pbc=\"T T F\" ");
    write_text(folder / "in.xyz", text);
    for (std::string const precision : {"f64", "f32"})
    {
      auto const with = [&](char const* output)
      {
        return std::vector<std::string>{(folder / "in.xyz").string(),
                                        "--cell",
                                        "file",
                                        "--max-leaf-size",
                                        "30",
                                        "--precision",
                                        precision,
                                        "--check",
                                        "20",
                                        "--output",
                                        (folder / output).string()};
      };
      expect_success(run_alone(with("one.csv")));
      auto const end = run_over(3, with("many.csv"));
      expect_success(end);
      EXPECT_THAT(end.out, testing::HasSubstr("(Lattice) repeats as --pbc 1,1,0 says"));
      expect_near(read_points(folder / "many.csv"), read_points(folder / "one.csv"),
                  precision == "f64" ? 1e-12 : 1e-5);
    }
  }

  TEST(program_over_ranks, keeps_far_points_apart_in_f32)
  {
    temporary_folder const folder;
    auto points = uniform_points(1000);
    auto const with = [&](char const* output)
    {
      return std::vector<std::string>{(folder / "in.csv").string(),
                                      "--precision",
                                      "f32",
                                      "--level",
                                      "2",
                                      "--check",
                                      "20",
                                      "--output",
                                      (folder / output).string()};
    };
    for (double& x : points.positions[1]) x += 1e8;
    write_points(folder / "in.csv", points);
    expect_success(run_alone(with("one.csv")));
    expect_success(run_over(3, with("many.csv"))); // --check takes the coordinates of the file
    auto const one = read_points(folder / "one.csv"), many = read_points(folder / "many.csv");
    EXPECT_EQ(many.positions, points.positions);
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(many.outputs[0][i] / one.outputs[0][i], 1, 1e-5);

    auto const search = [&](char const* output)
    {
      return std::vector<std::string>{(folder / "in.csv").string(),
                                      "--precision",
                                      "f32",
                                      "--radius",
                                      "0.1",
                                      "--list",
                                      "count",
                                      "--output",
                                      (folder / output).string()};
    };
    expect_success(run_alone(search("one.csv"), "search"));
    expect_success(run_over(3, search("many.csv"), "search"));
    EXPECT_EQ(read_text(folder / "many.csv"), read_text(folder / "one.csv"));

    // with a point at zero numbers along y are 4 apart: points of the first and the last rank fall together
    points.positions[1][500] = 0;
    for (auto& column : points.positions) column.back() = column.front();
    points.positions[1].back() += 0.5;
    write_points(folder / "in.csv", points);
    for (auto const& end :
         {run_over(3, with("merged.csv")), run_over(3, search("m.csv"), "search")})
      EXPECT_THAT(own_messages(end),
                  testing::ContainsRegex("^nearfield: points that f32 cannot tell apart: 1, the "
                                         "first point 999 of .*in.csv, which falls on point 0 of"));
  }

  // Near 1e8 they are 8 apart, and the origin is 0.
  TEST(program_over_ranks, names_a_source_that_f32_does_not_tell_from_a_target)
  {
    temporary_folder const folder;
    auto const targets = (folder / "t.csv").string(), sources = (folder / "s.csv").string();
    write_text(targets, "x,y,z\n0,0,0\n1,100000000,0\n2,50000000,0\n");
    write_text(sources, "x,y,z,q\n5,0,0,1\n6,1,0,1\n1,100000001,0,1\n");
    std::vector<std::string> const arguments{
        targets, "--sources", sources, "--level", "0", "--precision", "f32", "--workers", "1"};
    for (auto const& end : {run_alone(arguments), run_over(2, arguments)})
      EXPECT_THAT(own_messages(end),
                  testing::ContainsRegex("^nearfield: points that f32 cannot tell apart: 1, the "
                                         "first point 2 of .*s.csv, which falls on point 1 of "
                                         ".*t.csv;"));
  }

  TEST(program_over_ranks, moves_points)
  {
    temporary_folder const folder;
    auto points = uniform_points(400);
    points.input_names = {"m"};
    for (double& m : points.inputs[0]) m = 1. / 400;
    write_points(folder / "in.csv", points);
    auto const options = [&](char const* output, char const* dt)
    {
      return std::vector<std::string>{(folder / "in.csv").string(),
                                      "--move",
                                      "gravity",
                                      "--steps",
                                      "4",
                                      "--dt",
                                      dt,
                                      "--param",
                                      "eps=0.05",
                                      "--max-leaf-size",
                                      "30",
                                      "--frames",
                                      "2",
                                      "--output",
                                      (folder / output).string()};
    };
    expect_success(run_alone(options("one.csv", "0.01")));
    auto const end = run_over(3, options("many.csv", "0.01"));
    expect_success(end);
    EXPECT_THAT(end.out, testing::HasSubstr("400, 3D, on 3 ranks"));
    EXPECT_THAT(end.out, testing::ContainsRegex("moved +gravity, 4 steps of 0.01"));
    for (char const* frame : {".csv", "_000000.csv", "_000002.csv", "_000004.csv"})
    {
      auto const one = read_points(folder / ("one" + std::string(frame))),
                 many = read_points(folder / ("many" + std::string(frame)));
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t i = 0; i < one.size(); ++i)
        {
          ASSERT_NEAR(many.positions[d][i], one.positions[d][i], 1e-13);
          ASSERT_NEAR(many.velocities[d][i], one.velocities[d][i], 1e-12);
          ASSERT_NEAR(many.outputs[d][i], one.outputs[d][i], 1e-11);
        }
    }
    // pieces, and the collection of their frames
    expect_success(run_over(2, options("out.vtu", "0.01")));
    EXPECT_THAT(read_text(folder / "out.pvd"), testing::HasSubstr("file=\"out_000004.pvtu\""));
    EXPECT_THAT(read_text(folder / "out_000004.pvtu"), testing::HasSubstr("out_000004_rank1.vtu"));
    EXPECT_GT(std::filesystem::file_size(folder / "out_000004_rank1.vtu"), 1000u);
    // a rank without points, which has no masses either; in 2D and f32, with a box
    write_text(folder / "two.csv", "x,y,m\n0.25,0,1\n0.75,0,1\n");
    auto two = options("two_out.csv", "0.01");
    two[0] = (folder / "two.csv").string();
    two.insert(two.end(), {"--precision", "f32", "--box", "0.5,0,0.25", "--max-leaf-size", "auto"});
    std::erase(two, "30");
    two.erase(std::ranges::find(two, "--max-leaf-size"));
    expect_success(run_over(3, two));
    EXPECT_EQ(read_points(folder / "two_out.csv").size(), 2u);
    // far away, with that box and without
    write_text(folder / "far_two.csv", "x,y,m\n100000000.25,0,1\n100000000.75,0,1\n");
    two[0] = (folder / "far_two.csv").string();
    *(std::ranges::find(two, "--box") + 1) = "1e8,0,0.75";
    expect_success(run_over(3, two));
    auto const with_box = read_points(folder / "two_out.csv");
    two.erase(std::ranges::find(two, "--box"), std::ranges::find(two, "--box") + 2);
    expect_success(run_over(3, two));
    EXPECT_EQ(read_points(folder / "two_out.csv").positions, with_box.positions);
    EXPECT_NEAR(with_box.velocities[0][0], 0.16, 0.01); // 4 steps of a = 4
    // an error of any rank, once, with the step
    expect_refusal(run_over(2, options("far.csv", "1e200")), "step 1: .* has the coordinate");
    EXPECT_FALSE(std::filesystem::exists(folder / "far.csv"));
    expect_refusal(run_over(2, options("far.bfma", "0.01")), "cannot hold velocities");
  }

  TEST(program_over_ranks, computes_targets_and_sources)
  {
    temporary_folder const folder;
    auto const in = (folder / "in.csv").string(), sources = (folder / "sources.bfma").string();
    auto targets = uniform_points(700);
    targets.inputs.clear();
    targets.input_names.clear();
    write_points(in, targets);
    write_points(sources, uniform_points(1300));
    auto const with = [&](char const* output, std::vector<std::string> more)
    {
      more.insert(more.end(), {in, "--sources", sources, "--interaction", "grad_one_over_r",
                               "--output", (folder / output).string()});
      return more;
    };
    std::vector<std::string> const options{
        "--max-leaf-size", "20", "--check", "50", "--json", (folder / "run.json").string()};
    expect_success(run_alone(with("one.csv", options)));
    auto const of_one = fields_of(folder / "run.json");
    auto const end = run_over(3, with("many.csv", options));
    expect_success(end);
    EXPECT_EQ(fields_of(folder / "run.json"), of_one);
    EXPECT_EQ(read_text(folder / "many.csv"), read_text(folder / "one.csv"));
    EXPECT_THAT(end.out, testing::HasSubstr("700 targets, 1300 sources, 3D, on 3 ranks"));
    // ranks without targets; leaves by the costs of both sets
    write_text(in, "x,y,z\n0.25,0.5,0.5\n");
    expect_success(run_over(3, with("few.csv", {"--max-leaf-size", "auto", "--check", "1"})));
    // an error in the last part of either file
    write_text(folder / "bad.csv", "x,y,z,q\n1,2,3,4\n1,2,3,4\n1,2,?,4\n");
    expect_the_refusal(folder, {in, "--sources", (folder / "bad.csv").string()});
    expect_the_refusal(folder, {in, "--sources", sources, "--output", sources});
    expect_the_refusal(folder, {in, "--sources", sources, "--form", "mutual"});
  }

  TEST(program_over_ranks, chooses_a_leaf_size)
  {
    temporary_folder const folder;
    write_points(folder / "in.csv", uniform_points(3000));
    std::vector<std::string> arguments{(folder / "in.csv").string(),
                                       "--max-leaf-size",
                                       "auto",
                                       "--far-field-cost",
                                       "1e9",
                                       "--check",
                                       "20",
                                       "--json",
                                       (folder / "run.json").string()};
    // leaves that cost more than all pairs: the fewest that a trial over two ranks can have
    expect_success(run_over(2, arguments));
    EXPECT_THAT(read_text(folder / "run.json"), testing::HasSubstr("\"leaves\": 8,"));
    // points enough that no measured cost makes such leaves the cheapest
    write_points(folder / "in.csv", uniform_points(30000));
    arguments[4] = "0";
    expect_success(run_over(2, arguments));
    EXPECT_THAT(read_text(folder / "run.json"), testing::Not(testing::HasSubstr("\"leaves\": 8,")));
  }

  /// In one leaf, that of one rank, sums have the bits of one process, and so must files.
  TEST(program_over_ranks, reads_and_writes_the_bytes_of_one_process)
  {
    temporary_folder const folder;
    auto const points = uniform_points(100);
    write_text(folder / "in.csv", "x,y,m,q1,q2\n0,0,1,2,3\n1,1,2,3,4\n"); // fewer rows than ranks
    for (char const* name : {"in.fma", "in.bfma", "in.xyz"}) write_points(folder / name, points);
    struct run
    {
      char const *in, *out, *precision;
    };
    for (auto const& [in, out, precision] : {run{"in.fma", "out.bfma", "f32"},
                                             {"in.bfma", "out.xyz", "f64"},
                                             {"in.xyz", "out.fma", "f32"},
                                             {"in.csv", "out.csv", "f64"}})
    {
      SCOPED_TRACE(in);
      std::vector<std::string> arguments{(folder / in).string(),
                                         "--level",
                                         "0",
                                         "--precision",
                                         precision,
                                         "--workers",
                                         "1",
                                         "--output",
                                         (folder / out).string()};
      expect_success(run_alone(arguments));
      auto const wanted = read_text(folder / out);
      std::filesystem::remove(folder / out);
      expect_success(run_over(3, arguments));
      EXPECT_EQ(read_text(folder / out), wanted);
    }
  }

  TEST(program_over_ranks, writes_a_piece_of_each_rank_for_paraview)
  {
    temporary_folder const folder;
    write_points(folder / "in.bfma", uniform_points(10));
    expect_success(run_over(2, {(folder / "in.bfma").string(), "--interaction", "grad_one_over_r",
                                "--output", (folder / "out.vtu").string()}));
    auto const whole = read_text(folder / "out.pvtu");
    EXPECT_THAT(whole, testing::HasSubstr("\"gradient\" NumberOfComponents=\"3\""));
    EXPECT_THAT(whole, testing::Not(testing::HasSubstr("_rank2"))); // there are two
    for (char const* piece : {"out_rank0.vtu", "out_rank1.vtu"})
    {
      EXPECT_THAT(whole, testing::HasSubstr("<Piece Source=\"" + std::string(piece) + "\"/>"));
      EXPECT_THAT(read_text(folder / piece), testing::HasSubstr("NumberOfPoints=\"5\""));
    }
    EXPECT_EQ(folder.n_files(), 4);
  }

  TEST(program_over_ranks, takes_a_file_without_points)
  {
    temporary_folder const folder;
    write_text(folder / "in.fma", "8 4 3 1\n0 1 0 0 0\n");
    expect_success(
        run_over(2, {(folder / "in.fma").string(), "--output", (folder / "out.csv").string()}));
    EXPECT_EQ(read_text(folder / "out.csv"), "x,y,z,q,phi\n");
    // such as that one
    expect_refusal(run_over(2, {(folder / "out.csv").string()}), "out.csv: found no rows below");
  }
}
