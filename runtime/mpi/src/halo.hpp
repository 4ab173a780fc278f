#pragma once

#include "tree/src/keys.hpp"
#include "tree/src/reduce.hpp"

#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  /// The cells of all points, and how the curve passes through them.
  template <class T, int Dim>
  struct lattice
  {
    nearfield::detail::cell_grid<T, Dim> grid;
    key_layout layout{leaf_order::morton, 0};

    explicit lattice(nearfield::detail::cell_grid<T, Dim> const& cells) : grid(cells)
    {
      layout.level = std::bit_width(*std::ranges::max_element(grid.cells) - 1);
    }

    /// of the keys
    [[nodiscard]] std::uint64_t end() const { return std::uint64_t(1) << (Dim * layout.level); }

    [[nodiscard]] std::uint64_t key(std::array<std::uint32_t, Dim> const& at) const
    {
      return encode<leaf_order::morton, Dim>(at, layout.level);
    }

    /// Of the points [begin, end), to keys[begin].
    void write_keys(strided<T const, Dim> const& points, std::size_t begin, std::size_t end,
                    std::uint64_t* keys) const
    {
      for (std::size_t i = begin; i < end; ++i)
      {
        auto const x = grid.frame.reduce(point_at(points, i)).at;
        std::array<std::uint32_t, Dim> at;
        for (int a = 0; a < Dim; ++a) at[a] = grid.index(a, x);
        keys[i] = key(at);
      }
    }
  };

  /// Finds the ranks that need a point: those with cells in their range that are closer than the cutoff.
  template <class T, int Dim>
  class halo_search
  {
  public:
    halo_search(lattice<T, Dim> const& cells, std::span<std::uint64_t const> cuts, int rank)
        : cells_(cells), cuts_(cuts), rank_(rank)
    {
      // a pair that is found may be further apart by rounding, and places are rounded
      auto const& grid = cells.grid;
      double reach = grid.cutoff;
      for (int a = 0; a < Dim; ++a)
        reach += grid.farthest[a] - double(grid.cutoff) + 0x1p-30 / grid.inverse_width[a];
      reach2_ = reach * reach;
    }

    /// Each rank with each of the points that it needs, once, in ascending order. `keys` are those of the points.
    std::vector<std::pair<int, index_type>> of(std::span<std::uint64_t const> keys,
                                               soa<T const, Dim> const& points) const
    {
      std::vector<std::pair<int, index_type>> found;
      std::vector<std::array<double, Dim>>
          places; // of the points of a cell, if other ranks are near
      for (std::size_t first = 0, last = 0; first < keys.size(); first = last)
      {
        while (last < keys.size() && keys[last] == keys[first]) ++last;
        auto const at = decode<Dim>(keys[first], cells_.layout);
        places.clear();
        // with one cell per cutoff, an axis that reaches further has one cell
        std::array<int, Dim> step;
        step.fill(-1);
        for (bool more = true; more;)
        {
          if (auto const rank = owner(at, step); rank != rank_)
          {
            for (std::size_t p = first + places.size(); p < last; ++p)
              places.push_back(place_in(at, point_at<T, Dim>(points, p)));
            for (std::size_t p = first; p < last; ++p)
              if (is_near(step, places[p - first]))
                found.emplace_back(rank, static_cast<index_type>(p));
          }
          int a = 0;
          while (a < Dim && ++step[a] == 2) step[a++] = -1;
          more = a < Dim;
        }
      }
      std::ranges::sort(found);
      found.erase(std::unique(found.begin(), found.end()), found.end());
      return found;
    }

  private:
    /// The rank whose range holds the cell one step away; this one if there is no such cell.
    int owner(std::array<std::uint32_t, Dim> at, std::array<int, Dim> const& step) const
    {
      auto const& grid = cells_.grid;
      for (int a = 0; a < Dim; ++a)
      {
        std::uint32_t const last = grid.cells[a] - 1;
        bool const leaves = step[a] < 0 ? at[a] == 0 : step[a] > 0 && at[a] == last;
        if (step[a] != 0 && (grid.reach[a] == 0 || (leaves && !grid.wraps[a]))) return rank_;
        at[a] = !leaves ? at[a] + static_cast<std::uint32_t>(step[a]) : step[a] < 0 ? last : 0;
      }
      std::uint64_t const key = cells_.key(at);
      auto const r = static_cast<std::size_t>(rank_);
      if (key >= cuts_[r] && key < cuts_[r + 1]) return rank_;
      return static_cast<int>(std::ranges::upper_bound(cuts_, key) - cuts_.begin()) - 1;
    }

    /// How far a point lies from the lower faces of its cell, in cells.
    std::array<double, Dim> place_in(std::array<std::uint32_t, Dim> const& at,
                                     std::array<T, Dim> const& point) const
    {
      auto const& grid = cells_.grid;
      auto const x = grid.frame.reduce(point).at;
      std::array<double, Dim> place;
      for (int a = 0; a < Dim; ++a) place[a] = grid.place(a, grid.along(a, x)) - at[a];
      return place;
    }

    /// Whether a point there is closer than the cutoff to the cell one step away from its own.
    bool is_near(std::array<int, Dim> const& step, std::array<double, Dim> const& place) const
    {
      auto const& grid = cells_.grid;
      double distance2 = 0; // or less, where normals are not orthogonal to each other
      for (int a = 0; a < Dim; ++a)
      {
        if (step[a] == 0) continue;
        double const gap =
            std::max(0., step[a] < 0 ? place[a] : 1 - place[a]) / grid.inverse_width[a];
        distance2 = grid.frame.is_aligned ? distance2 + gap * gap : std::max(distance2, gap * gap);
      }
      return distance2 <= reach2_;
    }

    lattice<T, Dim> const& cells_;
    std::span<std::uint64_t const> cuts_;
    int rank_;
    double reach2_;
  };
}
