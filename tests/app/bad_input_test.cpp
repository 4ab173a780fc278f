// Every mistake ends with exit status 2 and one line on stderr, and leaves no output file.
#include "program.hpp"

using namespace nearfield::test;

namespace
{
  struct mistake
  {
    std::string name;
    std::string file;    // of the input, in a fresh folder
    std::string content; // none is made where it is empty and no_file is set
    std::vector<std::string> arguments;
    std::string expected; // a part of the message
    bool no_file = false;
  };

  void PrintTo(mistake const& m, std::ostream* out)
  {
    *out << m.name;
  }

  std::string const good = "x,y,z,q\n0,0,0,1\n1,0,0,2\n0,1,0,-1\n";
  std::string const fma = "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0.5 0 0 2\n";

  std::string binary_fma()
  {
    return bytes(8u, 4u, 3u, 1u, std::uint64_t(1), 1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0);
  }

  std::vector<mistake> const mistakes{
      // points
      {"nan_coordinate", "a.csv", "0,0,0,1\nnan,0,0,1\n", {}, "a.csv: line 2"},
      {"infinite_charge", "a.csv", "0,0,0,1\n1,0,0,inf\n", {}, "a.csv: line 2"},
      {"infinite_in_f32",
       "a.csv",
       "0,0,0,1\n1e300,0,0,1\n",
       {"--precision", "f32"},
       "a.csv: point 1 has the coordinate 1e.300, which"},
      {"short_row", "a.csv", "0,0,0,1\n1,0,0\n", {}, "a.csv: line 2"},
      {"long_row", "a.csv", "0,0,0,1\n1,0,0,1,1\n", {}, "a.csv: line 2"},
      {"no_input_column",
       "a.csv",
       "0,0,0\n1,0,0\n",
       {},
       "a.csv: found 0 input columns, expected 1"},
      {"empty", "a.csv", "", {}, "a.csv: "},
      {"header_alone", "a.csv", "x,y,z,q\n", {}, "a.csv: found no rows below the names"},
      {"comment_alone", "a.txt", "# x y z q\n\n", {}, "a.txt: found no rows below the names"},
      {"empty_fma", "a.fma", "", {}, "a.fma: byte 0"},
      // FMA headers
      {"count_too_large", "a.fma", "8 4 3 1\n3 1 0 0 0\n0 0 0 1\n0.5 0 0 2\n", {}, "a.fma: "},
      {"count_too_small", "a.fma", "8 4 3 1\n1 1 0 0 0\n0 0 0 1\n0.5 0 0 2\n", {}, "a.fma: line 4"},
      {"count_huge", "a.fma", "8 4 3 1\n9000000000000000 1 0 0 0\n0 0 0 1\n", {}, "a.fma: line"},
      {"values_left", "a.fma", fma + "7\n", {}, "a.fma: line 5"},
      {"truncated", "a.fma", "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0.5 0", {}, "a.fma: "},
      {"half_width_zero", "a.fma", "8 4 3 1\n1 0 0 0 0\n0 0 0 1\n", {}, "a.fma: line 2"},
      {"half_width_negative", "a.fma", "8 4 3 1\n1 -1 0 0 0\n0 0 0 1\n", {}, "a.fma: line 2"},
      {"half_width_nan", "a.fma", "8 4 3 1\n1 nan 0 0 0\n0 0 0 1\n", {}, "a.fma: line 2"},
      {"outside_header_box",
       "a.fma",
       "8 4 3 1\n1 1 0 0 0\n1.5 0 0 1\n",
       {},
       "a.fma: point 0 .*1.5"},
      {"binary_as_text", "a.fma", binary_fma(), {}, "a.fma: "},
      {"text_as_binary", "a.bfma", fma, {}, "a.bfma: byte 0"},
      {"binary_truncated", "a.bfma", binary_fma().substr(0, 70), {}, "a.bfma: byte"},
      {"wrong_dimension", "a.fma", fma, {"--dim", "2"}, "a.fma: "},
      // files
      {"missing", "a.csv", "", {}, "a.csv: cannot be opened: No such file", true},
      {"folder", ".", "", {}, "found a directory", true},
      {"unknown_extension", "a.points", good, {}, "a.points: found extension"},
      {"missing_sources",
       "a.csv",
       good,
       {"--sources", "/nonexistent/b.csv"},
       "b.csv: cannot be opened: No such file"},
      // options
      {"interaction", "a.csv", good, {"--interaction", "one_over_s"}, "one_over_s.*one_over_r"},
      {"interaction_of_2d", "a.csv", good, {"--interaction", "log_r"}, "log_r.*3D"},
      {"parameter", "a.csv", good, {"--param", "sigma=1"}, "one_over_r has no parameter 'sigma'"},
      {"parameter_value",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=0"},
       "sigma"},
      {"parameter_text",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma"},
       "name=value"},
      {"parameter_twice",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=1", "--param", "sigma=2"},
       "--param: found sigma twice"},
      {"parameters_behind_one_param",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=1", "sigma=2"},
       "not expected: sigma=2"},
      {"parameter_huge",
       "a.csv",
       good,
       {"--interaction", "r_over_r3", "--param", "eps=-1e300"},
       "eps is -1e.300; give"},
      {"parameter_beyond_f64",
       "a.csv",
       good,
       {"--interaction", "r_over_r3", "--param", "eps=1e200"},
       "eps is 1e.200, whose square underflows or overflows in f64"},
      {"parameter_beyond_f32",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=1e-20", "--precision", "f32"},
       "sigma is 1e-20, whose square underflows or overflows in f32"},
      {"point_parameter",
       "a.csv",
       good,
       {"--point-param", "eps=1"},
       "--point-param: one_over_r reads no 'eps' of points; it reads none"},
      {"precision", "a.csv", good, {"--precision", "f16"}, "--precision: found 'f16'"},
      {"backend", "a.csv", good, {"--backend", "gpu"}, "--backend: found 'gpu'.*simd, cuda"},
      {"gpus_of_the_cpu",
       "a.csv",
       good,
       {"--backend", "simd", "--gpus", "1"},
       "--gpus: found 1 with --backend simd"},
      {"gpus_0_with_cuda",
       "a.csv",
       good,
       {"--backend", "cuda", "--gpus", "0"},
       "--gpus: found 0 with --backend cuda"},
      {"gpus_without_starpu",
       "a.csv",
       good,
       {"--workers", "0", "--gpus", "1"},
       "--gpus: found 1, but without StarPU"},
      {"two_gpus_without_starpu",
       "a.csv",
       good,
       {"--workers", "0", "--backend", "cuda", "--gpus", "2"},
       "--gpus: found 2, but without StarPU .* one GPU"},
      {"gpus_negative", "a.csv", good, {"--gpus=-1"}, "--gpus: found '-1'"},
      {"gpus_not_a_number", "a.csv", good, {"--gpus", "all"}, "--gpus"},
      {"scheduler", "a.csv", good, {"--scheduler", "no_such_scheduler"}, "schedule"},
      {"scheduler_without_starpu",
       "a.csv",
       good,
       {"--workers", "0", "--scheduler", "no_such_scheduler"},
       "--scheduler: found --workers 0"},
      {"groups_without_starpu",
       "a.csv",
       good,
       {"--workers", "0", "--leaves-per-group", "3"},
       "--leaves-per-group: found --workers 0"},
      {"source_columns_without_sources",
       "a.csv",
       good,
       {"--source-columns", "x,y,z,q"},
       "--source-columns: found no --sources"},
      {"column", "a.csv", good, {"--columns", "x,y,z,colour"}, "a.csv.*colour"},
      {"level_and_leaf", "a.csv", good, {"--level", "2", "--max-leaf-size", "8"}, "--level"},
      {"level_too_deep", "a.csv", good, {"--level", "22"}, "level is 22; give 0 to 21"},
      {"level_negative", "a.csv", good, {"--level=-1"}, "level"},
      {"leaf_size_word", "a.csv", good, {"--max-leaf-size", "many"}, "found 'many', expected auto"},
      {"far_field_without_auto",
       "a.csv",
       good,
       {"--max-leaf-size", "8", "--far-field-cost", "1"},
       "--far-field-cost: found --max-leaf-size 8"},
      {"far_field_alone", "a.csv", good, {"--far-field-cost", "1"}, "--far-field-cost"},
      {"far_field_negative",
       "a.csv",
       good,
       {"--max-leaf-size", "auto", "--far-field-cost", "-1"},
       "--far-field-cost: found '-1', expected seconds"},
      {"far_field_nan",
       "a.csv",
       good,
       {"--max-leaf-size", "auto", "--far-field-cost", "nan"},
       "--far-field-cost: found 'nan', expected seconds"},
      {"leaf_size_zero", "a.csv", good, {"--max-leaf-size", "0"}, "max.leaf.size"},
      {"dim_4", "a.csv", good, {"--dim", "4"}, "--dim"},
      {"box_too_short",
       "a.csv",
       good,
       {"--box", "0,0,1"},
       "--box: found 3 numbers, expected 4: cx,cy,cz,half"},
      {"box_of_3d",
       "a.csv",
       "0,0,1\n",
       {"--columns", "x,y,q", "--box", "0,0,0,1"},
       "found 4 numbers, expected 3: cx,cy,half"},
      {"box_not_numbers", "a.csv", good, {"--box", "0,0,0,b"}, "--box: found 'b'"},
      {"box_half_width",
       "a.csv",
       good,
       {"--box", "0,0,0,0"},
       "--box: found the half width 0, expected"},
      {"box_negative", "a.csv", good, {"--box", "0,0,0,-1"}, "--box: .*-1, expected a positive"},
      {"box_nan", "a.csv", good, {"--box", "0,0,0,nan"}, "--box: found 'nan', expected finite"},
      {"box_infinite",
       "a.csv",
       good,
       {"--box", "0,inf,0,1"},
       "--box: found 'inf', expected finite"},
      {"wider_than_a_double",
       "a.csv",
       "-1.5e308,0,0,1\n1.5e308,0,0,1\n",
       {},
       "half width 1.5e.308; .*other units of length"},
      {"box_too_small", "a.csv", good, {"--box", "0,0,0,0.5"}, "a.csv: point 1 has x = 1, outside"},
      {"period_negative", "a.csv", good, {"--periodic", "2,-1,2"}, "--periodic: found '-1'"},
      {"period_missing", "a.csv", good, {"--periodic", "2"}, "--periodic: found 1 length"},
      {"period_of_2d",
       "a.csv",
       good,
       {"--periodic", "2,2"},
       "--periodic: found 2 lengths, expected 3, one for each coordinate of .*a.csv"},
      {"period_too_short",
       "a.csv",
       good,
       {"--periodic", "1,0,0"},
       "a.csv: point 1 has x = 1, outside .0, 1. that --periodic gives"},
      {"period_beyond_f32",
       "a.csv",
       good,
       {"--periodic", "0,1e39,0", "--precision", "f32"},
       "--periodic: found 1e.39 for axis y, which underflows or overflows in f32"},
      {"period_of_points_that_move",
       "a.csv",
       good,
       {"--periodic", "2,2,2", "--move", "gravity", "--steps", "1", "--dt", "1"},
       "--periodic"},
      {"cell_of_points_that_move",
       "a.csv",
       good,
       {"--cell", "2,2,2", "--move", "gravity", "--steps", "1", "--dt", "1"},
       "--cell"},
      {"cell_of_a_file_without_one",
       "a.csv",
       good,
       {"--cell", "file"},
       "--cell file: found no box in .*a.csv; give --cell numbers"},
      {"cell_beside_a_box",
       "a.csv",
       good,
       {"--cell", "2,2,2", "--box", "0,0,0,9"},
       "--box: found --cell too"},
      {"cell_in_2d",
       "a.csv",
       good,
       {"--cell", "1,0,0,1"},
       "--cell: found 4 numbers, of a box in 2D; the points of .*a.csv have 3 coordinates"},
      {"periods_of_4d",
       "a.csv",
       good,
       {"--periodic", "1,1,1,1"},
       "--periodic: found 4 lengths, expected 2 or 3"},
      {"periods_of_another_dim",
       "a.csv",
       "x,y,q\n0,0,1\n",
       {"--dim", "2", "--periodic", "2,2,2"},
       "--periodic: found 3 lengths, expected 2, one for each axis"},
      {"columns_end_with_a_comma",
       "a.csv",
       good,
       {"--columns", "x,y,z,q,"},
       "columns .--columns.: found column ''"},
      {"frame_of_half",
       "a.csv",
       good,
       {"--frame", "1.5"},
       "--frame: found '1.5', expected a whole"},
      {"frame_missing", "a.csv", good, {"--frame", "1"}, "frame 1 .--frame. to be one of 0 and -1"},
      {"leaf_size_negative",
       "a.csv",
       good,
       {"--max-leaf-size", "-1"},
       "--max-leaf-size: found '-1', expected auto, or a whole number from 1 to 2147483647"},
      {"leaf_size_beyond_int",
       "a.csv",
       good,
       {"--max-leaf-size", "2147483648"},
       "--max-leaf-size: found '2147483648', expected auto"},
      {"parameter_negative",
       "a.csv",
       good,
       {"--interaction", "r_over_r3", "--param", "eps=-1"},
       "--param: r_over_r3: eps is -1; give a finite number, 0 or more .length."},
      {"parameter_nan",
       "a.csv",
       good,
       {"--interaction", "r_over_r3", "--param", "eps=nan"},
       "--param: r_over_r3: eps is nan; give"},
      {"parameter_infinite",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=inf"},
       "--param: gaussian: sigma is inf; give a positive, finite number .length."},
      {"parameter_no_number",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "sigma=x"},
       "--param: found 'x', expected a number after ="},
      {"parameter_without_name",
       "a.csv",
       good,
       {"--interaction", "gaussian", "--param", "=1"},
       "--param: gaussian has no parameter ''; it has sigma"},
      {"two_inputs", "a.csv", good, {"b.csv"}, "not expected: b.csv"},
      {"atom_style_of_columns",
       "a.csv",
       good,
       {"--atom-style", "charge"},
       "a.csv: found an atom style .--atom-style., expected none"},
      {"check_with_an_exponent",
       "a.csv",
       good,
       {"--check", "1e3"},
       "--check: found '1e3', expected a whole number, 1 or more"},
      {"workers_in_hexadecimal", "a.csv", good, {"--workers", "0x1"}, "--workers: found '0x1'"},
      {"level_with_a_sign", "a.csv", good, {"--level", "+1"}, "--level: found '.1'"},
      {"level_beyond_int", "a.csv", good, {"--level", "99999999999"}, "--level = 99999999999"},
      {"leaf_size_of_zeros",
       "a.csv",
       good,
       {"--max-leaf-size", "00"},
       "--max-leaf-size: found '00'"},
      {"check_negative", "a.csv", good, {"--check", "-3"}, "--check: found '-3'"},
      {"unknown_option",
       "a.csv",
       good,
       {"--bakend", "simd"},
       "run: found the option '--bakend', expected one .* 'nearfield run --help' lists"},
      {"empty_value", "a.csv", good, {"--json=", "--workers", "0"}, "--json: found nothing"},
      {"empty_argument", "a.csv", good, {"--json", ""}, "--json: found an empty argument"},
      {"workers",
       "a.csv",
       good,
       {"--workers", "100000"},
       "^nearfield: --workers: .*leave --workers out for what the machine has|without StarPU"},
      // places to write
      {"output_extension", "a.csv", good, {"--output", "FOLDER/b.png"}, "b.png: found extension"},
      {"output_in_no_folder",
       "a.csv",
       good,
       {"--output", "FOLDER/no/b.csv"},
       "b.csv: cannot be written"},
      {"json_with_a_name_too_long",
       "a.csv",
       good,
       {"--output", "FOLDER/b.csv", "--json", "FOLDER/" + std::string(256, 'j')},
       "cannot be written: File name too long"},
      {"output_a_folder", "a.csv", good, {"--json", "FOLDER"}, "cannot be written"},
      {"output_is_input", "a.csv", good, {"--output", "FOLDER/a.csv"}, "--output: .*a.csv"},
      {"output_is_input_by_another_name", "a.csv", good, {"--output", "FOLDER/./a.csv"}, "a.csv"},
      {"json_is_input", "a.csv", good, {"--json", "FOLDER/a.csv"}, "--json: .*a.csv"},
      {"json_is_output", "a.csv", good, {"--json", "FOLDER/b.csv"}, "--json: .*b.csv"},
  };

  class a_mistake : public testing::TestWithParam<mistake>
  {};
}

