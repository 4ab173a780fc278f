#pragma once

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/config.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/starpu/handles.hpp>
#include <nearfield/starpu/kernel_of.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu/tasks.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace nearfield
{
  /// The size of groups.
  struct group_options
  {
    /// Average number of leaves per group. automatic: about 2e7 directed pairs per group (1-10 ms on one core
    /// with SIMD), fewer if that gives less than 16 groups per core, but at least 1e6; for GPUs, see
    /// groups_per_gpu.
    int leaves_per_group = automatic;
    /// Number of GPUs that compute the groups; 0: CPUs compute them.
    int gpus = 0;
    /// Groups per GPU. 0: 8, or fewer if a group would have less than 1000 leaves or 1.5e8 directed pairs; with
    /// several GPUs 6e8, and as many for each.
    /// Few groups cost little to submit; with many, more CPU workers copy inputs and results between the
    /// caller's arrays and the tasks.
    int groups_per_gpu = 0;
  };

  /// The leaves of a tree in groups, as made by group_leaves. The tree must outlive it, and may be moved.
  template <int Dim>
  class leaf_groups
  {
  public:
    static constexpr int dim = Dim; ///< of space

    /// Groups over `views`, which must outlive it. Use group_leaves.
    leaf_groups(detail::leaf_groups_view const& views, std::vector<index_type>&& first_leaf)
        : first_leaf_(std::move(first_leaf)), views_(views)
    {}

    /// The number of groups.
    [[nodiscard]] index_type size() const
    {
      return static_cast<index_type>(first_leaf_.size() - 1);
    }
    /// Group g holds the leaves [first_leaf()[g], first_leaf()[g + 1]).
    [[nodiscard]] std::span<index_type const> first_leaf() const& { return first_leaf_; }
    /// The groups and the leaves, as a step takes them.
    [[nodiscard]] detail::leaf_groups_view view() const&
    {
      detail::leaf_groups_view result = views_;
      result.first_leaf = first_leaf_;
      return result;
    }

    /// \cond
    // deleted: of a temporary, they would outlive what they refer to
    void first_leaf() const&& = delete; // give the groups a name
    void view() const&& = delete;       // give the groups a name
    /// \endcond

  private:
    std::vector<index_type> first_leaf_;
    detail::leaf_groups_view views_;
  };

  namespace detail
  {
    NEARFIELD_API std::vector<index_type> first_leaves_of_groups(leaf_groups_view const& views,
                                                                 group_options const& options,
                                                                 executor* on = nullptr);
  }

  /// Cuts the leaves of a tree, or the cells of a cell list, into groups with about equal numbers of pairs. A
  /// group has at least one leaf; a tree without leaves has no groups. Throws nearfield::error for negative
  /// options.
  ///
  /// group_leaves(runtime, tree) sizes groups for the workers of a StarPU runtime.
  template <detail::has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim> group_leaves(Leaves const& leaves,
                                                      group_options const& options = {})
  {
    detail::leaf_groups_view views;
    if constexpr (requires { leaves.leaves(true); }) // cells
    {
      views = leaves.leaves(false);
      if (views.has_one_set) views.half = leaves.leaves(true).half;
      for (std::size_t s = 0; s < leaves.n_systems(); ++s)
        views.cutoff = std::min(views.cutoff, double(leaves.cutoff(s)));
    }
    else
    {
      views.has_one_set = leaves.has_one_set();
      views.targets = leaves.targets();
      views.sources = leaves.sources();
      views.full = leaves.interactions();
      if (views.has_one_set) views.half = leaves.half_interactions();
      views.target_order = leaves.target_order();
      views.source_order = leaves.source_order();
      if constexpr (requires { leaves.target_moves(); })
      {
        views.target_moves = leaves.target_moves();
        views.source_moves = leaves.source_moves();
      }
    }
    views.is_for_gpus = options.gpus > 0 && options.leaves_per_group == 0;
    return {views, detail::first_leaves_of_groups(views, options)};
  }

  /// Deleted: the groups would outlive the leaves.
  template <detail::has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(Leaves const&&, group_options const& = {}) = delete;

  /// Groups sized for the workers of the runtime: few and large ones if it has GPUs, else those for CPUs. Sets
  /// `gpus` in the options. A step may cut groups for GPUs again, to give CPU workers a share, unless leaves_per_group
  /// is set. For steps that run on CPU workers although there are GPUs (an interaction without
  /// CUDA kernels, backend simd or scalar), use group_leaves(tree). Leaves are those of a tree, or the cells of
  /// a cell_list.
  template <detail::has_leaves Leaves>
  [[nodiscard]] leaf_groups<Leaves::dim>
  group_leaves(starpu::runtime const& starpu, Leaves const& leaves, group_options options = {})
  {
    options.gpus = starpu.n_gpus();
    return group_leaves(leaves, options);
  }

  /// Deleted: the groups would outlive the leaves.
  template <detail::has_leaves Leaves>
  leaf_groups<Leaves::dim> group_leaves(starpu::runtime const&, Leaves const&&,
                                        group_options = {}) = delete;
}

