#pragma once

#include <nearfield/nearfield.h>

#include "handles.hpp"

#include <nearfield/core/cell.hpp>
#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

/// \file
/// What all functions of the C interface do with their arguments and errors.

namespace nearfield::c
{
  /// Keeps the message of the exception that is being handled, and returns its status.
  nf_status failed() noexcept;
  /// The same of a message.
  nf_status failed(nf_status status, char const* message) noexcept;

  /// Runs the body of a function; nothing is thrown.
  template <class F>
  nf_status guarded(F const& f) noexcept
  {
    try
    {
      if constexpr (std::is_void_v<std::invoke_result_t<F const&>>)
      {
        f();
        return nf_ok;
      }
      else
        return f();
    }
    catch (...)
    {
      return failed();
    }
  }

  [[noreturn]] void refuse_null(char const* name);
  /// Of a handle that is elsewhere.
  [[noreturn]] void refuse_place(char const* name, bool handle_is_on_gpu);
  [[noreturn]] void refuse_count(std::int64_t n, char const* name);
  [[noreturn]] void refuse_real(char const* name, nf_real found);
  [[noreturn]] void refuse_size(char const* name, std::size_t found, std::size_t expected);

  /// What an argument points to. Throws nearfield::error for null.
  template <class T>
  T& given(T* argument, char const* name)
  {
    if (argument == nullptr) refuse_null(name);
    return *argument;
  }

  /// A struct with its size, or its defaults for null. Throws nearfield::error for the size of another version.
  template <class Options>
  Options options_of(Options const* options, char const* name)
  {
    if (options == nullptr) return {};
    if (options->size != sizeof(Options)) refuse_size(name, options->size, sizeof(Options));
    return *options;
  }
  /// A struct that a function fills.
  template <class Info>
  Info& filled(Info* info, char const* name)
  {
    Info& to = given(info, name);
    if (to.size != sizeof(Info)) refuse_size(name, to.size, sizeof(Info));
    return to;
  }

  /// A number of things. Throws nearfield::error if it is negative.
  inline std::size_t count_of(std::int64_t n, char const* name)
  {
    if (n < 0) refuse_count(n, name);
    return static_cast<std::size_t>(n);
  }

  template <class T>
  constexpr nf_real real_of = std::same_as<T, float> ? nf_float32 : nf_float64;

  /// Throws nearfield::error unless the columns are of this type, and their number of points is none below zero.
  inline void check_columns(char const* name, nf_columns const& columns, nf_real real)
  {
    if (columns.real != real) refuse_real(name, columns.real);
    count_of(columns.n_points, "n_points");
  }
  [[noreturn]] void refuse_width(char const* name, int found, int expected);
  /// Throws nearfield::error for a number of columns that no call has, whose pointers would fill the memory.
  void check_width(char const* name, int found);

  /// The pointer to the first value of a column.
  template <class T>
  T* column_of(nf_columns const& columns, int c)
  {
    if (columns.columns != nullptr) return static_cast<T*>(columns.columns[c]);
    if (columns.first == nullptr) return nullptr;
    return static_cast<T*>(columns.first) + c * columns.column_stride;
  }

  /// A view of N columns. Throws nearfield::error for others.
  template <class T, int N>
  strided<T, N> view_of(char const* name, nf_columns const& columns)
  {
    check_columns(name, columns, real_of<std::remove_const_t<T>>);
    if (columns.n_columns != N) refuse_width(name, columns.n_columns, N);
    std::array<T*, N> pointers;
    for (int c = 0; c < N; ++c) pointers[c] = column_of<T>(columns, c);
    return {soa<T, N>(pointers, static_cast<std::size_t>(columns.n_points)), columns.stride};
  }

