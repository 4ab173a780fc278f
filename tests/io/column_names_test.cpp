// Names of columns mean the same in every format, and what they do not mean is left out and named.
#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <map>
#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  using columns = std::vector<std::vector<double>>;
  using names = std::vector<std::string>;

  struct reading
  {
    point_set points;
    file_report report;
  };

  reading read_columns(std::string_view text, read_options const& options = {})
  {
    reading result;
    result.points = parse_columns(text, "a.csv", options, &result.report);
    return result;
  }

  // A header, and the places of x y z q m vx vy vz in it; -1: none.
  struct header
  {
    char const* text;
    std::vector<int> places;

    friend std::ostream& operator<<(std::ostream& out, header const& tested)
    {
      return out << tested.text;
    }
  };

  class names_of_columns : public testing::TestWithParam<header>
  {};
}

TEST_P(names_of_columns, say_what_they_are)
{
  auto const& [text, places] = GetParam();
  char const* const separators[] = {",", ";", "\t"};
  auto const n = 1 + std::count(text, text + std::string_view(text).size(), ',');
  for (char const* separator : separators)
    for (char const* mark : {"", "# ", "//", "% "})
    {
      std::string head = mark, row;
      for (char const* c = text; *c != '\0'; ++c)
        head += *c == ',' ? separator : std::string(1, *c);
      for (int k = 0; k < n; ++k) row += (k == 0 ? "" : separator) + std::to_string(10 + k);
      SCOPED_TRACE(head);
      auto const points = read_columns(head + "\n" + row + "\n").points;
      std::vector<int> found(8, -1);
      auto const place = [](std::vector<double> const& column)
      {
        return static_cast<int>(column.at(0)) - 10;
      };
      for (std::size_t a = 0; a < points.positions.size(); ++a)
        found[a] = place(points.positions[a]);
      if (!points.inputs.empty()) found[3] = place(points.inputs[0]);
      if (!points.masses.empty()) found[4] = place(points.masses);
      for (std::size_t a = 0; a < points.velocities.size(); ++a)
        found[5 + a] = place(points.velocities[a]);
      EXPECT_EQ(found, places);
    }
}

INSTANTIATE_TEST_SUITE_P(
    csv, names_of_columns,
    testing::Values(
        header{"mass,x,y,z", {1, 2, 3, -1, 0, -1, -1, -1}},
        header{"id,x,y,z", {1, 2, 3, -1, -1, -1, -1, -1}},
        header{"x,y,z,vx,vy,vz,mass", {0, 1, 2, -1, 6, 3, 4, 5}},
        header{"X,Y,Z,Charge,MASS", {0, 1, 2, 3, 4, -1, -1, -1}},
        header{"Q,M,z,y,x", {4, 3, 2, 0, 1, -1, -1, -1}},
        header{"x [nm],y [nm],z [nm],q (e)", {0, 1, 2, 3, -1, -1, -1, -1}},
        header{"pos_x,pos_y,pos_z,initial_charges", {0, 1, 2, 3, -1, -1, -1, -1}},
        header{"Points:0,Points:1,Points:2,radius", {0, 1, 2, -1, -1, -1, -1, -1}},
        header{"x,y,z,v_x,v_y,v_z", {0, 1, 2, -1, -1, 3, 4, 5}},
        header{"type,x,y,z,velocity_x,velocity_y,velocity_z,m", {1, 2, 3, -1, 7, 4, 5, 6}},
        header{"Position X,Position Y,q,VELOCITY:0,velocity:1", {0, 1, -1, 2, -1, 3, 4, -1}},
        header{"x,y,vx,vy,momentum_x,momentum_y,m", {0, 1, -1, -1, 6, 2, 3, -1}},
        header{"x,y,pos0,v1,coords2,x_v,y_v", {0, 1, -1, -1, -1, -1, -1, -1}},
        header{"x,y,charges,x1,xs,qq,m2", {0, 1, -1, 2, -1, -1, -1, -1}}));

