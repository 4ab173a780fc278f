#pragma once

#include "calls.hpp"

#include <iterator>
#include <vector>

namespace nearfield::c
{
  /// A view of columns whose number the interaction decides.
  template <class T>
  class wide_view
  {
  public:
    wide_view(char const* name, nf_columns const& of)
    {
      check_columns(name, of, real_of<std::remove_const_t<T>>);
      std::size_t const n = count_of(of.n_columns, "n_columns");
      T** pointers = few_;
      if (n > std::size(few_))
      {
        many_.resize(n);
        pointers = many_.data();
      }
      for (std::size_t c = 0; c < n; ++c) pointers[c] = column_of<T>(of, static_cast<int>(c));
      columns_ = {{pointers, n}, static_cast<std::size_t>(of.n_points)};
      stride_ = of.stride;
    }
    wide_view(wide_view const&) = delete;

    [[nodiscard]] bool has_stride() const { return stride_ != 1; }
    [[nodiscard]] soa<T, run_time_columns> columns() const { return columns_; }
    [[nodiscard]] strided<T, run_time_columns> view() const { return {columns_, stride_}; }

  private:
    T* few_[12];
    std::vector<T*> many_;
    soa<T, run_time_columns> columns_;
    std::ptrdiff_t stride_;
  };

  template <class T>
  using inputs = wide_view<T const>;
  template <class T>
  using outputs = wide_view<T>;
}
