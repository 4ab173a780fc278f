#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using shape = std::tuple<std::string, write_options::precision_type, int, std::size_t,
                           std::size_t, std::size_t>;

  class round_trip : public testing::TestWithParam<shape>
  {};

  std::string name_of_shape(testing::TestParamInfo<shape> const& tested)
  {
    auto const& [extension, precision, dim, n, n_inputs, n_outputs] = tested.param;
    return extension.substr(1) + (precision == write_options::f32 ? "_f32_" : "_f64_") +
           std::to_string(dim) + "d_" + std::to_string(n) + "_points_" + std::to_string(n_inputs) +
           "_inputs_" + std::to_string(n_outputs) + "_outputs";
  }

  bool contains(point_set::bounding_box const& box, point_set const& points)
  {
    for (std::size_t a = 0; a < points.positions.size(); ++a)
      for (double const x : points.positions[a])
        if (std::abs(x - box.centre[a]) > box.half_width) return false;
    return true;
  }
}

TEST_P(round_trip, gives_the_same_values)
{
  auto const [extension, precision, dim, n, n_inputs, n_outputs] = GetParam();
  auto const points = awkward_points(dim, n, n_inputs, n_outputs);
  temporary_folder const folder;
  auto const path = folder / ("points" + extension);
  write_points(path, points, {precision});
  auto const back = read_points(path);

  auto expected = points;
  auto const is_csv = extension == ".csv";
  auto got = back;
  if (precision == write_options::f32)
  {
    round_to_float(expected);
    // a CSV file does not say its precision: its decimals are those of the float
    if (is_csv) round_to_float(got);
  }
  expect_same_values(got, expected);
  EXPECT_EQ(column_names(back), column_names(points));
  if (!is_csv)
  {
    ASSERT_TRUE(back.box);
    EXPECT_TRUE(contains(*back.box, back));
    // reading and writing again changes nothing
    write_points(path, back, {precision});
    EXPECT_EQ(read_points(path), back);
  }
  EXPECT_EQ(folder.n_files(), 1);
}

INSTANTIATE_TEST_SUITE_P(write, round_trip,
                         testing::Combine(testing::Values(".fma", ".bfma", ".csv"),
                                          testing::Values(write_options::f32, write_options::f64),
                                          testing::Values(2, 3), testing::Values(0u, 1u, 1000u),
                                          testing::Values(0u, 1u, 3u), testing::Values(0u, 2u)),
                         name_of_shape);

TEST(write, outputs_that_are_not_finite_come_back)
{
  auto const infinity = std::numeric_limits<double>::infinity();
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  point_set const points{.dim = 2,
                         .positions = {{0, 1, 2, 3}, {0, 1, 2, 3}},
                         .outputs = {{infinity, -infinity, nan, -nan}}};
  temporary_folder const folder;
  for (auto const* name : {"a.fma", "a.bfma", "a.csv"})
    for (auto const precision : {write_options::f32, write_options::f64})
    {
      write_points(folder / name, points, {precision});
      auto const back = read_points(folder / name).outputs.at(0);
      EXPECT_EQ(back[0], infinity) << name;
      EXPECT_EQ(back[1], -infinity) << name;
      EXPECT_TRUE(std::isnan(back[2]) && std::isnan(back[3])) << name;
    }
}

TEST(write, fma_text_is_version_2)
{
  point_set points{
      .dim = 2, .positions = {{0, 0.1}, {0, 2}}, .inputs = {{1, -1}}, .outputs = {{3, 4}}};
  EXPECT_EQ(format_fma(points), "8 4 2 1\n2 1 0.05 1\n0 0 1 3\n0.1 2 -1 4\n");
  points.box = point_set::bounding_box{{0, 1}, 2.5};
  EXPECT_EQ(format_fma(points, {write_options::f32}), "4 4 2 1\n2 2.5 0 1\n0 0 1 3\n0.1 2 -1 4\n");
}