TEST_P(a_mistake, is_named_in_one_line_and_leaves_no_file)
{
  mistake const& m = GetParam();
  temporary_folder const folder;
  if (!m.no_file) write_text(folder / m.file, m.content);
  std::vector<std::string> arguments{"run", (folder / m.file).string()};
  bool has_output = false;
  for (std::string argument : m.arguments)
  {
    has_output |= argument == "--output";
    if (argument.starts_with("FOLDER")) argument.replace(0, 6, folder.path().string());
    arguments.push_back(argument);
  }
  if (!has_output) arguments.insert(arguments.end(), {"--output", (folder / "b.csv").string()});

  expect_refusal(run_program(arguments), m.expected);
  EXPECT_EQ(folder.n_files(), m.no_file ? 0 : 1);
  if (m.no_file) return;
  EXPECT_EQ(read_text(folder / m.file), m.content);
}

INSTANTIATE_TEST_SUITE_P(every, a_mistake, testing::ValuesIn(mistakes),
                         [](auto const& of) { return of.param.name; });

// What is just within the limits, or where a default would be.
TEST(command_line, extremes_that_are_accepted)
{
  temporary_folder const folder;
  write_text(folder / "two.csv", "x,y,q\n0,0,1\n1,1,1\n");
  write_text(folder / "three.csv", good);
  auto const two = (folder / "two.csv").string(), three = (folder / "three.csv").string();
  std::vector<std::vector<std::string>> const commands{
      {"run", two, "--dim", "2", "--periodic", "2,2"},
      {"run", three, "--dim", "3", "--periodic", "0,0,1e-9"},
      {"run", three, "--frame", "0"},
      {"run", three, "--frame", "-1"},
      {"run", three, "--max-leaf-size", "2147483647"},
      {"run", three, "--max-leaf-size", "1"},
      {"run", three, "--level", "21", "--check", "100"},
      {"run", three, "--max-leaf-size", "auto", "--far-field-cost", "0", "--backend", "simd"},
      {"run", three, "--interaction", "r_over_r3", "--param", "eps=0"},
      {"run", three, "--interaction", "gaussian", "--param", "sigma=1e-150"},
      {"run", three, "--interaction", "gaussian", "--param", "sigma=1e-18", "--precision", "f32"},
      {"run", three, "--box", "0.5,0.5,0,0.5"},
      {"run", three, "--backend", "simd", "--gpus", "0"},
      {"search", three, "--radius", "1e-150"},
      {"search", three, "--radius", "1e-18", "--precision", "f32"},
      {"search", three, "--radius", "1", "--periodic", "2,2,0"},
      {"search", three, "--radius", "1", "--cells-per-cutoff", "8"},
      {"search", three, "--radius", "1", "--cells-per-cutoff", "1"},
      {"search", three, "--radius", "1", "--list", "table", "--width", "1"},
      {"search", three, "--radius", "1e-3", "--max-memory", "0"}};
  for (auto arguments : commands)
  {
    SCOPED_TRACE(testing::PrintToString(arguments));
    if (arguments[0] == "run") arguments.insert(arguments.end(), {"--workers", "0"});
    expect_success(run_program(arguments, {{"NEARFIELD_CACHE", (folder / "cache").string()},
                                           {"CUDA_VISIBLE_DEVICES", ""}}));
  }
}