TEST(names_of_columns, that_say_nothing_are_left_out_and_named)
{
  auto const [points, report] =
      read_columns("id,X,y,z,Charge,radius,q01,vorticity\n1,2,3,4,5,6,7,8\n");
  EXPECT_EQ(points.inputs, (columns{{5}}));
  EXPECT_EQ(points.input_names, names{"q"});
  EXPECT_EQ(report.format, "columns of text");
  EXPECT_EQ(report.positions, (names{"X", "y", "z"}));
  EXPECT_EQ(report.inputs, names{"Charge"});
  EXPECT_EQ(report.left_out, (names{"id", "radius", "q01", "vorticity"}));
  EXPECT_TRUE(report.velocities.empty() && report.masses.empty() && !report.cell);
}

TEST(names_of_columns, of_columns_without_names_are_their_numbers)
{
  auto const report = read_columns("1 2 3 4\n").report;
  EXPECT_EQ(report.positions, (names{"column 1", "column 2", "column 3"}));
  EXPECT_EQ(report.inputs, names{"column 4"});
  auto const given = read_columns("1,2,3,4\n", {.columns = {"m", "_", "Y", "pos_x"}}).report;
  EXPECT_EQ(given.positions, (names{"column 4", "column 3"}));
  EXPECT_EQ(given.masses, names{"column 1"});
  EXPECT_EQ(given.left_out, names{"column 2"});
  auto const named = read_columns("a,b,c\n1,2,3\n", {.columns = {"x", "y", "_"}}).report;
  EXPECT_EQ(named.positions, (names{"a", "b"}));
  EXPECT_EQ(named.left_out, names{"c"});
}

// Parameters of points are read if they are asked for, and written.
TEST(names_of_columns, of_parameters_are_those_asked_for)
{
  read_options const wanted{.parameters = {"h", "eps", "n_x"}};
  auto const text = "x,y,q,EPS [nm],n_x\n1,2,3,4,5\n6,7,8,9,10\n";
  EXPECT_EQ(read_columns(text).report.left_out, (names{"EPS [nm]", "n_x"}));
  auto const [points, report] = read_columns(text, wanted);
  EXPECT_EQ(points.parameters, (columns{{4, 9}, {5, 10}}));
  EXPECT_EQ(points.parameter_names, (names{"eps", "n_x"}));
  EXPECT_EQ(points.inputs, (columns{{3, 8}}));
  EXPECT_EQ(report.parameters, (names{"EPS [nm]", "n_x"}));
  EXPECT_EQ(report.left_out, names{});
  EXPECT_EQ(column_names(points), (names{"x", "y", "eps", "n_x", "q"}));
  auto again = read_columns(format_csv(points), wanted).points;
  EXPECT_EQ(again, points);
  EXPECT_EQ(parse_xyz(format_xyz(points), "a.xyz", {.dim = 3, .parameters = wanted.parameters})
                .parameters,
            points.parameters);
  EXPECT_THAT(message_of([&points = points] { static_cast<void>(format_fma(points)); }),
              testing::HasSubstr("parameters, which an FMA file cannot hold"));

  auto given = wanted;
  given.columns = {"x", "eps", "y", "h"};
  EXPECT_EQ(read_columns("1,2,3,4\n", given).points.parameters, (columns{{2}, {4}}));
  given.columns = {"x", "_", "y", "h"};
  EXPECT_EQ(read_columns("x,eps,y,h\n1,2,3,4\n", given).points.parameter_names, names{"h"});
  given.columns = {"id", "x", "y", "z", "h"};
  EXPECT_EQ(parse_lammps("t\n1 atoms\nAtoms\n\n1 2 3 4 5\n", "data.a", given).parameters,
            (columns{{5}}));
  EXPECT_THAT(message_of([&] { read_columns("x,y,eps,Eps\n1,2,3,4\n", wanted); }),
              testing::HasSubstr("column 'Eps' and another for eps, expected one for eps"));
  EXPECT_THAT(message_of([&] { read_columns("x,y,eps\n1,2,nan\n", wanted); }),
              testing::HasSubstr("line 2"));
}

