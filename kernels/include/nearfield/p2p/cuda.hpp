#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/p2p/backend.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/p2p/job.hpp>
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
/// P2P on a GPU: p2p_inner, p2p_outer and near_field with `cuda` as the first argument, over views of memory of the
/// current device. What a kernel cannot take as it is, strided views and columns in another order than the boxes, is
/// copied first, for the time of the call. Sums, signs and several right-hand sides are as in
/// <nearfield/p2p/p2p.hpp> and <nearfield/p2p/near_field.hpp>.
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
  namespace detail
  {
    template <class T>
    struct cuda_step;
  }

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

    /// Over a tree or a cell list in device memory, which must outlive it and not be rebuilt. The items are made on the
    /// device, in the order of the stream, which is that of the steps too: the host waits for nothing but a new cell list.
    /// Throws nearfield::error for the form mutual with two sets.
    template <detail::has_device_leaves Leaves>
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
    void describe_to(detail::cuda_job<T>& job) const
    {
      static_cast<detail::list_view&>(job) = view_;
      static_cast<detail::cuda_item_counts&>(job) = counts_;
      job.items = items_.data();
      job.item_counts = device_counts_.data();
    }

  private:
    template <class T>
    friend struct detail::cuda_step;
    cuda_list(cuda_stream stream, boxes const& targets, interaction_list const& list,
              std::size_t n_sources, detail::cuda_items const& items, bool is_mutual);
    cuda_list(cuda_backend where, detail::device_leaves const& leaves, bool is_mutual);

    std::size_t n_targets_, n_sources_;
    bool is_of_one_set_ = true, is_mutual_ = false;
    // copies of a list in host memory
    device_array<index_type> box_offsets_, range_offsets_;
    device_array<interaction_list::range> own_, ranges_;
    device_array<std::array<double, 3>> shifts_;
    detail::list_view view_;
    device_array<detail::cuda_item> items_;
    detail::cuda_item_counts counts_;
    device_array<detail::cuda_item_counts> device_counts_; ///< of items made on the device
  };

  /// The compiled CUDA kernels of an interaction. Throws nearfield::error if nearfield was built without CUDA.
  template <detail::kernel_real T, interaction K>
  detail::cuda_kernels<T> cuda_kernels_of()
  {
    if constexpr (detail::builtin_interaction<K>)
      return detail::builtin_cuda_kernels<T>(detail::builtin_interactions::index_of<K>());
    else
    {
#ifdef NEARFIELD_HAS_CUDA // the target nearfield::cuda defines it
      return detail::own_cuda_kernels<K, T>();
#else
      return detail::builtin_cuda_kernels<T>(0); // throws
#endif
    }
  }

  namespace detail
  {
    /// What a call on a GPU does besides its kernel: it does not depend on the interaction. One set is given as targets
    /// and as sources. For float and double.
    template <class T>
    struct NEARFIELD_API cuda_step
    {
      char const* function;
      cuda_stream stream;
      cuda_kernels<T> kernels;
      void const* interaction;
      bool is_singular;
      form_case of; ///< the numbers of points and leaves are found here
      near_field_options options;

      /// One box with itself or with another.
      void run_box(bool is_mutual, step_set<T> const& targets, step_set<T> const& sources) const;
      /// The boxes of a list.
      void run(cuda_list const& list, step_set<T> const& targets, step_set<T> const& sources) const;
      /// Leaves, with columns in the order of the arrays that they were made from; n_leaves as the host knows it.
      void run_sorted(device_leaves const& leaves, index_type n_leaves, step_set<T> const& targets,
                      step_set<T> const& sources) const;

    private:
      void launch(bool is_mutual, std::span<cuda_job<T>> jobs, step_set<T> const& targets,
                  step_set<T> const& sources, device_leaves const* in_order_of = nullptr) const;
    };
  }

  namespace detail::inline NEARFIELD_ISA_NAMESPACE
  {
    /// The compiled CUDA kernels of an interaction that may be known at run time only.
    template <kernel_real T, called_interaction K>
    cuda_kernels<T> cuda_kernels_for(K const& k)
    {
      if constexpr (run_time_interaction<K>)
        return builtin_cuda_kernels<T>(number_of(k));
      else
        return cuda_kernels_of<T, K>();
    }

    /// A call whose sources have inputs q. x: points of one set, or of targets and of sources.
    template <class T, class K, columns_view Q, columns_view Out, columns_view... X>
    cuda_step<T> cuda_step_of(char const* function, cuda_backend where, K const& k,
                              near_field_options const& options, Q const& q, Out const& out,
                              X const&... x)
    {
      auto of = form_case_of(k, sizeof...(X) == 1);
      of.n_rhs = right_hand_sides(k, q, out, x...);
      return {function, where.stream, cuda_kernels_for<T>(k), value_at(k), is_singular<T>(k),
              of,       options};
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
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Q,
            detail::columns_view Out>
  void p2p_inner(cuda_backend where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("p2p_inner", x, q, out);
    auto const points = detail::set_of<T>(x, q, out);
    detail::cuda_step_of<T>("p2p_inner", where, k, {.accumulate = true}, q, out, x)
        .run_box(false, points, points);
  }

  /// As p2p_inner, with one evaluation per pair. Not deterministic.
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Q,
            detail::columns_view Out>
    requires detail::mutual_interaction<K>
  void p2p_inner_mutual(cuda_backend where, K const& k, X const& x, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_way_back("p2p_inner_mutual", k);
    detail::check_one_set("p2p_inner_mutual", x, q, out);
    auto const points = detail::set_of<T>(x, q, out);
    detail::cuda_step_of<T>("p2p_inner_mutual", where, k, {.accumulate = true}, q, out, x)
        .run_box(true, points, points);
  }

  /// out_i += sum_j K(x_i - y_j) q_j, targets x and sources y
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Y,
            detail::columns_view Q, detail::columns_view Out>
  void p2p_outer(cuda_backend where, K const& k, X const& x, Y const& y, Q const& q, Out const& out)
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_two_sets("p2p_outer", x, y, q, out);
    detail::cuda_step_of<T>("p2p_outer", where, k, {.accumulate = true}, q, out, x, y)
        .run_box(false, detail::set_of<T>(x, detail::no_columns<T const>, out),
                 detail::set_of<T>(y, q, detail::no_columns<T>));
  }

  /// Both directions of p2p_outer, with one evaluation per pair:
  /// x_out_i += sum_j K(x_i - y_j) y_q_j and y_out_j += sum_i K(y_j - x_i) x_q_i. Not deterministic.
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Y,
            detail::columns_view XQ, detail::columns_view YQ, detail::columns_view XOut,
            detail::columns_view YOut>
    requires detail::mutual_interaction<K>
  void p2p_outer_mutual(cuda_backend where, K const& k, X const& x, Y const& y, XQ const& x_q,
                        YQ const& y_q, XOut const& x_out, YOut const& y_out)
  {
    using T = detail::real_of_call<K, XOut, XQ, X, Y>;
    detail::check_way_back("p2p_outer_mutual", k);
    detail::check_both_sides("p2p_outer_mutual", x, y, x_q, y_q, x_out, y_out);
    detail::check_both_ways("p2p_outer_mutual", k, detail::set_views{x, x_q, x_out},
                            detail::set_views{y, y_q, y_out});
    detail::cuda_step_of<T>("p2p_outer_mutual", where, k, {.accumulate = true}, y_q, x_out, x, y)
        .run_box(true, detail::set_of<T>(x, x_q, x_out), detail::set_of<T>(y, y_q, y_out));
  }

  /// One set over the boxes of a list: out_i = sum_{j != i} K(x_i - x_j) q_j over the points j of all boxes that
  /// the box of i meets; += with options.accumulate. Columns are in the order of the boxes. The form one_sided is
  /// deterministic. Throws nearfield::error for a list that was made for the other form, and for 2^31 points or more in
  /// the form mutual.
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Q,
            detail::columns_view Out>
  void near_field(cuda_backend where, K const& k, cuda_list const& list, X const& x, Q const& q,
                  Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("near_field", x, q, out);
    auto const points = detail::set_of<T>(x, q, out);
    detail::cuda_step_of<T>("near_field", where, k, options, q, out, x).run(list, points, points);
  }

  /// Two sets: out_i = sum_j K(x_i - y_j) q_j over the sources j of all boxes that the box of target i meets;
  /// += with options.accumulate. Deterministic.
  template <detail::called_interaction K, detail::columns_view X, detail::columns_view Y,
            detail::columns_view Q, detail::columns_view Out>
  void near_field(cuda_backend where, K const& k, cuda_list const& list, X const& x, Y const& y,
                  Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_two_sets("near_field", x, y, q, out);
    detail::cuda_step_of<T>("near_field", where, k, options, q, out, x, y)
        .run(list, detail::set_of<T>(x, detail::no_columns<T const>, out),
             detail::set_of<T>(y, q, detail::no_columns<T>));
  }

  /// One set over a tree or, for an interaction that is zero beyond the cutoff, a cuda_cell_list: as above, with columns in
  /// the order of the arrays that it was made from. Brings them into the order of the leaves and the outputs back, and makes
  /// the items of the list, all on the device: the host waits for nothing, but once for a new cell list. With the form
  /// automatic, leaves.size() decides. If positions stay, a cuda_list of the leaves and columns in their order, inside the
  /// box, save that. Throws nearfield::error for leaves of two sets, and for columns of other sizes than theirs.
  template <detail::called_interaction K, detail::has_device_leaves Leaves, detail::columns_view X,
            detail::columns_view Q, detail::columns_view Out>
  void near_field(cuda_backend where, K const& k, Leaves const& leaves, X const& x, Q const& q,
                  Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X>;
    detail::check_one_set("near_field", x, q, out);
    auto const points = detail::set_of<T>(x, q, out);
    detail::check_leaves(k, leaves);
    auto const on_device = leaves.on_device(); // before size()
    detail::cuda_step_of<T>("near_field", where, k, options, q, out, x)
        .run_sorted(on_device, leaves.size(), points, points);
  }

  /// Two sets over their tree or cell list in device memory: targets x, sources y with inputs q.
  template <detail::called_interaction K, detail::has_device_leaves Leaves, detail::columns_view X,
            detail::columns_view Y, detail::columns_view Q, detail::columns_view Out>
  void near_field(cuda_backend where, K const& k, Leaves const& leaves, X const& x, Y const& y,
                  Q const& q, Out const& out, near_field_options const& options = {})
  {
    using T = detail::real_of_call<K, Out, Q, X, Y>;
    detail::check_two_sets("near_field", x, y, q, out);
    detail::check_leaves(k, leaves);
    auto const on_device = leaves.on_device(); // before size()
    detail::cuda_step_of<T>("near_field", where, k, options, q, out, x, y)
        .run_sorted(on_device, leaves.size(),
                    detail::set_of<T>(x, detail::no_columns<T const>, out),
                    detail::set_of<T>(y, q, detail::no_columns<T>));
  }

  /// The cost on the current device, as near_field runs there in this form; automatic takes the one-sided form
  /// for small leaves and the mutual one for others, where the interaction has it. Measures for about half a second if no
  /// figures are kept, and waits for the stream. Throws nearfield::error if there is no device, and for the mutual form
  /// of an interaction that has none.
  template <detail::kernel_real T, detail::called_interaction K>
  pair_cost pair_cost_of(cuda_backend where, K const& k, pair_form form = pair_form::automatic)
  {
    bool const is_mutual = detail::choose_form("pair_cost_of", form, backend::cuda,
                                               detail::form_case_of(k, true)) == pair_form::mutual;
    auto const kernels = detail::cuda_kernels_for<T>(k);
    auto const cost = [&](bool mutual)
    {
      return detail::cost_on_gpu<T>(where, mutual ? kernels.mutual : kernels.one_sided,
                                    detail::cost_subject_of<T>(k, mutual, "cuda"),
                                    is_singular<T>(k));
    };
    auto const& of = detail::shape_of(k);
    if (form == pair_form::automatic && of.has_way_back)
      return detail::cost_of_faster_form(cost(false), cost(true), of.n_out);
    return cost(is_mutual);
  }
}
