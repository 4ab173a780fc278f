#include "files.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>

#include <cstdlib>
#include <limits>

using namespace nearfield;
using namespace nearfield::test;

TEST(npy, header_says_type_order_and_shape_in_whole_lines_of_64_bytes)
{
  for (auto const& [shape, text] : std::vector<std::pair<std::vector<std::uint64_t>, std::string>>{
           {{}, "()"},
           {{0}, "(0,)"},
           {{7}, "(7,)"},
           {{54680000, 2}, "(54680000, 2)"},
           {{1, 2, std::numeric_limits<std::uint64_t>::max()}, "(1, 2, 18446744073709551615)"}})
  {
    auto const header = format_npy_header(shape);
    EXPECT_TRUE(header.starts_with(std::string("\x93NUMPY\x01\x00", 8)));
    EXPECT_EQ(header.size() % 64, 0u);
    auto const length = std::size_t(static_cast<unsigned char>(header[8])) +
                        256 * std::size_t(static_cast<unsigned char>(header[9]));
    EXPECT_EQ(header.size(), 10 + length);
    EXPECT_TRUE(header.ends_with('\n'));
    EXPECT_TRUE(header.substr(10).starts_with(
        "{'descr': '<i8', 'fortran_order': False, 'shape': " + text + ", }"))
        << header;
  }
}

