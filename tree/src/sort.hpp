#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace nearfield::detail
{
  /// Scratch memory of the functions below.
  struct sort_scratch
  {
    page_vector<std::uint64_t> keys, keys_too;
    page_vector<std::uint32_t> cells;
    page_vector<index_type> indices;
  };

  /// Resizes without copying: old contents are lost. Values that outgrow their memory get some to spare, since they may
  /// grow a little each time, and the first writes to new memory take longer than those to old.
  template <class T>
  void renew(page_vector<T>& values, std::size_t n)
  {
    if (n > values.capacity())
    {
      std::size_t const spare = values.capacity() > 0 ? n / 32 : 0;
      values = page_vector<T>(); // of `= {}` the capacity would stay
      values.reserve(n + spare);
    }
    values.resize(n);
  }

  /// Sorts keys, stably. order[p] becomes the index that the key at position p had.
  NEARFIELD_API void sort_keys(executor& on, page_vector<std::uint64_t>& keys,
                               std::span<index_type> order, sort_scratch& scratch);

  using key_span = std::span<std::uint64_t const>;

  /// Sorts the keys of some runs, each of which ascends: they go to `keys`, and order[p] becomes the index that the key
  /// at position p has if one run follows another. Stable. Quicker than sort_keys() where one run has most keys.
  NEARFIELD_API void merge_keys(executor& on, std::span<key_span const> runs,
                                page_vector<std::uint64_t>& keys, std::span<index_type> order,
                                sort_scratch& scratch);

  /// The cells that hold points.
  struct occupied_cells
  {
    page_vector<std::uint64_t> keys; ///< ascending
    /// cell c holds the positions [offsets[c], offsets[c + 1]) of the order
    page_vector<index_type> offsets;
  };

  /// The cells of ascending keys.
  NEARFIELD_API occupied_cells cells_of(executor& on, std::span<std::uint64_t const> keys);

  /// The cells of two sets as one list: a cell without points of a set is empty there.
  void unite(occupied_cells const& a, occupied_cells const& b, page_vector<std::uint64_t>& keys,
             page_vector<index_type>& a_offsets, page_vector<index_type>& b_offsets);

  /// order_by_cell() of few cells: those of the points are in scratch.cells.
  void order_by_counting(executor& on, std::size_t n_cells, std::span<index_type> order,
                         occupied_cells& cells, sort_scratch& scratch);

  /// Sorts points by cell, stably: order[p] is the index of the point at position p. write(keys) writes the key of
  /// each point, below n_cells, to an array of 32-bit or of 64-bit integers.
  template <class Write>
  void order_by_cell(executor& on, std::uint64_t n_cells, std::span<index_type> order,
                     occupied_cells& cells, sort_scratch& scratch, Write const& write)
  {
    std::size_t const n = order.size();
    // Counting costs 4 bytes per cell, sorting keys 20 per point and more passes.
    if (n_cells <= std::min(4 * std::uint64_t(n) + 1024,
                            std::uint64_t(std::numeric_limits<std::uint32_t>::max())))
    {
      renew(scratch.cells, n);
      write(scratch.cells.data());
      order_by_counting(on, n_cells, order, cells, scratch);
    }
    else
    {
      renew(scratch.keys, n);
      write(scratch.keys.data());
      sort_keys(on, scratch.keys, order, scratch);
      cells = cells_of(on, scratch.keys);
    }
  }
}
