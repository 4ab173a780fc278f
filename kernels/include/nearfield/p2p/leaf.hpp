#pragma once

#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// Own leaves: p2p_leaf() and p2p_outer() with a range of leaves compute what one target leaf meets in one call, up to
/// 1.9 times as fast as a call for each neighbour if leaves are small. Leaves lie where your containers have them.
///
///     auto const view = [&](int l) { return nearfield::leaf{x_of(l), q_of(l), out_of(l)}; };
///     nearfield::p2p_leaf(nearfield::simd, k, view(l), neighbours_of(l), {}, view);

namespace nearfield
{
  namespace detail
  {
    /// The outputs of a leaf that only gives.
    struct no_outputs
    {};
  }

  /// A leaf of your own, as views of its columns: positions, inputs and, if it receives, outputs. The shift is added to
  /// its positions where it is a source: a periodic image.
  ///
  ///     nearfield::leaf{x, q}                        // a source
  ///     nearfield::leaf{x, q, out, {-length, 0, 0}}
  template <detail::columns_view X, detail::columns_view Q, class Out = detail::no_outputs>
  struct leaf
  {
    X x;                         ///< K::dim columns, then the parameters
    Q q;                         ///< n_in columns for each right-hand side
    Out out;                     ///< n_out columns for each right-hand side
    std::array<double, 3> shift; ///< length^1

    /// A source.
    leaf(X const& positions, Q const& inputs, std::array<double, 3> const& image = {})
      requires std::same_as<Out, detail::no_outputs>
        : x(positions), q(inputs), shift(image)
    {}
    /// A leaf that also receives.
    leaf(X const& positions, Q const& inputs, Out const& outputs,
         std::array<double, 3> const& image = {})
      requires detail::columns_view<Out>
        : x(positions), q(inputs), out(outputs), shift(image)
    {}
  };

  /// Options of p2p_leaf().
  struct leaf_options
  {
    /// one_sided: the leaf receives, from all its neighbours. mutual: neighbours receive too, with one evaluation of K
    /// per pair; give each pair of leaves once, at one of the two. automatic is one_sided.
    pair_form form = pair_form::one_sided;
    /// the pairs of the leaf itself, too
    bool inner = true;
    /// points of different leaves may coincide, for example because they have moved since they were sorted into leaves;
    /// those of a shifted leaf always may
    bool ranges_may_coincide = false;
  };

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    template <class L>
    inline constexpr bool is_leaf = false;
    template <class X, class Q, class Out>
    inline constexpr bool is_leaf<leaf<X, Q, Out>> = true;

    /// What view_of gives for an element of Sources.
    template <class Sources, class ViewOf>
    using leaf_seen = std::remove_cvref_t<
        std::invoke_result_t<ViewOf const&, decltype(*std::begin(std::declval<Sources&>()))>>;

    template <class View>
    inline constexpr int n_columns_of = View::n_columns;
    template <>
    inline constexpr int n_columns_of<no_outputs> = 0;

    /// The leaves that one target leaf meets, up to 32 in one call of a kernel. Each is a set of sources with its own
    /// shift, and small leaves share a panel. Leaves whose strides differ from those before begin another call.
    template <class T, class K, bool Mutual, class Targets, class Leaf>
    class met_leaves
    {
    public:
      /// Adding one more leaf runs the kernel first.
      static constexpr std::size_t most = 32;
      static constexpr bool has_strides = Targets::has_strides || is_strided<decltype(Leaf::x)> ||
                                          is_strided<decltype(Leaf::q)> ||
                                          (Mutual && is_strided<decltype(Leaf::out)>);

      met_leaves(p2p_function<T> kernel, K const& k, Targets const& targets, int n_rhs,
                 bool may_coincide)
          : kernel_(kernel), k_(k), targets_(targets), n_rhs_(n_rhs), may_coincide_(may_coincide)
      {}

      /// The pairs of the target leaf itself.
      void add_own()
      {
        own_ = {0, static_cast<index_type>(targets_.x.size()), next_set(targets_)};
        has_own_ = true;
      }

      template <class Source>
      void add(Source const& leaf)
      {
        std::uint16_t const set = next_set(leaf);
        bool const is_shifted = leaf.shift != std::array<double, 3>{};
        std::construct_at(ranges_ + n_ranges_++,
                          source_range{0, static_cast<index_type>(leaf.x.size()), set,
                                       static_cast<std::uint16_t>(is_shifted ? count_ : 0)});
        shifts_[count_] = leaf.shift;
        shifted_ = shifted_ || is_shifted;
      }

