#include "program.hpp"
#include "read_json.hpp"

#include <nearfield/io/points.hpp>

#include <random>
#include <sstream>

using namespace nearfield::test;

namespace
{
  // The demo with that input, which writes into a folder that it makes.
  // GPUs are hidden: tests that compute on them have a program of their own.
  void expect_demo(std::map<std::string, std::string> environment, std::string const& input,
                   std::string const& points, std::size_t least_pairs = 100000)
  {
    environment["CUDA_VISIBLE_DEVICES"] = "";
    temporary_folder const folder;
    auto const out = folder / "demo";
    auto const end =
        run_program({"demo", "--repetitions", "1", "--out", out.string()}, environment);
    expect_success(end);
    EXPECT_THAT(end.out, testing::StartsWith("machine "));
    EXPECT_THAT(end.out, testing::HasSubstr(input));
    EXPECT_THAT(end.out, testing::HasSubstr("PASS"));
    EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("FAIL")));
    EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("\r"))) << "progress is for terminals";

    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 3);
    EXPECT_TRUE(read_text(out / "near_field.png").starts_with("\x89PNG\r\n\x1a\n"));
    EXPECT_THAT(read_text(out / "near_field.vtu"),
                testing::AllOf(testing::HasSubstr("Name=\"phi\""),
                               testing::HasSubstr("Name=\"gradient\" NumberOfComponents=\"3\"")));
    auto const json = read_json(out / "near_field.json");
    EXPECT_EQ(json.at("points"), points);
    EXPECT_THAT(end.out, testing::ContainsRegex("plain loop: compiled with -O3 -ffast-math for "));
    int const rows_of_a_precision = NEARFIELD_APP_HAS_STARPU ? 7 : 6;
    auto const of_row = [&](int row, char const* key)
    {
      return json.at("rows." + std::to_string(row) + "." + key);
    };
    for (int const first : {0, rows_of_a_precision})
    {
      int const behind = first + rows_of_a_precision;
      EXPECT_EQ(of_row(first, "backend"), "plain loop");
      EXPECT_EQ(of_row(first, "speed_up"), "1");
      EXPECT_EQ(of_row(first + 1, "backend"), "scalar");
      for (int row = first; row < behind - 2; ++row)
      {
        EXPECT_EQ(of_row(row, "passed"), "true");
        EXPECT_EQ(of_row(row, "gpus"), "0");
      }
      EXPECT_EQ(of_row(behind - 2, "backend"), "CUDA");
      EXPECT_EQ(of_row(behind - 1, "backend"), "CPU + GPU");
      for (int const row : {behind - 2, behind - 1})
        EXPECT_THAT(of_row(row, "skipped"), testing::StartsWith("no GPU ("));
    }
    EXPECT_THAT(end.out, testing::ContainsRegex("CUDA +f32 +skipped: no GPU"));
    for (int row = 0; row < 4; ++row)
    {
      std::string const key = "search." + std::to_string(row) + ".";
      EXPECT_EQ(json.at(key + "precision"), row < 2 ? "f32" : "f64");
      if (row % 2 == 0)
      {
        EXPECT_EQ(json.at(key + "same_pairs"), "true");
        EXPECT_GT(std::stoul(json.at(key + "pairs")), least_pairs);
      }
      else
      {
        EXPECT_THAT(json.at(key + "skipped"), testing::StartsWith("no GPU ("));
      }
    }
    EXPECT_THAT(end.out,
                testing::ContainsRegex("simd [^\n]*f64 [^\n]*same pairs as brute force +PASS"));
    EXPECT_THAT(end.out, testing::ContainsRegex("CPU \\+ GPU +f64 +skipped: no GPU"));
  }
}

// The demo takes minutes at its full size where every access is checked: there a small protein in the place of
// the installed one stands for it.
TEST(demo, a_small_protein)
{
  temporary_folder const folder;
  auto const place = folder / "apbs/examples/misc";
  std::filesystem::create_directories(place);
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> position(-10, 10), charge(-1, 1);
  std::ostringstream atoms;
  for (int i = 1; i <= 500; ++i)
    atoms << "ATOM " << i << " C ALA 1 " << position(engine) << ' ' << position(engine) << ' '
          << position(engine) << ' ' << charge(engine) << " 1.5\n";
  write_text(place / "achbp.pqr", atoms.str());
  expect_demo({{"XDG_DATA_DIRS", folder.path().string()}}, "achbp.pqr", "500", 1000);
}

TEST(full_size_demo, the_protein)
{
  if (!std::filesystem::exists("/usr/share/apbs/examples/misc/achbp.pqr"))
    GTEST_SKIP() << "the package apbs-data is not installed";
  expect_demo({{"XDG_DATA_DIRS", "/usr/share"}}, "achbp.pqr", "16090");
}

TEST(full_size_demo, a_plummer_cloud_without_the_protein)
{
  expect_demo({{"XDG_DATA_DIRS", "/nonexistent"}}, "Plummer", "16000");
}

TEST(demo, a_folder_that_cannot_be_made)
{
  temporary_folder const folder;
  write_text(folder / "file", "");
  expect_refusal(run_program({"demo", "--out", (folder / "file" / "demo").string()}),
                 "--out: .*demo");
}

TEST(demo, a_file_that_cannot_be_written_is_found_before_the_table)
{
  temporary_folder const folder;
  std::filesystem::create_directory(folder / "near_field.png");
  auto const end = run_program({"demo", "--out", folder.path().string()});
  expect_refusal(end, "near_field.png: .*directory");
  EXPECT_THAT(end.out, testing::Not(testing::HasSubstr("table")));
}