TEST(npy, values_are_little_endian)
{
  std::string bytes;
  append_npy(bytes, 0x0102030405060708);
  append_npy(bytes, -1);
  EXPECT_EQ(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff");
}

TEST(npy, too_many_dimensions)
{
  EXPECT_THROW((void)format_npy_header(std::vector<std::uint64_t>(33, 1)), error);
}

TEST(npy, numpy_reads_it)
{
  if (std::system("python3 -c 'import numpy' 2> /dev/null") != 0)
    GTEST_SKIP() << "python3 has no numpy";
  temporary_folder const folder;
  std::string bytes = format_npy_header({3, 2});
  for (int value = 0; value < 6; ++value) append_npy(bytes, value - 1);
  write_text(folder / "a.npy", bytes);
  std::string const check = "import numpy; a = numpy.load('" + (folder / "a.npy").string() +
                            "'); assert a.dtype == 'int64'; "
                            "assert a.tolist() == [[-1, 0], [1, 2], [3, 4]]";
  EXPECT_EQ(std::system(("python3 -c \"" + check + "\"").c_str()), 0);
}

namespace
{
  /// An array file of version `version` with this dictionary, and the values.
  std::string array(std::string const& dictionary, std::string const& values, char version = 1)
  {
    std::string const text = dictionary + std::string(3, ' ') + "\n";
    std::string file = "\x93NUMPY" + std::string{version, '\0'};
    file += static_cast<char>(text.size());
    file += std::string(version == 1 ? 1 : 3, '\0');
    return file + text + values;
  }

  std::string dictionary(char const* type, bool is_column_major, char const* shape)
  {
    return std::string("{'descr': '") + type +
           "', 'fortran_order': " + (is_column_major ? "True" : "False") + ", 'shape': " + shape +
           ", }";
  }

  using columns = std::vector<std::vector<double>>;
}

TEST(npy_points, are_rows_of_an_array_in_either_order)
{
  columns const x{{1, 5}, {2, 6}, {3, 7}}, q{{4, 8}};
  auto const of = [](std::string const& file)
  {
    return parse_npy(file, "a.npy");
  };
  for (char const version : {1, 2, 3})
  {
    auto const rows = of(
        array(dictionary("<f8", false, "(2, 4)"), bytes(1., 2., 3., 4., 5., 6., 7., 8.), version));
    EXPECT_EQ(rows.positions, x);
    EXPECT_EQ(rows.inputs, q);
    auto const by_column = of(array(dictionary("<f4", true, "(2, 4)"),
                                    bytes(1.f, 5.f, 2.f, 6.f, 3.f, 7.f, 4.f, 8.f), version));
    EXPECT_EQ(by_column.positions, x);
    EXPECT_EQ(by_column.inputs, q);
  }
  auto const plane =
      of(array("{\"shape\":(1,2),'fortran_order':False,'descr':'<f4'}", bytes(1.f, 2.f)));
  EXPECT_EQ(plane.positions, (columns{{1}, {2}}));
  EXPECT_EQ(of(array(dictionary("<f8", false, "(0, 3)"), "")).size(), 0u);
  auto const file = array(dictionary("<f8", false, "(1, 4)"), bytes(1., 2., 3., 4.));
  auto const named = parse_npy(file, "a.npy", {.columns = {"m", "y", "_", "x"}});
  EXPECT_EQ(named.positions, (columns{{4}, {2}}));
  EXPECT_EQ(named.masses, std::vector<double>{1});
  auto const flat = parse_npy(file, "a.npy", {.dim = 2});
  EXPECT_EQ(flat.inputs, (columns{{3}, {4}}));
}

TEST(npy_points, of_other_types_are_converted)
{
  columns const x{{1, 4}, {2, 5}, {3, 6}};
  auto const values = [](auto of, bool is_swapped)
  {
    std::string all;
    for (int k = 1; k < 7; ++k)
    {
      auto const value = bytes(static_cast<decltype(of)>(k));
      all += is_swapped ? std::string(value.rbegin(), value.rend()) : value;
    }
    return all;
  };
  auto const expect = [&](char const* type, auto of)
  {
    for (bool const is_swapped : {false, true})
    {
      std::string const name = (is_swapped ? ">" : "<") + std::string(type);
      EXPECT_EQ(
          parse_npy(array(dictionary(name.c_str(), false, "(2L, 3L)"), values(of, is_swapped)),
                    "a.npy")
              .positions,
          x)
          << name;
    }
  };
  expect("f8", 0.0);
  expect("f4", 0.f);
  expect("i8", std::int64_t());
  expect("u8", std::uint64_t());
  expect("i4", std::int32_t());
  expect("u4", std::uint32_t());
  expect("i2", std::int16_t());
  expect("u2", std::uint16_t());
  expect("i1", std::int8_t());
  expect("u1", std::uint8_t());
  // 1, -2.5, the least one above 0 and the greatest, in 16 bits
  std::uint16_t const one = 0x3c00, more = 0xc100, least = 1, greatest = 0x7bff;
  auto const halves =
      parse_npy(array(dictionary("<f2", false, "(2, 2)"), bytes(one, more, least, greatest)), "a");
  EXPECT_EQ(halves.positions, (columns{{1, 0x1p-24}, {-2.5, 65504}}));
  EXPECT_EQ(parse_npy(array(dictionary("<i4", true, "(1, 2)"), bytes(-1, -2)), "a").positions,
            (columns{{-1}, {-2}}));
  auto const all_bits = bytes(std::int64_t(-1), std::int64_t(-1));
  EXPECT_EQ(parse_npy(array(dictionary("<i8", false, "(1, 2)"), all_bits), "a").positions[0][0],
            -1);
  for (auto const& [type, most] :
       {std::pair{"<u8", 0x1p64}, {"<u4", 0x1p32 - 1}, {"<u2", 65535.}, {"|u1", 255.}})
  {
    auto const size = static_cast<std::size_t>(type[2] - '0');
    auto const file = array(dictionary(type, false, "(1, 2)"), all_bits.substr(0, 2 * size));
    EXPECT_EQ(parse_npy(file, "a").positions[1][0], most) << type;
  }
  std::uint16_t const infinite = 0xfc00;
  EXPECT_THAT(
      message_of(
          [&] { parse_npy(array(dictionary("<f2", false, "(1, 2)"), bytes(one, infinite)), "a"); }),
      testing::HasSubstr("found -inf for y of point 0"));
}

TEST(npy_points, of_records_have_the_names_of_their_fields)
{
  temporary_folder const folder;
  std::string const types =
      "{'descr': [('id', '<i4'), ('when', '<M8[ns]'), ('', '|V4'), ('Pos', '<f8', (3,)), ('name', "
      "'<U2'), ('charge', '>f4'), ('momenta', '<f4', (3,)), ('mass', '<f8')], "
      "'fortran_order': False, 'shape': (2,), }";
  auto const swapped = [](float value)
  {
    auto const text = bytes(value);
    return std::string(text.rbegin(), text.rend());
  };
  std::string values;
  for (int k = 0; k < 2; ++k)
    values += bytes(7, 0., 0, 1. + k, 2. + k, 3. + k) + std::string(8, 'a') +
              swapped(0.5f + float(k)) + bytes(2.f, 4.f, 8.f, 2.);
  std::string const length{static_cast<char>(types.size() + 1),
                           static_cast<char>((types.size() + 1) >> 8)};
  write_text(folder / "a.npy",
             "\x93NUMPY" + std::string("\x01\x00", 2) + length + types + "\n" + values);
  file_report report;
  auto const points = read_points(folder / "a.npy", {}, &report);
  EXPECT_EQ(points.positions, (columns{{1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(points.inputs, (columns{{0.5, 1.5}}));
  EXPECT_EQ(points.velocities, (columns{{1, 1}, {2, 2}, {4, 4}}));
  EXPECT_EQ(points.masses, (std::vector<double>{2, 2}));
  EXPECT_EQ(report.positions, std::vector<std::string>{"Pos"});
  EXPECT_EQ(report.left_out, (std::vector<std::string>{"id", "when", "name"}));
  auto const second = read_points(folder / "a.npy", {.part = {{1, 2}}});
  EXPECT_EQ(second.positions, (columns{{2}, {3}, {4}}));
}

TEST(npy_points, of_records_may_have_titles)
{
  auto const points = parse_npy(array("{'descr': [(('along', 'x'), '<f8'), ('y', '<f8')], "
                                      "'fortran_order': False, 'shape': (1,)}",
                                      bytes(1., 2.)),
                                "a.npy");
  EXPECT_EQ(points.positions, (std::vector<std::vector<double>>{{1}, {2}}));
}

// Coordinates in rows would be a few points of many inputs.
TEST(npy_points, of_many_columns_are_more_than_a_few_or_one)
{
  struct size
  {
    std::size_t rows, columns;
    bool is_refused;
  };
  for (auto const& [rows, columns, is_refused] :
       {size{1, 17, false}, size{2, 17, true}, size{8, 17, true}, size{9, 17, false},
        size{2, 16, false}})
  {
    auto const shape = "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
    auto const file = array(dictionary("<f8", false, shape.c_str()),
                            std::string(rows * columns * sizeof(double), '\0'));
    if (is_refused)
      EXPECT_THROW(parse_npy(file, "a.npy"), error) << shape;
    else
      EXPECT_EQ(parse_npy(file, "a.npy").inputs.size(), columns - 3) << shape;
  }
}

TEST(npy_points, may_have_a_long_head)
{
  temporary_folder const folder;
  std::string const text = dictionary("<f8", false, "(1, 2)") + std::string(70'000, ' ') + "\n";
  write_text(folder / "a.npy", "\x93NUMPY" + std::string("\x02\x00", 2) +
                                   bytes(static_cast<std::uint32_t>(text.size())) + text +
                                   bytes(1., 2.));
  for (auto const& part : std::vector<std::optional<read_options::file_part>>{{}, {{0, 1}}})
    EXPECT_EQ(read_points(folder / "a.npy", {.part = part}).positions, (columns{{1}, {2}}));
}

TEST(npy_points, parts_are_those_of_the_whole)
{
  temporary_folder const folder;
  for (bool const is_column_major : {false, true})
  {
    std::string values;
    for (int k = 0; k < 11 * 3; ++k) values += bytes(0.5 * k);
    auto const path = folder / "a.npy";
    write_text(path, array(dictionary("<f8", is_column_major, "(11, 3)"), values));
    auto const whole = read_points(path);
    ASSERT_EQ(whole.size(), 11u);
    for (std::uint64_t const count : {1, 2, 3, 20})
    {
      columns joined(3);
      for (std::uint64_t i = 0; i < count; ++i)
      {
        auto const part = read_points(path, {.part = {{i, count}}});
        for (std::size_t c = 0; c < 3; ++c)
          joined[c].insert(joined[c].end(), part.positions[c].begin(), part.positions[c].end());
      }
      EXPECT_EQ(joined, whole.positions) << count << " parts";
    }
    // the first that is wrong, row by row, is in the first part
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const put = [&](std::size_t row, std::size_t column)
    {
      std::size_t const at = is_column_major ? column * 11 + row : row * 3 + column;
      std::memcpy(values.data() + 8 * at, &nan, 8);
    };
    put(10, 0);
    put(4, 2);
    write_text(path, array(dictionary("<f8", is_column_major, "(11, 3)"), values));
    for (std::uint64_t const count : {1, 2})
      EXPECT_THAT(message_of([&] { (void)read_points(path, {.part = {{0, count}}}); }),
                  testing::HasSubstr("found nan for z of point 4"));
  }
}

TEST(npy_points, what_is_wrong_is_named_with_its_byte)
{
  struct bad
  {
    std::string file;
    char const* message;
    read_options options = {};
  };
  auto const good = dictionary("<f8", false, "(1, 3)");
  auto const three = bytes(1., 2., 3.);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  temporary_folder const folder;
  for (bad const& each : std::vector<bad>{
           {"x,y,z\n1,2,3\n", "byte 0: found 'x,y,z\\x0a', expected an array of NumPy"},
           {"\x93NUMPY", "byte 6: found version 0, expected 1 to 3"},
           {array(good, three, 4), "byte 6: found version 4"},
           {array(good, three).substr(0, 40), "expected one that ends in the file"},
           {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "expected at most 16777216"},
           {array(dictionary("<c16", false, "(1, 3)"), three),
            "found type '<c16', expected f2 f4 f8"},
           {array(dictionary("|O", false, "(1, 3)"), three), "save a.astype('<f8')"},
           {array(dictionary("<f8", false, "(3, 5000)"), three),
            "expected 1 to 4096, and a row for each point: save a.T"},
           {array(dictionary("<f8", false, "(3, 17)"), std::string(3 * 17 * 8, '\0')),
            "found 3 rows of 17 columns, expected a row for each point: save a.T"},
           {array(dictionary("<f8", false, "(16, 5000)"), three), "each point: save a.T"},
           {array("{'descr': [('x', [('y', '<f8')])], ", three), "found records inside records"},
           {array("{'descr': [], ", three), "found records without values"},
           {array("{'descr': [('x', '<f8', (0,))], ", three), "found records without values"},
           {array("{'descr': [('x', '<f8', (99999, 99999))], ", three), "a record of too many"},
           {array("{'descr': [('x','<f8'), ('y','O')], ", three), "found type 'O'"},
           {array("{'descr': [('x','<f8'),('y','<f8')],'fortran_order':False,'shape':(1,1)}",
                  three),
            "found 2 dimensions, expected one, of records"},
           {array("{'descr': [('a','<f8',(3,))],'fortran_order':False,'shape':(1,)}", three),
            "found no column x among 'a'"},
           {array(dictionary("<f8", false, "(3,)"), three), "found 1 dimension, expected two"},
           {array(dictionary("<f8", false, "(1, 1, 3)"), three), "found 3 dimensions"},
           {array(dictionary("<f8", false, "(1, x)"), three), "expected a number of rows"},
           {array(dictionary("<f8", false, "(1, 99999999999999999999)"), three),
            "expected a number"},
           {array(dictionary("<f8", false, "(1, 0)"), three), "found 0 columns"},
           {array(dictionary("<f8", false, "(4611686018427387905, 4)"), bytes(1., 2., 3., 4.)),
            "found 32 bytes of values, expected 4611686018427387905 rows of 32 bytes"},
           {array(good, three + "!"), "found 25 bytes of values, expected 1 rows of 24 bytes"},
           {array("{'descr': '<f8', 'shape': (1, 3)}", three), "expected descr, fortran_order"},
           {array("{'descr': '<f8', 'descr': '<f8'}", three), "byte 27: found key 'descr'"},
           {array("{'descr': '<f8', 'descr': '<f8'}", three, 2), "byte 29: found key 'descr'"},
           {array("{'descr': '<f8' 'shape'", three), "expected '}' in the dictionary"},
           {array(good + "}", three), "expected the end of the head after the dictionary"},
           {array("{'descr", three), "found '', expected"},
           {array(good, bytes(1., nan, 3.)),
            "found nan for y of point 0, expected a finite number"},
           {array(good, bytes(1., nan, nan)), "found nan for y of point 0"},
           {array(good, three),
            "columns (--columns): found 2 names, expected 3",
            {.columns = {"x", "y"}}},
           {array(dictionary("<f8", false, "(3, 1)"), three),
            "found 1 column, expected at least 2"},
           {array(good, three), "found an atom style", {.atom_style = "full"}}})
  {
    auto const found = message_of([&] { (void)parse_npy(each.file, "a.npy", each.options); });
    EXPECT_THAT(found, testing::StartsWith("a.npy: "));
    EXPECT_THAT(found, testing::HasSubstr(each.message));
    // of a part too
    write_text(folder / "a.npy", each.file);
    auto of_part = each.options;
    of_part.part = {{0, 1}};
    EXPECT_THAT(message_of([&] { (void)read_points(folder / "a.npy", of_part); }),
                testing::HasSubstr(each.message));
  }
}
