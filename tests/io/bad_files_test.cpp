#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <limits>
#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using parser = point_set (*)(std::string_view, std::string const&, read_options const&,
                               file_report*);

  // A bad file, and what the one line about it must say.
  struct bad_file
  {
    parser parse;
    std::string content;
    std::string where;    // "line 3", "byte 16"
    std::string found;    // a part of what stands behind "found"
    std::string expected; // a part of what stands behind "expected"
    read_options options = {};

    // names the test
    friend std::ostream& operator<<(std::ostream& out, bad_file const& file)
    {
      return out << file.where << ": " << file.found;
    }
  };

  class bad_files : public testing::TestWithParam<bad_file>
  {};

  auto const infinity = std::numeric_limits<double>::infinity();
  auto const not_a_number = std::numeric_limits<double>::quiet_NaN();
  constexpr auto u64 = [](auto x)
  {
    return static_cast<std::uint64_t>(x);
  };
  constexpr auto i64 = [](auto x)
  {
    return static_cast<std::int64_t>(x);
  };

  std::string many_columns(int n)
  {
    std::string row;
    for (int c = 0; c < n; ++c) row += "1 ";
    return row + "\n";
  }

  std::string lammps(std::string const& heading, std::string const& rows)
  {
    return "title\n2 atoms\n" + heading + "\n" + rows;
  }

  bad_file with_names(std::vector<std::string> const& names, std::string const& content,
                      std::string const& found, std::string const& expected)
  {
    return {parse_columns, content, "line 1", found, expected, {.columns = names}};
  }
}

// Each message has the file's name, the place, what was found and what was expected, in one line.
TEST_P(bad_files, are_refused)
{
  auto const& file = GetParam();
  auto const message =
      message_of([&] { file.parse(file.content, "the.file", file.options, nullptr); });
  EXPECT_THAT(message, testing::StartsWith("the.file: " + file.where + ": found "));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  auto const split = message.find(", expected ");
  ASSERT_NE(split, std::string::npos) << message;
  EXPECT_THAT(message.substr(0, split), testing::HasSubstr(file.found));
  EXPECT_THAT(message.substr(split), testing::HasSubstr(file.expected));
}

