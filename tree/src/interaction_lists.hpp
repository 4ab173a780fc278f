#pragma once

#include "adjacency.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <string>

namespace nearfield::detail
{
  /// Ends the row of a box. Throws nearfield::error when there are too many ranges, naming the function and the remedy.
  void close_row(interaction_table& table, std::string const& function, std::string const& remedy);

  /// The own boxes, and the source ranges of adjacent leaves with consecutive ones merged.
  interaction_table full_list(adjacency const& adjacent, boxes const& targets,
                              boxes const& sources);

  /// The ranges of a full list of one set that lie after their box.
  interaction_table half_list(interaction_table const& full, boxes const& points);
}
