#include "excluded.hpp"

#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nearfield::detail
{
  excluded_rows excluded_in(leaf_groups_view const& leaves, std::size_t n_targets,
                            std::size_t n_sources, std::span<std::uint64_t const> offsets,
                            std::span<index_type const> excluded, executor& on)
  {
    excluded_rows const rows =
        excluded_rows_of("near_field", offsets, excluded, n_targets, n_sources, leaves.has_one_set);
    if (rows.empty()) return {};
    std::span<index_type const> const target_order = leaves.target_order,
                                      source_order = leaves.has_one_set ? leaves.target_order
                                                                        : leaves.source_order;
    std::size_t const n = rows.offsets.size() - 1;
    auto const index_at = [&](std::size_t p)
    {
      return target_order.empty() ? p : target_order[p];
    };
    std::vector<index_type> position(source_order.size());
    for_each_part(on, cut(on, position.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t p = begin; p < end; ++p)
                      position[source_order[p]] = static_cast<index_type>(p);
                  });
    excluded_rows sorted;
    sorted.offsets.resize(n + 1);
    for (std::size_t p = 0; p < n; ++p)
      sorted.offsets[p + 1] = sorted.offsets[p] + rows.row(index_at(p)).size();
    sorted.sources.resize(rows.sources.size());
    for_each_part(on, cut(on, n),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t p = begin; p < end; ++p)
                    {
                      auto const first = sorted.sources.begin() + std::ptrdiff_t(sorted.offsets[p]);
                      auto last = first;
                      for (index_type const j : rows.row(index_at(p)))
                        *last++ = position.empty() ? j : position[j];
                      std::sort(first, last);
                    }
                  });
    return sorted;
  }

  namespace
  {
    /// Targets that share most of their sources, and consecutive ones.
    constexpr index_type targets_of_group = 8;
    /// Boxes at a time, for lists that stay in the cache.
    constexpr index_type boxes_at_once = 64;

    struct job_list
    {
      std::vector<index_type> box_offsets, range_offsets;
      std::vector<source_range> own, ranges;

      void clear(index_type first_target)
      {
        box_offsets.assign(1, first_target);
        range_offsets.assign(1, 0);
        own.clear();
        ranges.clear();
      }
      void close_box(index_type end, source_range const& of_box = {})
      {
        box_offsets.push_back(end);
        range_offsets.push_back(static_cast<index_type>(ranges.size()));
        own.push_back(of_box);
      }
      /// The job with these boxes and ranges.
      template <class T>
      [[nodiscard]] p2p_job<T> of(p2p_job<T> job) const
      {
        job.box_offsets = box_offsets.data();
        job.own = own.data();
        job.range_offsets = range_offsets.data();
        job.ranges = ranges.data();
        job.first_box = 0;
        job.last_box = static_cast<index_type>(own.size());
        // those of the own box too
        job.ranges_may_coincide = true;
        return job;
      }
    };

    /// Boxes of a job as two lists without excluded pairs. Boxes with such pairs are cut into small groups of targets.
    /// `shared` has the sources that all targets of a group meet. Those that are excluded from some, or are in the group,
    /// are in `single`, where each target is a box.
    class cut_job
    {
    public:
      job_list shared, single;

      cut_job(list_view const& from, bool one_set, bool is_mutual, excluded_pairs const& excluded)
          : from_(from), one_set_(one_set), is_mutual_(is_mutual), excluded_(excluded)
      {}

      /// Goes on with boxes from b on.
      void clear(index_type b)
      {
        shared.clear(from_.box_offsets[b]);
        single.clear(from_.box_offsets[b]);
      }

      void add(index_type b)
      {
        index_type const begin = from_.box_offsets[b], end = from_.box_offsets[b + 1];
        auto const& offsets = excluded_.rows->offsets;
        std::size_t const first = std::size_t(excluded_.first_target);
        if (offsets[first + begin] == offsets[first + end])
        {
          shared.ranges.insert(shared.ranges.end(), from_.ranges + from_.range_offsets[b],
                               from_.ranges + from_.range_offsets[b + 1]);
          shared.close_box(end, from_.own[b]);
          return;
        }
        for (index_type at = begin; at < end; at += targets_of_group)
          add_group(b, at, std::min(end - at, targets_of_group));
      }

    private:
      [[nodiscard]] index_type position_of(source_range const& range) const
      {
        return excluded_.sets.empty() ? 0 : excluded_.sets[range.set];
      }
      [[nodiscard]] std::span<index_type const> row(index_type target) const
      {
        return excluded_.rows->row(std::size_t(excluded_.first_target) + target);
      }

      void add_group(index_type b, index_type first, index_type count)
      {
        apart_.clear();
        for (index_type i = first; i < first + count; ++i)
        {
          apart_.insert(apart_.end(), row(i).begin(), row(i).end());
          if (one_set_) apart_.push_back(excluded_.first_target + i);
        }
        std::sort(apart_.begin(), apart_.end());
        apart_.erase(std::unique(apart_.begin(), apart_.end()), apart_.end());

        runs_.clear();
        source_range own = from_.own[b];
        // the sources before the group met it when they were the targets
        if (is_mutual_ && one_set_) own.begin += first - from_.box_offsets[b];
        add_shared(own, one_set_);
        for (index_type r = from_.range_offsets[b]; r < from_.range_offsets[b + 1]; ++r)
          add_shared(from_.ranges[r], false);
        shared.close_box(first + count);

        if (runs_.empty()) return;
        if (single.box_offsets.back() < first) single.close_box(first);
        for (index_type i = first; i < first + count; ++i)
        {
          for (run const& of : runs_) add_single(i, of);
          single.close_box(i + 1);
        }
      }

      /// Sources that are apart, and consecutive.
      struct run
      {
        source_range range;
        bool has_targets; ///< may have
      };

      void add_shared(source_range const& range, bool has_targets)
      {
        index_type met = range.begin;
        auto const keep_apart = [&](index_type end)
        {
          if (met < end) runs_.push_back({part_of(range, met, end), has_targets});
        };
        for_each_gap(range, apart_,
                     [&](index_type begin, index_type end)
                     {
                       keep_apart(begin);
                       shared.ranges.push_back(part_of(range, begin, end));
                       met = end;
                     });
        keep_apart(range.end);
      }

      void add_single(index_type target, run const& of)
      {
        source_range const& range = of.range;
        auto const add_part = [&](index_type begin, index_type end)
        {
          for_each_gap(part_of(range, begin, end), row(target), [&](index_type from, index_type to)
                       { single.ranges.push_back(part_of(range, from, to)); });
        };
        if (!of.has_targets) return add_part(range.begin, range.end);
        // its place, if it is among them
        index_type const self = excluded_.first_target + target - position_of(range);
        if (!is_mutual_) add_part(range.begin, std::min(self, range.end));
        add_part(std::max(range.begin, self + 1), range.end);
      }

      /// Calls f(begin, end) for the sources of a range between those at `places`, which ascend.
      template <class F>
      void for_each_gap(source_range const& range, std::span<index_type const> places,
                        F const& f) const
      {
        index_type const position = position_of(range), end = range.end;
        index_type begin = range.begin;
        auto at = std::lower_bound(places.begin(), places.end(), position + begin);
        for (; begin < end; ++at)
        {
          bool const is_last = at == places.end() || *at - position >= end;
          index_type const to = is_last ? end : *at - position;
          if (begin < to) f(begin, to);
          if (is_last) return;
          begin = to + 1;
        }
      }

      static source_range part_of(source_range range, index_type begin, index_type end)
      {
        range.begin = begin;
        range.end = end;
        return range;
      }

      list_view const from_;
      bool const one_set_, is_mutual_;
      excluded_pairs const excluded_;
      std::vector<index_type> apart_; ///< positions of sources, ascending
      std::vector<run> runs_;
    };
  }

  template <class T>
  void run_kernel(p2p_function<T> kernel, void const* k, p2p_job<T> const& job, bool is_mutual,
                  excluded_pairs const& excluded)
  {
    if (excluded.rows == nullptr || excluded.rows->empty()) return kernel(k, job);
    cut_job lists(job, job.own_is_self, is_mutual, excluded);
    for (index_type b = job.first_box; b < job.last_box;)
    {
      index_type const end = std::min(job.last_box - b, boxes_at_once) + b;
      lists.clear(b);
      while (b < end) lists.add(b++);
      kernel(k, lists.shared.of(job));
      if (!lists.single.own.empty()) kernel(k, lists.single.of(job));
    }
  }

  template void run_kernel(p2p_function<float>, void const*, p2p_job<float> const&, bool,
                           excluded_pairs const&);
  template void run_kernel(p2p_function<double>, void const*, p2p_job<double> const&, bool,
                           excluded_pairs const&);
}
