// Every mistake of `nearfield search` ends with status 2 and one line on stderr, and leaves no
// file.
#include "program.hpp"

using namespace nearfield::test;

namespace
{
  struct search_mistake
  {
    std::string name;
    std::string content;                // of a.csv, in a fresh folder
    std::vector<std::string> arguments; // after the input; --radius 0.25 where they name none
    std::string expected;               // a part of the message
    std::string file = "a.csv";
  };

  void PrintTo(search_mistake const& m, std::ostream* out)
  {
    *out << m.name;
  }

  std::string const good_points = "x,y,z\n0,0,0\n0.5,0,0\n0,0.5,0\n";

  std::vector<search_mistake> const search_mistakes{
      // the radius
      {"radius_zero", good_points, {"--radius", "0"}, "--radius: found '0', expected a positive"},
      {"radius_negative", good_points, {"--radius", "-1"}, "--radius: found '-1'"},
      {"radius_nan", good_points, {"--radius", "nan"}, "--radius: found 'nan'"},
      {"radius_infinite", good_points, {"--radius", "inf"}, "--radius: found 'inf'"},
      {"radius_too_large", good_points, {"--radius", "1e400"}, "--radius: found '1e400'"},
      {"radius_text", good_points, {"--radius", "1m"}, "--radius: found '1m'"},
      {"radius_square_f32",
       good_points,
       {"--radius", "1e-25", "--precision", "f32"},
       "--radius: found 1e-25, whose square underflows or overflows in f32"},
      {"radius_beyond_f32",
       good_points,
       {"--radius", "1e39", "--precision", "f32"},
       "--radius: found 1e.39, whose square underflows or overflows in f32"},
      {"radius_square_f64",
       good_points,
       {"--radius", "1e200"},
       "--radius: found 1e.200, whose square underflows or overflows in f64"},
      // points
      {"nan_coordinate", "0,0,0\nnan,0,0\n", {}, "a.csv: line 2"},
      {"infinite_coordinate", "0,0,0\n0,0,inf\n", {}, "a.csv: line 2"},
      {"infinite_in_f32",
       "0,0,0\n1e300,0,0\n",
       {"--precision", "f32"},
       "a.csv: point 1 has the coordinate 1e.300, which f32 cannot represent"},
      {"wider_than_a_double",
       "-1.5e308,0,0\n1.5e308,0,0\n",
       {},
       "along axis 0 exceeds the largest double"},
      {"many_boxes_away",
       "0,0,0\n0,1e12,0\n",
       {"--periodic", "0,1,0"},
       "point 1 of the points, .0, 1e.12, 0., is more than 2.29 boxes away"},
      {"short_row", "0,0,0\n1,0\n", {}, "a.csv: line 2"},
      {"empty", "", {}, "a.csv: "},
      {"column", good_points, {"--columns", "x,y,w"}, "a.csv.*w"},
      {"wrong_dimension", good_points, {"--dim", "2"}, "a.csv: "},
      {"truncated_fma", "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0.5 0", {}, "a.fma: ", "a.fma"},
      {"binary_that_is_text", good_points, {}, "a.bfma: byte 0", "a.bfma"},
      {"unknown_extension", good_points, {}, "a.points: found extension", "a.points"},
      // the box
      {"period_of_too_many_images",
       good_points,
       {"--periodic", "0,1,1e-6"},
       "the box is 1e-06 thick along axis 2, so that more than 65535 images"},
      {"cell_of_five_numbers",
       good_points,
       {"--cell", "1,0,0,0,1"},
       "--cell: found 5 numbers, expected 4 in 2D or 9 in 3D"},
      {"cell_text", good_points, {"--cell", "1,a,1"}, "--cell: found 'a', expected finite numbers"},
      {"cell_infinite", good_points, {"--cell", "1,inf,1"}, "--cell: found 'inf'"},
      {"cell_of_the_other_dimension",
       good_points,
       {"--cell", "1,0,0,1"},
       "--cell: found 4 numbers, of a box in 2D; the points of .*a.csv have 3 coordinates"},
      {"cell_that_spans_nothing",
       good_points,
       {"--cell", "1,0,0,2,0,0,0,0,1"},
       "--cell: .*depends on the others"},
      {"cell_and_periods",
       good_points,
       {"--cell", "1,1,1", "--periodic", "1,1,1"},
       "--cell: found --periodic too; leave out one of them"},
      {"pbc_without_a_cell", good_points, {"--pbc", "1,1,0"}, "--pbc: found no --cell"},
      {"pbc_of_two",
       good_points,
       {"--pbc", "1,1", "--cell", "1,1,1"},
       "--pbc: found 2 numbers, expected 3, one for each vector of --cell"},
      {"pbc_text", good_points, {"--pbc", "1,T,0", "--cell", "1,1,1"}, "--pbc: found 'T'"},
      {"shifts_of_counts",
       good_points,
       {"--shifts", "--list", "count"},
       "--shifts: found --list count, which has no pairs"},
      {"period_negative", good_points, {"--periodic", "1,-1,1"}, "--periodic: found '-1'"},
      {"period_nan", good_points, {"--periodic", "1,nan,1"}, "--periodic: found 'nan'"},
      {"period_infinite", good_points, {"--periodic", "inf,1,1"}, "--periodic: found 'inf'"},
      {"period_text", good_points, {"--periodic", "1,b,1"}, "--periodic: found 'b'"},
      {"period_missing", good_points, {"--periodic", "1,,1"}, "--periodic: found ''"},
      {"period_below_f32",
       good_points,
       {"--periodic", "1e-39,0,0", "--precision", "f32"},
       "--periodic: found 1e-39 for axis x, which f32 cannot represent"},
      {"period_beyond_f32",
       good_points,
       {"--periodic", "1e39,0,0", "--precision", "f32"},
       "--periodic: found 1e.39 for axis x, which f32 cannot represent"},
      {"one_period",
       good_points,
       {"--periodic", "1"},
       "--periodic: found 1 length, expected 2 or 3"},
      {"two_periods_in_3d",
       good_points,
       {"--periodic", "1,1"},
       "found 2 lengths, expected 3, one for each coordinate of"},
      {"three_periods_with_dim_2",
       good_points,
       {"--periodic", "1,1,1", "--dim", "2"},
       "--periodic: found 3 lengths, expected 2"},
      // memory: 3 points within 0.8 of each other
      {"max_memory",
       good_points,
       {"--radius", "0.8", "--max-memory", "23"},
       "--max-memory: the half list has 3 pairs in 24 bytes, more than the 23 bytes given"},
      {"max_memory_of_counts",
       good_points,
       {"--radius", "0.8", "--list", "count", "--max-memory", "11"},
       "--max-memory: the count list has 6 pairs in 12 bytes"},
      {"table_beyond_the_machine",
       good_points,
       {"--list", "table", "--width", "4000000000", "--max-memory", "1000000"},
       "--max-memory: the table list has 0 pairs in 48000000012 bytes, more than the 1000000"},
      {"max_memory_text", good_points, {"--max-memory", "1G"}, "--max-memory: found '1G'"},
      {"max_memory_negative", good_points, {"--max-memory", "-1"}, "--max-memory: found '-1'"},
      // options
      {"list",
       good_points,
       {"--list", "pairs"},
       "--list: found 'pairs', expected one of half, full"},
      {"width_of_no_table", good_points, {"--width", "8"}, "--width: found --list half"},
      {"width_zero", good_points, {"--list", "table", "--width", "0"}, "--width: found '0'"},
      {"cells_zero", good_points, {"--cells-per-cutoff", "0"}, "--cells-per-cutoff: found '0'"},
      {"cells_negative",
       good_points,
       {"--cells-per-cutoff", "-2"},
       "--cells-per-cutoff: found '-2'"},
      {"cells_too_many", good_points, {"--cells-per-cutoff", "9"}, "found 9, expected 1 to 8"},
      {"precision", good_points, {"--precision", "f16"}, "--precision: found 'f16'"},
      {"backend", good_points, {"--backend", "gpu"}, "--backend: found 'gpu'"},
      {"cuda_without_a_gpu",
       good_points,
       {"--backend", "cuda"},
       "--backend cuda: .*(without CUDA|NVIDIA)"},
      {"workers_negative", good_points, {"--workers", "-1"}, "--workers"},
      {"workers_of_the_scalar_backend",
       good_points,
       {"--workers", "2", "--backend", "scalar"},
       "--workers: found 2 with --backend scalar, which runs on the calling thread"},
      {"workers_of_a_gpu",
       good_points,
       {"--workers", "1", "--backend", "cuda"},
       "--workers: found 1 with --backend cuda, which runs on the calling thread"},
#if NEARFIELD_APP_HAS_STARPU
      {"workers_too_many",
       good_points,
       {"--workers", "100000"},
       "--workers: found 100000; .*; give fewer"},
      {"max_memory_with_workers",
       good_points,
       {"--workers", "2", "--radius", "0.8", "--max-memory", "23"},
       "--max-memory: the half list has 3 pairs in 24 bytes, more than the 23 bytes given"},
#else
      {"workers_without_starpu",
       good_points,
       {"--workers", "2"},
       "--workers: this program was built without StarPU"},
#endif
      {"dim_4", good_points, {"--dim", "4"}, "--dim"},
      {"unknown_option", good_points, {"--gravity"}, "--gravity"},
      {"empty_value", good_points, {"--periodic="}, "--periodic: found nothing"},
      // places to write
      {"output_extension",
       good_points,
       {"--output", "FOLDER/b.vtu"},
       "b.vtu: found extension '.vtu'"},
      {"output_in_no_folder", good_points, {"--output", "FOLDER/no/b.csv"}, "cannot be written"},
      {"output_a_folder",
       good_points,
       {"--output", "FOLDER/.npy/"},
       "found extension|cannot be written"},
      {"output_is_input", good_points, {"--output", "FOLDER/./a.csv"}, "--output: .*a.csv"},
      {"json_is_input", good_points, {"--json", "FOLDER/a.csv"}, "--json: .*a.csv"},
      {"json_is_output", good_points, {"--json", "FOLDER/b.csv"}, "--json: .*b.csv"},
  };

