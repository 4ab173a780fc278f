#pragma once

#include "arrays.hpp"

#include <memory>
#include <mutex>
#include <string>

/// \file
/// Cells of points, and their pairs as arrays.

namespace nearfield::python
{
  /// A cell list and the sizes of its point sets. Calls of several threads run one after another.
  class cells
  {
  public:
    /// None in the place of queries: one set. offsets: those of a batch, whose boxes are cells with an axis more.
    cells(nb::handle points, nb::handle cutoff, nb::handle queries, nb::handle cell, nb::handle pbc,
          nb::handle origin, bool closed, double skin, bool skin_is_each, nb::handle offsets,
          nb::handle order, nb::handle query_offsets, nb::handle query_order, int n_threads);

    void rebuild(nb::handle points, nb::handle queries);
    bool update(nb::handle points, nb::handle queries);
    void filter(nb::handle types, nb::handle query_types, nb::handle type_cutoffs, nb::handle radii,
                nb::handle query_radii, int by, nb::handle excluded_offsets, nb::handle excluded,
                nb::handle rows);

    /// The number of pairs.
    std::int64_t count(bool half);
    /// The number of pairs of each target.
    nb::object counts(bool half);

    /// The number of pairs in each of n bins of distances up to r_max.
    nb::object histogram(double r_max, std::int64_t n, bool half);

    /// An array for each letter: i, j, d = |D|, D = x_j + S cell - x_i, S, P = (i, j), o = where rows begin.
    nb::object find(char const* quantities, bool half, int order, char const* index,
                    std::uint64_t max_bytes);

    void near_field(nf_interaction const* k, nb::handle points, nb::handle queries, nb::handle q,
                    nb::handle out, bool accumulate, int form);

    [[nodiscard]] std::size_t n_targets() const { return n_targets_; }
    [[nodiscard]] std::size_t n_sources() const { return n_sources_; }
    [[nodiscard]] int dim() const { return dim_; }

  private:
    struct destroy
    {
      void operator()(nf_cells* of) const { nf_cells_destroy(of); }
    };

    // the collector of garbage may call us again while an exception is made
    using lock = std::unique_lock<std::recursive_mutex>;
    /// Waits for other calls, without the lock of the interpreter. Throws RuntimeError if the last rebuild has failed.
    [[nodiscard]] lock alone(bool rebuilds = false);
    /// After a call that takes other points.
    void finish(nf_status status, point_sets const& given);

    std::unique_ptr<std::recursive_mutex> mutex_ = std::make_unique<std::recursive_mutex>();
    int fork_; // of the mutex: that of a parent may be locked for ever
    bool is_broken_ = false;
    nf_threads* threads_;
    std::unique_ptr<nf_cells, destroy> cells_;
    std::size_t n_targets_, n_sources_;
    int dim_;
    nf_real real_;
    bool has_two_sets_;
  };

  void bind_cells(nb::module_& m);
}
