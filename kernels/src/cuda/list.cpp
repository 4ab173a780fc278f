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

    detail::cuda_items checked_items(boxes const& targets, interaction_list const& list,
                                     std::size_t n_sources, bool is_mutual)
    {
      char const* const name = "cuda_list";
      detail::check_list(name, targets, list, points_in(targets), n_sources);
      if (!is_mutual) return detail::gather_items(targets, list);
      detail::check_own_ranges(name, targets, list);
      detail::check_half(name, targets, list);
      return detail::mutual_items(targets, list);
    }
  }

  cuda_list::cuda_list(cuda_stream stream, boxes const& targets, interaction_list const& list,
                       std::size_t n_sources, detail::cuda_items const& items, bool is_mutual)
      : n_targets_(points_in(targets)), n_sources_(n_sources), is_mutual_(is_mutual),
        box_offsets_(targets.offsets, stream), range_offsets_(list.offsets, stream),
        own_(list.own, stream), ranges_(list.ranges, stream), shifts_(list.shifts, stream),
        view_{box_offsets_.data(), own_.data(), range_offsets_.data(), ranges_.data(),
              shifts_.data()},
        items_(items.items, stream),
        counts_{items.n_wide, items.n_medium, static_cast<index_type>(items.items.size())}
  {
    for (index_type b = 0; b < targets.size(); ++b)
      is_of_one_set_ = is_of_one_set_ && detail::is_own_range(targets, list, b);
  }

  cuda_list::cuda_list(cuda_backend where, boxes const& targets, interaction_list const& list,
                       std::size_t n_sources, pair_form form)
      : cuda_list(where.stream, targets, list, n_sources,
                  checked_items(targets, list, n_sources, form == pair_form::mutual),
                  form == pair_form::mutual)
  {}
}