INSTANTIATE_TEST_SUITE_P(
    fma_text_header, bad_files,
    testing::Values(
        bad_file{parse_fma, "", "line 1", "the end of the file", "sizeof_real"},
        bad_file{parse_fma, " \n \n", "line 2", "the end of the file", "sizeof_real"},
        bad_file{parse_fma, "8 4 3\n1 1 0 0 0\n0 0 0 1\n", "line 1", "3 values",
                 "2 (version 1) or 4"},
        bad_file{parse_fma, "8\n1 1 0 0 0\n", "line 1", "1 value", "2 (version 1) or 4"},
        bad_file{parse_fma, "8 4 3 1 0\n", "line 1", "more than 4 values", "2 (version 1) or 4"},
        bad_file{parse_fma, "hello world\n", "line 1", "'hello'", "sizeof_real"},
        bad_file{parse_fma, "16 4 3 1\n1 1 0 0 0\n", "line 1", "sizeof_real = 16", "4 or 8"},
        bad_file{parse_fma, "8.0 4\n1 1 0 0 0\n", "line 1", "'8.0'", "sizeof_real"},
        bad_file{parse_fma, "8 -4\n1 1 0 0 0\n", "line 1", "'-4'", "values a record"},
        bad_file{parse_fma, "8 3\n1 1 0 0 0\n0 0 0\n", "line 1", "3 values a record",
                 "3 coordinates"},
        bad_file{parse_fma, "8 3 3 1\n1 1 0 0 0\n0 0 0\n", "line 1", "3 values", "1 input"},
        bad_file{parse_fma, "8 4000000000 3 1\n0 1 0 0 0\n", "line 1", "4000000000",
                 "at most 4096"},
        bad_file{parse_fma, "8 4 4 0\n1 1 0 0 0 0\n0 0 0 0\n", "line 1", "dimension 4", "2 or 3"},
        bad_file{parse_fma, "8 4 1 1\n1 1 0\n0 0 0 0\n", "line 1", "dimension 1", "2 or 3"},
        bad_file{parse_fma,
                 "8 4 3 1\n1 1 0 0 0\n0 0 0 1\n",
                 "line 1",
                 "dimension 3",
                 "2 as requested",
                 {.dim = 2}},
        bad_file{parse_fma, "8 4 3 1\n", "line 1", "the end of the file", "the number of points"},
        bad_file{parse_fma, "8 4 3 1\n-1 1 0 0 0\n", "line 2", "'-1'", "the number of points"},
        bad_file{parse_fma, "8 4 3 1\n1.5 1 0 0 0\n", "line 2", "'1.5'", "the number of points"},
        bad_file{parse_fma, "8 4 3 1\n99999999999999999999 1 0 0 0\n", "line 2", "'9999", "number"},
        bad_file{parse_fma, "8 4 3 1\n9000000000000000000 1 0 0 0\n", "line 2",
                 "9000000000000000000", "at most 4"},
        bad_file{parse_fma, "8 4 3 1\n1000000000 1 0 0 0\n" + std::string(73, '1'), "line 2",
                 "1000000000 points", "at most 12 in 100 bytes"},
        bad_file{parse_fma, "8 4 3 1\n1 0 0 0 0\n0 0 0 1\n", "line 2", "half width 0", "positive"},
        bad_file{parse_fma, "8 4 3 1\n1 -1 0 0 0\n0 0 0 1\n", "line 2", "half width -1",
                 "positive"},
        bad_file{parse_fma, "8 4 3 1\n0 0 0 0 0\n", "line 2", "half width 0", "positive"},
        bad_file{parse_fma, "8 4\n1 -1e300 0 0 0\n0 0 0 1\n", "line 2", "half width -1e+300",
                 "positive"},
        bad_file{parse_fma, "8 4 3 1\n0 -1 0 0 0\n", "line 2", "half width -1", "positive"},
        bad_file{parse_fma, "8 4 3 1\n1 nan 0 0 0\n0 0 0 1\n", "line 2", "'nan' for the half width",
                 "finite"},
        bad_file{parse_fma, "8 4 3 1\n1 inf 0 0 0\n0 0 0 1\n", "line 2", "'inf'", "finite"},
        bad_file{parse_fma, "8 4 3 1\n1 1e999 0 0 0\n0 0 0 1\n", "line 2", "'1e999'", "8 bytes"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 -inf 0\n0 0 0 1\n", "line 2", "the centre's y",
                 "finite"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0\n", "line 2", "the end", "the centre's z"}));

INSTANTIATE_TEST_SUITE_P(
    fma_text_records, bad_files,
    testing::Values(
        bad_file{parse_fma, "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0 0 1 1\n0 1 0 1\n", "line 5",
                 "after the last", "2 points of 4"},
        bad_file{parse_fma, "8 4 3 1\n0 1 0 0 0\n0 0 0 1\n", "line 3", "'0' after the last",
                 "0 points"},
        bad_file{parse_fma, "8 4 3 1\n3 1 0 0 0\n0 0 0 1\n0 0 1 1\n", "line 4",
                 "the end of the file after 2 points", "3 points of 4 values"},
        bad_file{parse_fma, "8 4 3 1\n2 1 0 0 0\n0 0 0 1\n0 0 1", "line 4", "3 values of point 1",
                 "2 points of 4 values"},
        // a value too few, and with it one too many in the next row
        bad_file{parse_fma, "8 4 3 1\n3 1 0 0 0\n0 0 0 1\n0 0 1\n1 0 0 1\n", "line 4",
                 "ends inside line 5", "4 values in each row"},
        bad_file{parse_fma, "8 4 3 1\n3 1 0 0 0\n0 0 0 1\n0 0 1\n0 0 1 1 1\n", "line 4",
                 "ends inside line 5", "4 values in each row"},
        bad_file{parse_fma, "8 4 3 1\n3 1 0 0 0\n0 0 0 1\n0 0 1 1 1\n0 0 1 1\n", "line 4",
                 "ends inside line 5", "4 values in each row"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 nan 0 1\n", "line 3", "'nan' for y of point 0",
                 "finite"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 0 0 -inf\n", "line 3", "'-inf' for input 1",
                 "finite"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 0 0 1e400\n", "line 3", "'1e400'", "8 bytes"},
        bad_file{parse_fma, "4 4 3 1\n1 1 0 0 0\n0 0 0 1e39\n", "line 3", "'1e39'", "4 bytes"},
        bad_file{parse_fma, "8 5 3 1\n1 1 0 0 0\n0 0 0 1 1e999\n", "line 3", "output 1", "8 bytes"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 0 0 1x\n", "line 3", "'1x' for input 1",
                 "a number"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 0 1,5 1\n", "line 3", "'1,5' for z", "a number"},
        bad_file{parse_fma, "8 4 3 1\n1 1 0 0 0\n0 0 0x10 1\n", "line 3", "'0x10'", "a number"},
        bad_file{parse_fma, std::string("8 4 3 1\n1 1 0 0 0\n0 0 \0\x01 1\n", 28), "line 3",
                 "'\\x00\\x01'", "a number"}));

INSTANTIATE_TEST_SUITE_P(
    fma_binary, bad_files,
    testing::Values(
        bad_file{parse_fma, bytes(8u), "byte 4", "the end of the file", "FMA header"},
        bad_file{parse_fma, bytes(8u, 4u, 3u, 1u), "byte 16", "the end of the file", "header"},
        bad_file{parse_fma, bytes(8u, 4u, 3u, 1u, u64(1)), "byte 24", "the end",
                 "header of 56 bytes"},
        bad_file{parse_fma, bytes(8u, 4u, 3u, 1u, u64(1), 1., 0., 0.), "byte 48", "the end",
                 "header"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(2), 1., 0., 0., 0., 0., 1.), "byte 16",
                 "2 points announced", "1 (24 bytes of records, 24 each)"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0., 0., 0., 0., 1., 9.), "byte 72",
                 "8 bytes after the last record", "the end of the file after 1 point of 24 bytes"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0., 0., 0., 0., 1., char{9}),
                 "byte 72", "1 byte after the last record", "the end of the file after 1 point"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(-1), 1., 0., 0., 0., 0., 1.), "byte 16",
                 "18446744073709551615 points", "1 (24"},
        // 8 * 3 * 768614336404564651 is 8 modulo 2^64
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(768614336404564651), 1., 0., 0., 1.),
                 "byte 16", "768614336404564651 points", "0 (8"},
        bad_file{parse_fma, bytes(8u, 4u, 4u, 0u, u64(0), 1., 0., 0., 0., 0.), "byte 8", "4 points",
                 "0 (16 bytes"},
        bad_file{parse_fma, bytes(8u, 5u, 4u, 1u, u64(0), 1., 0., 0., 0., 0.), "byte 8",
                 "dimension 4", "2 or 3"},
        bad_file{parse_fma, bytes(8u, 2u, 2u, 1u, u64(0), 1., 0., 0.), "byte 0", "2 values",
                 "1 input"},
        bad_file{parse_fma,
                 bytes(8u, 3u, 2u, 1u, u64(0), 1., 0., 0.),
                 "byte 8",
                 "dimension 2",
                 "3 as requested",
                 {.dim = 3}},
        bad_file{parse_fma,
                 bytes(8u, 4u, i64(0), 1., 0., 0., 0.),
                 "byte 0",
                 "dimension 3",
                 "2 as requested",
                 {.dim = 2}},
        bad_file{parse_fma, bytes(8u, 3u, i64(1), 1., 0., 0., 0., 0., 0., 0.), "byte 0", "3 values",
                 "3 coordinates"},
        bad_file{parse_fma, bytes(8u, 4u, i64(2), 1., 0., 0., 0., 0., 0., 0., 1.), "byte 8",
                 "2 points announced", "1 (32 bytes"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 0., 0., 0., 0., 0., 1.), "byte 24",
                 "half width 0", "positive"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(0), 0., 0., 0.), "byte 24", "half width 0",
                 "positive"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(0), -1., 0., 0.), "byte 24", "half width -1",
                 "positive"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), infinity, 0., 0., 0., 0., 1.), "byte 24",
                 "half width inf", "finite"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0., not_a_number, 0., 0., 1.),
                 "byte 40", "nan for the centre's y", "finite"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0., 0., 0., not_a_number, 1.),
                 "byte 56", "nan for y of point 0", "finite"},
        bad_file{parse_fma, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0., 0., 0., 0., -infinity), "byte 64",
                 "-inf for input 1 of point 0", "finite"}));

