#include <nearfield/tree/permutation.hpp>

#include "points.hpp"

#include <nearfield/tree/build_tree.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using ::testing::AllOf;
    using ::testing::ElementsAre;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;

    std::vector<index_type> const order{2, 0, 3, 1};
  }

  TEST(gather, takes_the_order_of_the_tree)
  {
    std::vector<float> const column{10, 11, 12, 13};
    EXPECT_THAT(gather(order, column), ElementsAre(12, 10, 13, 11));
    std::array<double, 4> to{};
    gather(order, column, to);
    EXPECT_THAT(to, ElementsAre(12, 10, 13, 11));
  }

  TEST(gather, takes_all_columns_of_a_view)
  {
    std::vector<double> const x{0, 1, 2, 3}, y{10, 11, 12, 13};
    auto sorted = gather(order, soa{x, y});
    EXPECT_EQ(sorted.size(), 4);
    EXPECT_THAT(sorted.columns[0], ElementsAre(2, 0, 3, 1));
    EXPECT_THAT(sorted.columns[1], ElementsAre(12, 10, 13, 11));
    EXPECT_EQ(sorted.view()[1], sorted.columns[1].data());
    sorted.view()[0][0] = 7;
    EXPECT_EQ(sorted.columns[0][0], 7);
  }

  template <class View>
  concept can_be_gathered = requires(View const& view) { gather(order, view); };
  static_assert(can_be_gathered<soa<double, 2>>);
  // the type of the result would not say how many columns it has
  static_assert(!can_be_gathered<soa<double, run_time_columns>>);
  static_assert(!can_be_gathered<strided<double, run_time_columns>>);

  TEST(scatter, takes_the_order_of_the_caller)
  {
    std::vector<double> const sorted{12, 10, 13, 11};
    std::vector<double> to(4);
    scatter(order, sorted, to);
    EXPECT_THAT(to, ElementsAre(10, 11, 12, 13));
  }

  TEST(scatter, takes_as_many_columns_as_only_the_run_tells)
  {
    std::vector<double> const sorted_x{2, 0, 3, 1}, sorted_y{12, 10, 13, 11};
    std::vector<double const*> const sorted{sorted_x.data(), sorted_y.data()};
    soa<double const, run_time_columns> const from(sorted, 4);
    std::vector<double> x(4), y(4), xy(8);
    std::vector<double*> const columns{x.data(), y.data()}, first_values{&xy[0], &xy[1]};
    soa<double, run_time_columns> const to(columns, 4);
    scatter(order, from, to);
    EXPECT_THAT(x, ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(y, ElementsAre(10, 11, 12, 13));
    scatter(order, from, strided(soa<double, run_time_columns>(first_values, 4), 2));
    EXPECT_THAT(xy, ElementsAre(0, 10, 1, 11, 2, 12, 3, 13));
    std::ranges::fill(x, -1);
    scatter(order, soa{sorted_y, sorted_x}, to);
    EXPECT_THAT(x, ElementsAre(10, 11, 12, 13));

    EXPECT_THAT([&] { scatter(order, soa{sorted_x}, to); },
                ThrowsMessage<error>(HasSubstr("scatter: from has 1 columns, to has 2")));
    soa<double, run_time_columns> const one{std::span(columns).first(1), 4};
    EXPECT_THAT([&] { scatter(order, from, one); },
                ThrowsMessage<error>(HasSubstr("scatter: from has 2 columns, to has 1")));
  }

  TEST(inverse, leads_from_the_caller_to_the_tree)
  {
    EXPECT_THAT(inverse(order), ElementsAre(1, 3, 0, 2));
    EXPECT_THAT(inverse(inverse(order)), ElementsAre(2, 0, 3, 1));
    EXPECT_TRUE(inverse({}).empty());
  }

  TEST(permutation, of_a_tree_goes_both_ways)
  {
    auto const points = make_points<double, 3>(cloud::plummer, 2000);
    auto const tree = build_tree(points.view(), {.max_leaf_size = 30});
    auto const sorted = gather(tree.target_order(), points.view());
    EXPECT_NE(sorted.columns, points.columns);
    for (int d = 0; d < 3; ++d)
    {
      std::vector<double> back(points.size());
      scatter(tree.target_order(), sorted.columns[d], back);
      EXPECT_EQ(back, points.columns[d]);
      EXPECT_EQ(gather(inverse(tree.target_order()), sorted.columns[d]), points.columns[d]);
    }
  }

  TEST(permutation, refuses_columns_of_another_length)
  {
    std::vector<double> const three(3);
    std::vector<double> four(4), two(2);
    auto const says = [](char const* where, char const* what)
    {
      return ThrowsMessage<error>(AllOf(HasSubstr(where), HasSubstr(what)));
    };
    EXPECT_THAT([&] { (void)gather(order, three); }, says("gather", "from has 3 values"));
    EXPECT_THAT([&] { gather(order, four, two); }, says("gather", "to has 2 values"));
    EXPECT_THAT([&] { scatter(order, three, four); }, says("scatter", "from has 3 values"));
    EXPECT_THAT([&] { scatter(order, four, two); }, says("scatter", "to has 2 values"));
  }
}
