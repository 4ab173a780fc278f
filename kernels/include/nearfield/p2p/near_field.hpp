#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/p2p/p2p.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// \file
/// The near field over all boxes on the calling thread: every target box meets the sources of its own
/// box and of its neighbours.
///
/// Over a tree or a cell list, columns are in the order of the arrays that it was made from: they are copied into the
/// order of the boxes, and the outputs back, at a cost of about one pass over the points. Boxes and an interaction
/// list know no order but their own: over them, columns are in the order of the boxes. Views are soa or strided, as in
/// <nearfield/p2p/p2p.hpp>.
///
///     nearfield::near_field(nearfield::simd, nearfield::one_over_r<>{}, tree, nearfield::soa{x, y, z},
///                           nearfield::soa{q}, nearfield::soa{phi});
///
/// Outputs are overwritten, or added to with `.accumulate = true`.

namespace nearfield
{
  /// Options of a step on one thread or one GPU.
  struct near_field_options
  {
    /// add to the outputs instead of overwriting them
    bool accumulate = false;
    /// Points of different boxes may coincide, for example because they have moved since the tree was built.
    /// In a tree of the present positions they do not, which saves a test.
    bool ranges_may_coincide = false;
  };

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    inline void check_list(char const* function, boxes const& targets, interaction_list const& list,
                           std::size_t n_targets, std::size_t n_sources)
    {
      std::string const where(function);
      index_type const n = targets.size();
      if (list.own.size() != n || (n > 0 && list.offsets.size() != std::size_t(n) + 1))
        throw error(where + ": the list is for " + std::to_string(list.own.size()) +
                    " boxes, the targets have " + std::to_string(n) +
                    "; give the list of the same tree");
      if ((n > 0 ? targets.offsets[n] : 0) != n_targets)
        throw error(where + ": the boxes hold " + std::to_string(n > 0 ? targets.offsets[n] : 0) +
                    " points, x has " + std::to_string(n_targets) +
                    "; give the points of the same tree, in its order");
      auto const check_range = [&](source_range const& range)
      {
        auto const name = [&]
        {
          return where + ": the list has a range [" + std::to_string(range.begin) + ", " +
                 std::to_string(range.end) + ") ";
        };
        if (range.begin > range.end || range.end > n_sources)
          throw error(name() + "of " + std::to_string(n_sources) +
                      " sources; give the list of the same tree");
        if (range.shift != 0 && range.shift >= list.shifts.size())
          throw error(name() + "with shift " + std::to_string(range.shift) + " of " +
                      std::to_string(list.shifts.size()) + "; give the shifts of the same list");
        if (range.set != 0)
          throw error(name() + "in set " + std::to_string(range.set) +
                      "; a step over one set of columns has set 0 only");
      };
      for (index_type b = 0; b < n; ++b)
        if (targets.offsets[b] > targets.offsets[b + 1] || list.offsets[b] > list.offsets[b + 1])
          throw error(where + ": the offsets of box " + std::to_string(b) +
                      " descend; give offsets that ascend from 0");
      if (n > 0 && (targets.offsets[0] != 0 || list.offsets[n] > list.ranges.size()))
        throw error(where + ": the list has " + std::to_string(list.ranges.size()) +
                    " ranges, its offsets end at " + std::to_string(list.offsets[n]) +
                    ", and the boxes begin at point " + std::to_string(targets.offsets[0]) +
                    "; give the boxes and the list of the same tree");
      for (source_range const& range : list.own) check_range(range);
      for (source_range const& range : list.ranges) check_range(range);
    }

    /// Whether the own range of box b is the box itself, as in a list of one set.
    inline bool is_own_range(boxes const& points, interaction_list const& list, index_type b)
    {
      return list.own[b].begin == points.begin(b) && list.own[b].end == points.end(b);
    }

    /// Throws nearfield::error unless it is for each box: otherwise a list of two sets would pass for one of
    /// one set.
    inline void check_own_ranges(char const* function, boxes const& points,
                                 interaction_list const& list)
    {
      for (index_type b = 0; b < points.size(); ++b)
        if (!is_own_range(points, list, b))
          throw error(std::string(function) + ": box " + std::to_string(b) + " holds the points [" +
                      std::to_string(points.begin(b)) + ", " + std::to_string(points.end(b)) +
                      "), its own range is [" + std::to_string(list.own[b].begin) + ", " +
                      std::to_string(list.own[b].end) +
                      "); give the list of one set, or two sets of points");
    }

    /// Throws nearfield::error if a range does not lie after its box: a full list would count pairs twice.
    inline void check_half(char const* function, boxes const& points, interaction_list const& list)
    {
      for (index_type b = 0; b < points.size(); ++b)
        for (source_range const& range : list.neighbours(b))
          if (range.begin < range.end && range.begin < points.end(b))
            throw error(std::string(function) + ": box " + std::to_string(b) +
                        " meets sources before its end; give a half list (half_interactions())");
    }

    // What does not depend on the interaction is compiled once for float and once for double.

