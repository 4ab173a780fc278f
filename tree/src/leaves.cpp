#include "leaves.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// The first position in [begin, end) whose key is not below `key`.
    index_type lower_bound(key_span keys, index_type begin, index_type end, std::uint64_t key)
    {
      // The comparisons are unpredictable, so no branch depends on them.
      for (index_type n = end - begin; n > 0;)
      {
        index_type const half = (n + 1) / 2;
        begin += keys[begin + half - 1] < key ? half : 0;
        n -= half;
      }
      return begin;
    }

    /// A box, and the points that it holds.
    struct content
    {
      int level;
      std::uint64_t key; // the smallest one; its children have consecutive intervals of keys
      index_type target_begin, target_end, source_begin, source_end;

      [[nodiscard]] index_type crowd() const
      {
        return std::max(target_end - target_begin, source_end - source_begin);
      }
    };

    template <int Dim>
    class splitter
    {
    public:
      splitter(key_span targets, key_span sources, int key_level, index_type max_leaf_size,
               curve_range const& owned)
          : targets_(targets), sources_(sources), key_level_(key_level),
            max_leaf_size_(max_leaf_size), owned_(owned)
      {}

      [[nodiscard]] content root() const
      {
        return {0, 0,
                0, static_cast<index_type>(targets_.size()),
                0, static_cast<index_type>(sources_.size())};
      }

      /// Calls leaf(box) for each leaf in the box, and for each larger box in it with at most `enough` points.
      template <class Visit>
      void split(content box, index_type enough, Visit const& visit) const
      {
        if (box.crowd() <= std::max(max_leaf_size_, enough) && !reaches_beyond(box))
          return visit(box);
        if (box.crowd() > max_leaf_size_) shrink(box);
        if (box.level == key_level_) return visit(box);
        std::uint64_t const child_keys = std::uint64_t(1) << (Dim * (key_level_ - box.level - 1));
        content child{box.level + 1,    box.key,          box.target_begin,
                      box.target_begin, box.source_begin, box.source_begin};
        constexpr int last = (1 << Dim) - 1;
        for (int c = 0; c <= last; ++c, child.key += child_keys)
        {
          auto const end_in = [&](key_span keys, index_type begin, index_type end)
          {
            return c == last ? end : lower_bound(keys, begin, end, child.key + child_keys);
          };
          child.target_begin = child.target_end;
          child.source_begin = child.source_end;
          child.target_end = end_in(targets_, child.target_begin, box.target_end);
          child.source_end = end_in(sources_, child.source_begin, box.source_end);
          if (child.crowd() > 0) split(child, enough, visit);
        }
      }

    private:
      [[nodiscard]] bool reaches_beyond(content const& box) const
      {
        std::uint64_t const end = box.key + (std::uint64_t(1) << (Dim * (key_level_ - box.level)));
        return (box.key < owned_.begin && owned_.begin < end) ||
               (box.key < owned_.end && owned_.end < end);
      }

      /// Down to the smallest box around all of its points.
      void shrink(content& box) const
      {
        std::uint64_t least = ~std::uint64_t(0), greatest = 0;
        auto const include = [&](key_span keys, index_type begin, index_type end)
        {
          if (begin == end) return;
          least = std::min(least, keys[begin]);
          greatest = std::max(greatest, keys[end - 1]);
        };
        include(targets_, box.target_begin, box.target_end);
        include(sources_, box.source_begin, box.source_end);
        box.level = common_level<Dim>(least, greatest, key_level_);
        int const shift = Dim * (key_level_ - box.level);
        box.key = least >> shift << shift;
      }

      key_span targets_, sources_;
      int key_level_;
      index_type max_leaf_size_;
      curve_range owned_;
    };
  }

  template <int Dim>
  leaf_set<Dim> uniform_leaves(executor& on, occupied_cells&& targets,
                               occupied_cells const* sources, key_layout const& layout)
  {
    leaf_set<Dim> leaves;
    if (sources)
      unite(targets, *sources, leaves.keys, leaves.target_offsets, leaves.source_offsets);
    else
    {
      leaves.keys = std::move(targets.keys);
      leaves.target_offsets = std::move(targets.offsets);
    }
    leaves.cells.resize(leaves.keys.size());
    bool const in_rows = layout.in_rows();
    if (!in_rows) leaves.levels.resize(leaves.keys.size());
    for_each_part(on, cut(on, leaves.keys.size()),
                  [&](int, std::size_t begin, std::size_t end)
                  {
                    for (std::size_t b = begin; b < end; ++b)
                      leaves.cells[b] = {decode<Dim>(leaves.keys[b], layout), layout.level};
                    if (!in_rows)
                      std::fill_n(leaves.levels.data() + begin, end - begin,
                                  static_cast<std::uint8_t>(layout.level));
                  });
    return leaves;
  }

  template <int Dim>
  leaf_set<Dim> adaptive_leaves(executor& on, key_span targets, key_span sources, int key_level,
                                index_type max_leaf_size, curve_range const& owned)
  {
    splitter<Dim> const boxes(targets, sources, key_level, max_leaf_size, owned);
    // boxes enough for all workers, and then their leaves
    content const root = boxes.root();
    std::vector<content> large;
    int const parts = cut(on, root.crowd()).parts;
    index_type const enough =
        parts > 1 ? root.crowd() / static_cast<index_type>(8 * parts) : root.crowd();
    if (root.crowd() > 0)
      boxes.split(root, enough, [&](content const& box) { large.push_back(box); });
    loop_parts const loop = cut(on, large.size(), 1, 4);
    std::vector<leaf_set<Dim>> found(loop.parts);
    for_each_part(on, loop,
                  [&](int part, std::size_t begin, std::size_t end)
                  {
                    leaf_set<Dim> leaves; // its own, since those of `found` share cache lines
                    auto const add = [&](content const& box)
                    {
                      leaf_cell<Dim> cell{decode<Dim>(box.key, {leaf_order::morton, key_level}),
                                          box.level};
                      for (std::uint32_t& index : cell.index) index >>= key_level - box.level;
                      leaves.cells.push_back(cell);
                      leaves.levels.push_back(static_cast<std::uint8_t>(box.level));
                      leaves.keys.push_back(box.key);
                      leaves.target_offsets.push_back(box.target_end);
                      leaves.source_offsets.push_back(box.source_end);
                    };
                    for (std::size_t i = begin; i < end; ++i) boxes.split(large[i], 0, add);
                    found[part] = std::move(leaves);
                  });
    if (loop.parts == 1) return std::move(found[0]);
    std::vector<std::size_t> before{0};
    for (leaf_set<Dim> const& part : found) before.push_back(before.back() + part.size());
    leaf_set<Dim> leaves;
    auto const for_each_column = [](auto const& f)
    {
      f(&leaf_set<Dim>::cells, 0);
      f(&leaf_set<Dim>::levels, 0);
      f(&leaf_set<Dim>::keys, 0);
      f(&leaf_set<Dim>::target_offsets, 1);
      f(&leaf_set<Dim>::source_offsets, 1);
    };
    for_each_column([&](auto column, std::size_t first)
                    { (leaves.*column).resize(first + before.back()); });
    on.run(loop.parts,
           [&](int part)
           {
             leaf_set<Dim> const some = std::move(found[part]);
             for_each_column(
                 [&](auto column, std::size_t first)
                 {
                   std::ranges::copy(std::span(some.*column).subspan(first),
                                     (leaves.*column).data() + first + before[part]);
                 });
           });
    return leaves;
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template leaf_set<Dim> uniform_leaves(executor&, occupied_cells&&, occupied_cells const*,        \
                                        key_layout const&);                                        \
  template leaf_set<Dim> adaptive_leaves(executor&, key_span, key_span, int, index_type,           \
                                         curve_range const&);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
