#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace nearfield::fuzz
{
  inline void require(bool good, char const* what)
  {
    if (good) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
  }

  inline bool same(std::vector<std::vector<double>> const& a,
                   std::vector<std::vector<double>> const& b)
  {
    if (a.size() != b.size()) return false;
    for (std::size_t c = 0; c < a.size(); ++c)
    {
      if (a[c].size() != b[c].size()) return false;
      for (std::size_t i = 0; i < a[c].size(); ++i)
      {
        bool const both_nan = std::isnan(a[c][i]) && std::isnan(b[c][i]);
        if (!both_nan &&
            std::bit_cast<std::uint64_t>(a[c][i]) != std::bit_cast<std::uint64_t>(b[c][i]))
          return false;
      }
    }
    return true;
  }

  inline void require_same(point_set const& a, point_set const& b)
  {
    require(a.dim == b.dim, "the dimension comes back");
    require(same(a.positions, b.positions), "positions come back");
    require(same(a.inputs, b.inputs), "inputs come back");
    require(same(a.outputs, b.outputs), "outputs come back");
  }

  /// Writes the points and reads them back. Points too far apart have no finite box, and so no FMA file.
  inline void require_round_trips(point_set const& points)
  {
    require_same(points, parse_columns(format_csv(points), "again.csv"));
    std::string text, binary;
    try
    {
      text = format_fma(points);
      binary = format_bfma(points);
    }
    catch (error const&)
    {
      return;
    }
    require_same(points, parse_fma(text, "again.fma"));
    require_same(points, parse_fma(binary, "again.bfma"));
  }

  /// For any bytes, a parser must return a point_set that passes check() and can be written and read back, or
  /// throw a one-line error that names the file.
  template <class Parse>
  int run(std::uint8_t const* data, std::size_t size, Parse const& parse)
  {
    std::string_view const content(reinterpret_cast<char const*>(data), size);
    point_set points;
    try
    {
      points = parse(content, std::string("the.file"));
    }
    catch (error const& e)
    {
      std::string_view const what = e.what();
      require(what.starts_with("the.file: "), "the message names the file");
      require(what.find(", expected ") != what.npos, "the message says what was expected");
      for (char const c : what) require(c >= 0x20 && c < 0x7f, "the message is one printable line");
      return 0;
    }
    check(points);
    require_round_trips(points);
    return 0;
  }
}
