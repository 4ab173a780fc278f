#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>

/// \file
/// The neighbour search of piNNS (D. Tavker, 2018) on a GPU, rewritten from its description, in 2D and
/// 3D: a key per particle, a sort of ids by key, the start and end of each cell, and then either a table
/// of fixed width, or these arrays for the caller to walk. A particle's neighbours are all other
/// particles of the 9 or 27 cells around it: piNNS tests no distances, and so lists about 6.4 times (3D;
/// 2.9 times in 2D) as many as lie within the radius. pinns_test::distance adds the test, to compare
/// results. piNNS does not check for overflow of the rows of its table; here neighbours that do not fit
/// are counted but not written.

namespace baseline
{
  enum class pinns_test
  {
    none,    ///< as in piNNS
    distance ///< only neighbours closer than the radius
  };

  /// What the caller must know in advance: the bounds of all coordinates, the radius, and by how much a
  /// cell is wider than the radius.
  template <class T, int Dim>
  struct pinns_domain
  {
    std::array<T, Dim> smallest, largest;
    T radius;
    T delta = 0;
  };

  /// Particles by cell. Cells are numbered from 0, with the first axis fastest.
  struct pinns_cells
  {
    nearfield::device_array<int> particle_hash; ///< the cells of the sorted particles
    nearfield::device_array<int> particle_id;   ///< the sorted particles
    nearfield::device_array<int> cell_start;    ///< index into particle_id; -1 for an empty cell
    nearfield::device_array<int> cell_end;      ///< one past the last; not set for an empty cell
  };

  /// Fills `cells`, whose memory is reused if it has the right size. Points are in device memory and keep
  /// their order. Throws nearfield::error if the number of cells exceeds the range of int.
  template <class T, int Dim>
  void pinns_build(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells);

  /// Builds `cells`, then the table neighb[i][max_neighbours + 2], row-major in device memory: [1] is the
  /// number of particle i's neighbours, which start at [2]; [0] is not set.
  template <class T, int Dim>
  void pinns_table(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells, int max_neighbours, int* neighb,
                   pinns_test test = pinns_test::none);

  /// A walk through the cells already built, as a user would write it: counts[i] is the number of particle
  /// i's neighbours.
  template <class T, int Dim>
  void pinns_walk(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                  pinns_cells const& cells, int* counts, pinns_test test = pinns_test::none);
}
