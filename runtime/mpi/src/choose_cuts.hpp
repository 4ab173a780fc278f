#pragma once

#include "cuts.hpp"
#include "layer.hpp"
#include "tree_memory.hpp"

#include <nearfield/core/parallel.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/tree/leaf_size.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// The leaf size and the cuts of a new tree. All functions are collective.

namespace nearfield::starpu_mpi::detail
{
  /// The weights of a rank's leaves: interactions, or points, at what each costs there. Not collective.
  template <int Dim>
  page_vector<std::uint64_t> weights_of(executor& on, known_leaves<Dim> const& known,
                                        distribution_options::cut_choice choice, double cost)
  {
    page_vector<std::uint64_t> weights(known.own_keys().size());
    boxes const targets{known.leaves.target_offsets}, sources{known.leaves.source_offsets};
    interaction_list const lists = known.lists.full.view();
    for_each_part(on, cut(on, weights.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (auto b = static_cast<index_type>(begin); b < end; ++b)
                    {
                      std::uint64_t const of_targets = targets.count(known.first + b);
                      std::uint64_t weight = of_targets;
                      if (!known.has_one_set) weight += sources.count(known.first + b);
                      // each point with itself too: what meets no other costs something
                      if (choice == distribution_options::equal_interactions)
                        weight = std::max(weight, of_targets * lists.source_count(b));
                      if (cost != 1)
                        weight = std::max<std::uint64_t>(
                            1, static_cast<std::uint64_t>(cost * static_cast<double>(weight)));
                      weights[b] = weight;
                    }
                  });
    return weights;
  }

  /// The max_leaf_size of least cost. Each rank tries sizes on the points between cuts, where leaves end for the trial.
  /// Throws nearfield::error if only some ranks have a far field.
  template <int Dim>
  int choose_size(ranks const& all, executor& on, key_sets const& sets, shape<Dim> const& of,
                  leaf_costs const& costs);

  /// The cuts that `choice` asks for.
  template <int Dim>
  std::vector<std::uint64_t> choose_cuts(ranks const& all, executor& on, key_sets const& sets,
                                         shape<Dim> const& of,
                                         distribution_options::cut_choice choice);
}
