#pragma once

#include "../skin.hpp"
#include "device_images.cuh"
#include "reduce.cuh"
#include "systems.cuh"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/cell.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cell_grid.hpp>
#include <nearfield/tree/cuda.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

/// \file
/// The grids of a batch, which the device makes: the same bits as those of the host for each system alone.

namespace nearfield::detail
{
  /// What the host gives of a system; that of system n ends the last one.
  template <class T>
  struct system_start
  {
    T cutoff;
    std::uint32_t first_target, first_source;
  };

  /// The systems of the points of a set.
  struct systems_of_set
  {
    device_array<std::uint32_t> of_position; ///< system after system
    // where points of systems are mixed; otherwise empty, and index and position of a point in one system are the same
    device_array<std::uint32_t> of_point, order;

    /// By index.
    [[nodiscard]] std::uint32_t const* by_point() const
    {
      return order.size() > 0 ? of_point.data() : of_position.data();
    }
  };

  /// Where systems begin, on the host as given and on the device.
  template <class T>
  struct system_parts
  {
    std::vector<index_type> offsets, query_offsets, order, query_order;
    std::vector<double> cutoffs;
    device_array<system_start<T>> starts;
    std::array<systems_of_set, 2> sets;
  };

  /// The frame of each system.
  template <int Dim>
  struct frames_of_systems
  {
    cell_frame<Dim> const* frames;
    bool is_one;

    __device__ cell_frame<Dim> const& operator()(std::uint32_t system) const
    {
      return frames[is_one ? 0 : system];
    }
  };

  /// The boxes of systems, one for all or one for each.
  template <int Dim>
  struct system_frames
  {
    std::vector<cell<Dim>> cells;
    device_array<cell_frame<Dim>> frames;

    [[nodiscard]] frames_of_systems<Dim> view() const
    {
      return {frames.data(), frames.size() == 1};
    }
  };

  /// The frame of each point.
  template <int Dim>
  struct frames_of_points
  {
    frames_of_systems<Dim> frames;
    std::uint32_t const* of_point;

    __device__ cell_frame<Dim> const& operator()(std::uint32_t i) const
    {
      return frames(of_point[i]);
    }
  };

  /// What kernels tell the host, or those after them, of the grids. `done` comes last; it is 0 before.
  struct system_mail
  {
    found_cells found;
    std::uint32_t done;
    std::uint32_t is_outside; ///< whether a point of any is outside its box
    std::uint32_t any_far;    ///< whether a point of any is many boxes away
    std::uint32_t group;
    double wide_cells;   ///< of `found`, where it may need more bits
    double most_counter; ///< the largest counter of an image, without its sign
  };

  /// Where the points of a system are, both sets together, as numbers that atomicMax orders. All zero before.
  template <int Dim>
  struct system_bounds
  {
    /// ordered_bits(x) and ordered_bits(-x), of coordinates and along the normals of an oblique frame
    unsigned long long upper[Dim], lower[Dim], upper_along[Dim], lower_along[Dim];
    /// of each set, 2^32 - 1 - p for the first position p of a point that is not finite, or too far away to count its
    /// images
    std::uint32_t not_finite[2], too_far[2];
    std::uint32_t is_outside;
    std::uint32_t any_far; ///< some point is many boxes away (counters_of_points)
  };

  /// What a kernel finds wrong with a system.
  enum class system_problem : std::uint8_t
  {
    none,
    points,  ///< its bounds say which
    grid,    ///< as tried_grid
    sheared, ///< counters of images are too large
    wide     ///< more cells on an axis than fit
  };
  struct system_verdict
  {
    system_problem problem;
    grid_problem of_grid;
    std::uint8_t axis;
    bool is_empty, is_outside, any_far;
    double most_counter;
    // of its grid
    std::uint64_t rows;
    std::uint32_t cells_of_row, group, images;
  };

  /// What kernels find of each system.
  template <int Dim>
  struct system_findings
  {
    device_array<system_bounds<Dim>> bounds;
    device_array<system_verdict> verdicts;
  };

