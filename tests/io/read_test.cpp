#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <clocale>
#include <locale>
#include <ostream>
#include <sys/stat.h>
#include <thread>
#include <utility>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  struct named_file
  {
    char const* name;
    char const* content;
  };

  std::ostream& operator<<(std::ostream& out, named_file const& file)
  {
    return out << file.name;
  }

  class read_by_name : public testing::TestWithParam<named_file>
  {};

  char const* const lammps = "title\n1 atoms\nAtoms # charge\n\n1 1 4 1 2 3\n";
  char const* const pqr = "ATOM 1 N LYS 1 1 2 3 4 1.5\n";
  char const* const fma_text = "8 4 3 1\n1 3 0 0 0\n1 2 3 4\n";
}

TEST_P(read_by_name, the_name_says_the_format)
{
  temporary_folder const folder;
  auto const path = folder / GetParam().name;
  write_text(path, GetParam().content);
  auto const points = read_points(path);
  using columns = std::vector<std::vector<double>>;
  EXPECT_EQ(points.positions, (columns{{1}, {2}, {3}}));
  EXPECT_EQ(points.inputs, (columns{{4}}));
}

INSTANTIATE_TEST_SUITE_P(
    read, read_by_name,
    testing::Values(named_file{"a.fma", fma_text}, named_file{"A.FMA", fma_text},
                    named_file{"a.pqr", pqr}, named_file{"a.data", lammps},
                    named_file{"a.lmp", lammps}, named_file{"data.spce", lammps},
                    named_file{"a.csv", "1,2,3,4\n"}, named_file{"data.csv", "1,2,3,4\n"},
                    named_file{"a.txt", "1 2 3 4\n"}, named_file{"a.dat", "1 2 3 4\n"},
                    named_file{"a.tsv", "1\t2\t3\t4\n"}));

TEST(read, a_pipe_is_read_to_its_end)
{
  temporary_folder const folder;
  auto const path = folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "1,2,3\n";
  std::jthread const writer([&] { write_text(path, text); });
  EXPECT_EQ(read_points(path).size(), 50000u);
}

