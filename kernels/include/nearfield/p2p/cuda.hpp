#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/cuda_job.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/pair_cost.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

/// \file
/// P2P on a GPU: p2p_inner, p2p_outer and near_field with `cuda` as the first argument, over views of memory
/// of the current device. Sums, signs and several right-hand sides are as in <nearfield/p2p/p2p.hpp> and
/// <nearfield/p2p/near_field.hpp>.
///
///     nearfield::p2p_inner(nearfield::cuda, nearfield::one_over_r<>{}, x, q, phi);
///
/// A call returns once the work is in the stream; synchronize(where.stream) waits for it. It throws
/// nearfield::error for views that differ in size, are null or overlap, for 2^31 - 1024 points or more in a set given
/// to p2p_..., if nearfield was built without CUDA, and if CUDA refuses the launch. CUDA reports the failure of a
/// running kernel at the next synchronisation.
///
/// The one-sided functions are deterministic. The mutual ones evaluate each pair once and add with atomics,
/// in no fixed order: their results repeat to within rounding.
///
/// NEARFIELD_CUDA_KERNELS in a .cu file compiles a user-defined interaction for `cuda`
/// (<nearfield/p2p/cuda.cuh>).

namespace nearfield
{
  /// Boxes and their interaction list in the memory of the current device, cut into work items for steps of one form;
  /// pair_form::automatic means one_sided here. From host memory it copies what it needs in the order of the stream,
  /// which must outlive it, and waits. Any number of steps may use it, on any stream. Those on other streams must be
  /// done before it is destroyed.
  class NEARFIELD_API cuda_list
  {
  public:
    /// Over a list or, in the form mutual, a half list of one set. n_sources is the size of the set that the ranges of
    /// the list index. Throws nearfield::error if boxes and list do not match, for the form mutual without a half list
    /// of one set, and if the device has too little memory.
    cuda_list(cuda_backend where, boxes const& targets, interaction_list const& list,
              std::size_t n_sources, pair_form form = pair_form::one_sided);

    /// Over a tree in device memory, which must outlive it and not be rebuilt. The items are made on the device, in the
    /// order of the stream, which is that of the steps too: the host waits for nothing. Throws nearfield::error for the
    /// form mutual with two sets.
    template <has_device_leaves Leaves>
    cuda_list(cuda_backend where, Leaves const& leaves, pair_form form = pair_form::one_sided)
        : cuda_list(where, leaves.on_device(), form == pair_form::mutual)
    {}

    /// The number of targets.
    [[nodiscard]] std::size_t n_targets() const { return n_targets_; }
    /// The number of sources.
    [[nodiscard]] std::size_t n_sources() const { return n_sources_; }
    /// Whether the own range of each box is the box itself, as in the list of one set.
    [[nodiscard]] bool is_of_one_set() const { return is_of_one_set_; }
    /// Whether it was made from a half list, for mutual steps.
    [[nodiscard]] bool is_mutual() const { return is_mutual_; }

    /// Sets the members of a job that describe the list.
    template <class T>
    void describe_to(cuda_job<T>& job) const
    {
      static_cast<list_view&>(job) = view_;
      static_cast<cuda_item_counts&>(job) = counts_;
      job.items = items_.data();
      job.item_counts = device_counts_.data();
    }

  private:
    cuda_list(cuda_stream stream, boxes const& targets, interaction_list const& list,
              std::size_t n_sources, cuda_items const& items, bool is_mutual);
    cuda_list(cuda_backend where, device_leaves const& leaves, bool is_mutual);

    std::size_t n_targets_, n_sources_;
    bool is_of_one_set_ = true, is_mutual_ = false;
    // copies of a list in host memory
    device_array<index_type> box_offsets_, range_offsets_;
    device_array<source_range> own_, ranges_;
    device_array<std::array<double, 3>> shifts_;
    list_view view_;
    device_array<cuda_item> items_;
    cuda_item_counts counts_;
    device_array<cuda_item_counts> device_counts_; ///< of items made on the device
  };

