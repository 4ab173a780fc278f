#pragma once

#include "calls.hpp"

#include <cstddef>
#include <iterator>
#include <memory>

namespace nearfield::c
{
  /// A view of columns whose number the interaction decides.
  template <class T>
  class wide_view
  {
  public:
    // inline, and without copies of what has just been stored: a call for a small box takes little longer than this
    [[gnu::always_inline]] wide_view(char const* name, nf_columns const& of)
        : columns_(pointers_to(name, of)), stride_(of.stride)
    {}
    wide_view(wide_view const&) = delete;

    [[nodiscard]] bool has_stride() const { return stride_ != 1; }
    [[nodiscard]] soa<T, run_time_columns> const& columns() const { return columns_; }
    [[nodiscard]] strided<T, run_time_columns> view() const { return {columns_, stride_}; }

  private:
    [[gnu::always_inline]] soa<T, run_time_columns> pointers_to(char const* name,
                                                                nf_columns const& of)
    {
      check_columns(name, of, real_of<std::remove_const_t<T>>);
      std::size_t const n = count_of(of.n_columns, "n_columns");
      T** pointers = few_;
      if (n > std::size(few_)) [[unlikely]]
      {
        check_width(name, of.n_columns);
        pointers = (many_ = std::make_unique<T*[]>(n)).get();
      }
      auto* first = static_cast<T*>(of.first);
      std::ptrdiff_t const step = first == nullptr ? 0 : of.column_stride;
      if (of.columns != nullptr)
        for (std::size_t c = 0; c < n; ++c) pointers[c] = static_cast<T*>(of.columns[c]);
      else
        for (std::size_t c = 0; c < n; ++c, first += step) pointers[c] = first;
      return {{pointers, n}, static_cast<std::size_t>(of.n_points)};
    }

    T* few_[12];
    std::unique_ptr<T*[]> many_;
    soa<T, run_time_columns> columns_;
    std::ptrdiff_t stride_;
  };

  template <class T>
  using inputs = wide_view<T const>;
  template <class T>
  using outputs = wide_view<T>;
}
