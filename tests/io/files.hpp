#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <unistd.h>

namespace nearfield::test
{
  /// A folder of its own that goes when the test ends.
  class temporary_folder
  {
  public:
    temporary_folder()
    {
      auto pattern = (std::filesystem::temp_directory_path() / "nearfield_io_XXXXXX").string();
      if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder: " + pattern);
      path_ = pattern;
    }
    ~temporary_folder()
    {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;

    [[nodiscard]] std::filesystem::path operator/(std::string const& name) const
    {
      return path_ / name;
    }
    [[nodiscard]] std::filesystem::path const& path() const { return path_; }
    [[nodiscard]] std::ptrdiff_t n_files() const
    {
      return std::distance(std::filesystem::directory_iterator(path_), {});
    }

  private:
    std::filesystem::path path_;
  };

  inline void write_text(std::filesystem::path const& path, std::string const& text)
  {
    std::ofstream file(path, std::ios::binary);
    file << text;
    ASSERT_TRUE(file.good()) << path;
  }

  inline std::string read_text(std::filesystem::path const& path)
  {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The message of the error that `f` throws; any other exception passes through.
  template <class F>
  std::string message_of(F const& f)
  {
    try
    {
      f();
    }
    catch (error const& e)
    {
      return e.what();
    }
    return "no error";
  }

  /// The bytes of values one after another, as a binary file has them.
  template <class... T>
  std::string bytes(T... values)
  {
    std::string out;
    auto const append = [&](auto value)
    {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      out.append(raw, sizeof value);
    };
    (append(values), ...);
    return out;
  }

  /// Points whose values need all digits of f64, some with long or short decimals.
  inline point_set awkward_points(int dim, std::size_t n, std::size_t n_inputs,
                                  std::size_t n_outputs)
  {
    std::uint64_t state = 1;
    auto const next = [&]
    {
      state = state * 6364136223846793005u + 1442695040888963407u;
      auto const u = static_cast<double>(state >> 11) * 0x1p-53;
      switch (state >> 61)
      {
      case 0:
        return 0.0;
      case 1:
        return -1.0;
      case 2:
        return 1e-30 * u;
      case 3:
        return 1e30 * (u - 0.5);
      default:
        return u - 0.5;
      }
    };
    auto const columns = [&](std::size_t k)
    {
      std::vector<std::vector<double>> all(k, std::vector<double>(n));
      for (auto& column : all)
        for (auto& value : column) value = next();
      return all;
    };
    point_set points;
    points.dim = dim;
    points.positions = columns(static_cast<std::size_t>(dim));
    points.inputs = columns(n_inputs);
    points.outputs = columns(n_outputs);
    return points;
  }

  inline void round_to_float(point_set& points)
  {
    for (auto* group : {&points.positions, &points.inputs, &points.outputs})
      for (auto& column : *group)
        for (auto& value : column) value = static_cast<double>(static_cast<float>(value));
  }

  /// The same values, whatever the names and the box.
  inline void expect_same_values(point_set const& a, point_set const& b)
  {
    EXPECT_EQ(a.dim, b.dim);
    EXPECT_EQ(a.positions, b.positions);
    EXPECT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(a.outputs, b.outputs);
  }

  /// A way to lay out the text of a file, for tests with parameters.
  struct layout
  {
    char const* name;
    char const* text;

    friend std::ostream& operator<<(std::ostream& out, layout const& tested)
    {
      return out << tested.name;
    }
  };
}
