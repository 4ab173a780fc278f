#pragma once

#include <nearfield/nearfield.h>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nearfield/search/page_array.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// \file
/// Arrays of the caller as columns of the C interface, without a copy, and memory of results as arrays.

namespace nearfield::python
{
  namespace nb = nanobind;

  /// Throws the exception of Python for a status other than nf_ok, with the message of nf_last_error().
  void check(nf_status status);

  /// An array of numbers in host memory that somebody else owns; read only, unless it was taken as an output.
  class array
  {
  public:
    /// Refers to an array of shape (n,) or (n, width). Throws TypeError unless its values are float32 or float64, and
    /// ValueError if it cannot be read in place: its rows descend, or its values are not aligned.
    array(char const* name, nb::handle from, bool is_output = false);

    [[nodiscard]] nf_real real() const { return real_; }
    [[nodiscard]] std::size_t size() const { return n_; }
    /// The product of all axes after the first; 1 if there are none.
    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] nf_columns columns() const;
    void fill_with_zeros() const;

  private:
    nb::ndarray<nb::ro> owner_;
    void* first_;
    std::size_t n_, width_;
    std::int64_t stride_, column_stride_;
    nf_real real_;
  };

  /// Positions in 2D or 3D, and what follows the coordinates: one set, or sources and targets, which Python calls queries.
  class point_sets
  {
  public:
    /// Throws ValueError for queries of one set, and as `array` does.
    point_sets(nb::handle points, nb::handle queries, bool has_two_sets);

    /// 2 or 3. Throws ValueError if positions have another number of columns.
    [[nodiscard]] int dim() const;
    [[nodiscard]] nf_real real() const { return points_.real(); }
    [[nodiscard]] std::size_t n_sources() const { return points_.size(); }
    [[nodiscard]] std::size_t n_targets() const
    {
      return static_cast<std::size_t>(targets_.n_points);
    }
    [[nodiscard]] nf_columns const& targets() const { return targets_; }
    /// Null for one set.
    [[nodiscard]] nf_columns const* sources() const { return queries_ ? &sources_ : nullptr; }

  private:
    array points_;
    std::optional<array> queries_;
    nf_columns sources_, targets_;
  };

  /// Numbers of points or systems, as the C interface takes them.
  std::vector<std::int64_t> indices(char const* name, nb::handle from);
  /// Converts to double. Throws TypeError if `from` is not a number.
  double number(char const* name, nb::handle from);
  /// Lengths.
  std::vector<double> lengths(char const* name, nb::handle from);
  /// A box from vectors, one a row, or lengths, flags and a corner. None: open, or at 0.
  nf_box box_of(int dim, nb::handle cell, nb::handle pbc, nb::handle origin);

  /// Memory of a result: values of one type.
  class result
  {
  public:
    result(nb::dlpack::dtype type, std::size_t n, std::size_t width = 1);
    [[nodiscard]] void* data() { return bytes_.data(); }
    /// The array of the first n rows, of shape (n,) or (n, width). It owns the memory now.
    nb::object take(std::size_t n, bool is_matrix) &&;

  private:
    page_array<std::byte> bytes_;
    nb::dlpack::dtype type_;
    std::size_t width_;
  };

  [[nodiscard]] nb::dlpack::dtype type_of(nf_real real);
}
