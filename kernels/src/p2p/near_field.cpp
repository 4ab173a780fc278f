#include <nearfield/p2p/near_field.hpp>

#include "excluded.hpp"
#include "group_job.hpp"
#include "groups.hpp"
#include "plan.hpp"

#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// The first i below n with is_bad(i), or n.
    template <class F>
    index_type first_bad(executor* on, std::size_t n, F const& is_bad)
    {
      executor& threads = threads_or_here(on);
      loop_parts const loop = cut(threads, n, std::size_t(1) << 14);
      std::vector<std::size_t> found(static_cast<std::size_t>(loop.parts), n);
      for_each_part(threads, loop,
                    [&](int part, std::size_t begin, std::size_t end)
                    {
                      while (begin < end && !is_bad(static_cast<index_type>(begin))) ++begin;
                      if (begin < end) found[static_cast<std::size_t>(part)] = begin;
                    });
      return static_cast<index_type>(*std::min_element(found.begin(), found.end()));
    }

    void check_ranges(char const* function, std::span<source_range const> ranges,
                      std::size_t n_shifts, std::size_t n_sources, executor* on)
    {
      auto const is_outside = [=](source_range const& range)
      {
        return range.begin > range.end || range.end > n_sources;
      };
      auto const has_no_shift = [=](source_range const& range)
      {
        return range.shift != 0 && range.shift >= n_shifts;
      };
      auto const is_bad = [=](index_type i)
      {
        source_range const& range = ranges[i];
        return is_outside(range) || has_no_shift(range) || range.set != 0;
      };
      index_type const bad = first_bad(on, ranges.size(), is_bad);
      if (bad == ranges.size()) return;
      source_range const& range = ranges[bad];
      std::string const found = std::string(function) + ": the list has a range [" +
                                std::to_string(range.begin) + ", " + std::to_string(range.end) +
                                ") ";
      if (is_outside(range))
        throw error(found + "of " + std::to_string(n_sources) +
                    " sources; give the list of the same tree");
      if (has_no_shift(range))
        throw error(found + "with shift " + std::to_string(range.shift) + " of " +
                    std::to_string(n_shifts) + "; give the shifts of the same list");
      throw error(found + "in set " + std::to_string(range.set) +
                  "; a step over one set of columns has set 0 only");
    }
  }

  void check_list(char const* function, boxes const& targets, interaction_list const& list,
                  std::size_t n_targets, std::size_t n_sources, executor* on)
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
    auto const descend = [&](index_type b)
    {
      return targets.offsets[b] > targets.offsets[b + 1] || list.offsets[b] > list.offsets[b + 1];
    };
    if (index_type const b = first_bad(on, n, descend); b < n)
      throw error(name + ": the offsets of box " + std::to_string(b) +
                  " descend; give offsets that ascend from 0");
    if (n > 0 && (targets.offsets[0] != 0 || list.offsets[n] > list.ranges.size()))
      throw error(name + ": the list has " + std::to_string(list.ranges.size()) +
                  " ranges, its offsets end at " + std::to_string(list.offsets[n]) +
                  ", and the boxes begin at point " + std::to_string(targets.offsets[0]) +
                  "; give the boxes and the list of the same tree");
    check_ranges(function, list.own, list.shifts.size(), n_sources, on);
    check_ranges(function, list.ranges, list.shifts.size(), n_sources, on);
  }

  void check_sets(char const* function, bool leaves_have_one_set, bool given_one_set)
  {
    if (leaves_have_one_set == given_one_set) return;
    throw error(std::string(function) + ": the leaves are of " +
                (leaves_have_one_set ? "one set of points, the step is given two"
                                     : "two sets of points, the step is given one") +
                "; make the tree, or the cell list, from the same views");
  }

  void check_own_ranges(char const* function, boxes const& points, interaction_list const& list,
                        executor* on)
  {
    index_type const n = points.size();
    auto const is_other = [&](index_type b)
    {
      return !is_own_range(points, list, b);
    };
    if (index_type const b = first_bad(on, n, is_other); b < n)
      throw error(std::string(function) + ": box " + std::to_string(b) + " holds the points [" +
                  std::to_string(points.begin(b)) + ", " + std::to_string(points.end(b)) +
                  "), its own range is [" + std::to_string(list.own[b].begin) + ", " +
                  std::to_string(list.own[b].end) +
                  "); give the list of one set, or two sets of points");
  }

  void check_half(char const* function, boxes const& points, interaction_list const& list,
                  executor* on)
  {
    auto const is_before_end = [&](index_type b)
    {
      for (source_range const& range : list.neighbours(b))
      {
        bool const is_image = range.shift != 0 && range.begin == points.begin(b); // of the box
        if (range.begin < range.end && range.begin < points.end(b) && !is_image) return true;
      }
      return false;
    };
    index_type const n = points.size();
    if (index_type const b = first_bad(on, n, is_before_end); b < n)
      throw error(std::string(function) + ": box " + std::to_string(b) +
                  " meets sources before its end; give a half list (half_interactions())");
  }

  namespace
  {
    /// Columns in the order of boxes, made from those of a view that `order` indexes.
    template <class T>
    class sorted_columns
    {
    public:
      /// Copies the columns, or leaves their values to be set later.
      sorted_columns(executor* on, std::span<index_type const> order,
                     any_columns<T const> const& from, bool copies = true)
          : on_(threads_or_here(on)), order_(order),
            values_(std::make_unique_for_overwrite<T[]>(order.size() *
                                                        static_cast<std::size_t>(width_of(from))))
      {
        for (int c = 0; c < width_of(from); ++c)
          columns_.push_back(values_.get() + static_cast<std::size_t>(c) * order.size());
        if (copies) gather_columns(on_, order, width_of(from), from, columns_.data());
      }

      [[nodiscard]] any_columns<T> view() const
      {
        return soa<T, run_time_columns>(columns_, order_.size());
      }
      /// Adds to each coordinate, if anything; parameters stay.
      void move(std::span<std::array<double, 3> const> by) const
      {
        for_each_part(on_, cut(on_, by.size()),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        for (std::size_t d = 0; d < std::min<std::size_t>(columns_.size(), 3); ++d)
                          for (std::size_t p = begin; p < end; ++p)
                            columns_[d][p] = static_cast<T>(double(columns_[d][p]) + by[p][d]);
                      });
      }
      /// Copies the columns back.
      void copy_to(any_columns<T> const& to) const
      {
        scatter_columns(on_, order_, width_of(to), columns_.data(), to);
      }

    private:
      executor& on_;
      std::span<index_type const> order_;
      std::unique_ptr<T[]> values_;
      std::vector<T*> columns_;
    };

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

    /// Targets x with outputs, and sources y with inputs; of one set the same points.
    template <class T>
    struct step_columns
    {
      any_columns<T const> const &x, &y, &q;
      any_columns<T> const& out;

      [[nodiscard]] p2p_strides strides() const
      {
        return {x.stride(), q.stride(), out.stride(), y.stride(), q.stride(), out.stride()};
      }
    };

    /// A job without boxes and columns.
    template <class T>
    p2p_job<T> job_of(list_step<T> const& step)
    {
      p2p_job<T> job;
      job.tests_for_zero = step.tests_for_zero;
      job.ranges_may_coincide = step.options.ranges_may_coincide;
      job.n_rhs = step.n_rhs;
      return job;
    }

    /// No two parts add to the same outputs, or there is one.
    template <class T>
    void run_parts(list_step<T> const& step, leaf_groups_view const& leaves,
                   step_columns<T> const& columns, excluded_rows const& excluded)
    {
      auto const& [x, y, q, out] = columns;
      interaction_list const& list = step.is_mutual ? leaves.half : leaves.full;
      p2p_job<T> job = job_of(step);
      static_cast<list_view&>(job) = {leaves.targets.offsets.data(), list.own.data(),
                                      list.offsets.data(), list.ranges.data(), list.shifts.data()};
      job.own_is_self = leaves.has_one_set;
      job.target_x = x.columns().data();
      job.source_x = y.columns().data();
      job.source_q = job.target_q = q.columns().data();
      job.target_out = job.source_out = out.columns().data();
      p2p_strides const strides = columns.strides();
      if (x.stride() != 1 || y.stride() != 1 || q.stride() != 1 || out.stride() != 1)
        job.strides = &strides;
      auto const run =
          [&step, &job, &leaves, &excluded, &to = out](index_type first, index_type last)
      {
        p2p_job<T> part = job;
        part.first_box = first;
        part.last_box = last;
        if (!step.options.accumulate && last > 0)
          clear(to, leaves.targets.offsets[first], leaves.targets.offsets[last]);
        run_kernel(step.kernel, step.interaction, part, step.is_mutual, {&excluded});
      };
      index_type const n = leaves.targets.size();
      if (!step.threads) return run(0, n);
      constexpr std::size_t parts_of_thread = 8; // they take unequal time
      std::vector<index_type> first{0};
      cut_evenly(cumulated_pairs(leaves, pair_form::one_sided, step.threads), n,
                 parts_of_thread * static_cast<std::size_t>(workers_of(*step.threads)), first);
      step.threads->run(static_cast<int>(first.size() - 1),
                        [&](int p) { run(first[p], first[p + 1]); });
    }

    /// The form mutual on threads: a group of boxes adds to its own points and, in place of points of later groups, to
    /// a halo; then each group adds what halos have for it. Groups and the order of sums do not depend on the threads.
    template <class T>
    class mutual_groups
    {
    public:
      mutual_groups(list_step<T> const& step, leaf_groups_view leaves,
                    step_columns<T> const& columns, excluded_rows const& excluded)
          : step_(step), columns_(columns), excluded_(excluded)
      {
        constexpr double least_pairs = 1e6, most_groups = 512;
        std::vector<double> const pairs = cumulated_pairs(leaves, pair_form::mutual, step.threads);
        double const n = std::clamp(pairs.back() / least_pairs, 1., most_groups);
        std::vector<index_type> first{0};
        cut_evenly(pairs, leaves.targets.size(), static_cast<std::size_t>(n), first);
        leaves.first_leaf = first;
        plan_ = plan_mutual(leaves, false, 1, step.threads);
        halos_.resize(plan_.groups.size());
      }

      void run()
      {
        int const n = static_cast<int>(plan_.groups.size());
        step_.threads->run(n, [&](int turn) { compute(plan_.by_priority[unsigned(turn)]); });
        step_.threads->run(n, [&](int group) { add_halos(plan_.groups[unsigned(group)]); });
      }

    private:
      /// The column of a halo, with the stride of the outputs.
      [[nodiscard]] T* halo_column(std::size_t g, int c) const
      {
        return halos_[g].get() + static_cast<std::size_t>(c) * halo_values(g);
      }
      [[nodiscard]] std::size_t halo_values(std::size_t g) const
      {
        return plan_.groups[g].halo_size * static_cast<std::size_t>(columns_.out.stride());
      }

      void compute(std::size_t g)
      {
        auto const& [x, y, q, out] = columns_;
        group_plan const& group = plan_.groups[g];
        constexpr index_type all_points = 0; // are one buffer
        int const n_out = width_of(out);
        halos_[g] = std::make_unique<T[]>(halo_values(g) * static_cast<std::size_t>(n_out));
        std::vector<T*> sums, halo;
        for (int c = 0; c < n_out; ++c)
        {
          sums.push_back(&out[c][group.targets.begin]);
          halo.push_back(halo_column(g, c));
        }
        if (!step_.options.accumulate) clear(out, group.targets.begin, group.targets.end);
        run_group<T>(step_.kernel, step_.interaction, job_of(step_), group.head,
                     {group.head, group.list.data()},
                     {width_of(x), width_of(q), n_out, x.columns().data(), q.columns().data(),
                      sums.data(), halo.data(), columns_.strides()},
                     {&excluded_, &all_points});
      }

      void add_halos(group_plan const& group) const
      {
        for (int c = 0; c < width_of(columns_.out); ++c)
          for (halo_piece const& piece : group.pieces)
          {
            std::size_t const from = group.reached_from[piece.halo];
            std::ptrdiff_t const stride = columns_.out.stride();
            T const* const halo = halo_column(from, c) + piece.halo_begin * stride;
            T* const sum = &columns_.out[c][group.targets.begin + piece.begin];
            for (index_type i = 0; i < piece.size; ++i) sum[i * stride] += halo[i * stride];
          }
      }

      list_step<T> const& step_;
      step_columns<T> const columns_;
      excluded_rows const& excluded_;
      step_plan plan_;
      std::vector<std::unique_ptr<T[]>> halos_; ///< by group
    };

    constexpr char const* function = "near_field";

    template <class T>
    void check_views(bool has_one_set, step_set<T> const& targets, step_set<T> const& sources)
    {
      if (has_one_set)
        check_one_set(function, targets.x, targets.q, targets.out);
      else
        check_two_sets(function, targets.x, sources.x, sources.q, targets.out);
    }

    /// The excluded pairs of a step by position.
    template <class T>
    excluded_rows excluded_of(list_step<T> const& step, leaf_groups_view const& leaves,
                              std::size_t n_targets, std::size_t n_sources)
    {
      return excluded_in(leaves, n_targets, n_sources, step.options.excluded_offsets,
                         step.options.excluded, threads_or_here(step.threads));
    }

    template <class T>
    void run_groups(list_step<T> const& step, leaf_groups_view const& leaves,
                    step_set<T> const& targets, step_set<T> const& sources,
                    excluded_rows const& excluded)
    {
      step_columns<T> const columns{targets.x, sources.x, sources.q, targets.out};
      if (step.is_mutual && step.threads && columns.x.size() > 0)
        mutual_groups<T>(step, leaves, columns, excluded).run();
      else
        run_parts<T>(step, leaves, columns, excluded);
    }

    /// The leaves [first, last) as leaves of their own, whose offsets do not begin at 0.
    leaf_groups_view cut_leaves(leaf_groups_view leaves, index_type first, index_type last,
                                std::span<std::array<double, 3> const> shifts)
    {
      index_type const n = last - first;
      leaves.targets.offsets = leaves.targets.offsets.subspan(first, std::size_t(n) + 1);
      if (leaves.has_one_set) leaves.sources = leaves.targets;
      leaves.systems = {};
      for (interaction_list* list : {&leaves.full, &leaves.half})
      {
        if (list->own.empty()) continue;
        list->own = list->own.subspan(first, n);
        list->offsets = list->offsets.subspan(first, std::size_t(n) + 1);
        list->shifts = shifts;
      }
      return leaves;
    }

    /// System by system, each as on its own: several at once, or on all threads where there are fewer than these.
    template <class T>
    void run_systems(list_step<T> const& step, leaf_groups_view const& leaves,
                     step_set<T> const& targets, step_set<T> const& sources,
                     excluded_rows const& excluded)
    {
      std::size_t const n = leaves.systems.size();
      list_step<T> one = step;
      this_thread here;
      bool const at_once = step.threads && n >= std::size_t(workers_of(*step.threads));
      if (at_once) one.threads = &here;
      auto const run = [&](std::size_t s)
      {
        leaf_system const& system = leaves.systems[s];
        if (system.first_leaf < system.last_leaf)
          run_groups(one, cut_leaves(leaves, system.first_leaf, system.last_leaf, system.shifts),
                     targets, sources, excluded);
      };
      if (at_once)
        for_each_item(*step.threads, n, run);
      else
        for (std::size_t s = 0; s < n; ++s) run(s);
    }
  }

  template <class T>
  void list_step<T>::run(leaf_groups_view const& leaves, step_set<T> const& targets,
                         step_set<T> const& sources) const
  {
    check_views(leaves.has_one_set, targets, sources);
    excluded_rows const excluded = excluded_of(*this, leaves, targets.x.size(), sources.x.size());
    if (!leaves.systems.empty()) return run_systems(*this, leaves, targets, sources, excluded);
    interaction_list const& list = is_mutual ? leaves.half : leaves.full;
    check_list(function, leaves.targets, list, targets.x.size(), sources.x.size(), threads);
    if (leaves.has_one_set) check_own_ranges(function, leaves.targets, list, threads);
    if (is_mutual) check_half(function, leaves.targets, list, threads);
    run_groups(*this, leaves, targets, sources, excluded);
  }

  template <class T>
  void list_step<T>::run(leaf_list::part const& part, step_set<T> const& targets,
                         step_set<T> const& sources) const
  {
    leaf_list const& all = *part.list;
    index_type const n = all.targets().size(), count = part.last - part.first;
    check_view(function, "x", targets.x, n > 0 ? all.targets().end(n - 1) : 0);
    check_view(function, all.has_one_set() ? "x" : "y", sources.x, all.n_sources());
    check_views(all.has_one_set(), targets, sources);
    if (is_mutual && count < n && (threads || !options.accumulate))
      throw error(std::string(function) +
                  ": the form mutual over a part of the leaves adds to others too, on one thread; "
                  "clear the outputs, and give simd or scalar and .accumulate = true");
    if (count == 0) return;
    list_step step = *this;
    // with points of another set, or with those of an image, on the border of the box
    if (!all.has_one_set() || all.interactions().shifts.size() > 1)
      step.options.ranges_may_coincide = true;
    interaction_list const list = is_mutual ? all.half_interactions() : all.interactions();
    leaf_groups_view const leaves = leaves_of(all.targets(), list, all.has_one_set());
    run_groups(step, cut_leaves(leaves, part.first, part.last, list.shifts), targets, sources,
               excluded_of(step, leaves, targets.x.size(), sources.x.size()));
  }

  template <class T>
  void list_step<T>::run_sorted(leaf_groups_view const& leaves, step_set<T> const& targets,
                                step_set<T> const& sources) const
  {
    bool const has_one_set = leaves.has_one_set;
    check_view(function, "x", targets.x, leaves.target_order.size());
    if (!has_one_set) check_view(function, "y", sources.x, leaves.source_order.size());
    check_views(has_one_set, targets, sources);
    sorted_columns<T> const x(threads, leaves.target_order, targets.x),
        q(threads, has_one_set ? leaves.target_order : leaves.source_order, sources.q),
        sums(threads, leaves.target_order, targets.out, options.accumulate);
    x.move(leaves.target_moves);
    list_step step = *this;
    step.options.ranges_may_coincide |= leaves.ranges_may_coincide;
    if (has_one_set)
    {
      step_set<T> const points{x.view(), q.view(), sums.view()};
      step.run(leaves, points, points);
    }
    else
    {
      sorted_columns<T> const y(threads, leaves.source_order, sources.x);
      y.move(leaves.source_moves);
      step.run(leaves, {x.view(), {}, sums.view()}, {y.view(), q.view(), {}});
    }
    sums.copy_to(targets.out);
  }

  template struct list_step<float>;
  template struct list_step<double>;
}
