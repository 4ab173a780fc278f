#include "pinns.hpp"

#include "half_search.hpp"

#include <nearfield/cuda/device.hpp>

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <limits>
#include <string>

namespace baseline
{
  namespace
  {
    template <class T, int Dim>
    struct particles
    {
      T const* x[Dim];
    };

    template <class T, int Dim>
    particles<T, Dim> particles_of(nearfield::soa<T, Dim> const& points)
    {
      particles<T, Dim> result;
      for (int d = 0; d < Dim; ++d) result.x[d] = points[d];
      return result;
    }

    template <class T, int Dim>
    struct cell_grid
    {
      T smallest[Dim], width;
      int count[Dim];

      explicit cell_grid(pinns_domain<T, Dim> const& domain) : width(domain.radius + domain.delta)
      {
        double total = 1;
        for (int d = 0; d < Dim; ++d)
        {
          smallest[d] = domain.smallest[d];
          total *= (double(domain.largest[d]) - double(smallest[d])) / double(width) + 1;
          if (total >= std::numeric_limits<int>::max())
            throw nearfield::error("pinns: radius " + std::to_string(domain.radius) +
                                   " makes more cells than an int counts; take a larger one");
          count[d] = along(domain.largest[d], d) + 1;
        }
      }

      [[nodiscard]] int size() const
      {
        int product = 1;
        for (int const c : count) product *= c;
        return product;
      }
      [[nodiscard]] NEARFIELD_FN int along(T x, int d) const
      {
        return static_cast<int>((x - smallest[d]) / width);
      }
    };

    /// Computes the key of particle i.
    template <class T, int Dim>
    struct assign_cell
    {
      cell_grid<T, Dim> grid;
      particles<T, Dim> points;
      int *hash, *id;
      __host__ __device__ void operator()(int i) const
      {
        int cell = 0;
        for (int d = Dim - 1; d >= 0; --d)
          cell = cell * grid.count[d] + grid.along(points.x[d][i], d);
        hash[i] = cell;
        id[i] = i;
      }
    };

    /// Sorted particle k compares its cell with that of its predecessor.
    struct mark_cell
    {
      int const* hash;
      int *start, *end;
      int n;
      __host__ __device__ void operator()(int k) const
      {
        if (k == 0 || hash[k] != hash[k - 1])
        {
          start[hash[k]] = k;
          if (k > 0) end[hash[k - 1]] = k;
        }
        if (k + 1 == n) end[hash[k]] = n;
      }
    };

    /// Stores the neighbours of one particle in the table.
    struct to_table
    {
      int* neighb;
      int max_neighbours;

      struct row
      {
        int* entries;
        int max_neighbours, count;
        __host__ __device__ void add(int j)
        {
          if (count < max_neighbours) entries[2 + count] = j;
          ++count;
        }
        __host__ __device__ void close() { entries[1] = count; }
      };
      __host__ __device__ row of(int i) const
      {
        return {neighb + std::size_t(i) * std::size_t(max_neighbours + 2), max_neighbours, 0};
      }
    };

    struct to_counts
    {
      int* counts;

      struct row
      {
        int* at;
        int count;
        __host__ __device__ void add(int) { ++count; }
        __host__ __device__ void close() { *at = count; }
      };
      __host__ __device__ row of(int i) const { return {counts + i, 0}; }
    };

    /// The walk of sorted particle k through the cells around its own.
    template <class T, int Dim, bool TestDistance, class To>
    struct walk
    {
      cell_grid<T, Dim> grid;
      particles<T, Dim> points;
      int const *hash, *id, *start, *end;
      T radius2;
      To to;

      __host__ __device__ void operator()(int k) const
      {
        int const i = id[k];
        int at[Dim], rest = hash[k];
        for (int d = 0; d < Dim; ++d)
        {
          at[d] = rest % grid.count[d];
          rest /= grid.count[d];
        }
        auto row = to.of(i);
        if constexpr (Dim == 3)
          for (int z = at[2] - 1; z <= at[2] + 1; ++z)
          {
            if (z >= 0 && z < grid.count[2]) walk_plane(i, at, z * grid.count[1], row);
          }
        else
          walk_plane(i, at, 0, row);
        row.close();
      }

      template <class Row>
      __host__ __device__ void walk_plane(int i, int const (&at)[Dim], int before, Row& row) const
      {
        for (int y = at[1] - 1; y <= at[1] + 1; ++y)
          for (int x = at[0] - 1; x <= at[0] + 1; ++x)
            if (y >= 0 && y < grid.count[1] && x >= 0 && x < grid.count[0])
              walk_cell(i, (before + y) * grid.count[0] + x, row);
      }

