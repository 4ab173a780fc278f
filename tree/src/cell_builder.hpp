#pragma once

#include "cell_build.hpp"
#include "systems.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/parallel.hpp>
#include <nearfield/core/soa.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

/// \file
/// The steps of a build: grids in cell_build.cpp, sorting and lists in cell_listing.cpp.

namespace nearfield::detail
{
  /// Builds a list. The functions come in the order in which they are called.
  template <class T, int Dim>
  class cell_builder
  {
  public:
    cell_builder(executor& on, kept_systems<Dim>& given,
                 two_sets<strided<T const, Dim>> const& points, bool one_set,
                 cell_list_options<T, Dim> const& options, cell_list_data<T, Dim>& data);

    void run();

  private:
    void check_batch() const;
    /// By points, for the threads; one part if there are few systems, of which each is built by all threads.
    void cut_parts();
    void gather(std::size_t set);
    void find_bounds();
    /// Brings points into their boxes, and makes the grids.
    void make_grids();
    void move_inside(executor& on, cell_frame<Dim> const& frame, std::size_t s, std::size_t k);
    /// Leaves out gaps that would make cells wide.
    void leave_gaps_out(executor& on, std::size_t s, sort_scratch& scratch);
    /// The tables of shifts.
    void make_tables();
    void sort_and_list();
    /// Sorts the points of a system, and appends its boxes.
    void sort(executor& on, std::size_t s, cell_part& part);
    /// Appends the lists of a system.
    void list(executor& on, std::size_t s, cell_part& part);
    void join_parts();
    void make_empty();
    void keep_systems()
    {
      if (&given_ != &data_.given) data_.given = std::move(given_);
    }

    /// f(executor, s, part) for all systems. An error is that of the first system, which it names.
    template <class F>
    void for_each_system(F const& f)
    {
      std::mutex mutex;
      std::size_t failed = given_.size();
      std::exception_ptr failure;
      this_thread here;
      int const n_parts = static_cast<int>(first_.size()) - 1;
      executor& inside = n_parts > 1 ? here : on_;
      auto const run_part = [&](int part)
      {
        for (std::size_t s = first_[unsigned(part)]; s < first_[unsigned(part) + 1]; ++s) try
          {
            f(inside, s, static_cast<std::size_t>(part));
          }
          catch (...)
          {
            std::lock_guard const lock(mutex);
            if (s < failed) failure = std::current_exception();
            failed = std::min(failed, s);
            return;
          }
      };
      if (n_parts > 1)
        on_.run(n_parts, run_part);
      else
        run_part(0);
      if (!failure) return;
      if (!given_.is_batch) std::rethrow_exception(failure);
      in_system(failed, [&] { std::rethrow_exception(failure); });
    }

    [[nodiscard]] char const* name_of(std::size_t set) const
    {
      return n_sets_ == 2 && set == 0 ? "queries" : "points";
    }
    [[nodiscard]] std::size_t begin(std::size_t set, std::size_t s) const
    {
      return given_.offsets[set][s];
    }
    [[nodiscard]] std::size_t count(std::size_t set, std::size_t s) const
    {
      return given_.offsets[set][s + 1] - given_.offsets[set][s];
    }
    /// As they were given, system after system.
    [[nodiscard]] strided<T const, Dim> given_points(std::size_t set, std::size_t s) const
    {
      auto const& all = points_[set];
      std::array<T const*, Dim> columns;
      for (int a = 0; a < Dim; ++a) columns[a] = all.size() > 0 ? &all[a][begin(set, s)] : nullptr;
      return {soa<T const, Dim>(columns, count(set, s)), all.stride()};
    }
    /// Those in the box.
    [[nodiscard]] strided<T const, Dim> inner_points(std::size_t set, std::size_t s) const
    {
      if (!data_.bounds[set][s].moved) return given_points(set, s);
      std::span<T const> const moved = data_.moved[set];
      return columns_in<Dim>(moved, count(set, s), begin(set, s));
    }

    executor& on_;
    kept_systems<Dim>& given_;
    two_sets<strided<T const, Dim>> points_;
    std::size_t n_sets_;
    cell_list_options<T, Dim> const& options_;
    cell_list_data<T, Dim>& data_;
    std::vector<index_type> first_; ///< system of each part
    bool notes_own_at_ = false;     ///< points of some system meet a cell in several images
  };
}