INSTANTIATE_TEST_SUITE_P(
    pqr, bad_files,
    testing::Values(
        bad_file{parse_pqr, "", "line 1", "the end of the file", "ATOM or HETATM"},
        bad_file{parse_pqr, "1 2 3\n4 5 6\n", "line 3", "the end of the file", "ATOM or HETATM"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 2 3 0.5 1.8\nATOM 2 N 1 2 3 0.5 1.8\n", "line 2",
                 "8 fields", "residue number"},
        // the charge is missing: what would be x is the residue number
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 2 3 0.5 1.8\nATOM 2 N LYS 1 1 2 3 1.8\n", "line 2",
                 "'LYS' before x", "residue number"},
        bad_file{parse_pqr, "ATOM 1 N LYS D 1 1 2 3 1.8\n", "line 1", "'D' before x",
                 "residue number"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1.5 2 3 0.5 1.8 7\n", "line 1", "'1.5' before x",
                 "residue"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 2 3 0.5 1.8\nATOM 2 N LYS 1 1 2 3 0.5 1.8 7\n",
                 "line 2", "11 fields", "10 as in the first"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 -2-3 4 0.5 1.8\n", "line 1", "'-2-3' for y",
                 "a number"},
        // where PDB has its numbers, and not free of what touches
        bad_file{parse_pqr,
                 "ATOM      1 N    LYS     1      67.253  25.892  -0.145  0.1840 1.824E\n",
                 "line 1", "'1.824E' for the radius", "a number"},
        bad_file{parse_pqr,
                 "ATOM      1 N    LYS     1    -167.253-125.892-100.145  1.0 2.0 0.184 1.824\n",
                 "line 1", "'-167.253-125.892-100.145' for x", "a number"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 2 nan 0.5 1.8\n", "line 1", "'nan' for z", "finite"},
        bad_file{parse_pqr, "\nATOM 1 N LYS 1 1 2 3 inf 1.8\n", "line 2", "'inf' for the charge",
                 "finite"},
        bad_file{parse_pqr, "ATOM 1 N LYS 1 1 2 3 0.5 x\n", "line 1", "'x' for the radius",
                 "a number"},
        bad_file{parse_pqr,
                 "ATOM 1 N LYS 1 1 2 3 0 1\nATOM 2 N LYS 1 1 2 4 0 1\n",
                 "line 2",
                 "'4' for z",
                 "because 2D was requested",
                 {.dim = 2}}));

