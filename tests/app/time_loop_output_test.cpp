// What the time loop of `nearfield run --move` writes, how it ends, and what it refuses.
#include "time_loop.hpp"

#include <chrono>
#include <set>
#include <sstream>
#include <thread>

using namespace nearfield;
using namespace nearfield::test;

TEST(time_loop, frames_of_every_format)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", cluster(3, 20, false));
  for (std::string const extension : {"vtu", "csv", "xyz"})
  {
    std::filesystem::create_directory(folder / extension);
    auto const file = [&](std::string const& name)
    {
      return folder / (extension + "/" + name);
    };
    auto const end = run_program(
        motion(folder / "a.csv", "gravity", 7, 0.25,
               {"--output", file("o." + extension).string(), "--frames", "3", "--workers", "0"}));
    expect_success(end);
    EXPECT_THAT(end.out, testing::HasSubstr("frames        3, the first"));
    std::set<std::string> names, expected{"o.", "o_000000.", "o_000003.", "o_000006."};
    for (auto const& entry : std::filesystem::directory_iterator(folder / extension))
      if (entry.path().extension() != ".pvd") names.insert(entry.path().stem().string() + ".");
    EXPECT_EQ(names, expected);
    EXPECT_EQ(std::filesystem::exists(file("o.pvd")), extension == "vtu");
    if (extension == "vtu") continue;
    auto const start = read_points(folder / "a.csv");
    EXPECT_EQ(read_points(file("o_000000." + extension)).positions, start.positions);
    EXPECT_EQ(read_points(file("o_000000." + extension)).velocities, start.velocities);
    expect_success(
        run_program(motion(folder / "a.csv", "gravity", 6, 0.25,
                           {"--output", file("p." + extension).string(), "--workers", "0"})));
    EXPECT_EQ(read_text(file("o_000006." + extension)), read_text(file("p." + extension)));
  }
  EXPECT_EQ(read_text(folder / "vtu/o.pvd"),
            format_pvd({{0, "o_000000.vtu"}, {0.75, "o_000003.vtu"}, {1.5, "o_000006.vtu"}}));
  auto const vtu = read_text(folder / "vtu/o_000003.vtu");
  for (auto const* vector : {"velocity", "acceleration"})
    EXPECT_THAT(
        vtu, testing::HasSubstr(std::string("Name=\"") + vector + "\" NumberOfComponents=\"3\""));
  EXPECT_THAT(vtu, testing::EndsWith("</VTKFile>\n"));
}

TEST(time_loop, a_value_that_is_not_finite_ends_it_with_step_and_point)
{
  temporary_folder const folder;
  // in f32, where 1 / r^3 overflows after two steps
  write_text(folder / "a.csv", "x,y,z,q,vx,vy,vz\n5,0,0,0,0,0,0\n0,0,0,1e-30,0,0,0\n"
                               "2.00000000000001,0,0,1e-30,-1,0,0\n");
  auto const options = [&](std::string const& stem)
  {
    return std::vector<std::string>{"--output",    (folder / (stem + ".vtu")).string(),
                                    "--json",      (folder / (stem + ".json")).string(),
                                    "--frames",    "1",
                                    "--workers",   "0",
                                    "--precision", "f32"};
  };
  expect_refusal(run_program(motion(folder / "a.csv", "gravity", 9, 1, options("o"))),
                 "nearfield: step 2: .*a.csv: point 1 has the acceleration [-a-z]* along x; give");
  EXPECT_EQ(folder.n_files(), 4); // a.csv, two frames, and their list
  EXPECT_EQ(read_text(folder / "o.pvd"), format_pvd({{0, "o_000000.vtu"}, {1, "o_000001.vtu"}}));
  EXPECT_THAT(read_text(folder / "o_000001.vtu"), testing::EndsWith("</VTKFile>\n"));
  write_text(folder / "b.csv", "x,y,z,q,vx,vy,vz\n0,0,0,1,1e308,0,0\n");
  expect_refusal(run_program(motion(folder / "b.csv", "gravity", 9, 1, {"--workers", "0"})),
                 "step 2: .*b.csv: point 0 has the coordinate inf along x");
}