    /// Columns of which the compiler knows neither number nor stride.
    template <class T>
    using any_columns = strided<T, run_time_columns>;

    template <columns_view View>
    any_columns<typename View::value_type> any_columns_of(View const& view)
    {
      using T = typename View::value_type;
      auto const& pointers = pointers_of(view);
      return {soa<T, run_time_columns>({pointers.data(), static_cast<std::size_t>(width_of(view))},
                                       view.size()),
              stride_of(view)};
    }

    /// Columns in the order of boxes, made from those of a view that `order` indexes.
    template <class T>
    class sorted_columns
    {
    public:
      /// Copies the columns unless told not to.
      sorted_columns(std::span<index_type const> order, any_columns<T const> const& from,
                     bool copies = true)
          : order_(order), values_(order.size() * static_cast<std::size_t>(width_of(from)))
      {
        for (int c = 0; c < width_of(from); ++c)
        {
          columns_.push_back(values_.data() + static_cast<std::size_t>(c) * order.size());
          auto const column = from[c];
          T* const to = columns_[c];
          for (std::size_t i = 0; copies && i < order.size(); ++i) to[i] = column[order[i]];
        }
      }

      [[nodiscard]] any_columns<T> view() const
      {
        return soa<T, run_time_columns>(columns_, order_.size());
      }
      /// Copies the columns back.
      void copy_to(any_columns<T> const& to) const
      {
        for (int c = 0; c < width_of(to); ++c)
        {
          auto const column = to[c];
          T const* const from = columns_[c];
          for (std::size_t i = 0; i < order_.size(); ++i) column[order_[i]] = from[i];
        }
      }

    private:
      std::span<index_type const> order_;
      std::vector<T> values_;
      std::vector<T*> columns_;
    };

    /// A step of one thread.
    template <class T>
    struct list_step
    {
      char const* function;
      p2p_function<T> kernel;
      void const* interaction;
      bool tests_for_zero;
      int n_rhs;
      near_field_options options;

      /// One set over a list, or over a half list if the step is mutual.
      void run(boxes const& points, interaction_list const& list, bool is_mutual,
               any_columns<T const> const& x, any_columns<T const> const& q,
               any_columns<T> const& out) const
      {
        check_one_set(function, x, q, out);
        check_list(function, points, list, x.size(), x.size());
        check_own_ranges(function, points, list);
        if (is_mutual) check_half(function, points, list);
        auto job = job_of(points, list);
        job.own_is_self = true;
        job.target_q = q.columns().data();
        job.source_out = out.columns().data();
        p2p_strides const strides{x.stride(), q.stride(), out.stride(),
                                  x.stride(), q.stride(), out.stride()};
        start(job, x, x, q, out, strides);
      }

      /// Two sets.
      void run(boxes const& targets, interaction_list const& list, any_columns<T const> const& x,
               any_columns<T const> const& y, any_columns<T const> const& q,
               any_columns<T> const& out) const
      {
        check_two_sets(function, x, y, q, out);
        check_list(function, targets, list, x.size(), y.size());
        start(job_of(targets, list), x, y, q, out,
              {x.stride(), 1, out.stride(), y.stride(), q.stride(), 1});
      }

      /// One set over leaves, with columns in the order of the arrays that they were made from.
      void run_sorted(std::span<index_type const> order, boxes const& points,
                      interaction_list const& list, bool is_mutual, any_columns<T const> const& x,
                      any_columns<T const> const& q, any_columns<T> const& out) const
      {
        check_view(function, "x", x, order.size());
        check_one_set(function, x, q, out);
        sorted_columns<T> const sorted_x(order, x), sorted_q(order, q),
            sums(order, out, options.accumulate);
        run(points, list, is_mutual, sorted_x.view(), sorted_q.view(), sums.view());
        sums.copy_to(out);
      }

      /// Two sets over leaves.
      void run_sorted(std::span<index_type const> order, std::span<index_type const> source_order,
                      boxes const& targets, interaction_list const& list,
                      any_columns<T const> const& x, any_columns<T const> const& y,
                      any_columns<T const> const& q, any_columns<T> const& out) const
      {
        check_view(function, "x", x, order.size());
        check_view(function, "y", y, source_order.size());
        check_two_sets(function, x, y, q, out);
        sorted_columns<T> const sorted_x(order, x), sorted_y(source_order, y),
            sorted_q(source_order, q), sums(order, out, options.accumulate);
        run(targets, list, sorted_x.view(), sorted_y.view(), sorted_q.view(), sums.view());
        sums.copy_to(out);
      }

    private:
      p2p_job<T> job_of(boxes const& targets, interaction_list const& list) const
      {
        p2p_job<T> job;
        static_cast<list_view&>(job) = {targets.offsets.data(), list.own.data(),
                                        list.offsets.data(), list.ranges.data(),
                                        list.shifts.data()};
        job.last_box = targets.size();
        job.tests_for_zero = tests_for_zero;
        job.ranges_may_coincide = options.ranges_may_coincide;
        job.n_rhs = n_rhs;
        return job;
      }

