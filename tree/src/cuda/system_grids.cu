#include "system_grids.cuh"

#include "../gaps.hpp"
#include "../instantiate.hpp"
#include "../systems.hpp"
#include "launch.cuh"
#include "pinned.hpp"
#include "point_errors.cuh"
#include "points.cuh"
#include "system_bounds.cuh"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>

#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

/// \file
/// This file is compiled without contraction: each operation of grids is rounded by itself, as on the host.

namespace nearfield::detail
{
  namespace
  {
    template <class T>
    __global__ void find_systems(system_start<T> const* starts, std::uint32_t n_systems,
                                 bool are_targets, std::uint32_t n, std::uint32_t const* order,
                                 std::uint32_t* of_position, std::uint32_t* of_point)
    {
      std::uint32_t const p = thread_index();
      if (p >= n) return;
      std::uint32_t const s =
          count_before(n_systems,
                       [&](std::uint32_t k)
                       {
                         system_start<T> const& end = starts[k + 1];
                         return (are_targets ? end.first_target : end.first_source) <= p;
                       });
      of_position[p] = s;
      if (order) of_point[order[p]] = s;
    }

    template <class T, int Dim>
    struct made_grids
    {
      cell_grid<T, Dim>* grids;
      device_system* systems;
      device_system_cutoff<T>* cutoffs;
      system_verdict* verdicts;
    };

    inline constexpr int grid_threads = 32; // few, so that all multiprocessors divide

    /// A thread makes the grid of a system.
    template <class T, int Dim>
    __global__ void __launch_bounds__(grid_threads)
        make_grids(system_start<T> const* starts, std::uint32_t n,
                   frames_of_systems<Dim> const frames,
                   __grid_constant__ cell_list_options<T, Dim> const options,
                   system_bounds<Dim> const* bounds, made_grids<T, Dim> const to)
    {
      std::uint32_t const s = blockIdx.x * grid_threads + threadIdx.x;
      if (s >= n) return;
      system_start<T> const begin = starts[s], end = starts[s + 1];
      system_bounds<Dim> const& of = bounds[s];
      cell_frame<Dim> const& frame = frames(s);
      system_verdict verdict{};
      verdict.is_empty =
          begin.first_target == end.first_target && begin.first_source == end.first_source;
      verdict.is_outside = of.is_outside != 0;
      verdict.any_far = of.any_far != 0;
      if ((of.not_finite[0] | of.not_finite[1] | of.too_far[0] | of.too_far[1]) != 0)
      {
        verdict.problem = system_problem::points;
        to.verdicts[s] = verdict;
        return;
      }
      auto const found = verdict.is_empty ? found_bounds<Dim>() : bounds_from(of, frame.is_aligned);
      tried_grid<T, Dim> const made = try_cell_grid(found.along, begin.cutoff, options, frame);
      to.grids[s] = made.grid;
      if (made.problem != grid_problem::none)
      {
        verdict.problem = system_problem::grid;
        verdict.of_grid = made.problem;
        verdict.axis = static_cast<std::uint8_t>(made.axis);
      }
      else
      {
        verdict.most_counter = most_counter(frame, numbers_of(made.grid));
        if (verdict.most_counter > cell_frame<Dim>::max_image)
          verdict.problem = system_problem::sheared;
        std::array<double, Dim> extent{};
        for (int a = 0; a < Dim; ++a)
        {
          extent[a] = found.upper[a] - found.lower[a];
          if (!has_wide_cells(made.grid, options, a)) continue;
          verdict.problem = system_problem::wide;
          verdict.axis = static_cast<std::uint8_t>(a);
        }
        device_system& system = to.systems[s];
        system.geometry = make_cell_geometry<T, Dim>(made.grid, found.lower, extent,
                                                     end.first_target - begin.first_target);
        system.first_target = begin.first_target;
        system.first_source = begin.first_source;
        to.cutoffs[s] = {made.grid.cutoff_squared};
      }
      to.verdicts[s] = verdict;
    }

    inline constexpr int place_threads = 1024;