  class a_search : public testing::TestWithParam<search_mistake>
  {};
}

TEST_P(a_search, with_a_mistake_names_it_in_one_line_and_leaves_no_file)
{
  search_mistake const& m = GetParam();
  temporary_folder const folder;
  write_text(folder / m.file, m.content);
  std::vector<std::string> arguments{"search", (folder / m.file).string()};
  bool has_output = false, has_radius = false;
  for (std::string argument : m.arguments)
  {
    has_output |= argument == "--output";
    has_radius |= argument == "--radius";
    if (argument.starts_with("FOLDER")) argument.replace(0, 6, folder.path().string());
    arguments.push_back(argument);
  }
  if (!has_output) arguments.insert(arguments.end(), {"--output", (folder / "b.csv").string()});
  if (!has_radius) arguments.insert(arguments.end(), {"--radius", "0.25"});

  expect_refusal(run_program(arguments, {{"CUDA_VISIBLE_DEVICES", ""}}), m.expected);
  EXPECT_EQ(folder.n_files(), 1);
  EXPECT_EQ(read_text(folder / m.file), m.content);
}

INSTANTIATE_TEST_SUITE_P(every, a_search, testing::ValuesIn(search_mistakes),
                         [](auto const& of) { return of.param.name; });

TEST(search_command_line, needs_an_input_and_a_radius)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", good_points);
  expect_refusal(run_program({"search"}), "INPUT");
  expect_refusal(run_program({"search", (folder / "a.csv").string()}), "--radius");
  expect_refusal(run_program({"search", (folder / "b.csv").string(), "--radius", "1"}),
                 "b.csv: cannot be opened: No such file");
}

