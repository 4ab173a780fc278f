#pragma once

#include "search/src/cuda/device_rows.hpp"

#include <nearfield/tree/cell_list.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nearfield::starpu::detail
{
  /// What device_rows does on a GPU, on CPU workers: count() and fill() of different slabs may run at once.
  template <class T, int Dim>
  class host_rows final : public nearfield::detail::device_rows<T, Dim>
  {
  public:
    using typename nearfield::detail::device_rows<T, Dim>::columns;
    using query_type = nearfield::detail::slab_query<T, Dim>;

    host_rows(backend where, query_type const& query, std::size_t n_slabs)
        : where_(where), query_(query), slabs_(n_slabs)
    {}

    void sort(columns const& targets, columns const& sources) override;
    void bind(columns const&, columns const&) override {} // cells_ has them
    void count(std::size_t k, index_type first, index_type last, index_type* rows,
               std::uint64_t* offsets) override;
    [[nodiscard]] std::uint64_t n_pairs(std::size_t k) const override { return slabs_[k].n_pairs; }
    void leave_room(std::size_t, std::uint64_t) override {}
    void fill(std::size_t k, nearfield::detail::slab_columns<T, Dim> const& to) override;

  private:
    struct slab
    {
      index_type first = 0, last = 0;
      std::uint64_t n_pairs = 0;
    };

    /// f(the search of positions [first, last)).
    template <class F>
    void search(index_type first, index_type last, F const& f) const;

    backend where_;
    query_type query_;
    std::vector<slab> slabs_;
    std::optional<cell_list<T, Dim>> cells_;
    std::vector<index_type> counts_; ///< pairs of each point, at the caller's index
  };
}
