#pragma once

#include <nearfield/nearfield.h>

#include <nearfield/core/where.hpp>
#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

/// \file
/// What the handles of <nearfield/nearfield.h> are.

struct nf_threads
{
  nearfield::threads threads;
};

struct nf_interaction
{
  nearfield::any_interaction k;
};

struct nf_leaf_list
{
  std::variant<nearfield::leaf_list, nearfield::cuda_list> of;
};

struct nf_tree
{
  std::variant<nearfield::tree<2>, nearfield::tree<3>, nearfield::cuda_tree<2>,
               nearfield::cuda_tree<3>>
      of;
};

namespace nearfield::c
{
  /// The filtered list of a list.
  template <class List>
  struct filter_type
  {
    using type = filtered<List>;
  };
  template <class T, int Dim>
  struct filter_type<cuda_cell_list<T, Dim>>
  {
    using type = cuda_filtered<T, Dim>;
  };

  /// A filtered list, and the arrays that it looks up.
  template <class T, class List>
  struct kept_filter
  {
    std::vector<index_type> types, source_types;
    std::vector<T> type_cutoffs, radii, source_radii;
    std::vector<std::uint64_t> excluded_offsets;
    std::vector<index_type> excluded;
    std::optional<typename filter_type<List>::type> pairs = {};
  };
}

struct nf_cells
{
  // searches change cells on a GPU
  template <class T, int Dim>
  using on_gpu = std::unique_ptr<nearfield::cuda_cell_list<T, Dim>>;

  std::variant<nearfield::cell_list<float, 2>, nearfield::cell_list<float, 3>,
               nearfield::cell_list<double, 2>, nearfield::cell_list<double, 3>, on_gpu<float, 2>,
               on_gpu<float, 3>, on_gpu<double, 2>, on_gpu<double, 3>>
      of;

  template <class T, int Dim>
  using filter = std::unique_ptr<nearfield::c::kept_filter<T, nearfield::cell_list<T, Dim>>>;
  template <class T, int Dim>
  using gpu_filter =
      std::unique_ptr<nearfield::c::kept_filter<T, nearfield::cuda_cell_list<T, Dim>>>;

  // refers to the cells; empty: all pairs count
  std::variant<std::monostate, filter<float, 2>, filter<float, 3>, filter<double, 2>,
               filter<double, 3>, gpu_filter<float, 2>, gpu_filter<float, 3>, gpu_filter<double, 2>,
               gpu_filter<double, 3>>
      which = {};
};

struct nf_pair_list
{
  std::variant<std::monostate, nearfield::coo<float, 2>, nearfield::coo<float, 3>,
               nearfield::coo<double, 2>, nearfield::coo<double, 3>, nearfield::csr<float, 2>,
               nearfield::csr<float, 3>, nearfield::csr<double, 2>, nearfield::csr<double, 3>,
               nearfield::device_coo<float, 2>, nearfield::device_coo<float, 3>,
               nearfield::device_coo<double, 2>, nearfield::device_coo<double, 3>,
               nearfield::device_csr<float, 2>, nearfield::device_csr<float, 3>,
               nearfield::device_csr<double, 2>, nearfield::device_csr<double, 3>>
      of;
};
