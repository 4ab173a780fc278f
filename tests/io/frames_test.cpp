// Files with several frames or models: one is read, if its number is given. And files that gzip has compressed.
#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <cstdlib>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  std::string const xyz = "2\n\nH 0 0 0\nH 1 0 0\n1\nProperties=pos:R:3:q:R:1\n5 6 7 8\n\n"
                          "2\nLattice=\"9 0 0 0 9 0 0 0 9\"\nO 2 2 2\nO 3 2 2\n\n";

  std::string atom(int x)
  {
    return "ATOM 1 N ALA A 1 " + std::to_string(x) + " 0 0 0.5 1.8\n";
  }

  std::string read_first_x(std::string const& content, std::optional<std::int64_t> frame,
                           bool is_xyz)
  {
    double x = -1;
    auto const message = message_of(
        [&]
        {
          auto const points =
              (is_xyz ? parse_xyz : parse_pqr)(content, "a", {.frame = frame}, nullptr);
          x = points.positions[0].at(0);
        });
    return message == "no error" ? std::to_string(static_cast<int>(x)) : message;
  }
}

TEST(frames, of_xyz_are_chosen_by_number)
{
  auto const read = [](std::optional<std::int64_t> frame)
  {
    return read_first_x(xyz, frame, true);
  };
  EXPECT_EQ(read(0), "0");
  EXPECT_EQ(read(1), "5");
  EXPECT_EQ(read(2), "2");
  EXPECT_EQ(read(-1), "2");
  EXPECT_EQ(read(-3), "0");
  EXPECT_EQ(read(std::nullopt),
            "a: found 3 frames, expected one, or its number: --frame 0 to 2, or -1 for the last");
  EXPECT_EQ(read(3),
            "a: found 3 frames, expected frame 3 (--frame) to be one of 0 to 2 or -1 to -3");
  EXPECT_THAT(read(-4), testing::HasSubstr("expected frame -4"));
  file_report report;
  auto const last = parse_xyz(xyz, "a", {.frame = -1}, &report);
  EXPECT_EQ(last.size(), 2u);
  EXPECT_TRUE(report.cell);
  EXPECT_EQ(report.left_out, (std::vector<std::string>{"symbol", "2 of 3 frames"}));
  EXPECT_EQ(parse_xyz(xyz, "a", {.frame = 1}).inputs.size(), 1u);
}

TEST(frames, of_pqr_are_its_models)
{
  std::string const models = "REMARK\nMODEL 1\n" + atom(1) + atom(2) + "ENDMDL\nMODEL 2\n" +
                             atom(3) + atom(4) + "ENDMDL\nEND\n";
  EXPECT_EQ(read_first_x(models, 0, false), "1");
  EXPECT_EQ(read_first_x(models, 1, false), "3");
  EXPECT_EQ(read_first_x(models, -2, false), "1");
  EXPECT_THAT(read_first_x(models, std::nullopt, false), testing::HasSubstr("a: found 2 models"));
  EXPECT_THAT(read_first_x(models, 2, false), testing::HasSubstr("expected model 2 (--frame)"));
  // without numbers, too
  EXPECT_EQ(read_first_x(atom(1) + "END\n" + atom(3) + "END\n", -1, false), "3");
  EXPECT_EQ(read_first_x("MODEL 1\n" + atom(1) + "TER\n" + atom(2) + "ENDMDL\nEND\n", {}, false),
            "1");
  file_report report;
  EXPECT_EQ(parse_pqr(models, "a", {.frame = 1}, &report).size(), 2u);
  EXPECT_EQ(report.left_out, (std::vector<std::string>{"radius", "1 of 2 models"}));
}

TEST(frames, of_pqr_may_have_boxes_of_their_own)
{
  auto const box = [](int length)
  {
    return "CRYST1 " + std::to_string(length) + " 9 9 90 90 90 P 1 1\n";
  };
  auto const frame = [](int x)
  {
    return "MODEL " + std::to_string(x) + "\n" + atom(x) + "ENDMDL\n";
  };
  auto const length = [](std::string const& text, std::int64_t chosen)
  {
    file_report report;
    parse_pqr(text, "a", {.frame = chosen}, &report);
    return report.cell ? report.cell->vectors[0][0] : 0;
  };
  std::string const each = box(5) + frame(1) + box(6) + frame(2) + box(7) + frame(3) + "END\n";
  for (int f = 0; f < 3; ++f) EXPECT_EQ(length(each, f), 5 + f);
  std::string const one = box(5) + frame(1) + frame(2), second = frame(1) + box(6) + frame(2);
  for (int f = 0; f < 2; ++f) EXPECT_EQ(length(one, f), 5);
  EXPECT_EQ(length(second, 0), 0);
  EXPECT_EQ(length(second, 1), 6);
  // inside a model
  std::string const inside =
      "MODEL 1\n" + box(5) + atom(1) + "ENDMDL\nMODEL 2\n" + atom(2) + box(6) + "ENDMDL\n";
  for (int f = 0; f < 2; ++f) EXPECT_EQ(length(inside, f), 5 + f);
}

