#include <nearfield/p2p/cuda.hpp>

#include "excluded_list.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/cuda/permutation.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    /// Columns on a GPU for the time of a call; each begins aligned.
    template <class T>
    class copied_columns
    {
    public:
      /// Not initialised.
      copied_columns(cuda_stream stream, int width, std::size_t n)
          : n_(n), memory_(width * pitch(), stream, "copied columns")
      {
        for (int c = 0; c < width; ++c) columns_.push_back(memory_.data() + c * pitch());
      }
      [[nodiscard]] soa<T, run_time_columns> view() const { return {columns_, n_}; }

    private:
      [[nodiscard]] std::size_t pitch() const { return (n_ + 63) / 64 * 64; }

      std::size_t n_;
      device_array<T> memory_;
      std::vector<T*> columns_;
    };

    /// Whether a kernel can take a view as it is.
    template <class T>
    bool is_direct(index_type const* order, any_columns<T> const& view)
    {
      return width_of(view) == 0 || (order == nullptr && view.stride() == 1);
    }

    /// What a kernel reads: a view or, in another order or without its stride, a copy.
    template <class T>
    class job_inputs
    {
    public:
      /// `moves` are added to the columns of an order, if any.
      job_inputs(cuda_stream stream, index_type const* order, any_columns<T const> const& from,
                 std::array<double, 3> const* moves = nullptr)
          : first_(from.columns().data())
      {
        if (is_direct(order, from)) return;
        copy_.emplace(stream, width_of(from), from.size());
        device_gather<T>(stream, order, from.size(), from, copy_->view());
        if (moves) device_move<T>(stream, order, from.size(), moves, copy_->view());
        first_ = copy_->view().data();
      }
      [[nodiscard]] T const* const* data() const { return first_; }

    private:
      std::optional<copied_columns<T>> copy_;
      T const* const* first_;
    };

    /// What a kernel adds to: a view, or a copy from which the sums are delivered.
    template <class T>
    class job_outputs
    {
    public:
      job_outputs(cuda_stream stream, index_type const* order, any_columns<T> const& to,
                  bool accumulate)
          : stream_(stream), order_(order), to_(to), accumulate_(accumulate)
      {
        bool const adds_to_view = is_direct(order, to);
        if (!adds_to_view) copy_.emplace(stream, width_of(to), to.size());
        sums_ = adds_to_view ? to.columns() : copy_->view();
        if (adds_to_view && accumulate) return;
        for (int c = 0; c < sums_.width(); ++c)
          device_clear(sums_[c], sums_.size() * sizeof(T), stream);
      }
      [[nodiscard]] T* const* data() const { return sums_.data(); }
      void deliver() const
      {
        if (copy_) device_scatter<T>(stream_, order_, to_.size(), copy_->view(), to_, accumulate_);
      }

    private:
      cuda_stream stream_;
      index_type const* order_;
      any_columns<T> to_;
      bool accumulate_;
      std::optional<copied_columns<T>> copy_;
      soa<T, run_time_columns> sums_;
    };

    /// Throws nearfield::error unless a step on this stream may run over these leaves.
    void check_leaves(cuda_stream stream, device_leaves const& leaves, bool one_set,
                      std::size_t n_targets, std::size_t n_sources)
    {
      check_sets("near_field", leaves.one_set, one_set);
      if (leaves.target_order.size() != n_targets || leaves.source_order.size() != n_sources)
        throw error("near_field: the leaves have " + std::to_string(leaves.target_order.size()) +
                    " targets and " + std::to_string(leaves.source_order.size()) +
                    " sources, found " + std::to_string(n_targets) + " and " +
                    std::to_string(n_sources) + "; give the points that they were made from");
      if (stream != leaves.stream)
        throw error("near_field: the leaves were made on another stream; give "
                    "cuda_backend{leaves.stream()}");
    }

    /// Throws nearfield::error unless a step of this form may run over the list.
    void check_list_of(cuda_list const& list, pair_form form, form_case const& of,
                       std::size_t n_targets, std::size_t n_sources)
    {
      pair_form const made_for = list.is_mutual() ? pair_form::mutual : pair_form::one_sided;
      if (form == pair_form::automatic) form = made_for;
      choose_form("near_field", form, backend::cuda, of);
      if (form != made_for)
        throw error(std::string("near_field: the list is for the form ") +
                    (list.is_mutual() ? "mutual" : "one_sided") +
                    "; give that form, or automatic, or another list");
      if (of.has_one_set && !list.is_of_one_set())
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

  template <class T>
  void cuda_step<T>::launch(bool is_mutual, std::span<cuda_job<T>> jobs, step_set<T> const& targets,
                            step_set<T> const& sources, device_leaves const* in_order_of) const
  {
    bool const has_one_set = of.has_one_set;
    index_type const* const order = in_order_of ? in_order_of->target_order.data() : nullptr;
    index_type const* const y_order = in_order_of ? in_order_of->source_order.data() : nullptr;
    job_outputs<T> const out(stream, order, targets.out, options.accumulate);
    if (targets.x.size() > 0 && sources.x.size() > 0)
    {
      job_inputs<T> const y(stream, y_order, sources.x,
                            in_order_of ? in_order_of->source_moves : nullptr),
          y_q(stream, y_order, sources.q);
      std::optional<job_inputs<T>> x, x_q;
      std::optional<job_outputs<T>> y_out;
      if (!has_one_set)
      {
        x.emplace(stream, order, targets.x, in_order_of ? in_order_of->target_moves : nullptr);
        x_q.emplace(stream, order, targets.q);
        y_out.emplace(stream, y_order, sources.out, options.accumulate);
      }
      for (cuda_job<T>& job : jobs)
      {
        job.own_is_self = has_one_set;
        job.singular = is_singular;
        job.stream = stream;
        job.n_rhs = of.n_rhs;
        job.target_x = x ? x->data() : y.data();
        job.source_x = y.data();
        job.target_q = x_q ? x_q->data() : y_q.data();
        job.source_q = y_q.data();
        job.target_out = out.data();
        // with one set, all outputs are those of the targets
        if (y_out && width_of(sources.out) > 0) job.halo_out = y_out->data();
        check_cuda((is_mutual ? kernels.mutual : kernels.one_sided)(interaction, job), function);
      }
      if (y_out) y_out->deliver();
    }
    out.deliver();
  }

  template <class T>
  void cuda_step<T>::run_box(bool is_mutual, step_set<T> const& targets,
                             step_set<T> const& sources) const
  {
    check_box_size(targets.x.size(), sources.x.size());
    cuda_job<T> job;
    job.n_targets = static_cast<index_type>(targets.x.size());
    job.n_sources = static_cast<index_type>(sources.x.size());
    launch(is_mutual, {&job, 1}, targets, sources);
  }

  template <class T>
  void cuda_step<T>::run(cuda_list const& list, step_set<T> const& targets,
                         step_set<T> const& sources) const
  {
    check_list_of(list, options.form, of, targets.x.size(), sources.x.size());
    if (!options.excluded.empty())
      throw error(
          "near_field: .excluded over a cuda_list, which is made; give the tree or the cell "
          "list");
    cuda_job<T> job;
    list.describe_to(job);
    job.ranges_may_coincide = options.ranges_may_coincide;
    launch(list.is_mutual(), {&job, 1}, targets, sources);
  }

  template <class T>
  void cuda_step<T>::run_sorted(device_leaves const& leaves, index_type n_leaves,
                                step_set<T> const& targets, step_set<T> const& sources) const
  {
    check_leaves(stream, leaves, of.has_one_set, targets.x.size(), sources.x.size());
    excluded_rows const excluded =
        excluded_rows_of("near_field", options.excluded_offsets, options.excluded, targets.x.size(),
                         sources.x.size(), of.has_one_set);
    if (!excluded.empty())
    {
      if (options.form == pair_form::mutual)
        throw error("near_field: .excluded and the form mutual on a GPU; give one_sided or "
                    "automatic");
      excluded_lists const lists(stream, leaves, excluded);
      cuda_list const shared(cuda_backend{stream}, lists.shared(), false),
          single(cuda_backend{stream}, lists.single(), false);
      std::array<cuda_job<T>, 2> jobs;
      shared.describe_to(jobs[0]);
      single.describe_to(jobs[1]);
      return launch(false, jobs, targets, sources, &leaves);
    }
    form_case here = of;
    here.points = targets.x.size();
    here.leaves = n_leaves;
    bool const is_mutual =
        choose_form("near_field", options.form, backend::cuda, here) == pair_form::mutual;
    cuda_list const list(cuda_backend{stream}, leaves, is_mutual);
    cuda_job<T> job;
    list.describe_to(job);
    job.ranges_may_coincide = options.ranges_may_coincide || leaves.ranges_may_coincide;
    launch(is_mutual, {&job, 1}, targets, sources, &leaves);
  }

  template struct cuda_step<float>;
  template struct cuda_step<double>;
}
