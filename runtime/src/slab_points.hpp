#pragma once

#include "search/src/cuda/device_rows.hpp"

#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/pair_slabs.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// \file
/// The points that slabs share, and what their tasks do with them.

namespace nearfield::starpu::detail
{
  /// What is searched for.
  template <class T, int Dim>
  struct slab_query
  {
    pair_slab_options<T, Dim> options; ///< `backend` says where tasks run, and is not automatic
    double cutoff;
    bool one_set;
  };

  /// Points sorted by cell, and their search: in host memory, for all CPU workers, or in the memory of a GPU, for one
  /// of its workers.
  template <class T, int Dim>
  class slab_points
  {
  public:
    using columns = soa<T const, Dim>;

    /// `worker`: of a GPU, or negative. The query must outlive the object.
    slab_points(slab_query<T, Dim> const& query, int worker)
        : query_(&query), worker_(worker), order_(handle::of_size<std::uint32_t>(1))
    {}

    /// The worker that must run the tasks; negative: any.
    [[nodiscard]] int worker() const { return worker_; }
    /// Written by the task that sorts, read by those that search. Carries no value: it orders the sort before the
    /// searches.
    [[nodiscard]] starpu_data_handle_t order() const { return order_; }
    /// The number of one more slab. To be called before there are tasks.
    std::size_t add_slab()
    {
      n_pairs_.push_back(0);
      return n_pairs_.size() - 1;
    }

    // in tasks; with a stream, on a GPU

    void sort(columns const& targets, columns const& sources, std::optional<cuda_stream> gpu);
    /// Whether the last sort() has succeeded.
    [[nodiscard]] bool is_sorted() const { return is_sorted_; }
    /// The same values are in these columns from now on.
    void bind(columns const& targets, columns const& sources);
    /// Slab k is the targets at positions [first, last): row r belongs to point rows[r], and its pairs take the places
    /// [offsets[r], offsets[r + 1]).
    void count(std::size_t k, index_type first, index_type last, index_type* rows,
               std::uint64_t* offsets);
    /// Writes the pairs of slab k, once after each count(); i may be null.
    void fill(std::size_t k, index_type first, index_type last, index_type* i, index_type* j);

    /// The number of pairs of slab k, when the task that counts has ended.
    [[nodiscard]] std::uint64_t n_pairs(std::size_t k) const
    {
      return on_gpu_ ? on_gpu_->n_pairs(k) : n_pairs_[k];
    }

    /// Announces, then, that memory will be allocated for the pairs of slab k.
    void leave_room(std::size_t k, std::uint64_t bytes)
    {
      if (on_gpu_) on_gpu_->leave_room(k, bytes);
    }

  private:
    void sort_on_cpu(columns const& targets, columns const& sources);

    slab_query<T, Dim> const* query_;
    int worker_;
    handle order_;
    bool is_sorted_ = false;
    std::unique_ptr<nearfield::detail::device_rows<T, Dim>> on_gpu_;
    // on CPUs
    std::optional<cell_list<T, Dim>> cells_;
    std::vector<index_type> counts_; ///< pairs of each point, at the caller's index
    std::vector<std::uint64_t> n_pairs_;
  };
}
