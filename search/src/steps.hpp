#pragma once

#include "search_kernels.hpp"
#include "segments.hpp"

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// The steps of a box, `Width` sources each, written to scratch.steps once for all of its targets. Segments
  /// are short: a loop for each would end in a mispredicted branch. Their steps form one loop.
  template <int Width, class T, int Dim>
  class box_steps
  {
  public:
    box_steps(search_job<T, Dim> const& job, cell_system<T, Dim> const& system,
              search_scratch const& scratch, index_type box)
        : system_(system), runs_(scratch.runs), images_(scratch.images),
          images_stride_(scratch.images_stride)
    {
      search_step* const steps = scratch.steps;
      segments<T, Dim> all(job, box);
      index_type n = 0;
      for (segment s; all.next(s);)
      {
        if (size_ == 0 || runs_[size_ - 1].shift != s.shift)
          runs_[size_++] = {n, n, s.shift, false, 0, 0};
        step_run& run = runs_[size_ - 1];
        if (s.has_own)
        {
          run.has_own = true;
          run.own_step = n;
          run.own_first = s.begin;
        }
        index_type j = s.begin;
        for (; s.end - j > width; j += width) steps[n++] = {j, 0};
        steps[n++] = {j, width - (s.end - j)};
        run.end = n;
      }
    }

    /// The system of the box.
    [[nodiscard]] cell_system<T, Dim> const& system() const { return system_; }
    [[nodiscard]] step_run const* begin() const { return runs_; }
    [[nodiscard]] step_run const* end() const { return runs_ + size_; }

    /// The step of a run that holds a position of its own points.
    [[nodiscard]] static index_type own_step(step_run const& run, index_type position)
    {
      return run.own_step + (position - run.own_first) / width;
    }

    /// Whether rows tell their images: then end_run() notes how many points row b of a block has after a run.
    [[nodiscard]] bool has_images() const { return images_ != nullptr; }
    void end_run(step_run const& run, int b, index_type n) const
    {
      images(b)[&run - runs_] = {n, static_cast<std::uint16_t>(run.shift)};
    }
    /// Null without images.
    [[nodiscard]] image_run* images(int b) const
    {
      return images_ + static_cast<std::size_t>(b) * images_stride_;
    }

  private:
    static constexpr index_type width = Width;

    cell_system<T, Dim> const& system_;
    step_run* runs_;
    image_run* images_;
    std::size_t images_stride_;
    index_type size_ = 0;
  };
}