// On the calling thread and, where it is built, in StarPU, which catches signals itself.
TEST(time_loop, an_interrupt_ends_it_after_a_step_with_complete_files)
{
  for (auto const& [where, signal] : std::vector<std::pair<std::vector<std::string>, int>>{
           {{"--workers", "0"}, SIGINT}, {{"--gpus", "0"}, SIGINT}, {{"--gpus", "0"}, SIGTERM}})
  {
    temporary_folder const folder;
    write_points(folder / "a.csv", cluster(3, 200, false));
    std::vector<std::string> options{"--output", (folder / "o.csv").string(),
                                     "--json",   (folder / "o.json").string(),
                                     "--frames", "3",
                                     "--param",  "eps=0.1"};
    options.insert(options.end(), where.begin(), where.end());
    program const running(motion(folder / "a.csv", "gravity", 1000000000, 1e-4, options));
    auto const last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(folder / "o_0000000003.csv") &&
           std::chrono::steady_clock::now() < last)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    running.send(signal);
    auto const end = running.wait_at_most(std::chrono::seconds(60));
    EXPECT_EQ(end.signal, signal) << end.status << end.out << end.err;
    EXPECT_THAT(end.out, testing::HasSubstr("interrupted   by a signal"));
    auto const json = read_json(folder / "o.json");
    EXPECT_EQ(json.at("interrupted"), "true");
    auto const steps = std::stoul(json.at("steps")), frames = std::stoul(json.at("frames"));
    EXPECT_GE(steps, 3u);
    EXPECT_EQ(frames, steps / 3 + 1);
    EXPECT_EQ(static_cast<std::size_t>(folder.n_files()), frames + 3);
    EXPECT_EQ(read_points(folder / "o.csv").size(), 200u);
  }
}

TEST(time_loop, a_second_signal_ends_it_at_once)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", cluster(3, 8000, false));
  program const running(motion(folder / "a.csv", "gravity", 1000, 1e-4,
                               {"--output", (folder / "o.csv").string(), "--frames", "1", "--level",
                                "0", "--backend", "scalar", "--workers", "0"}));
  auto const last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(folder / "o_000000.csv") &&
         std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.send(SIGINT);
  running.send(SIGTERM);
  auto const end = running.wait_at_most(std::chrono::seconds(60));
  EXPECT_EQ(end.signal, SIGTERM) << end.status << end.out << end.err;
  EXPECT_EQ(end.out, "");
  EXPECT_FALSE(std::filesystem::exists(folder / "o.csv"));
  EXPECT_EQ(read_points(folder / "o_000000.csv").size(), 8000u);
}

TEST(time_loop, json_has_every_key)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", cluster(2, 30, true));
  auto const [end, points, json] =
      move(folder, "a.csv", "charges", 3, 0.125, {"--level", "0", "--frames", "2"});
  for (auto const* stage :
       {"read", "setup", "tree", "near_field", "check", "move", "write", "energy"})
    EXPECT_GE(std::stod(json.at(std::string("seconds.") + stage)), 0) << stage;
  EXPECT_EQ(json.at("move"), "charges");
  EXPECT_EQ(json.at("dt"), "0.125");
  EXPECT_EQ(json.at("steps"), "3");
  EXPECT_EQ(json.at("frames"), "2");
  EXPECT_EQ(json.at("interrupted"), "false");
  EXPECT_EQ(json.at("interaction"), "r_over_r3");
  EXPECT_TRUE(json.contains("energy.first") && json.contains("momentum.last.1"));
  EXPECT_THAT(end.out, testing::HasSubstr("moved         charges, 3 steps of 0.125: "));
  EXPECT_THAT(end.out, testing::HasSubstr("energy        "));
  // seconds are those of all steps, pairs those of the last
  EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("pairs/s")));
}

// as under nohup, and in the background of a shell without job control
TEST(time_loop, goes_on_where_its_parent_ignores_the_signal)
{
  temporary_folder const folder;
  write_points(folder / "a.csv", cluster(3, 10, false));
  auto const json = (folder / "o.json").string();
  program const running(motion(folder / "a.csv", "gravity", 300, 1e-6,
                               {"--workers", "0", "--frames", "1", "--json", json, "--output",
                                (folder / "o.csv").string()}),
                        {}, {"/bin/sh", "-c", "trap '' INT; exec \"$0\" \"$@\""});
  auto const last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(folder / "o_000001.csv") &&
         std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  running.send(SIGINT);
  expect_success(running.wait());
  EXPECT_EQ(read_json(json).at("steps"), "300");
  EXPECT_EQ(read_json(json).at("interrupted"), "false");
}