      void start(p2p_job<T> job, any_columns<T const> const& x, any_columns<T const> const& y,
                 any_columns<T const> const& q, any_columns<T> const& out,
                 p2p_strides const& strides) const
      {
        job.target_x = x.columns().data();
        job.source_x = y.columns().data();
        job.source_q = q.columns().data();
        job.target_out = out.columns().data();
        if (x.stride() != 1 || y.stride() != 1 || q.stride() != 1 || out.stride() != 1)
          job.strides = &strides;
        for (int c = 0; c < width_of(out); ++c)
        {
          auto const column = out[c];
          for (std::size_t i = 0; !options.accumulate && i < out.size(); ++i) column[i] = 0;
        }
        kernel(interaction, job);
      }
    };

    template <class T, class K>
    list_step<T> list_step_of(char const* function, p2p_function<T> kernel, K const& k, int n_rhs,
                              near_field_options const& options)
    {
      return {function, kernel, &k, detail::tests_for_zero<T>(k), n_rhs, options};
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// One set: out_i = sum_{j != i} K(x_i - x_j) q_j over the points j of all boxes that the box of i meets;
  /// += with options.accumulate.
  ///
  /// Columns are in the order of the boxes. Deterministic: terms are added in the order of the list.
  /// Throws nearfield::error for views that differ in size, are null or overlap, and if boxes, list
  /// and columns do not match.
  template <cpu_backend Backend, interaction K, columns_view X, columns_view Q, columns_view Out>
  void near_field(Backend where, K const& k, boxes const& points, interaction_list const& list,
                  X const& x, Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::list_step_of<T>("near_field", kernels_of<T, K>(where).one_sided, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run(points, list, false, detail::any_columns_of(x), detail::any_columns_of(q),
             detail::any_columns_of(out));
  }

  /// As near_field, with one evaluation per pair, over a half list: about twice as fast.
  template <cpu_backend Backend, interaction K, columns_view X, columns_view Q, columns_view Out>
  requires detail::has_way_back<K>
  void near_field_mutual(Backend where, K const& k, boxes const& points,
                         interaction_list const& half_list, X const& x, Q const& q, Out const& out,
                         near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::list_step_of<T>("near_field_mutual", kernels_of<T, K>(where).mutual, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run(points, half_list, true, detail::any_columns_of(x), detail::any_columns_of(q),
             detail::any_columns_of(out));
  }

  /// Two sets: out_i = sum_j K(x_i - y_j) q_j over the sources j of all boxes that the box of target i meets;
  /// += with options.accumulate.
  template <cpu_backend Backend, interaction K, columns_view X, columns_view Y, columns_view Q,
            columns_view Out>
  void near_field(Backend where, K const& k, boxes const& targets, interaction_list const& list,
                  X const& x, Y const& y, Q const& q, Out const& out,
                  near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::list_step_of<T>("near_field", kernels_of<T, K>(where).one_sided, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run(targets, list, detail::any_columns_of(x), detail::any_columns_of(y),
             detail::any_columns_of(q), detail::any_columns_of(out));
  }

  /// One set over a tree or a cell list: as above, with columns in the order of the arrays that it was made from.
  template <cpu_backend Backend, interaction K, has_leaves Leaves, columns_view X, columns_view Q,
            columns_view Out>
  void near_field(Backend where, K const& k, Leaves const& leaves, X const& x, Q const& q,
                  Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::list_step_of<T>("near_field", kernels_of<T, K>(where).one_sided, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run_sorted(leaves.target_order(), leaves.targets(), leaves.interactions(), false,
                    detail::any_columns_of(x), detail::any_columns_of(q),
                    detail::any_columns_of(out));
  }

  /// The same with one evaluation per pair. Throws nearfield::error for leaves of two sets.
  template <cpu_backend Backend, interaction K, has_leaves Leaves, columns_view X, columns_view Q,
            columns_view Out>
  requires detail::has_way_back<K>
  void near_field_mutual(Backend where, K const& k, Leaves const& leaves, X const& x, Q const& q,
                         Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::list_step_of<T>("near_field_mutual", kernels_of<T, K>(where).mutual, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run_sorted(leaves.target_order(), leaves.targets(), leaves.half_interactions(), true,
                    detail::any_columns_of(x), detail::any_columns_of(q),
                    detail::any_columns_of(out));
  }

  /// Two sets over the tree or the cell list of both: targets x, sources y with inputs q.
  template <cpu_backend Backend, interaction K, has_leaves Leaves, columns_view X, columns_view Y,
            columns_view Q, columns_view Out>
  void near_field(Backend where, K const& k, Leaves const& leaves, X const& x, Y const& y,
                  Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::list_step_of<T>("near_field", kernels_of<T, K>(where).one_sided, k,
                            detail::right_hand_sides<K>(q, out), options)
        .run_sorted(leaves.target_order(), leaves.source_order(), leaves.targets(),
                    leaves.interactions(), detail::any_columns_of(x), detail::any_columns_of(y),
                    detail::any_columns_of(q), detail::any_columns_of(out));
  }
}