      template <class Row>
      __host__ __device__ void walk_cell(int i, int cell, Row& row) const
      {
        if (start[cell] < 0) return;
        for (int k = start[cell]; k < end[cell]; ++k)
        {
          int const j = id[k];
          if (j != i && (!TestDistance || is_near(i, j))) row.add(j);
        }
      }

      __host__ __device__ bool is_near(int i, int j) const
      {
        T d[3]{};
        for (int a = 0; a < Dim; ++a) d[a] = points.x[a][i] - points.x[a][j];
        return is_pair(d[0], d[1], d[2], radius2);
      }
    };

    template <class Body>
    __global__ void each(int n, Body const body)
    {
      int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
      if (i < n) body(i);
    }

    template <class Body>
    void launch(int n, Body const& body, char const* name)
    {
      constexpr int threads = 512; // as in piNNS
      each<<<static_cast<unsigned>((n + threads - 1) / threads), threads>>>(n, body);
      nearfield::check_cuda(cudaGetLastError(), name);
    }

    template <class T, int Dim, class To>
    void walk_all(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                  pinns_cells const& cells, To const& to, pinns_test test, char const* name)
    {
      auto const go = [&]<bool TestDistance>()
      {
        launch(static_cast<int>(points.size()),
               walk<T, Dim, TestDistance, To>{cell_grid<T, Dim>(domain), particles_of(points),
                                              cells.particle_hash.data(), cells.particle_id.data(),
                                              cells.cell_start.data(), cells.cell_end.data(),
                                              domain.radius * domain.radius, to},
               name);
      };
      if (points.size() == 0) return;
      if (test == pinns_test::distance)
        go.template operator()<true>();
      else
        go.template operator()<false>();
    }
  }

  template <class T, int Dim>
  void pinns_build(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells)
  {
    cell_grid<T, Dim> const grid(domain);
    auto const fit = [](nearfield::device_array<int>& array, std::size_t size)
    {
      if (array.size() != size) array = nearfield::device_array<int>(size);
    };
    fit(cells.particle_hash, points.size());
    fit(cells.particle_id, points.size());
    fit(cells.cell_start, static_cast<std::size_t>(grid.size()));
    fit(cells.cell_end, static_cast<std::size_t>(grid.size()));
    nearfield::check_cuda(
        cudaMemsetAsync(cells.cell_start.data(), 0xff, cells.cell_start.size() * sizeof(int)),
        "pinns_build");
    if (points.size() == 0) return;

    int const n = static_cast<int>(points.size());
    int *const hash = cells.particle_hash.data(), *const id = cells.particle_id.data();
    launch(n, assign_cell<T, Dim>{grid, particles_of(points), hash, id}, "pinns_build");
    thrust::device_ptr<int> const keys(hash);
    thrust::sort_by_key(thrust::device, keys, keys + n, thrust::device_ptr<int>(id));
    launch(n, mark_cell{hash, cells.cell_start.data(), cells.cell_end.data(), n}, "pinns_build");
  }

  template <class T, int Dim>
  void pinns_table(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                   pinns_cells& cells, int max_neighbours, int* neighb, pinns_test test)
  {
    pinns_build(points, domain, cells);
    walk_all(points, domain, cells, to_table{neighb, max_neighbours}, test, "pinns_table");
  }

  template <class T, int Dim>
  void pinns_walk(nearfield::soa<T, Dim> const& points, pinns_domain<T, Dim> const& domain,
                  pinns_cells const& cells, int* counts, pinns_test test)
  {
    walk_all(points, domain, cells, to_counts{counts}, test, "pinns_walk");
  }

#define INSTANTIATE(T, Dim)                                                                        \
  template void pinns_build<T, Dim>(nearfield::soa<T, Dim> const&, pinns_domain<T, Dim> const&,    \
                                    pinns_cells&);                                                 \
  template void pinns_table<T, Dim>(nearfield::soa<T, Dim> const&, pinns_domain<T, Dim> const&,    \
                                    pinns_cells&, int, int*, pinns_test);                          \
  template void pinns_walk<T, Dim>(nearfield::soa<T, Dim> const&, pinns_domain<T, Dim> const&,     \
                                   pinns_cells const&, int*, pinns_test);
  INSTANTIATE(float, 2)
  INSTANTIATE(float, 3)
  INSTANTIATE(double, 2)
  INSTANTIATE(double, 3)
#undef INSTANTIATE
}
