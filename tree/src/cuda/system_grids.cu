#include "system_grids.cuh"

#include "../instantiate.hpp"
#include "../systems.hpp"
#include "given_systems.cuh"
#include "launch.cuh"
#include "pinned.hpp"
#include "point_errors.cuh"
#include "points.cuh"
#include "system_kernels.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <algorithm>
#include <string>
#include <utility>

/// \file
/// The grids of systems: the steps around their kernels, and what is wrong with them. Compiled without contraction.

namespace nearfield::detail
{
  namespace
  {
    template <class T, int Dim>
    void complain(std::uint32_t s, device_systems<T, Dim> const& made,
                  device_array<system_verdict> const& verdicts,
                  device_array<system_bounds<Dim>> const& bounds, two_sets<T, Dim> const& sets,
                  bool one_set, cuda_stream stream)
    {
      auto const value = [&](auto const& array)
      {
        auto copy = std::remove_cvref_t<decltype(*array.data())>{};
        device_copy(&copy, array.data() + s, sizeof copy, stream);
        return copy;
      };
      system_verdict const verdict = value(verdicts);
      std::string const axis = std::to_string(verdict.axis);
      if (verdict.problem == system_problem::points)
      {
        system_bounds<Dim> const of = value(bounds);
        // counts from the first one of the system, as on CPUs
        auto const point = [&](int set, std::uint32_t position) -> point_in_question<T, Dim>
        {
          bool const is_query = set == 0 && !one_set;
          auto const& order = is_query ? made.parts->query_order : made.parts->order;
          auto const& offsets = is_query ? made.parts->query_offsets : made.parts->offsets;
          return {sets[set], is_query, order.empty() ? position : order[position],
                  position - offsets[s], stream};
        };
        for (int set = 0; set < 2; ++set)
          if (of.not_finite[set] != 0) complain_of_coordinate(point(set, ~of.not_finite[set]));
        for (int set = 0; set < 2; ++set)
          if (of.too_far[set] != 0) complain_of_image(point(set, ~of.too_far[set]));
      }
      cell_grid<T, Dim> const grid = value(made.grids);
      check_grid<T, Dim>({grid, verdict.of_grid, verdict.axis}, "cuda_cell_list");
      check_counters<Dim>(most_counter(grid.frame, numbers_of(grid)), "cuda_cell_list");
      throw error("cuda_cell_list: along axis " + axis +
                  " the points are so far apart that more than 2^21 cells are needed; search this "
                  "system in a list of its own, or with a larger cutoff");
    }
  }

  template <class T, int Dim>
  device_systems<T, Dim>
  make_systems(device_systems<T, Dim> const& before, systems<Dim> const& given,
               cell_list_options<T, Dim> const& options, strided<T const, Dim> const& targets,
               strided<T const, Dim> const& sources, bool one_set, system_mail& mail,
               cuda_stream stream)
  {
    check_columns<T, Dim>("points", sources);
    check_columns<T, Dim>("queries", targets);
    check_systems("cuda_cell_list", given, one_set);
    check_no_box("cuda_cell_list", options);
    check_last("cuda_cell_list", "points", given.offsets, sources.size());
    if (!one_set) check_last("cuda_cell_list", "queries", given.query_offsets, targets.size());
    for (std::size_t s = 0; s < given.cutoffs.size(); ++s)
      in_system(s, [&] { check_cell_options(static_cast<T>(given.cutoffs[s]), options); });
    device_systems<T, Dim> made;
    two_sets<T, Dim> const sets{targets, one_set ? strided<T const, Dim>() : sources};
    made.parts = parts_of<T, Dim>(before, given, {sets[0].size(), sets[1].size()}, one_set, stream);
    made.frames = frames_of<T, Dim>(before, given.cells, stream);
    std::uint32_t const n = made.n();
    if (n == 0) return made;
    char const* const what = "cuda_cell_list: systems";
    system_findings<Dim> found{device_array<system_bounds<Dim>>(n, stream, what),
                               device_array<system_verdict>(n, stream, what)};
    made.grids = device_array<cell_grid<T, Dim>>(n, stream, what);
    made.systems = device_array<device_system>(n, stream, what);
    made.cutoffs = device_array<device_system_cutoff<T>>(n, stream, what);
    static_cast<system_mail volatile&>(mail).done = 0;
    enqueue_grids<T, Dim>(made, sets, options, found, {}, &mail, stream);
    wait_for_word(mail.done, stream, "cuda_cell_list: place_systems");
    check_grids<T, Dim>(made, sets, one_set, found, mail, stream);
    made.cells = mail.found.cells;
    made.group = mail.group;
    if (std::uint64_t const images = mail.found.images; images > 0)
    {
      made.images =
          device_images<T, Dim>(images, static_cast<std::int32_t>(mail.most_counter), stream);
      fill_tables<T, Dim>(made, made.frames->view(), made.images, nullptr, stream);
    }
    for (int set = 0; set < 2; ++set)
    {
      if (mail.is_outside == 0 && options.skin == 0) continue;
      bring_into_boxes<T, Dim>(made, set, sets[set], made.in_box[set], stream);
      made.in_box[set].are_near = mail.any_far == 0;
    }
    return made;
  }

