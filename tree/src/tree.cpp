#include <nearfield/tree/build_tree.hpp>

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfield
{
  template <int Dim>
  tree<Dim>::tree(parts&& from) : parts_(std::move(from))
  {}

  template <int Dim>
  interaction_list tree<Dim>::half_interactions() const&
  {
    if (!parts_.one_set)
      throw error("half_interactions: the tree has two sets of points; a half list needs one: "
                  "use interactions()");
    return parts_.half.view(parts_.shifts);
  }

  template <int Dim>
  index_type tree<Dim>::largest_leaf() const
  {
    index_type largest = 0;
    for (index_type b = 0; b < size(); ++b)
      largest = std::max({largest, targets().count(b), sources().count(b)});
    return largest;
  }

  namespace
  {
    /// The piece at a distance from the lower end of the root. Where a piece begins, the one before ends too.
    detail::axis_piece const& piece_at(std::span<detail::axis_piece const> pieces, double distance,
                                       bool is_end)
    {
      std::size_t p = 0;
      auto const begin = [&](std::size_t of)
      {
        return pieces[of].offset + (pieces[of].first - pieces[of].origin);
      };
      while (p + 1 < pieces.size() && (is_end ? begin(p + 1) < distance : begin(p + 1) <= distance))
        ++p;
      return pieces[p];
    }
  }

  template <int Dim>
  cube<Dim> tree<Dim>::leaf(index_type b) const
  {
    leaf_cell<Dim> const& cell = parts_.cells[b];
    cube<Dim> result;
    double const half_width = std::ldexp(parts_.root.half_width, -cell.level);
    result.half_width = half_width;
    for (int d = 0; d < Dim; ++d)
      if (parts_.period[d] > 0)
        result.centre[d] = (cell.index[d] + 0.5) * std::ldexp(parts_.period[d], -cell.level);
      else if (parts_.pieces[d].empty())
        result.centre[d] = parts_.root.lower(d) + (2. * cell.index[d] + 1) * half_width;
      else
      {
        double const begin = 2. * cell.index[d] * half_width, end = begin + 2 * half_width;
        detail::axis_piece const& first = piece_at(pieces(d), begin, false);
        // a coordinate that is huge may round to the upper end
        bool const is_last = cell.index[d] + 1 == std::uint32_t(1) << cell.level;
        detail::axis_piece const& last =
            is_last ? pieces(d).back() : piece_at(pieces(d), end, true);
        if (&first == &last)
        {
          result.centre[d] = first.origin + ((2. * cell.index[d] + 1) * half_width - first.offset);
          continue;
        }
        double const lower = (first.origin + (begin - first.offset)) / 2,
                     upper = (last.origin + (end - last.offset)) / 2;
        result.centre[d] = lower + upper;
        result.half_width = std::max(result.half_width, upper - lower);
      }
    return result;
  }

  template class tree<2>;
  template class tree<3>;
}
