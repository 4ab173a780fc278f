#pragma once

#include <nearfield/core/soa.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace nearfield
{
  /// Columns that own their memory; converts to the views that kernels take.
  template <class T, int N>
  struct column_set
  {
    std::array<std::vector<T>, N> columns; ///< of equal length

    /// The number of values in each column.
    [[nodiscard]] std::size_t size() const { return columns[0].size(); }
    /// Read-only view of the columns.
    [[nodiscard]] soa<T const, N> view() const { return {pointers<T const>(columns), size()}; }
    /// Writable view of the columns.
    [[nodiscard]] soa<T, N> view() { return {pointers<T>(columns), size()}; }

  private:
    template <class U, class Columns>
    static std::array<U*, N> pointers(Columns& columns)
    {
      std::array<U*, N> result;
      for (int c = 0; c < N; ++c) result[c] = columns[c].data();
      return result;
    }
  };
}