  /// Calls f<T>() with the type of the columns.
  template <class F>
  auto with_real(nf_columns const& columns, F const& f)
  {
    if (columns.real == nf_float32) return f.template operator()<float>();
    check_columns("x", columns, nf_float64);
    return f.template operator()<double>();
  }
  /// Calls f<T, Dim>() with type and number of the columns of points.
  template <class F>
  auto with_points(nf_columns const& x, F const& f)
  {
    return with_real(x,
                     [&]<class T>()
                     {
                       if (x.n_columns == 2) return f.template operator()<T, 2>();
                       if (x.n_columns != 3) refuse_width("x", x.n_columns, 3);
                       return f.template operator()<T, 3>();
                     });
  }

  /// Where to run, checked.
  struct place
  {
    nf_backend backend = nf_simd;
    executor* threads = nullptr;
    cuda_stream stream = nullptr;

    /// Throws nearfield::error for another size, an unknown backend, and threads of a GPU.
    explicit place(nf_place const* where);

    [[nodiscard]] bool is_gpu() const { return backend == nf_cuda; }
    [[nodiscard]] cuda_backend gpu() const { return {stream}; }
    /// For trees, cells and searches, which take no threads for the calling one.
    [[nodiscard]] detail::on_threads<simd_backend> cpu() const
    {
      return {{backend == nf_scalar ? isa::scalar : isa::best}, threads};
    }
    /// Throws nearfield::error unless it is where the handle is.
    void check_handle(char const* name, bool handle_is_on_gpu) const
    {
      if (handle_is_on_gpu != is_gpu()) refuse_place(name, handle_is_on_gpu);
    }
  };

  /// The box as C++ has it.
  template <int Dim>
  cell<Dim> cell_of(nf_box const& box)
  {
    cell<Dim> result;
    for (int a = 0; a < Dim; ++a)
    {
      result.periodic[a] = box.periodic[a] != 0;
      result.origin[a] = box.origin[a];
      for (int b = 0; b < Dim; ++b) result.vectors[a][b] = box.vectors[a][b];
    }
    return result;
  }

  /// The options as C++ has them.
  template <int Dim>
  tree_options<Dim> tree_options_of(nf_tree_options const& of)
  {
    tree_options<Dim> options;
    if (of.max_leaf_size != 0) options.max_leaf_size = of.max_leaf_size;
    if (of.is_uniform != 0) options.level = of.level;
    if (of.has_root != 0)
    {
      cube<Dim> root;
      for (int a = 0; a < Dim; ++a) root.centre[a] = of.root_centre[a];
      root.half_width = of.root_half_width;
      options.root = root;
    }
    options.cell = cell_of<Dim>(of.box);
    return options;
  }

  /// Throws nearfield::error for an unknown form.
  near_field_options near_field_options_of(nf_near_field_options const* given);

  /// Calls f<T, Dim>(list) with the cell_list or the cuda_cell_list of a handle.
  template <class F>
  struct list_visitor
  {
    F const& f;

    template <class T, int Dim>
    auto operator()(cell_list<T, Dim>& list) const
    {
      return f.template operator()<T, Dim>(list);
    }
    template <class T, int Dim>
    auto operator()(cell_list<T, Dim> const& list) const
    {
      return f.template operator()<T, Dim>(list);
    }
    template <class T, int Dim>
    auto operator()(std::unique_ptr<cuda_cell_list<T, Dim>> const& list) const
    {
      return f.template operator()<T, Dim>(*list);
    }
  };
  template <class Cells, class F>
  auto visit_list(Cells& cells, F const& f)
  {
    return std::visit(list_visitor<F>{f}, cells.of);
  }
  template <class List>
  constexpr bool is_on_gpu = false;
  template <class T, int Dim>
  constexpr bool is_on_gpu<cuda_cell_list<T, Dim>> = true;

  /// n numbers of points or leaves. Throws nearfield::error for null and for numbers that are no index_type.
  std::vector<index_type> indices_of(char const* name, std::int64_t const* numbers, std::size_t n);

  /// Makes a handle: *to becomes new Handle{make()}, and null if that throws.
  template <class Handle, class Make>
  nf_status create(Handle** to, char const* name, Make const& make) noexcept
  {
    return guarded(
        [&]
        {
          Handle*& handle = given(to, name);
          handle = nullptr;
          handle = make();
        });
  }
}
