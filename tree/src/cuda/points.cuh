#pragma once

#include "geometry.hpp"
#include "systems.cuh"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cstdint>

namespace nearfield::detail
{
  /// The columns of a set of points, as kernels take them.
  template <class T, int Dim>
  struct device_points
  {
    strided_column<T const> x[Dim];
    std::uint32_t n;

    device_points() = default;
    explicit device_points(strided<T const, Dim> const& columns)
        : n(static_cast<std::uint32_t>(columns.size()))
    {
      for (int a = 0; a < Dim; ++a) x[a] = columns[a];
    }

    __device__ std::array<T, Dim> at(std::uint32_t i) const
    {
      std::array<T, Dim> point;
#pragma unroll
      for (int a = 0; a < Dim; ++a) point[a] = x[a][i];
      return point;
    }
  };

  /// The number of a cell in a grid with rows padded to whole groups (cell_geometry).
  template <class T, int Dim>
  __device__ std::uint64_t key_in(cell_grid<T, Dim> const& grid, std::uint32_t row_cells,
                                  std::array<T, Dim> const& x)
  {
    std::uint64_t row = 0;
#pragma unroll
    for (int a = 0; a < Dim - 1; ++a) row = row * grid.cells[a] + grid.index(a, x);
    return row * row_cells + grid.index(Dim - 1, x);
  }

  /// A coordinate in units, modulo 2^32.
  __device__ inline std::uint32_t rounded_units(double units)
  {
    return static_cast<std::uint32_t>(__double2ll_rn(units));
  }

  /// The cells of points, of one grid.
  template <class T, int Dim>
  struct cell_of_point
  {
    cell_grid<T, Dim> grid;
    std::uint32_t row_cells;
    double units_per_length;
    double units_per_cell[Dim];
    double origin[Dim]; ///< of coordinates in units

    /// The pieces of the grid are in device memory.
    cell_of_point(cell_grid<T, Dim> const& g, cell_geometry const& geometry)
        : grid(g), row_cells(geometry.row_cells), units_per_length(geometry.units_per_length)
    {
      for (int a = 0; a < Dim; ++a)
      {
        units_per_cell[a] = units_per_length / grid.inverse_width[a];
        origin[a] = geometry.origin[a];
      }
    }

    __device__ std::uint64_t key(device_points<T, Dim> const& points, std::uint32_t i) const
    {
      return key_in<T, Dim>(grid, row_cells, points.at(i));
    }

    /// The coordinates in units, modulo 2^32, and the index. Without the gaps that are left out: the cells around an
    /// item span few units, wherever a gap ends.
    __device__ uint4 record(device_points<T, Dim> const& points, std::uint32_t i) const
    {
      std::uint32_t u[3] = {0, 0, 0};
#pragma unroll
      for (int a = 0; a < Dim; ++a)
      {
        T const x = points.x[a][i];
        u[3 - Dim + a] = rounded_units(grid.pieces[a].n == 0
                                           ? (static_cast<double>(x) - origin[a]) * units_per_length
                                           : grid.place(a, x) * units_per_cell[a]);
      }
      return make_uint4(u[0], u[1], u[2], i);
    }
  };

  /// The cells of points of a batch, whose grids follow one another.
  template <class T, int Dim>
  struct cell_in_system
  {
    cell_grid<T, Dim> const* grids;
    device_system const* systems;
    std::uint32_t const* of_point; ///< the system of each

    __device__ std::uint64_t key(device_points<T, Dim> const& points, std::uint32_t i) const
    {
      std::uint32_t const s = of_point[i];
      device_system const& system = systems[s];
      return system.first_cell + key_in<T, Dim>(grids[s], system.geometry.row_cells, points.at(i));
    }
    __device__ uint4 record(device_points<T, Dim> const& points, std::uint32_t i) const
    {
      cell_geometry const& g = systems[of_point[i]].geometry;
      std::uint32_t u[3] = {0, 0, 0};
#pragma unroll
      for (int a = 0; a < Dim; ++a)
        u[3 - Dim + a] =
            rounded_units((static_cast<double>(points.x[a][i]) - g.origin[a]) * g.units_per_length);
      return make_uint4(u[0], u[1], u[2], i);
    }
  };
}