TEST(write, fma_binary_is_version_2)
{
  point_set const points{.dim = 2,
                         .positions = {{0}, {0.5}},
                         .inputs = {{1}},
                         .outputs = {{3}},
                         .box = point_set::bounding_box{{0, 0.25}, 2}};
  EXPECT_EQ(format_bfma(points),
            bytes(8u, 4u, 2u, 1u, std::uint64_t{1}, 2., 0., 0.25, 0., 0.5, 1., 3.));
  EXPECT_EQ(format_bfma(points, {write_options::f32}),
            bytes(4u, 4u, 2u, 1u, std::uint64_t{1}, 2.f, 0.f, 0.25f, 0.f, 0.5f, 1.f, 3.f));
}

TEST(write, the_box_of_a_single_precision_file_holds_the_rounded_points)
{
  // 0.1f > 0.1 and 0.7f < 0.7: a box that is tight in double
  point_set points{.dim = 2, .positions = {{0.1, 0.7}, {0.1, 0.7}}};
  points.box = point_set::bounding_box{{0.4, 0.4}, 0.3};
  auto const back = parse_fma(format_bfma(points, {write_options::f32}), "a.bfma");
  EXPECT_TRUE(contains(*back.box, back));
  EXPECT_GE(back.box->half_width, 0.3);
  EXPECT_LT(back.box->half_width, 0.3001);
  // rounding moves points far from zero, down or up, by more than it does half widths
  for (int tenths = -9; tenths < 10; ++tenths)
  {
    if (tenths == 0) continue;
    double const half = 0.1 * tenths;
    points.positions = {{1000, 1000 + half}, {1000, 1000}};
    points.box = point_set::bounding_box{{1000, 1000}, std::abs(half)};
    auto const far = parse_fma(format_bfma(points, {write_options::f32}), "a.bfma");
    EXPECT_TRUE(contains(*far.box, far)) << half;
  }
}

TEST(write, equal_points_get_a_box_of_positive_width)
{
  point_set const points{.dim = 2, .positions = {{5, 5}, {-1, -1}}};
  auto const back = parse_fma(format_fma(points), "a.fma");
  expect_same_values(back, points);
  EXPECT_GT(back.box->half_width, 0);
}

TEST(write, csv_has_names_and_shortest_decimals)
{
  point_set const points{.dim = 2,
                         .positions = {{0.1, 1e-7}, {1.0 / 3, 2}},
                         .inputs = {{1, -1}},
                         .outputs = {{3, 1e22}, {4, 5}},
                         .input_names = {},
                         .output_names = {"gx", "gy"}};
  EXPECT_EQ(format_csv(points), "x,y,q,gx,gy\n0.1,0.3333333333333333,1,3,4\n1e-07,2,-1,1e+22,5\n");
  EXPECT_EQ(format_csv(points, {write_options::f32}),
            "x,y,q,gx,gy\n0.1,0.33333334,1,3,4\n1e-07,2,-1,1e+22,5\n");
}

TEST(write, vtu_has_vertices_and_point_data)
{
  point_set const points{.dim = 2,
                         .positions = {{1}, {2}},
                         .inputs = {{3}},
                         .outputs = {{4}},
                         .input_names = {"q"},
                         .output_names = {"a<b&\"c\""}};
  // base64 of a UInt64 with the number of bytes, and of 1 2 0 (z of a plane), 3, 4, index 0, end 1, 1
  auto const array =
      [](std::string const& type, std::string const& name, int n, std::string const& data)
  {
    return "        <DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
           std::to_string(n) + "\" format=\"binary\">" + data + "</DataArray>\n";
  };
  EXPECT_EQ(format_vtu(points, {write_options::f32}),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <UnstructuredGrid>\n"
            "    <Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">\n      <Points>\n" +
                array("Float32", "Points", 3, "DAAAAAAAAAAAAIA/AAAAQAAAAAA=") +
                "      </Points>\n      <PointData Scalars=\"a&lt;b&amp;&quot;c&quot;\">\n" +
                array("Float32", "q", 1, "BAAAAAAAAAAAAEBA") +
                array("Float32", "a&lt;b&amp;&quot;c&quot;", 1, "BAAAAAAAAAAAAIBA") +
                "      </PointData>\n      <Cells>\n" +
                array("Int64", "connectivity", 1, "CAAAAAAAAAAAAAAAAAAAAA==") +
                array("Int64", "offsets", 1, "CAAAAAAAAAABAAAAAAAAAA==") +
                array("UInt8", "types", 1, "AQAAAAAAAAAB") +
                "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n");
  EXPECT_THAT(format_vtu(points), testing::HasSubstr("type=\"Float64\" Name=\"Points\""));
}

