#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <functional>
#include <limits>
#include <ostream>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  struct mistake
  {
    char const* name;
    std::function<void(point_set&)> make;
    char const* culprit;
  };

  std::ostream& operator<<(std::ostream& out, mistake const& tested)
  {
    return out << tested.name;
  }

  class wrong_point_set : public testing::TestWithParam<mistake>
  {};
}

TEST(point_set, good_ones_pass_the_check)
{
  auto points = awkward_points(2, 5, 2, 1);
  EXPECT_NO_THROW(check(points));
  points.box = point_set::bounding_box{{0, 0}, 1};
  points.outputs[0][0] = std::numeric_limits<double>::infinity();
  EXPECT_NO_THROW(check(points));
}

TEST_P(wrong_point_set, is_named)
{
  auto points = awkward_points(3, 5, 1, 1);
  GetParam().make(points);
  EXPECT_THAT(message_of([&] { check(points); }), testing::StartsWith(GetParam().culprit));
}

INSTANTIATE_TEST_SUITE_P(
    point_set, wrong_point_set,
    testing::Values(
        mistake{"dim", [](point_set& p) { p.dim = 4; }, "point_set.dim: found 4"},
        mistake{"positions", [](point_set& p) { p.dim = 2; }, "point_set.positions: found 3"},
        mistake{"length", [](point_set& p) { p.inputs[0].pop_back(); },
                "point_set.inputs[0]: found 4"},
        mistake{"nan", [](point_set& p) { p.positions[1][3] = std::nan(""); },
                "point_set.positions[1]: found nan at point 3"},
        mistake{"velocities", [](point_set& p) { p.velocities = {{1}, {2}}; },
                "point_set.velocities: found 2 columns, expected dim = 3, or none"},
        mistake{"velocity_inf",
                [](point_set& p)
                {
                  p.velocities = p.positions;
                  p.velocities[2][4] = HUGE_VAL;
                },
                "point_set.velocities[2]: found inf at point 4"},
        mistake{"masses", [](point_set& p) { p.masses = {1, 2}; }, "point_set.masses[0]: found 2"},
        mistake{"inf", [](point_set& p) { p.masses.assign(p.size(), HUGE_VAL); },
                "point_set.masses[0]: found inf at point 0"},
        mistake{"names", [](point_set& p) { p.output_names = {"a", "b"}; },
                "point_set.output_names: found 2"},
        mistake{"centre", [](point_set& p) { p.box = point_set::bounding_box{{0, 0}, 1}; },
                "point_set.box.centre: found 2"},
        mistake{"centre_nan",
                [](point_set& p) { p.box = point_set::bounding_box{{0, 0, std::nan("")}, 1}; },
                "point_set.box.centre: found nan"},
        mistake{"half_width_inf",
                [](point_set& p) { p.box = point_set::bounding_box{{0, 0, 0}, HUGE_VAL}; },
                "point_set.box.half_width: found inf"},
        mistake{"half_width", [](point_set& p) { p.box = point_set::bounding_box{{0, 0, 0}, 0}; },
                "point_set.box.half_width: found 0"}));

TEST(point_set, columns_without_names_get_them)
{
  auto points = awkward_points(2, 0, 2, 1);
  EXPECT_EQ(column_names(points), (std::vector<std::string>{"x", "y", "q1", "q2", "phi"}));
  points.output_names = {"gx"};
  EXPECT_EQ(column_names(points).back(), "gx");
}

TEST(periodic_cell, has_lengths_where_it_is_a_box_along_the_axes)
{
  using lengths = std::optional<std::array<double, 3>>;
  auto const of = [](auto... vectors)
  {
    return file_report::periodic_cell{.vectors = {{vectors...}}}.lengths();
  };
  using v = std::array<double, 3>;
  EXPECT_EQ(of(v{}, v{}, v{}), lengths({0, 0, 0}));
  EXPECT_EQ(of(v{2, 0, 0}, v{0, 3, 1e-12 * 4}, v{0, 0, 4}), lengths({2, 3, 4}));
  EXPECT_EQ(of(v{2, 0, 0}, v{0, 3, 2e-12 * 4}, v{0, 0, 4}), std::nullopt);
  EXPECT_EQ(of(v{2, 0, 0}, v{0, -3, 0}, v{0, 0, 4}), std::nullopt);
  EXPECT_EQ(of(v{2, 0, 0}, v{0, 3, std::nan("")}, v{0, 0, 4}), std::nullopt);
  file_report::periodic_cell const slab{.vectors = {{{2, 0, 0}, {0, 3, 0}, {0, 0, 4}}},
                                        .periodic = std::array{true, true, false}};
  EXPECT_EQ(slab.lengths(), lengths({2, 3, 0}));
}

TEST(periodic_cell, is_a_box_for_trees_and_lists)
{
  using v = std::array<double, 3>;
  file_report::periodic_cell given{.origin = {1, 2, 3}, .vectors = {{v{4, 0, 0}, v{1, 5, 0}, v{}}}};
  auto const box = given.box();
  EXPECT_EQ(box.vectors, given.vectors);
  EXPECT_EQ(box.origin, given.origin);
  EXPECT_EQ(box.periodic, (std::array{true, true, false})); // the file does not say
  given.periodic = {false, true, true};
  EXPECT_EQ(given.box().periodic, (std::array{false, true, true}));
  // along the axes but for rounding
  given.vectors = {v{4, 0, 1e-16}, v{0, 5, 0}, v{-1e-16, 0, 6}};
  EXPECT_EQ(given.box().vectors, (std::array{v{4, 0, 0}, v{0, 5, 0}, v{0, 0, 6}}));
}
