#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <array>

/// \file
/// The neighbour search of piNNS (D. Tavker, 2018) on a GPU, re-expressed from its description, in
/// 2D and 3D: a key a particle, a sort of ids by key, where each cell starts and ends, and then
/// either a table of a fixed width, or these arrays for the caller to walk. A particle's neighbours
/// are all other particles of the 9 or 27 cells around its own: piNNS tests no distance, and so
/// lists about 6.4 times (3D; 2.9 times in 2D) as many as lie within the radius.
/// pinns_test::distance adds the test, to compare results. Nor does piNNS check that a row of its
/// table is long enough; here what would not fit is counted, and not written.

namespace baseline
{
  enum class pinns_test
  {
    none,    ///< as piNNS has it
    distance ///< only what is closer than the radius
  };

  /// What the caller has to know before: the bounds of all coordinates, the radius, and by how much
  /// a cell is wider than that.
  template <class T, int Dim>
  struct pinns_domain
  {
    std::array<T, Dim> smallest, largest;
    T radius;
    T delta = 0;
  };

  /// Particles by cell. Cells count from 0, the first axis is the fastest.
  struct pinns_cells
  {
    nearfield::device_array<int> particle_hash; ///< the cells of the sorted particles
    nearfield::device_array<int> particle_id;   ///< the sorted particles
    nearfield::device_array<int> cell_start;    ///< into particle_id; -1 where a cell is empty
    nearfield::device_array<int> cell_end; ///< one past the last; not set where a cell is empty
  };

  /// Fills `cells`, whose memory is used again where it fits. Points are in device memory and stay
  /// where they are. Throws error where an int does not count the cells.
  template <class T, int Dim>
  void pinns_build(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells);

  /// The table neighb[i][max_neighbours + 2], row after row in device memory: [1] is the number of
  /// particle i's neighbours, which follow from [2] on; [0] is not set. `cells` is built on the
  /// way.
  template <class T, int Dim>
  void pinns_table(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells, int max_neighbours, int* neighb,
                   pinns_test test = pinns_test::none);

  /// A walk through cells that are built, as the caller would write it: counts[i] is the number of
  /// particle i's neighbours.
  template <class T, int Dim>
  void pinns_walk(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                  pinns_cells const& cells, int* counts, pinns_test test = pinns_test::none);
}