// Two names for one thing, and names that may be those of the columns or not, are not for the reader to decide.
TEST(names_of_columns, that_leave_a_choice_are_refused)
{
  auto const message = [](std::string_view text, read_options const& options = {})
  {
    return message_of([&] { read_columns(text, options); });
  };
  EXPECT_THAT(
      message("x,y,z,q,charge\n1,2,3,4,5\n"),
      testing::HasSubstr("line 1: found column 'charge' and another for q, expected one for q"));
  EXPECT_THAT(message("x,y,X\n1,2,3\n"), testing::HasSubstr("'X' and another for x"));
  EXPECT_THAT(message("# x y z\n1 2 3 4\n"),
              testing::HasSubstr("line 1: found a comment with names of columns, not one for each, "
                                 "expected 4 names"));
  EXPECT_THAT(message("# mass x y z energy\n1 2 3 4\n"), testing::HasSubstr("expected 4 names"));
  EXPECT_THAT(message("1 2 3\n", {.columns = {"x", "y", "zz"}}),
              testing::HasSubstr("columns (--columns): found column 'zz', expected x y z"));
  EXPECT_THAT(message("1 2 3\n", {.columns = {"x", "y", "q01"}}),
              testing::HasSubstr("column 'q01'"));
}

TEST(names_of_columns, in_a_comment_are_told_from_prose)
{
  auto const x = [](std::string_view text)
  {
    return read_columns(text).points.positions.at(0).at(0);
  };
  EXPECT_EQ(x("# made by hand\n1 2 3 4\n"), 1);
  EXPECT_EQ(x("# x, y and z are positions\n1 2 3 4\n"), 1);
  EXPECT_EQ(x("# at t = 0.5 x y z q\n1 2 3 4\n"), 1);
  EXPECT_EQ(x("# columns: q x y z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# the columns are q x y z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# mass x y z in SI units\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("#mass [kg] x [m] y [m] z [m]\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# columns: q, x, y, z\n1,2,3,4\n"), 2);
  EXPECT_EQ(x("# columns: q, x, y, z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# 1:q 2:x 3:y 4:z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# [1]q [2]x [3]y [4]z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# [1]=q [2]=x [3]=y [4]=z\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# id x y z\n# of the second run\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# the rows are id x y q of each charge\n1 2 3 4\n"), 2);
  EXPECT_EQ(x("# id x y z\nx y z id\n1 2 3 4\n"), 1);
  EXPECT_EQ(x("# id x y z\n1 2 3 4\n# x id y z\n5 6 7 8\n"), 2);
  // names given come first
  auto const given = read_columns("# id x y z\n1 2 3 4\n", {.columns = {"x", "y", "z", "q"}});
  EXPECT_EQ(given.points.inputs, (columns{{4}}));
}

TEST(names_of_columns, of_numbers_are_no_point)
{
  for (std::string const head : {"0,1,2,3\n", "\"0\",\"1\",\"2\",\"3\"\n", "0 1 2 3\n\n"})
    EXPECT_THAT(message_of([&] { read_columns(head + ".5,1,2,3\n"); }),
                testing::HasSubstr("line 1: found 0 to 3 in a row, which may be names, expected "
                                   "names such as x y z q"));
  EXPECT_EQ(read_columns("0,1,2\n3,4,5\n").points.size(), 2u);
  EXPECT_EQ(read_columns("0,1,2\n").points.size(), 1u);
  EXPECT_EQ(read_columns("0,1,2\n# the end\n").points.size(), 1u);
  EXPECT_EQ(read_columns("# x y z\n0,1,2\n.5,1,2\n").points.size(), 2u);
  EXPECT_EQ(read_columns("0,1,3\n.5,1,2\n").points.size(), 2u);
  EXPECT_EQ(read_columns("0,1,2\n.5,1,2\n", {.columns = {"x", "y", "z"}}).points.size(), 2u);
}

TEST(names_of_columns, of_two_comments_agree)
{
  EXPECT_THAT(
      message_of([] { read_columns("# x y z q\n# id x y z\n1 2 3 4\n"); }),
      testing::HasSubstr("line 2: found another comment with names of columns, expected one "
                         "(or give --columns)"));
  EXPECT_EQ(read_columns("# x y z q\n# X Y Z charge\n1 2 3 4\n").points.inputs, (columns{{4}}));
  EXPECT_EQ(read_columns("# x y z q\n# x y of the wall\n1 2 3 4\n").points.inputs, (columns{{4}}));
}

// What may have named columns, in a way that is not understood.
TEST(names_of_columns, in_a_comment_that_is_not_used_are_reported)
{
  for (std::string const comment :
       {"id mass px py pz", "m, r(3), v", "mass|rx|ry|rz|q", "5 columns: mass x y z q",
        "column 1: mass", "charges are last"})
  {
    auto const report = read_columns("# made by hand\n# " + comment + "\n1 2 3 4 5\n").report;
    EXPECT_EQ(report.positions[0], "column 1") << comment;
    EXPECT_EQ(report.left_out, names{"comment '" + comment + "'"});
  }
  for (std::string const comment : {"1 2 3", "x_scale 5"})
    EXPECT_TRUE(read_columns("# made by hand\n# " + comment + "\n1 2 3\n").report.left_out.empty());
}

TEST(names_of_columns, of_velocities_without_a_component_are_left_out)
{
  std::map<std::string, names> const cases{
      {"x,y,z,vx,vy,q", {"vx (incomplete)", "vy (incomplete)"}},
      {"x,y,vx,vz,r,q", {"vx (incomplete)", "vz (incomplete)", "r"}},
      {"x,y,z,p_y,q,m", {"p_y"}},
      {"x,y,z,momentum_y,q,m", {"momentum_y (incomplete)"}}};
  for (auto const& [header, left_out] : cases)
  {
    auto const [points, report] = read_columns(header + "\n1,2,3,4,5,6\n");
    EXPECT_TRUE(points.velocities.empty()) << header;
    EXPECT_EQ(points.inputs.size(), 1u);
    EXPECT_EQ(report.left_out, left_out);
    EXPECT_EQ(report.lacks_components, report.left_out[0] != "p_y") << header;
  }
  EXPECT_FALSE(read_columns("x,y,vx,vy\n1,2,3,4\n").report.lacks_components);
}

TEST(names_of_columns, in_a_second_comment_are_reported)
{
  for (std::string const comment : {"vx vy vz m", "id a b c", "velocities: vx vy vz", "vx, vy, vz"})
    for (bool const is_first : {false, true})
    {
      std::string const one = "# x y z q\n", other = "# " + comment + "\n";
      auto const report = read_columns((is_first ? other + one : one + other) + "1 2 3 4\n").report;
      EXPECT_EQ(report.inputs, names{"q"}) << comment;
      EXPECT_EQ(report.left_out, names{"comment '" + comment + "'"});
    }
  for (std::string const prose :
       {"charges and velocities of salt", "of type A", "# half", "x y z q"})
    EXPECT_EQ(read_columns("# x y z q\n# " + prose + "\n1 2 3 4\n").report.left_out, names{})
        << prose;
}

TEST(names_of_columns, of_momenta_need_masses)
{
  std::string const rows = "1,2,3,8,6,4,2\n0,0,0,-5,5,0,5\n";
  auto const [points, report] =
      read_columns("x,y,z,momentum_x,momentum_y,momentum_z,mass\n" + rows);
  EXPECT_EQ(points.velocities, (columns{{4, -1}, {3, 1}, {2, 0}}));
  EXPECT_EQ(points.masses, (std::vector<double>{2, 5}));
  EXPECT_EQ(report.velocities, (names{"momentum_x", "momentum_y", "momentum_z"}));
  EXPECT_FALSE(report.lacks_masses);
  auto const without = read_columns("x,y,z,momentum_x,momentum_y,momentum_z,radius\n" + rows);
  EXPECT_TRUE(without.points.velocities.empty());
  EXPECT_TRUE(without.report.lacks_masses);
  EXPECT_EQ(without.report.left_out[0], "momentum_x (without masses)");
  EXPECT_THAT(message_of([] { read_columns("x,y,momentum_x,momentum_y,m\n0,0,1,0,0\n"); }),
              testing::HasSubstr("line 2: found the momentum 1 of a point of mass 0"));
}
