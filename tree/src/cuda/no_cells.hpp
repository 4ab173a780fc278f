#pragma once

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/tree/cuda.hpp>

#include <span>

namespace nearfield::detail
{
  /// The cells of a build without CUDA: the constructor says how to get one with it, so that none is ever made.
  template <class T, int Dim>
  class device_cells
  {
  public:
    using columns = soa<T const, Dim>;

    device_cells(cuda_stream, cell_list_options<T, Dim> const&)
    {
      throw error("cuda: " + cuda_problem(), error_kind::not_available);
    }

    struct sorted_points
    {
      std::span<index_type const> order;
    };
    void build(columns const&, columns const&, bool, T) {}
    void rank() {}
    [[nodiscard]] cuda_stream stream() const { return nullptr; }
    [[nodiscard]] bool one_set() const { return true; }
    [[nodiscard]] cell_grid<T, Dim> const& grid() const { return grid_; }
    [[nodiscard]] columns const& target_x() const { return x_; }
    [[nodiscard]] columns const& source_x() const { return x_; }
    [[nodiscard]] sorted_points const& targets() const { return points_; }
    [[nodiscard]] sorted_points const& sources() const { return points_; }

  private:
    cell_grid<T, Dim> grid_;
    columns x_;
    sorted_points points_;
  };
}
