#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>

/// \file
/// The loop that a user would write, as a measure: compiled for each instruction set of the kernels with -O3
/// -ffast-math, which is what -march=native gives on a machine that has it.

namespace nearfield::app
{
  /// phi_i = sum_j q_j / |r|, r = x_i - x_j, and its gradient, over the leaves of one set of points in the order of the
  /// tree. All are pointers, since a function of a header that is compiled here could be the one that others link to.
  template <class T>
  struct plain_job
  {
    index_type n_boxes;
    index_type const* offsets; ///< of the points of each box
    interaction_list::range const* own;
    index_type const* range_offsets;
    interaction_list::range const* ranges; ///< without shifts
    T const* x[3];
    T const* q;
    T* out[4];
  };

  /// One file each, of plain_loop.cpp.in.
  template <isa Which>
  void plain_loop(plain_job<float> const& job);
  template <isa Which>
  void plain_loop(plain_job<double> const& job);

  /// Throws nearfield::error as selected_isa() does.
  void run_plain_loop(plain_job<float> const& job);
  void run_plain_loop(plain_job<double> const& job);
}
