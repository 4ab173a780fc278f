#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include "axis_of_ranks.hpp"
#include "choose_cuts.hpp"
#include "tree_memory.hpp"

#include "tree/src/images.hpp"
#include "tree/src/keys.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/root.hpp"

#include <nearfield/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace nearfield::starpu_mpi
{
  namespace
  {
    using namespace nearfield::detail;
    using detail::choose_cuts, detail::choose_size, detail::key_sets, detail::ranks, detail::shape;

    template <class T, int Dim>
    std::vector<named_positions<T, Dim>> names_of(std::vector<strided<T const, Dim>> const& given)
    {
      if (given.size() == 1) return {{given[0], "points"}};
      return {{given[0], "targets"}, {given[1], "sources"}};
    }

    /// load() checks the points of this rank, and says between which bounds they are.
    template <class T, int Dim, class Load>
    shape<Dim> agree_on_shape(ranks const& all, tree_options<Dim> const& options, double imbalance,
                              std::vector<strided<T const, Dim>> const& given, Load const& load)
    {
      shape<Dim> made{};
      made.has_one_set = given.size() == 1;
      auto const named = names_of(given);
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
            bounds = load(0, named.front());
            if (!made.has_one_set)
            {
              auto const more = load(1, named.back());
              for (int d = 0; d < Dim; ++d)
              {
                bounds.lower[d] = std::min(bounds.lower[d], more.lower[d]);
                bounds.upper[d] = std::max(bounds.upper[d], more.upper[d]);
              }
            }
          });
      bounds = {all.least(bounds.lower), all.greatest(bounds.upper)};
      auto const sources = made.has_one_set ? named_positions<T, Dim>{{}, "sources"} : named.back();
      all.attempt([&]
                  { made.root = choose_root(options, named.front(), bounds, sources, bounds); });
      return made;
    }

    /// In a box of any shape, of the places of points there.
    template <class T, int Dim>
    shape<Dim> agree_on_shape(ranks const& all, detail::tree_memory<T, Dim>& memory,
                              std::vector<strided<T const, Dim>> const& given)
    {
      tree_options<Dim> options = memory.options;
      double const imbalance = memory.distribution.imbalance;
      if (!options.cell.is_periodic())
        return agree_on_shape(all, options, imbalance, given,
                              [&](std::size_t s, named_positions<T, Dim> const& points)
                              { return memory.sets[s].load(points, options.period); });
      std::vector<strided<double const, Dim>> places;
      all.attempt(
          [&]
          {
            if (any_period(options.period))
              throw error("build_tree: both .cell and .period are given; give one of them");
            places = memory.load_in_cell(names_of(given));
            options.cell = {};
            options.period = memory.frame->thickness;
          });
      return agree_on_shape(all, options, imbalance, places,
                            [&](std::size_t, named_positions<double, Dim> const& points)
                            { return valid_bounds(memory.threads(), points, options.period); });
    }

    /// Whether leaves of any rank are crowded.
    template <class T, int Dim>
    bool has_crowd(ranks const& all, detail::tree_memory<T, Dim>& memory,
                   detail::known_leaves<Dim> const& known, shape<Dim> const& of)
    {
      double any = 0;
      all.attempt(
          [&]
          {
            if (of.max_leaf_size == 0 || memory.options.root) return;
            std::uint64_t const most = crowd_of_leaf(static_cast<int>(of.max_leaf_size));
            for (std::size_t s = 0; s < memory.sets.size(); ++s)
            {
              boxes const leaves{s == 0 ? known.leaves.target_offsets
                                        : known.leaves.source_offsets};
              for (index_type b = known.first; b < known.last; ++b)
              {
                if (leaves.count(b) <= most) continue;
                index_type const first = leaves.begin(known.first);
                auto const x = memory.sets[s].positions(leaves.end(known.last - 1) - first);
                for (index_type p = leaves.begin(b); p < leaves.end(b); ++p)
                  for (int d = 0; d < Dim; ++d)
                    if (x[d][p - first] != x[d][leaves.begin(b) - first]) any = 1;
              }
            }
          });
      return all.greatest(any) > 0;
    }

    /// Gives the tree pieces, if gaps are to be cut.
    template <class T, int Dim>
    bool cut_gaps_of(ranks const& all, executor& on, std::vector<strided<T const, Dim>> const& sets,
                     shape<Dim>& of)
    {
      std::uint64_t n = 0;
      for (auto const& points : sets) n += points.size();
      std::uint64_t const places = crowd_of_tree(all.sum(n));
      std::array<std::optional<detail::axis_of_ranks>, Dim> axes;
      std::array<axis_spacing, Dim> spacing;
      for (int d = 0; d < Dim; ++d)
      {
        if (of.period[d] > 0) continue;
        axes[d].emplace(all, on, detail::bits_of_axis<T, Dim>(all, sets, d), places);
        spacing[d] = axes[d]->spacing();
      }
      return cut_gaps<Dim>(
          spacing, of.period, of.layout.level,
          [&](int d, double length) { return axes[d]->gaps(length); }, of.root, of.pieces);
    }

  }

  template <class T, int Dim>
  void distributed_tree<T, Dim>::make(executor* threads, MPI_Comm communicator,
                                      position_sets const& given, tree_options<Dim> const& options,
                                      distribution_options const& distribution)
  {
    parts_.sets.resize(given.size());
    memory_ = std::make_unique<memory>(options, distribution, threads, given.size());
    parts_.communicator = communicator;
    parts_.threads = threads;
    build(given, std::nullopt);
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
    rebuild_from({points}, seconds);
  }
  template <class T, int Dim>
  void distributed_tree<T, Dim>::rebuild(strided<T const, Dim> const& targets,
                                         strided<T const, Dim> const& sources, double seconds)
  {
    rebuild_from({targets, sources}, seconds);
  }

  template <class T, int Dim>
  void distributed_tree<T, Dim>::rebuild_from(position_sets const& given, double seconds)
  {
    ranks const all(parts_.communicator);
    all.attempt(
        [&]
        {
          if (given.size() != parts_.sets.size())
            throw error(std::string("distributed_tree: the tree has ") +
                        (has_one_set() ? "one set of points, rebuild() is given two"
                                       : "two sets of points, rebuild() is given one") +
                        "; give what it was made of");
          if (!(seconds >= 0 && std::isfinite(seconds)))
            throw error("distributed_tree: seconds is " + std::to_string(seconds) +
                        "; give what near_field::seconds() says, or 0");
        });
    build(given, seconds);
  }

  template <class T, int Dim>
  void distributed_tree<T, Dim>::build(position_sets const& given, std::optional<double> seconds)
  {
    typename memory::gpu_user const user{*memory_};
    ranks const all(parts_.communicator);
    executor& on = memory_->threads();
    auto const& distribution = memory_->distribution;
    auto& options = memory_->options;
    bool const chooses_size = !seconds && !options.level && options.max_leaf_size == automatic;
    auto const shape_of = [&]
    {
      return agree_on_shape(all, *memory_, given);
    };
    auto of = shape_of();
    parts_.period = of.period;
    all.attempt([&] { parts_.shifts = memory_->shifts(of); });
    auto const cut_gaps = [&]
    {
      return memory_->frame ? cut_gaps_of<double, Dim>(all, on, memory_->places_in_cell(), of)
                            : cut_gaps_of<T, Dim>(all, on, given, of);
    };
    // Points that were far away are so most likely still.
    bool const had_pieces =
        std::ranges::any_of(parts_.pieces, [](auto const& axis) { return !axis.empty(); });
    bool const has_pieces = had_pieces && cut_gaps();

    distribution_options::cut_choice const choice = distribution.cuts;
    bool const counts_pairs = choice == distribution_options::equal_interactions;
    auto const work = [&](std::uint64_t n_pairs)
    {
      if (n_points() == 0) return std::uint64_t(0); // a rank with sources only computes nothing
      return n_points() + (counts_pairs ? n_pairs : has_one_set() ? 0 : n_sources());
    };
    if (seconds) memory_->cost.update(all, *seconds, work(parts_.interaction_count));
    auto const make_known = [&](bool makes_cuts)
    {
      memory_->sort(all, of, parts_);
      if (makes_cuts || choice == distribution_options::of_the_caller)
      {
        key_sets const keys = memory_->keys(all);
        if (chooses_size)
        {
          options.max_leaf_size =
              choose_size(all, on, keys, of, options.costs ? *options.costs : leaf_costs());
          of.max_leaf_size = static_cast<index_type>(options.max_leaf_size);
        }
        memory_->cuts = parts_.cuts = choose_cuts<Dim>(all, on, keys, of, choice);
      }
      else
      {
        parts_.cuts = memory_->cuts;
        if (of.max_leaf_size > 0)
          detail::move_to_leaves<Dim>(all, memory_->places(), of.layout.level, of.max_leaf_size,
                                      parts_.cuts);
      }
      return memory_->send(all, of, parts_);
    };
    auto known = make_known(!seconds || had_pieces != has_pieces);
    if (!has_pieces && has_crowd(all, *memory_, known, of) && cut_gaps())
    {
      (void)shape_of(); // points that were sorted have to be loaded again
      known = make_known(true);
    }
    parts_.root = of.root;
    parts_.pieces = of.pieces;
    parts_.max_leaf_size = of.max_leaf_size;
    if (seconds && choice != distribution_options::of_the_caller)
    {
      std::optional<page_vector<std::uint64_t>> mine;
      auto const weigh = [&]() -> std::span<std::uint64_t const>
      {
        if (mine) return *mine; // on all ranks
        all.attempt(
            [&]
            {
              if (known.met && counts_pairs)
                known.lists = lists_of(on, known, of.layout.level, of.period);
              mine = detail::weights_of(on, known, choice, memory_->cost.used);
              if (known.met) known.lists = {};
            });
        return *mine;
      };
      // of one set this is the sum of weights, but for their rounding
      double load = memory_->cost.used * static_cast<double>(work(known.pairs()));
      if (!of.has_one_set)
      {
        auto const weights = weigh();
        load = std::accumulate(weights.begin(), weights.end(), 0.);
      }
      if (auto better = detail::better_cuts(all, load, known.own_keys(), weigh,
                                            distribution.imbalance, of.end()))
      {
        memory_->cuts = parts_.cuts = std::move(*better);
        known = memory_->send(all, of, parts_);
      }
    }
    memory_->adopt(all, std::move(known), parts_);
  }

  template <class T, int Dim>
  soa<T const, Dim> distributed_tree<T, Dim>::positions_of(std::size_t set) const
  {
    return memory_->sets[set].positions(parts_.sets[set].numbers.size());
  }

  template <class T, int Dim>
  interaction_list distributed_tree<T, Dim>::interactions() const&
  {
    if (parts_.has_lists_on_gpu && parts_.lists.own.empty()) parts_.lists = memory_->lists(parts_);
    return parts_.lists.view(parts_.shifts);
  }

  template <class T, int Dim>
  auto distributed_tree<T, Dim>::complete(std::size_t set) const -> own_points const&
  {
    own_points& own = parts_.sets[set];
    memory_->sets[set].complete(own.numbers, own.way);
    return own;
  }

  template <class T, int Dim>
  std::optional<int> distributed_tree<T, Dim>::gpu() const
  {
    bool const is_there = std::ranges::all_of(memory_->sets, [](auto const& points)
                                              { return points.is_settled_on_gpu; });
    return is_there ? memory_->distribution.gpu : std::nullopt;
  }

  template <class T, int Dim>
  soa<T const, Dim> distributed_tree<T, Dim>::on_gpu(std::size_t set) const
  {
    if (!gpu()) return {};
    return {memory_->sets[set].gpu->united(), parts_.sets[set].numbers.size()};
  }

  template <class T, int Dim>
  std::shared_ptr<nearfield::detail::part_lists<Dim> const>
  distributed_tree<T, Dim>::lists_on_gpu(pair_form form) const
  {
    if (!gpu() || !parts_.has_lists_on_gpu) return nullptr;
    return std::make_shared<part_lists<Dim>>(memory_->sets.front().gpu->lists(form));
  }

  template <class T, int Dim>
  index_type const* distributed_tree<T, Dim>::caller_rows() const
  {
    return gpu() ? memory_->sets.front().gpu->indices() : nullptr;
  }

  template class distributed_tree<float, 2>;
  template class distributed_tree<float, 3>;
  template class distributed_tree<double, 2>;
  template class distributed_tree<double, 3>;
}
