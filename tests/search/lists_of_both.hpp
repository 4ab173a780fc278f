#pragma once

#include "search/random_case.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/tree/cell_list.hpp>

/// \file
/// The list of a case on the CPU and on the GPU.

namespace nearfield::test
{
  template <class T, int Dim>
  struct lists_of_both
  {
    device_columns<T, Dim> x, y;
    cell_list<T, Dim> here;
    cuda_cell_list<T, Dim> there;

    explicit lists_of_both(random_case<T, Dim> const& of)
        : x(of.x.view()), y(of.y.view()), here(of.list()),
          there(of.one_set
                    ? cuda_cell_list<T, Dim>(cuda, x.view(), T(of.cutoff), of.options)
                    : cuda_cell_list<T, Dim>(cuda, x.view(), y.view(), T(of.cutoff), of.options))
    {}
  };
}