namespace nearfield::starpu
{
  /// How a near field is computed by tasks. With the same groups and the same implementation, a step gives
  /// the same bits on any number of workers; but on GPUs the mutual form adds in no fixed order, and its
  /// results repeat within rounding. A step that GPUs and CPU workers share gives each leaf to one kind for good, so it
  /// repeats as well; which leaves are whose depends on the numbers of workers and on their measured rates.
  struct step_options
  {
    /// When results go to the caller's columns.
    enum delivery_choice
    {
      every_step,
      on_request ///< with deliver(); until then they stay where they were computed, as on a GPU
    };

    /// add to the outputs; a step overwrites them otherwise
    bool accumulate = false;
    /// automatic: mutual if that is possible, about twice as fast on CPUs; on GPUs only where it was measured to
    /// be faster (cuda_mutual_pays): leaves of at least 24 points on average with one output and up to 3 right-hand
    /// sides, of 128 with several outputs and one right-hand side; not for interactions with a cutoff()
    pair_form form = pair_form::automatic;
    /// automatic: GPUs where the runtime has some, else CPUs. Where groups were sized for GPUs by default
    /// (group_leaves(runtime, tree)), CPU workers compute a share in groups of their own if that saves time (a quarter of
    /// a step of one set that GPUs deliver), and all of a step of which not even a small part fits into the memory of a
    /// GPU. cuda: GPUs alone
    nearfield::backend backend = nearfield::backend::automatic;
    /// when results go to the caller's columns; a step over a moving_tree leaves them in its handles
    delivery_choice delivery = every_step;
    /// pairs that do not meet, as in near_field_options; read when the step is made. Such a step runs on CPU workers:
    /// backend cuda throws nearfield::error, and so does a moving_tree
    nearfield::detail::kept_span<std::uint64_t const> excluded_offsets = {};
    nearfield::detail::kept_span<index_type const> excluded = {}; ///< indices of sources
  };
}

namespace nearfield::starpu::detail
{
  using nearfield::detail::columns_view;
  using nearfield::detail::leaf_groups_view;

  /// Columns of n values each, whose number is known at run time only.
  template <class T>
  struct column_list
  {
    std::vector<T*> columns;
    std::size_t n = 0;
    std::ptrdiff_t stride = 1;

    column_list() = default;
    // inline always: what it calls is of the instruction set of the user's file
    template <columns_view View>
    [[gnu::always_inline]] column_list(View const& of) // NOLINT(google-explicit-constructor)
        : n(of.size()), stride(nearfield::detail::stride_of(of))
    {
      auto const& pointers = nearfield::detail::pointers_of(of);
      columns.assign(pointers.data(), pointers.data() + nearfield::detail::width_of(of));
    }

    /// This list must outlive it.
    [[nodiscard]] strided<T, run_time_columns> view() const
    {
      return {soa<T, run_time_columns>(columns, n), stride};
    }
  };

  /// The caller's columns of a step.
  template <class T>
  struct step_columns
  {
    bool has_one_set;
    int n_rhs;
    /// x and y, the latter of two sets: coordinates and parameters of points; over ranks, whose trees have the
    /// coordinates, parameters alone
    column_list<T const> x, y, q;
    column_list<T> out;

    [[nodiscard]] column_list<T const> const& sources() const { return has_one_set ? x : y; }
  };

  /// What a near_field is made of: a step over the caller's columns, or over a tree whose points move.
  template <class T>
  class any_step
  {
  public:
    virtual ~any_step() = default;

