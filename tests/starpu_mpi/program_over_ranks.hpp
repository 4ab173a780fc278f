#pragma once

#include "program.hpp"
#include "read_json.hpp"

#include <nearfield/io/points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

/// \file
/// The program over ranks, and on one process.

namespace nearfield::test
{
  inline std::vector<std::string> mpirun(int n)
  {
    return {NEARFIELD_MPIEXEC, "--quiet", "--oversubscribe", "-np", std::to_string(n)};
  }

  inline ending run_over(int n, std::vector<std::string> arguments, char const* command = "run")
  {
    arguments.insert(arguments.begin(), command);
    return program(arguments, {}, mpirun(n)).wait();
  }

  inline ending run_alone(std::vector<std::string> arguments, char const* command = "run")
  {
    arguments.insert(arguments.begin(), command);
    return run_program(arguments);
  }

  inline point_set uniform_points(std::size_t n)
  {
    auto points = awkward_points(3, n, 1, 0);
    double i = 0;
    for (auto& column : points.positions)
      for (double& x : column) x = std::fmod(0.6180339887 * i * std::sqrt(i), 1.), ++i;
    for (double& q : points.inputs[0]) q = std::fmod(0.31 * ++i, 1.) - 0.4;
    return points;
  }

  inline void expect_near(point_set const& got, point_set const& wanted, double tolerance)
  {
    EXPECT_EQ(got.positions, wanted.positions);
    EXPECT_EQ(got.inputs, wanted.inputs);
    EXPECT_EQ(got.output_names, wanted.output_names);
    ASSERT_EQ(got.outputs.size(), wanted.outputs.size());
    for (std::size_t c = 0; c < got.outputs.size(); ++c)
    {
      double largest = 0;
      for (double const value : wanted.outputs[c]) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got.outputs[c][i], wanted.outputs[c][i], tolerance * largest) << "point " << i;
    }
  }

  /// What the JSON of any number of ranks says: no times, no machine, and nothing of workers.
  inline json_values fields_of(std::filesystem::path const& file)
  {
    auto fields = read_json(file);
    std::erase_if(fields,
                  [](auto const& field)
                  {
                    for (char const* start :
                         {"seconds.", "machine.", "tasks", "workers", "runtime", "ranks",
                          "peak_memory", "bytes", "check.max_", "check.plain_"})
                      if (field.first.starts_with(start)) return true;
                    return false;
                  });
    return fields;
  }

  /// One line, that of one process, and no file.
  inline void expect_the_refusal(temporary_folder const& folder,
                                 std::vector<std::string> const& arguments,
                                 char const* command = "run")
  {
    auto const n_files = folder.n_files();
    auto const alone = run_alone(arguments, command), over = run_over(2, arguments, command);
    expect_refusal(over, "");
    EXPECT_EQ(over.err, own_messages(alone));
    EXPECT_EQ(folder.n_files(), n_files);
  }
}
