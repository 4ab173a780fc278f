#include "tree/src/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using namespace nearfield::detail;

    class parts_in_turn : public executor
    {
    public:
      explicit parts_in_turn(int workers) : workers_(workers) {}
      [[nodiscard]] int workers() const override { return workers_; }
      void run(int n, std::function<void(int)> const& f) override
      {
        for (int p = 0; p < n; ++p) f(p);
      }

    private:
      int workers_;
    };

    struct sorted_keys
    {
      page_vector<std::uint64_t> keys;
      std::vector<index_type> order;

      bool operator==(sorted_keys const&) const = default;
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
                                                   {0, 700, 900, 20'000, 20'001},
                                                   {0, 7'000, 14'000, 20'000}})
        for (std::uint64_t const most : {std::uint64_t(3), std::uint64_t(5'000), ~std::uint64_t(0)})
          for (int const workers : {1, 3})
          {
            parts_in_turn on(workers);
            sorted_keys merged{make_runs(runs, most), std::vector<index_type>(runs.back())};
            sorted_keys sorted = merged;
            merge_keys(on, merged.keys, runs, merged.order, scratch);
            sort_keys(on, sorted.keys, sorted.order, scratch);
            EXPECT_TRUE(merged == sorted)
                << runs.size() - 1 << " runs, keys below " << most << ", " << workers << " workers";
          }
    }

    TEST(cells_of, begin_where_keys_change)
    {
      for (int const workers : {1, 3})
      {
        parts_in_turn on(workers);
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
