#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/search/rows.hpp>
#include <nearfield/tree/cell_list.hpp>

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// Sources that a box meets, as one loop: its own points and its ranges, in their order,
  /// with adjacent ones merged.
  struct segment
  {
    index_type begin;
    index_type end;
    index_type shift;
    bool has_own; // the targets are among them, and some of these pairs do not count
  };

  /// The segments of a box, one after another; they are merged on the fly, since few are.
  template <class T, int Dim>
  class segments
  {
  public:
    NEARFIELD_FN segments(search_job<T, Dim> const& job, index_type box)
        : is_one_set_(job.cells->one_set)
    {
      bool const is_half = job.which == pairs::half;
      interaction_list const& list = is_half ? job.cells->half : job.cells->full;
      auto const& own_at = is_half ? job.cells->half_own_at : job.cells->full_own_at;
      at_ = list.ranges.data() + list.offsets[box];
      end_ = list.ranges.data() + list.offsets[box + 1];
      own_ = list.own[box];
      own_is_left_ = own_.begin < own_.end;
      half_of_images_ = is_half ? own_.begin : ~index_type(0);
      own_at_ = at_;
      if (!own_at.empty())
        own_at_ += own_at.data()[box];
      else
        while (own_at_ != end_ && own_at_->begin < own_.begin) ++own_at_;
    }

    /// False if there are none left.
    NEARFIELD_FN bool next(segment& s)
    {
      if (!peek(s)) return false;
      take();
      for (segment more; peek(more) && more.shift == s.shift && more.begin == s.end;)
      {
        s.end = more.end;
        s.has_own |= more.has_own;
        take();
      }
      return true;
    }

  private:
    NEARFIELD_FN bool own_is_next() const { return own_is_left_ && at_ == own_at_; }
    NEARFIELD_FN bool peek(segment& s) const
    {
      if (own_is_next())
        s = {own_.begin, own_.end, 0, is_one_set_};
      else if (at_ != end_)
        s = {at_->begin, at_->end, at_->shift, at_->begin == half_of_images_};
      else
        return false;
      return true;
    }
    NEARFIELD_FN void take()
    {
      if (own_is_next())
        own_is_left_ = false;
      else
        ++at_;
    }

    source_range const* at_;
    source_range const* end_;
    source_range const* own_at_; // the range after the own one
    source_range own_;
    bool own_is_left_;
    index_type half_of_images_; // where images of the box begin, if half of their pairs count
    bool is_one_set_;
  };
}
