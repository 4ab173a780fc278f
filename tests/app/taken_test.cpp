// The line, and the fields in JSON, that say what the program took of a file.
#include "program.hpp"
#include "read_json.hpp"
#include "time_loop.hpp"

#include <nearfield/io/points.hpp>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  std::string first_line(std::string const& text)
  {
    return text.substr(0, text.find('\n'));
  }

  // What the command prints first of a file with this content.
  std::string taken(std::string const& command, std::string const& file, std::string const& content,
                    std::vector<std::string> const& options = {})
  {
    temporary_folder const folder;
    write_text(folder / file, content);
    std::vector<std::string> arguments{command, (folder / file).string()};
    if (command == "search")
      arguments.insert(arguments.end(), {"--radius", "0.5", "--backend", "simd"});
    if (command == "run") arguments.insert(arguments.end(), {"--workers", "0"});
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto const end = run_program(arguments);
    expect_success(end);
    return first_line(end.out);
  }

  std::string const csv =
      "id,X,y,z,Charge,radius,vx,vy,vz\n7,0,0,0,1,.1,0,0,0\n8,1,0,0,2,.1,0,0,1\n";
  std::string const lammps =
      "title\n\n2 atoms\n-5 5 xlo xhi\n0 4 ylo yhi\n0 4.5 zlo zhi\n\nMasses\n\n1 2\n\n"
      "Atoms # charge\n\n2 1 1 1 1 1\n1 1 -1 2 1 1\n\nVelocities\n\n"
      "1 0 0 0.5\n2 1 2 3\n\nBonds\n\n1 1 1 2\n";

  std::string xyz(std::string const& comment)
  {
    return "1\n" + comment + " Properties=species:S:1:pos:R:3:q:R:1\nH 1 2 3 4\n";
  }
}

TEST(taken, is_said_by_each_command)
{
  EXPECT_EQ(taken("run", "a.csv", csv),
            "read          a.csv: columns of text; positions X, y, z; inputs Charge; left out: id, "
            "radius, vx, vy, vz");
  EXPECT_EQ(
      taken("search", "a.csv", csv),
      "read          a.csv: columns of text; positions X, y, z; left out: id, radius, vx, vy, "
      "vz, Charge");
  EXPECT_EQ(taken("tune", "a.csv", csv),
            "read          a.csv: columns of text; positions X, y, z; inputs Charge; left out: id, "
            "radius, vx, vy, vz");
  EXPECT_EQ(taken("run", "a.txt", "# mass x y z q\n1 2 3 4 5\n"),
            "read          a.txt: columns of text; positions x, y, z; inputs q; left out: mass");
  EXPECT_EQ(
      taken("run", "a.fma", "8 4 3 1\n1 3 0 0 0\n1 2 3 4\n"),
      "read          a.fma: FMA, text; positions x, y, z; inputs input 1; box of half width 3 "
      "around 0,0,0 is cut");
  EXPECT_THAT(taken("search", "a.fma", "8 4 3 1\n1 3 0 0 0\n1 2 3 4\n"),
              testing::HasSubstr("around 0,0,0 is not used"));
  EXPECT_THAT(taken("run", "a.fma", "8 4 3 1\n1 3 0 0 0\n1 2 3 4\n", {"--box", "0,0,0,9"}),
              testing::HasSubstr("around 0,0,0 is not used"));
  std::string many = "x,y,q";
  for (int k = 0; k < 40; ++k) many += ",a" + std::to_string(k);
  EXPECT_THAT(
      taken("search", "a.csv", many + "\n1,2,3" + std::string(80, ',').substr(0, 40) + "\n"),
      testing::EndsWith("a10, a11 and 29 more"));
}

