#include "demo.hpp"

#include "devices.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <algorithm>
#include <iostream>

// The rounding of each operation decides which points are a pair, so CMake compiles this file without
// floating-point contraction.

namespace nearfield::app
{
  namespace
  {
    constexpr int repetitions = 10;

    // A pair as a sort key: the smaller index, then the larger.
    std::uint64_t key_of(std::uint64_t i, std::uint64_t j)
    {
      return std::min(i, j) << 32 | std::max(i, j);
    }

    template <class T>
    std::vector<std::uint64_t> brute_force(soa<T const, 3> const& points, T cutoff)
    {
      T const *const x = points[0], *const y = points[1], *const z = points[2];
      T const limit = cutoff * cutoff;
      std::vector<std::uint64_t> found;
      for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
        {
          T const dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
          if ((dx * dx + dy * dy) + dz * dz < limit) found.push_back(key_of(i, j));
        }
      return found;
    }

    // With multiplicity, so that a duplicate pair is detected.
    template <class T>
    bool has_pairs(coo<T, 3> const& list, std::vector<std::uint64_t> const& expected)
    {
      std::vector<std::uint64_t> keys(list.size());
      for (std::size_t p = 0; p < keys.size(); ++p) keys[p] = key_of(list.i[p], list.j[p]);
      std::sort(keys.begin(), keys.end());
      return keys == expected;
    }

    void print_row(demo_search_row const& row)
    {
      using enum std::chars_format;
      app::print_row(row.backend, row.precision,
                     !row.skipped.empty()
                         ? "skipped: " + row.skipped
                         : right(1e3 * row.seconds, 9, fixed, 2) + " ms " +
                               right(1e-6 * static_cast<double>(row.pairs), 8, fixed, 2) +
                               " M pairs   " +
                               (row.same_pairs ? "same pairs as brute force   PASS"
                                               : "other pairs than brute force   FAIL"));
    }

    // run() searches; list() returns its last result in host memory.
    template <class Run, class List>
    void measure(demo_search_row& row, std::vector<std::uint64_t> const& expected, Run const& run,
                 List const& list)
    {
      row.seconds = quickest(repetitions, run);
      auto const& found = list();
      row.pairs = found.size();
      row.same_pairs = has_pairs(found, expected);
    }

    template <class T>
    void search_in(demo_input const& input, std::vector<demo_search_row>& rows)
    {
      threads here(1);
      auto const rounded = rounded_positions<T>(here, input.points, {});
      auto const x = rounded.template view<3>();
      auto const cutoff = static_cast<T>(input.cutoff);
      auto const expected = brute_force(x, cutoff);
      auto const add = [&](std::string const& name) -> demo_search_row&
      {
        rows.push_back({.backend = name, .precision = sizeof(T) == 4 ? "f32" : "f64"});
        return rows.back();
      };

      auto& on_cpu = add("simd " + std::string(nearfield::name_of(selected_isa())));
      cell_list<T, 3> cells(x, cutoff);
      coo<T, 3> list;
      measure(
          on_cpu, expected,
          [&]
          {
            cells.rebuild(x);
            radius_search(simd, cells, to_coo{}, list);
          },
          [&]() -> auto const& { return list; });
      print_row(on_cpu);

      auto& on_gpu = add("CUDA");
      on_gpu.skipped = no_gpu();
      if (on_gpu.skipped.empty())
      {
        device_columns<T, 3> const columns(x);
        cuda_cell_list<T, 3> device_cells(cuda, columns.view(), cutoff);
        device_coo<T, 3> device_list;
        measure(
            on_gpu, expected,
            [&]
            {
              device_cells.rebuild(columns.view());
              device_list = radius_search(cuda, device_cells, to_coo{});
              synchronize(cuda.stream);
            },
            [&] { return device_list.to_host(); });
      }
      print_row(on_gpu);
    }
  }

  std::vector<demo_search_row> search_demo(demo_input const& input)
  {
    std::cout << "search    all pairs closer than " << input.cutoff
              << (input.length_unit.empty() ? "" : " " + input.length_unit)
              << ": grid and half list, the best of several runs\n";
    std::vector<demo_search_row> rows;
    search_in<float>(input, rows);
    search_in<double>(input, rows);
    return rows;
  }

  bool passed(std::vector<demo_search_row> const& rows)
  {
    return std::all_of(rows.begin(), rows.end(), [](demo_search_row const& row)
                       { return !row.skipped.empty() || row.same_pairs; });
  }
}