TEST(read, the_locale_does_not_matter)
{
  struct decimal_comma : std::numpunct<char>
  {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  auto const before = std::locale::global({std::locale::classic(), new decimal_comma});
  std::setlocale(LC_NUMERIC, "de_DE.UTF-8"); // where it is installed
  auto const points = parse_columns("1.5,2500.5\n1e-400,0\n", "a.csv");
  auto const csv = format_csv(points);
  std::setlocale(LC_NUMERIC, "C");
  std::locale::global(before);
  EXPECT_EQ(points.positions[0][0], 1.5);
  EXPECT_EQ(points.positions[1][0], 2500.5);
  EXPECT_EQ(csv, "x,y\n1.5,2500.5\n0,0\n");
}

// LF, CR LF and CR alone, also in one text; a message counts lines alike
TEST(read, lines_end_in_any_way)
{
  using columns = std::vector<std::vector<double>>;
  for (auto const& file :
       {named_file{"a.csv", "# made by hand\nx,y,z,q\n1,2,3,4\n5,6,7,8\n"},
        named_file{"a.txt", "1 2 3 4\n5 6 7 8"},
        named_file{"a.fma", "8 4 3 1\n2 9 0 0 0\n1 2 3 4\n5 6 7 8\n"},
        named_file{"a.pqr", "REMARK\nATOM 1 N LYS 1 1 2 3 4 .5\nATOM 2 N LYS 1 5 6 7 8 .5\n"},
        named_file{"a.data", "title\n2 atoms\nAtoms # charge\n\n1 1 4 1 2 3\n2 1 8 5 6 7\n"}})
    for (auto const& [odd, even] :
         {std::pair{"\n", "\n"}, {"\r\n", "\r\n"}, {"\r", "\r"}, {"\n", "\r"}})
    {
      std::string text;
      std::size_t line = 1, bad_line = 0;
      for (char const c : std::string_view(file.content))
      {
        if (c == '6') bad_line = line;
        if (c != '\n')
          text += c;
        else
          text += line++ % 2 == 0 ? even : odd;
      }
      temporary_folder const folder;
      auto const path = folder / file.name;
      write_text(path, text);
      auto const points = read_points(path);
      EXPECT_EQ(points.positions, (columns{{1, 5}, {2, 6}, {3, 7}})) << text;
      EXPECT_EQ(points.inputs, (columns{{4, 8}})) << text;

      text[text.find('6')] = 'x';
      write_text(path, text);
      EXPECT_THAT(message_of([&] { read_points(path); }),
                  testing::HasSubstr(": line " + std::to_string(bad_line) + ": found 'x'"));
    }
}

TEST(read, exponents_of_Fortran_are_read_in_every_text)
{
  for (auto const& points :
       {parse_fma("8 4 3 1\n1 3D0 0d0 0 0\n1d0 2D+00 .3d1 4.0D0\n", "a.fma"),
        parse_pqr("ATOM 1 N LYS 1 1d0 2D+00 .3d1 4.0D0 1.5D0\n", "a.pqr"),
        parse_lammps("title\n1 atoms\nAtoms # charge\n\n1 1 4.0D0 1d0 2D+00 .3d1\n", "a.data"),
        parse_columns("1d0 2D+00 .3d1 4.0D0\n", "a.txt")})
  {
    using columns = std::vector<std::vector<double>>;
    EXPECT_EQ(points.positions, (columns{{1}, {2}, {3}}));
    EXPECT_EQ(points.inputs, (columns{{4}}));
  }
}

TEST(read, places_without_a_file_are_named)
{
  temporary_folder const folder;
  auto const expect = [](std::filesystem::path const& path, std::string const& found)
  {
    EXPECT_THAT(message_of([&] { read_points(path); }),
                testing::AllOf(testing::StartsWith(path.string() + ": "), testing::HasSubstr(found),
                               testing::HasSubstr("expected")));
  };
  auto const missing = (folder / "missing.fma").string();
  EXPECT_EQ(message_of([&] { read_points(missing); }),
            missing + ": cannot be opened: No such file or directory");
  expect(folder.path(), "a directory");
  for (char const* name : {"folder.fma", "folder"})
  {
    std::filesystem::create_directory(folder / name);
    expect(folder / name, "a directory");
  }
  write_text(folder / "a.png", "x");
  expect(folder / "a.png", "'.png'");
  write_text(folder / "a", "x");
  expect(folder / "a", "extension ''");
  // longer than names can be: whether it is a folder cannot be known
  EXPECT_THAT(message_of([&] { read_points(folder / std::string(300, 'a')); }),
              testing::HasSubstr("found extension '', expected"));
  for (auto const* name : {"a.fma", "a.bfma", "a.pqr", "a.data", "a.csv"})
  {
    write_text(folder / name, "");
    expect(folder / name, "byte 0: found an empty file");
  }
}

TEST(read, errors_say_whether_the_file_or_its_content_is_at_fault)
{
  temporary_folder const folder;
  write_text(folder / "a.fma", "eight\n");
  auto const is_of = [](error_kind kind)
  {
    return testing::Throws<error>(testing::Property(&error::kind, kind));
  };
  EXPECT_THAT([&] { read_points(folder / "missing.fma"); }, is_of(error_kind::file));
  EXPECT_THAT([&] { read_points(folder / "a.fma"); }, is_of(error_kind::invalid_data));
  EXPECT_THAT([&] { read_points(folder / "a.png"); }, is_of(error_kind::invalid_argument));
}

// /proc/self/mem can be opened, and not read at its begin.
TEST(read, an_error_is_not_the_end_of_the_file)
{
  temporary_folder const folder;
  std::filesystem::create_symlink("/proc/self/mem", folder / "a.csv");
  EXPECT_THAT(message_of([&] { read_points(folder / "a.csv"); }),
              testing::HasSubstr("a.csv: cannot be read past byte 0: "));
}

TEST(read, the_format_may_be_given)
{
  temporary_folder const folder;
  write_text(folder / "a", "1 2 3\n");
  EXPECT_EQ(read_points(folder / "a", {.format = "csv"}).size(), 1u);
  write_text(folder / "a.dat", "1\n\nH 1 2 3\n");
  EXPECT_EQ(read_points(folder / "a.dat", {.format = "XYZ"}).size(), 1u);
  write_text(folder / "a.txt", lammps);
  EXPECT_EQ(read_points(folder / "a.txt", {.format = "lammps"}).inputs.size(), 1u);
  EXPECT_EQ(read_points(folder / "a.txt", {.format = "lmp", .part = {{0, 1}}}).size(), 1u);
  EXPECT_TRUE(has_atom_style("a.txt", "lammps"));
  EXPECT_FALSE(has_atom_style("a.lmp", "csv"));
  EXPECT_THAT(message_of([&] { read_points(folder / "a", {.format = "doc"}); }),
              testing::HasSubstr("found the format 'doc' (--format), expected one of"));
  EXPECT_THAT(message_of([&] { read_points(folder / "a"); }), testing::HasSubstr("--format csv"));
}

TEST(read, other_formats_are_named_with_what_to_convert_them_to)
{
  temporary_folder const folder;
  auto const expect = [&](std::string const& name, std::string const& content, char const* part)
  {
    write_text(folder / name, content);
    EXPECT_THAT(message_of([&] { read_points(folder / name); }),
                testing::HasSubstr(name + ": found " + part));
    if (content.empty()) return;
    EXPECT_THAT(message_of([&] { read_points(folder / name, {.part = {{0, 1}}}); }),
                testing::HasSubstr(name + ": found " + part));
  };
  expect("a.cif", "data_a\n", "CIF; convert it to extended XYZ");
  expect("a.GRO", "a\n", "GROMACS's .gro; convert it to .pqr");
  expect("a.pdb", "ATOM\n", "PDB, which has no charges; convert it to .pqr by PDB2PQR");
  expect("a.npz", "PK", "NPZ, an archive of arrays; save one as .npy");
  expect("a.pts", "1\n0 0 0\n", "PTS");
  expect("a.ply", "ply\n", "PLY");
  expect("a.lammpstrj", "ITEM: TIMESTEP\n", "a dump of LAMMPS");
  expect("a.h5", "", "HDF5");
  // by what they hold
  expect("dump.txt", "ITEM: TIMESTEP\n0\n", "a dump of LAMMPS");
  expect("a.xyz", "ply\nformat ascii 1.0\n", "PLY");
  std::string const gadget = bytes(256u) + std::string(256, '\1') + bytes(256u, 24u);
  expect("snapshot_000", gadget, "a snapshot of GADGET; save its columns as .npy");
  expect("a.dat", gadget, "a snapshot of GADGET");
  // from a machine of the other byte order
  expect("a.dat", bytes(65536u) + std::string(256, '\1') + bytes(65536u, 24u),
         "a snapshot of GADGET");
  expect("a.csv",
         "\xfd"
         "7zXZ and more",
         "compressed by xz; unxz it");
}

TEST(read, binary_fma_and_text_fma_do_not_pass_for_each_other)
{
  temporary_folder const folder;
  write_text(folder / "a.fma", bytes(8u, 3u, 2u, 1u, std::uint64_t{1}, 2., 0., 0., 0., 0., 1.));
  EXPECT_THAT(message_of([&] { read_points(folder / "a.fma"); }),
              testing::HasSubstr("line 1: found a binary file, expected text"));
  write_text(folder / "a.bfma", fma_text);
  EXPECT_THAT(message_of([&] { read_points(folder / "a.bfma"); }),
              testing::HasSubstr("byte 0: found '8 4 '"));
}

TEST(read, the_message_is_one_line_whatever_the_name_is)
{
  auto const message = message_of([&] { read_points("no\nsuch\nfile.csv"); });
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_THAT(message, testing::StartsWith("no\\x0asuch"));
}

TEST(read, options_of_another_format_are_refused)
{
  EXPECT_THAT(message_of([&] { parse_fma(fma_text, "a.fma", {.columns = {"x", "y"}}); }),
              testing::HasSubstr("--columns"));
  EXPECT_THAT(message_of([&] { parse_pqr(pqr, "a.pqr", {.atom_style = "full"}); }),
              testing::HasSubstr("--atom-style"));
  EXPECT_THAT(message_of([&] { parse_columns("1 2\n", "a.csv", {.dim = 4}); }),
              testing::HasSubstr("found 4, expected 2 or 3"));
}
