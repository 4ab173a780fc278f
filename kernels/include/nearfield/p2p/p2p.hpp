#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/tuning.hpp>
#include <nearfield/p2p/wrong_calls.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// \file
/// P2P on arrays: the interaction of all points of one set, or of two. The arguments are where to run, what
/// to compute, inputs, outputs: x before q before out, and of each the targets' before the sources'. Every
/// function *adds* to its outputs.
///
/// Shapes: for n points, x has K::dim columns of n values, q has n_in and out has n_out. The units are the caller's
/// (docs/conventions.md). The cost is one evaluation of K for each directed pair, or for two of them in a mutual form.
///
/// x, q and out are views of columns: soa, or strided for values that lie apart, such as an array x0 y0 z0 x1 ...
/// (interleaved()) or columns of a matrix (matrix_columns()), also beside each other in one call. Nothing is allocated
/// for strided ones: kernels copy a few hundred points at a time, as they do anyway. Results are, to the bit, those of
/// the same values in columns.
///
///     nearfield::p2p_inner(nearfield::simd, k, nearfield::interleaved<3>(xyz), nearfield::soa{q},
///                          nearfield::interleaved<3>(forces));
///
/// Outputs may interleave with inputs and with each other. Two columns with the same stride count as overlapping if
/// they share a value; with different strides also if longer columns would share one.
///
/// On `simd.with(threads)` threads share a large box: one-sided sums keep the bits of one thread, and mutual ones are
/// the same for any number of threads.
///
/// Own leaves: p2p_leaf() and p2p_outer() with a range of leaves compute what one target leaf meets in one call, up to
/// 1.9 times as fast as a call for each neighbour if leaves are small. Leaves lie where your containers have them.
///
///     auto const view = [&](int l) { return nearfield::leaf{x_of(l), q_of(l), out_of(l)}; };
///     nearfield::p2p_leaf(nearfield::simd, k, view(l), neighbours_of(l), {}, view);
///
/// Several right-hand sides: q may have k * n_in columns and the outputs k * n_out, those of the first right-hand
/// side first. They share the evaluations of K(r), and their sums equal those of single calls within rounding.
///
/// A pair at distance zero contributes zero for a singular interaction (is_singular) and counts for a regular
/// one; p2p_inner leaves out i = j in either case. Inputs must be finite; docs/conventions.md gives the range
/// of |r| in which results hold for each interaction. The sums must stay finite when multiplied by 2^12 (a
/// loop may leave a factor of 16 in the root). All functions are re-entrant. They throw nearfield::error for
/// views that differ in size or are null, outputs that overlap other columns, 2^31 - 1024 points or more in a set, and
/// an instruction set that is not available.

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
  template <columns_view X, columns_view Q, class Out = detail::no_outputs>
  struct leaf
  {
    X x;                         ///< K::dim columns
    Q q;                         ///< n_in columns for each right-hand side
    Out out;                     ///< n_out columns for each right-hand side
    std::array<double, 3> shift; ///< length^1

    /// A source.
    leaf(X const& positions, Q const& inputs,
         std::array<double, 3> const& image = {}) requires std::same_as<Out, detail::no_outputs>
        : x(positions), q(inputs), shift(image)
    {}
    /// A leaf that also receives.
    leaf(X const& positions, Q const& inputs, Out const& outputs,
         std::array<double, 3> const& image = {}) requires columns_view<Out>
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

  namespace detail
  {
    /// The columns of the job of one box, those of all right-hand sides, and the form of its kernel.
    struct box_shape
    {
      int dim, n_in, n_out;
      bool is_mutual;
    };

    /// Runs a kernel over the job of one box on threads.
    template <class T>
    NEARFIELD_API void run_box(executor& on, p2p_function<T> kernel, void const* k,
                               p2p_job<T> const& job, box_shape const& shape);
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// One box without neighbours.
    template <class T, class K>
    struct single_box
    {
      index_type offsets[2];
      source_range own;
      index_type no_ranges[2] = {0, 0};
      source_range no_range;

      single_box(std::size_t targets, std::size_t sources)
          : offsets{0, static_cast<index_type>(targets)}, own{.end =
                                                                  static_cast<index_type>(sources)}
      {
        check_box_size(targets, sources);
      }

      p2p_job<T> job(K const& k) const
      {
        p2p_job<T> job;
        job.box_offsets = offsets;
        job.own = &own;
        job.range_offsets = no_ranges;
        job.ranges = &no_range;
        job.last_box = 1;
        job.tests_for_zero = tests_for_zero<T>(k);
        return job;
      }
    };

    /// The views of one set; that of what it does not give or receive is empty. References, since to copy pointers
    /// that the caller has just stored takes a small box's time.
    template <class X, class Q, class Out>
    struct set_views
    {
      static constexpr bool has_strides = is_strided<X> || is_strided<Q> || is_strided<Out>;
      X const& x;
      Q const& q;
      Out const& out;
    };
    template <class X, class Q, class Out>
    set_views(X const&, Q const&, Out const&) -> set_views<X, Q, Out>;

    /// Throws nearfield::error unless both directions have as many right-hand sides.
    template <class K, class Targets, class Sources>
    void check_both_ways(char const* function, Targets const& targets, Sources const& sources)
    {
      int const there = right_hand_sides<K>(sources.q, targets.out);
      int const back = right_hand_sides<K>(targets.q, sources.out);
      if (there != back)
        throw error(std::string(function) + ": found " + std::to_string(there) +
                    " right-hand sides in y_q and " + std::to_string(back) +
                    " in x_q; give both sides the same number");
    }

    /// Runs a kernel over a job of two sets. The job is not copied: to load what has just been stored in parts takes a
    /// small box's time.
    template <cpu_place Where, class K, class T, class Targets, class Sources>
    void run_right_hand_sides(Where const& where, p2p_function<T> kernel, K const& k,
                              p2p_job<T>&& job, Targets const& targets, Sources const& sources)
    {
      job.n_rhs = right_hand_sides<K>(sources.q, targets.out);
      job.target_x = pointers_of(targets.x).data();
      job.source_x = pointers_of(sources.x).data();
      job.target_q = pointers_of(targets.q).data();
      job.source_q = pointers_of(sources.q).data();
      job.target_out = pointers_of(targets.out).data();
      job.source_out = pointers_of(sources.out).data();
      p2p_strides const strides{stride_of(targets.x), stride_of(targets.q), stride_of(targets.out),
                                stride_of(sources.x), stride_of(sources.q), stride_of(sources.out)};
      if constexpr (Targets::has_strides || Sources::has_strides) job.strides = &strides;
      if constexpr (cpu_backend<Where>)
        kernel(&k, job);
      else
        run_box(*where.threads, kernel, &k, job,
                {K::dim, job.n_rhs * K::n_in, job.n_rhs * K::n_out,
                 kernel != kernels_of<T, K>(where.where).one_sided});
    }

    /// The same over a job of one set.
    template <cpu_place Where, class K, class T, class Points>
    void run_right_hand_sides(Where const& where, p2p_function<T> kernel, K const& k,
                              p2p_job<T>&& job, Points const& points)
    {
      job.own_is_self = true;
      run_right_hand_sides(where, kernel, k, std::move(job), points, points);
    }

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
        ranges_[n_ranges_++] = {0, static_cast<index_type>(leaf.x.size()), set,
                                static_cast<std::uint16_t>(is_shifted ? count_ : 0)};
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
        kernel_(&k_, job);
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
      column_pointers<T const*, K::dim> x_;
      column_pointers<T const*, n_q> q_;
      column_pointers<T*, n_out> out_;
      std::array<std::ptrdiff_t, 3> strides_;
      source_range ranges_[most], own_;
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
    template <class K, bool Mutual, class Targets, class Leaf>
    [[gnu::always_inline]] inline void check_source_leaf(char const* function,
                                                         Targets const& targets, Leaf const& leaf)
    {
      check_view(function, "x", leaf.x, leaf.x.size());
      check_view(function, "q", leaf.q, leaf.x.size());
      check_box_size(0, leaf.x.size());
      right_hand_sides<K>(leaf.q, targets.out);
      check_apart(function, targets.out, "x", leaf.x);
      check_apart(function, targets.out, "q", leaf.q);
      if constexpr (Mutual)
      {
        check_view(function, "out", leaf.out, leaf.x.size());
        right_hand_sides<K>(targets.q, leaf.out);
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
      p2p_kernels<T> const kernels = kernels_of<T, K>(where);
      check_box_size(targets.x.size(), 0);
      met_leaves<T, K, Mutual, Targets, Leaf> met(Mutual ? kernels.mutual : kernels.one_sided, k,
                                                  targets, width_of(targets.out) / K::n_out,
                                                  may_coincide);
      auto const check = [&](Leaf const& leaf, std::size_t i)
      {
        try
        {
          check_source_leaf<K, Mutual>(function, targets, leaf);
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
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <cpu_place Where, interaction K, columns_view X, columns_view Q, columns_view Out>
  void p2p_inner(Where const& where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("p2p_inner", x, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(detail::backend_of(where));
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::set_views const points{x, q, out};
    detail::run_right_hand_sides(where, kernels.one_sided, k, box.job(k), points);
  }

  /// As p2p_inner, with one evaluation per pair: about twice as fast, in another order of summation.
  template <cpu_place Where, interaction K, columns_view X, columns_view Q, columns_view Out>
  requires detail::has_way_back<K>
  void p2p_inner_mutual(Where const& where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(detail::backend_of(where));
    detail::single_box<T, K> const box(x.size(), x.size());
    detail::set_views const points{x, q, out};
    detail::run_right_hand_sides(where, kernels.mutual, k, box.job(k), points);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <cpu_place Where, interaction K, columns_view X, columns_view Y, columns_view Q,
            columns_view Out>
  void p2p_outer(Where const& where, K const& k, X const& x, Y const& y, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_two_sets("p2p_outer", x, y, q, out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(detail::backend_of(where));
    detail::single_box<T, K> const box(x.size(), y.size());
    detail::set_views const targets{x, Q{}, out};
    detail::set_views const sources{y, q, Out{}};
    detail::run_right_hand_sides(where, kernels.one_sided, k, box.job(k), targets, sources);
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i
  template <cpu_place Where, interaction K, columns_view X, columns_view Y, columns_view XQ,
            columns_view YQ, columns_view XOut, columns_view YOut>
  requires detail::has_way_back<K>
  void p2p_outer_mutual(Where const& where, K const& k, X const& x, Y const& y, XQ const& x_q,
                        YQ const& y_q, XOut const& x_out, YOut const& y_out)
  {
    using T = detail::real_of_call<K, XOut, YQ, X, Y>;
    static_assert(std::is_same_v<T, detail::real_of_call<K, YOut, XQ>>,
                  "both sides must be views of one type, float or double");
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    p2p_kernels<T> const kernels = kernels_of<T, K>(detail::backend_of(where));
    detail::single_box<T, K> const box(x.size(), y.size());
    detail::set_views const targets{x, x_q, x_out};
    detail::set_views const sources{y, y_q, y_out};
    detail::check_both_ways<K>("p2p_outer_mutual", targets, sources);
    detail::run_right_hand_sides(where, kernels.mutual, k, box.job(k), targets, sources);
  }

  /// The leaf and its neighbours, which are nearfield::leaf or what view_of makes of an index or a pointer:
  /// out_i += sum_{j != i} K(x_i - x_j) q_j over the points j of the leaf, if options.inner, and
  /// out_i += sum_j K(x_i - (y_j + shift)) q_j over those of all neighbours; in the form mutual these receive too,
  /// out_j += sum_i K(y_j + shift - x_i) q_i.
  ///
  /// All leaves are checked before an output is written: those of the leaf as by p2p_inner, those of each neighbour
  /// against those of the leaf. The same leaf may be listed again, with another shift, and the leaf itself with one.
  /// Calls that share no leaf that receives may run at once.
  template <cpu_backend Where, interaction K, columns_view X, columns_view Q, columns_view Out,
            class Neighbours, class ViewOf = std::identity>
  void p2p_leaf(Where const& where, K const& k, leaf<X, Q, Out> const& target,
                Neighbours&& neighbours, leaf_options const& options = {},
                ViewOf const& view_of = {})
  {
    constexpr auto function = "p2p_leaf";
    using neighbour = detail::leaf_seen<Neighbours, ViewOf>;
    static_assert(detail::is_leaf<neighbour>,
                  "give a range of nearfield::leaf, or a function that makes one of an element");
    detail::check_one_set(function, target.x, target.q, target.out);
    detail::right_hand_sides<K>(target.q, target.out);
    detail::set_views const views{target.x, target.q, target.out};
    auto const meet = [&]<bool Mutual>(std::bool_constant<Mutual>)
    {
      detail::meet_range<Mutual>(function, where, k, views, options.inner,
                                 options.ranges_may_coincide, neighbours, view_of);
    };
    if (options.form == pair_form::mutual)
    {
      detail::choose_form(function, options.form, backend::simd, detail::form_case_of<K>(true));
      if constexpr (detail::has_way_back<K>)
      {
        if constexpr (columns_view<decltype(neighbour::out)>)
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
  template <cpu_backend Where, interaction K, columns_view X, class Sources, columns_view Out,
            class ViewOf = std::identity>
  requires(!columns_view<std::remove_cvref_t<Sources>>) void p2p_outer(Where const& where,
                                                                       K const& k, X const& x,
                                                                       Sources&& sources,
                                                                       Out const& out,
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
