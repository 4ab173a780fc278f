#pragma once

#include "cell_leaves.cuh"
#include "device_cells.hpp"
#include "device_images.cuh"
#include "grid_of_points.cuh"
#include "pinned.hpp"
#include "primitives.hpp"
#include "segments.cuh"
#include "sorted_points.cuh"
#include "system_grids.cuh"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace nearfield::detail
{
  /// For the counters of a search.
  inline constexpr std::size_t search_bytes = 64;

  /// What kernels report to the host. The words that it waits for are set to 0 before: a copy between two
  /// kernels would delay the second one.
  template <int Dim>
  struct cell_mail
  {
    bounds_of_sets<Dim> bounds;
    system_mail systems;
    std::uint32_t moves; ///< as tell_moves() says
    std::uint32_t crowded;
    /// the number plus 1
    std::uint32_t items;
    /// for whoever searches the cells, since pinned memory costs too much to allocate it for each search
    alignas(16) std::byte of_search[search_bytes];
  };

  /// What a list has, besides the memory of each build, if its capacity is fixed.
  template <int Dim>
  struct fixed_memory
  {
    system_room room;
    device_array<system_mail> mail; ///< of kernels to those after them
    system_findings<Dim> found;
    device_array<std::uint32_t> counts; ///< of all cells
    scan_memory scan;
    device_array<cell_rank> ranks; ///< of the larger set
    device_array<uint4> unranked;
  };

  /// What leaves add to points.
  struct leaf_moves
  {
    device_array<std::array<double, 3>> shifts; ///< as list_view::shifts
    /// as device_leaves::target_moves and source_moves
    std::array<device_array<std::array<double, 3>>, 2> moves;
  };

  template <class T, int Dim>
  class cells_on_gpu final : public device_cells<T, Dim>
  {
  public:
    using columns = strided<T const, Dim>;

    cells_on_gpu(cuda_stream stream, cell_list_options<T, Dim> const& options);

    void build(columns const& targets, columns const& sources, bool one_set, T cutoff) override;
    void build(columns const& targets, columns const& sources, bool one_set,
               systems<Dim> const& of) override;

    void rebuild(columns const& targets, columns const& sources, bool one_set,
                 std::span<cell<Dim> const> cells) override;
    std::uint32_t const* needs_rebuild(columns const& targets, columns const& sources, bool one_set,
                                       std::span<cell<Dim> const> cells) override;
    bool update(columns const& targets, columns const& sources, bool one_set,
                std::span<cell<Dim> const> cells, bool is_checked) override;

    void fix_capacity(double factor) override;
    [[nodiscard]] found_cells const* found() const override
    {
      return fixed_ ? &fixed_->mail.data()->found : nullptr;
    }
    void check_capacity() override;

    /// The same values are now in other columns.
    void bind(columns const& targets, columns const& sources)
    {
      given_ = {targets, sources};
      target_x_ = in_box(0).or_else(targets);
      source_x_ = in_box(one_set_ ? 0 : 1).or_else(sources);
    }

    [[nodiscard]] cuda_stream stream() const override { return stream_; }
    [[nodiscard]] bool one_set() const override { return one_set_; }
    [[nodiscard]] bool is_batch() const override { return systems_.any() && !is_one_; }
    [[nodiscard]] systems<Dim> given_systems() const override { return systems_.given(); }
    [[nodiscard]] cell_grid<T, Dim> const& grid_of_system(std::size_t s) override;
    [[nodiscard]] T cutoff_of_system(std::size_t s) const override
    {
      if (!systems_.any()) return grid_.cutoff;
      auto const& cutoffs = systems_.parts->cutoffs;
      return static_cast<T>(cutoffs[cutoffs.size() == 1 ? 0 : s]);
    }
    [[nodiscard]] cell_grid<T, Dim> const& grid() const override { return grid_; }
    [[nodiscard]] columns const& target_x() const override { return target_x_; }
    [[nodiscard]] columns const& source_x() const override { return source_x_; }
    [[nodiscard]] device_leaves leaves() override;
    [[nodiscard]] index_type n_leaves() override
    {
      return leaves_ ? leaves_->found.leaves : leaves().most_leaves;
    }
    [[nodiscard]] std::span<index_type const> target_order() override { return order(targets()); }
    [[nodiscard]] std::span<index_type const> source_order() override { return order(sources()); }
    /// Those of all systems, one after another.
    [[nodiscard]] device_images<T, Dim> const& images() const { return images_; }
    /// None if this is no batch.
    [[nodiscard]] device_systems<T, Dim> const& systems_on_device() const { return systems_; }
    /// The system of each target of a batch, by index; otherwise null.
    [[nodiscard]] std::uint32_t const* system_of_target() const
    {
      return systems_.any() ? systems_of(targets_).by_point() : nullptr;
    }
    [[nodiscard]] counters_of_points<Dim> target_images() const { return in_box(0).counters(); }
    [[nodiscard]] counters_of_points<Dim> source_images() const
    {
      return in_box(one_set_ ? 0 : 1).counters();
    }
    /// Whether sizes are bounds, and only the device knows the numbers of items and of points in them.
    [[nodiscard]] bool is_fixed() const { return fixed_.has_value(); }
    [[nodiscard]] sorted_points const& targets() const { return targets_; }
    [[nodiscard]] sorted_points const& sources() const { return one_set_ ? targets_ : sources_; }
    [[nodiscard]] cell_mail<Dim>& mail() { return *mail_; }
    /// search_bytes of device memory, for one search at a time.
    [[nodiscard]] void* search_memory()
    {
      if (of_search_.size() == 0)
        of_search_ = device_array<std::byte>(search_bytes, stream_, "radius_search: counters");
      return of_search_.data();
    }

    /// Makes the order inside cells ascending, once after a build.
    void rank();

    /// Records are most of the memory of a list, and can be made from the order: a search frees them if it
    /// needs the memory for its result, and the next search makes them again.
    void free_records()
    {
      if (is_fixed()) return;
      targets_.records = {};
      sources_.records = {};
    }
    void make_records();

    /// The cells as kernels take them, until the next build, rank or free_records.
    [[nodiscard]] device_cell_view view(bool half) const
    {
      return {targets().any_records(),
              sources().any_records(),
              sources().starts(),
              targets().item_begin.data(),
              targets().item_cell.data(),
              targets().item_wide_cell.data(),
              targets().n_items,
              targets().items_found.data(),
              half,
              one_set_,
              images_.moves(),
              geometry_,
              systems_.systems.data(),
              targets().item_system.data()};
    }

  private:
    [[nodiscard]] std::span<index_type const> order(sorted_points const& points)
    {
      rank();
      return {points.order.data(), points.order.size()};
    }
    /// The points of a set, if they are not those that were given.
    [[nodiscard]] points_in_box<T, Dim> const& in_box(int set) const
    {
      return has_followed_ || !has_skin() ? in_box_[set] : then_[set];
    }
    [[nodiscard]] bool has_skin() const { return grid_of_.options().skin > 0; }
    /// Those of a build.
    [[nodiscard]] std::array<points_in_box<T, Dim>, 2>& built_points()
    {
      return has_skin() ? then_ : in_box_;
    }
    void take_points(std::array<points_in_box<T, Dim>, 2>& found)
    {
      in_box_ = {};
      then_ = {};
      has_followed_ = false;
      built_points() = std::move(found);
    }
    /// The points of both sets, of which the second one is empty if there is only one.
    [[nodiscard]] two_sets<T, Dim> sets_of(columns const& targets, columns const& sources) const
    {
      return {targets, one_set_ ? columns() : sources};
    }
    /// Throws nearfield::error for what a list with fixed capacity cannot take.
    void check_fixed(columns const& targets, columns const& sources, bool one_set,
                     std::span<cell<Dim> const> cells) const;
    [[nodiscard]] system_room room_for(double factor) const;
    void make_room(system_room const& room);
    /// Sorts points into memory that is there.
    void build_fixed(columns const& targets, columns const& sources);
    void sort_fixed(sorted_points& to, columns const& x);
    /// Whether cells may serve for these points.
    [[nodiscard]] bool can_follow(columns const& targets, columns const& sources, bool one_set,
                                  std::span<cell<Dim> const> cells) const;
    /// Where points and boxes are now.
    struct followed
    {
      std::array<points_in_box<T, Dim>, 2> points; ///< unless they have memory already
      cell_frame<Dim> frame;                       ///< of one system
    };
    /// Sets the bytes of found_moves_.
    void set_moves(int byte);
    /// Finds out whether points have left their cells and, if `writes`, where they are.
    followed follow(columns const& targets, columns const& sources,
                    std::span<cell<Dim> const> cells, bool writes);
    template <class Moves>
    void follow(int set, columns const& x, Moves const& moves, points_in_box<T, Dim>* found);
    void take(followed&& found, columns const& targets, columns const& sources,
              std::span<cell<Dim> const> cells);
    /// The frame of one system in this box; none: as it was.
    [[nodiscard]] cell_frame<Dim> frame_in(std::span<cell<Dim> const> cells) const
    {
      return cells.empty() ? grid_.frame : with_vectors_of(grid_.frame, cells[0]);
    }
    [[nodiscard]] leaf_moves make_leaf_moves();
    /// What is left when memory has run out halfway: an empty list is better than parts that do not match.
    void forget();
    void build_systems(columns const& targets, columns const& sources, bool one_set,
                       systems<Dim> const& of, cell_list_options<T, Dim> const& options);
    /// Sorts points by grids that take() takes over.
    template <class Take>
    void sort_anew(columns const& targets, columns const& sources, bool one_set, Take const& take);
    /// f(cells), where cells.key() and cells.record() are those of the points of this set.
    template <class F>
    void with_cells(sorted_points const& of, F const& f) const;
    [[nodiscard]] systems_of_set const& systems_of(sorted_points const& of) const
    {
      return systems_.parts->sets[&of == &targets_ ? 0 : 1];
    }
    [[nodiscard]] cell_table table_of(sorted_points& of, std::uint32_t volatile* n_items) const
    {
      return {of.table.data(),       of.item_begin.data(),
              of.item_cell.data(),   n_items,
              of.item_system.data(), systems_.any() ? systems_of(of).of_position.data() : nullptr};
    }
    void sort(sorted_points& to, columns const& x, sorted_points& old);
    /// Counts the points of cells, and scatters them in the order of cells. `fits`: as do_fit().
    void count(sorted_points const& of, columns const& x, std::uint32_t* counts, cell_rank* ranks,
               uint4* unranked, std::uint32_t const* fits, std::uint32_t volatile* crowded) const;
    void scatter(sorted_points const& of, columns const& x, cell_rank const* ranks, uint4* unranked,
                 std::uint32_t const* fits) const;
    void rank(sorted_points& points, cell_rank const* ranks, uint4 const* unranked,
              std::uint32_t const* fits) const;
    void write_records(sorted_points& to, columns const& x) const;
    void sort_with_table(sorted_points& to, columns const& x, sorted_points& old);
    /// `alone`: without a table; items and starts come from the keys, which are kept.
    void sort_by_keys(sorted_points& to, columns const& x, bool alone);
    void rank(sorted_points& points);
    void make_records(sorted_points& to, columns const& x);
    [[nodiscard]] int key_bits() const;

    cuda_stream stream_;
    grid_of_points<T, Dim> grid_of_;
    bool one_set_ = true;
    bool is_one_ = false; ///< a batch that was made of a list of one system
    two_sets<T, Dim> given_;
    columns target_x_, source_x_;
    cell_grid<T, Dim> grid_;                          ///< of one system
    std::array<std::vector<axis_piece>, Dim> pieces_; ///< of the grid
    device_pieces<Dim> pieces_on_device_;
    cell_geometry geometry_; ///< of one system; of a batch, only the group is
    device_images<T, Dim> images_;
    std::array<points_in_box<T, Dim>, 2> in_box_; ///< of the two sets, if not as given
    /// with a skin: where they were when cells were made
    std::array<points_in_box<T, Dim>, 2> then_;
    bool has_followed_ = false; ///< whether points are now those of in_box_
    std::vector<cell<Dim>>
        cells_now_; ///< if others were given than those of the options or the systems
    device_array<found_moves> found_moves_;
    moved_frames<Dim> frames_now_;         ///< of a batch
    std::uint64_t n_cells_ = 0;            ///< of all systems
    device_systems<T, Dim> systems_;       ///< of a batch
    std::vector<cell_grid<T, Dim>> grids_; ///< theirs, once somebody has asked for one
    sorted_points targets_, sources_;
    device_array<std::byte> of_search_;
    std::optional<fixed_memory<Dim>> fixed_;
    std::optional<cell_leaves> leaves_; ///< once somebody has asked for them
    std::optional<leaf_moves> leaf_moves_;
    pinned<cell_mail<Dim>> mail_{"cuda_cell_list: cudaMallocHost"};
  };

  extern template class cells_on_gpu<float, 2>;
  extern template class cells_on_gpu<float, 3>;
  extern template class cells_on_gpu<double, 2>;
  extern template class cells_on_gpu<double, 3>;
}
