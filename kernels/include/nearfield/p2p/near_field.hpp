#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file
/// The near field over all boxes, by `simd`, `simd.with(threads)` or `scalar`: every target box meets the sources of
/// its own box and of its neighbours.
///
/// Over a tree or a cell list, columns are in the order of the arrays that it was made from: they are copied into the
/// order of the boxes, and the outputs back, at a cost of about one pass over the points. Boxes and an interaction
/// list know no order but their own: over them, columns are in the order of the boxes. Views are soa or strided, as in
/// <nearfield/p2p/p2p.hpp>.
///
///     nearfield::near_field(nearfield::simd, nearfield::one_over_r<>{}, tree, nearfield::soa{x, y, z},
///                           nearfield::soa{q}, nearfield::soa{phi});
///
/// Outputs are overwritten, or added to with `.accumulate = true`. Threads share the boxes. One-sided results are the
/// same to the bit on any number of them. `.form = pair_form::mutual` evaluates K once for each pair, which takes about
/// half the time.

namespace nearfield
{
  /// Options of a step on CPUs or on one GPU.
  struct near_field_options
  {
    /// add to the outputs instead of overwriting them
    bool accumulate = false;
    /// By default one_sided, for the same bits on any number of threads and, on GPUs of one kind, every time. Mutual
    /// is for one set: boxes add to each other's outputs, on one thread in the order of the list, on several by groups
    /// whose sums are added in a fixed order (the same bits for any number), on a GPU in no fixed order. Automatic is
    /// the faster form over a tree or a cell list, mutual if K has that form and leaves are not small (docs/conventions.md).
    /// Over boxes and a list, automatic is one_sided, and over a cuda_list the form that the list was made for.
    pair_form form = pair_form::one_sided;
    /// Points of different boxes may coincide, for example because they have moved since the tree was built.
    /// In a tree of the present positions they do not, which saves a test.
    bool ranges_may_coincide = false;
    /// A row for each target: excluded[excluded_offsets[i]] ... are the sources that it does not meet, in no image, such as
    /// bonded atoms. They are left out, not subtracted. Indices are those of the columns. Of one set, (i, j) excludes
    /// (j, i) too. On a GPU in host memory, over a tree or a cell list, and one-sided; the host waits.
    detail::kept_span<std::uint64_t const> excluded_offsets = {};
    detail::kept_span<index_type const> excluded = {}; ///< indices of sources
  };

  /// Leaves of your own as boxes and interaction lists, which it owns: made and checked once, for any steps over
  /// all of them or over parts.
  ///
  ///     nearfield::leaf_list const leaves({first_point}, {first_neighbour, neighbours});
  ///     nearfield::near_field(nearfield::simd, k, leaves, x, q, out);
  ///
  /// Columns are in the order of the leaves.
  class NEARFIELD_API leaf_list
  {
  public:
    /// The neighbours of each leaf, in CSR: leaf b meets the leaves leaves[offsets[b]] ... leaves[offsets[b + 1] - 1].
    struct neighbour_lists
    {
      std::span<index_type const> offsets; ///< n + 1 for n leaves, ascending from 0
      std::span<index_type const> leaves;  ///< numbers of leaves
      /// the numbers of their shifts; empty: none has one
      std::span<std::uint16_t const> shift_of = {};
      /// length^1, added to the points of a neighbour: a periodic image; shifts[0] is zero
      std::span<std::array<double, 3> const> shifts = {};
    };

    /// The leaves [first, last) of a list, which must outlive it: all, or those of leaves().
    struct part
    {
      leaf_list const* list; ///< the whole
      index_type first;      ///< the first leaf
      index_type last;       ///< one past the last

      /// All leaves.
      part(leaf_list const& all) // NOLINT(google-explicit-constructor)
          : part(all, 0, all.targets().size())
      {}

    private:
      friend leaf_list;
      part(leaf_list const& all, index_type begin, index_type end)
          : list(&all), first(begin), last(end)
      {}
    };