TEST(time_loop, mistakes)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,z,q,m\n0,0,0,1,1\n1,0,0,2,0\n");
  write_text(folder / "b.csv", "x,y,z,q\n0,0,0,1\n1,0,0,-2\n");
  write_text(folder / "c.csv", "x,y,z,q1,q2\n0,0,0,1,1\n1,0,0,2,0\n");
  write_text(folder / "d.csv", "x,y,z\n0,0,0\n");
  auto const refused = [&](std::string const& line, std::string const& expected)
  {
    std::istringstream words(line);
    std::vector<std::string> arguments{"run"};
    for (std::string word; words >> word;)
    {
      if (auto const at = word.find("FOLDER"); at != word.npos)
        word.replace(at, 6, folder.path().string());
      arguments.push_back(word);
    }
    expect_refusal(run_program(arguments), expected);
    EXPECT_EQ(folder.n_files(), 4) << line;
  };
  std::string const good = "FOLDER/b.csv --steps 1 --dt 1 --move charges ";
  refused("FOLDER/b.csv --move charges --dt 1", "--move requires --steps");
  refused("FOLDER/b.csv --move charges --steps 1", "--move requires --dt");
  refused("FOLDER/b.csv --steps 1", "--steps requires --move");
  refused("FOLDER/b.csv --dt 1", "--dt requires --move");
  refused(good + "--frames 1", "--frames requires --output");
  refused(good + "--frames 0 --output FOLDER/o.csv", "--frames: found '0'");
  refused(good + "--sources FOLDER/a.csv", "--sources excludes --move");
  refused(good + "--interaction log_r", "--interaction excludes --move");
  refused(good + "--check 1", "--check excludes --move");
  refused("FOLDER/b.csv --steps 0 --dt 1 --move charges", "--steps: found '0'");
  refused("FOLDER/b.csv --steps 18446744073709551616 --dt 1 --move charges", "below 2.64");
  for (std::string const dt : {"0", "nan", "inf", "-1", "x"})
    refused("FOLDER/b.csv --steps 1 --move charges --dt=" + dt,
            "--dt: found '" + dt + "', expected a positive, finite time");
  refused("FOLDER/b.csv --steps 1 --dt 1 --move wind", "--move: found 'wind', .*gravity, charges");
  refused(good + "--param sigma=1", "r_over_r3 has no parameter 'sigma'");
  refused(good + "--output FOLDER/o.fma", "--output: .*o.fma cannot hold velocities");
  // masses and charges
  refused("FOLDER/a.csv --steps 1 --dt 1 --move charges",
          "a.csv: point 1 has the mass 0; give a p");
  refused("FOLDER/a.csv --steps 1 --dt 1 --move gravity", "found columns q and m");
  refused("FOLDER/b.csv --steps 1 --dt 1 --move gravity", "b.csv: point 1 has the mass -2; give 0");
  refused("FOLDER/c.csv --steps 1 --dt 1 --move gravity",
          "c.csv: found 2 input columns, expected m");
  refused("FOLDER/d.csv --steps 1 --dt 1 --move charges",
          "d.csv: found 0 input columns, expected o");
  // frames that would overwrite
  refused(good + "--output FOLDER/o.vtu --frames 1 --json FOLDER/o.pvd", "--frames: .*is also");
  refused(good + "--output FOLDER/o.vtu --frames 1 --json FOLDER/o_000001.vtu",
          "--frames: .*o_000001.vtu is also");
  std::filesystem::create_symlink(folder / "b.csv", folder / "o_000001.csv");
  std::filesystem::remove(folder / "d.csv"); // four files again
  refused(good + "--output FOLDER/o.csv --frames 1", "--frames: .*o_000001.csv is also .*b.csv");
  std::filesystem::create_symlink(folder / "b.csv", folder / "o_000004.csv"); // of no step
  expect_success(run_program(
      motion(folder / "b.csv", "charges", 2, 1,
             {"--output", (folder / "o.csv").string(), "--frames", "2", "--workers", "0"})));
}