TEST(write, vtu_shows_outputs_first_then_inputs)
{
  point_set points{.positions = {{1}, {2}, {3}}, .inputs = {{3}, {4}}};
  auto const is_shown = [&](std::string const& scalars, std::string const& vectors)
  {
    auto const shown = (scalars.empty() ? "" : " Scalars=\"" + scalars + "\"") +
                       (vectors.empty() ? "" : " Vectors=\"" + vectors + "\"");
    EXPECT_THAT(format_vtu(points), testing::HasSubstr("<PointData" + shown + ">\n"));
  };
  is_shown("q1", "");
  points.masses = {5};
  points.velocities = {{6}, {7}, {8}};
  is_shown("q1", "velocity");
  points.outputs = {{1}, {2}, {3}, {4}};
  points.output_names = {"phi", "gx", "gy", "gz"};
  is_shown("phi", "gradient");
  points.outputs.resize(3);
  points.output_names = {"ax", "ay", "az"};
  is_shown("q1", "acceleration");
  points.inputs.clear();
  is_shown("m", "acceleration");
  points = {.dim = 2, .positions = {{1}, {2}}};
  is_shown("", "");
}

TEST(write, vtu_of_no_points_is_a_file_too)
{
  temporary_folder const folder;
  write_points(folder / "a.vtu", awkward_points(3, 0, 1, 0));
  EXPECT_THAT(read_text(folder / "a.vtu"), testing::HasSubstr("NumberOfPoints=\"0\""));
}

