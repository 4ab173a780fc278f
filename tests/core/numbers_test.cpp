#include <nearfield/core/numbers.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace nearfield::detail;

TEST(numbers, are_written_in_the_shortest_decimals_of_their_precision)
{
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(double(0.1f)), "0.10000000149011612");
  EXPECT_EQ(number_text(-2.0), "-2");
  EXPECT_EQ(number_text(1e-300), "1e-300");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(18446744073709551615u), "18446744073709551615");
}

TEST(numbers, are_written_in_a_format)
{
  EXPECT_EQ(number_text(2.345678, std::chars_format::fixed, 2), "2.35");
  EXPECT_EQ(number_text(1.26e-13, std::chars_format::scientific, 1), "1.3e-13");
  EXPECT_EQ(number_text(12345.0, std::chars_format::general, 3), "1.23e+04");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::max(), std::chars_format::fixed, 17).size(),
            1u + 309 + 1 + 17);
  std::string text = "x = ";
  append_number(text, 0.5);
  EXPECT_EQ(text, "x = 0.5");
}

TEST(numbers, are_read_from_all_of_a_text)
{
  EXPECT_EQ(read_number<double>("-1.5e3"), -1500);
  EXPECT_EQ(read_number<double>("inf"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read_number<double>("nan").value()));
  EXPECT_EQ(read_number<int>("12"), 12);
  for (char const* text : {"", "1 ", " 1", "1x", "+1", "one", "1e999", "0x10"})
    EXPECT_EQ(read_number<double>(text), std::nullopt) << text;
}

TEST(numbers, are_told_from_what_is_none_and_what_is_out_of_range)
{
  double value = 7;
  std::int8_t small = 7;
  for (char const* text : {"", "1 ", "1e999 ", "+1", "one"})
    EXPECT_EQ(read_number(text, value), number_status::not_a_number) << text;
  for (char const* text : {"1e999", "-1e999", "1e-999"})
    EXPECT_EQ(read_number(text, value), number_status::out_of_range) << text;
  EXPECT_EQ(read_number("128", small), number_status::out_of_range);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(small, 7);
  EXPECT_EQ(read_number("-128", small), number_status::good);
  EXPECT_EQ(small, -128);
}
