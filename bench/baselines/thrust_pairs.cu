#include "thrust_pairs.hpp"

#include "counted_memory.cuh"
#include "half_search.hpp"

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <limits>
#include <string>

namespace baseline
{
  namespace
  {
    using thrust::counting_iterator;

    template <class T>
    struct cell_of_point
    {
      padded_grid<T> grid;
      T const *x, *y, *z;
      __host__ __device__ int operator()(int i) const { return grid.cell(x[i], y[i], z[i]); }
    };

    struct mark_end
    {
      int const* cells;
      int* ends;
      int n;
      __host__ __device__ void operator()(int i) const
      {
        if (i + 1 == n || cells[i + 1] != cells[i]) ends[cells[i]] = i + 1;
      }
    };

    /// The candidates of a point: the points in the lower half of the cube of cells around it. Cell number
    /// c counts from the first cell of the cube to the point's own in the middle.
    template <class T, int CellsPerCutoff>
    struct lower_cells
    {
      static constexpr int side = 2 * CellsPerCutoff + 1, own = (side * side * side - 1) / 2,
                           count = own + 1;

      padded_grid<T> grid;
      int const *cells, *ends;

      struct range
      {
        int begin, end;
      };
      __host__ __device__ range candidates(int i, int c) const
      {
        int const cell =
            cells[i] + grid.distance(c / (side * side) - CellsPerCutoff,
                                     c / side % side - CellsPerCutoff, c % side - CellsPerCutoff);
        return {ends[cell - 1], c == own ? i : ends[cell]};
      }
    };

    template <class Lower>
    struct count_candidates
    {
      Lower lower;
      std::size_t* counts;
      __host__ __device__ void operator()(int i) const
      {
        for (int c = 0; c < Lower::count; ++c)
        {
          auto const range = lower.candidates(i, c);
          counts[i * Lower::count + c] = static_cast<std::size_t>(range.end - range.begin);
        }
      }
    };

    template <class T, class Lower>
    struct list_candidates
    {
      Lower lower;
      T const *x, *y, *z;
      T cutoff2;
      std::size_t const* firsts;
      int *pairs_i, *pairs_j;
      bool* are_pairs;

      /// writes the candidates of one point in one cell
      __host__ __device__ void operator()(int point_and_cell) const
      {
        int const i = point_and_cell / Lower::count;
        auto const range = lower.candidates(i, point_and_cell % Lower::count);
        std::size_t at = firsts[point_and_cell];
        T const xi = x[i], yi = y[i], zi = z[i];
        for (int j = range.begin; j < range.end; ++j, ++at)
        {
          are_pairs[at] = is_pair(xi - x[j], yi - y[j], zi - z[j], cutoff2);
          pairs_i[at] = i;
          pairs_j[at] = j;
        }
      }
    };

    template <class T>
    struct found
    {
      counted_memory memory; // outlives the vectors
      counted_vector<int> i, j;

      explicit found(device_memory from)
          : memory(from), i(counted_allocator<int>(&memory)), j(counted_allocator<int>(&memory))
      {}
    };

