#pragma once

#include "io/files.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

/// \file
/// What `nearfield search` has written.

namespace nearfield::test
{
  /// The numbers of a CSV file behind its header, -1 for an empty place.
  inline std::vector<std::vector<std::int64_t>> read_csv(std::filesystem::path const& path,
                                                         std::string const& header)
  {
    std::istringstream lines(read_text(path));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, header);
    std::vector<std::vector<std::int64_t>> rows;
    while (std::getline(lines, line))
    {
      rows.emplace_back();
      std::istringstream row(line + ",");
      for (std::string word; std::getline(row, word, ',');)
        rows.back().push_back(word.empty() ? -1 : std::stoll(word));
    }
    return rows;
  }

  /// The values of a NPY file of that shape.
  inline std::vector<std::int64_t> read_npy(std::filesystem::path const& path,
                                            std::string const& shape)
  {
    std::string const bytes = read_text(path);
    auto const end = bytes.find('\n') + 1;
    EXPECT_TRUE(bytes.substr(10).starts_with(
        "{'descr': '<i8', 'fortran_order': False, 'shape': " + shape + ", }"))
        << bytes.substr(0, end);
    std::vector<std::int64_t> values((bytes.size() - end) / sizeof(std::int64_t));
    EXPECT_EQ(end + values.size() * sizeof(std::int64_t), bytes.size());
    std::memcpy(values.data(), bytes.data() + end, values.size() * sizeof(std::int64_t));
    return values;
  }
}
