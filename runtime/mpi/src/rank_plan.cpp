#include "rank_plan.hpp"

#include "tree/src/images.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/p2p/job.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  namespace
  {
    /// Rows of leaves, some of which may be empty.
    struct rows
    {
      interaction_table table;
      page_vector<double> pairs; ///< by row

      rows() { table.offsets.push_back(0); }

      void close(interaction_list::range const& own, double n_pairs)
      {
        table.own.push_back(own);
        table.offsets.push_back(static_cast<index_type>(table.ranges.size()));
        pairs.push_back(n_pairs);
      }
    };

    class row_maker
    {
    public:
      row_maker(rank_leaves const& leaves, pair_form form, executor& on)
          : leaves_(leaves), on_(on), is_mutual_(form == pair_form::mutual),
            begin_(leaves.sources.offsets[leaves.first]), end_(leaves.sources.offsets[leaves.last])
      {}

      [[nodiscard]] rows inner() const
      {
        return make(
            [&](index_type b, interaction_list::range const& own, rows& to)
            {
              if (!is_mutual_) return has_foreign(b) ? skip(to) : add_whole(b, own, to);
              double pairs = count(own) * (count(own) - 1);
              for (interaction_list::range range : leaves_.lists.neighbours(b))
              {
                // The half list: what comes after the box. Only the leaf of level 0 meets images of itself, each second
                // one of which counts.
                bool const is_itself = range.begin == own.begin;
                if (is_itself ? !is_in_half(range.shift) : range.begin < own.end) continue;
                if (range.begin >= end_) continue;
                range.end = std::min(range.end, end_);
                add(range, to);
                pairs += 2 * count(own) * count(range);
              }
              to.close(own, std::max(pairs, 1.)); // a row of its own in any case
            });
      }

      [[nodiscard]] rows border() const
      {
        return make(
            [&](index_type b, interaction_list::range const& own, rows& to)
            {
              if (!has_foreign(b)) return skip(to);
              if (!is_mutual_) return add_whole(b, own, to);
              double pairs = 0;
              auto const add_foreign = [&](interaction_list::range const& range)
              {
                if (range.begin >= range.end) return;
                add(range, to);
                pairs += count(own) * count(range);
              };
              for (interaction_list::range const& range : leaves_.lists.neighbours(b))
              {
                add_foreign({range.begin, std::min(range.end, begin_), 0, range.shift});
                add_foreign({std::max(range.begin, end_), range.end, 0, range.shift});
              }
              to.close({}, pairs);
            });
      }

    private:
      static double count(interaction_list::range const& range) { return range.end - range.begin; }
      static void skip(rows& to) { to.close({}, 0); }
      static void add(interaction_list::range const& range, rows& to)
      {
        to.table.ranges.push_back(range);
      }

      [[nodiscard]] bool has_foreign(index_type b) const
      {
        return std::ranges::any_of(leaves_.lists.neighbours(b),
                                   [&](interaction_list::range const& range)
                                   { return range.begin < begin_ || range.end > end_; });
      }

      void add_whole(index_type b, interaction_list::range const& own, rows& to) const
      {
        double const n_targets = leaves_.targets.count(leaves_.first + b);
        if (n_targets == 0) return skip(to);
        for (interaction_list::range const& range : leaves_.lists.neighbours(b)) add(range, to);
        double const met = double(leaves_.lists.source_count(b)) - (leaves_.has_one_set ? 1 : 0);
        to.close(own, std::max(1., n_targets * met)); // outputs are written in any case
      }

      /// Rows for all known leaves: of_leaf(own leaf, its own sources, rows) adds one.
      template <class OfLeaf>
      rows make(OfLeaf const& of_leaf) const
      {
        loop_parts const loop = cut(on_, leaves_.last - leaves_.first, 256, 4);
        std::vector<rows> pieces(static_cast<std::size_t>(loop.parts));
        for_each_part(on_, loop,
                      [&](int part, std::size_t begin, std::size_t end)
                      {
                        rows piece;
                        for (auto b = static_cast<index_type>(begin); b < end; ++b)
                          of_leaf(b, leaves_.lists.own[b], piece);
                        pieces[static_cast<std::size_t>(part)] = std::move(piece);
                      });
        std::vector<index_type> before{0}; // ranges of the pieces before
        for (rows const& piece : pieces)
          before.push_back(before.back() + static_cast<index_type>(piece.table.ranges.size()));

        rows made;
        auto &own = made.table.own,
             &ranges = made.table.ranges; // lambdas capture names, with clang++ 14 too
        auto& offsets = made.table.offsets;
        // those of other ranks are empty
        own.assign(leaves_.targets.size(), interaction_list::range{});
        made.pairs.assign(leaves_.targets.size(), 0);
        offsets.assign(leaves_.targets.size() + std::size_t(1), 0);
        std::fill(offsets.begin() + leaves_.last, offsets.end(), before.back());
        ranges.resize(before.back());
        for_each_part(on_, loop,
                      [&](int p, std::size_t begin, std::size_t)
                      {
                        auto const part = static_cast<std::size_t>(p);
                        rows const& piece = pieces[part];
                        std::size_t const first = leaves_.first + begin;
                        std::ranges::copy(piece.table.own, own.begin() + first);
                        std::ranges::copy(piece.pairs, made.pairs.begin() + first);
                        std::ranges::copy(piece.table.ranges, ranges.begin() + before[part]);
                        for (std::size_t b = 0; b < piece.pairs.size(); ++b)
                          offsets[first + b] = before[part] + piece.table.offsets[b];
                      });
        return made;
      }

      rank_leaves const& leaves_;
      executor& on_;
      bool is_mutual_;
      index_type begin_, end_; ///< own sources among the known ones
    };

    /// Where groups of known leaves begin: each layer is one.
    std::vector<index_type> first_leaves(rank_leaves const& leaves, group_options const& options,
                                         executor* on, std::size_t& n_before, std::size_t& n_groups)
    {
      nearfield::detail::leaf_groups_view own;
      own.targets = {leaves.targets.offsets.subspan(leaves.first,
                                                    leaves.last - leaves.first + std::size_t(1))};
      own.full = leaves.lists;
      own.has_one_set = leaves.has_one_set;
      std::vector<index_type> const of_groups = first_leaves_of_groups(own, options, on);
      n_groups = of_groups.size() - 1;
      std::vector<index_type> first;
      for (rank_layer const& layer : leaves.layers)
        if (layer.first_leaf < leaves.first) first.push_back(layer.first_leaf);
      n_before = first.size();
      for (std::size_t g = 0; g < n_groups; ++g) first.push_back(leaves.first + of_groups[g]);
      for (rank_layer const& layer : leaves.layers)
        if (layer.first_leaf >= leaves.last) first.push_back(layer.first_leaf);
      first.push_back(leaves.targets.size());
      return first;
    }

    /// The groups that have points.
    std::vector<std::size_t> groups_with(boxes const& points, std::span<index_type const> first)
    {
      std::vector<std::size_t> found;
      for (std::size_t g = 0; g + 1 < first.size(); ++g)
        if (points.offsets[first[g]] < points.offsets[first[g + 1]]) found.push_back(g);
      return found;
    }

    /// Whether the tasks can run; always on CPU workers.
    bool plan_groups(rank_leaves const& leaves, pair_form form, group_options const& options,
                     rank_gpus const* gpus, executor* on, task_plan& plan)
    {
      std::size_t n_groups = 0;
      std::vector<index_type> const first =
          first_leaves(leaves, options, on, plan.n_layers_before, n_groups);
      auto const cut = [&](boxes const& points, std::vector<point_interval>& of_groups)
      {
        auto const place = [&](std::size_t group)
        {
          return points.offsets[first[plan.n_layers_before + group]] - points.begin(leaves.first);
        };
        for (std::size_t g = 0; g < n_groups; ++g) of_groups.push_back({place(g), place(g + 1)});
      };
      cut(leaves.targets, plan.targets);
      cut(leaves.sources, plan.source_chunks);
      plan.target_chunks = plan.targets;

      auto const with_targets = groups_with(leaves.targets, first),
                 with_sources = groups_with(leaves.sources, first);
      bool can_run = true;
      row_maker const rows_of(leaves, form, threads_or_here(on));
      auto const make =
          [&](rows const& from, planner how, std::vector<std::optional<group_plan>>& to)
      {
        nearfield::detail::leaf_groups_view view;
        view.first_leaf = first;
        view.has_one_set = leaves.has_one_set;
        view.targets = leaves.targets;
        view.sources = leaves.sources;
        view.full = view.half = from.table.view(leaves.lists.shifts);
        // as many chunks as there can be: every group and every layer is one, if it has points
        step_plan made =
            how(view, gpus != nullptr,
                std::max(leaves.targets.offsets.back(), leaves.sources.offsets.back()), on);
        can_run = can_run && (!gpus || nearfield::detail::can_run(made, gpus->point, gpus->memory));
        to.resize(n_groups);
        for (std::size_t i = 0; i < made.groups.size(); ++i)
        {
          std::size_t const g = with_targets[i];
          if (g < plan.n_layers_before || g >= plan.n_layers_before + n_groups) continue;
          group_plan& group = made.groups[i];
          for (std::size_t& chunk : group.source_chunks) chunk = with_sources[chunk];
          group.target_chunk = g - plan.n_layers_before;
          group.interactions = 0;
          for (index_type b = first[g]; b < first[g + 1]; ++b) group.interactions += from.pairs[b];
          if (group.interactions > 0) to[g - plan.n_layers_before] = std::move(group);
        }
      };
      make(rows_of.inner(), form == pair_form::mutual ? &plan_mutual : &plan_gather, plan.inner);
      make(rows_of.border(), &plan_gather, plan.border);
      return can_run;
    }
  }

  bool fits_one_group(rank_leaves const& leaves, rank_gpus const& gpus)
  {
    auto const& offsets = leaves.sources.offsets;
    double const n_known = offsets.back(), n_own = offsets[leaves.last] - offsets[leaves.first];
    auto const& [source_x, source_q, target_x, out] = gpus.point;
    // points of others arrive, and are joined
    double const n_values = double(gpus.most_columns) * std::max(n_own, n_known - n_own);
    return n_own < double(1u << 31) &&
           n_values < 0x1p32 / (1 + 1. / 32) && // of a handle, with room
           fits((source_x + source_q) * (2 * n_known - n_own) + out * n_own, gpus.memory);
  }

  task_plan plan_one_group(rank_leaves const& leaves, pair_form form, double inner_pairs,
                           double border_pairs)
  {
    task_plan plan;
    auto const& offsets = leaves.sources.offsets;
    point_interval const own{0, offsets[leaves.last] - offsets[leaves.first]};
    plan.targets = plan.source_chunks = plan.target_chunks = {own};
    auto const add = [&](double pairs, std::size_t n_chunks, auto& to)
    {
      auto& part = to.emplace_back();
      if (pairs == 0) return;
      part.emplace();
      part->targets = own;
      part->is_for_gpus = true;
      part->source_chunks.resize(n_chunks);
      std::iota(part->source_chunks.begin(), part->source_chunks.end(), std::size_t(0));
      part->head.n_targets = own.size();
      part->head.n_sources = static_cast<index_type>(n_chunks);
      part->interactions = pairs;
    };
    // outputs are written in any case
    bool const needs_inner = form == pair_form::mutual || border_pairs == 0;
    add(needs_inner ? std::max(1., inner_pairs) : inner_pairs, 1, plan.inner);
    add(border_pairs, 2, plan.border);
    return plan;
  }

  task_plan plan_rank(rank_leaves const& leaves, pair_form form, group_options const& options,
                      rank_gpus const* gpus, executor* on)
  {
    task_plan plan;
    if (leaves.first == leaves.last) return plan;
    if (plan_groups(leaves, form, options, gpus, on, plan)) return plan;
    // Fewer groups reach fewer others, and smaller ones take less memory.
    auto const n_leaves = static_cast<std::size_t>(leaves.last - leaves.first);
    std::size_t const given = plan.targets.size(), most = std::min<std::size_t>(n_leaves, 64);
    std::vector<std::size_t> others;
    for (std::size_t n = given / 2; n > 0; n /= 2) others.push_back(n);
    for (std::size_t n = 2 * given; n <= most; n *= 2) others.push_back(n);
    for (std::size_t const n : others)
    {
      plan = {};
      auto const size = static_cast<int>((n_leaves + n - 1) / n);
      if (plan_groups(leaves, form, {.leaves_per_group = size}, gpus, on, plan)) return plan;
    }
    throw error("near_field: the leaves of a rank do not fit into the memory of its GPU, or touch "
                "those of more than " +
                    std::to_string(nearfield::detail::most_source_allocations - 1) +
                    " ranks; take more ranks, fewer right-hand sides or backend simd",
                error_kind::out_of_memory);
  }
}
