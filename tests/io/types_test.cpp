// Types of points, and lists that go with the points of another file.
#include "files.hpp"

#include "io/src/point_lists.hpp"

#include <nearfield/io/points.hpp>

using namespace nearfield;
using namespace nearfield::test;
using nearfield::detail::read_pairs;
using nearfield::detail::read_types;

namespace
{
  using names = std::vector<std::string>;
  using numbers = std::vector<index_type>;

  read_options const with_types{.types = true};
}

TEST(types, are_numbered_as_they_first_appear)
{
  file_report report;
  auto const salt = parse_xyz("3\nProperties=species:S:1:pos:R:3\nCl 0 0 0\nNa 1 0 0\nCl 2 0 0\n",
                              "a.xyz", with_types, &report);
  EXPECT_EQ(salt.types, (numbers{0, 1, 0}));
  EXPECT_EQ(salt.type_names, (names{"Cl", "Na"}));
  EXPECT_EQ(report.types, names{"species"});
  EXPECT_TRUE(report.left_out.empty());
  auto const plain = parse_xyz("2\n\nH 1 2 3\nO 4 5 6\n", "a.xyz", with_types);
  EXPECT_EQ(plain.type_names, (names{"H", "O"}));
  auto const text = parse_columns("x,y,type\n0,0,2\n1,1,\"2\"\n2,2,1\n", "a.csv", with_types);
  EXPECT_EQ(text.types, (numbers{0, 0, 1}));
  EXPECT_EQ(text.type_names, (names{"2", "1"}));
  auto const given = parse_columns("0 0 a\n1 1 b\n", "a.txt",
                                   {.columns = {"x", "y", "type"}, .types = true}, &report);
  EXPECT_EQ(given.type_names, (names{"a", "b"}));
  EXPECT_EQ(report.types, names{"column 3"});
}

TEST(types, of_lammps_have_their_labels)
{
  std::string const head = "a title\n\n3 atoms\n2 atom types\n\n";
  std::string const atoms = "Atoms # charge\n\n1 2 0.5 0 0 0\n2 1 0 1 1 1\n3 2 0 2 2 2\n";
  file_report report;
  auto const points = parse_lammps(head + atoms, "data.a", with_types, &report);
  EXPECT_EQ(points.types, (numbers{0, 1, 0}));
  EXPECT_EQ(points.type_names, (names{"2", "1"}));
  EXPECT_EQ(report.types, names{"type"});
  EXPECT_EQ(report.left_out, names{"id"});
  auto const labelled =
      parse_lammps(head + "Atom Type Labels\n\n1 Na\n2 Cl\n\n" + atoms, "data.a", with_types);
  EXPECT_EQ(labelled.types, points.types);
  EXPECT_EQ(labelled.type_names, (names{"Cl", "Na"}));
}

TEST(types, are_read_only_if_asked_for)
{
  file_report report;
  auto const points = parse_columns("x,y,type,species\n0,0,1,H\n", "a.csv", {}, &report);
  EXPECT_TRUE(points.types.empty());
  EXPECT_EQ(report.left_out, (names{"type", "species"}));
}

TEST(types, that_are_missing_are_an_error)
{
  auto const message = [](auto parse, std::string const& content, char const* name)
  {
    return message_of([&] { (void)parse(content, name, with_types, nullptr); });
  };
  EXPECT_THAT(message(parse_columns, "x,y,q\n0,0,1\n", "a.csv"),
              testing::HasSubstr("a.csv: line 1: found no column of types among 'x' 'y' 'q'"));
  EXPECT_THAT(message(parse_columns, "x,y,type,species\n0,0,1,H\n", "a.csv"),
              testing::HasSubstr("found columns 'type' and 'species' of types"));
  EXPECT_THAT(message(parse_columns, "x,y,type\n0,0,\n", "a.csv"),
              testing::HasSubstr("a.csv: line 2: found no name of a type"));
  EXPECT_THAT(message(parse_pqr, "ATOM 1 N ALA 1 0 0 0 1 1\n", "a.pqr"),
              testing::HasSubstr("a.pqr: found no types of points"));
}