  /// The most cells and images that there is room for.
  struct system_room
  {
    std::uint64_t cells = ~std::uint64_t(0), images = ~std::uint64_t(0);
    /// the most that a counter of an image may be, if no point may be far away; below 0: they may be
    std::int32_t most_of_images = -1;
  };

  /// The systems of a cell list. What the host gave is shared with the list before, if it is the same.
  template <class T, int Dim>
  struct device_systems
  {
    std::shared_ptr<system_parts<T> const> parts;
    std::shared_ptr<system_frames<Dim> const> frames;
    device_array<cell_grid<T, Dim>> grids;
    device_array<device_system> systems;
    device_array<device_system_cutoff<T>> cutoffs;
    device_images<T, Dim> images;
    std::array<points_in_box<T, Dim>, 2> in_box;
    std::uint64_t cells = 0; ///< of all systems
    std::uint32_t group = 1;

    [[nodiscard]] bool any() const { return parts != nullptr; }
    [[nodiscard]] std::size_t size() const { return parts->offsets.size() - 1; }
    [[nodiscard]] std::uint32_t n() const { return static_cast<std::uint32_t>(size()); }
    /// What they are made of.
    [[nodiscard]] nearfield::systems<Dim> given() const
    {
      return {parts->offsets, parts->query_offsets, parts->cutoffs,
              frames->cells,  parts->order,         parts->query_order};
    }
  };

  /// Brings points into their boxes and makes the grids of systems, waiting once for the device. For one set, sources are
  /// the targets. Throws nearfield::error naming the system.
  template <class T, int Dim>
  device_systems<T, Dim>
  make_systems(device_systems<T, Dim> const& before, nearfield::systems<Dim> const& given,
               cell_list_options<T, Dim> const& options, strided<T const, Dim> const& targets,
               strided<T const, Dim> const& sources, bool one_set, system_mail& mail,
               cuda_stream stream);

  /// The two sets of points, the second one empty if there is only one.
  template <class T, int Dim>
  using two_sets = std::array<strided<T const, Dim>, 2>;

  /// Makes the grids of systems, which have memory for them, and tells `mail`, in host or device memory; without a wait.
  template <class T, int Dim>
  void enqueue_grids(device_systems<T, Dim>& of, two_sets<T, Dim> const& points,
                     cell_list_options<T, Dim> const& options, system_findings<Dim>& found,
                     system_room const& room, system_mail* mail, cuda_stream stream);

  /// Throws nearfield::error, naming the system, for what kernels have found wrong.
  template <class T, int Dim>
  void check_grids(device_systems<T, Dim> const& of, two_sets<T, Dim> const& points, bool one_set,
                   system_findings<Dim> const& found, system_mail const& mail, cuda_stream stream);

  /// Brings the points of a set into their boxes.
  template <class T, int Dim>
  void bring_into_boxes(device_systems<T, Dim> const& of, int set,
                        strided<T const, Dim> const& points, points_in_box<T, Dim>& to,
                        cuda_stream stream);

  /// The images of systems in these frames, into tables that are large enough. `found`, in device memory, says how many
  /// there are; null: as many as the tables have places.
  template <class T, int Dim>
  void fill_tables(device_systems<T, Dim> const& of, frames_of_systems<Dim> const& frames,
                   device_images<T, Dim>& images, found_cells const* found, cuda_stream stream);

  /// The boxes of systems as they are now.
  template <int Dim>
  struct moved_frames
  {
    device_array<cell_frame<Dim>> frames; ///< one for all or one for each
    device_array<double> most2;           ///< of each system, most_move_squared()

    [[nodiscard]] frames_of_systems<Dim> view() const
    {
      return {frames.data(), frames.size() == 1};
    }
  };

  /// No cells: the boxes are as they were. Uses memory of the right size again.
  template <class T, int Dim>
  void make_moved_frames(device_systems<T, Dim> const& of, std::span<cell<Dim> const> cells,
                         double skin, moved_frames<Dim>& to, cuda_stream stream);

  /// Whether boxes are as many and periodic along the same axes.
  template <int Dim>
  bool have_same_axes(std::span<cell<Dim> const> a, std::span<cell<Dim> const> b)
  {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](auto const& x, auto const& y) { return x.periodic == y.periodic; });
  }
}
