// Names of files that lead elsewhere: through links, and from a working directory that is gone.
#include "program.hpp"

using namespace nearfield::test;

namespace
{
  std::string const three_points = "x,y,z,q\n0,0,0,1\n1,0,0,2\n0,1,0,-1\n";
}

TEST(file_names, output_is_input_through_a_link)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", three_points);
  std::filesystem::create_symlink(folder / "a.csv", folder / "link.csv");
  expect_refusal(
      run_program({"run", (folder / "a.csv").string(), "--output", (folder / "link.csv").string()}),
      "--output: .*link.csv");
  EXPECT_EQ(read_text(folder / "a.csv"), three_points);
}

TEST(file_names, one_output_is_another_through_a_link)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", three_points);
  std::filesystem::create_symlink("b.csv", folder / "link.json"); // which is not there yet
  expect_refusal(
      run_program({"run", (folder / "a.csv").string(), "--output", (folder / "b.csv").string(),
                   "--json", (folder / "link.json").string()}),
      "--json: .*link.json is also .*b.csv");
}

TEST(file_names, a_link_to_itself)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", three_points);
  std::filesystem::create_symlink("link.csv", folder / "link.csv");
  auto const link = (folder / "link.csv").string(), file = (folder / "a.csv").string();
  expect_refusal(run_program({"run", file, "--output", link}), "link.csv: .*symbolic links");
  expect_refusal(run_program({"run", link, "--output", (folder / "b.csv").string()}), "link.csv: ");
}

TEST(file_names, names_relative_to_a_working_directory_that_is_gone)
{
  temporary_folder const folder;
  auto const file = (folder / "a.csv").string(), gone = (folder / "gone").string();
  write_text(file, three_points);
  auto const in_gone = [&](std::string const& arguments)
  {
    return run_in_shell("mkdir " + gone + " && cd " + gone + " && rmdir " + gone +
                        " && exec \"$PROGRAM\" " + arguments + " > /dev/null");
  };
  expect_refusal(in_gone("run a.csv --workers 0"), "a.csv: .*No such file");
  expect_refusal(in_gone("run a.csv --workers 0 --json b.json"), "(a.csv|b.json): .*No such file");
  expect_refusal(in_gone("run '" + file + "' --output b.csv --json c.json"),
                 "b.csv: cannot be written: No such file");
  expect_refusal(in_gone("search '" + file + "' --radius 1 --output b.csv"),
                 "nearfield: b.csv: .*No such file");
  expect_success(in_gone("run '" + file + "' --workers 0 --output '" + (folder / "b.csv").string() +
                         "' --json '" + (folder / "b.json").string() + "'"));
  EXPECT_EQ(folder.n_files(), 3);
}