INSTANTIATE_TEST_SUITE_P(
    lammps, bad_files,
    testing::Values(
        bad_file{parse_lammps, "", "line 1", "the end of the file", "a title"},
        bad_file{parse_lammps, "2 atoms\n", "line 1", "the end of the file", "'<count> atoms'"},
        bad_file{parse_lammps, "title\nAtoms # full\n", "line 2", "without a count",
                 "'<count> atoms'"},
        bad_file{parse_lammps, "title\n-2 atoms\n", "line 2", "'-2'", "the number of atoms"},
        bad_file{parse_lammps, "title\n2 atoms\n\nMasses\n\n1 2\n", "line 6",
                 "without an Atoms section", "2 atoms"},
        bad_file{parse_columns, "# made by hand\n7\n1 2 3\n", "line 2", "1 column",
                 "at least x and y"},
        bad_file{parse_lammps, lammps("Atoms", "1 1 1 2 3\n"), "line 3", "without a style",
                 "--atom-style"},
        bad_file{parse_lammps, lammps("Atoms # hybrid", "1 1 1 2 3\n"), "line 3", "hybrid",
                 "hybrid sphere charge"},
        bad_file{parse_lammps,
                 lammps("Atoms", ""),
                 "line 3",
                 "hybrid",
                 "hybrid sphere charge",
                 {.atom_style = "hybrid"}},
        bad_file{parse_lammps, lammps("Atoms # granite", ""), "line 3", "'granite'", "molecular"},
        bad_file{parse_lammps, lammps("Atoms # full", "1 1 1 2 3\n"), "line 4", "5 fields", "7 in"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3\n2 1 1 2 3 0\n"), "line 5",
                 "6 fields", "5 in atom style atomic"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3\n"), "line 4", "after 1 atom",
                 "2 atoms"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3\nVelocities\n"), "line 5",
                 "the end of the file after 1 atom", "2 atoms"},
        bad_file{parse_lammps, lammps("Atoms # id molecule-id type x y z", "1 0.5 1 1 2 3\n"),
                 "line 4", "'0.5' for molecule-id", "an integer"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3\n2 1 1 2 3\n3 1 1 2 3\n"),
                 "line 6", "after the last atom", "2 atoms"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3\n2 1 1 2 3\nAtoms # atomic\n"),
                 "line 6", "a second Atoms", "one"},
        // charge has as many fields
        bad_file{parse_lammps, lammps("Atoms # molecular", "1 1 0.5 1 2 3\n"), "line 4",
                 "'0.5' for type", "an integer"},
        bad_file{parse_lammps, lammps("Atoms # atomic", "1 1 1 2 3 0 0 .5\n"), "line 4",
                 "image flag", "an integer"},
        bad_file{parse_lammps, lammps("Atoms # charge", "1 1 nan 1 2 3\n"), "line 4", "the charge",
                 "finite"},
        bad_file{parse_lammps, lammps("Atoms # charge", "1 1 1 1 inf 3\n"), "line 4", "'inf' for y",
                 "finite"},
        bad_file{parse_lammps,
                 lammps("Atoms # atomic", "1 1 1 2 3\n2 1 1 2 4\n"),
                 "line 5",
                 "'4' for z",
                 "because 2D was requested",
                 {.dim = 2}}));