  /// The compiled CUDA kernels of an interaction. Throws nearfield::error if nearfield was built without CUDA.
  template <kernel_real T, interaction K>
  cuda_kernels<T> cuda_kernels_of()
  {
    if constexpr (builtin_interaction<K>)
      return detail::builtin_cuda_kernels<T>(builtin_interactions::index_of<K>());
    else
    {
#ifdef NEARFIELD_HAS_CUDA // the target nearfield::cuda defines it
      return detail::own_cuda_kernels<K, T>();
#else
      return detail::builtin_cuda_kernels<T>(0); // throws
#endif
    }
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    template <class T, int Dim, int NQ, int NOut>
    using side = set_views<soa<T const, Dim>, soa<T const, NQ>, soa<T, NOut>>;

    template <class T, class K>
    cuda_job<T> cuda_job_of(cuda_backend where, K const& k)
    {
      cuda_job<T> job;
      job.singular = is_singular<T>(k);
      job.stream = where.stream;
      return job;
    }

    /// Launches a kernel for all right-hand sides.
    template <class K, class T, int NQ, int NOut>
    void launch(char const* function, cuda_function<T> kernel, K const& k, cuda_job<T> job,
                side<T, K::dim, NQ, NOut> const& targets, side<T, K::dim, NQ, NOut> const& sources)
    {
      job.n_rhs = right_hand_sides<K>(sources.q, targets.out);
      if (targets.x.size() == 0 || sources.x.size() == 0) return;
      job.target_x = targets.x.data();
      job.source_x = sources.x.data();
      job.target_q = targets.q.data();
      job.source_q = sources.q.data();
      job.target_out = targets.out.data();
      // with one set, all outputs are those of the targets
      if (sources.out.size() > 0 && !job.own_is_self) job.halo_out = sources.out.data();
      check_cuda(kernel(&k, job), function);
    }

    /// One box with itself, or with another box.
    template <class K, class T, int NQ, int NOut>
    void launch_box(char const* function, cuda_backend where, cuda_function<T> kernel, K const& k,
                    side<T, K::dim, NQ, NOut> const& targets,
                    side<T, K::dim, NQ, NOut> const& sources)
    {
      check_box_size(targets.x.size(), sources.x.size());
      auto job = cuda_job_of<T>(where, k);
      job.own_is_self = &targets == &sources;
      job.n_targets = static_cast<index_type>(targets.x.size());
      job.n_sources = static_cast<index_type>(sources.x.size());
      launch(function, kernel, k, job, targets, sources);
    }

    /// The boxes of a list. If there is one set, it is passed as targets and as sources.
    template <class K, class T, int NQ, int NOut>
    void launch_list(cuda_backend where, K const& k, cuda_list const& list,
                     near_field_options const& options, side<T, K::dim, NQ, NOut> const& targets,
                     side<T, K::dim, NQ, NOut> const& sources)
    {
      right_hand_sides<K>(sources.q, targets.out); // may throw: before anything is written
      auto job = cuda_job_of<T>(where, k);
      list.describe_to(job);
      job.own_is_self = &targets == &sources;
      job.ranges_may_coincide = options.ranges_may_coincide;
      if (!options.accumulate)
        for (int c = 0; c < width_of(targets.out); ++c)
          device_clear(targets.out[c], targets.out.size() * sizeof(T), where.stream);
      auto const kernels = cuda_kernels_of<T, K>();
      launch("near_field", list.is_mutual() ? kernels.mutual : kernels.one_sided, k, job, targets,
             sources);
    }

    /// Columns in the order of a tree, for the time of a step.
    template <class T>
    class sorted_columns
    {
    public:
      /// Not initialised.
      sorted_columns(cuda_stream stream, std::span<index_type const> order, int width)
          : order_(order), memory_(width * pitch(), stream, "near_field: sorted columns")
      {
        for (int c = 0; c < width; ++c) columns_.push_back(memory_.data() + c * pitch());
      }
      template <class View>
      sorted_columns(cuda_stream stream, std::span<index_type const> order, View const& from)
          : sorted_columns(stream, order, width_of(from))
      {
        device_gather<T>(stream, order.data(), order.size(), from.data(), columns_.data(),
                         width_of(from));
      }

      template <int N>
      [[nodiscard]] soa<T, N> view()
      {
        if constexpr (N == run_time_columns)
          return {columns_, order_.size()};
        else
        {
          std::array<T*, N> columns;
          std::ranges::copy(columns_, columns.begin());
          return {columns, order_.size()};
        }
      }
      template <class View>
      void scatter_to(View const& to, bool accumulate)
      {
        device_scatter<T>(memory_.stream(), order_.data(), order_.size(), columns_.data(),
                          to.data(), width_of(to), accumulate);
      }

    private:
      /// from one column to the next: aligned
      [[nodiscard]] std::size_t pitch() const { return (order_.size() + 63) / 64 * 64; }

      std::span<index_type const> order_;
      device_array<T> memory_;
      std::vector<T*> columns_;
    };

    /// Throws nearfield::error unless a step on this stream may run over these leaves.
    inline void check_leaves(cuda_backend where, device_leaves const& leaves, bool one_set,
                             std::size_t n_targets, std::size_t n_sources)
    {
      if (leaves.one_set != one_set)
        throw error(std::string("near_field: the tree has ") +
                    (leaves.one_set ? "one set" : "two sets") + " of points, the step is given " +
                    (one_set ? "one set" : "two sets"));
      if (leaves.target_order.size() != n_targets || leaves.source_order.size() != n_sources)
        throw error("near_field: the tree has " + std::to_string(leaves.target_order.size()) +
                    " targets and " + std::to_string(leaves.source_order.size()) +
                    " sources, found " + std::to_string(n_targets) + " and " +
                    std::to_string(n_sources) + "; give the points that it was built from");
      if (where.stream != leaves.stream)
        throw error(
            "near_field: the tree was built on another stream; give cuda_backend{tree.stream()}");
    }

    /// The sources of a step over a tree, and its outputs, in the order of the tree.
    template <class T, int Dim, int NQ, int NOut>
    class sorted_set
    {
    public:
      template <class X, class Q, class Out>
      sorted_set(device_leaves const& leaves, X const& x, Q const& q, Out const& out)
          : x_(leaves.stream, leaves.source_order, x), q_(leaves.stream, leaves.source_order, q),
            out_(leaves.stream, leaves.target_order, width_of(out))
      {}
      [[nodiscard]] soa<T, Dim> x() { return x_.template view<Dim>(); }
      [[nodiscard]] soa<T, NQ> q() { return q_.template view<NQ>(); }
      [[nodiscard]] soa<T, NOut> out() { return out_.template view<NOut>(); }
      template <class Out>
      void deliver(Out const& out, bool accumulate)
      {
        out_.scatter_to(out, accumulate);
      }

    private:
      sorted_columns<T> x_, q_, out_;
    };

    /// Throws nearfield::error unless a step in this form may run over the list.
    template <class K>
    void check_cuda_list(cuda_list const& list, pair_form form, bool one_set, std::size_t n_targets,
                         std::size_t n_sources)
    {
      pair_form const made_for = list.is_mutual() ? pair_form::mutual : pair_form::one_sided;
      if (form == pair_form::automatic) form = made_for;
      choose_form("near_field", form, backend::cuda, form_case_of<K>(one_set));
      if (form != made_for)
        throw error(std::string("near_field: the list is for the form ") +
                    (list.is_mutual() ? "mutual" : "one_sided") +
                    "; give that form, or automatic, or another list");
      if (one_set && !list.is_of_one_set())
        throw error("near_field: the list is for two sets; give the list of one set, or two sets "
                    "of points");
      if (list.n_targets() != n_targets || list.n_sources() != n_sources)
        throw error("near_field: the list is for " + std::to_string(list.n_targets()) +
                    " targets and " + std::to_string(list.n_sources()) + " sources, found " +
                    std::to_string(n_targets) + " and " + std::to_string(n_sources) +
                    "; give the points of the same tree, in its order");
      if (list.is_mutual() && n_targets >= std::size_t(1) << 31)
        throw error("near_field: x has " + std::to_string(n_targets) +
                    " points; give form one_sided, or fewer than 2^31 points");
    }
  }
}

