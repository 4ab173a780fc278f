#pragma once

#include <nearfield/nearfield.h>

#include <nearfield/core/where.hpp>
#include <nearfield/kernels/any_interaction.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/pairs.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <memory>
#include <variant>

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

struct nf_cells
{
  // searches change cells on a GPU
  template <class T, int Dim>
  using on_gpu = std::unique_ptr<nearfield::cuda_cell_list<T, Dim>>;

  std::variant<nearfield::cell_list<float, 2>, nearfield::cell_list<float, 3>,
               nearfield::cell_list<double, 2>, nearfield::cell_list<double, 3>, on_gpu<float, 2>,
               on_gpu<float, 3>, on_gpu<double, 2>, on_gpu<double, 3>>
      of;
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