// A limit of the address space is one of the machine: what it refuses is an error, not a crash.
TEST(search_command_line, memory_that_the_system_refuses)
{
  if (is_sanitized()) GTEST_SKIP() << "sanitizers need more address space";
  temporary_folder const folder;
  auto const search_within = [&](int mebibytes, std::string const& input)
  {
    return run_in_shell("ulimit -v " + std::to_string(1024 * mebibytes) +
                        "; exec \"$PROGRAM\" search '" + (folder / input).string() +
                        "' --radius 3 --backend simd --max-memory 1000000000000 --output '" +
                        (folder / "b.csv").string() + "' > /dev/null");
  };
  // the libraries that a build loads, as cuBLAS, may be larger than the list
  write_text(folder / "one.csv", "0,0,0\n");
  int enough = 256;
  while (search_within(enough, "one.csv").status != 0) ASSERT_LT(enough += 256, 64 << 10);
  std::filesystem::remove(folder / "b.csv");

  // all of 20,000 points are neighbours: a list of 1.6 GB
  std::string points;
  for (int i = 0; i < 20000; ++i) points += std::to_string(i * 1e-4) + ",0,0\n";
  write_text(folder / "a.csv", points);
  expect_refusal(search_within(enough + 256, "a.csv"), "the system cannot provide [0-9]+ bytes");
  EXPECT_EQ(folder.n_files(), 2);
}
