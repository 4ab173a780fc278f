#include "interaction_lists.hpp"

#include <nearfield/core/error.hpp>

#include <limits>
#include <string>

namespace nearfield::detail
{
  void close_row(interaction_table& table, std::string const& function, std::string const& remedy)
  {
    if (table.ranges.size() > std::numeric_limits<index_type>::max())
      throw error(function + ": the interaction list has more than 2^32 - 1 ranges; use " + remedy);
    table.offsets.push_back(static_cast<index_type>(table.ranges.size()));
  }

  namespace
  {
    interaction_table table_for(boxes const& sources)
    {
      interaction_table table;
      table.own.reserve(sources.size());
      for (index_type b = 0; b < sources.size(); ++b)
        table.own.push_back({sources.begin(b), sources.end(b)});
      table.offsets.reserve(sources.size() + std::size_t(1));
      table.offsets.push_back(0);
      return table;
    }
  }

  interaction_table full_list(adjacency const& adjacent, boxes const& targets, boxes const& sources)
  {
    interaction_table table = table_for(sources);
    for (index_type b = 0; b < targets.size(); ++b)
    {
      std::size_t const row = table.ranges.size();
      if (targets.count(b) > 0)
        for (index_type const c : adjacent.of(b))
        {
          if (sources.count(c) == 0) continue;
          if (table.ranges.size() > row && table.ranges.back().end == sources.begin(c))
            table.ranges.back().end = sources.end(c);
          else
            table.ranges.push_back({sources.begin(c), sources.end(c)});
        }
      close_row(table, "build_tree", "a larger max_leaf_size or a lower level");
    }
    return table;
  }

  interaction_table half_list(interaction_table const& full, boxes const& points)
  {
    interaction_table table = table_for(points);
    table.ranges.reserve(full.ranges.size() / 2);
    interaction_list const list = full.view();
    for (index_type b = 0; b < points.size(); ++b)
    {
      // The own box lies between the ranges, so none holds points from both sides of it.
      for (source_range const& range : list.neighbours(b))
        if (range.begin >= points.end(b)) table.ranges.push_back(range);
      close_row(table, "build_tree", "a larger max_leaf_size or a lower level");
    }
    return table;
  }
}
