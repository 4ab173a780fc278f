#pragma once

#include "cell_build.hpp"

#include <nearfield/core/cell.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::detail
{
  /// Points of a list that have moved, in the cells of its last build.
  ///
  /// A point is u = x - w . vectors, with the w for which it is nearest to where it was. Two points that are within R now
  /// were within R plus the lengths of their moves, and the change of the image, and the cells reach that far. Moves are
  /// those of the values that are kept, so that nothing is rounded on the way.
  template <class T, int Dim>
  class cell_update
  {
  public:
    using set_type = strided<T const, Dim>;

    /// None of `cells`: those of the list.
    cell_update(executor& on, cell_list_data<T, Dim> const& data,
                cell_list_options<T, Dim> const& options, two_sets<set_type> const& points,
                bool one_set, std::span<cell<Dim> const> cells);

    /// Whether the cells still serve.
    [[nodiscard]] bool fits() const { return fits_ && move_points(nullptr); }
    /// Moves the points of the list, unless the cells no longer serve: then it does nothing, and returns false.
    bool take(cell_list_data<T, Dim>& data);

  private:
    /// What points of a set become.
    struct target
    {
      two_sets<soa<T, Dim>> x;
      two_sets<image_counters<Dim>*> counters{}; ///< by index; null where no axis is periodic
      std::atomic<bool> wraps = false;           ///< some point has other counters than before
    };

    [[nodiscard]] cell_frame<Dim> frame_of(std::size_t s) const;
    [[nodiscard]] bool move_points(target* to) const;
    [[nodiscard]] bool move_system(std::size_t set, std::size_t s, std::size_t begin,
                                   std::size_t end, target* to) const;

    executor& on_;
    cell_list_data<T, Dim> const& data_;
    two_sets<set_type> points_;
    std::size_t n_sets_;
    std::span<cell<Dim> const> cells_;
    std::vector<double> most_squared_; ///< of each system: how far points may have moved
    bool fits_ = true;                 ///< sizes and axes are the same, and no box has changed much
  };
}