namespace nearfield::detail
{
  /// The cost on the current device of a compiled kernel: one_sided or mutual, as the subject says. Throws
  /// nearfield::error if there is no device, or if nearfield was built without CUDA.
  template <class T>
  NEARFIELD_API pair_cost cost_on_gpu(cuda_backend where, cuda_function<T> kernel,
                                      cost_subject subject, bool singular);
  /// That of steps with n_out outputs that choose their form by the size of leaves, as cuda_mutual_pays() does.
  NEARFIELD_API pair_cost cost_of_faster_form(pair_cost const& one_sided, pair_cost const& mutual,
                                              int n_out);
}

namespace nearfield::inline NEARFIELD_ISA_NAMESPACE
{
  /// out_i += sum_{j != i} K(x_i - x_j) q_j
  template <interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  void p2p_inner(cuda_backend where, K const& k, soa<X, K::dim> const& x, soa<Q, NQ> const& q,
                 soa<T, NOut> const& out)
  {
    detail::check_one_set("p2p_inner", x, q, out);
    detail::side<T, K::dim, NQ, NOut> const points{x, q, out};
    detail::launch_box("p2p_inner", where, cuda_kernels_of<T, K>().one_sided, k, points, points);
  }

  /// As p2p_inner, with one evaluation per pair. Not deterministic.
  template <interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_inner_mutual(cuda_backend where, K const& k, soa<X, K::dim> const& x,
                        soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    detail::side<T, K::dim, NQ, NOut> const points{x, q, out};
    detail::launch_box("p2p_inner_mutual", where, cuda_kernels_of<T, K>().mutual, k, points,
                       points);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <interaction K, class X, class Y, class Q, int NQ, kernel_real T, int NOut>
  void p2p_outer(cuda_backend where, K const& k, soa<X, K::dim> const& x, soa<Y, K::dim> const& y,
                 soa<Q, NQ> const& q, soa<T, NOut> const& out)
  {
    detail::check_two_sets("p2p_outer", x, y, q, out);
    detail::side<T, K::dim, NQ, NOut> const targets{x, {}, out}, sources{y, q, {}};
    detail::launch_box("p2p_outer", where, cuda_kernels_of<T, K>().one_sided, k, targets, sources);
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i. Not deterministic.
  template <interaction K, class X, class XQ, class Y, class YQ, int NQ, kernel_real T, int NOut>
  requires detail::has_way_back<K>
  void p2p_outer_mutual(cuda_backend where, K const& k, soa<X, K::dim> const& x,
                        soa<Y, K::dim> const& y, soa<XQ, NQ> const& x_q, soa<YQ, NQ> const& y_q,
                        soa<T, NOut> const& x_out, soa<T, NOut> const& y_out)
  {
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    detail::side<T, K::dim, NQ, NOut> const targets{x, x_q, x_out}, sources{y, y_q, y_out};
    detail::check_both_ways<K>("p2p_outer_mutual", targets, sources);
    detail::launch_box("p2p_outer_mutual", where, cuda_kernels_of<T, K>().mutual, k, targets,
                       sources);
  }

  /// One set over the boxes of a list: out_i = sum_{j != i} K(x_i - x_j) q_j over the points j of all boxes that
  /// the box of i meets; += with options.accumulate. Columns are in the order of the boxes. The form one_sided is
  /// deterministic. Throws nearfield::error for a list that was made for the other form, and for 2^31 points or more in
  /// the form mutual.
  template <interaction K, class X, class Q, int NQ, kernel_real T, int NOut>
  void near_field(cuda_backend where, K const& k, cuda_list const& list, soa<X, K::dim> const& x,
                  soa<Q, NQ> const& q, soa<T, NOut> const& out,
                  near_field_options const& options = {})
  {
    detail::check_one_set("near_field", x, q, out);
    detail::check_cuda_list<K>(list, options.form, true, x.size(), x.size());
    detail::side<T, K::dim, NQ, NOut> const points{x, q, out};
    detail::launch_list(where, k, list, options, points, points);
  }

  /// Two sets: out_i = sum_j K(x_i - y_j) q_j over the sources j of all boxes that the box of target i meets;
  /// += with options.accumulate. Deterministic.
  template <interaction K, class X, class Y, class Q, int NQ, kernel_real T, int NOut>
  void near_field(cuda_backend where, K const& k, cuda_list const& list, soa<X, K::dim> const& x,
                  soa<Y, K::dim> const& y, soa<Q, NQ> const& q, soa<T, NOut> const& out,
                  near_field_options const& options = {})
  {
    detail::check_two_sets("near_field", x, y, q, out);
    detail::check_cuda_list<K>(list, options.form, false, x.size(), y.size());
    detail::side<T, K::dim, NQ, NOut> const targets{x, {}, out}, sources{y, q, {}};
    detail::launch_list(where, k, list, options, targets, sources);
  }

  /// One set over a tree in device memory: as above, with columns in the order of the arrays that it was made from.
  /// Brings them into the order of the tree and the outputs back, and makes the items of the list, all on the
  /// device: the host waits for nothing. With the form automatic, leaves.size() decides. If positions stay, a cuda_list
  /// of the tree and columns in its order save that. Throws nearfield::error for a tree of two sets, and for columns of
  /// other sizes than the tree's.
  template <interaction K, has_device_leaves Leaves, class X, class Q, int NQ, kernel_real T,
            int NOut>
  requires(Leaves::dim == K::dim) void near_field(cuda_backend where, K const& k,
                                                  Leaves const& leaves, soa<X, K::dim> const& x,
                                                  soa<Q, NQ> const& q, soa<T, NOut> const& out,
                                                  near_field_options const& options = {})
  {
    detail::check_one_set("near_field", x, q, out);
    auto const on_device = leaves.on_device();
    detail::check_leaves(where, on_device, true, x.size(), x.size());
    auto of = detail::form_case_of<K>(true);
    of.n_rhs = detail::right_hand_sides<K>(q, out);
    of.points = x.size();
    of.leaves = leaves.size();
    pair_form const form = detail::choose_form("near_field", options.form, backend::cuda, of);
    cuda_list const list(where, leaves, form);
    detail::sorted_set<T, K::dim, NQ, NOut> sorted(on_device, x, q, out);
    near_field(where, k, list, sorted.x(), sorted.q(), sorted.out(),
               {.form = form, .ranges_may_coincide = options.ranges_may_coincide});
    sorted.deliver(out, options.accumulate);
  }

  /// Two sets over their tree in device memory: targets x, sources y with inputs q.
  template <interaction K, has_device_leaves Leaves, class X, class Y, class Q, int NQ,
            kernel_real T, int NOut>
  requires(Leaves::dim == K::dim) void near_field(cuda_backend where, K const& k,
                                                  Leaves const& leaves, soa<X, K::dim> const& x,
                                                  soa<Y, K::dim> const& y, soa<Q, NQ> const& q,
                                                  soa<T, NOut> const& out,
                                                  near_field_options const& options = {})
  {
    detail::check_two_sets("near_field", x, y, q, out);
    auto const on_device = leaves.on_device();
    detail::check_leaves(where, on_device, false, x.size(), y.size());
    cuda_list const list(where, leaves);
    detail::sorted_set<T, K::dim, NQ, NOut> sorted(on_device, y, q, out);
    detail::sorted_columns<T> targets(where.stream, on_device.target_order, x);
    near_field(where, k, list, targets.template view<K::dim>(), sorted.x(), sorted.q(),
               sorted.out(),
               {.form = options.form, .ranges_may_coincide = options.ranges_may_coincide});
    sorted.deliver(out, options.accumulate);
  }

  /// The cost on the current device, as near_field runs there in this form; automatic takes the one-sided form
  /// for small leaves and the mutual one for others, where the interaction has it. Measures for about half a second if no
  /// figures are kept, and waits for the stream. Throws nearfield::error if there is no device, and for the mutual form
  /// of an interaction that has none.
  template <kernel_real T, interaction K>
  pair_cost pair_cost_of(cuda_backend where, K const& k, pair_form form = pair_form::automatic)
  {
    bool const is_mutual = detail::choose_form("pair_cost_of", form, backend::cuda,
                                               detail::form_case_of<K>(true)) == pair_form::mutual;
    auto const kernels = cuda_kernels_of<T, K>();
    auto const cost = [&](bool mutual)
    {
      return detail::cost_on_gpu<T>(where, mutual ? kernels.mutual : kernels.one_sided,
                                    detail::cost_subject_of<T>(k, mutual, "cuda"),
                                    is_singular<T>(k));
    };
    if (form == pair_form::automatic && detail::has_way_back<K>)
      return detail::cost_of_faster_form(cost(false), cost(true), K::n_out);
    return cost(is_mutual);
  }
}