    /// One block gives all systems their group, cells and images.
    __global__ void __launch_bounds__(place_threads)
        place_systems(device_system* systems, system_verdict const* verdicts, std::uint32_t n,
                      system_room const room, system_mail* mail)
    {
      using scan = cub::BlockScan<unsigned long long, place_threads>;
      __shared__ typename scan::TempStorage scratch;
      __shared__ std::uint32_t group, bad, is_outside, any_far;
      __shared__ unsigned long long most; // of a number that is not negative, the bits are in order
      __shared__ double wide_cells;
      if (threadIdx.x == 0)
      {
        group = ~0u;
        bad = n;
        is_outside = 0;
        any_far = 0;
        most = 0;
        wide_cells = 0;
      }
      __syncthreads();
      double my_most = 0, my_cells = 0;
      for (std::uint32_t s = threadIdx.x; s < n; s += place_threads)
      {
        system_verdict const verdict = verdicts[s];
        if (verdict.problem != system_problem::none)
          atomicMin(&bad, s);
        else if (!verdict.is_empty)
          atomicMin(&group, systems[s].geometry.group);
        if (verdict.is_outside) is_outside = 1;
        if (verdict.any_far) any_far = 1;
        my_most = fmax(my_most, verdict.most_counter);
      }
      // of a warp first: many atomics of 64 bits on one place take long
      for (int lanes = 16; lanes > 0; lanes /= 2)
        my_most = fmax(my_most, __shfl_xor_sync(~0u, my_most, lanes));
      if (threadIdx.x % 32 == 0)
        atomicMax(&most, static_cast<unsigned long long>(__double_as_longlong(my_most)));
      __syncthreads();
      std::uint32_t const of_all = group == ~0u ? 1 : group;
      unsigned long long cells = 0, images = 0;
      for (std::uint32_t first = 0; first < n && bad == n; first += place_threads)
      {
        std::uint32_t const s = first + threadIdx.x;
        unsigned long long own_cells = 0, own_images = 0;
        if (s < n && !verdicts[s].is_empty)
        {
          cell_geometry& g = systems[s].geometry;
          g.set_group(of_all);
          own_cells = g.total_cells();
          own_images = g.n_images;
          my_cells += static_cast<double>(own_cells);
        }
        unsigned long long cells_before, images_before, sum;
        scan(scratch).ExclusiveSum(own_cells, cells_before, sum);
        cells_before += cells;
        cells += sum;
        __syncthreads();
        scan(scratch).ExclusiveSum(own_images, images_before, sum);
        images_before += images;
        images += sum;
        __syncthreads();
        if (s >= n) continue;
        systems[s].first_cell = cells_before;
        systems[s].first_image = static_cast<std::uint32_t>(images_before);
      }
      for (int lanes = 16; lanes > 0; lanes /= 2) my_cells += __shfl_xor_sync(~0u, my_cells, lanes);
      if (threadIdx.x % 32 == 0) atomicAdd(&wide_cells, my_cells);
      __syncthreads();
      if (threadIdx.x != 0) return;
      auto* const to = static_cast<system_mail volatile*>(mail);
      to->found.cells = cells;
      to->found.images = images;
      to->found.bad_system = bad;
      double const most_counter = __longlong_as_double(static_cast<long long>(most));
      bool const is_far = room.most_of_images >= 0 &&
                          (any_far != 0 || most_counter > static_cast<double>(room.most_of_images));
      to->found.is_far = is_far;
      to->found.fits = bad == n && !is_far && wide_cells <= static_cast<double>(room.cells) &&
                       cells <= room.cells && images <= room.images;
      to->is_outside = is_outside;
      to->any_far = any_far;
      to->group = of_all;
      to->wide_cells = wide_cells;
      to->most_counter = most_counter;
      __threadfence_system();
      to->done = 1;
    }

    /// A thread makes an image of a system.
    template <class T, int Dim>
    __global__ void make_tables(frames_of_systems<Dim> const frames, device_system const* systems,
                                cell_grid<T, Dim> const* grids, std::uint32_t n_systems,
                                std::uint32_t n, found_cells const* found, image_move* moves,
                                std::array<T, Dim>* shifts, image_counters<Dim>* counters,
                                std::uint32_t* packed)
    {
      std::uint32_t const k = thread_index();
      if (k >= n || (found && (found->fits == 0 || k >= found->images))) return;
      // systems without points begin where the next one does
      std::uint32_t const of =
          count_before(n_systems, [&](std::uint32_t s) { return systems[s].first_image <= k; }) - 1;
      cell_frame<Dim> const& frame = frames(of);
      auto const image = image_of(frame, numbers_of(grids[of]),
                                  static_cast<std::uint16_t>(k - systems[of].first_image));
      auto const shift = frame.shift(image);
      counters[k] = image;
      packed[k] = packed_word(image);
      moves[k] = move_of<Dim>(image, shift, systems[of].geometry.units_per_length);
#pragma unroll
      for (int a = 0; a < Dim; ++a) shifts[k][a] = static_cast<T>(shift[a]);
    }

    /// A thread for each system. No cells: no box has changed.
    template <class T, int Dim>
    __global__ void make_frames(cell_grid<T, Dim> const* grids, std::uint32_t n,
                                frames_of_systems<Dim> const then, cell<Dim> const* cells,
                                double skin, cell_frame<Dim>* frames, double* most2)
    {
      std::uint32_t const s = thread_index();
      if (s >= n) return;
      std::uint32_t const box = then.is_one ? 0 : s;
      cell_frame<Dim> const now = cells ? with_vectors_of(then(s), cells[box]) : then(s);
      if (s == box) frames[box] = now;
      most2[s] = most_move_squared(grids[s], now, skin);
    }