TEST(types, of_a_part_of_a_file_are_those_of_its_points)
{
  temporary_folder const folder;
  write_text(folder / "a.xyz", "3\n\nH 0 0 0\nO 1 1 1\nH 2 2 2\n");
  auto const part = read_points(folder / "a.xyz", {.part = {{1, 2}}, .types = true});
  EXPECT_EQ(part.types.size(), part.size());
  EXPECT_EQ(part.type_names, (names{"H", "O"}));
}

TEST(types, may_be_in_a_file_of_their_own)
{
  temporary_folder const folder;
  point_set points{.positions = {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}};
  auto const read = [&](std::string const& content)
  {
    write_text(folder / "types.txt", content);
    return message_of([&] { read_types(folder / "types.txt", {3}, points); });
  };
  EXPECT_EQ(read("# the types\nNa\n\n\"Cl\"\nNa\n"), "no error");
  EXPECT_EQ(points.types, (numbers{0, 1, 0}));
  EXPECT_EQ(points.type_names, (names{"Na", "Cl"}));
  read_types(folder / "types.txt", {3, 1, 2}, points);
  EXPECT_EQ(points.types, (numbers{1, 0}));
  EXPECT_EQ(points.type_names, (names{"Na", "Cl"}));
  EXPECT_THAT(read("Na\nCl\n"), testing::EndsWith("types.txt: found 2 types, expected one for each "
                                                  "of the 3 points"));
  EXPECT_THAT(read("Na\nCl\nNa\nNa\n"), testing::HasSubstr("types.txt: line 4: found a row after"));
  EXPECT_THAT(read("Na 1\n"), testing::HasSubstr("types.txt: line 1: found 2 fields"));
  EXPECT_THAT(message_of([&] { read_types(folder / "no.txt", {3}, points); }),
              testing::HasSubstr("no.txt: cannot be opened"));
}

TEST(pairs_of_a_file, are_rows)
{
  temporary_folder const folder;
  auto const read = [&](std::string const& content, std::size_t n)
  {
    write_text(folder / "bonds.txt", content);
    return read_pairs(folder / "bonds.txt", {n});
  };
  for (std::string const text : {"# bonds\n2 0\n0\t1\n\n2 1\n", "i,j\n2,0\n0,1\n2,1\n"})
  {
    auto const rows = read(text, 3);
    EXPECT_EQ(rows.offsets, (std::vector<std::uint64_t>{0, 1, 1, 3}));
    EXPECT_EQ(rows.others, (std::vector<std::uint64_t>{1, 0, 1}));
    auto const last = read_pairs(folder / "bonds.txt", {3, 2, 1});
    EXPECT_EQ(last.offsets, (std::vector<std::uint64_t>{0, 2}));
    EXPECT_EQ(last.others, (std::vector<std::uint64_t>{0, 1}));
  }
  EXPECT_TRUE(read("", 3).others.empty());
  auto const message = [&](std::string const& content)
  {
    return message_of([&] { (void)read(content, 3); });
  };
  EXPECT_THAT(
      message("0 1\n1 3\n"),
      testing::HasSubstr("bonds.txt: line 2: found '3', expected an index of the 3 points"));
  EXPECT_THAT(message("0 -1\n"), testing::HasSubstr("line 1: found '-1'"));
  EXPECT_THAT(message("0 1.5\n"), testing::HasSubstr("line 1: found '1.5'"));
  EXPECT_THAT(message("0 1 0 0 1\n"), testing::HasSubstr("line 1: found 5 fields"));
  EXPECT_THAT(message("i j\ni j\n"), testing::HasSubstr("line 2: found 'i'"));
  EXPECT_THAT(message("\x1f\x8b\x08 broken"), testing::HasSubstr("bonds.txt: "));
}