      /// Runs the kernel over the leaves added since the last run.
      void run()
      {
        if (count_ == 0) return;
        index_type const offsets[] = {0, static_cast<index_type>(targets_.x.size())};
        // two leaves of a few points are a small box, which needs no panel
        bool const few = n_ranges_ == 1 && !has_own_ && !shifted_ &&
                         offsets[1] <= small_box_points && ranges_[0].end <= small_box_points;
        index_type const range_offsets[] = {0, static_cast<index_type>(few ? 0 : n_ranges_)};
        p2p_job<T> job;
        job.box_offsets = offsets;
        job.own = few ? ranges_ : &own_;
        job.own_is_self = has_own_;
        job.range_offsets = range_offsets;
        job.ranges = ranges_;
        job.shifts = shifts_;
        job.last_box = 1;
        job.tests_for_zero = tests_for_zero<T>(k_);
        job.ranges_may_coincide = may_coincide_ || shifted_;
        job.n_rhs = n_rhs_;
        job.target_x = pointers_of(targets_.x).data();
        job.target_q = pointers_of(targets_.q).data();
        job.target_out = pointers_of(targets_.out).data();
        job.source_x = std::data(x_);
        job.source_q = std::data(q_);
        job.source_out = std::data(out_);
        p2p_strides strides;
        if constexpr (has_strides)
        {
          strides = {stride_of(targets_.x), stride_of(targets_.q), stride_of(targets_.out),
                     strides_[0],           strides_[1],           strides_[2]};
          job.strides = &strides;
        }
        kernel_(value_at(k_), job);
        count_ = n_ranges_ = 0;
        own_ = {};
        has_own_ = shifted_ = false;
      }

    private:
      static constexpr int n_q = n_columns_of<decltype(Leaf::q)>,
                           n_out = Mutual ? n_columns_of<decltype(Leaf::out)> : 0;
      /// The columns of all sets. Their number may be known at run time only.
      template <class P, int N>
      using column_pointers =
          std::conditional_t<N == run_time_columns, std::vector<P>, P[most * (N > 0 ? N : 1)]>;

      /// Appends the columns of a set, and returns its number.
      template <class Source>
      std::uint16_t next_set(Source const& source)
      {
        bool is_other = count_ == most;
        if constexpr (has_strides)
        {
          std::array<std::ptrdiff_t, 3> strides{stride_of(source.x), stride_of(source.q), 1};
          if constexpr (Mutual) strides[2] = stride_of(source.out);
          is_other = is_other || (count_ > 0 && strides != strides_);
          if (is_other) run();
          strides_ = strides;
        }
        else if (is_other)
          run();
        put(x_, source.x);
        put(q_, source.q);
        if constexpr (Mutual) put(out_, source.out);
        return count_++;
      }

      template <class Columns, class View>
      void put(Columns& columns, View const& view)
      {
        auto const width = static_cast<std::size_t>(width_of(view));
        if constexpr (View::n_columns == run_time_columns) columns.resize(most * width);
        std::copy_n(pointers_of(view).data(), width, std::data(columns) + count_ * width);
      }

      p2p_function<T> const kernel_;
      K const& k_;
      Targets const targets_;
      int const n_rhs_;
      bool const may_coincide_;
      column_pointers<T const*, n_columns_of<decltype(Leaf::x)>> x_;
      column_pointers<T const*, n_q> q_;
      column_pointers<T*, n_out> out_;
      std::array<std::ptrdiff_t, 3> strides_;
      source_range own_;
      // in a union, since to give all of them initial values takes a small leaf's time
      union {
        source_range ranges_[most];
      };
      std::array<double, 3> shifts_[most + 1];
      std::uint16_t count_ = 0, n_ranges_ = 0;
      bool has_own_ = false, shifted_ = false;
    };

    /// The targets meet n leaves, from *first on, all of which are checked before any output is written.
    template <class Met, class Iterator, class ViewOf, class Check>
    void meet_leaves(Met& met, bool with_own, Iterator const first, std::size_t const n,
                     ViewOf const& view_of, Check const& check)
    {
      bool const is_one_call = !Met::has_strides && n + with_own <= Met::most;
      if (!is_one_call)
      {
        Iterator at = first;
        for (std::size_t i = 0; i < n; ++i, ++at) check(view_of(*at), i);
      }
      if (with_own) met.add_own();
      Iterator at = first;
      for (std::size_t i = 0; i < n; ++i, ++at)
      {
        auto const& leaf = view_of(*at);
        if (is_one_call) check(leaf, i);
        if (leaf.x.size() != 0) met.add(leaf);
      }
      met.run();
    }

    /// Checks a source leaf against the target leaf. Its columns are checked against each other when it is the target.
    template <bool Mutual, class K, class Targets, class Leaf>
    [[gnu::always_inline]] inline void check_source_leaf(char const* function, K const& k,
                                                         Targets const& targets, Leaf const& leaf)
    {
      check_view(function, "x", leaf.x, leaf.x.size());
      check_view(function, "q", leaf.q, leaf.x.size());
      check_box_size(0, leaf.x.size());
      right_hand_sides(k, leaf.q, targets.out, targets.x, leaf.x);
      check_apart(function, targets.out, "x", leaf.x);
      check_apart(function, targets.out, "q", leaf.q);
      if constexpr (Mutual)
      {
        check_view(function, "out", leaf.out, leaf.x.size());
        right_hand_sides(k, targets.q, leaf.out);
        check_apart(function, leaf.out, "the target leaf's x", targets.x);
        check_apart(function, leaf.out, "the target leaf's q", targets.q);
        bool const is_image = leaf.shift != std::array<double, 3>{} &&
                              pointers_of(leaf.out)[0] == pointers_of(targets.out)[0];
        if (!is_image) check_apart(function, targets.out, "out", leaf.out);
      }
    }