    template <class T, int CellsPerCutoff>
    device_pairs find(nearfield::soa<T, 3> const& points, T cutoff, device_memory from)
    {
      using lower_cells = baseline::lower_cells<T, CellsPerCutoff>;
      int const n = static_cast<int>(points.size());
      auto result = std::make_shared<found<T>>(from);
      auto* const memory = &result->memory;
      counted_allocator<char> bytes(memory);
      auto const policy =
          thrust::device(bytes); // counts the temporary memory of the algorithms too
      counting_iterator<int> const first(0), last(n);

      T smallest[3], largest[3];
      for (int d = 0; d < 3; ++d)
      {
        thrust::device_ptr<T> const x(points[d]);
        auto const [low, high] = thrust::minmax_element(policy, x, x + n);
        smallest[d] = *low;
        largest[d] = *high;
      }
      padded_grid<T> const grid(smallest, largest, cutoff, CellsPerCutoff);

      counted_vector<int> cells(points.size(), counted_allocator<int>(memory));
      thrust::transform(policy, first, last, cells.begin(),
                        cell_of_point<T>{grid, points[0], points[1], points[2]});
      {
        counted_vector<int> order(points.size(), counted_allocator<int>(memory));
        thrust::sequence(policy, order.begin(), order.end());
        thrust::sort_by_key(policy, cells.begin(), cells.end(), order.begin());
        counted_vector<T> moved(points.size(), counted_allocator<T>(memory));
        for (int d = 0; d < 3; ++d)
        {
          thrust::device_ptr<T> const x(points[d]);
          thrust::gather(policy, order.begin(), order.end(), x, moved.begin());
          thrust::copy(policy, moved.begin(), moved.end(), x);
        }
      }

      counted_vector<int> ends(grid.size(), 0, counted_allocator<int>(memory));
      thrust::for_each(policy, first, last, mark_end{cells.data().get(), ends.data().get(), n});
      thrust::inclusive_scan(policy, ends.begin(), ends.end(), ends.begin(),
                             thrust::maximum<int>());

      lower_cells const lower{grid, cells.data().get(), ends.data().get()};
      counted_vector<std::size_t> firsts(points.size() * lower_cells::count,
                                         counted_allocator<std::size_t>(memory));
      thrust::for_each(policy, first, last,
                       count_candidates<lower_cells>{lower, firsts.data().get()});
      std::size_t const last_count = firsts.back();
      thrust::exclusive_scan(policy, firsts.begin(), firsts.end(), firsts.begin());
      std::size_t const n_candidates = firsts.back() + last_count;

      auto &pairs_i = result->i, &pairs_j = result->j;
      pairs_i.resize(n_candidates);
      pairs_j.resize(n_candidates);
      counted_vector<bool> are_pairs(n_candidates, counted_allocator<bool>(memory));
      thrust::for_each(policy, first, first + n * lower_cells::count,
                       list_candidates<T, lower_cells>{lower, points[0], points[1], points[2],
                                                       cutoff * cutoff, firsts.data().get(),
                                                       pairs_i.data().get(), pairs_j.data().get(),
                                                       are_pairs.data().get()});
      for (auto* const column : {&pairs_i, &pairs_j})
        column->erase(thrust::remove_if(policy, column->begin(), column->end(), are_pairs.begin(),
                                        thrust::logical_not<bool>()),
                      column->end());
      return {pairs_i.data().get(), pairs_j.data().get(), pairs_i.size(), memory->peak_bytes(),
              result};
    }
  }

  template <class T>
  device_pairs find_thrust_pairs(nearfield::soa<T, 3> const& points, T cutoff, int cells_per_cutoff,
                                 device_memory from)
  {
    using nearfield::error;
    if (cells_per_cutoff < 1 || cells_per_cutoff > 3)
      throw error("find_thrust_pairs: cells_per_cutoff is " + std::to_string(cells_per_cutoff) +
                  "; it is compiled for 1, 2 and 3");
    if (points.size() == 0) return {};
    constexpr std::size_t most_lower_cells = lower_cells<T, 3>::count;
    if (points.size() > std::numeric_limits<int>::max() / most_lower_cells)
      throw error("find_thrust_pairs: an int does not count the cells around " +
                  std::to_string(points.size()) + " points; take fewer");
    switch (cells_per_cutoff)
    {
    case 1:
      return find<T, 1>(points, cutoff, from);
    case 2:
      return find<T, 2>(points, cutoff, from);
    default:
      return find<T, 3>(points, cutoff, from);
    }
  }

  template device_pairs find_thrust_pairs<float>(nearfield::soa<float, 3> const&, float, int,
                                                 device_memory);
  template device_pairs find_thrust_pairs<double>(nearfield::soa<double, 3> const&, double, int,
                                                  device_memory);
}