INSTANTIATE_TEST_SUITE_P(
    columns, bad_files,
    testing::Values(
        bad_file{parse_columns, "", "line 1", "the end of the file", "rows of numbers"},
        bad_file{parse_columns, "\n# only words\n", "line 3", "the end of the file", "rows"},
        bad_file{parse_columns, "1,2,3\n4,5\n", "line 2", "2 fields", "3"},
        bad_file{parse_columns, "1,2,3\n4,5,6,7\n", "line 2", "4 fields", "3"},
        bad_file{parse_columns, "1,2,3,\n", "line 1", "'' for q", "a number"},
        bad_file{parse_columns, "x,y,q\n1,2\n", "line 2", "2 fields", "3"},
        bad_file{parse_columns,
                 "1 2 3\n",
                 "line 1",
                 "3 columns",
                 "2, as --columns names: one name for each, _ to skip",
                 {.columns = {"x", "y"}}},
        bad_file{parse_columns, "1 2\n", "line 1", "2 columns", "at least x, y and z", {.dim = 3}},
        bad_file{parse_columns, "5\n", "line 1", "1 column", "at least x and y"},
        bad_file{parse_columns,
                 "a b c\n1 2 3\n",
                 "line 1",
                 "3 columns",
                 "2, as --columns names",
                 {.columns = {"x", "y"}}},
        bad_file{parse_columns, "1 2\n3 4 5\n", "line 2", "3 fields", "2", {.columns = {"x", "y"}}},
        bad_file{parse_columns, "1 2 3\n4 nan 6\n", "line 2", "'nan' for y", "finite"},
        bad_file{parse_columns, "nan nan nan\n", "line 1", "'nan' for x", "finite"},
        bad_file{parse_columns, "1 2 3 -inf\n", "line 1", "'-inf' for q", "finite"},
        bad_file{parse_columns, "1 2 3 1e999\n", "line 1", "'1e999' for q", "double precision"},
        bad_file{parse_columns, "1 2 3\n4 five 6\n", "line 2", "'five' for y", "a number"},
        bad_file{parse_columns, "1 2 3\nx y z\n", "line 2", "'x' for x", "a number"},
        bad_file{parse_columns, "x y z\nx y z\n1 2 3\n", "line 2", "'x' for x", "a number"},
        bad_file{parse_columns, "a b mass\n1 2 3\n", "line 1", "no column x among 'a' 'b' 'mass'",
                 "columns x and y, and z in 3D (or give --columns)"},
        bad_file{parse_columns, "x y x\n1 2 3\n", "line 1", "column 'x' and another for x",
                 "one for x"},
        bad_file{parse_columns, "x z q\n1 2 3\n", "line 1", "no column y", "columns x and y"},
        bad_file{parse_columns, "x y q q1\n1 2 3 4\n", "line 1", "'q1'", "without gaps"},
        bad_file{parse_columns, many_columns(5000), "line 1", "5000 columns", "at most 4096"},
        bad_file{parse_columns, many_columns(4097), "line 1", "4097 columns", "at most 4096"},
        bad_file{parse_columns, "x y q1 q3\n1 2 3 4\n", "line 1", "'q3'", "without gaps"},
        bad_file{
            parse_columns, "x y z\n1 2 3\n", "line 1", "dimension 3", "2 as requested", {.dim = 2}},
        bad_file{
            parse_columns, "# x y\n1 2\n", "line 1", "dimension 2", "3 as requested", {.dim = 3}},
        bad_file{parse_columns,
                 "1 2\n",
                 "columns (--columns)",
                 "'radius of'",
                 "x y z",
                 {.columns = {"radius of"}}},
        bad_file{parse_columns, "# x y\nNA null\n1 2\n", "line 2", "no column x among 'NA' 'null'",
                 "columns x and y"},
        bad_file{parse_columns, "1 2\n#N/A 2\n", "line 2", "'#N/A'", "a blank after its #"},
        bad_file{parse_columns, "1 2\n#VALUE! 2\n", "line 2", "'#VALUE!'", "a number"},
        bad_file{parse_columns, "1 2\n#NAME? 2\n", "line 2", "'#NAME?'", "a number"},
        bad_file{parse_columns, "1 2\n#NUM! 2\n", "line 2", "'#NUM!'", "a number"},
        bad_file{parse_columns, "1 2\n#NULL! 2\n", "line 2", "'#NULL!'", "a number"},
        // an empty field must not shift the rest
        bad_file{parse_columns, "1\t2\t3\t\t5\n", "line 1", "'' for q1", "--columns with _"},
        bad_file{parse_columns, "x\ty\tq\n1\t\t3\n", "line 2", "'' for y", "a number"},
        bad_file{parse_columns, "x;y\n0,5;1,5\n", "line 2", "'0,5' for x", "a point in place"},
        bad_file{parse_columns, "0,5\t1,5\n", "line 1", "'0,5' for x", "a point in place"},
        bad_file{parse_columns, "x y\n0,5 1,5\n", "line 2", "'0,5' for x", "a point in place"},
        bad_file{parse_columns, "0,5;1,5;2\n", "line 1", "'0,5' for x", "a point in place"},
        bad_file{parse_columns, "0,5 1,5 3\n", "line 1", "'0,5' for x", "a point in place"},
        bad_file{parse_columns, "x y z q\n2 0,5 1,5 3\n", "line 2", "'0,5' for y", "a point in"},
        bad_file{parse_columns, "#DIV/0!,2\n1,2\n", "line 1", "'#DIV/0!'", "a number"},
        bad_file{parse_columns, "x;y\n#REF!;2\n", "line 2", "'#REF!'", "a number"},
        bad_file{parse_columns, "1 2\n0x1p3 2\n", "line 2", "'0x1p3' for x", "a number"},
        bad_file{parse_columns, "1 2\n1d400 2\n", "line 2", "'1d400' for x", "double precision"},
        bad_file{parse_columns, "1 2\n1d 2\n", "line 2", "'1d' for x", "a number"},
        bad_file{parse_columns, "1 2\n+-1 2\n", "line 2", "'+-1' for x", "a number"},
        bad_file{parse_columns, "1 2\n1d1d1 2\n", "line 2", "'1d1d1' for x", "a number"},
        bad_file{parse_columns, "1 2\n1e1d1 2\n", "line 2", "'1e1d1' for x", "a number"},
        bad_file{parse_columns, "1 2\r3 4\r5 x\r", "line 3", "'x' for y", "a number"},
        bad_file{parse_columns, bytes(8u, 3u, 2u, 1u, u64(1), 1., 0.), "line 1",
                 "no column x among '\\x08", "columns x and y"},
        bad_file{parse_columns, bytes(1., 2., 3., 4.), "line 1", "'", "columns x and y"}));