  template <class T, int Dim>
  void enqueue_grids(device_systems<T, Dim>& of, two_sets<T, Dim> const& sets,
                     cell_list_options<T, Dim> const& options, system_findings<Dim>& found,
                     system_room const& room, system_mail* mail, cuda_stream stream)
  {
    std::uint32_t const n = of.n();
    frames_of_systems<Dim> const frames = of.frames->view();
    system_bounds<Dim>* const bounds = found.bounds.data();
    device_clear(bounds, n * sizeof(system_bounds<Dim>), stream);
    for (int set = 0; set < 2; ++set)
    {
      device_points<T, Dim> const points(sets[set]);
      if (points.n == 0) continue;
      // few warps, since their atomics wait for each other where a system is large
      unsigned const most_warps = 32 * multiprocessors();
      unsigned const per_warp = std::max(1u, blocks_for(points.n, 32) / most_warps) * 32;
      unsigned const warps = blocks_for(points.n, static_cast<int>(per_warp));
      find_system_bounds<T, Dim>
          <<<blocks_for(warps, block_threads / 32), block_threads, 0, stream>>>(
              points, of.parts->sets[set].of_position.data(), of.parts->sets[set].order.data(),
              frames, set, per_warp, bounds);
      check_cuda(cudaGetLastError(), "cuda_cell_list: find_system_bounds");
    }
    make_grids<T, Dim><<<blocks_for(n, grid_threads), grid_threads, 0, stream>>>(
        of.parts->starts.data(), n, frames, options, bounds,
        {of.grids.data(), of.systems.data(), of.cutoffs.data(), found.verdicts.data()});
    check_cuda(cudaGetLastError(), "cuda_cell_list: make_grids");
    place_systems<<<blocks_for(n, place_threads), place_threads, 0, stream>>>(
        of.systems.data(), found.verdicts.data(), n, room, mail);
    check_cuda(cudaGetLastError(), "cuda_cell_list: place_systems");
  }

  template <class T, int Dim>
  void check_grids(device_systems<T, Dim> const& of, two_sets<T, Dim> const& sets, bool one_set,
                   system_findings<Dim> const& found, system_mail const& mail, cuda_stream stream)
  {
    if (std::uint32_t const bad = mail.found.bad_system; bad < of.n())
      in_system(bad,
                [&] { complain(bad, of, found.verdicts, found.bounds, sets, one_set, stream); });
    if (mail.wide_cells > 0x1p62 || mail.found.images >= std::uint64_t(1) << 31)
      throw error("cuda_cell_list: the " + std::to_string(of.n()) + " systems have " +
                  number_text(mail.wide_cells) + " cells and " + std::to_string(mail.found.images) +
                  " images; give fewer systems at once");
  }

  template <class T, int Dim>
  void bring_into_boxes(device_systems<T, Dim> const& of, int set,
                        strided<T const, Dim> const& points, points_in_box<T, Dim>& to,
                        cuda_stream stream)
  {
    if (points.size() == 0) return;
    bring_into_box(device_points<T, Dim>(points),
                   frames_of_points<Dim>{of.frames->view(), of.parts->sets[set].by_point()},
                   nullptr, nullptr, to, stream);
  }

  template <class T, int Dim>
  void fill_tables(device_systems<T, Dim> const& of, frames_of_systems<Dim> const& frames,
                   device_images<T, Dim>& images, found_cells const* found, cuda_stream stream)
  {
    auto const n = static_cast<std::uint32_t>(images.size());
    if (n == 0) return;
    make_tables<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        frames, of.systems.data(), of.grids.data(), of.n(), n, found, images.moves(),
        images.shifts(), images.counters(), images.packed());
    check_cuda(cudaGetLastError(), "cuda_cell_list: make_tables");
  }

  template <class T, int Dim>
  void make_moved_frames(device_systems<T, Dim> const& of, std::span<cell<Dim> const> cells,
                         double skin, moved_frames<Dim>& to, cuda_stream stream)
  {
    char const* const what = "cuda_cell_list: cells";
    std::uint32_t const n = of.n();
    if (n == 0) return;
    device_array<cell<Dim>> const on_gpu(cells, stream);
    if (std::size_t const n_frames = of.frames->cells.size(); to.frames.size() != n_frames)
      to.frames = device_array<cell_frame<Dim>>(n_frames, stream, what);
    if (to.most2.size() != n) to.most2 = device_array<double>(n, stream, what);
    make_frames<T, Dim><<<blocks_for(n, block_threads), block_threads, 0, stream>>>(
        of.grids.data(), n, of.frames->view(), on_gpu.data(), skin, to.frames.data(),
        to.most2.data());
    check_cuda(cudaGetLastError(), "cuda_cell_list: make_frames");
  }

#define NEARFIELD_INSTANTIATE(T, Dim)                                                              \
  template device_systems<T, Dim> make_systems(                                                    \
      device_systems<T, Dim> const&, systems<Dim> const&, cell_list_options<T, Dim> const&,        \
      strided<T const, Dim> const&, strided<T const, Dim> const&, bool, system_mail&,              \
      cuda_stream);                                                                                \
  template void enqueue_grids(device_systems<T, Dim>&, two_sets<T, Dim> const&,                    \
                              cell_list_options<T, Dim> const&, system_findings<Dim>&,             \
                              system_room const&, system_mail*, cuda_stream);                      \
  template void check_grids(device_systems<T, Dim> const&, two_sets<T, Dim> const&, bool,          \
                            system_findings<Dim> const&, system_mail const&, cuda_stream);         \
  template void bring_into_boxes(device_systems<T, Dim> const&, int, strided<T const, Dim> const&, \
                                 points_in_box<T, Dim>&, cuda_stream);                             \
  template void fill_tables(device_systems<T, Dim> const&, frames_of_systems<Dim> const&,          \
                            device_images<T, Dim>&, found_cells const*, cuda_stream);              \
  template void make_moved_frames(device_systems<T, Dim> const&, std::span<cell<Dim> const>,       \
                                  double, moved_frames<Dim>&, cuda_stream);
  NEARFIELD_FOR_EACH_REAL_AND_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
