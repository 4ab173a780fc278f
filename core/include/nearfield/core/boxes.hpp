#pragma once

#include <nearfield/core/config.hpp>
#include <nearfield/core/where.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace nearfield
{
  /// Index of a point in an array, or of a box in a list. A set has fewer than 2^32 points; counts of pairs
  /// are 64-bit.
  using index_type = std::uint32_t;

  namespace detail
  {
    /// A span of memory that is kept elsewhere: a temporary, which would leave it dangling, does not convert to it.
    template <class T>
    struct kept_span : std::span<T>
    {
      constexpr kept_span() = default;
      /// From a span, of which nobody knows who keeps the memory.
      constexpr kept_span(std::span<T> const& of) : std::span<T>(of) {} // NOLINT
      /// From pointer and size.
      constexpr kept_span(T* first, std::size_t n) : std::span<T>(first, n) {}
      /// From a container that has a name, or a view.
      template <class Range>
        requires(std::ranges::borrowed_range<Range> && std::convertible_to<Range, std::span<T>> &&
                 !std::same_as<std::remove_cvref_t<Range>, kept_span>) //
      constexpr kept_span(Range&& from)                                // NOLINT
          : std::span<T>(std::forward<Range>(from))
      {}
      /// Deleted: the temporary ends before the span.
      template <class Container>
        requires(!std::ranges::borrowed_range<Container> &&
                 std::convertible_to<Container&, std::span<T>>) //
      kept_span(Container&& give_the_container_a_name) = delete;
    };
  }
}

/// \cond
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<nearfield::detail::kept_span<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<nearfield::detail::kept_span<T>> = true;
/// \endcond

namespace nearfield
{
  /// Points sorted by box: box b holds the points [offsets[b], offsets[b + 1]).
  struct boxes
  {
    detail::kept_span<index_type const>
        offsets; ///< n + 1 for n boxes, ascending from 0, or empty for none

    /// The number of boxes.
    [[nodiscard]] index_type size() const
    {
      return offsets.empty() ? 0 : static_cast<index_type>(offsets.size() - 1);
    }
    /// The first point of box b.
    [[nodiscard]] index_type begin(index_type b) const { return offsets[b]; }
    /// One past the last point of box b.
    [[nodiscard]] index_type end(index_type b) const { return offsets[b + 1]; }
    /// The number of points in box b.
    [[nodiscard]] index_type count(index_type b) const { return end(b) - begin(b); }
  };

  /// The sources that each target box meets: those of its own box, own[b], and those of its neighbours,
  /// ranges[offsets[b]] ... ranges[offsets[b + 1] - 1].
  ///
  /// In a *half* list of one set each pair of boxes is listed once, at the box that comes first: ranges lie after their
  /// target box, or are images of it, of which opposite ones count as one. A mutual kernel serves both sides of a pair.
  struct interaction_list
  {
    /// Consecutive source points [begin, end) that one target box meets.
    struct range
    {
      index_type begin = 0; ///< the first source
      index_type end = 0;   ///< one past the last
      /// which set of columns `begin` and `end` index, where sources lie in several; 0 if there is only one
      std::uint16_t set = 0;
      /// index of the shift that the list adds to these sources; 0 means none
      std::uint16_t shift = 0;

      friend bool operator==(range const&, range const&) = default;
    };

    detail::kept_span<range const> own; ///< one per target box; [0, 0) if it has no sources
    detail::kept_span<index_type const> offsets; ///< n + 1 for n target boxes, ascending from 0
    detail::kept_span<range const> ranges;       ///< those of box 0, then of box 1 ...
    /// length^1, added to the sources of a range; shifts[0] is zero; empty means {0}
    detail::kept_span<std::array<double, 3> const> shifts;

    /// The ranges of neighbours that box b meets, without its own.
    [[nodiscard]] std::span<range const> neighbours(index_type b) const
    {
      return ranges.subspan(offsets[b], offsets[b + 1] - offsets[b]);
    }
    /// The number of sources that each target of box b meets, those of its own box included.
    [[nodiscard]] std::uint64_t source_count(index_type b) const
    {
      std::uint64_t count = own[b].end - own[b].begin;
      for (range const& of : neighbours(b)) count += of.end - of.begin;
      return count;
    }
  };

  /// Whether K is evaluated once or twice for two points that meet.
  enum class pair_form
  {
    automatic, ///< mutual where that is faster, by the mean number of points per leaf (docs/conventions.md)
    one_sided, ///< once for each of the two
    mutual     ///< once for both; only for one set, and interactions with a mutual form
  };

  // after the enumerators of that name, which would shadow it
  /// The size that nearfield chooses itself: tree_options::max_leaf_size, group_options::leaves_per_group.
  inline constexpr int automatic = 0;

  namespace detail
  {
    using source_range = interaction_list::range;

    /// The sources that each target does not meet, in no image; empty: there are none.
    struct excluded_rows
    {
      std::vector<std::uint64_t> offsets; ///< one more than targets
      std::vector<index_type> sources;