    /// Leaves of one set of points. A leaf meets itself, listed or not. Two leaves that meet may be listed at either
    /// or at both, the other way with the opposite shift: a pair of leaves and a shift counts once.
    ///
    /// Throws nearfield::error unless offsets ascend from 0, numbers exist, and shifts are finite and the first zero.
    leaf_list(boxes const& points, neighbour_lists const& neighbours);
    /// Leaves of targets, and the leaves of sources that each of them meets, as listed. Throws as above.
    leaf_list(boxes const& targets, boxes const& sources, neighbour_lists const& neighbours);

    /// Whether targets and sources are the same points.
    [[nodiscard]] bool has_one_set() const { return has_one_set_; }
    /// The targets of each leaf.
    [[nodiscard]] boxes targets() const { return {targets_}; }
    /// The number of sources.
    [[nodiscard]] index_type n_sources() const { return n_sources_; }
    /// Each leaf and all leaves that it meets; for a cuda_list too.
    [[nodiscard]] interaction_list interactions() const { return full_.view(own_, shifts_); }
    /// Each pair of leaves at the one that comes first; without ranges for two sets.
    [[nodiscard]] interaction_list half_interactions() const { return half_.view(own_, shifts_); }
    /// The leaves [first, last). Throws nearfield::error unless they exist.
    [[nodiscard]] part leaves(index_type first, index_type last) const;

  private:
    leaf_list(boxes const& targets, boxes const& sources, bool one_set, neighbour_lists const& of);

    struct rows
    {
      std::vector<index_type> offsets;
      std::vector<interaction_list::range> ranges;

      [[nodiscard]] interaction_list view(std::span<interaction_list::range const> own,
                                          std::span<std::array<double, 3> const> shifts) const
      {
        return {own, offsets, ranges, shifts};
      }
    };

    std::vector<index_type> targets_;
    index_type n_sources_;
    bool has_one_set_;
    std::vector<interaction_list::range> own_;
    std::vector<std::array<double, 3>> shifts_;
    rows full_, half_;
  };

  namespace detail
  {
    // On threads, if there are some; the error is that of the first box or range in order.

    /// Throws nearfield::error unless the list fits the boxes and the numbers of points.
    NEARFIELD_API void check_list(char const* function, boxes const& targets,
                                  interaction_list const& list, std::size_t n_targets,
                                  std::size_t n_sources, executor* on = nullptr);
    /// Whether the own range of box b is the box itself, as in a list of one set.
    inline bool is_own_range(boxes const& points, interaction_list const& list, index_type b)
    {
      return list.own[b].begin == points.begin(b) && list.own[b].end == points.end(b);
    }
    /// Throws nearfield::error unless it is for each box: otherwise a list of two sets would pass for one of
    /// one set.
    NEARFIELD_API void check_own_ranges(char const* function, boxes const& points,
                                        interaction_list const& list, executor* on = nullptr);
    /// Throws nearfield::error if a range does not lie after its box: a full list would count pairs twice.
    NEARFIELD_API void check_half(char const* function, boxes const& points,
                                  interaction_list const& list, executor* on = nullptr);

    /// Throws nearfield::error unless leaves of one set are given one set of points, and those of two sets two.
    NEARFIELD_API void check_sets(char const* function, bool leaves_have_one_set,
                                  bool given_one_set);

    /// The views of one set of points in a step. A set without inputs or outputs has empty views of them.
    template <class T>
    struct step_set
    {
      any_columns<T const> x, q;
      any_columns<T> out;
    };

    /// What near_field does besides the kernel: it does not depend on the interaction. One set is given as targets and
    /// as sources. For float and double.
    template <class T>
    struct NEARFIELD_API list_step
    {
      executor* threads; ///< null: the calling one
      p2p_function<T> kernel;
      void const* interaction;
      bool tests_for_zero;
      int n_rhs;
      bool is_mutual;
      near_field_options options;