    virtual void submit() = 0;
    virtual void deliver() = 0;
    virtual void wait() = 0;
    virtual void wait_for_inputs() = 0;
    virtual void positions_changed() = 0;
    virtual void inputs_changed() = 0;
    [[nodiscard]] virtual pair_form form() const = 0;
    [[nodiscard]] virtual std::size_t n_tasks() const = 0;
    [[nodiscard]] virtual std::vector<monitor::worker_tasks> statistics() const = 0;
  };

  template <class T, int Dim>
  class moving_points;
}

namespace nearfield::starpu
{
  template <nearfield::detail::kernel_real T>
  class NEARFIELD_API near_field; // clang hides what its first declaration does not show

  /// The octree or quadtree of points that move. Their positions are data of your task graph, written by tasks of
  /// yours. A near field over this tree is a task that builds the tree from them where it runs, on a GPU or on all CPU
  /// workers, unless that has been done since positions_changed(). So positions, tree and outputs stay on the device,
  /// and the thread that submits waits for nothing:
  ///
  ///     nearfield::starpu::moving_tree<double, 3> tree(starpu, {x, y, z}, {.max_leaf_size = 64});
  ///     nearfield::starpu::near_field step{starpu, nearfield::grad_one_over_r<>{}, tree, {m}, {ax, ay, az}};
  ///     for (...)
  ///     {
  ///       step.submit();
  ///       starpu_task_insert(&kick_and_drift, STARPU_R, ax.get(), ..., STARPU_RW, x.get(), ..., 0);
  ///       tree.positions_changed();
  ///     }
  ///     step.wait();
  ///
  /// Handles are as for p2p tasks: Dim vectors of n values, or one of Dim * n. Parameters of points follow as further
  /// columns, {x, y, z, eps}, of which a step reads as many as its interaction has. They must outlive the steps over the
  /// tree. If your program called starpu_init(), destroy steps and tree before starpu_shutdown(). Leaves, their order
  /// and lists are those of build_tree(), and so are the errors, which wait() of the step throws. One thread at a time
  /// may call its functions and submit() of its steps.
  template <nearfield::detail::kernel_real T, int Dim>
  class NEARFIELD_API moving_tree
  {
  public:
    /// One set, whose points are targets and sources. Throws nearfield::error for options that build_tree() refuses.
    moving_tree(runtime const& starpu, detail::column_handles const& points,
                tree_options<Dim> const& options = {});
    /// Two sets.
    moving_tree(runtime const& starpu, detail::column_handles const& targets,
                detail::column_handles const& sources, tree_options<Dim> const& options = {});

    moving_tree(moving_tree const&) = delete;
    moving_tree& operator=(moving_tree const&) = delete;
    ~moving_tree();

    /// Steps submitted from now on rebuild the tree from the positions that the tasks submitted before them have
    /// written. Call it after every task that writes positions, before the next step: without it, pairs are those of
    /// old positions, and sums are wrong.
    void positions_changed();

  private:
    friend class near_field<T>;
    runtime starpu_;
    std::shared_ptr<detail::moving_points<T, Dim>> points_; ///< also held by tasks
  };