      [[nodiscard]] bool empty() const { return sources.empty(); }
      [[nodiscard]] std::span<index_type const> row(std::size_t target) const
      {
        return std::span(sources).subspan(offsets[target], offsets[target + 1] - offsets[target]);
      }
    };
    /// The excluded pairs that the caller gives as a CSR, each once. With one set, each pair is in the rows of both points.
    /// Throws nearfield::error, whose text begins with `function`, unless there are n_targets ascending rows and all sources
    /// exist.
    NEARFIELD_API excluded_rows excluded_rows_of(char const* function,
                                                 std::span<std::uint64_t const> offsets,
                                                 std::span<index_type const> excluded,
                                                 std::size_t n_targets, std::size_t n_sources,
                                                 bool one_set);

    /// A type with leaves and interaction lists: a tree, or a cell_list, whose leaves are its cells.
    template <class Leaves>
    concept has_leaves = requires(Leaves const& leaves) {
      Leaves::dim;
      leaves.has_one_set();
      leaves.targets();
      leaves.sources();
      leaves.interactions();
      leaves.half_interactions();
      leaves.target_order();
      leaves.source_order();
    };

    /// Consecutive leaves whose ranges have shifts of their own.
    struct leaf_system
    {
      index_type first_leaf = 0;
      index_type last_leaf = 0;                        ///< one past the last
      std::span<std::array<double, 3> const> shifts{}; ///< as interaction_list::shifts
    };

    /// The leaves of a tree and how they are grouped; a group is some consecutive leaves. Its
    /// members are views into the tree, which must outlive them.
    struct leaf_groups_view
    {
      /// group g holds the leaves [first_leaf[g], first_leaf[g + 1])
      std::span<index_type const> first_leaf;
      /// sized for GPUs by default: a step may give CPU workers groups of their own
      bool is_for_gpus = false;
      /// groups from this leaf on are for CPU workers, even in a step whose other groups are for GPUs
      index_type first_cpu_leaf = std::numeric_limits<index_type>::max();
      bool has_one_set = true; ///< targets and sources are the same points
      boxes targets;           ///< the targets of each leaf
      boxes sources;           ///< the sources of each leaf
      interaction_list full;   ///< each leaf and all leaves that it meets
      /// each pair of leaves once; empty for two sets
      interaction_list half;
      std::span<index_type const> target_order; ///< position in the tree -> the caller's index
      std::span<index_type const> source_order; ///< the same for the sources
      /// length^1, added to the targets at each position to bring them into the box; empty if all are in it
      std::span<std::array<double, 3> const> target_moves;
      std::span<std::array<double, 3> const> source_moves; ///< the same for the sources
      /// all leaves in parts that do not meet; none: the lists have the shifts
      std::span<leaf_system const> systems;
      bool ranges_may_coincide = false; ///< points have moved since leaves were made
      /// of cells, the least of all systems: the lists may leave out pairs further apart
      double cutoff = std::numeric_limits<double>::infinity();
    };

    /// Boxes and their interaction list as a compiled kernel takes them: pointers, on a GPU to device memory.
    struct list_view
    {
      index_type const* box_offsets = nullptr;       ///< as boxes::offsets
      source_range const* own = nullptr;             ///< as interaction_list::own
      index_type const* range_offsets = nullptr;     ///< as interaction_list::offsets
      source_range const* ranges = nullptr;          ///< as interaction_list::ranges
      std::array<double, 3> const* shifts = nullptr; ///< as interaction_list::shifts
      /// sources lie in one set: source_range::set has the upper bits of the shift's number instead; only on GPUs
      bool has_many_shifts = false;
    };

    /// Leaves and their interaction lists in device memory, as a cuda_tree or a cuda_cell_list holds them. All pointers and
    /// spans are to device memory.
    struct device_leaves
    {
      list_view full; ///< each leaf and all leaves that it meets
      list_view half; ///< each pair of leaves once; without `own` for two sets
      index_type const* n_leaves =
          nullptr;                ///< the number of leaves; 0 if the tables are not complete
      index_type most_leaves = 0; ///< not less than *n_leaves
      std::span<index_type const> target_order; ///< position -> index of the target
      std::span<index_type const> source_order; ///< the same for the sources
      /// length^1, added to each target, by index, to bring it into the box; null: nothing is
      std::array<double, 3> const* target_moves = nullptr;
      std::array<double, 3> const* source_moves = nullptr; ///< the same for the sources
      bool one_set = true;              ///< targets and sources are the same points
      bool ranges_may_coincide = false; ///< points have moved since leaves were made
      /// [k]: the number of leaves with 2^k to 2^(k + 1) - 1 targets; none if the host does not know
      std::optional<std::array<index_type, 32>> leaves_of_size;
      cuda_stream stream = nullptr; ///< that the leaves are made in
    };

    /// A type with leaves and interaction lists in device memory: a cuda_tree, or a cuda_cell_list, whose leaves are its
    /// cells.
    template <class Leaves>
    concept has_device_leaves = requires(Leaves const& leaves) {
      Leaves::dim;
      { leaves.on_device() } -> std::same_as<device_leaves>;
    };
  }
}