TEST(taken, says_what_the_box_of_the_file_is_for)
{
  std::string const cube = "Lattice=\"4 0 0 0 5 0 0 0 6.5\"";
  auto const box = [](std::string const& line)
  {
    auto const begin = line.find("; box ") + 6;
    return line.substr(begin, line.find("; left out") - begin);
  };
  auto const of_run = [&](std::string const& comment, std::vector<std::string> const& options = {})
  {
    return box(taken("run", "a.xyz", xyz(comment), options));
  };
  std::string const cell_file = "(Lattice) is not used: --cell file repeats it";
  EXPECT_EQ(of_run(cube), "4 x 5 x 6.5 " + cell_file);
  EXPECT_EQ(of_run("pbc=\"F F F\" " + cube), "4 x 5 x 6.5 (Lattice) has open axes: not used");
  EXPECT_EQ(of_run(cube, {"--periodic", "4,5,6.5"}), "4 x 5 x 6.5 (Lattice) is that of --periodic");
  EXPECT_EQ(of_run("pbc=\"T F T\" " + cube, {"--periodic", "4,0,6.5"}),
            "4 x 5 x 6.5 (Lattice) is that of --periodic");
  EXPECT_EQ(of_run(cube, {"--periodic", "4,5,7"}),
            "4 x 5 x 6.5 (Lattice) is not used: --periodic gives 4,5,7");
  std::string const triclinic = "Lattice=\"4 0 0 1 5 0 0 0 6\"";
  EXPECT_EQ(of_run(triclinic), "4,0,0,1,5,0,0,0,6 " + cell_file);
  EXPECT_EQ(of_run("Lattice=\"4 0 0 0 -4 0 0 0 4\""), "4,0,0,0,-4,0,0,0,4 " + cell_file);
  EXPECT_EQ(box(taken("run", "a.lmp", lammps)),
            "10 x 4 x 4.5 (xlo xhi) is not used: --cell file repeats it");
  EXPECT_EQ(box(taken("tune", "a.lmp", lammps, {"--cell", "file"})),
            "10 x 4 x 4.5 (xlo xhi) repeats");
  EXPECT_EQ(of_run(triclinic, {"--cell", "file"}), "4,0,0,1,5,0,0,0,6 (Lattice) repeats");
  EXPECT_EQ(of_run("pbc=\"T T F\" " + triclinic, {"--cell", "file"}),
            "4,0,0,1,5,0,0,0,6 (Lattice) repeats as --pbc 1,1,0 says");
  EXPECT_EQ(of_run("pbc=\"T T F\" " + triclinic, {"--cell", "file", "--pbc", "0,1,1"}),
            "4,0,0,1,5,0,0,0,6 (Lattice) repeats as --pbc 0,1,1 says");
  EXPECT_EQ(of_run(triclinic, {"--cell", "4,0,0,1,5,0,0,0,6"}),
            "4,0,0,1,5,0,0,0,6 (Lattice) is that of --cell");
  auto const of_search = [&](std::string const& comment, std::vector<std::string> const& options)
  {
    return box(taken("search", "a.xyz", xyz(comment), options));
  };
  EXPECT_EQ(of_search(cube, {"--periodic", "4,5,6.5"}),
            "4 x 5 x 6.5 (Lattice) is that of --periodic");
  EXPECT_EQ(of_search(triclinic, {}), "4,0,0,1,5,0,0,0,6 " + cell_file);
  EXPECT_EQ(of_search(cube, {"--cell", "4,5,6.5"}), "4 x 5 x 6.5 (Lattice) is that of --cell");
  EXPECT_EQ(of_search(cube, {"--cell", "4,5,7"}),
            "4 x 5 x 6.5 (Lattice) is not used: --cell gives 4,5,7");
}

