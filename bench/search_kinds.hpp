#pragma once

#include "search_clouds.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace bench
{
  enum class search_box
  {
    open,
    cube,
    sheared ///< by 60 and 30 degrees, as large as the cube
  };

  /// Searches of uniform points, each with about 110 neighbours, of a crystal of CsCl (a = 4.12, R = 6), and of 1024 boxes of
  /// 128 points (.1 a unit of volume, R = 6) at once.
  struct search_kind
  {
    char const* name;
    int dim;
    search_box box;
    bool two_sets = false;
    bool is_crystal = false;
    bool has_systems = false;
  };
  inline constexpr search_kind search_kinds[] = {
      {"open", 3, search_box::open},
      {"periodic", 3, search_box::cube},
      {"triclinic", 3, search_box::sheared},
      {"crystal", 3, search_box::cube, false, true},
      {"systems", 3, search_box::cube, false, false, true},
      {"two_dimensions", 2, search_box::open},
      {"two_sets", 3, search_box::open, true}};

  template <class T, int Dim>
  struct kind_input
  {
    nearfield::soa<T const, Dim> queries; ///< for one set, the points
    nearfield::soa<T const, Dim> points;
    T cutoff;
    nearfield::cell_list_options<T, Dim> options;
    nearfield::systems<Dim> systems; ///< several, if the kind has them

    kind_input(search_kind const& kind, std::size_t n)
    {
      if (kind.is_crystal)
      {
        make_crystal(41);
        return;
      }
      if (kind.has_systems)
      {
        make_systems(1024, 128);
        return;
      }
      search_case const c{"search_kinds", search_shape::uniform, n, 0, 2};
      points = search_cloud_of<T>(c, 1).template view<Dim>();
      if (kind.box != search_box::open) make_box(kind.box == search_box::sheared);
      queries = kind.two_sets ? search_cloud_of<T>(c, 2).template view<Dim>() : points;
      double const of_unit_ball = Dim == 3 ? 4 * std::numbers::pi / 3 : std::numbers::pi;
      cutoff = static_cast<T>(std::pow(110 / of_unit_ball / static_cast<double>(n), 1. / Dim));
    }

  private:
    void make_box(bool sheared)
    {
      auto& box = options.cell;
      box.periodic.fill(true);
      for (int a = 0; a < Dim; ++a)
      {
        // a coordinate below 1 may round to 1 in float
        box.vectors[a][a] = 1 + std::numeric_limits<T>::epsilon();
        if (sheared && a > 0)
          box.vectors[a][a - 1] = std::tan((90 - 30 * a) * std::numbers::pi / 180);
      }
      if (!sheared) return;
      // points at the places in the box that they have in the cube
      for (std::size_t i = 0; i < points.size(); ++i)
        for (int b = 0; b < Dim; ++b)
        {
          double x = 0;
          for (int a = 0; a < Dim; ++a) x += double(points[a][i]) * box.vectors[a][b];
          own[b].push_back(static_cast<T>(x));
        }
      show_own();
    }

    void make_crystal(int cells)
    {
      double const a = 4.12;
      options.cell.periodic.fill(true);
      for (int d = 0; d < Dim; ++d) options.cell.vectors[d][d] = a * cells;
      for (int i = 0; i < cells * cells * cells; ++i)
        for (double const place : {.25, .75})
          for (int d = 0, rest = i; d < Dim; ++d, rest /= cells)
            own[d].push_back(static_cast<T>(a * (rest % cells + place)));
      show_own();
      queries = points;
      cutoff = 6;
    }

    void make_systems(std::size_t n, std::size_t points_each)
    {
      search_case const c{"search_systems", search_shape::uniform, n * points_each, 0, 2};
      auto const in_unit_cube = search_cloud_of<T>(c, 1).template view<Dim>();
      T const length = static_cast<T>(std::pow(double(points_each) / .1, 1. / Dim));
      for (int d = 0; d < Dim; ++d)
        for (std::size_t i = 0; i < n * points_each; ++i)
          own[d].push_back(length * in_unit_cube[d][i]);
      show_own();
      queries = points;
      for (std::size_t s = 0; s <= n; ++s)
        offsets.push_back(static_cast<nearfield::index_type>(s * points_each));
      std::array<double, Dim> lengths;
      lengths.fill(double(length) * (1 + std::numeric_limits<T>::epsilon()));
      boxes = {nearfield::cell<Dim>::of_lengths(lengths)};
      cutoffs = {6};
      systems.offsets = offsets;
      systems.cutoffs = cutoffs;
      systems.cells = boxes;
    }

    void show_own()
    {
      std::array<T const*, Dim> columns;
      for (int d = 0; d < Dim; ++d) columns[d] = own[d].data();
      points = {columns, own[0].size()};
    }

    std::array<std::vector<T>, Dim> own;
    std::vector<nearfield::index_type> offsets;
    std::vector<double> cutoffs;
    std::vector<nearfield::cell<Dim>> boxes;
  };

  /// Calls f(kind, what, output) for lists and a count of every kind, which must find the same pairs.
  template <class F>
  void for_each_kind(F const& f)
  {
    using namespace nearfield;
    for (search_kind const& kind : search_kinds)
    {
      pairs const which = kind.two_sets ? pairs::full : pairs::half;
      f(kind, to_csr{.which = which}, kind.two_sets ? "full_csr" : "half_csr");
      f(kind, count_pairs{.which = which}, "count");
      if (kind.two_sets || kind.dim == 2) continue;
      f(kind, to_csr{}, "full_csr");
      if (kind.box == search_box::open) continue;
      f(kind, to_csr{.images = image_columns::counters}, "full_csr_images");
      f(kind, to_csr{.images = image_columns::packed}, "full_csr_packed_images");
    }
  }

  /// The number of pairs of a result, on a CPU or a GPU: of one set each counts once.
  std::uint64_t n_pairs(search_kind const& kind, auto const& what, auto const& result)
  {
    std::uint64_t n = 0;
    if constexpr (requires { result.columns; })
      n = result.columns.size();
    else
      n = result.total;
    return !kind.two_sets && what.which == nearfield::pairs::full ? n / 2 : n;
  }

  /// What it must write for its pairs.
  double result_bytes(auto const& result)
  {
    double bytes = 0;
    if constexpr (requires { result.columns; })
    {
      bytes = double(result.columns.size() * sizeof(nearfield::index_type) +
                     result.packed_images.size() * sizeof(std::uint32_t));
      for (auto const& column : result.images)
        bytes += double(column.size() * sizeof(std::int32_t));
    }
    return bytes;
  }
}
