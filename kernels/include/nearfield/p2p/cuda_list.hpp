#pragma once

#include <nearfield/core/api.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda_job.hpp>

namespace nearfield
{
  /// The mean number of points per box from which the mutual form of a step with n_out outputs was measured
  /// to be faster than the one-sided form (on an H100).
  constexpr int cuda_mutual_least_points(int n_out)
  {
    return n_out == 1 ? 24 : 128;
  }

  /// The most right-hand sides for which the mutual form was measured to be faster: what it adds to sources, by
  /// atomics, grows with their number, and the one-sided form adds little to its evaluations of K(r). (Measured
  /// for 1 and 8, interpolated between them.)
  constexpr int cuda_mutual_most_right_hand_sides(int n_out)
  {
    return n_out == 1 ? 3 : 1;
  }

  /// Whether the mutual form is faster for n_rhs right-hand sides of n_points in n_boxes boxes.
  constexpr bool cuda_mutual_pays(std::size_t n_points, std::size_t n_boxes, int n_out, int n_rhs)
  {
    return n_boxes > 0 && n_rhs <= cuda_mutual_most_right_hand_sides(n_out) &&
           n_points >= n_boxes * static_cast<std::size_t>(cuda_mutual_least_points(n_out));
  }

  /// Boxes and their interaction list in the memory of the current device, cut into work items for a GPU. It
  /// copies what it needs; any number of steps may use it.
  class NEARFIELD_API cuda_list
  {
  public:
    /// For one-sided steps. n_sources is the size of the set that the ranges of the list index. Throws
    /// nearfield::error if boxes and list do not match, or if the device has too little memory.
    cuda_list(boxes const& targets, interaction_list const& list, std::size_t n_sources);

    /// For mutual steps, over a half list of one set. Also throws nearfield::error if it is not a half list.
    static cuda_list mutual(boxes const& points, interaction_list const& half_list);

    /// The number of targets.
    [[nodiscard]] std::size_t n_targets() const { return n_targets_; }
    /// The number of sources.
    [[nodiscard]] std::size_t n_sources() const { return n_sources_; }
    /// Whether the own range of each box is the box itself, as in the list of one set.
    [[nodiscard]] bool is_of_one_set() const { return is_of_one_set_; }
    /// Whether it was made from a half list, for mutual steps.
    [[nodiscard]] bool is_mutual() const { return is_mutual_; }

    /// Sets the members of a job that describe the list.
    template <class T>
    void give(cuda_job<T>& job) const
    {
      static_cast<list_view&>(job) = {box_offsets_.data(), own_.data(), range_offsets_.data(),
                                      ranges_.data(), shifts_.data()};
      job.items = items_.data();
      job.n_wide = n_wide_;
      job.n_medium = n_medium_;
      job.n_items = static_cast<index_type>(items_.size());
    }

  private:
    cuda_list(boxes const& targets, interaction_list const& list, std::size_t n_sources,
              cuda_items const& items);

    std::size_t n_targets_, n_sources_;
    bool is_of_one_set_ = true, is_mutual_ = false;
    index_type n_wide_, n_medium_;
    device_array<index_type> box_offsets_, range_offsets_;
    device_array<source_range> own_, ranges_;
    device_array<std::array<double, 3>> shifts_;
    device_array<cuda_item> items_;
  };
}
