#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;

  void append(std::vector<double>& all, std::vector<double> const& more)
  {
    all.insert(all.end(), more.begin(), more.end());
  }
  void append(std::vector<std::vector<double>>& all, std::vector<std::vector<double>> const& more)
  {
    ASSERT_EQ(all.size(), more.size());
    for (std::size_t c = 0; c < all.size(); ++c) append(all[c], more[c]);
  }

  /// The parts of a file, one after the other.
  point_set read_parts(std::filesystem::path const& path, read_options options, std::uint64_t count)
  {
    point_set all;
    for (std::uint64_t i = 0; i < count; ++i)
    {
      options.part = {{i, count}};
      auto const part = read_points(path, options);
      check(part);
      if (i == 0)
      {
        all = part;
        continue;
      }
      EXPECT_EQ(part.dim, all.dim);
      EXPECT_EQ(part.box, all.box);
      EXPECT_EQ(part.input_names, all.input_names);
      append(all.positions, part.positions);
      append(all.velocities, part.velocities);
      append(all.masses, part.masses);
      append(all.inputs, part.inputs);
      append(all.outputs, part.outputs);
    }
    return all;
  }

  void expect_the_whole(std::filesystem::path const& path, read_options const& options = {})
  {
    auto const whole = read_points(path, options);
    for (std::uint64_t const count : {1, 2, 3, 7, 40})
    {
      SCOPED_TRACE(path.filename().string() + " in " + std::to_string(count) + " parts");
      EXPECT_EQ(read_parts(path, options, count), whole);
    }
  }

  /// The first part that fails says what a reader of the whole file says.
  void expect_the_message(std::filesystem::path const& path, read_options const& options = {})
  {
    auto const wanted = message_of([&] { (void)read_points(path, options); });
    EXPECT_NE(wanted, "no error");
    for (std::uint64_t const count : {1, 2, 3, 7})
      EXPECT_EQ(message_of([&] { (void)read_parts(path, options, count); }), wanted)
          << count << " parts";
  }

  /// n rows, with blank lines and comments between them.
  std::string rows(int n, char const* line_end, char delimiter = ',')
  {
    std::ostringstream text;
    for (int i = 0; i < n; ++i)
    {
      text << i << delimiter << 0.5 * i << delimiter << -i << delimiter << i % 3 << line_end;
      if (i % 5 == 3) text << line_end << "# of " << i << line_end;
    }
    return text.str();
  }

  TEST(part_of_a_file, has_its_lines_of_columns)
  {
    temporary_folder const folder;
    for (char const* end : {"\n", "\r\n", "\r"})
      for (int const n : {0, 1, 2, 5, 6, 100, 9000})
      {
        SCOPED_TRACE(testing::Message() << n << " rows, line end of " << std::string(end).size());
        write_text(folder / "a.csv", "\xef\xbb\xbfx,y,z,q" + std::string(end) + rows(n, end));
        expect_the_whole(folder / "a.csv");
        if (n == 0) continue;
        write_text(folder / "b.dat", rows(n, end, ' ') + "1 2 3 4"); // neither header nor last end
        expect_the_whole(folder / "b.dat");
        expect_the_whole(folder / "b.dat", {.columns = {"_", "y", "x", "m"}});
      }
    std::string const comments(70'000, '#'); // longer than what is read at first
    write_text(folder / "c.csv", comments + "\n# " + comments + "\n# x y\n" + rows(3, "\n", ' '));
    expect_the_whole(folder / "c.csv", {.columns = {"x", "y", "_", "_"}});
  }

  TEST(part_of_a_file, has_its_records_of_binary_fma)
  {
    temporary_folder const folder;
    for (int const n : {0, 1, 5, 100})
      for (auto const precision : {write_options::f32, write_options::f64})
      {
        point_set points;
        for (int c = 0; c < 3; ++c)
          for (int i = 0; i < n; ++i)
          {
            points.positions.resize(3);
            points.positions[static_cast<std::size_t>(c)].push_back(c + 0.25 * i);
          }
        if (n == 0) points.positions.resize(3);
        points.inputs = {points.positions[1]};
        points.outputs = {points.positions[2], points.positions[0]};
        write_points(folder / "a.bfma", points, {.precision = precision});
        expect_the_whole(folder / "a.bfma");
      }
  }

  TEST(part_of_a_file, has_its_points_of_other_formats)
  {
    temporary_folder const folder;
    write_text(folder / "a.fma", "8 4 3 1\n5 10 0 0 0\n" + std::string("1 2 3 4 5 6 7 8\n") +
                                     "1 2 3\n4\n5 6 7 8\n0 0 0 1\n");
    expect_the_whole(folder / "a.fma");
    write_text(folder / "a.xyz", "3\n\nH 1 2 3\nO 4 5 6\nC 7 8 9\n");
    expect_the_whole(folder / "a.xyz");
    write_text(folder / "c.xyz", "3\nProperties=pos:R:3:mass:R:1:velo:R:3\n1 2 3 4 5 6 7\n"
                                 "0 0 0 2 0 0 1\n1 1 1 3 0 1 0\n");
    expect_the_whole(folder / "c.xyz");
    EXPECT_EQ(read_points(folder / "c.xyz").masses, (std::vector<double>{4, 2, 3}));
    write_text(folder / "b.xyz", "x y z q\n" + rows(10, "\n", ' '));
    expect_the_whole(folder / "b.xyz");
    write_text(folder / "a.pqr", "ATOM 1 N ALA 1 1.0 2.0 3.0 0.5 1.8\n"
                                 "ATOM 2 C ALA 1 4.0 5.0 6.0 -0.5 1.8\n");
    expect_the_whole(folder / "a.pqr");
    write_text(folder / "a.lmp", "title\n\n2 atoms\n\nAtoms # charge\n\n1 1 0.5 1 2 3\n"
                                 "2 1 -0.5 4 5 6\n");
    expect_the_whole(folder / "a.lmp");
  }

  TEST(part_of_a_file, has_the_messages_of_the_whole)
  {
    temporary_folder const folder;
    for (char const* end : {"\n", "\r\n", "\r"})
      for (std::string const wrong : {"1,2,3", "1,2,x,4", "1,2,nan,4", "#REF!,1,2,3"})
        for (int const before : {0, 4, 600})
        {
          write_text(folder / "a.csv", "# by hand" + std::string(end) + "x,y,z,q" + end +
                                           rows(before, end) + wrong + end + rows(20, end));
          expect_the_message(folder / "a.csv");
        }
    write_text(folder / "a.csv", "x,y,z,q\n" + rows(9, "\n") + "1,2\n"); // the last row
    expect_the_message(folder / "a.csv");
    write_text(folder / "a.csv", "x,zz,z\n1,2,3\n");
    expect_the_message(folder / "a.csv");
    write_text(folder / "a.csv", "# nothing\n\n");
    expect_the_message(folder / "a.csv");
    write_text(folder / "a.csv", "");
    expect_the_message(folder / "a.csv");
    expect_the_message(folder / "none.csv");

    point_set points{.positions = {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, .inputs = {{1, 1, 1}}};
    auto bytes = format_bfma(points);
    double const infinite = std::numeric_limits<double>::infinity();
    std::memcpy(bytes.data() + bytes.size() - 8, &infinite, 8);
    write_text(folder / "a.bfma", bytes);
    expect_the_message(folder / "a.bfma");
    write_text(folder / "a.bfma", bytes.substr(0, bytes.size() - 1));
    expect_the_message(folder / "a.bfma");
    write_text(folder / "a.bfma", "\x08");
    expect_the_message(folder / "a.bfma");
  }

  // What is read at first is 65536 bytes: they may end between a CR and its LF.
  TEST(part_of_a_file, counts_the_lines_of_a_head_that_is_cut_anywhere)
  {
    temporary_folder const folder;
    for (std::size_t const length : {65533, 65534, 65535, 65536})
    {
      write_text(folder / "a.csv",
                 "#" + std::string(length - 1, ' ') + "\r\nx,y,z\r\n1,2,3\r\n1,2\r\n");
      EXPECT_THAT(message_of([&] { (void)read_points(folder / "a.csv"); }),
                  testing::HasSubstr("line 4: found 2 fields"));
      expect_the_message(folder / "a.csv");
    }
  }

  // Lines before a part are counted in pieces of 65536 bytes, of which the first ends between a CR and its LF here.
  TEST(part_of_a_file, counts_a_line_end_once_where_pieces_meet)
  {
    temporary_folder const folder;
    std::string text = "x,y,z,q\r\n1,2,3,456789012\r\n";
    for (int i = 0; i < 5000; ++i) text += "1,2,3,45678901\r\n";
    write_text(folder / "a.csv", text + "1,2\r\n");
    EXPECT_THAT(message_of([&] { (void)read_points(folder / "a.csv"); }),
                testing::HasSubstr("line 5003: found 2 fields"));
    expect_the_message(folder / "a.csv");
  }

  TEST(part_of_a_file, has_the_report_of_the_whole)
  {
    temporary_folder const folder;
    write_text(folder / "a.csv", "id,x,y,z,q\n" + std::string("1,0,0,0,1\n2,1,0,0,1\n"));
    write_text(folder / "a.xyz", "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nH 1 2 3\n");
    write_text(folder / "a.bfma", format_bfma({.positions = {{0}, {0}, {0}}, .inputs = {{1}}}));
    write_text(folder / "a.npy", std::string("\x93NUMPY\x01\x00\x40\x00", 10) +
                                     "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2)}" +
                                     std::string(7, ' ') + "\n" + bytes(1., 2.));
    for (char const* name : {"a.csv", "a.xyz", "a.bfma", "a.npy"})
    {
      file_report whole;
      (void)read_points(folder / name, {}, &whole);
      EXPECT_FALSE(whole.positions.empty()) << name;
      for (std::uint64_t i = 0; i < 3; ++i)
      {
        file_report of_part;
        (void)read_points(folder / name, {.part = {{i, 3}}}, &of_part);
        EXPECT_EQ(of_part, whole) << name;
      }
    }
  }

  TEST(part_of_a_file, is_one_that_exists)
  {
    temporary_folder const folder;
    write_text(folder / "a.csv", "1,2,3\n");
    EXPECT_THAT(message_of([&] { (void)read_points(folder / "a.csv", {.part = {{2, 2}}}); }),
                testing::HasSubstr("read_options.part: found part 2 of 2"));
    ASSERT_EQ(::mkfifo((folder / "b.csv").c_str(), 0600), 0);
    int const kept_open = ::open((folder / "b.csv").c_str(), O_RDWR); // else opening waits
    EXPECT_THAT(message_of([&] { (void)read_points(folder / "b.csv", {.part = {{0, 2}}}); }),
                testing::HasSubstr("found a pipe"));
    ::close(kept_open);
  }

  point_set points_of_part(point_set const& of, std::size_t begin, std::size_t end)
  {
    auto part = of;
    for (auto* group : {&part.positions, &part.inputs, &part.outputs})
      for (auto& column : *group)
      {
        column.resize(end);
        column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(begin));
      }
    return part;
  }

  TEST(part_of_a_file, is_written_as_its_rows)
  {
    for (char const* name : {"a.csv", "a.xyz", "a.fma", "a.bfma"})
      for (auto const precision : {write_options::f32, write_options::f64})
        for (std::size_t const n : {0, 1, 10})
          for (bool const has_box : {false, true})
          {
            SCOPED_TRACE(testing::Message() << name << ", " << n << " points");
            auto points = awkward_points(2, n, 2, 1);
            if (has_box) points.box = point_set::bounding_box{{0.1, 0.2}, 1e31};
            write_options::whole_file whole{.n_points = n};
            for (auto const& column : points.positions)
              if (n > 0)
              {
                whole.lower.push_back(*std::ranges::min_element(column));
                whole.upper.push_back(*std::ranges::max_element(column));
              }
            std::string parts;
            for (std::size_t i = 0; i < 4; ++i)
            {
              whole.has_header = i == 0;
              parts += format_points(name, points_of_part(points, n * i / 4, n * (i + 1) / 4),
                                     {.precision = precision, .part = whole});
            }
            EXPECT_EQ(parts, format_points(name, points, {.precision = precision}));
          }
  }

  TEST(part_of_a_file, is_a_piece_of_pvtu)
  {
    point_set points{.positions = {{0}, {0}, {0}}, .inputs = {{1}}, .outputs = {{1}, {2}, {3}}};
    points.output_names = {"gx", "gy", "gz"};
    EXPECT_EQ(format_pvtu(points, {"a_0.vtu", "a_&.vtu"}, {.precision = write_options::f32}),
              R"(<?xml version="1.0"?>
<VTKFile type="PUnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">
  <PUnstructuredGrid GhostLevel="0">
    <PPoints>
      <PDataArray type="Float32" Name="Points" NumberOfComponents="3"/>
    </PPoints>
    <PPointData Scalars="q" Vectors="gradient">
      <PDataArray type="Float32" Name="q" NumberOfComponents="1"/>
      <PDataArray type="Float32" Name="gradient" NumberOfComponents="3"/>
    </PPointData>
    <Piece Source="a_0.vtu"/>
    <Piece Source="a_&amp;.vtu"/>
  </PUnstructuredGrid>
</VTKFile>
)");
  }
}
