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