TEST(write, bad_points_leave_no_file)
{
  temporary_folder const folder;
  auto points = awkward_points(3, 2, 1, 0);
  points.inputs[0][1] = 1e300;
  for (auto const* name : {"a.fma", "a.bfma", "a.csv", "a.vtu", "a.xyz"})
    EXPECT_THAT(message_of([&] { write_points(folder / name, points, {write_options::f32}); }),
                testing::AllOf(testing::HasSubstr("for q at point 1"), testing::HasSubstr("f64")))
        << name;
  points.inputs[0][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_points(folder / "a.csv", points), error);
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(write, an_unknown_extension_is_refused_with_those_that_there_are)
{
  temporary_folder const folder;
  for (auto const* name : {"a.png", "a", "a.pqr"})
  {
    auto const path = folder / name;
    auto const expected = testing::AllOf(testing::StartsWith(path.string() + ": "),
                                         testing::HasSubstr("expected .fma .bfma .csv .vtu .xyz"));
    EXPECT_THAT(message_of([&] { write_points(path, awkward_points(2, 1, 0, 0)); }), expected);
    EXPECT_THAT(message_of([&] { check_writable_format(path); }), expected);
  }
  EXPECT_NO_THROW(check_writable_format("a.vtu"));
  EXPECT_NO_THROW(check_writable_format("A.CSV"));
  EXPECT_EQ(folder.n_files(), 0);
}

TEST(write, a_file_without_points_has_a_box_that_reads_back)
{
  for (auto const precision : {write_options::f32, write_options::f64})
    for (auto const& points :
         {point_set{.positions = {{}, {}, {}}, .inputs = {{}}},
          point_set{.positions = {{}, {}, {}},
                    .inputs = {{}},
                    .box = point_set::bounding_box{{0, 0, 0}, 1e-300}},
          point_set{.positions = {{1, 1}, {1, 1}, {1, 1}}, .inputs = {{0, 0}}}})
    {
      EXPECT_GT(parse_fma(format_fma(points, {precision}), "a.fma").box->half_width, 0);
      EXPECT_GT(parse_fma(format_bfma(points, {precision}), "a.bfma").box->half_width, 0);
    }
}

TEST(write, a_value_beyond_f32_is_shown_in_short)
{
  point_set const points{.positions = {{0, 1e300}, {0, 0}, {0, 0}}};
  EXPECT_THAT(message_of([&] { format_csv(points, {write_options::f32}); }),
              testing::HasSubstr("found 1e+300 for x at point 1, expected"));
}

namespace
{
  point_set moving_points(int dim)
  {
    auto points = awkward_points(dim, 20, 1, static_cast<std::size_t>(dim) + 1);
    points.velocities = awkward_points(dim, 21, 0, 0).positions;
    for (auto& column : points.velocities) column.pop_back();
    points.masses = points.inputs[0];
    points.input_names = {"q"};
    points.output_names = {"phi", "ax", "ay", "az"};
    if (dim == 2) points.output_names.pop_back();
    return points;
  }
}

TEST(write, velocities_and_masses_come_back)
{
  temporary_folder const folder;
  for (int const dim : {2, 3})
  {
    auto const points = moving_points(dim);
    write_points(folder / "a.csv", points);
    EXPECT_EQ(read_points(folder / "a.csv"), points);
  }
  EXPECT_TRUE(read_text(folder / "a.csv").starts_with("x,y,z,vx,vy,vz,m,q,phi,ax,ay,az\n"));
}

TEST(write, an_fma_file_has_no_place_for_velocities)
{
  auto points = awkward_points(3, 2, 1, 0);
  points.masses = {1, 2};
  EXPECT_THAT(message_of([&] { format_fma(points); }), testing::HasSubstr("found velocities,"));
  EXPECT_THAT(message_of([&] { format_bfma(points); }), testing::HasSubstr("write .csv, .vtu"));
  for (auto const* name : {"a.csv", "a.VTU", "a.xyz"}) EXPECT_TRUE(can_hold_velocities(name));
  for (auto const* name : {"a.fma", "a.bfma"}) EXPECT_FALSE(can_hold_velocities(name));
  EXPECT_THROW(can_hold_velocities("a.png"), error);
}

// In 2D too, so that glyphs and streamlines take them.
TEST(write, vtu_has_vectors_of_three_components)
{
  point_set const points{.dim = 2,
                         .positions = {{1}, {2}},
                         .velocities = {{3}, {4}},
                         .outputs = {{5}, {6}, {7}, {8}, {9}, {1}},
                         .output_names = {"gx", "gy", "ax", "ay", "gx", "b"}};
  auto const text = format_vtu(points, {write_options::f32});
  auto const has_array = [&](std::string const& name, int n, std::string const& data)
  {
    EXPECT_THAT(text, testing::HasSubstr("Name=\"" + name + "\" NumberOfComponents=\"" +
                                         std::to_string(n) + "\" format=\"binary\">" + data));
  };
  has_array("velocity", 3, "DAAAAAAAAAAAAEBAAACAQAAAAAA="); // 3 4 0
  has_array("gradient", 3, "DAAAAAAAAAAAAKBAAADAQAAAAAA="); // 5 6 0
  has_array("acceleration", 3, "DAAAAAAAAAAAAOBAAAAAQQAAAAA=");
  has_array("gx", 1, "BAAAAAAAAAAAABBB"); // without gy
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Name=\"gy\"")));
}

TEST(write, pvd_lists_files_and_times)
{
  EXPECT_EQ(format_pvd({{0, "a_000000.vtu"}, {0.25, "a&\"<_000001.vtu"}}),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
            "  <Collection>\n"
            "    <DataSet timestep=\"0\" part=\"0\" file=\"a_000000.vtu\"/>\n"
            "    <DataSet timestep=\"0.25\" part=\"0\" file=\"a&amp;&quot;&lt;_000001.vtu\"/>\n"
            "  </Collection>\n</VTKFile>\n");
}