      /// Over a list, that of the step's form. Columns are in the order of its boxes.
      void run(leaf_groups_view const& leaves, step_set<T> const& targets,
               step_set<T> const& sources) const;
      /// Over a part of the caller's leaf_list.
      void run(leaf_list::part const& leaves, step_set<T> const& targets,
               step_set<T> const& sources) const;
      /// With columns in the order of the arrays that leaves were made from.
      void run_sorted(leaf_groups_view const& leaves, step_set<T> const& targets,
                      step_set<T> const& sources) const;
    };
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// A list as a step of either form takes it.
    inline leaf_groups_view leaves_of(boxes const& targets, interaction_list const& list,
                                      bool has_one_set)
    {
      leaf_groups_view leaves;
      leaves.has_one_set = has_one_set;
      leaves.targets = targets;
      if (has_one_set) leaves.sources = targets;
      leaves.full = leaves.half = list;
      return leaves;
    }
    /// The same of a tree or a cell list, of which only the list of the form is made.
    template <has_leaves Leaves>
    leaf_groups_view leaves_of(Leaves const& of, bool is_mutual)
    {
      if constexpr (requires { of.leaves(is_mutual); })
        return of.leaves(is_mutual);
      else
      {
        leaf_groups_view leaves = leaves_of(
            of.targets(), is_mutual ? of.half_interactions() : of.interactions(), of.has_one_set());
        leaves.target_order = of.target_order();
        leaves.source_order = of.source_order();
        if constexpr (requires { of.target_moves(); })
        {
          leaves.target_moves = of.target_moves();
          leaves.source_moves = of.source_moves();
        }
        return leaves;
      }
    }

    template <class T, class X, class Q, class Out>
    step_set<T> set_of(X const& x, Q const& q, Out const& out)
    {
      return {any_columns_of(x), any_columns_of(q), any_columns_of(out)};
    }
    template <class T>
    inline constexpr soa<T, run_time_columns> no_columns{};