  /// The near field over the leaves of a tree, or over the cells of a cell list, as StarPU tasks.
  ///
  ///     out_i = sum over the sources j of the leaves that the leaf of i meets of K(x_i - y_j) q_j
  ///
  /// In a periodic box, sources are met in the images that the interaction list says. Give points as the tree got them:
  /// tasks move those outside the box.
  ///
  ///     nearfield::starpu::runtime    starpu;
  ///     auto const groups = nearfield::group_leaves(starpu, tree);
  ///     nearfield::starpu::near_field step{starpu, nearfield::one_over_r<>{}, groups,
  ///                                        nearfield::soa{x, y, z}, nearfield::soa{q},
  ///                                        nearfield::soa{phi}};
  ///     step.submit();
  ///     step.wait();
  ///
  /// All columns are in the caller's order, and their views are soa or strided. With one set, i = j is left out. q may
  /// have k * n_in columns and out k * n_out, right-hand side after right-hand side, and k may be known at run time
  /// only (soa<T, run_time_columns>). The tree of the groups and all columns must outlive the step; tasks read x, y, q
  /// and write out between submit() and wait(), q only until wait_for_inputs(). One thread at a time may call the
  /// functions of one step. Several steps may run at once, but not two that write the same columns: StarPU does not
  /// know of the caller's arrays, so wait() for one before the other is submitted.
  ///
  /// Over a moving_tree, inputs and outputs are handles as the positions are.
  ///
  /// T is float or double. Only the constructors know the type of the interaction, so a function that takes a
  /// near_field<double>& takes steps of all interactions. Of an any_interaction they throw nearfield::error where another
  /// does not compile: for leaves in another dimension, and for columns that are more or fewer than it has.
  ///
  /// A step on GPUs over one set of points brings the caller's columns there as they are, and the GPUs put them into the
  /// order of the tree, if each has memory for both. CPU workers copy them to pinned memory first, unless you have pinned
  /// them (starpu_memory_pin, starpu_malloc): positions, inputs, and outputs without `accumulate`. The values of a column
  /// must then follow one another and share no page with another column, and one call must pin them all, before the step
  /// is made and until it is gone. In other steps, and of positions if some are outside the box, CPU workers gather the
  /// columns in the order of the tree.
  template <nearfield::detail::kernel_real T>
  class NEARFIELD_API near_field
  {
  public:
    /// One set, whose points are targets and sources. Throws nearfield::error for views that differ in size
    /// from the tree, are null, or whose outputs overlap other columns; for an interaction whose cutoff() exceeds that of
    /// the cells; for form mutual without a mutual form of K or
    /// with two sets; if the instruction set asked for is not available; and if backend is cuda and not even a small
    /// part of the step fits into the memory of a GPU. A step that does not fit as a whole is computed in more and
    /// smaller tasks than there are groups, and StarPU moves their data in and out.
    template <detail::called_interaction K, int Dim, detail::columns_view X, detail::columns_view Q,
              detail::columns_view Out, class Isa = detail::isa_of_file>
      requires std::same_as<T, typename Out::value_type>
    near_field(runtime const& starpu, K const& k, leaf_groups<Dim> const& groups, X const& x,
               Q const& q, Out const& out, step_options const& options = {})
        : near_field(starpu, groups.view(),
                     detail::kernel_over<nearfield::detail::real_of_call<K, Out, Q, X>, Dim>(k),
                     {true, nearfield::detail::right_hand_sides(k, q, out, x), x, {}, q, out},
                     options)
    {}

    /// Two sets: targets x, sources y with inputs q.
    template <detail::called_interaction K, int Dim, detail::columns_view X, detail::columns_view Y,
              detail::columns_view Q, detail::columns_view Out, class Isa = detail::isa_of_file>
      requires std::same_as<T, typename Out::value_type>
    near_field(runtime const& starpu, K const& k, leaf_groups<Dim> const& groups, X const& x,
               Y const& y, Q const& q, Out const& out, step_options const& options = {})
        : near_field(starpu, groups.view(),
                     detail::kernel_over<nearfield::detail::real_of_call<K, Out, Q, X, Y>, Dim>(k),
                     {false, nearfield::detail::right_hand_sides(k, q, out, x, y), x, y, q, out},
                     options)
    {}

    /// Over points that move, whose handles the tree has: q and out are n_in and n_out vectors for each right-hand
    /// side, or one with all columns. A step is one task, which reads positions and q, and writes out or, to
    /// accumulate, adds to it. It runs on a GPU, where all of it must fit into the memory, or on a CPU worker with the
    /// help of the others. On a GPU, form automatic is decided in each step, when the leaves are known. If a step
    /// fails, its outputs are zeros or, to accumulate, as before. Throws nearfield::error for handles that
    /// p2p_tasks::insert_inner() or insert_outer() would refuse, for delivery on_request, and as above for form and
    /// backend.
    template <detail::called_interaction K, int Dim, class Isa = detail::isa_of_file>
    near_field(runtime const& starpu, K const& k, moving_tree<T, Dim> const& tree,
               detail::column_handles const& q, detail::column_handles const& out,
               step_options const& options = {})
        : near_field(starpu, tree, detail::kernel_over<T, Dim>(k), q, out, options)
    {}

    near_field(near_field const&) = delete;
    near_field& operator=(near_field const&) = delete;
    /// Waits for the tasks of the step. StarPU aborts the process if a worker calls it, in a codelet or a
    /// callback.
    ~near_field() = default;