TEST(frames, of_other_formats_are_one)
{
  temporary_folder const folder;
  write_text(folder / "a.csv", "1,2,3\n");
  write_text(folder / "a.fma", "8 4 3 1\n1 3 0 0 0\n1 2 3 4\n");
  write_text(folder / "a.lmp", "title\n1 atoms\nAtoms # atomic\n\n1 1 1 2 3\n");
  write_points(folder / "a.bfma", {.positions = {{1}, {2}, {3}}, .inputs = {{4}}});
  for (char const* name : {"a.csv", "a.fma", "a.lmp", "a.bfma"})
    for (auto const& part : std::vector<std::optional<read_options::file_part>>{{}, {{0, 1}}})
    {
      EXPECT_EQ(read_points(folder / name, {.frame = -1, .part = part}).size(), 1u);
      EXPECT_THAT(
          message_of([&] { read_points(folder / name, {.frame = 1, .part = part}); }),
          testing::HasSubstr("found 1 frame, expected frame 1 (--frame) to be one of 0 and -1"));
    }
}

TEST(frames, of_a_part_are_those_of_the_file)
{
  temporary_folder const folder;
  write_text(folder / "a.xyz", xyz);
  auto const part = read_points(folder / "a.xyz", {.frame = 2, .part = {{1, 2}}});
  EXPECT_EQ(part.positions[0], std::vector<double>{3});
}

namespace
{
  bool has_gzip()
  {
    temporary_folder const folder;
    write_text(folder / "a.csv.gz", "\x1f\x8b");
    return message_of([&] { read_points(folder / "a.csv.gz"); }).find("without zlib") ==
               std::string::npos &&
           std::system("gzip --version > /dev/null 2>&1") == 0;
  }

  void compress(std::filesystem::path const& path)
  {
    ASSERT_EQ(std::system(("gzip -n '" + path.string() + "'").c_str()), 0);
  }
}

TEST(gzip, is_read_as_what_it_holds)
{
  if (!has_gzip()) GTEST_SKIP() << "no zlib, or no gzip";
  temporary_folder const folder;
  std::string rows = "x,y,z,q\n";
  for (int i = 0; i < 20000; ++i) rows += std::to_string(i) + ",0.5,-1,2\n";
  point_set const points{.positions = {{0, 1}, {0, 2}, {0, 3}}, .inputs = {{4, 5}}};
  write_text(folder / "a.csv", rows);
  write_points(folder / "a.bfma", points);
  write_text(folder / "a.xyz", xyz);
  write_text(folder / "a.npy", "\x93NUMPY" + std::string("\x01\x00\x40\x00", 4) +
                                   "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2)}" +
                                   std::string(7, ' ') + "\n" + bytes(1., 2.));
  for (char const* name : {"a.csv", "a.bfma", "a.xyz", "a.npy"})
  {
    read_options options{.frame = -1};
    auto const whole = read_points(folder / name, options);
    compress(folder / name);
    auto const packed = folder / (std::string(name) + ".gz");
    EXPECT_EQ(read_points(packed, options), whole);
    options.part = {{1, 3}};
    auto const part = read_points(packed, options);
    EXPECT_EQ(part.size(), (whole.size() * 2 + 2) / 3 - (whole.size() + 2) / 3);
    // without .gz in its name
    std::filesystem::rename(packed, folder / name);
    EXPECT_EQ(read_points(folder / name, {.frame = -1}), whole);
  }
}

TEST(gzip, of_another_format_is_refused_as_that)
{
  if (!has_gzip()) GTEST_SKIP() << "no zlib, or no gzip";
  temporary_folder const folder;
  write_text(folder / "a.csv", "ITEM: UNITS\nlj\nITEM: TIMESTEP\n0\n");
  EXPECT_THAT(message_of([&] { read_points(folder / "a.csv"); }),
              testing::HasSubstr("found a dump of LAMMPS"));
  compress(folder / "a.csv");
  EXPECT_THAT(message_of([&] { read_points(folder / "a.csv.gz"); }),
              testing::HasSubstr("found a dump of LAMMPS"));
  std::filesystem::rename(folder / "a.csv.gz", folder / "b.csv");
  compress(folder / "b.csv");
  EXPECT_THAT(message_of([&] { read_points(folder / "b.csv.gz", {.part = {{0, 1}}}); }),
              testing::HasSubstr("compressed twice"));
}

TEST(gzip, may_be_several_one_after_the_other)
{
  if (!has_gzip()) GTEST_SKIP() << "no zlib, or no gzip";
  temporary_folder const folder;
  write_text(folder / "a.csv", "x,y\n1,2\n");
  write_text(folder / "b.csv", "3,4\n");
  compress(folder / "a.csv");
  compress(folder / "b.csv");
  auto const both = read_text(folder / "a.csv.gz") + read_text(folder / "b.csv.gz");
  write_text(folder / "c.csv.gz", both);
  EXPECT_EQ(read_points(folder / "c.csv.gz").size(), 2u);
  write_text(folder / "c.csv.gz", both.substr(0, both.size() - 9));
  EXPECT_THAT(message_of([&] { read_points(folder / "c.csv.gz"); }),
              testing::HasSubstr("found the end of the file, expected what gzip has compressed"));
  auto damaged = both;
  damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
  write_text(folder / "c.csv.gz", damaged);
  EXPECT_THAT(message_of([&] { read_points(folder / "c.csv.gz"); }),
              testing::HasSubstr("expected what gzip has compressed"));
}
