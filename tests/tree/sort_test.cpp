#include "tree/src/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using namespace nearfield::detail;

    class last_part_first : public executor
    {
    public:
      explicit last_part_first(int workers) : workers_(workers) {}
      [[nodiscard]] int workers() const override { return workers_; }
      void run(int n, std::function<void(int)> const& f) override
      {
        for (int p = n; p-- > 0;) f(p);
      }

    private:
      int workers_;
    };

    /// Runs of these lengths, with keys below `most`.
    page_vector<std::uint64_t> make_runs(std::vector<std::size_t> const& runs, std::uint64_t most)
    {
      std::mt19937_64 random(5);
      page_vector<std::uint64_t> keys(runs.back());
      for (std::uint64_t& key : keys) key = random() % most;
      for (std::size_t r = 0; r + 1 < runs.size(); ++r)
        std::sort(keys.begin() + runs[r], keys.begin() + runs[r + 1]);
      return keys;
    }

    TEST(merge_keys, sorts_runs_stably)
    {
      sort_scratch scratch;
      for (std::vector<std::size_t> const& runs : {std::vector<std::size_t>{0, 0},
                                                   {0, 20'000},
                                                   {0, 0, 18'000, 18'000, 20'000},
                                                   {0, 700, 900, 19'990, 19'995, 20'000, 20'001},
                                                   {0, 900, 20'000},
                                                   {0, 7'000, 14'000, 20'000}})
        for (std::uint64_t const most : {std::uint64_t(3), std::uint64_t(5'000), ~std::uint64_t(0)})
          for (int const workers : {1, 3})
          {
            last_part_first on(workers);
            auto const keys = make_runs(runs, most);
            std::vector<index_type> expected(keys.size()), order(keys.size());
            std::iota(expected.begin(), expected.end(), index_type(0));
            std::ranges::stable_sort(expected, {}, [&](index_type i) { return keys[i]; });
            std::vector<key_span> parts;
            for (std::size_t r = 0; r + 1 < runs.size(); ++r)
              parts.push_back(key_span(keys).subspan(runs[r], runs[r + 1] - runs[r]));
            page_vector<std::uint64_t> merged;
            merge_keys(on, parts, merged, order, scratch);
            EXPECT_EQ(order, expected)
                << runs.size() - 1 << " runs, keys below " << most << ", " << workers << " workers";
            EXPECT_TRUE(std::ranges::is_sorted(merged));
            for (std::size_t p = 0; p < order.size(); ++p) ASSERT_EQ(merged[p], keys[order[p]]);
          }
    }

    TEST(cells_of, begin_where_keys_change)
    {
      for (int const workers : {1, 3})
      {
        last_part_first on(workers);
        page_vector<std::uint64_t> keys;
        for (std::uint64_t key = 0; keys.size() < 10'000; key += 1 + key % 3)
          keys.insert(keys.end(), 1 + key % 7 * (key % 11 == 0 ? 300 : 1), key);
        auto const cells = cells_of(on, keys);
        ASSERT_EQ(cells.offsets.size(), cells.keys.size() + 1);
        EXPECT_EQ(cells.offsets.front(), 0u);
        EXPECT_EQ(cells.offsets.back(), keys.size());
        for (std::size_t c = 0; c < cells.keys.size(); ++c)
        {
          EXPECT_LT(cells.offsets[c], cells.offsets[c + 1]);
          for (index_type p = cells.offsets[c]; p < cells.offsets[c + 1]; ++p)
            ASSERT_EQ(keys[p], cells.keys[c]) << p;
        }
        EXPECT_EQ(std::ranges::adjacent_find(cells.keys), cells.keys.end());
        EXPECT_EQ(cells_of(on, {}).offsets, page_vector<index_type>{0});
      }
    }
  }
}