    /// Starts the step and returns at once. Steps that are submitted one after the other run in that
    /// order. Throws nearfield::error before the first task if too little address space is left (see runtime).
    /// Also throws nearfield::error when no worker can run a task; the tasks submitted before it run all the same:
    /// until another submit() has returned and been waited for, or the step is gone, columns are in use and the
    /// outputs unspecified (for good, where they accumulate).
    void submit() { step_->submit(); }

    /// Starts to bring the results of the last step to the caller's columns, with delivery on_request (with
    /// every_step they are on their way already, and nothing is done). Returns at once. With `accumulate`
    /// every call adds them.
    void deliver() { step_->deliver(); }

    /// Returns when every step submitted so far has ended and what was to be delivered is. Rethrows the first
    /// exception of a task; the outputs are then unspecified, but those over a moving_tree as its constructor says.
    void wait() { step_->wait(); }

    /// Returns when the inputs of every step submitted so far have been read: from then on the caller may
    /// change q, and after inputs_changed() submit the next step, while those steps are computed. Without
    /// it, that is so after wait().
    ///
    ///     for (...)
    ///     {
    ///       change(q);              // beside the tasks of the step before
    ///       step.inputs_changed();
    ///       step.submit();
    ///       step.wait_for_inputs();
    ///     }
    ///     step.wait();
    void wait_for_inputs() { step_->wait_for_inputs(); }

    /// The next submit() reads the caller's positions again, and the images of points and boxes after cell_list::update().
    /// The tree stays as it is: pairs are those of the leaves in which the points were when it was built. The first call waits for the steps under
    /// way; from then on pairs of different leaves are tested for distance zero too. Over a moving_tree it is
    /// that tree's positions_changed().
    void positions_changed() { step_->positions_changed(); }

    /// The next submit() reads the caller's inputs again. There is room for those of two steps: reading them waits for
    /// the P2P tasks of the last step but one. Over a moving_tree every step reads its inputs.
    void inputs_changed() { step_->inputs_changed(); }

    /// one_sided or mutual; automatic if a GPU decides in each step
    [[nodiscard]] pair_form form() const { return step_->form(); }
    /// P2P tasks in one step
    [[nodiscard]] std::size_t n_tasks() const { return step_->n_tasks(); }

    /// How many P2P tasks each worker has run with each implementation, since the step was made.
    [[nodiscard]] std::vector<monitor::worker_tasks> statistics() const
    {
      return step_->statistics();
    }

  protected:
    /// For ranks.
    explicit near_field(std::unique_ptr<detail::any_step<T>> step) : step_(std::move(step)) {}

    std::unique_ptr<detail::any_step<T>> step_; ///< has all members

  private:
    near_field(runtime const& starpu, detail::leaf_groups_view const& groups,
               detail::kernel<T> const& k, detail::step_columns<T> const& columns,
               step_options const& options);
    template <int Dim>
    near_field(runtime const& starpu, moving_tree<T, Dim> const& tree, detail::kernel<T> const& k,
               detail::column_handles const& q, detail::column_handles const& out,
               step_options const& options);
  };

  /// One set of points, with one or several right-hand sides.
  template <detail::called_interaction K, int Dim, detail::columns_view X, detail::columns_view Q,
            detail::columns_view Out>
  near_field(runtime const&, K const&, leaf_groups<Dim> const&, X const&, Q const&, Out const&,
             step_options const& = {}) -> near_field<typename Out::value_type>;

  /// Targets and sources.
  template <detail::called_interaction K, int Dim, detail::columns_view X, detail::columns_view Y,
            detail::columns_view Q, detail::columns_view Out>
  near_field(runtime const&, K const&, leaf_groups<Dim> const&, X const&, Y const&, Q const&,
             Out const&, step_options const& = {}) -> near_field<typename Out::value_type>;

  /// Points that move.
  template <nearfield::detail::kernel_real T, int Dim, detail::called_interaction K>
  near_field(runtime const&, K const&, moving_tree<T, Dim> const&, detail::column_handles const&,
             detail::column_handles const&, step_options const& = {}) -> near_field<T>;

  extern template class moving_tree<float, 2>;
  extern template class moving_tree<float, 3>;
  extern template class moving_tree<double, 2>;
  extern template class moving_tree<double, 3>;
  extern template class near_field<float>;
  extern template class near_field<double>;
}
