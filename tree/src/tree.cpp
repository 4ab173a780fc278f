#include <nearfield/tree/build_tree.hpp>

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfield
{
  template <int Dim>
  tree<Dim>::tree(parts&& from)
      : root_(from.root), order_(from.order), depth_(from.depth), one_set_(from.one_set),
        cells_(std::move(from.cells)), target_offsets_(std::move(from.target_offsets)),
        source_offsets_(std::move(from.source_offsets)),
        target_order_(std::move(from.target_order)), source_order_(std::move(from.source_order)),
        full_(std::move(from.full)), half_(std::move(from.half))
  {
    for (index_type b = 0; b < size(); ++b)
      interaction_count_ += targets().count(b) * interactions().source_count(b);
    if (one_set_) interaction_count_ -= target_order_.size();
  }

  template <int Dim>
  interaction_list tree<Dim>::half_interactions() const
  {
    if (!one_set_)
      throw error("half_interactions: the tree has two sets of points; a half list needs one: "
                  "use interactions()");
    return half_.view();
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
    leaf_cell<Dim> const& cell = cells_[b];
    cube<Dim> result;
    result.half_width = std::ldexp(root_.half_width, -cell.level);
    for (int d = 0; d < Dim; ++d)
      result.centre[d] = root_.lower(d) + (2. * cell.index[d] + 1) * result.half_width;
    return result;
  }

  template class tree<2>;
  template class tree<3>;
}
