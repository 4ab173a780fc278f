#include "files.hpp"

#include <nearfield/io/points.hpp>

#include <algorithm>
#include <numeric>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  std::filesystem::path const acetylcholine_binding_protein =
      "/usr/share/apbs/examples/misc/achbp.pqr";
}

TEST(real_data, acetylcholine_binding_protein_of_apbs_data)
{
  if (!std::filesystem::exists(acetylcholine_binding_protein))
    GTEST_SKIP() << "the package apbs-data is not installed: " << acetylcholine_binding_protein;
  auto const points = read_points(acetylcholine_binding_protein);
  EXPECT_EQ(points.size(), 16090u);
  auto const& q = points.inputs.at(0);
  EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), -49.67, 1e-9);
  EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double x) { return x > 0; }), 9885);
  EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double x) { return x < 0; }), 6205);

  temporary_folder const folder;
  for (auto const* name : {"a.fma", "a.bfma", "a.csv"})
  {
    write_points(folder / name, points);
    expect_same_values(read_points(folder / name), points);
  }
}

TEST(real_data, every_pqr_file_of_apbs_data_reads)
{
  std::filesystem::path const folder = "/usr/share/apbs/examples";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "the package apbs-data is not installed: " << folder;
  std::size_t n = 0;
  for (auto const& entry : std::filesystem::recursive_directory_iterator(folder))
  {
    if (entry.path().extension() != ".pqr") continue;
    EXPECT_GT(read_points(entry.path()).size(), 0u) << entry.path();
    ++n;
  }
  EXPECT_GT(n, 0u);
}

TEST(real_data, lammps_examples)
{
  std::filesystem::path const folder = "/usr/share/lammps/examples";
  auto const water_collapse = folder / "PACKAGES/sph/water_collapse/data.initial";
  if (!std::filesystem::exists(water_collapse))
    GTEST_SKIP() << "the package lammps-examples is not installed: " << water_collapse;
  auto const sph = read_points(water_collapse, {.dim = 2, .atom_style = "sph"});
  EXPECT_EQ(sph.size(), 15702u);
  EXPECT_EQ(sph.dim, 2);

  auto const water = read_points(folder / "gcmc/data.spce");
  EXPECT_EQ(water.size(), 8640u);
  auto const& q = water.inputs.at(0);
  EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 0, 1e-9);
}
