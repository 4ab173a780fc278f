#include <nearfield/p2p/cuda.hpp>

#include <nearfield/p2p/near_field.hpp>

namespace nearfield
{
  namespace
  {
    std::size_t points_in(boxes const& points)
    {
      return points.size() == 0 ? 0 : points.end(points.size() - 1);
    }

    cuda_items checked_gather_items(boxes const& targets, interaction_list const& list,
                                    std::size_t n_sources)
    {
      detail::check_list("cuda_list", targets, list, points_in(targets), n_sources);
      return detail::gather_items(targets, list);
    }

    cuda_items checked_mutual_items(boxes const& points, interaction_list const& half_list)
    {
      char const* const name = "cuda_list::mutual";
      detail::check_list(name, points, half_list, points_in(points), points_in(points));
      detail::check_own_ranges(name, points, half_list);
      detail::check_half(name, points, half_list);
      return detail::mutual_items(points, half_list);
    }
  }

  cuda_list::cuda_list(boxes const& targets, interaction_list const& list, std::size_t n_sources,
                       cuda_items const& items, cuda_stream stream)
      : n_targets_(points_in(targets)), n_sources_(n_sources),
        box_offsets_(targets.offsets, stream), range_offsets_(list.offsets, stream),
        own_(list.own, stream), ranges_(list.ranges, stream),
        shifts_(list.shifts, stream), view_{box_offsets_.data(), own_.data(), range_offsets_.data(),
                                            ranges_.data(), shifts_.data()},
        items_(items.items, stream), counts_{items.n_wide, items.n_medium,
                                             static_cast<index_type>(items.items.size())}
  {}

  cuda_list::cuda_list(boxes const& targets, interaction_list const& list, std::size_t n_sources,
                       cuda_stream stream)
      : cuda_list(targets, list, n_sources, checked_gather_items(targets, list, n_sources), stream)
  {
    for (index_type b = 0; b < targets.size(); ++b)
      is_of_one_set_ = is_of_one_set_ && detail::is_own_range(targets, list, b);
  }

  cuda_list cuda_list::mutual(boxes const& points, interaction_list const& half_list,
                              cuda_stream stream)
  {
    cuda_list result(points, half_list, points_in(points), checked_mutual_items(points, half_list),
                     stream);
    result.is_mutual_ = true;
    return result;
  }
}
