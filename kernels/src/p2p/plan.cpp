#include "plan.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    constexpr std::size_t most_sets = std::numeric_limits<std::uint16_t>::max();
    constexpr std::size_t most_shifts = std::size_t(1)
                                        << 16; // of a list, the first of which is zero

    std::size_t more_shifts(leaf_system const& system)
    {
      return system.shifts.empty() ? 0 : system.shifts.size() - 1;
    }

    /// The groups as they are planned.
    struct planned_groups : leaf_groups_view
    {
      std::vector<index_type> cut; ///< first_leaf, if some were cut

      explicit planned_groups(leaf_groups_view const& given) : leaf_groups_view(given)
      {
        if (systems.empty()) return;
        std::size_t n = 1;
        auto system = systems.begin();
        for (std::size_t g = 0; g + 1 < first_leaf.size(); ++g)
        {
          cut.push_back(first_leaf[g]);
          n = 1;
          for (; system != systems.end() && system->first_leaf < first_leaf[g + 1]; ++system)
          {
            if (n + more_shifts(*system) > most_shifts && system->first_leaf > cut.back())
            {
              cut.push_back(system->first_leaf);
              n = 1;
            }
            n += more_shifts(*system);
            if (system->last_leaf > first_leaf[g + 1]) break; // the next group has the rest
          }
        }
        if (!first_leaf.empty()) cut.push_back(first_leaf.back());
        first_leaf = cut;
      }
    };

    /// The numbers of shifts in the list of a group, as shifts_of_leaves() has them. Leaves come in order.
    class shift_numbers
    {
    public:
      shift_numbers(leaf_groups_view const& groups, index_type first)
          : system_(std::ranges::upper_bound(groups.systems, first, {}, &leaf_system::last_leaf) -
                    groups.systems.begin()),
            systems_(groups.systems)
      {}

      /// Goes on to leaf b.
      void at(index_type b)
      {
        for (; system_ < systems_.size() && systems_[system_].last_leaf <= b; ++system_)
          before_ += more_shifts(systems_[system_]);
      }
      [[nodiscard]] std::uint16_t of(std::uint16_t shift) const
      {
        return shift == 0 ? shift : static_cast<std::uint16_t>(before_ + shift);
      }

    private:
      std::size_t system_;
      std::span<leaf_system const> systems_;
      std::size_t before_ = 0; ///< shifts of other systems, without zero
    };

    point_interval points_of(boxes const& points, leaf_groups_view const& groups, std::size_t group)
    {
      return {points.offsets[groups.first_leaf[group]],
              points.offsets[groups.first_leaf[group + 1]]};
    }

    /// Non-empty chunks of about equal size, each of whole groups.
    std::vector<point_interval> cut_chunks(boxes const& points, leaf_groups_view const& groups,
                                           std::size_t n_chunks)
    {
      std::vector<point_interval> chunks;
      std::size_t const n_groups = groups.first_leaf.size() - 1;
      if (n_groups == 0) return chunks;
      std::size_t const n = points.offsets[points.size()];
      index_type begin = 0;
      for (std::size_t g = 0; g < n_groups; ++g)
      {
        index_type const end = points_of(points, groups, g).end;
        if (end > begin && end * n_chunks >= n * (chunks.size() + 1))
        {
          chunks.push_back({begin, end});
          begin = end;
        }
      }
      return chunks;
    }

    std::size_t chunk_of(std::vector<point_interval> const& chunks, index_type point)
    {
      auto const after = std::upper_bound(chunks.begin(), chunks.end(), point,
                                          [](index_type p, point_interval const& chunk)
                                          { return p < chunk.begin; });
      return static_cast<std::size_t>(after - chunks.begin()) - 1;
    }

    /// The list of one task under construction.
    class list_builder
    {
    public:
      list_builder(std::size_t n_source_chunks, group_plan& group)
          : group_(group), buffer_of_chunk_(n_source_chunks, none)
      {}

      /// The index of the buffer that holds a chunk of sources; adds the buffer if the task does not have it.
      index_type buffer(std::size_t chunk)
      {
        if (buffer_of_chunk_[chunk] == none)
        {
          buffer_of_chunk_[chunk] = static_cast<index_type>(group_.source_chunks.size());
          group_.source_chunks.push_back(chunk);
        }
        return buffer_of_chunk_[chunk];
      }

      task_list list;

    private:
      static constexpr index_type none = std::numeric_limits<index_type>::max();
      group_plan& group_;
      std::vector<index_type> buffer_of_chunk_;
    };

    /// A plan with chunks only: the part that does not depend on the form.
    step_plan plan_groups(leaf_groups_view const& groups, std::size_t n_chunks)
    {
      step_plan plan;
      plan.source_chunks = cut_chunks(groups.sources, groups, n_chunks);
      plan.target_chunks =
          groups.has_one_set ? plan.source_chunks : cut_chunks(groups.targets, groups, n_chunks);
      return plan;
    }

    /// Room for what add_box() and close_box() add for boxes [first, last).
    void leave_room(task_list& list, interaction_list const& from, index_type first,
                    index_type last)
    {
      std::size_t const n = last - first, n_ranges = from.offsets[last] - from.offsets[first];
      list.box_offsets.reserve(n + 1);
      list.range_offsets.reserve(n + 1);
      list.own.reserve(n);
      list.ranges.reserve(n_ranges + n_ranges / 8); // some are cut in two
    }

    void add_box(task_list& list, boxes const& targets, index_type b, source_range const& own)
    {
      list.head.n_targets += targets.count(b);
      list.box_offsets.push_back(list.head.n_targets);
      list.own.push_back(own);
    }

    void close_box(task_list& list)
    {
      list.range_offsets.push_back(static_cast<index_type>(list.ranges.size()));
    }

    /// Makes the plan of each group: of_group(g, group) sets it.
    template <class F>
    void plan_each(step_plan& plan, leaf_groups_view const& groups, bool for_gpus, executor* on,
                   F const& of_group)
    {
      std::size_t const n = groups.first_leaf.size() - 1;
      plan.groups.resize(n);
      auto const one = [&](int g)
      {
        auto const group = static_cast<std::size_t>(g);
        plan.groups[group].first_leaf = groups.first_leaf[group];
        plan.groups[group].last_leaf = groups.first_leaf[group + 1];
        plan.groups[group].targets = points_of(groups.targets, groups, group);
        plan.groups[group].is_for_gpus =
            for_gpus && groups.first_leaf[group] < groups.first_cpu_leaf;
        of_group(group, plan.groups[group]);
      };
      threads_or_here(on).run(static_cast<int>(n), one);
    }

    void finish(step_plan& plan)
    {
      plan.by_priority.resize(plan.groups.size());
      std::iota(plan.by_priority.begin(), plan.by_priority.end(), std::size_t(0));
      auto const rank = [&](std::size_t g)
      {
        group_plan const& group = plan.groups[g];
        return std::pair(group.is_for_gpus, std::ilogb(group.interactions + 1));
      };
      std::stable_sort(plan.by_priority.begin(), plan.by_priority.end(),
                       [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    }

    void fit_targets(step_plan const& plan, leaf_groups_view const& groups, group_plan& group,
                     list_builder& builder)
    {
      group.target_chunk = chunk_of(plan.target_chunks, group.targets.begin);
      builder.list.head.target_begin =
          group.targets.begin - plan.target_chunks[group.target_chunk].begin;
      if (groups.has_one_set) builder.list.head.target_buffer = builder.buffer(group.target_chunk);
    }

    void pack(leaf_groups_view const& groups, group_plan& group, list_builder& builder,
              cuda_items&& items)
    {
      builder.list.items = std::move(items.items);
      builder.list.head.n_wide = items.n_wide;
      builder.list.head.n_medium = items.n_medium;
      builder.list.head.n_sources = static_cast<index_type>(group.source_chunks.size());
      if (!groups.has_one_set) builder.list.head.target_buffer = builder.list.head.n_sources;
      group.list = builder.list.pack();
      group.head = builder.list.head;
    }

    void add_gather_range(step_plan const& plan, list_builder& builder, source_range range,
                          std::vector<source_range>& to)
    {
      while (range.begin < range.end)
      {
        std::size_t const chunk = chunk_of(plan.source_chunks, range.begin);
        point_interval const& whole = plan.source_chunks[chunk];
        index_type const end = std::min(range.end, whole.end);
        to.push_back({range.begin - whole.begin, end - whole.begin,
                      static_cast<std::uint16_t>(builder.buffer(chunk)), range.shift});
        range.begin = end;
      }
    }
  }

  std::vector<std::array<double, 3>> shifts_of_leaves(leaf_groups_view const& leaves,
                                                      interaction_list const& list,
                                                      index_type first, index_type last)
  {
    if (leaves.systems.empty()) return {list.shifts.begin(), list.shifts.end()};
    std::vector<std::array<double, 3>> shifts(1);
    for (leaf_system const& system : leaves.systems)
      if (system.last_leaf > first && system.first_leaf < last && !system.shifts.empty())
        shifts.insert(shifts.end(), system.shifts.begin() + 1, system.shifts.end());
    return shifts;
  }

  step_plan plan_gather(leaf_groups_view const& given, bool for_gpus, std::size_t n_chunks,
                        executor* on)
  {
    planned_groups const groups(given);
    step_plan plan = plan_groups(groups, n_chunks);
    auto const of_group = [&](std::size_t g, group_plan& group)
    {
      if (group.targets.size() == 0) return;
      list_builder builder(plan.source_chunks.size(), group);
      fit_targets(plan, groups, group, builder);
      auto const shifts = shifts_of_leaves(groups, groups.full, group.first_leaf, group.last_leaf);
      builder.list.shifts = shifts;
      shift_numbers numbers(groups, group.first_leaf);
      leave_room(builder.list, groups.full, groups.first_leaf[g], groups.first_leaf[g + 1]);
      std::vector<source_range> own;
      for (index_type b = groups.first_leaf[g]; b < groups.first_leaf[g + 1]; ++b)
      {
        double sources = groups.full.own[b].end - groups.full.own[b].begin;
        own.clear();
        numbers.at(b);
        add_gather_range(plan, builder, groups.full.own[b], own);
        add_box(builder.list, groups.targets, b, own.empty() ? source_range{} : own.front());
        for (source_range range : groups.full.neighbours(b))
        {
          range.shift = numbers.of(range.shift);
          add_gather_range(plan, builder, range, builder.list.ranges);
          sources += range.end - range.begin;
        }
        close_box(builder.list);
        group.interactions += groups.targets.count(b) * (sources - (groups.has_one_set ? 1 : 0));
      }
      for (std::size_t s = 0; s < group.source_chunks.size(); ++s)
        builder.list.sets.push_back({static_cast<index_type>(s), 0, 0});
      task_list const& list = builder.list;
      pack(groups, group, builder,
           group.is_for_gpus ? gather_items(list.targets(), list.list()) : cuda_items{});
    };
    plan_each(plan, groups, for_gpus, on, of_group);
    std::erase_if(plan.groups, [](group_plan const& group) { return group.targets.size() == 0; });
    finish(plan);
    return plan;
  }

  namespace
  {
    /// The sources after a group that its boxes meet, as maximal intervals without other points. If there are
    /// more than a list can index, gaps are closed, small ones first.
    std::vector<point_interval> halo_of(leaf_groups_view const& groups, std::size_t g,
                                        std::size_t n_chunks)
    {
      index_type const end = points_of(groups.targets, groups, g).end;
      std::vector<point_interval> met;
      for (index_type b = groups.first_leaf[g]; b < groups.first_leaf[g + 1]; ++b)
        for (source_range const& range : groups.half.neighbours(b))
          if (range.end > end) met.push_back({std::max(range.begin, end), range.end});
      std::sort(met.begin(), met.end(),
                [](point_interval const& a, point_interval const& b) { return a.begin < b.begin; });
      for (index_type gap = 0;; gap = 2 * gap + 16)
      {
        std::vector<point_interval> merged;
        for (point_interval const& interval : met)
          if (!merged.empty() && interval.begin <= merged.back().end + gap)
            merged.back().end = std::max(merged.back().end, interval.end);
          else
            merged.push_back(interval);
        if (merged.size() + n_chunks + 1 <= most_sets) return merged;
        met = std::move(merged);
      }
    }

    /// Cuts intervals at the ends of chunks, so that each set lies in one buffer.
    std::vector<point_interval> cut_at_chunks(std::vector<point_interval> const& intervals,
                                              std::vector<point_interval> const& chunks)
    {
      std::vector<point_interval> cut;
      for (point_interval rest : intervals)
        while (rest.begin < rest.end)
        {
          index_type const end = std::min(rest.end, chunks[chunk_of(chunks, rest.begin)].end);
          cut.push_back({rest.begin, end});
          rest.begin = end;
        }
      return cut;
    }

    /// The mutual GPU kernel keeps indices of outputs in 31 bits; one more bit marks those in the halo.
    void check_places(group_plan const& group)
    {
      std::size_t constexpr most = std::size_t(1) << 31;
      if (group.targets.size() < most && group.halo_size < most) return;
      throw error("near_field: a group has " + std::to_string(group.targets.size()) +
                  " points and reaches " + std::to_string(group.halo_size) +
                  " of other groups; on a GPU the mutual form takes fewer than 2^31 of each: take "
                  "fewer leaves per group, or form one_sided");
    }

    /// Records, in every group that the halo of group g reaches, the pieces it has to add.
    void hand_out_halo(step_plan& plan, std::size_t g, std::vector<point_interval> const& halo)
    {
      index_type at = 0;
      std::size_t to = g + 1;
      for (point_interval rest : halo)
        while (rest.begin < rest.end)
        {
          while (plan.groups[to].targets.end <= rest.begin) ++to;
          group_plan& owner = plan.groups[to];
          index_type const end = std::min(rest.end, owner.targets.end);
          if (owner.reached_from.empty() || owner.reached_from.back() != g)
            owner.reached_from.push_back(g);
          owner.pieces.push_back({owner.reached_from.size() - 1, at,
                                  rest.begin - owner.targets.begin, end - rest.begin});
          at += end - rest.begin;
          rest.begin = end;
        }
    }
  }

  step_plan plan_mutual(leaf_groups_view const& given, bool for_gpus, std::size_t n_chunks,
                        executor* on)
  {
    planned_groups const groups(given);
    step_plan plan = plan_groups(groups, n_chunks);
    std::vector<std::vector<point_interval>> halos(groups.first_leaf.size() - 1);
    auto const of_group = [&](std::size_t g, group_plan& group)
    {
      list_builder builder(plan.source_chunks.size(), group);
      fit_targets(plan, groups, group, builder);
      task_list& list = builder.list;
      auto const shifts = shifts_of_leaves(groups, groups.half, group.first_leaf, group.last_leaf);
      list.shifts = shifts;
      shift_numbers numbers(groups, group.first_leaf);
      leave_room(list, groups.half, groups.first_leaf[g], groups.first_leaf[g + 1]);
      std::vector<point_interval> const& halo = halos[g] =
          cut_at_chunks(halo_of(groups, g, plan.source_chunks.size()), plan.source_chunks);

      list.sets.push_back({list.head.target_buffer, list.head.target_begin, 0});
      for (point_interval const& interval : halo)
      {
        std::size_t const chunk = chunk_of(plan.source_chunks, interval.begin);
        list.sets.push_back({builder.buffer(chunk),
                             interval.begin - plan.source_chunks[chunk].begin, group.halo_size});
        group.halo_size += interval.size();
      }
      if (group.is_for_gpus) check_places(group);
      for (index_type b = groups.first_leaf[g]; b < groups.first_leaf[g + 1]; ++b)
      {
        point_interval const box{groups.targets.begin(b), groups.targets.end(b)};
        double sources = box.size() - 1.;
        numbers.at(b);
        add_box(list, groups.targets, b,
                {box.begin - group.targets.begin, box.end - group.targets.begin});
        for (source_range range : groups.half.neighbours(b))
        {
          sources += 2. * (range.end - range.begin);
          range.shift = numbers.of(range.shift);
          if (range.begin < group.targets.end)
          {
            index_type const end = std::min(range.end, group.targets.end);
            list.ranges.push_back(
                {range.begin - group.targets.begin, end - group.targets.begin, 0, range.shift});
            range.begin = end;
          }
          while (range.begin < range.end)
          {
            std::size_t const i = chunk_of(halo, range.begin);
            index_type const end = std::min(range.end, halo[i].end);
            list.ranges.push_back({range.begin - halo[i].begin, end - halo[i].begin,
                                   static_cast<std::uint16_t>(i + 1), range.shift});
            range.begin = end;
          }
        }
        close_box(list);
        group.interactions += box.size() * sources;
      }
      pack(groups, group, builder,
           group.is_for_gpus ? mutual_items(list.targets(), list.list()) : cuda_items{});
    };
    plan_each(plan, groups, for_gpus, on, of_group);
    for (std::size_t g = 0; g < halos.size(); ++g) hand_out_halo(plan, g, halos[g]);
    finish(plan);
    return plan;
  }
}