INSTANTIATE_TEST_SUITE_P(velocities, bad_files,
                         testing::Values(bad_file{parse_columns, "x y vx vx\n1 2 3 4\n", "line 1",
                                                  "column 'vx' and another for vx", "one"},
                                         bad_file{parse_columns, "x y vx vy\n1 2 3 inf\n", "line 2",
                                                  "'inf' for vy", "finite"},
                                         bad_file{parse_columns, "x y m\n1 2 nan\n", "line 2",
                                                  "'nan' for m", "finite"}));

INSTANTIATE_TEST_SUITE_P(
    xyz, bad_files,
    testing::Values(
        bad_file{parse_xyz, "two\n\n", "line 1", "'two'", "the number of points"},
        bad_file{parse_xyz, "-1\n\n", "line 1", "'-1'", "the number of points"},
        bad_file{parse_xyz, "2\n\nH 1 2 3\n", "line 1", "2 as the number", "1, that of the rows"},
        bad_file{parse_xyz, "2\n\nH 1 2 3\nH 2 2 3\nH 3 2 3\n", "line 1", "2 as the number",
                 "3, that of the rows"},
        bad_file{parse_xyz, "1\n\nH 1 2 3\n2\n\nH 1 2 3\n", "line 4", "2 as the number",
                 "1, that of the rows"},
        bad_file{parse_xyz, "2\n\n.5 1 2 3\n1 1 2 3\n", "line 3", "'.5' for the symbol",
                 "--columns x,y,z,q"},
        bad_file{parse_xyz, "2\n\n1 1 2 3\n-1 1 2 3\n", "line 4", "'-1' for the symbol",
                 "an atomic number"},
        bad_file{parse_xyz, "1\n\n1e0 1 2 3\n", "line 3", "'1e0' for the symbol", "a word"},
        bad_file{parse_xyz, "1\n\n119 1 2 3\n", "line 3", "'119' for the symbol", "a word"},
        bad_file{parse_xyz, "1\n\n1 2 3\n", "line 3", "3 fields", "4"},
        bad_file{parse_xyz, "1\nproperties=positions:R:3:pos:R:3\n1 2 3 4 5 6\n", "line 2",
                 "'pos' and another for x", "one for x"},
        bad_file{parse_xyz, "1\nProperties=force:R:3\n1 2 3\n", "line 2",
                 "no column x among 'force'", "columns x and y"},
        bad_file{parse_xyz, "1\nLattice=\"1 2 3\"\nH 1 2 3\n", "line 2", "Lattice='1 2 3'",
                 "9 finite numbers between \"\", {} or one pair of []"},
        bad_file{parse_xyz, "1\nLattice='4 0 0 0 4 0 0 0 4'\nH 1 2 3\n", "line 2", "Lattice=''4'",
                 "between \"\""},
        bad_file{parse_xyz, "1\nLattice=[[4,0,0],[0,4,0],[0,0,4]]\nH 1 2 3\n", "line 2",
                 "Lattice='[4,0,0'", "one pair of []"},
        bad_file{parse_xyz, "1\npbc=\"T T\"\nH 1 2 3\n", "line 2", "pbc='T T'", "three times"},
        bad_file{parse_xyz, "1\n\nH 1 2\n", "line 3", "3 fields", "4"},
        bad_file{parse_xyz, "1\n\nH 1 2 x\n", "line 3", "'x' for z", "a number"},
        bad_file{parse_xyz, "1\nProperties=pos:R\n1 2 3\n", "line 2", "'pos:R'", "pos:R:3"},
        bad_file{parse_xyz, "1\nProperties=pos:R:0\n1 2 3\n", "line 2", "pos:R:0", "pos:R:3"},
        bad_file{parse_xyz, "1\nProperties=pos:R:9999\n1 2 3\n", "line 2", "pos:R:9999",
                 "pos:R:3"}));

