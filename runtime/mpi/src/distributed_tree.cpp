#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include "collective.hpp"
#include "cuts.hpp"
#include "layer.hpp"

#include "cuda/gpu_sorter.hpp"
#include "images.hpp"
#include "keys.hpp"
#include "leaf_size.hpp"
#include "leaves.hpp"
#include "parallel.hpp"
#include "root.hpp"
#include "sort.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi
{
  namespace
  {
    using namespace nearfield::detail;
    using detail::by_rank;
    using detail::ranks;

    /// What is known of a tree before its points move.
    template <int Dim>
    struct shape
    {
      key_layout layout;
      index_type max_leaf_size; ///< 0: uniform
      cube<Dim> root;
      std::array<double, Dim> period;

      [[nodiscard]] std::array<key_axis, Dim> axes() const { return key_axes(root, period); }
      /// of the keys
      [[nodiscard]] std::uint64_t end() const { return std::uint64_t(1) << (Dim * layout.level); }
    };

    /// A point on its way.
    template <class T, int Dim>
    struct traveller
    {
      std::array<T, Dim> x;
      index_type index; ///< in the caller's columns
    };
    template <class T, int Dim>
    strided<T const, Dim> positions_of(std::span<traveller<T, Dim> const> points)
    {
      static_assert(sizeof(traveller<T, Dim>) % sizeof(T) == 0);
      std::array<T const*, Dim> first;
      for (int d = 0; d < Dim; ++d) first[d] = &points[0].x[d];
      return {soa<T const, Dim>(first, points.size()), sizeof(traveller<T, Dim>) / sizeof(T)};
    }

    template <class T, int Dim>
    shape<Dim> agree_on_shape(ranks const& all, executor& on, strided<T const, Dim> const& points,
                              tree_options<Dim> const& options, double imbalance)
    {
      shape<Dim> made{};
      named_positions<T, Dim> const named{points, "points"};
      point_bounds<T, Dim> bounds;
      all.attempt(
          [&]
          {
            tree_options<Dim> along_the_curve = options;
            if (options.level && options.order == leaf_order::row_major)
              throw error("distributed_tree: order is row_major; ranks have ranges of the Z curve: "
                          "leave it out");
            along_the_curve.order = leaf_order::morton;
            made.layout = layout_of<T>(along_the_curve);
            if (!(imbalance >= 0))
              throw error("distributed_tree: imbalance is " + std::to_string(imbalance) +
                          "; give 0 or more, such as 0.1");
            made.max_leaf_size = options.level ? 0 : static_cast<index_type>(options.max_leaf_size);
            made.period = options.period;
            bounds = valid_bounds(on, named, options.period);
          });
      all.least(bounds.lower);
      all.greatest(bounds.upper);
      all.attempt([&] { made.root = choose_root(options, named, bounds, {{}, "points"}, bounds); });
      return made;
    }

    /// The leaves of a rank, whose keys these are.
    template <int Dim>
    leaf_set<Dim> leaves_of(executor& on, std::span<std::uint64_t const> keys, shape<Dim> const& of,
                            curve_range const& owned)
    {
      if (of.max_leaf_size > 0)
        return adaptive_leaves<Dim>(on, keys, {}, of.layout.level, of.max_leaf_size, owned);
      return uniform_leaves<Dim>(on, cells_of(on, keys), nullptr, of.layout);
    }

    curve_range range_of(ranks const& all, std::span<std::uint64_t const> cuts)
    {
      auto const r = static_cast<std::size_t>(all.rank());
      return {cuts[r], cuts[r + 1]};
    }

    /// Leaves of a rank, and their weights: interactions, or points, at what each costs there.
    struct weighted_leaves
    {
      std::span<std::uint64_t const> keys;
      page_vector<std::uint64_t> weights;

      template <int Dim>
      weighted_leaves(executor& on, detail::known_leaves<Dim> const& known, cut_choice choice,
                      double cost)
          : keys(std::span(known.leaves.keys).subspan(known.first, known.last - known.first)),
            weights(keys.size())
      {
        boxes const points{known.leaves.target_offsets};
        interaction_list const lists = known.lists.full.view();
        for_each_part(on, cut(on, keys.size()),
                      [&](int, std::size_t begin, std::size_t end)
                      {
                        for (auto b = static_cast<index_type>(begin); b < end; ++b)
                        {
                          std::uint64_t weight = points.count(known.first + b);
                          // each point with itself too: one that meets no other costs something
                          if (choice == cut_choice::equal_interactions)
                            weight *= lists.source_count(b);
                          if (cost != 1)
                            weight = std::max<std::uint64_t>(
                                1, static_cast<std::uint64_t>(cost * static_cast<double>(weight)));
                          weights[b] = weight;
                        }
                      });
      }
    };

    /// The keys of all points between the cuts of this rank, ascending.
    page_vector<std::uint64_t> keys_here(ranks const& all, executor& on,
                                         std::span<std::uint64_t const> keys,
                                         std::span<std::uint64_t const> cuts)
    {
      auto const arrived = all.exchange<std::uint64_t>(keys, detail::places_of(cuts, keys));
      page_vector<std::uint64_t> here;
      all.attempt(
          [&]
          {
            std::vector<key_span> runs;
            for (int r = 0; r < all.size(); ++r) runs.push_back(arrived.of(r));
            page_vector<index_type> order(arrived.values.size());
            sort_scratch scratch;
            merge_keys(on, runs, here, order, scratch);
          });
      return here;
    }

    /// The max_leaf_size of least cost. Each rank tries sizes on the points between cuts, where leaves end for the trial.
    template <int Dim>
    int choose_size(ranks const& all, executor& on, std::span<std::uint64_t const> keys,
                    shape<Dim> const& of, leaf_costs const& costs)
    {
      // what sizes are tried depends on these, and must be the same everywhere
      all.attempt([&] { (void)choose_leaf_size(costs, 0, {}); }); // checks them
      double const has_far_field = costs.has_far_field();
      std::array<double, 2> most{has_far_field, -has_far_field};
      all.greatest(most);
      if (most[0] != -most[1])
        throw error(
            "distributed_tree: the costs of some ranks have a far field; give one to all or "
            "to none");
      auto const cuts = detail::cut_by_points(all, keys, of.end());
      auto const here = keys_here(all, on, keys, cuts);
      return choose_leaf_size(
                 costs, all.sum_of(here.size()),
                 [&](int size)
                 {
                   leaf_size_choice::candidate mine;
                   all.attempt(
                       [&]
                       {
                         mine = cost_of_size<Dim>(on, costs, here, of.layout.level, of.period, size,
                                                  range_of(all, cuts));
                       });
                   std::array<double, 4> sums{mine.leaves, mine.pairs, mine.near_seconds,
                                              mine.far_seconds};
                   all.sum(sums);
                   return leaf_size_choice::candidate{size, sums[0], sums[1], sums[2], sums[3]};
                 })
          .max_leaf_size;
    }

    /// Cuts with about equal interactions, which the leaves over other cuts tell.
    template <int Dim>
    std::vector<std::uint64_t>
    cut_by_interactions(ranks const& all, executor& on, std::span<std::uint64_t const> keys,
                        shape<Dim> const& of, std::span<std::uint64_t const> cuts)
    {
      leaf_set<Dim> leaves;
      {
        auto const here = keys_here(all, on, keys, cuts);
        all.attempt([&] { leaves = leaves_of<Dim>(on, here, of, range_of(all, cuts)); });
      }
      auto const known =
          detail::learn_layer<Dim>(all, on, leaves, cuts, of.layout.level, of.period);
      std::optional<weighted_leaves> mine;
      all.attempt([&] { mine.emplace(on, known, cut_choice::equal_interactions, 1); });
      return detail::cut_by_weight(all, mine->keys, mine->weights, of.end());
    }

    template <int Dim>
    std::vector<std::uint64_t> choose_cuts(ranks const& all, executor& on,
                                           std::span<std::uint64_t const> keys,
                                           shape<Dim> const& of, cut_choice choice)
    {
      std::uint64_t const end = of.end();
      std::vector<std::uint64_t> cuts = choice == cut_choice::of_the_caller
                                            ? detail::cuts_there_are(all, keys, end)
                                            : detail::cut_by_points(all, keys, end);
      if (of.max_leaf_size > 0)
        detail::move_to_leaves<Dim>(all, keys, of.layout.level, of.max_leaf_size, cuts);
      if (choice != cut_choice::equal_interactions) return cuts;
      return cut_by_interactions(all, on, keys, of, cuts);
    }
  }

  /// What a tree keeps from one rebuild() to the next: its options, cuts as they were made, and memory.
  template <class T, int Dim>
  struct detail::tree_memory
  {
    tree_options<Dim> options;
    distribution_options distribution;
    std::vector<std::uint64_t> cuts; ///< before they moved to the leaves that they are in
    price cost;                      ///< of an interaction on this rank

    // of the caller's points along the curve
    page_vector<std::uint64_t> keys;
    page_vector<index_type> order; ///< before it becomes way().sent
    std::array<page_vector<T>, Dim> sorted;
    std::unique_ptr<gpu_sorter<T, Dim>> sorter; ///< made when it is first needed
    sort_scratch scratch;
    // of points that travel
    page_vector<traveller<T, Dim>> leaving;
    by_rank<traveller<T, Dim>> arrived;
    // of own points, where some have arrived
    page_vector<std::uint64_t> arrived_keys, merged_keys;
    page_vector<index_type> merged_order;
    std::array<page_vector<T>, Dim> merged;

    [[nodiscard]] executor& threads()
    {
      return distribution.threads ? *distribution.threads : here;
    }
    this_thread here;

    /// Calls f(i) for i < n, on all threads.
    template <class F>
    void each(std::size_t n, F const& f)
    {
      for_each_part(threads(), cut(threads(), n),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t i = begin; i < end; ++i) f(i);
                    });
    }

    /// Sorts the caller's points along the curve.
    void sort(strided<T const, Dim> const& points, shape<Dim> const& of)
    {
      std::size_t const n = points.size();
      check_number(n);
      renew(order, n);
      renew(keys, n);
      for (auto& column : sorted) renew(column, n);
      if (distribution.gpu && sort_on_gpu(points, of)) return;
      for_each_part(threads(), cut(threads(), n),
                    [&](int, std::size_t begin, std::size_t end)
                    { write_keys(points, begin, end, of.axes(), of.layout, keys.data()); });
      sort_keys(threads(), keys, order, scratch);
      // column by column: more places at once would be more than the page tables in the cache
      for (int d = 0; d < Dim; ++d)
        each(n, [&, x = points[d], to = sorted[d].data()](std::size_t i) { to[i] = x[order[i]]; });
    }

    /// Whether the GPU has the memory for it.
    bool sort_on_gpu(strided<T const, Dim> const& points, shape<Dim> const& of)
    {
      std::array<T*, Dim> to;
      for (int d = 0; d < Dim; ++d) to[d] = sorted[d].data();
      try
      {
        if (!sorter) sorter = std::make_unique<gpu_sorter<T, Dim>>(*distribution.gpu, threads());
        sorter->sort(points, of.axes(), of.layout, keys.data(), order.data(), to);
      }
      catch (error const& e)
      {
        if (e.kind() != error_kind::out_of_memory) throw;
        return false;
      }
      return true;
    }

    /// Sends the sorted points to the ranks between whose cuts they are, and makes leaves of those that arrive. Points
    /// that stay on this rank are no message: they come between those of the ranks before and after.
    template <class Parts>
    known_leaves<Dim> send(ranks const& all, shape<Dim> const& of, Parts& parts)
    {
      auto& way = parts.way;
      way.sent_offsets = places_of(parts.cuts, keys);
      auto const me = static_cast<std::size_t>(all.rank());
      std::size_t const own_sent = way.sent_offsets[me],
                        n_own = way.sent_offsets[me + 1] - own_sent;
      std::vector<std::size_t> offsets = way.sent_offsets;
      for (std::size_t r = me + 1; r < offsets.size(); ++r) offsets[r] -= n_own;
      all.attempt(
          [&]
          {
            renew(leaving, offsets.back());
            each(leaving.size(),
                 [&](std::size_t i)
                 {
                   std::size_t const from = i < own_sent ? i : i + n_own;
                   leaving[i].index = way.sent[from];
                   for (int d = 0; d < Dim; ++d) leaving[i].x[d] = sorted[d][from];
                 });
          });
      all.exchange<traveller<T, Dim>>(leaving, offsets, arrived);

      way.received_offsets = arrived.offsets;
      for (std::size_t r = me + 1; r < offsets.size(); ++r) way.received_offsets[r] += n_own;
      std::uint64_t const n_points = keys.size();
      by_rank<std::uint64_t> const counts = all.gather_all(std::span(&n_points, 1));
      std::vector<std::uint64_t> first_number{distribution.first_number}; // of each rank
      for (std::uint64_t const count : counts.values)
        first_number.push_back(first_number.back() + count);
      parts.total_points = first_number.back() - distribution.first_number;

      leaf_set<Dim> own;
      all.attempt(
          [&]
          {
            check_number(way.received_offsets.back());
            key_span const stay = key_span(keys).subspan(own_sent, n_own);
            auto const owned = range_of(all, parts.cuts);
            if (arrived.values.empty())
            {
              own = leaves_of<Dim>(threads(), stay, of, owned);
              keep(own_sent, n_own, first_number[me], parts);
            }
            else
            {
              merge(all, of, stay);
              own = leaves_of<Dim>(threads(), merged_keys, of, owned);
              unite(own_sent, n_own, me, first_number, parts);
            }
          });
      return learn_layer<Dim>(all, threads(), own, parts.cuts, of.layout.level, of.period);
    }

    /// Own points are those that stay.
    template <class Parts>
    void keep(std::size_t own_sent, std::size_t n_own, std::uint64_t first_number, Parts& parts)
    {
      renew(parts.way.received, n_own);
      renew(parts.numbers, n_own);
      each(n_own,
           [&](std::size_t p)
           {
             parts.way.received[p] = static_cast<index_type>(p);
             parts.numbers[p] = first_number + parts.way.sent[own_sent + p];
           });
      for (int d = 0; d < Dim; ++d) parts.positions[d] = sorted[d].data() + own_sent;
    }

    /// Sorts the keys of own points. They come by rank, and from a rank by key; those with equal keys by number, and the
    /// merge keeps that order.
    void merge(ranks const& all, shape<Dim> const& of, key_span stay)
    {
      renew(arrived_keys, arrived.values.size());
      for_each_part(
          threads(), cut(threads(), arrived_keys.size()),
          [&, x = positions_of<T, Dim>(arrived.values)](int, std::size_t begin, std::size_t end)
          { write_keys(x, begin, end, of.axes(), of.layout, arrived_keys.data()); });
      std::vector<key_span> runs;
      for (int r = 0; r < all.size(); ++r)
        runs.push_back(r == all.rank() ? stay
                                       : key_span(arrived_keys)
                                             .subspan(arrived.offsets[static_cast<std::size_t>(r)],
                                                      arrived.of(r).size()));
      renew(merged_order, stay.size() + arrived_keys.size());
      merge_keys(threads(), runs, merged_keys, merged_order, scratch);
    }

    /// Own points are those that stay and those that arrived.
    template <class Parts>
    void unite(std::size_t own_sent, std::size_t n_own, std::size_t me,
               std::span<std::uint64_t const> first_number, Parts& parts)
    {
      auto& way = parts.way;
      std::size_t const n = merged_order.size(), own_begin = way.received_offsets[me];
      renew(way.received, n);
      renew(parts.numbers, n);
      for (int d = 0; d < Dim; ++d)
      {
        renew(merged[d], n);
        parts.positions[d] = merged[d].data();
      }
      each(n,
           [&](std::size_t p)
           {
             std::size_t const i = merged_order[p];
             way.received[i] = static_cast<index_type>(p);
             if (i >= own_begin && i - own_begin < n_own)
             {
               std::size_t const from = own_sent + i - own_begin;
               parts.numbers[p] = first_number[me] + way.sent[from];
               for (int d = 0; d < Dim; ++d) merged[d][p] = sorted[d][from];
             }
             else
             {
               auto const r = std::ranges::upper_bound(way.received_offsets, i) -
                              way.received_offsets.begin() - 1;
               traveller<T, Dim> const& come = arrived.values[i < own_begin ? i : i - n_own];
               parts.numbers[p] = first_number[static_cast<std::size_t>(r)] + come.index;
               for (int d = 0; d < Dim; ++d) merged[d][p] = come.x[d];
             }
           });
    }

    template <class Parts>
    static void adopt(ranks const& all, known_leaves<Dim>&& known, Parts& parts)
    {
      parts.first_leaf = known.first;
      parts.last_leaf = known.last;
      parts.cells = std::move(known.leaves.cells);
      parts.offsets = std::move(known.leaves.target_offsets);
      parts.layers = std::move(known.layers);
      parts.lists = std::move(known.lists.full);
      parts.interaction_count = known.lists.pairs;
      parts.total_leaves = all.sum_of(known.last - known.first);
    }
  };

  template <class T, int Dim>
  distributed_tree<T, Dim>::distributed_tree(MPI_Comm communicator,
                                             strided<T const, Dim> const& points,
                                             tree_options<Dim> const& options,
                                             distribution_options const& distribution)
      : memory_(std::make_unique<memory>())
  {
    memory_->options = options;
    memory_->distribution = distribution;
    ranks const all(communicator);
    executor& on = memory_->threads();
    auto of = agree_on_shape(all, on, points, options, distribution.imbalance);
    parts_.communicator = communicator;
    parts_.root = of.root;
    parts_.threads = distribution.threads;
    all.attempt([&] { memory_->sort(points, of); });
    if (!options.level && options.max_leaf_size == automatic)
      memory_->options.max_leaf_size =
          choose_size(all, on, memory_->keys, of, options.costs ? *options.costs : leaf_costs());
    of.max_leaf_size = options.level ? 0 : static_cast<index_type>(memory_->options.max_leaf_size);
    parts_.max_leaf_size = of.max_leaf_size;
    parts_.period = of.period;
    parts_.shifts = shifts_of(of.period);
    parts_.cuts = choose_cuts<Dim>(all, on, memory_->keys, of, distribution.cuts);
    memory_->cuts = parts_.cuts;
    parts_.way.sent.swap(memory_->order);
    memory::adopt(all, memory_->send(all, of, parts_), parts_);
  }

  template <class T, int Dim>
  distributed_tree<T, Dim>::distributed_tree() = default;
  template <class T, int Dim>
  distributed_tree<T, Dim>::~distributed_tree() = default;
  template <class T, int Dim>
  distributed_tree<T, Dim>::distributed_tree(distributed_tree&&) noexcept = default;
  template <class T, int Dim>
  distributed_tree<T, Dim>&
  distributed_tree<T, Dim>::operator=(distributed_tree&&) noexcept = default;

  template <class T, int Dim>
  void distributed_tree<T, Dim>::rebuild(strided<T const, Dim> const& points, double seconds)
  {
    ranks const all(parts_.communicator);
    executor& on = memory_->threads();
    auto const& distribution = memory_->distribution;
    all.attempt(
        [&]
        {
          if (!(seconds >= 0 && std::isfinite(seconds)))
            throw error("distributed_tree: seconds is " + std::to_string(seconds) +
                        "; give what near_field::seconds() says, or 0");
        });
    auto const of = agree_on_shape(all, on, points, memory_->options, distribution.imbalance);

    cut_choice const choice = distribution.cuts;
    bool const counts_pairs = choice == cut_choice::equal_interactions;
    memory_->cost.update(all, seconds, n_points() + (counts_pairs ? parts_.interaction_count : 0));
    all.attempt([&] { memory_->sort(points, of); });
    if (choice == cut_choice::of_the_caller)
      parts_.cuts = choose_cuts<Dim>(all, on, memory_->keys, of, choice);
    else
    {
      parts_.cuts = memory_->cuts;
      if (of.max_leaf_size > 0)
        detail::move_to_leaves<Dim>(all, memory_->keys, of.layout.level, of.max_leaf_size,
                                    parts_.cuts);
    }
    parts_.root = of.root;
    parts_.way.sent.swap(memory_->order);
    auto known = memory_->send(all, of, parts_);
    if (choice != cut_choice::of_the_caller)
    {
      std::optional<weighted_leaves> mine;
      all.attempt([&] { mine.emplace(on, known, choice, memory_->cost.used); });
      if (auto better =
              detail::better_cuts(all, mine->keys, mine->weights, distribution.imbalance, of.end()))
      {
        memory_->cuts = parts_.cuts = std::move(*better);
        known = memory_->send(all, of, parts_);
      }
    }
    memory::adopt(all, std::move(known), parts_);
  }

  template <class T, int Dim>
  soa<T const, Dim> distributed_tree<T, Dim>::positions() const
  {
    return {parts_.positions, parts_.numbers.size()};
  }

  template class distributed_tree<float, 2>;
  template class distributed_tree<float, 3>;
  template class distributed_tree<double, 2>;
  template class distributed_tree<double, 3>;
}