TEST(command_line, without_a_command_or_with_an_unknown_one)
{
  expect_refusal(run_program({}), "subcommand");
  expect_refusal(run_program({"walk"}),
                 "found the command 'walk', expected one of demo, run, tune");
  expect_refusal(run_program({"run"}), "INPUT");
  expect_refusal(run_program({"-x"}), "subcommand");
  expect_refusal(run_program({"run", "--bogus=3"}), "run: found the option '--bogus', expected");
  for (char const* number : {"0", "1001"})
    expect_refusal(run_program({"demo", "--repetitions", number}), "--repetitions: .*1 to 1000");
  expect_refusal(run_program({"info", "more"}), "more");
}

TEST(command_line, two_files_of_different_dimensions)
{
  temporary_folder const folder;
  write_text(folder / "two.csv", "x,y,q\n0,0,1\n");
  write_text(folder / "three.csv", "x,y,z,q\n0,0,0,1\n0,0,1,1\n");
  write_text(folder / "rows.csv", "0,0\n");
  write_text(folder / "three.pqr", "ATOM 1 A B 1 0 0 0 1 1\nATOM 2 A B 1 0 0 1 1 1\n");
  auto const refuse = [&](std::vector<std::string> const& names, std::string const& pattern)
  {
    std::vector<std::string> arguments{"run", (folder / names[0]).string(), "--sources",
                                       (folder / names[1]).string()};
    arguments.insert(arguments.end(), names.begin() + 2, names.end());
    expect_refusal(run_program(arguments), pattern);
  };
  refuse(
      {"two.csv", "three.csv"},
      "three.csv: line 1: found columns of dimension 3, expected 2 as in [^ ]*two.csv [(]rename");
  refuse({"three.csv", "two.csv"}, "two.csv: .* dimension 2, expected 3 as in [^ ]*three.csv");
  refuse({"three.csv", "rows.csv"}, "at least x, y and z, as in [^ ]*three.csv");
  refuse({"two.csv", "three.pqr"}, "because [^ ]*two.csv is in 2D");
  refuse({"two.csv", "three.csv", "--dim", "2"}, "expected 2 as requested");
}

