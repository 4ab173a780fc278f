// The lists that a GPU makes of a part of a tree: those of the host, point by point.
#include "points.hpp"
#include "tree/src/cuda/gpu_points.hpp"
#include "tree/src/images.hpp"
#include "tree/src/interaction_lists.hpp"
#include "tree/src/leaves.hpp"
#include "tree/src/sort.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using namespace nearfield::detail;

    /// A set of a list, a point in it, and a shift.
    using met_point = std::tuple<std::size_t, index_type, std::uint16_t>;

    /// What a list has for a leaf.
    struct leaf_work
    {
      std::vector<met_point> points;
      index_type own_begin = 0, own_end = 0;

      friend bool operator==(leaf_work const&, leaf_work const&) = default;
    };

    struct list_work
    {
      std::vector<leaf_work> leaves;
      double pairs = 0;
      std::array<index_type, 32> leaves_of_size{};
    };

    /// A tree that is cut into chunks of leaves, one of which is the part.
    template <class T, int Dim>
    struct cut_tree
    {
      key_layout layout;
      index_type max_leaf_size; ///< 0: uniform
      std::array<double, Dim> period;
      std::array<key_axis, Dim> axes;
      points<T, Dim> sorted;
      leaf_set<Dim> leaves;
      std::vector<index_type> chunks;
      std::size_t own = 0;

      cut_tree(points<T, Dim> const& x, tree_options<Dim> const& options, std::size_t n_chunks,
               random_numbers& random)
          : layout{leaf_order::morton, options.level.value_or(max_level<Dim>)},
            max_leaf_size(options.level ? 0 : static_cast<index_type>(options.max_leaf_size)),
            period(options.period), sorted(x)
      {
        for (int d = 0; d < Dim; ++d)
          axes[d] = period[d] > 0 ? key_axis{0, period[d]} : key_axis{-0.1, 1.3};
        this_thread here;
        sort_scratch scratch;
        page_vector<std::uint64_t> keys(x.size());
        page_vector<index_type> order(x.size());
        write_keys(strided<T const, Dim>(x.view()), 0, x.size(), axes, layout, keys.data());
        sort_keys(here, keys, order, scratch);
        for (int d = 0; d < Dim; ++d)
          for (std::size_t p = 0; p < order.size(); ++p)
            sorted.columns[d][p] = x.columns[d][order[p]];
        leaves = max_leaf_size > 0
                     ? adaptive_leaves<Dim>(here, keys, {}, layout.level, max_leaf_size)
                     : uniform_leaves<Dim>(here, cells_of(here, keys), nullptr, layout);
        leaves.source_offsets = leaves.target_offsets;
        chunks = {0, leaves.size()};
        while (chunks.size() <= std::min<std::size_t>(n_chunks, leaves.size()))
        {
          chunks.push_back(static_cast<index_type>(random.below(leaves.size())));
          std::ranges::sort(chunks);
          chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
        }
        own = random.below(chunks.size() - 1);
      }

      [[nodiscard]] index_type first() const { return chunks[own]; }
      [[nodiscard]] index_type last() const { return chunks[own + 1]; }
      [[nodiscard]] index_type first_point(index_type leaf) const
      {
        return leaves.source_offsets[leaf];
      }
      [[nodiscard]] index_type count(index_type leaf) const
      {
        return first_point(leaf + 1) - first_point(leaf);
      }
      [[nodiscard]] bool is_own(index_type leaf) const { return leaf >= first() && leaf < last(); }
      [[nodiscard]] std::size_t chunk_of(index_type leaf) const
      {
        return static_cast<std::size_t>(std::ranges::upper_bound(chunks, leaf) - chunks.begin()) -
               1;
      }
      /// The leaves that are not own.
      [[nodiscard]] leaf_set<Dim> others() const
      {
        leaf_set<Dim> found;
        for (index_type leaf = 0; leaf < leaves.size(); ++leaf)
        {
          if (is_own(leaf)) continue;
          found.cells.push_back(leaves.cells[leaf]);
          found.keys.push_back(leaves.keys[leaf]);
          found.source_offsets.push_back(found.source_offsets.back() + count(leaf));
        }
        return found;
      }
      [[nodiscard]] curve_range keys(leaf_cell<Dim> const& cell) const
      {
        return keys_of<Dim>(cell.index, cell.level, layout.level);
      }
      /// Where the leaves of each chunk are, between parts without leaves; the own range, found[2 * own + 1], reaches to
      /// those beside it.
      [[nodiscard]] std::vector<curve_range> ranges() const
      {
        std::vector<curve_range> found{{0, 0}};
        for (std::size_t c = 0; c + 1 < chunks.size(); ++c)
        {
          found.push_back(
              {leaves.keys[chunks[c]], keys(leaves.cells[chunks[c + 1] - std::size_t(1)]).end});
          if (c > 0 && c == own + 1) found[2 * own + 1].end = found.back().begin;
          if (c == own) found.back() = {found[2 * c].end, ~std::uint64_t(0)};
          found.push_back({found.back().end, found.back().end});
        }
        if (own + 2 < chunks.size())
          found[2 * own + 2] = {found[2 * own + 1].end, found[2 * own + 1].end};
        return found;
      }
      /// Whether a leaf is in or beside a box of the range of another chunk.
      [[nodiscard]] bool touches_others(leaf_cell<Dim> const& leaf) const
      {
        auto const all = ranges();
        int const n = 1 << leaf.level, n_boxes = Dim == 3 ? 27 : 9;
        for (int k = 0; k < n_boxes; ++k)
        {
          leaf_cell<Dim> box = leaf;
          bool exists = true;
          for (int d = 0, left = k; d < Dim; ++d, left /= 3)
          {
            int const at = int(leaf.index[d]) + left % 3 - 1;
            exists &= period[d] > 0 || (at >= 0 && at < n);
            box.index[d] = static_cast<std::uint32_t>((at + n) % n);
          }
          for (std::size_t r = 0; exists && r < all.size(); ++r)
            if (r != 2 * own + 1 && all[r].begin < std::min(all[r].end, keys(box).end) &&
                all[r].end > keys(box).begin)
              return true;
        }
        return false;
      }
      [[nodiscard]] curve_range owned() const
      {
        std::uint64_t const end = std::uint64_t(1) << Dim * layout.level;
        return {first() == 0 ? 0 : leaves.keys[first()],
                last() == leaves.size() ? end : leaves.keys[last()]};
      }
      [[nodiscard]] points<T, Dim> own_points() const
      {
        points<T, Dim> part;
        for (int d = 0; d < Dim; ++d)
          part.columns[d].assign(sorted.columns[d].begin() + first_point(first()),
                                 sorted.columns[d].begin() + first_point(last()));
        return part;
      }
    };

    /// A leaf that an own one meets.
    struct neighbour
    {
      index_type leaf;
      std::uint16_t shift;
    };

    /// What the host finds.
    template <class T, int Dim>
    class lists_of_host
    {
    public:
      explicit lists_of_host(cut_tree<T, Dim> const& tree)
          : tree_(tree), is_met_(tree.leaves.size(), 0), first_in_set_(tree.leaves.size(), 0)
      {
        list_pair lists;
        boxes const all{tree.leaves.source_offsets};
        list_writer writer(lists.full, lists.half, all, all, false, "test", "nothing");
        list_leaves(tree.leaves, tree.layout.level, tree.period, tree.first(), tree.last(), writer);
        interaction_list const found = lists.full.view();
        for (index_type b = tree.first(); b < tree.last(); ++b)
        {
          auto& row = rows_.emplace_back();
          for (interaction_list::range const& range : found.neighbours(b - tree.first()))
          {
            auto leaf = static_cast<index_type>(
                std::ranges::upper_bound(tree.leaves.source_offsets, range.begin) -
                tree.leaves.source_offsets.begin() - 1);
            for (; leaf < tree.leaves.size() && tree.first_point(leaf) < range.end; ++leaf)
            {
              row.push_back({leaf, range.shift});
              if (!tree.is_own(leaf)) is_met_[leaf] = 1;
            }
          }
        }
        std::array<index_type, 2> n{}; // points in sets
        for (index_type leaf = 0; leaf < tree.leaves.size(); ++leaf)
        {
          if (leaf == tree.first()) seam = n[1];
          first_in_set_[leaf] = n[set_of(leaf)];
          if (tree.is_own(leaf) || is_met_[leaf]) n[set_of(leaf)] += tree.count(leaf);
        }
      }

      /// Of two different points, the first of an own leaf.
      [[nodiscard]] std::uint64_t pairs_of(index_type own_leaf) const
      {
        std::uint64_t n = tree_.count(tree_.first() + own_leaf) - 1;
        for (neighbour const& each : rows_[own_leaf]) n += tree_.count(each.leaf);
        return n * tree_.count(tree_.first() + own_leaf);
      }
      /// For each leaf of others, whether an own one meets it.
      [[nodiscard]] std::vector<std::uint8_t> is_met() const
      {
        auto met = is_met_;
        met.erase(met.begin() + tree_.first(), met.begin() + tree_.last());
        return met;
      }
      [[nodiscard]] std::uint64_t chunks_of(index_type own_leaf) const
      {
        std::uint64_t chunks = 0;
        for (neighbour const& each : rows_[own_leaf])
          if (!tree_.is_own(each.leaf)) chunks |= std::uint64_t(1) << tree_.chunk_of(each.leaf);
        return chunks;
      }

      [[nodiscard]] list_work work(pair_form form, bool of_border) const
      {
        list_work made;
        for (index_type own = 0; own < rows_.size(); ++own)
        {
          index_type const b = tree_.first() + own;
          bool const is_mutual = form == pair_form::mutual;
          bool const has_own = is_mutual ? !of_border : (chunks_of(own) != 0) == of_border;
          double const n = tree_.count(b);
          auto& leaf = made.leaves.emplace_back();
          double pairs = 0;
          for (neighbour const& each : rows_[own])
          {
            bool const is_half = each.leaf > b || (each.leaf == b && is_in_half(each.shift));
            bool const is_here = !is_mutual  ? has_own
                                 : of_border ? !tree_.is_own(each.leaf)
                                             : tree_.is_own(each.leaf) && is_half;
            if (!is_here) continue;
            for (index_type i = 0; i < tree_.count(each.leaf); ++i)
              leaf.points.emplace_back(set_of(each.leaf), first_in_set_[each.leaf] + i, each.shift);
            pairs += (is_mutual && !of_border ? 2 : 1) * n * tree_.count(each.leaf);
          }
          if (has_own)
          {
            leaf.own_begin = first_in_set_[b];
            leaf.own_end = first_in_set_[b] + tree_.count(b);
            pairs += n * (n - 1);
          }
          made.pairs += pairs;
          if (!has_own && pairs == 0) continue;
          int size = 0;
          while (2u << size <= tree_.count(b)) ++size;
          ++made.leaves_of_size[static_cast<std::size_t>(size)];
        }
        return made;
      }

    private:
      [[nodiscard]] std::size_t set_of(index_type leaf) const { return tree_.is_own(leaf) ? 0 : 1; }

      cut_tree<T, Dim> const& tree_;
      std::vector<std::vector<neighbour>> rows_;

    public:
      index_type seam =
          0; ///< points of others before the part; with own leaves between, ranges end there

    private:
      std::vector<std::uint8_t> is_met_;
      std::vector<index_type> first_in_set_;
    };

    template <int Dim>
    void expect_list(part_list<Dim> const& found, list_work const& expected, index_type seam)
    {
      std::size_t const n = expected.leaves.size();
      std::vector<index_type> offsets(n + 1);
      std::vector<interaction_list::range> own(n), ranges(found.ranges.size());
      found.offsets.copy_to(offsets);
      found.own.copy_to(own);
      found.ranges.copy_to(ranges);
      EXPECT_EQ(found.pairs, expected.pairs);
      ASSERT_TRUE(found.leaves.leaves_of_size);
      EXPECT_EQ(*found.leaves.leaves_of_size, expected.leaves_of_size);
      for (std::size_t b = 0; b < n; ++b)
      {
        leaf_work work;
        work.own_begin = own[b].begin;
        work.own_end = own[b].end;
        for (index_type r = offsets[b]; r < offsets[b + 1]; ++r)
        {
          interaction_list::range const& range = ranges[r];
          for (index_type i = range.begin; i < range.end; ++i)
            work.points.emplace_back(range.set, i, range.shift);
          if (r == offsets[b]) continue;
          interaction_list::range const& before = ranges[r - 1];
          EXPECT_FALSE(before.set == range.set && before.shift == range.shift &&
                       before.end == range.begin && !(range.set == 1 && range.begin == seam))
              << "two ranges could be one";
        }
        ASSERT_TRUE(work == expected.leaves[b]) << "leaf " << b;
      }
    }

    template <class T, int Dim>
    void expect_lists(gpu_points<T, Dim>& gpu, cut_tree<T, Dim> const& tree)
    {
      SCOPED_TRACE(testing::Message() << tree.leaves.size() << " leaves in "
                                      << tree.chunks.size() - 1 << " chunks, own " << tree.own);
      lists_of_host<T, Dim> const expected(tree);
      auto const part = tree.own_points();
      ASSERT_TRUE(gpu.load(part.view(), tree.period));
      gpu.sort(tree.axes, tree.layout);
      gpu.unite(0, part.size(), strided<T const, Dim>(), 0, nullptr, nullptr);
      index_type const n = tree.last() - tree.first();
      ASSERT_EQ(gpu.make_leaves(tree.max_leaf_size, tree.owned()), n);
      curve_range const extent = gpu.extent();
      EXPECT_EQ(extent.begin, tree.leaves.keys[tree.first()]);
      EXPECT_EQ(extent.end, tree.keys(tree.leaves.cells[tree.last() - std::size_t(1)]).end);
      auto const at_border = gpu.find_border(tree.ranges(), 2 * tree.own + 1);
      ASSERT_TRUE(at_border);
      auto const& border = *at_border;
      leaf_set<Dim> own;
      gpu.read_leaves(own);
      ASSERT_EQ(own.size(), n);
      EXPECT_TRUE(
          std::equal(own.cells.begin(), own.cells.end(), tree.leaves.cells.begin() + tree.first()));
      auto const others = tree.others();
      auto const found = gpu.meet({others, tree.chunks, tree.own});
      ASSERT_TRUE(found);
      met_leaves const& met = *found;
      std::uint64_t pairs = 0;
      auto at = border.begin();
      for (index_type b = 0; b < n; ++b)
      {
        pairs += expected.pairs_of(b);
        bool const is_at_border = at != border.end() && at->leaf == b;
        ASSERT_EQ(is_at_border, tree.touches_others(own.cells[b])) << "leaf " << b;
        if (is_at_border)
        {
          ASSERT_EQ(at->cell, own.cells[b]);
          ASSERT_EQ(at->key, own.keys[b]);
          ASSERT_EQ(at->points, tree.count(tree.first() + b));
        }
        bool const has_chunks = is_at_border && tree.chunks.size() > 2;
        ASSERT_EQ(has_chunks ? met.chunks[std::size_t(at - border.begin())] : 0,
                  expected.chunks_of(b));
        at += is_at_border;
      }
      EXPECT_EQ(at, border.end());
      EXPECT_EQ(met.pairs, pairs);
      if (tree.chunks.size() == 2)
        EXPECT_TRUE(met.is_met.empty());
      else
        EXPECT_TRUE(std::ranges::equal(met.is_met, expected.is_met()));
      gpu.release(true);
      for (pair_form const form : {pair_form::mutual, pair_form::one_sided})
      {
        SCOPED_TRACE(testing::Message() << "form " << static_cast<int>(form));
        auto const lists = gpu.lists(form);
        expect_list(lists.inner, expected.work(form, false), expected.seam);
        expect_list(lists.border, expected.work(form, true), expected.seam);
      }
    }

    template <class T, int Dim>
    void expect_lists_of_many_parts()
    {
      threads on(3);
      auto const gpu = gpu_points<T, Dim>::make(0, on);
      for (std::uint64_t seed = 1; seed <= 60; ++seed)
      {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        random_numbers random(seed);
        std::size_t const n = 1 + random.below(seed % 10 == 0 ? 40'000 : 3000);
        auto x = make_points<T, Dim>(seed % 3 == 0 ? cloud::uniform : cloud::plummer, n, seed);
        tree_options<Dim> options{.max_leaf_size = 1 + static_cast<int>(random.below(60))};
        if (random.below(3) == 0) options.level = static_cast<int>(random.below(5));
        for (int d = 0; d < Dim; ++d)
        {
          if (random.below(3) != 0) continue;
          options.period[d] = 1;
          for (T& at : x.columns[d]) at = std::clamp<T>(at, 0, T(0.999));
        }
        std::size_t const n_chunks = seed % 7 == 0 ? most_chunks_of_a_part : 1 + random.below(8);
        expect_lists<T, Dim>(*gpu, cut_tree<T, Dim>(x, options, n_chunks, random));
      }
    }
  }

  TEST(lists_of_a_part, are_those_of_the_host_in_3d)
  {
    expect_lists_of_many_parts<float, 3>();
  }
  TEST(lists_of_a_part, are_those_of_the_host_in_2d)
  {
    expect_lists_of_many_parts<double, 2>();
  }

  TEST(lists_of_a_part, may_meet_none_of_others)
  {
    this_thread on;
    auto const gpu = gpu_points<float, 2>::make(0, on);
    auto x = make_points<float, 2>(cloud::uniform, 500, 1);
    for (float& at : x.columns[0]) at = at < 0.5f ? at / 8 : 1 - at / 8; // a gap
    random_numbers random(1);
    cut_tree<float, 2> tree(x, {.level = 4}, 1, random);
    auto const right = std::ranges::find_if(tree.leaves.cells, [](leaf_cell<2> const& cell)
                                            { return cell.index[0] >= 8; });
    tree.chunks = {0, static_cast<index_type>(right - tree.leaves.cells.begin()),
                   tree.leaves.size()};
    for (tree.own = 0; tree.own < 2; ++tree.own) expect_lists<float, 2>(*gpu, tree);
  }

  TEST(lists_of_a_part, may_have_one_leaf_that_meets_images_of_itself)
  {
    this_thread on;
    auto const gpu = gpu_points<double, 3>::make(0, on);
    auto const x = make_points<double, 3>(cloud::uniform, 30, 1);
    tree_options<3> options{.max_leaf_size = 30};
    options.period = {1, 0, 1};
    random_numbers random(1);
    expect_lists<double, 3>(*gpu, cut_tree<double, 3>(x, options, 1, random));
  }
}
