#include <nearfield/p2p/near_field.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nearfield::detail
{
  void check_list(char const* function, boxes const& targets, interaction_list const& list,
                  std::size_t n_targets, std::size_t n_sources)
  {
    std::string const name(function);
    index_type const n = targets.size();
    if (list.own.size() != n || (n > 0 && list.offsets.size() != std::size_t(n) + 1))
      throw error(name + ": the list is for " + std::to_string(list.own.size()) +
                  " boxes, the targets have " + std::to_string(n) +
                  "; give the list of the same tree");
    if ((n > 0 ? targets.offsets[n] : 0) != n_targets)
      throw error(name + ": the boxes hold " + std::to_string(n > 0 ? targets.offsets[n] : 0) +
                  " points, x has " + std::to_string(n_targets) +
                  "; give the points of the same tree, in its order");
    auto const check_range = [&](source_range const& range)
    {
      auto const found = [&]
      {
        return name + ": the list has a range [" + std::to_string(range.begin) + ", " +
               std::to_string(range.end) + ") ";
      };
      if (range.begin > range.end || range.end > n_sources)
        throw error(found() + "of " + std::to_string(n_sources) +
                    " sources; give the list of the same tree");
      if (range.shift != 0 && range.shift >= list.shifts.size())
        throw error(found() + "with shift " + std::to_string(range.shift) + " of " +
                    std::to_string(list.shifts.size()) + "; give the shifts of the same list");
      if (range.set != 0)
        throw error(found() + "in set " + std::to_string(range.set) +
                    "; a step over one set of columns has set 0 only");
    };
    for (index_type b = 0; b < n; ++b)
      if (targets.offsets[b] > targets.offsets[b + 1] || list.offsets[b] > list.offsets[b + 1])
        throw error(name + ": the offsets of box " + std::to_string(b) +
                    " descend; give offsets that ascend from 0");
    if (n > 0 && (targets.offsets[0] != 0 || list.offsets[n] > list.ranges.size()))
      throw error(name + ": the list has " + std::to_string(list.ranges.size()) +
                  " ranges, its offsets end at " + std::to_string(list.offsets[n]) +
                  ", and the boxes begin at point " + std::to_string(targets.offsets[0]) +
                  "; give the boxes and the list of the same tree");
    for (source_range const& range : list.own) check_range(range);
    for (source_range const& range : list.ranges) check_range(range);
  }

  void check_sets(char const* function, bool leaves_have_one_set, bool given_one_set)
  {
    if (leaves_have_one_set == given_one_set) return;
    throw error(std::string(function) + ": the leaves are of " +
                (leaves_have_one_set ? "one set of points, the step is given two"
                                     : "two sets of points, the step is given one") +
                "; make the tree, or the cell list, from the same views");
  }

  void check_own_ranges(char const* function, boxes const& points, interaction_list const& list)
  {
    for (index_type b = 0; b < points.size(); ++b)
      if (!is_own_range(points, list, b))
        throw error(std::string(function) + ": box " + std::to_string(b) + " holds the points [" +
                    std::to_string(points.begin(b)) + ", " + std::to_string(points.end(b)) +
                    "), its own range is [" + std::to_string(list.own[b].begin) + ", " +
                    std::to_string(list.own[b].end) +
                    "); give the list of one set, or two sets of points");
  }

  void check_half(char const* function, boxes const& points, interaction_list const& list)
  {
    auto const is_before_end = [&](source_range const& range, index_type b)
    {
      bool const is_image = range.shift != 0 && range.begin == points.begin(b); // of the box
      return range.begin < range.end && range.begin < points.end(b) && !is_image;
    };
    for (index_type b = 0; b < points.size(); ++b)
      for (source_range const& range : list.neighbours(b))
        if (is_before_end(range, b))
          throw error(std::string(function) + ": box " + std::to_string(b) +
                      " meets sources before its end; give a half list (half_interactions())");
  }

  namespace
  {
    /// Calls f(begin, end) for parts of [0, n), on the threads of `on` or on the calling one.
    template <class F>
    void for_parts(executor* on, std::size_t n, F const& f)
    {
      constexpr std::size_t size = std::size_t(1) << 15;
      std::size_t const parts = (n + size - 1) / size;
      if (!on || parts < 2) return f(0, n);
      on->run(static_cast<int>(parts),
              [&](int p) {
                f(static_cast<std::size_t>(p) * size,
                  std::min(n, (static_cast<std::size_t>(p) + 1) * size));
              });
    }

    /// The first boxes of parts with about equal numbers of pairs, several for each thread: they take unequal time.
    std::vector<index_type> cut_boxes(executor const& on, boxes const& targets,
                                      interaction_list const& list)
    {
      index_type const n = targets.size();
      std::vector<double> before(std::size_t(n) + 1, 0.);
      for (index_type b = 0; b < n; ++b)
      {
        double sources = 1. + list.own[b].end - list.own[b].begin;
        for (source_range const& range : list.neighbours(b)) sources += range.end - range.begin;
        before[b + std::size_t(1)] = before[b] + (1. + targets.count(b)) * sources;
      }
      int const n_parts = 8 * on.workers();
      std::vector<index_type> first{0};
      for (int p = 1; p < n_parts; ++p)
      {
        auto const cut = std::lower_bound(before.begin(), before.end(), before[n] * p / n_parts);
        if (auto const b = static_cast<index_type>(cut - before.begin()); b > first.back() && b < n)
          first.push_back(b);
      }
      first.push_back(n);
      return first;
    }

    /// Columns in the order of boxes, made from those of a view that `order` indexes.
    template <class T>
    class sorted_columns
    {
    public:
      /// Copies the columns, or leaves their values to be set later.
      sorted_columns(executor* on, std::span<index_type const> order,
                     any_columns<T const> const& from, bool copies = true)
          : on_(on), order_(order), values_(std::make_unique_for_overwrite<T[]>(
                                        order.size() * static_cast<std::size_t>(width_of(from))))
      {
        for (int c = 0; c < width_of(from); ++c)
          columns_.push_back(values_.get() + static_cast<std::size_t>(c) * order.size());
        if (!copies) return;
        for_parts(on_, order.size(),
                  [&](std::size_t begin, std::size_t end)
                  {
                    for (int c = 0; c < width_of(from); ++c)
                    {
                      auto const column = from[c];
                      T* const to = columns_[c];
                      for (std::size_t i = begin; i < end; ++i) to[i] = column[order[i]];
                    }
                  });
      }

      [[nodiscard]] any_columns<T> view() const
      {
        return soa<T, run_time_columns>(columns_, order_.size());
      }
      /// Copies the columns back.
      void copy_to(any_columns<T> const& to) const
      {
        for_parts(on_, order_.size(),
                  [&](std::size_t begin, std::size_t end)
                  {
                    for (int c = 0; c < width_of(to); ++c)
                    {
                      auto const column = to[c];
                      T const* const from = columns_[c];
                      for (std::size_t i = begin; i < end; ++i) column[order_[i]] = from[i];
                    }
                  });
      }

    private:
      executor* on_;
      std::span<index_type const> order_;
      std::unique_ptr<T[]> values_;
      std::vector<T*> columns_;
    };

    template <class T>
    p2p_job<T> job_of(list_step<T> const& step, boxes const& targets, interaction_list const& list)
    {
      p2p_job<T> job;
      static_cast<list_view&>(job) = {targets.offsets.data(), list.own.data(), list.offsets.data(),
                                      list.ranges.data(), list.shifts.data()};
      job.last_box = targets.size();
      job.tests_for_zero = step.tests_for_zero;
      job.ranges_may_coincide = step.options.ranges_may_coincide;
      job.n_rhs = step.n_rhs;
      return job;
    }

    /// Sets outputs [begin, end) to zero.
    template <class T>
    void clear(any_columns<T> const& out, std::size_t begin, std::size_t end)
    {
      for (int c = 0; c < width_of(out); ++c)
      {
        auto const column = out[c];
        if (column.stride == 1)
          std::fill(column.first + begin, column.first + end, T(0));
        else
          for (std::size_t i = begin; i < end; ++i) column[i] = 0;
      }
    }

    template <class T>
    void start(list_step<T> const& step, p2p_job<T> job, boxes const& targets,
               interaction_list const& list, any_columns<T const> const& x,
               any_columns<T const> const& y, any_columns<T const> const& q,
               any_columns<T> const& out, p2p_strides const& strides)
    {
      job.target_x = x.columns().data();
      job.source_x = y.columns().data();
      job.source_q = q.columns().data();
      job.target_out = out.columns().data();
      if (x.stride() != 1 || y.stride() != 1 || q.stride() != 1 || out.stride() != 1)
        job.strides = &strides;
      auto const run = [&](index_type first, index_type last)
      {
        p2p_job<T> part = job;
        part.first_box = first;
        part.last_box = last;
        if (!step.options.accumulate && last > 0)
          clear(out, targets.offsets[first], targets.offsets[last]);
        step.kernel(step.interaction, part);
      };
      if (!step.threads) return run(0, targets.size());
      auto const first = cut_boxes(*step.threads, targets, list);
      step.threads->run(static_cast<int>(first.size() - 1),
                        [&](int p) { run(first[p], first[p + 1]); });
    }
  }

  namespace
  {
    constexpr char const* function = "near_field";
  }

  template <class T>
  void list_step<T>::run(boxes const& points, interaction_list const& list,
                         any_columns<T const> const& x, any_columns<T const> const& q,
                         any_columns<T> const& out) const
  {
    check_one_set(function, x, q, out);
    check_list(function, points, list, x.size(), x.size());
    check_own_ranges(function, points, list);
    if (is_mutual) check_half(function, points, list);
    if (is_mutual && threads)
      throw error("near_field: in the form mutual boxes add to each other's outputs, which takes "
                  "one thread: give simd, or the form one_sided");
    auto job = job_of(*this, points, list);
    job.own_is_self = true;
    job.target_q = q.columns().data();
    job.source_out = out.columns().data();
    p2p_strides const strides{x.stride(), q.stride(), out.stride(),
                              x.stride(), q.stride(), out.stride()};
    start(*this, job, points, list, x, x, q, out, strides);
  }

  template <class T>
  void list_step<T>::run(boxes const& targets, interaction_list const& list,
                         any_columns<T const> const& x, any_columns<T const> const& y,
                         any_columns<T const> const& q, any_columns<T> const& out) const
  {
    check_two_sets(function, x, y, q, out);
    check_list(function, targets, list, x.size(), y.size());
    start(*this, job_of(*this, targets, list), targets, list, x, y, q, out,
          {x.stride(), 1, out.stride(), y.stride(), q.stride(), 1});
  }

  template <class T>
  void list_step<T>::run_sorted(std::span<index_type const> order, boxes const& points,
                                interaction_list const& list, any_columns<T const> const& x,
                                any_columns<T const> const& q, any_columns<T> const& out) const
  {
    check_view(function, "x", x, order.size());
    check_one_set(function, x, q, out);
    sorted_columns<T> const sorted_x(threads, order, x), sorted_q(threads, order, q),
        sums(threads, order, out, options.accumulate);
    run(points, list, sorted_x.view(), sorted_q.view(), sums.view());
    sums.copy_to(out);
  }

  template <class T>
  void list_step<T>::run_sorted(std::span<index_type const> order,
                                std::span<index_type const> source_order, boxes const& targets,
                                interaction_list const& list, any_columns<T const> const& x,
                                any_columns<T const> const& y, any_columns<T const> const& q,
                                any_columns<T> const& out) const
  {
    check_view(function, "x", x, order.size());
    check_view(function, "y", y, source_order.size());
    check_two_sets(function, x, y, q, out);
    sorted_columns<T> const sorted_x(threads, order, x), sorted_y(threads, source_order, y),
        sorted_q(threads, source_order, q), sums(threads, order, out, options.accumulate);
    run(targets, list, sorted_x.view(), sorted_y.view(), sorted_q.view(), sums.view());
    sums.copy_to(out);
  }

  template struct list_step<float>;
  template struct list_step<double>;
}