// Where names are given, only a row of names is skipped as a header.
INSTANTIATE_TEST_SUITE_P(
    columns_with_names, bad_files,
    testing::Values(
        with_names({"x", "y", "z"}, "NA,NA,NA\n1,2,3\n", "'NA' for x",
                   "or a name of its own above each"),
        with_names({"x", "y", "z"}, "a,b,n/a\n1,2,3\n", "'n/a' for z", "or a name of its own"),
        with_names({"x", "y", "q"}, "undef,undef,undef\n1,2,3\n", "'undef' for x", "a number"),
        with_names({"x", "y"}, "TRUE,FALSE\n1,2\n", "'TRUE' for x", "a number"),
        with_names({"x", "_", "y"}, "a,b,\"A\"\n1,2,3\n", "'\"A\"' for y", "a name of its own"),
        with_names({"x", "y"}, "E+05,d-3\n1,2\n", "'E+05' for x", "a number"),
        with_names({"x", "y"}, "#N/A,1\n1,2\n", "'#N/A'", "a number"),
        with_names({"x", "y"}, "0x1p3 0x1p-1\n1 2\n", "'0x1p3' for x", "a number"),
        with_names({"x", "y"}, "--- ---\n1 2\n", "'---' for x", "a number"),
        // a minus sign of Unicode
        with_names({"x", "y"}, "\xe2\x88\x92one two\n1 2\n", "'\\xe2\\x88\\x92one'", "a number"),
        with_names({"_", "x", "y"}, "O,\"null\",b\nH,1,2\n", "'\"null\"' for x", "a number"),
        with_names({"_", "x", "y"}, "O,,\nH,1,2\n", "'' for x", "a number"),
        with_names({"_", "x", "y"}, "a 2 b\n1 2 3\n", "'b' for y", "a number"),
        with_names({"x", "y", "z"}, "water box\n1 2 3\n", "2 columns", "3")));

// UTF-16, as Windows writes it, would otherwise be called whatever its first bytes look like.
INSTANTIATE_TEST_SUITE_P(
    utf_16, bad_files,
    testing::Values(bad_file{parse_columns,
                             {"\xff\xfe"
                              "1\0,\0"
                              "2\0",
                              8},
                             "line 1",
                             "UTF-16",
                             "UTF-8"},
                    bad_file{parse_fma,
                             {"\xff\xfe"
                              "8\0",
                              4},
                             "line 1",
                             "UTF-16",
                             "UTF-8"},
                    bad_file{parse_pqr, {"\xfe\xff\0A", 4}, "line 1", "UTF-16", "UTF-8"},
                    bad_file{parse_lammps,
                             {"\xff\xfe"
                              "a\0",
                              4},
                             "line 1",
                             "UTF-16",
                             "UTF-8"}));
