#include "complains_of.hpp"
#include "random_cells.hpp"

#include <nearfield/core/cell.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class T>
    class wraps : public ::testing::Test
    {};
    using reals = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(wraps, reals);
  }

  TYPED_TEST(wraps, into_a_box_without_its_upper_end)
  {
    using T = TypeParam;
    constexpr T eps = std::numeric_limits<T>::epsilon();
    constexpr T tiny = std::numeric_limits<T>::denorm_min();
    for (T const length : {T(4.5274), T(1), T(0.1), T(1e-6), T(3e7)})
      for (T const lower : {T(0), T(-2.25), T(17), T(-length / 2)})
      {
        T const upper = lower + length;
        std::vector<T> x{-tiny,
                         T(-1e-17),
                         lower,
                         upper,
                         std::nextafter(upper, lower),
                         upper + eps,
                         std::nextafter(lower, T(-1e30)),
                         T(1e9),
                         T(-1e9),
                         lower - 3 * length,
                         T(0)};
        auto const given = x;
        std::vector<T> y(x.size(), T(5));
        wrap(soa{x, y}, {double(length), 0.}, {double(lower), 0.});
        for (std::size_t i = 0; i < x.size(); ++i)
        {
          ASSERT_GE(x[i], lower) << given[i];
          ASSERT_LT(x[i], upper) << given[i];
          EXPECT_EQ(y[i], T(5));
          if (given[i] >= lower && given[i] < upper)
          {
            EXPECT_EQ(x[i], given[i]);
          }
          // by whole lengths, as far as the coordinates tell
          double const turns = (double(given[i]) - double(x[i])) / double(length);
          double const error = 4 * double(eps) *
                               std::max({std::abs(double(given[i])), std::abs(double(upper)),
                                         std::abs(double(lower))}) /
                               double(length);
          EXPECT_NEAR(turns, std::round(turns), error + 1e-12) << given[i];
        }
      }
  }

  TYPED_TEST(wraps, exactly_from_far_away)
  {
    using T = TypeParam;
    std::vector<T> x{T(1 << 20) + T(0.25), -T(1 << 20) - T(0.25), T(3e30)};
    wrap(soa{x}, {1.});
    EXPECT_EQ(x, (std::vector<T>{T(0.25), T(0.75), T(0)}));
    T const most = std::numeric_limits<T>::max();
    x = {most, -most, most / 2}; // the differences from the lower end overflow
    wrap(soa{x}, std::array<T, 1>{most / 2}, {-most / 2});
    EXPECT_EQ(x, (std::vector<T>{-most / 2, -most / 2, -most / 2}));
    T const half = std::ldexp(T(0.5), std::numeric_limits<T>::max_exponent - 1);
    x = {3 * half}; // which is -half and four lengths
    wrap(soa{x}, std::array<T, 1>{half}, {-half - half / 4});
    EXPECT_EQ(x, std::vector<T>{-half});
  }

  TYPED_TEST(wraps, rows_of_any_stride)
  {
    using T = TypeParam;
    // x y and something else
    std::vector<T> rows{T(-0.5), T(12), T(99), T(3.5), T(-1), T(-99)};
    wrap(matrix_columns<2>(rows.data(), 2, 3, 1), {3., 10.});
    EXPECT_EQ(rows, (std::vector<T>{T(2.5), T(2), T(99), T(0.5), T(9), T(-99)}));
  }

  TYPED_TEST(wraps, nothing_that_is_wrong)
  {
    using T = TypeParam;
    std::vector<T> x{T(-1), T(2)}, y{T(0), std::numeric_limits<T>::quiet_NaN()};
    auto const given = x;
    auto const of = [&](std::array<double, 2> const& period, std::array<double, 2> const& lower)
    {
      return [&x, &y, period, lower]
      {
        wrap(soa{x, y}, period, lower);
      };
    };
    EXPECT_THAT(of({1, 1}, {}), complains_of("wrap: coordinate 1 of point 1 is nan"));
    std::swap(y[0], y[1]);
    EXPECT_THAT(of({1, 1}, {}), complains_of("wrap: coordinate 1 of point 0 is nan"));
    EXPECT_THAT(of({-1, 0}, {}), complains_of("axis 0", "is -1 long"));
    EXPECT_THAT(of({INFINITY, 0}, {}), complains_of("axis 0", "inf long"));
    EXPECT_THAT(of({NAN, 0}, {}), complains_of("axis 0", "nan long"));
    EXPECT_THAT(of({1, 0}, {INFINITY, 0}), complains_of("begins at inf"));
    EXPECT_THAT(of({1, 0}, {1e30, 0}), complains_of("the length 1 of axis 0", "1e+30"));
    EXPECT_EQ(x, given);
    wrap(soa{x, y}, {1.5, 0.});
    EXPECT_EQ(x, (std::vector<T>{T(0.5), T(0.5)}));
  }

  template <class T, int Dim>
  void expect_reduced()
  {
    random_numbers random(5);
    for (std::uint64_t k = 0; k < number_of_cells(100); ++k)
    {
      auto const box = random_cell<Dim>(random, 1);
      detail::cell_frame<Dim> const frame(box);
      constexpr std::size_t n = 50;
      // rows with something behind the coordinates, and counters in columns
      std::vector<T> rows((Dim + 1) * n);
      for (T& x : rows) x = static_cast<T>(random.uniform(-9, 9));
      auto const given = rows;
      std::array<std::vector<std::int32_t>, Dim> images;
      for (auto& column : images) column.assign(n, 99);
      auto const view = matrix_columns<Dim>(rows.data(), n, Dim + 1, 1);
      if constexpr (Dim == 2)
        wrap(view, box, soa{images[0], images[1]});
      else
        wrap(view, box, soa{images[0], images[1], images[2]});
      for (std::size_t i = 0; i < n; ++i)
      {
        std::array<T, Dim> x;
        std::copy_n(&given[(Dim + 1) * i], Dim, x.begin());
        auto const expected = frame.reduce(x);
        for (int d = 0; d < Dim; ++d)
        {
          EXPECT_EQ(rows[(Dim + 1) * i + d], expected.at[d]);
          EXPECT_EQ(images[d][i], expected.image[d]);
        }
        EXPECT_EQ(rows[(Dim + 1) * i + Dim], given[(Dim + 1) * i + Dim]);
      }
      auto without = given;
      wrap(matrix_columns<Dim>(without.data(), n, Dim + 1, 1), box);
      EXPECT_EQ(without, rows);
    }
  }

  TYPED_TEST(wraps, into_the_reduced_cell_of_any_box)
  {
    expect_reduced<TypeParam, 2>();
    expect_reduced<TypeParam, 3>();
  }

  TYPED_TEST(wraps, along_the_vectors_of_a_box)
  {
    using T = TypeParam;
    cell<2> const sheared{.vectors = {{{4, 0}, {1, 3}}}, .periodic = {true, true}};
    std::vector<T> x{T(1), T(5.5), T(-4)}, y{T(1), T(3.5), T(0)};
    std::vector<std::int32_t> a(3), b(3);
    wrap(soa{x, y}, sheared, soa{a, b});
    EXPECT_EQ(x, (std::vector<T>{T(1), T(0.5), T(0)}));
    EXPECT_EQ(y, (std::vector<T>{T(1), T(0.5), T(0)}));
    EXPECT_EQ(a, (std::vector<std::int32_t>{0, 1, -1}));
    EXPECT_EQ(b, (std::vector<std::int32_t>{0, 1, 0}));
  }

  TYPED_TEST(wraps, no_box_and_no_point_that_is_wrong)
  {
    using T = TypeParam;
    T const nan = std::numeric_limits<T>::quiet_NaN();
    cell<2> const strip{.vectors = {{{2, 0}, {}}}, .periodic = {true, false}};
    std::vector<T> x{T(-1), T(2)}, y{T(0), nan};
    auto const given = x;
    std::vector<std::int32_t> one(1), two(2);
    EXPECT_THAT([&] { wrap(soa{y, x}, strip); },
                complains_of("wrap: coordinate 0 of point 1 is nan"));
    y[1] = T(1e30);
    EXPECT_THAT([&] { wrap(soa{y, x}, strip); }, complains_of("wrap: point 1", "2^29 boxes away"));
    EXPECT_THAT([&] { wrap(soa{x, y}, cell<2>{.periodic = {true, true}}); },
                complains_of("cell: vector 0"));
    EXPECT_THAT([&] { wrap(soa{x, y}, strip, soa{one, one}); },
                complains_of("wrap: images has 1 rows", "expected 2"));
    EXPECT_EQ(x, given);
    y[1] = nan; // along an open axis
    wrap(soa{x, y}, strip, soa{two, two});
    EXPECT_EQ(x, (std::vector<T>{T(1), T(0)}));
  }
}
