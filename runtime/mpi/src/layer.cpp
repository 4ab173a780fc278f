#include "layer.hpp"

#include "touched_ranks.hpp"

#include "tree/src/keys.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/parallel.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace nearfield::starpu_mpi::detail
{
  using namespace nearfield::detail;

  namespace
  {
    // in errors of lists
    constexpr char const *function = "distributed_tree",
                         *remedy = "a larger max_leaf_size, a lower level or more ranks";

    /// In ascending order, each once.
    template <class V>
    void sort_unique(std::vector<V>& values)
    {
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }

    /// What a rank tells of a leaf.
    template <int Dim>
    struct leaf_record
    {
      std::uint64_t key;
      leaf_cell<Dim> cell;
      index_type targets, sources;
    };

    template <int Dim>
    using border_leaves = page_vector<border_leaf<Dim>>;

    /// The keys from the first leaf on to the end of the last.
    template <int Dim>
    curve_range extent_of(leaf_set<Dim> const& leaves, int key_level)
    {
      if (leaves.keys.empty()) return {0, 0};
      leaf_cell<Dim> const& last = leaves.cells.back();
      return {leaves.keys.front(), keys_of<Dim>(last.index, last.level, key_level).end};
    }

    /// Tells other ranks of the own leaves that may touch theirs, and learns of theirs. If a GPU has the leaves, it finds
    /// the border, and only leaves there are looked at; if it cannot, the host gets them all.
    template <int Dim>
    by_rank<leaf_record<Dim>>
    exchange_leaves(ranks const& all, executor& on, leaf_set<Dim>& own, int key_level,
                    std::type_identity_t<std::array<double, Dim>> const& period,
                    gpu_of_leaves<Dim> const* gpu, std::optional<border_leaves<Dim>>& border)
    {
      auto const ranges =
          ranges_around(all.rank(), all.gather(gpu ? gpu->extent : extent_of(own, key_level)));
      std::vector<ranks::addressed<leaf_record<Dim>>> found;
      all.attempt(
          [&]
          {
            if (gpu) border = gpu->find_border(ranges, static_cast<std::size_t>(all.rank()));
            if (gpu && !border) gpu->append(own);
            boxes const targets{own.target_offsets}, sources{own.source_offsets};
            auto const record = [&](std::size_t i) -> leaf_record<Dim>
            {
              auto const b = static_cast<index_type>(i);
              if (!border) return {own.keys[b], own.cells[b], targets.count(b), sources.count(b)};
              border_leaf<Dim> const& leaf = (*border)[i];
              return {leaf.key, leaf.cell, leaf.points, leaf.points};
            };
            // one thread looks at so many in less time than others take to start
            constexpr std::size_t least_of_border = std::size_t(1) << 15;
            loop_parts const loop =
                border ? cut(on, border->size(), least_of_border) : cut(on, own.size());
            found.resize(static_cast<std::size_t>(loop.parts));
            for_each_part(on, loop,
                          [&](int part, std::size_t begin, std::size_t end)
                          {
                            touched_ranks<Dim> touched(ranges, key_level, all.rank(), period);
                            ranks::addressed<leaf_record<Dim>> mine;
                            for (std::size_t i = begin; i < end; ++i)
                            {
                              // a border has none of these
                              if (!border && touched.is_inside(own.cells[i])) continue;
                              leaf_record<Dim> const leaf = record(i);
                              for (int const rank : touched.of(leaf.cell))
                                mine.push_back({rank, leaf});
                            }
                            found[static_cast<std::size_t>(part)] = std::move(mine);
                          });
          });
      return all.send<leaf_record<Dim>>(found);
    }

    /// Room for so many points more.
    void check_room(page_vector<index_type> const& offsets, std::uint64_t count)
    {
      if (count > std::numeric_limits<index_type>::max() - 1 - offsets.back())
        throw error("distributed_tree: a rank and those around it have 2^32 - 1 points or more; "
                    "use more ranks");
    }

    /// Adds leaves that were told.
    template <int Dim>
    void append(leaf_set<Dim>& leaves, std::span<leaf_record<Dim> const> told)
    {
      std::uint64_t targets = 0, sources = 0;
      for (leaf_record<Dim> const& record : told)
      {
        targets += record.targets;
        sources += record.sources;
      }
      check_room(leaves.target_offsets, targets);
      check_room(leaves.source_offsets, sources);
      std::size_t b = leaves.grow(told.size());
      for (leaf_record<Dim> const& record : told)
      {
        leaves.cells[b] = record.cell;
        leaves.levels[b] = static_cast<std::uint8_t>(record.cell.level);
        leaves.keys[b] = record.key;
        leaves.target_offsets[b + 1] = leaves.target_offsets[b] + record.targets;
        leaves.source_offsets[b + 1] = leaves.source_offsets[b] + record.sources;
        ++b;
      }
    }

    /// Adds leaves, with all threads: own ones are many.
    template <int Dim>
    void append(executor& on, leaf_set<Dim>& leaves, leaf_set<Dim> const& more)
    {
      index_type const targets = leaves.target_offsets.back(),
                       sources = leaves.source_offsets.back();
      std::size_t const n = more.size(), first = leaves.grow(n);
      for_each_part(on, cut(on, n),
                    [&](int, std::size_t begin, std::size_t end)
                    {
                      for (std::size_t b = begin; b < end; ++b)
                      {
                        leaves.cells[first + b] = more.cells[b];
                        leaves.levels[first + b] = more.levels[b];
                        leaves.keys[first + b] = more.keys[b];
                        leaves.target_offsets[first + b + 1] = targets + more.target_offsets[b + 1];
                        leaves.source_offsets[first + b + 1] = sources + more.source_offsets[b + 1];
                      }
                    });
    }

    /// Numbers leaves that were told, and n_own own ones in their place.
    template <int Dim>
    void number(ranks const& all, index_type n_own, by_rank<leaf_record<Dim>> const& told,
                known_leaves<Dim>& known)
    {
      known.layers.clear();
      index_type n = 0;
      for (int rank = 0; rank < all.size(); ++rank)
      {
        index_type const first = n;
        n += rank == all.rank() ? n_own : static_cast<index_type>(told.of(rank).size());
        if (rank == all.rank())
        {
          known.first = first;
          known.last = n;
        }
        else if (n > first)
          known.layers.push_back({rank, first, n, {}});
      }
    }

    /// Leaves of other ranks that touch own ones, and the own ones that they touch, counted from the first own one.
    struct touching_leaves
    {
      std::vector<index_type> foreign, own; ///< ascending
    };

    /// Of the known leaves [first, last), which are of another rank. `each` has one point a leaf, for lists of leaves.
    template <int Dim>
    touching_leaves find_touching(executor& on, known_leaves<Dim> const& known, int key_level,
                                  std::type_identity_t<std::array<double, Dim>> const& period,
                                  boxes const& each, index_type first, index_type last)
    {
      boxes const targets{known.leaves.target_offsets}, sources{known.leaves.source_offsets};
      auto const may_meet = [&](index_type a, index_type b)
      {
        return targets.count(a) > 0 && sources.count(b) > 0;
      };
      loop_parts const loop = cut(on, last - first, 256);
      std::vector<touching_leaves> pieces(static_cast<std::size_t>(loop.parts));
      for_each_part(on, loop,
                    [&](int part, std::size_t begin, std::size_t end)
                    {
                      touching_leaves found;
                      list_pair rows;
                      list_writer lists(rows.full, rows.half, each, each, false, function, remedy);
                      list_leaves(known.leaves, key_level, period,
                                  first + static_cast<index_type>(begin),
                                  first + static_cast<index_type>(end), lists);
                      interaction_list const of = rows.full.view();
                      for (std::size_t b = begin; b < end; ++b)
                      {
                        std::size_t const n_before = found.own.size();
                        index_type const foreign = first + static_cast<index_type>(b);
                        for (auto const& range : of.neighbours(static_cast<index_type>(b - begin)))
                        {
                          index_type const end_of_own = std::min(range.end, known.last);
                          for (index_type leaf = std::max(range.begin, known.first);
                               leaf < end_of_own; ++leaf)
                            if (may_meet(leaf, foreign) || may_meet(foreign, leaf))
                              found.own.push_back(leaf - known.first);
                        }
                        if (found.own.size() > n_before) found.foreign.push_back(foreign);
                      }
                      sort_unique(found.own);
                      pieces[static_cast<std::size_t>(part)] = std::move(found);
                    });
      touching_leaves all;
      for (touching_leaves const& piece : pieces)
      {
        all.foreign.insert(all.foreign.end(), piece.foreign.begin(), piece.foreign.end());
        all.own.insert(all.own.end(), piece.own.begin(), piece.own.end());
      }
      sort_unique(all.own);
      return all;
    }

    /// The same for each layer, of leaves that a GPU found.
    template <int Dim>
    std::vector<touching_leaves>
    found_touching(met_leaves const& met, border_leaves<Dim> const& border,
                   std::span<rank_layer const> layers, index_type first_own, index_type n_own)
    {
      auto const own_chunk = static_cast<std::size_t>(std::ranges::count_if(
          layers, [&](rank_layer const& layer) { return layer.first_leaf < first_own; }));
      std::vector<touching_leaves> found(layers.size());
      for (std::size_t l = 0; l < layers.size(); ++l)
        for (index_type b = layers[l].first_leaf; b < layers[l].last_leaf; ++b)
          if (met.is_met[b < first_own ? b : b - n_own]) found[l].foreign.push_back(b);
      for (std::size_t i = 0; i < met.chunks.size(); ++i)
        for (std::uint64_t left = met.chunks[i]; left != 0; left &= left - 1)
        {
          auto const chunk = static_cast<std::size_t>(std::countr_zero(left));
          found[chunk < own_chunk ? chunk : chunk - 1].own.push_back(border[i].leaf);
        }
      return found;
    }

    /// What the leaves of this rank meet, where a GPU finds it. The known leaves have their numbers, but are not there.
    template <int Dim>
    std::optional<met_leaves> meet_others(known_leaves<Dim> const& known,
                                          by_rank<leaf_record<Dim>> const& told,
                                          gpu_of_leaves<Dim> const& gpu)
    {
      if (known.first == known.last || known.layers.size() >= most_chunks_of_a_part) return {};
      std::vector<index_type> chunks;
      for (rank_layer const& layer : known.layers) chunks.push_back(layer.first_leaf);
      auto const at = std::ranges::lower_bound(chunks, known.first) - chunks.begin();
      chunks.insert(chunks.begin() + at, known.first);
      chunks.push_back(gpu.leaves + static_cast<index_type>(told.values.size()));
      leaf_set<Dim> others;
      append<Dim>(others, told.values);
      check_room(others.source_offsets, gpu.points);
      return gpu.meet({others, chunks, static_cast<std::size_t>(at)});
    }
  }

  template <int Dim>
  list_pair lists_of(executor& on, known_leaves<Dim> const& known, int key_level,
                     std::type_identity_t<std::array<double, Dim>> const& period)
  {
    boxes const targets{known.leaves.target_offsets}, sources{known.leaves.source_offsets};
    loop_parts const loop = cut(on, known.last - known.first, 256, 4);
    std::vector<list_pair> pieces(static_cast<std::size_t>(loop.parts));
    for_each_part(
        on, loop,
        [&](int part, std::size_t begin, std::size_t end)
        {
          list_pair piece;
          // as of two sets, which have no half list; but points of one set do not meet themselves
          list_writer lists(piece.full, piece.half, targets, sources, false, function, remedy);
          list_leaves(known.leaves, key_level, period, known.first + static_cast<index_type>(begin),
                      known.first + static_cast<index_type>(end), lists);
          index_type const n_targets =
              targets.offsets[known.first + end] - targets.offsets[known.first + begin];
          piece.pairs = lists.pairs() - (known.has_one_set ? n_targets : 0);
          pieces[static_cast<std::size_t>(part)] = std::move(piece);
        });
    list_pair all;
    join(on, pieces, function, remedy, all);
    return all;
  }

  template <int Dim>
  known_leaves<Dim> learn_layer(ranks const& all, executor& on, leaf_set<Dim>&& own,
                                bool has_one_set, int key_level,
                                std::type_identity_t<std::array<double, Dim>> const& period,
                                gpu_of_leaves<Dim> const* gpu)
  {
    std::optional<border_leaves<Dim>> border;
    by_rank<leaf_record<Dim>> const told =
        exchange_leaves(all, on, own, key_level, period, gpu, border);
    if (!border) gpu = nullptr;
    known_leaves<Dim> known;
    index_type const n_own = gpu ? gpu->leaves : own.size();
    auto const append_own = [&](leaf_set<Dim>& to)
    {
      check_room(to.target_offsets, known.met ? gpu->points : own.target_offsets.back());
      check_room(to.source_offsets, known.met ? gpu->points : own.source_offsets.back());
      if (known.met)
        gpu->append(to);
      else if (told.values.empty()) // then this is called once
        to = std::move(own);
      else
        append(on, to, own);
    };
    // with own ones in their place
    auto const unite = [&](by_rank<leaf_record<Dim>> const& others)
    {
      leaf_set<Dim> leaves;
      std::size_t const n = n_own + others.values.size();
      leaves.cells.reserve(n);
      leaves.levels.reserve(n);
      leaves.keys.reserve(n);
      leaves.target_offsets.reserve(n + 1);
      leaves.source_offsets.reserve(n + 1);
      for (int rank = 0; rank < all.size(); ++rank)
      {
        if (rank == all.rank()) append_own(leaves);
        append(leaves, others.of(rank));
      }
      return leaves;
    };
    all.attempt(
        [&]
        {
          number(all, n_own, told, known);
          if (gpu) known.met = meet_others(known, told, *gpu);
          if (gpu && !known.met) gpu->append(own); // the host goes on with them
          // A leaf that touches a range of this rank need not touch a leaf there, and of those that touch some have no
          // targets and sources that meet. They are left out. That is mutual, so the other ranks find the same leaves.
          std::vector<touching_leaves> found;
          if (known.met)
            found = found_touching(*known.met, *border, known.layers, known.first, n_own);
          else
          {
            known.leaves = unite(told);
            std::vector<index_type> each(
                known.layers.empty() ? 0 : known.leaves.size() + std::size_t(1));
            std::iota(each.begin(), each.end(), index_type(0));
            for (rank_layer const& layer : known.layers)
              found.push_back(find_touching(on, known, key_level, period, {each}, layer.first_leaf,
                                            layer.last_leaf));
          }
          by_rank<leaf_record<Dim>> touching{{}, std::vector<std::size_t>(told.offsets.size(), 0)};
          std::vector<std::vector<index_type>> sent;
          for (std::size_t l = 0; l < found.size(); ++l)
          {
            rank_layer const& layer = known.layers[l];
            for (index_type const leaf : found[l].foreign)
              touching.values.push_back(told.of(layer.rank)[leaf - layer.first_leaf]);
            touching.offsets[static_cast<std::size_t>(layer.rank) + 1] = found[l].foreign.size();
            if (!found[l].own.empty()) sent.push_back(std::move(found[l].own));
          }
          std::partial_sum(touching.offsets.begin(), touching.offsets.end(),
                           touching.offsets.begin());
          if (known.met || touching.values.size() < told.values.size())
          {
            number(all, n_own, touching, known);
            known.leaves = unite(touching);
          }
          for (std::size_t i = 0; i < sent.size(); ++i) known.layers[i].sent = std::move(sent[i]);
          known.has_one_set = has_one_set;
          if (!known.met) known.lists = lists_of(on, known, key_level, period);
        });
    return known;
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template list_pair lists_of(executor&, known_leaves<Dim> const&, int,                            \
                              std::array<double, Dim> const&);                                     \
  template known_leaves<Dim> learn_layer(ranks const&, executor&, leaf_set<Dim>&&, bool, int,      \
                                         std::array<double, Dim> const&,                           \
                                         gpu_of_leaves<Dim> const*);
  NEARFIELD_INSTANTIATE(2)
  NEARFIELD_INSTANTIATE(3)
#undef NEARFIELD_INSTANTIATE
}
