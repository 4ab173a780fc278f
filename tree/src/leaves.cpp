#include "leaves.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <utility>

namespace nearfield::detail
{
  namespace
  {
    using key_span = std::span<std::uint64_t const>;

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

    template <int Dim>
    class splitter
    {
    public:
      splitter(key_span targets, key_span sources, int key_level, index_type max_leaf_size)
          : targets_(targets), sources_(sources), key_level_(key_level),
            max_leaf_size_(max_leaf_size)
      {}

      leaf_set<Dim> run()
      {
        if (!targets_.empty() || !sources_.empty())
          split(0, 0,
                {0, static_cast<index_type>(targets_.size()), 0,
                 static_cast<index_type>(sources_.size())});
        return std::move(leaves_);
      }

    private:
      struct content
      {
        index_type target_begin, target_end, source_begin, source_end;
      };

      // `key` is the smallest one of the box; its children have consecutive key intervals.
      void split(int level, std::uint64_t key, content const& box)
      {
        index_type const n_targets = box.target_end - box.target_begin;
        index_type const n_sources = box.source_end - box.source_begin;
        if (level == key_level_ || std::max(n_targets, n_sources) <= max_leaf_size_)
        {
          leaf_cell<Dim> cell{decode<Dim>(key, {leaf_order::morton, key_level_}), level};
          for (std::uint32_t& index : cell.index) index >>= key_level_ - level;
          leaves_.cells.push_back(cell);
          leaves_.keys.push_back(key);
          leaves_.target_offsets.push_back(box.target_end);
          leaves_.source_offsets.push_back(box.source_end);
          return;
        }
        std::uint64_t const child_keys = std::uint64_t(1) << (Dim * (key_level_ - level - 1));
        content child{box.target_begin, box.target_begin, box.source_begin, box.source_begin};
        for (int c = 0; c < 1 << Dim; ++c, key += child_keys)
        {
          child.target_begin = child.target_end;
          child.source_begin = child.source_end;
          child.target_end =
              lower_bound(targets_, child.target_begin, box.target_end, key + child_keys);
          child.source_end =
              lower_bound(sources_, child.source_begin, box.source_end, key + child_keys);
          if (child.target_end != child.target_begin || child.source_end != child.source_begin)
            split(level + 1, key, child);
        }
      }

      key_span targets_, sources_;
      int key_level_;
      index_type max_leaf_size_;
      leaf_set<Dim> leaves_;
    };
  }

  template <int Dim>
  leaf_set<Dim> uniform_leaves(occupied_cells const& targets, occupied_cells const* sources,
                               key_layout const& layout)
  {
    leaf_set<Dim> leaves;
    if (sources)
      unite(targets, *sources, leaves.keys, leaves.target_offsets, leaves.source_offsets);
    else
    {
      leaves.keys = targets.keys;
      leaves.target_offsets = targets.offsets;
    }
    leaves.cells.reserve(leaves.keys.size());
    for (std::uint64_t const key : leaves.keys)
      leaves.cells.push_back({decode<Dim>(key, layout), layout.level});
    return leaves;
  }

  template <int Dim>
  leaf_set<Dim> adaptive_leaves(key_span targets, key_span sources, int key_level,
                                index_type max_leaf_size)
  {
    return splitter<Dim>(targets, sources, key_level, max_leaf_size).run();
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template leaf_set<Dim> uniform_leaves(occupied_cells const&, occupied_cells const*,              \
                                        key_layout const&);                                        \
  template leaf_set<Dim> adaptive_leaves(key_span, key_span, int, index_type);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