TEST(taken, is_in_the_json)
{
  temporary_folder const folder;
  write_text(folder / "a.lmp", lammps);
  write_text(folder / "b.csv", csv);
  auto const json = (folder / "a.json").string();
  auto const input = (folder / "a.lmp").string();
  expect_success(run_program(
      {"run", input, "--sources", (folder / "b.csv").string(), "--workers", "0", "--json", json}));
  auto const values = read_json(json);
  EXPECT_EQ(values.at("files.0.format"), "LAMMPS data, atom style charge");
  EXPECT_EQ(values.at("files.0.positions.2"), "z");
  EXPECT_EQ(values.at("files.0.inputs"), "[]"); // those of the sources are
  EXPECT_EQ(values.at("files.1.inputs.0"), "Charge");
  EXPECT_EQ(values.at("files.0.box.from"), "xlo xhi");
  EXPECT_EQ(values.at("files.0.box.origin.0"), "-5.0");
  EXPECT_EQ(values.at("files.0.box.vectors.2.2"), "4.5");
  EXPECT_EQ(values.at("files.0.box.periodic"), "null");
  EXPECT_EQ(values.at("files.0.uses_box"), "false");
  EXPECT_EQ(values.at("files.1.box"), "null");
  // what is written is taken
  expect_success(run_program({"run", input, "--sources", (folder / "b.csv").string(), "--workers",
                              "0", "--json", json, "--output", (folder / "o.csv").string()}));
  auto const written = read_json(json);
  EXPECT_EQ(written.at("files.0.inputs.0"), "q");
  EXPECT_EQ(written.at("files.0.velocities.0"), "section Velocities");
  EXPECT_EQ(written.at("files.0.masses.0"), "section Masses");
  EXPECT_EQ(written.at("files.1.velocities"), "[]");
  expect_success(
      run_program({"search", input, "--radius", "1", "--backend", "simd", "--json", json}));
  EXPECT_EQ(read_json(json).at("files.0.left_out.2"), "section Bonds");
  expect_success(run_program({"tune", input, "--json", json}));
  EXPECT_EQ(read_json(json).at("files.0.inputs.0"), "q");
}

TEST(taken, a_time_loop_starts_with_the_velocities_and_masses_of_the_file)
{
  temporary_folder const folder;
  write_text(folder / "a.lmp", lammps);
  auto const loop = move(folder, "a.lmp", "charges", 1, 0.5, {});
  EXPECT_EQ(loop.json.at("files.0.velocities.0"), "section Velocities");
  EXPECT_EQ(loop.json.at("files.0.masses.0"), "section Masses");
  EXPECT_EQ(loop.json.at("momentum.first.1"), "4");
  EXPECT_EQ(loop.json.at("momentum.first.2"), "7");
  EXPECT_THAT(first_line(loop.end.out),
              testing::HasSubstr("(xlo xhi) is not used: --move has open axes"));
  std::string const momenta = "2\nProperties=pos:R:3:q:R:1:momenta:R:3";
  write_text(folder / "a.xyz", momenta + ":masses:R:1\n0 0 0 1 2 4 8 2\n1 0 0 1 0 0 0 1\n");
  EXPECT_EQ(move(folder, "a.xyz", "charges", 1, 1e-3, {}).json.at("momentum.first.2"), "8");
  write_text(folder / "b.xyz", momenta + "\n0 0 0 1 2 4 8\n1 0 0 1 0 0 0\n");
  expect_refusal(
      run_program({"run", (folder / "b.xyz").string(), "--move", "charges", "--steps", "1", "--dt",
                   "1", "--workers", "0", "--output", (folder / "b.csv").string()}),
      "b.xyz: found momenta, expected the masses of all points");
}

// Only --move needs what these files lack.
TEST(taken, incomplete_velocities_and_masses_without_types_are_left_out_unless_points_move)
{
  temporary_folder const folder;
  struct
  {
    std::string name, content, columns, left_out, refusal;
  } const cases[] = {
      {"a.csv", "x,y,z,vx,vy,q\n1,2,3,4,5,6\n", "x,y,z,vx,vy,q",
       "left out: vx (incomplete), vy (incomplete)", "without one of their components"},
      {"a.lmp", "title\n\n1 atoms\n\nMasses\n\n1 2\n\nAtoms\n\n1 1 0.5 1 2 3\n", "id,_,q,x,y,z",
       "section Masses (without a column type)", "found a section Masses"}};
  for (auto const& [name, content, columns, left_out, refusal] : cases)
  {
    write_text(folder / name, content);
    auto const file = (folder / name).string(), output = (folder / "out.csv").string();
    auto const search =
        run_program({"search", file, "--columns", columns, "--radius", "1", "--backend", "simd"});
    expect_success(search);
    EXPECT_THAT(first_line(search.out), testing::HasSubstr(left_out));
    auto const run = run_program({"run", file, "--columns", columns, "--workers", "0"});
    expect_success(run);
    EXPECT_THAT(first_line(run.out), testing::HasSubstr(left_out));
    expect_refusal(run_program({"run", file, "--columns", columns, "--workers", "0", "--move",
                                "charges", "--steps", "1", "--dt", "1", "--output", output}),
                   refusal);
  }
}