    /// The targets meet all sources, in one form.
    template <bool Mutual, cpu_backend Where, class K, class Targets, class Sources, class ViewOf>
    void meet_range(char const* function, Where const& where, K const& k, Targets const& targets,
                    bool with_own, bool may_coincide, Sources& sources, ViewOf const& view_of)
    {
      using Leaf = leaf_seen<Sources, ViewOf>;
      using T = real_of_call<K, std::remove_cvref_t<decltype(targets.out)>, decltype(Leaf::q),
                             std::remove_cvref_t<decltype(targets.x)>, decltype(Leaf::x)>;
      p2p_kernels<T> const kernels = kernels_for<T>(k, where);
      check_box_size(targets.x.size(), 0);
      met_leaves<T, K, Mutual, Targets, Leaf> met(
          Mutual ? kernels.mutual : kernels.one_sided, k, targets,
          width_of(targets.out) / shape_of(k).n_out, may_coincide);
      auto const check = [&](Leaf const& leaf, std::size_t i)
      {
        try
        {
          check_source_leaf<Mutual>(function, k, targets, leaf);
        }
        catch (error const& e)
        {
          throw error(std::string(e.what()) + " (source leaf " + std::to_string(i) + ")");
        }
      };
      auto const first = std::begin(sources);
      auto const n = static_cast<std::size_t>(std::distance(first, std::end(sources)));
      meet_leaves(met, with_own, first, n, view_of, check);
    }
  }
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// The leaf and its neighbours, which are nearfield::leaf or what view_of makes of an index or a pointer:
  /// out_i += sum_{j != i} K(x_i - x_j) q_j over the points j of the leaf, if options.inner, and
  /// out_i += sum_j K(x_i - (y_j + shift)) q_j over those of all neighbours; in the form mutual these receive too,
  /// out_j += sum_i K(y_j + shift - x_i) q_i.
  ///
  /// All leaves are checked before an output is written: those of the leaf as by p2p_inner, those of each neighbour
  /// against those of the leaf. The same leaf may be listed again, with another shift, and the leaf itself with one.
  /// Calls that share no leaf that receives may run at once.
  template <detail::cpu_backend Where, detail::called_interaction K, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out, class Neighbours,
            class ViewOf = std::identity>
  void p2p_leaf(Where const& where, K const& k, leaf<X, Q, Out> const& target,
                Neighbours&& neighbours, leaf_options const& options = {},
                ViewOf const& view_of = {})
  {
    constexpr auto function = "p2p_leaf";
    using neighbour = detail::leaf_seen<Neighbours, ViewOf>;
    static_assert(detail::is_leaf<neighbour>,
                  "give a range of nearfield::leaf, or a function that makes one of an element");
    detail::check_one_set(function, target.x, target.q, target.out);
    detail::right_hand_sides(k, target.q, target.out, target.x);
    detail::set_views const views{target.x, target.q, target.out};
    auto const meet = [&]<bool Mutual>(std::bool_constant<Mutual>)
    {
      detail::meet_range<Mutual>(function, where, k, views, options.inner,
                                 options.ranges_may_coincide, neighbours, view_of);
    };
    if (options.form == pair_form::mutual)
    {
      detail::choose_form(function, options.form, backend::simd, detail::form_case_of(k, true));
      if constexpr (detail::mutual_interaction<K>)
      {
        if constexpr (detail::columns_view<decltype(neighbour::out)>)
          return meet(std::true_type());
        else
          throw error(
              "p2p_leaf: form mutual, but the neighbours have no outputs; give leaf{x, q, out}");
      }
    }
    meet(std::false_type());
  }

  /// out_i += sum_j K(x_i - (y_j + shift)) q_j over the points j of all sources: nearfield::leaf, or what view_of
  /// makes of an element: targets and sources of one set or of two. Points at the same place count as in the other
  /// p2p_outer.
  template <detail::cpu_backend Where, detail::called_interaction K, detail::columns_view X,
            class Sources, detail::columns_view Out, class ViewOf = std::identity>
    requires(!detail::columns_view<std::remove_cvref_t<Sources>>)
  void p2p_outer(Where const& where, K const& k, X const& x, Sources&& sources, Out const& out,
                 ViewOf const& view_of = {})
  {
    constexpr auto function = "p2p_outer";
    using source = detail::leaf_seen<Sources, ViewOf>;
    static_assert(detail::is_leaf<source>,
                  "give a range of nearfield::leaf, or a function that makes one of an element");
    detail::check_view(function, "x", x, x.size());
    detail::check_view(function, "out", out, x.size());
    detail::check_apart(function, out, "x", x);
    detail::check_columns_apart(function, out);
    decltype(source::q) const none{};
    detail::meet_range<false>(function, where, k, detail::set_views{x, none, out}, false, true,
                              sources, view_of);
  }
}
