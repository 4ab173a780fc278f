// Columns in pieces: rows that go to a tree's order and back.
#include "points.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using detail::column_pieces;

    /// Two columns in pieces of 2^shift rows, each piece with `spare` rows more than it needs.
    template <class T>
    struct columns_in_pieces
    {
      std::vector<device_array<T>> memory;
      column_pieces<T> view{};
      std::size_t n;

      columns_in_pieces(std::vector<std::vector<T>> const& columns, int shift, std::size_t spare)
          : n(columns[0].size())
      {
        view.shift = shift;
        std::size_t const most = std::size_t(1) << shift;
        for (std::size_t begin = 0; begin < n; begin += most)
        {
          std::size_t const rows = std::min(most, n - begin), stride = rows + spare;
          std::vector<T> values(columns.size() * stride, T(-1));
          for (std::size_t c = 0; c < columns.size(); ++c)
            std::copy_n(columns[c].begin() + static_cast<std::ptrdiff_t>(begin), rows,
                        values.begin() + static_cast<std::ptrdiff_t>(c * stride));
          std::size_t const k = memory.size();
          memory.emplace_back(std::span<T const>(values));
          view.first[k] = memory[k].data();
          view.rows[k] = static_cast<index_type>(stride);
        }
      }
      [[nodiscard]] T at(std::size_t c, std::size_t row) const
      {
        std::size_t const k = row >> view.shift;
        std::vector<T> values(memory[k].size());
        memory[k].copy_to(values);
        return values[c * view.rows[k] + row % (std::size_t(1) << view.shift)];
      }
    };

    template <class T>
    struct pieces : testing::Test
    {};
    using reals = testing::Types<float, double>;
    TYPED_TEST_SUITE(pieces, reals);

    /// n of the rows of a caller with n_rows go to as many rows, with gaps or without, and back.
    template <class T>
    void expect_there_and_back(std::size_t n_rows, std::size_t n, int shift, bool has_gaps)
    {
      SCOPED_TRACE(testing::Message() << n_rows << " rows, shift " << shift << ", " << has_gaps);
      std::vector<std::vector<T>> const columns{make_values<T>(n_rows, 1),
                                                make_values<T>(n_rows, 2)};
      std::vector<index_type> order(n_rows);
      std::iota(order.begin(), order.end(), index_type(0));
      std::ranges::shuffle(order, std::mt19937(3));
      order.resize(n);
      if (has_gaps)
        for (std::size_t i = 0; i < n; i += 3) order[i] = detail::no_row;
      device_array<index_type> const on_order{std::span<index_type const>(order)};
      std::size_t const stride = n + 9;
      device_array<T> data(2 * stride);
      data.copy_from(std::vector<T>(2 * stride, T(7)));
      columns_in_pieces<T> from(columns, shift, 3);
      ASSERT_LE(from.memory.size(), column_pieces<T>::most);
      detail::device_gather_from_pieces<T>(nullptr, on_order.data(), n, from.view, data.data(),
                                           stride, 2);
      std::vector<T> found(2 * stride);
      data.copy_to(found);
      for (std::size_t c = 0; c < 2; ++c)
      {
        std::vector<T> expected(stride, T(7));
        for (std::size_t i = 0; i < n; ++i)
          if (order[i] != detail::no_row) expected[i] = columns[c][order[i]];
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                               found.begin() + static_cast<std::ptrdiff_t>(c * stride)));
      }

      columns_in_pieces<T> to({std::vector<T>(n_rows, T(0)), std::vector<T>(n_rows, T(0))}, shift,
                              1);
      detail::device_scatter_to_pieces<T>(nullptr, on_order.data(), n, data.data(), stride, to.view,
                                          2);
      synchronize(nullptr);
      std::vector<bool> is_sent(n_rows, false);
      for (index_type const row : order)
        if (row != detail::no_row) is_sent[row] = true;
      for (std::size_t row = 0; row < n_rows; row += 1 + n_rows / 50)
        for (std::size_t c = 0; c < 2; ++c)
          EXPECT_EQ(to.at(c, row), is_sent[row] ? columns[c][row] : T(0)) << row;
    }
  }

  // All rows, and some in the middle, of runs of different lengths.
  TYPED_TEST(pieces, runs_of_rows_come_from_their_places)
  {
    using T = TypeParam;
    constexpr int n_columns = 18; // more than a launch takes
    for (std::size_t const n_runs : {1, 2, 3, 1000})
    {
      std::mt19937 random(5);
      std::vector<detail::row_run> runs;
      std::vector<index_type> order;
      for (index_type place = 3; runs.size() < n_runs; place += random() % 5)
      {
        runs.push_back({static_cast<index_type>(order.size()), place});
        for (std::uint32_t left = 1 + random() % 40; left > 0; --left) order.push_back(place++);
      }
      std::size_t const n = order.size();
      auto const values = make_values<T>(order.back() + std::size_t(n_columns), 4);
      device_array<T> const from{std::span<T const>(values)};
      device_array<detail::row_run> const on_runs{std::span<detail::row_run const>(runs)};
      std::vector<device_array<T>> to;
      std::vector<T const*> sources; // column c has the values from c on
      std::vector<T*> targets;
      for (int c = 0; c < n_columns; ++c)
      {
        sources.push_back(from.data() + c);
        targets.push_back(to.emplace_back(n).data());
      }
      for (std::size_t before = 0; before < std::min<std::size_t>(n_runs, 2); ++before)
      {
        std::size_t const skipped = runs[before].row;
        detail::device_gather_runs<T>(nullptr, on_runs.data() + before, n_runs - before,
                                      static_cast<index_type>(skipped), n - skipped,
                                      soa<T const, run_time_columns>(sources, n),
                                      soa<T, run_time_columns>(targets, n));
        for (std::size_t c = 0; c < to.size(); ++c)
        {
          std::vector<T> found(n);
          to[c].copy_to(found);
          for (std::size_t i = 0; i + skipped < n; ++i)
            ASSERT_EQ(found[i], values[order[i + skipped] + c]) << "row " << i + skipped;
        }
      }
    }
  }

  TYPED_TEST(pieces, rows_go_to_their_places_and_back)
  {
    for (bool const has_gaps : {false, true})
    {
      expect_there_and_back<TypeParam>(1, 1, 0, has_gaps);
      expect_there_and_back<TypeParam>(16, 11, 0, has_gaps); // 16 pieces of one row
      expect_there_and_back<TypeParam>(1000, 1000, 6, has_gaps);
      expect_there_and_back<TypeParam>(1024, 700, 6, has_gaps);
      expect_there_and_back<TypeParam>(1025, 0, 7, has_gaps);
    }
  }
}