    /// A step over n_leaves leaves, which have lists for both forms; 0: over a list of the caller's. x: points of one
    /// set, or of targets and of sources.
    template <class T, cpu_place Where, class K, columns_view Q, columns_view Out,
              columns_view... X>
    list_step<T> list_step_of(Where const& where, K const& k, near_field_options const& options,
                              index_type n_leaves, Q const& q, Out const& out, X const&... x)
    {
      form_case of = form_case_of(k, sizeof...(X) == 1);
      of.n_rhs = right_hand_sides(k, q, out, x...);
      of.points = out.size();
      of.leaves = n_leaves;
      of.real_bytes = sizeof(T);
      of.plans_groups = threads_of(where) != nullptr;
      pair_form const wanted = options.form == pair_form::automatic && n_leaves == 0
                                   ? pair_form::one_sided
                                   : options.form;
      bool const is_mutual =
          choose_form("near_field", wanted, backend::simd, of) == pair_form::mutual;
      auto const kernels = kernels_for<T>(k, backend_of(where));
      return {threads_of(where),
              is_mutual ? kernels.mutual : kernels.one_sided,
              value_at(k),
              detail::tests_for_zero<T>(k),
              of.n_rhs,
              is_mutual,
              options};
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// One set: out_i = sum_{j != i} K(x_i - x_j) q_j over the points j of all boxes that the box of i meets;
  /// += with options.accumulate. In the form mutual the list is a half list.
  ///
  /// Columns are in the order of the boxes. Deterministic: terms are added in the order of the list.
  /// Throws nearfield::error for views that differ in size, are null or overlap, if boxes, list and columns do not
  /// match, and for the form mutual if K has none, and over a list that is not half.
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out>
  void near_field(Where const& where, K const& k, boxes const& points, interaction_list const& list,
                  X const& x, Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    auto const set = detail::set_of<T>(x, q, out);
    detail::list_step_of<T>(where, k, options, 0, q, out, x)
        .run(detail::leaves_of(points, list, true), set, set);
  }

  /// Two sets: out_i = sum_j K(x_i - y_j) q_j over the sources j of all boxes that the box of target i meets;
  /// += with options.accumulate.
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Y, detail::columns_view Q, detail::columns_view Out>
  void near_field(Where const& where, K const& k, boxes const& targets,
                  interaction_list const& list, X const& x, Y const& y, Q const& q, Out const& out,
                  near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::list_step_of<T>(where, k, options, 0, q, out, x, y)
        .run(detail::leaves_of(targets, list, false),
             detail::set_of<T>(x, detail::no_columns<T const>, out),
             detail::set_of<T>(y, q, detail::no_columns<T>));
  }

  /// One set over leaves of your own, all or a part: near_field(simd, k, leaves.leaves(first, last), ...). Columns are
  /// those of all leaves, in their order. A part in the form mutual adds to its leaves and their neighbours of greater
  /// number: it needs options.accumulate and the calling thread, and parts that run at once must share none of both
  /// (colours, or tasks that depend on each other). In the other form, parts only write their own leaves.
  ///
  /// Throws nearfield::error for views that differ in size, are null or overlap, and for leaves of two sets.
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out>
  void near_field(Where const& where, K const& k, leaf_list::part const& leaves, X const& x,
                  Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_sets("near_field", leaves.list->has_one_set(), true);
    auto const set = detail::set_of<T>(x, q, out);
    detail::list_step_of<T>(where, k, options, 0, q, out, x).run(leaves, set, set);
  }

  /// Two sets over leaves of your own: targets x, sources y with inputs q. Throws nearfield::error for those of one set.
  template <detail::cpu_place Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Y, detail::columns_view Q, detail::columns_view Out>
  void near_field(Where const& where, K const& k, leaf_list::part const& leaves, X const& x,
                  Y const& y, Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_sets("near_field", leaves.list->has_one_set(), false);
    detail::list_step_of<T>(where, k, options, 0, q, out, x, y)
        .run(leaves, detail::set_of<T>(x, detail::no_columns<T const>, out),
             detail::set_of<T>(y, q, detail::no_columns<T>));
  }

  /// One set over a tree or a cell list: as above, with columns in the order of the arrays that it was made from. Throws
  /// nearfield::error for leaves of two sets, and if k.cutoff() exceeds the cutoff of the cells.
  template <detail::cpu_place Where, detail::called_interaction K, detail::has_leaves Leaves,
            detail::columns_view X, detail::columns_view Q, detail::columns_view Out>
  void near_field(Where const& where, K const& k, Leaves const& leaves, X const& x, Q const& q,
                  Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_sets("near_field", leaves.has_one_set(), true);
    detail::check_leaves(k, leaves);
    auto const step =
        detail::list_step_of<T>(where, k, options, leaves.targets().size(), q, out, x);
    auto const set = detail::set_of<T>(x, q, out);
    step.run_sorted(detail::leaves_of(leaves, step.is_mutual), set, set);
  }

  /// Two sets over the tree or the cell list of both: targets x, sources y with inputs q. Throws nearfield::error for
  /// leaves of one set.
  template <detail::cpu_place Where, detail::called_interaction K, detail::has_leaves Leaves,
            detail::columns_view X, detail::columns_view Y, detail::columns_view Q,
            detail::columns_view Out>
  void near_field(Where const& where, K const& k, Leaves const& leaves, X const& x, Y const& y,
                  Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_sets("near_field", leaves.has_one_set(), false);
    detail::check_leaves(k, leaves);
    detail::list_step_of<T>(where, k, options, leaves.targets().size(), q, out, x, y)
        .run_sorted(detail::leaves_of(leaves, false),
                    detail::set_of<T>(x, detail::no_columns<T const>, out),
                    detail::set_of<T>(y, q, detail::no_columns<T>));
  }
}

/// \cond
namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  // as the wrong calls in check.hpp
  template <detail::place Where, class K, class... LeavesAndViews>
    requires detail::wrong_views<3, LeavesAndViews...>
  void near_field(Where const&, K const&, LeavesAndViews const&...)
  {
    static_assert(detail::are_views<LeavesAndViews...>,
                  "give views: soa{x, y, z}, soa{q}, soa{out}");
    static_assert(detail::are_enough<3, LeavesAndViews...>, "near_field takes x, q and out");
  }
}
/// \endcond
