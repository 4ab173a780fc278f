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
  interaction_list tree<Dim>::half_interactions() const
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

  template <int Dim>
  cube<Dim> tree<Dim>::leaf(index_type b) const
  {
    leaf_cell<Dim> const& cell = parts_.cells[b];
    cube<Dim> result;
    result.half_width = std::ldexp(parts_.root.half_width, -cell.level);
    for (int d = 0; d < Dim; ++d)
      result.centre[d] = parts_.period[d] > 0
                             ? (cell.index[d] + 0.5) * std::ldexp(parts_.period[d], -cell.level)
                             : parts_.root.lower(d) + (2. * cell.index[d] + 1) * result.half_width;
    return result;
  }

  template class tree<2>;
  template class tree<3>;
}
