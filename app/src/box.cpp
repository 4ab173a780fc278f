#include "box.hpp"

#include "problem.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace nearfield::app
{
  namespace
  {
    // Of the numbers that --cell gives.
    int dim_of(cell_choice const& chosen)
    {
      return chosen.numbers.size() % 2 == 0 ? 2 : 3;
    }

    void check_periods(std::vector<double> const& lengths, int dim)
    {
      if (dim != 0 && !lengths.empty() && lengths.size() != static_cast<std::size_t>(dim))
        throw error("--periodic: found " + std::to_string(lengths.size()) + " lengths, expected " +
                    std::to_string(dim) + ", one for each axis, 0 for an open one");
    }

    void check_axes(std::vector<double> const& period, named_points const& from)
    {
      auto const dim = static_cast<std::size_t>(from.points.dim);
      if (!period.empty() && period.size() != dim)
        throw error("--periodic: found " + std::to_string(period.size()) + " lengths, expected " +
                    std::to_string(dim) + ", one for each coordinate of " + from.name);
    }

    void check_flags(cell_choice const& chosen, int dim)
    {
      if (auto const n = chosen.pbc.size(); n != 0 && n != static_cast<std::size_t>(dim))
        throw error("--pbc: found " + std::to_string(n) + " numbers, expected " +
                    std::to_string(dim) + ", one for each vector of --cell");
    }

    void check_vectors(cell_choice const& chosen)
    try
    {
      if (dim_of(chosen) == 2)
        nearfield::detail::cell_frame<2>(box_of<2>(chosen));
      else
        nearfield::detail::cell_frame<3>(box_of<3>(chosen));
    }
    catch (error const& e)
    {
      throw error(std::string("--cell: ") + e.what());
    }

    void take_box(nearfield::cell<3> const& box, named_points const& from, cell_choice& chosen)
    {
      auto const dim = static_cast<std::size_t>(from.points.dim);
      check_flags(chosen, from.points.dim);
      bool const keeps_flags = !chosen.pbc.empty();
      for (std::size_t a = 0; a < dim; ++a)
      {
        if (!keeps_flags) chosen.pbc.push_back(box.periodic[a]);
        if (dim == 2 && chosen.pbc[a] && box.vectors[a][2] != 0)
          throw error("--cell file: the box of " + from.name +
                      " has vectors that leave the plane of its points; give --cell numbers");
        chosen.numbers.insert(chosen.numbers.end(), box.vectors[a].begin(),
                              box.vectors[a].begin() + from.points.dim);
        chosen.origin.push_back(box.origin[a]);
      }
    }
  }

  void check_box_options(file_options const& options)
  {
    cell_choice const& chosen = options.cell;
    check_periods(options.periodic, options.dim);
    if (!chosen.is_given())
    {
      if (!chosen.pbc.empty())
        throw error("--pbc: found no --cell; give it, or --periodic with 0 for an open axis");
      return;
    }
    if (!options.periodic.empty())
      throw error("--cell: found --periodic too; leave out one of them");
    if (chosen.is_of_file) return;
    check_flags(chosen, dim_of(chosen));
    check_vectors(chosen);
  }

  void settle_box(file_options& options, named_points const& targets, named_points const* sources)
  {
    check_axes(options.periodic, targets);
    cell_choice& chosen = options.cell;
    if (!chosen.is_given()) return;
    if (!chosen.is_of_file)
    {
      if (dim_of(chosen) != targets.points.dim)
        throw error("--cell: found " + std::to_string(chosen.numbers.size()) +
                    " numbers, of a box in " + std::to_string(dim_of(chosen)) +
                    "D; the points of " + targets.name + " have " +
                    std::to_string(targets.points.dim) + " coordinates");
      return;
    }
    named_points const* const from =
        !targets.report.cell && sources && sources->report.cell ? sources : &targets;
    if (!from->report.cell)
      throw error("--cell file: found no box in " + targets.name + "; give --cell numbers");
    auto const box = from->report.cell->box();
    if (sources && sources->report.cell)
      if (auto const other = sources->report.cell->box();
          other.vectors != box.vectors || other.periodic != box.periodic)
        throw error("--cell file: " + targets.name + " and " + sources->name +
                    " have different boxes; give --cell numbers");
    take_box(box, *from, chosen);
    check_vectors(chosen);
  }

  template <int Dim>
  cell<Dim> box_of(cell_choice const& chosen, std::span<double const> origin)
  {
    cell<Dim> box;
    if (chosen.numbers.empty()) return box;
    bool const has_lengths = chosen.numbers.size() == Dim;
    for (std::size_t a = 0; a < Dim; ++a)
    {
      if (has_lengths)
        box.vectors[a][a] = chosen.numbers[a];
      else
        std::copy_n(chosen.numbers.begin() + Dim * a, Dim, box.vectors[a].begin());
      box.periodic[a] = chosen.pbc.empty() ? !has_lengths || chosen.numbers[a] != 0 : chosen.pbc[a];
      if (!chosen.origin.empty()) box.origin[a] = chosen.origin[a];
    }
    if (std::ranges::all_of(origin, [](double o) { return o == 0; })) return box;
    // Of the boxes that tile space the one around the points, which lie around zero now: images far away lose digits.
    nearfield::detail::cell_frame<Dim> frame(box);
    std::array<double, Dim> middle{}, begin;
    for (std::size_t a = 0; a < Dim; ++a)
      for (std::size_t d = 0; d < Dim && box.periodic[a]; ++d) middle[d] += frame.reduced[a][d] / 2;
    for (std::size_t d = 0; d < Dim; ++d)
    {
      begin[d] = box.origin[d] - origin[d] + middle[d];
      frame.origin[d] = -middle[d];
    }
    box.origin = frame.reduce(begin).at;
    for (std::size_t d = 0; d < Dim; ++d) box.origin[d] -= middle[d];
    return box;
  }

  template cell<2> box_of(cell_choice const&, std::span<double const>);
  template cell<3> box_of(cell_choice const&, std::span<double const>);
}
