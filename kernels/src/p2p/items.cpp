#include <nearfield/p2p/job.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <cmath>

namespace nearfield::detail
{
  namespace
  {
    struct weighed_item
    {
      cuda_item item;
      int size; ///< log2 of its pairs
    };

    /// The boxes in pieces of about equal size, at most `most` targets each.
    std::vector<weighed_item> cut_boxes(boxes const& targets, interaction_list const& list,
                                        index_type most)
    {
      std::vector<weighed_item> items;
      for (index_type b = 0; b < targets.size(); ++b)
      {
        index_type const n = targets.count(b);
        auto const sources = static_cast<double>(list.source_count(b));
        index_type const pieces = n / most + (n % most != 0);
        for (index_type p = 0; p < pieces; ++p)
        {
          auto const share = [&](index_type i)
          {
            return static_cast<index_type>(std::uint64_t(n) * i / pieces);
          };
          cuda_item const item{b, targets.begin(b) + share(p), share(p + 1) - share(p)};
          items.push_back({item, std::ilogb(item.count * sources + 1)});
        }
      }
      return items;
    }

    void sort_by_size(std::vector<weighed_item>::iterator first,
                      std::vector<weighed_item>::iterator last)
    {
      std::stable_sort(first, last, [](weighed_item const& a, weighed_item const& b)
                       { return a.size > b.size; });
    }

    cuda_items without_sizes(std::vector<weighed_item> const& items)
    {
      cuda_items result;
      result.items.reserve(items.size());
      for (weighed_item const& item : items) result.items.push_back(item.item);
      return result;
    }
  }

  cuda_items gather_items(boxes const& targets, interaction_list const& list, index_type most)
  {
    std::vector<weighed_item> items = cut_boxes(targets, list, most);
    auto const have = [](index_type least)
    {
      return [least](weighed_item const& item)
      {
        return item.item.count >= least;
      };
    };
    auto const wide = std::stable_partition(items.begin(), items.end(), have(gather_wide_targets));
    auto const medium = std::stable_partition(wide, items.end(), have(gather_medium_targets));
    sort_by_size(items.begin(), wide);
    sort_by_size(wide, medium);
    sort_by_size(medium, items.end());
    cuda_items result = without_sizes(items);
    result.n_wide = static_cast<index_type>(wide - items.begin());
    result.n_medium = static_cast<index_type>(medium - wide);
    return result;
  }

  cuda_items mutual_items(boxes const& targets, interaction_list const& half_list, index_type most)
  {
    std::vector<weighed_item> items = cut_boxes(targets, half_list, most);
    sort_by_size(items.begin(), items.end());
    return without_sizes(items);
  }
}
