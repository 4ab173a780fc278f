#include "leaves.hpp"

#include "instantiate.hpp"

#include <algorithm>
#include <limits>

namespace nearfield::detail
{
  namespace
  {
    /// The first position in [begin, end) whose key is not below `key`.
    index_type lower_bound(sorted_points points, index_type begin, index_type end,
                           std::uint64_t key)
    {
      auto const found =
          std::lower_bound(points.begin() + begin, points.begin() + end, key,
                           [](keyed_point const& p, std::uint64_t k) { return p.key < k; });
      return static_cast<index_type>(found - points.begin());
    }

    template <int Dim>
    class splitter
    {
    public:
      splitter(sorted_points targets, sorted_points sources, int key_level,
               index_type max_leaf_size)
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
          leaves_.add(cell, key, box.target_end, box.source_end);
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

      sorted_points targets_, sources_;
      int key_level_;
      index_type max_leaf_size_;
      leaf_set<Dim> leaves_;
    };
  }

  template <int Dim>
  leaf_set<Dim> uniform_leaves(sorted_points targets, sorted_points sources,
                               key_layout const& layout)
  {
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    leaf_set<Dim> leaves;
    index_type t = 0, s = 0;
    while (t < targets.size() || s < sources.size())
    {
      std::uint64_t const key = std::min(t < targets.size() ? targets[t].key : none,
                                         s < sources.size() ? sources[s].key : none);
      while (t < targets.size() && targets[t].key == key) ++t;
      while (s < sources.size() && sources[s].key == key) ++s;
      leaves.add({decode<Dim>(key, layout), layout.level}, key, t, s);
    }
    return leaves;
  }

  template <int Dim>
  leaf_set<Dim> adaptive_leaves(sorted_points targets, sorted_points sources, int key_level,
                                index_type max_leaf_size)
  {
    return splitter<Dim>(targets, sources, key_level, max_leaf_size).run();
  }

#define NEARFIELD_INSTANTIATE(Dim)                                                                 \
  template leaf_set<Dim> uniform_leaves(sorted_points, sorted_points, key_layout const&);          \
  template leaf_set<Dim> adaptive_leaves(sorted_points, sorted_points, int, index_type);
  NEARFIELD_FOR_EACH_DIM(NEARFIELD_INSTANTIATE)
#undef NEARFIELD_INSTANTIATE
}
