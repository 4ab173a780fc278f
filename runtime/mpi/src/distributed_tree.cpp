#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include "tree_memory.hpp"

#include "cuda/gpu_points.hpp"
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
    using detail::by_rank, detail::leaves_of, detail::range_of, detail::ranks, detail::shape;

    template <class T, int Dim>
    shape<Dim> agree_on_shape(ranks const& all, detail::travelling_points<T, Dim>& points,
                              strided<T const, Dim> const& given, tree_options<Dim> const& options,
                              double imbalance)
    {
      shape<Dim> made{};
      named_positions<T, Dim> const named{given, "points"};
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
            bounds = points.load(named, options.period);
          });
      all.least(bounds.lower);
      all.greatest(bounds.upper);
      all.attempt([&] { made.root = choose_root(options, named, bounds, {{}, "points"}, bounds); });
      return made;
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
        detail::move_to_leaves<Dim>(
            all, [&](key_span wanted) { return detail::places_of(wanted, keys); }, of.layout.level,
            of.max_leaf_size, cuts);
      if (choice != cut_choice::equal_interactions) return cuts;
      return cut_by_interactions(all, on, keys, of, cuts);
    }
  }

  template <class T, int Dim>
  distributed_tree<T, Dim>::distributed_tree(MPI_Comm communicator,
                                             strided<T const, Dim> const& points,
                                             tree_options<Dim> const& options,
                                             distribution_options const& distribution)
      : memory_(std::make_unique<memory>(options, distribution))
  {
    ranks const all(communicator);
    executor& on = memory_->threads();
    auto of = agree_on_shape(all, memory_->points, points, options, distribution.imbalance);
    parts_.communicator = communicator;
    parts_.root = of.root;
    parts_.threads = distribution.threads;
    key_span all_keys;
    all.attempt(
        [&]
        {
          memory_->points.sort(of);
          all_keys = memory_->points.all_keys();
        });
    if (!options.level && options.max_leaf_size == automatic)
      memory_->options.max_leaf_size =
          choose_size(all, on, all_keys, of, options.costs ? *options.costs : leaf_costs());
    of.max_leaf_size = options.level ? 0 : static_cast<index_type>(memory_->options.max_leaf_size);
    parts_.max_leaf_size = of.max_leaf_size;
    parts_.period = of.period;
    parts_.shifts = shifts_of(of.period);
    parts_.cuts = choose_cuts<Dim>(all, on, all_keys, of, distribution.cuts);
    memory_->cuts = parts_.cuts;
    parts_.points.way.sent.swap(memory_->points.order);
    memory::adopt(all, memory_->send(all, of, parts_), parts_);
    memory_->points.leave_gpu();
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
    auto const of =
        agree_on_shape(all, memory_->points, points, memory_->options, distribution.imbalance);

    cut_choice const choice = distribution.cuts;
    bool const counts_pairs = choice == cut_choice::equal_interactions;
    memory_->cost.update(all, seconds, n_points() + (counts_pairs ? parts_.interaction_count : 0));
    all.attempt([&] { memory_->points.sort(of); });
    if (choice == cut_choice::of_the_caller)
    {
      key_span all_keys;
      all.attempt([&] { all_keys = memory_->points.all_keys(); });
      parts_.cuts = choose_cuts<Dim>(all, on, all_keys, of, choice);
    }
    else
    {
      parts_.cuts = memory_->cuts;
      if (of.max_leaf_size > 0)
        detail::move_to_leaves<Dim>(
            all, [&](key_span keys) { return memory_->points.places_of(keys); }, of.layout.level,
            of.max_leaf_size, parts_.cuts);
    }
    parts_.root = of.root;
    parts_.points.way.sent.swap(memory_->points.order);
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
    memory_->points.leave_gpu();
  }

  template <class T, int Dim>
  soa<T const, Dim> distributed_tree<T, Dim>::positions() const
  {
    return {parts_.points.positions, parts_.points.numbers.size()};
  }

  template class distributed_tree<float, 2>;
  template class distributed_tree<float, 3>;
  template class distributed_tree<double, 2>;
  template class distributed_tree<double, 3>;
}