    template <class T>
    device_array<T> on_device(std::vector<T> const& values, cuda_stream stream, char const* what)
    {
      device_array<T> copy(values.size(), stream, what);
      copy.copy_from(values);
      return copy;
    }

    template <class V>
    bool are_equal(std::vector<V> const& kept, std::span<V const> given)
    {
      return std::equal(kept.begin(), kept.end(), given.begin(), given.end());
    }

    systems_of_set systems_in(std::span<index_type const> order, std::size_t n, cuda_stream stream)
    {
      systems_of_set of;
      char const* const what = "cuda_cell_list: systems";
      of.of_position = device_array<std::uint32_t>(n, stream, what);
      if (order.empty()) return of;
      of.of_point = device_array<std::uint32_t>(n, stream, what);
      of.order = device_array<std::uint32_t>(order, stream);
      return of;
    }

    template <class T, int Dim>
    std::shared_ptr<system_parts<T> const>
    parts_of(device_systems<T, Dim> const& before, systems<Dim> const& given,
             std::array<std::size_t, 2> const& n_points, bool one_set, cuda_stream stream)
    {
      auto const* const old = before.parts.get();
      if (old && are_equal<index_type>(old->offsets, given.offsets) &&
          are_equal<index_type>(old->query_offsets, given.query_offsets) &&
          are_equal<index_type>(old->order, given.order) &&
          are_equal<index_type>(old->query_order, given.query_order) &&
          are_equal<double>(old->cutoffs, given.cutoffs))
        return before.parts;
      executor& here = threads_or_here(nullptr);
      check_order(here, "cuda_cell_list", "order", given.order, given.offsets.back());
      if (!one_set)
        check_order(here, "cuda_cell_list", "query_order", given.query_order,
                    given.query_offsets.back());
      auto const parts = std::make_shared<system_parts<T>>();
      auto const keep = [](auto& to, auto const& from)
      {
        to.assign(from.begin(), from.end());
      };
      keep(parts->offsets, given.offsets);
      keep(parts->query_offsets, given.query_offsets);
      keep(parts->order, given.order);
      keep(parts->query_order, given.query_order);
      keep(parts->cutoffs, given.cutoffs);
      auto const& sources = parts->offsets;
      auto const& targets = one_set ? sources : parts->query_offsets;
      std::size_t const n = sources.size() - 1;
      std::vector<system_start<T>> starts(n + 1);
      for (std::size_t s = 0; s <= n; ++s)
        starts[s] = {s == n ? T(0)
                            : static_cast<T>(given.cutoffs[given.cutoffs.size() == 1 ? 0 : s]),
                     targets[s], sources[s]};
      parts->starts = on_device(starts, stream, "cuda_cell_list: systems");
      for (int set = 0; set < 2; ++set)
      {
        if (n_points[set] == 0) continue;
        auto& of = parts->sets[set];
        of = systems_in(set == 0 && !one_set ? parts->query_order : parts->order, n_points[set],
                        stream);
        auto const points = static_cast<std::uint32_t>(n_points[set]);
        find_systems<<<blocks_for(points, block_threads), block_threads, 0, stream>>>(
            parts->starts.data(), static_cast<std::uint32_t>(n), set == 0, points, of.order.data(),
            of.of_position.data(), of.of_point.data());
        check_cuda(cudaGetLastError(), "cuda_cell_list: find_systems");
      }
      return parts;
    }

    template <int Dim>
    bool are_same(cell<Dim> const& a, cell<Dim> const& b)
    {
      return a.vectors == b.vectors && a.periodic == b.periodic && a.origin == b.origin;
    }
    template <class T, int Dim>
    std::shared_ptr<system_frames<Dim> const> frames_of(device_systems<T, Dim> const& before,
                                                        std::span<cell<Dim> const> cells,
                                                        cuda_stream stream)
    {
      cell<Dim> const open;
      if (cells.empty()) cells = {&open, 1};
      if (before.frames && std::equal(cells.begin(), cells.end(), before.frames->cells.begin(),
                                      before.frames->cells.end(), are_same<Dim>))
        return before.frames;
      auto const made = std::make_shared<system_frames<Dim>>();
      made->cells.assign(cells.begin(), cells.end());
      std::vector<cell_frame<Dim>> frames(cells.size());
      for (std::size_t s = 0; s < cells.size(); ++s)
        in_system(s, [&] { frames[s] = frame_of(cells[s]); });
      made->frames = on_device(frames, stream, "cuda_cell_list: cells");
      return made;
    }

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
    place_systems<<<1, place_threads, 0, stream>>>(of.systems.data(), found.verdicts.data(), n,
                                                   room, mail);
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