TEST(command_line, unknown_instruction_set)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", good);
  for (std::vector<std::string> const& arguments :
       {std::vector<std::string>{"run", (folder / "a.csv").string()},
        {"demo", "--out", folder.path().string()},
        {"info"}})
  {
    auto const end = run_program(arguments, {{"NEARFIELD_ISA", "mmx"}});
    expect_refusal(end, "NEARFIELD_ISA.*mmx");
    EXPECT_EQ(end.out, "");
  }
}

// Also on a machine with a GPU, which is hidden; and before the input, which is not there, is looked for.
TEST(command_line, cuda_without_a_gpu)
{
  temporary_folder const folder;
  for (std::vector<std::string> const& options :
       {std::vector<std::string>{}, {"--workers", "0"}, {"--workers", "0", "--gpus", "1"}})
  {
    std::vector<std::string> arguments{
        "run",      (folder / "missing.csv").string(), "--backend", "cuda",
        "--output", (folder / "b.csv").string(),       "--json",    (folder / "b.json").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_refusal(run_program(arguments, {{"CUDA_VISIBLE_DEVICES", ""}}),
                   "--backend cuda: .*(without CUDA|NVIDIA)");
  }
#if NEARFIELD_APP_HAS_STARPU
  expect_refusal(run_program({"run", (folder / "missing.csv").string(), "--gpus", "1"},
                             {{"CUDA_VISIBLE_DEVICES", ""}}),
                 "--gpus: .*(without CUDA|NVIDIA)");
#endif
  EXPECT_EQ(folder.n_files(), 0);
}