TEST(taken, gravity_takes_inputs_as_masses)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,z,charge\n0,0,0,1\n1,0,0,1\n");
  auto const loop = move(folder, "a.csv", "gravity", 1, 1e-3, {});
  EXPECT_THAT(first_line(loop.end.out), testing::EndsWith("positions x, y, z; masses charge"));
  EXPECT_EQ(loop.json.at("files.0.masses.0"), "charge");
  EXPECT_EQ(loop.json.at("files.0.inputs"), "[]");
  auto const of_charges = move(folder, "a.csv", "charges", 1, 1e-3, {});
  EXPECT_THAT(first_line(of_charges.end.out), testing::EndsWith("; inputs charge"));
}

TEST(taken, velocities_and_masses_are_left_out_of_formats_without_them)
{
  temporary_folder const folder;
  auto const out = folder / "o.fma";
  EXPECT_EQ(
      taken("run", "a.csv", "x,y,z,q,m,vx,vy,vz\n0,0,0,1,2,0,0,1\n", {"--output", out.string()}),
      "read          a.csv: columns of text; positions x, y, z; inputs q; left out: vx, vy, "
      "vz, m");
  EXPECT_EQ(read_points(out).inputs, columns{{1}});
}

// Their third column may be z.
TEST(taken, sources_without_names_are_not_flattened)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y,q\n0,0,1\n1,0,1\n");
  write_text(folder / "three.csv", "x,y,z,q\n0,0,0,1\n");
  write_text(folder / "b.csv", "0,0,5,1\n1,0,5,1\n");
  write_text(folder / "c.csv", "x,y,q1,q2\n0,0,5,1\n1,0,5,1\n");
  auto const with = [&](std::string const& input, std::string const& sources,
                        std::vector<std::string> const& more = {})
  {
    std::vector<std::string> arguments{"run",       (folder / input).string(),
                                       "--sources", (folder / sources).string(),
                                       "--workers", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  expect_refusal(with("a.csv", "b.csv"), "b.csv: found columns without names for sources in 2D");
  expect_success(with("a.csv", "b.csv", {"--dim", "2"}));
  expect_success(with("a.csv", "b.csv", {"--source-columns", "x,y,_,q"}));
  expect_success(with("a.csv", "c.csv"));
  expect_success(with("three.csv", "b.csv"));
}

TEST(taken, one_frame_of_several_in_a_format_that_is_given)
{
  std::string const frames = "1\n\nH 1 2 3\n2\n\nH 1 2 3\nO 1 2 3.25\n";
  EXPECT_EQ(taken("search", "frames", frames, {"--format", "xyz", "--frame", "-2"}),
            "read          frames: XYZ; positions x, y, z; left out: symbol, 1 of 2 frames");
  temporary_folder const folder;
  write_text(folder / "a.xyz", frames);
  std::vector<std::string> const search{"search", (folder / "a.xyz").string(), "--radius", "1"};
  auto const with = [&](std::vector<std::string> const& more)
  {
    auto arguments = search;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  };
  EXPECT_THAT(with({"--frame", "1"}).out, testing::HasSubstr("points        2, 3D"));
  expect_refusal(with({}), "a.xyz: found 2 frames, expected one, or its number: --frame 0 to 1");
  expect_refusal(with({"--frame", "last"}), "--frame: found 'last', expected a whole number");
  expect_refusal(with({"--format", "doc"}), "found the format 'doc' .--format., expected one of");
  // a file of sources of another kind has its own
  write_text(folder / "b.csv", "x,y,z,q\n0,0,0,1\n");
  expect_success(run_program({"run", (folder / "a.xyz").string(), "--frame", "1", "--sources",
                              (folder / "b.csv").string(), "--workers", "0"}));
  write_text(folder / "a.atoms", lammps);
  expect_success(run_program({"run", (folder / "a.atoms").string(), "--format", "lammps",
                              "--sources", (folder / "b.csv").string(), "--workers", "0"}));
}
