#include "choose_cuts.hpp"

#include "tree/src/leaf_size.hpp"

#include <nearfield/core/error.hpp>

#include <array>
#include <utility>

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  namespace
  {
    /// Cuts with about equal interactions, which the leaves over other cuts tell.
    template <int Dim>
    std::vector<std::uint64_t> cut_by_interactions(ranks const& all, executor& on,
                                                   key_sets const& sets, shape<Dim> const& of,
                                                   std::span<std::uint64_t const> cuts)
    {
      leaf_set<Dim> leaves;
      {
        auto const here = keys_here(all, on, sets, cuts);
        all.attempt(
            [&]
            { leaves = leaves_of<Dim>(on, {here.begin(), here.end()}, of, range_of(all, cuts)); });
      }
      auto const known =
          learn_layer<Dim>(all, on, std::move(leaves), of.has_one_set, of.layout.level, of.period);
      page_vector<std::uint64_t> weights;
      all.attempt(
          [&] { weights = weights_of(on, known, distribution_options::equal_interactions, 1); });
      return cut_by_weight(all, known.own_keys(), weights, of.end());
    }
  }

  template <int Dim>
  int choose_size(ranks const& all, executor& on, key_sets const& sets, shape<Dim> const& of,
                  leaf_costs const& costs)
  {
    // what sizes are tried depends on these, and must be the same everywhere
    all.attempt([&] { (void)choose_leaf_size(costs, 0, {}); }); // checks them
    double const has_far_field = costs.has_far_field();
    if (all.least(has_far_field) != all.greatest(has_far_field))
      throw error("distributed_tree: the costs of some ranks have a far field; give one to all or "
                  "to none");
    auto const cuts = cut_by_points(all, sets, of.end());
    auto const here = keys_here(all, on, sets, cuts);
    key_span const targets = here[0], sources = of.has_one_set ? key_span() : here[1];
    return choose_leaf_size(
               costs, all.sum(targets.size() + sources.size()),
               [&](int size)
               {
                 leaf_costs::choice::candidate mine;
                 all.attempt(
                     [&]
                     {
                       mine =
                           cost_of_size<Dim>(on, costs, targets, sources, of.has_one_set,
                                             of.layout.level, of.period, size, range_of(all, cuts));
                     });
                 auto const sums = all.sum(
                     std::array{mine.leaves, mine.pairs, mine.near_seconds, mine.far_seconds});
                 return leaf_costs::choice::candidate{size, sums[0], sums[1], sums[2], sums[3]};
               })
        .max_leaf_size;
  }

  template <int Dim>
  std::vector<std::uint64_t> choose_cuts(ranks const& all, executor& on, key_sets const& sets,
                                         shape<Dim> const& of,
                                         distribution_options::cut_choice choice)
  {
    std::uint64_t const end = of.end();
    std::vector<std::uint64_t> cuts = choice == distribution_options::of_the_caller
                                          ? cuts_there_are(all, sets, end)
                                          : cut_by_points(all, sets, end);
    if (of.max_leaf_size > 0)
    {
      std::vector<key_places> places;
      for (key_span const keys : sets)
        places.push_back([keys](key_span wanted) { return places_of(wanted, keys); });
      move_to_leaves<Dim>(all, places, of.layout.level, of.max_leaf_size, cuts);
    }
    if (choice != distribution_options::equal_interactions) return cuts;
    return cut_by_interactions(all, on, sets, of, cuts);
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template int choose_size(ranks const&, executor&, key_sets const&, shape<Dim> const&,            \
                           leaf_costs const&);                                                     \
  template std::vector<std::uint64_t> choose_cuts(ranks const&, executor&, key_sets const&,        \
                                                  shape<Dim> const&,                               \
                                                  distribution_options::cut_choice);
  NEARFIELD_INSTANTIATE(2)
  NEARFIELD_INSTANTIATE(3)
#undef NEARFIELD_INSTANTIATE
}
