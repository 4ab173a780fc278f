#pragma once

#include <nearfield/core/soa.hpp>
#include <nearfield/p2p/check.hpp>
#include <nearfield/starpu/near_field.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace nearfield::starpu_mpi
{
  /// A step takes the tags first_tag ... first_tag + tags_of_a_step - 1 of StarPU-MPI.
  inline constexpr int tags_of_a_step = 4;

  /// How a near field over ranks is computed; the same on all of them, but for form, backend and groups.
  struct step_options
  {
    /// add to the outputs; a step overwrites them otherwise
    bool accumulate = false;
    /// Automatic: mutual inside a rank, if K has a mutual form and there is one set of points; on GPUs only where that
    /// is faster, as in a step of one process. Between ranks every pair is computed on both. Mutual results depend on
    /// groups and ranks by rounding; those of form one_sided have the bits of one rank where all ranks compute on CPU
    /// workers, and on a GPU they differ by rounding.
    pair_form form = pair_form::automatic;
    /// Automatic: the GPUs of this rank's runtime where it has some and K has CUDA kernels, unless its leaves do not
    /// fit; else simd. Ranks need not agree. See share_gpus().
    nearfield::backend backend = nearfield::backend::automatic;
    /// the sizes of groups; by default one group where the rank's only GPU has made the lists and they fit, with fewer
    /// than 64 other ranks around it
    group_options groups = {};
    /// when results go to the caller's columns, on this rank and from it to others: the same on all ranks
    starpu::step_options::delivery_choice delivery = starpu::step_options::every_step;
    /// the first of its tags; steps that exist at once on one communicator need others
    std::int64_t first_tag = 0;
  };
}

namespace nearfield::starpu_mpi
{
  /// The near field over the leaves of a distributed tree, as StarPU tasks on every rank and messages of StarPU-MPI
  /// between them.
  ///
  ///     out_i = sum over the points j != i of the leaves that the leaf of i meets of K(x_i - x_j) q_j
  ///
  /// or, over targets x and sources y, over all sources j there of K(x_i - y_j) q_j.
  ///
  /// Inputs and outputs are columns of the points that this rank gave to the tree, in its order; of two sets, inputs of
  /// its sources and outputs of its targets. Inputs go to the ranks that compute, results come back. A rank sends, to
  /// each rank with leaves that touch its own, one message with the positions of its sources there, once, and one with
  /// their inputs when these have changed.
  ///
  ///     starpu::runtime starpu;
  ///     starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD); // yours
  ///     starpu_mpi::near_field step{starpu, one_over_r<>{}, tree, soa{q}, soa{phi}};
  ///     step.submit();
  ///     step.wait();
  ///
  /// Where points move, the tree is rebuilt between steps:
  ///
  ///     step.wait();
  ///     move(x, y, z);
  ///     tree.rebuild(soa{x, y, z}, step.seconds());
  ///     step.positions_changed();
  ///
  /// Parameters of points are columns like inputs, before q:
  ///
  ///     starpu_mpi::near_field step{starpu, softened{}, tree, soa{eps}, soa{q}, soa{phi}};
  ///     starpu_mpi::near_field step{starpu, k, tree, soa{eps_of_targets}, soa{eps}, soa{q}, soa{phi}}; // two sets
  ///
  /// Of an any_interaction they may be no columns at all. They go to the ranks of their points when the step is made and by positions_changed(), which are collective then, as
  /// the tree is, and throw on all ranks.
  ///
  /// StarPU-MPI is the caller's: initialise it before the step is made, and shut it down after the step is gone. The
  /// tree and all columns must outlive the step.
  ///
  /// All ranks make the same steps, and call submit(), deliver(), inputs_changed() and positions_changed() in the same
  /// order. submit() throws an exception on this rank only; the other ranks then hang: see end_together(). wait() also
  /// waits until this rank has computed the results of other ranks. It rethrows the first exception of a task of this
  /// rank; outputs of other ranks may then be wrong too. inputs_changed() comes after wait() or wait_for_inputs().
  ///
  /// positions_changed() makes tasks and messages for a tree that has been rebuilt, from as many points of this rank as
  /// before, and the next submit() sends positions (and parameters) anew. It comes after wait() and rebuild() and before anything but
  /// inputs_changed(). Call inputs_changed() as well if inputs have changed too: what this rank has of them may be on its
  /// GPU. If positions_changed() throws, the step can only be destroyed, or told again.
  ///
  /// With a GPU that has the tree, pin your columns (starpu_memory_pin, starpu_malloc): it then copies them itself, without
  /// CPU workers, where most of the points that a rank gives are its own.
  /// That goes for inputs, for results without `accumulate`, and for positions of the tree. The values of a column must
  /// follow one another and share no page with another column, and one call must pin them all, before the step is made
  /// and until it is gone.
  template <nearfield::detail::kernel_real T>
  class NEARFIELD_API near_field : public starpu::near_field<T>
  {
  public:
    /// Throws nearfield::error for columns that are null or have not one value for each point of the caller, and for a
    /// number of parameters that is not that of K; for form
    /// mutual without a mutual form of K or with two sets, for backend cuda without a GPU, CUDA kernels or enough
    /// memory, and if the instruction set asked for is not available.
    /// Sends nothing, but parameters.
    template <starpu::detail::called_interaction K, int Dim, detail::columns_view Q,
              detail::columns_view Out, class Isa = starpu::detail::isa_of_file>
      requires std::same_as<T, typename Out::value_type>
    near_field(starpu::runtime const& starpu, K const& k, distributed_tree<T, Dim> const& tree,
               Q const& q, Out const& out, step_options const& options = {})
        : near_field(
              starpu, tree,
              starpu::detail::kernel_over<nearfield::detail::real_of_call<K, Out, Q>, Dim>(k),
              {true, nearfield::detail::right_hand_sides(k, q, out), {}, {}, q, out}, options)
    {
      static_assert(nearfield::detail::parameters_of<K> == 0,
                    "the interaction reads parameters of points: give their columns before q, of "
                    "two sets those of targets and those of sources");
    }
    /// With parameters of points, one set. Collective.
    template <starpu::detail::called_interaction K, int Dim, detail::columns_view Parameters,
              detail::columns_view Q, detail::columns_view Out,
              class Isa = starpu::detail::isa_of_file>
      requires std::same_as<T, typename Out::value_type>
    near_field(starpu::runtime const& starpu, K const& k, distributed_tree<T, Dim> const& tree,
               Parameters const& parameters, Q const& q, Out const& out,
               step_options const& options = {})
        : near_field(
              starpu, tree,
              starpu::detail::kernel_over<nearfield::detail::real_of_call<K, Out, Q>, Dim>(k),
              {true, nearfield::detail::right_hand_sides(k, q, out), parameters, {}, q, out},
              options)
    {}
    /// With parameters of points, two sets. Collective.
    template <starpu::detail::called_interaction K, int Dim, detail::columns_view Targets,
              detail::columns_view Sources, detail::columns_view Q, detail::columns_view Out,
              class Isa = starpu::detail::isa_of_file>
      requires std::same_as<T, typename Out::value_type>
    near_field(starpu::runtime const& starpu, K const& k, distributed_tree<T, Dim> const& tree,
               Targets const& target_parameters, Sources const& source_parameters, Q const& q,
               Out const& out, step_options const& options = {})
        : near_field(
              starpu, tree,
              starpu::detail::kernel_over<nearfield::detail::real_of_call<K, Out, Q>, Dim>(k),
              {false, nearfield::detail::right_hand_sides(k, q, out), target_parameters,
               source_parameters, q, out},
              options)
    {}
    /// Deleted: the tree would be gone before the step.
    template <starpu::detail::called_interaction K, int Dim, class... ColumnsAndOptions>
    near_field(starpu::runtime const& starpu, K const& k,
               distributed_tree<T, Dim> const&& give_the_tree_a_name,
               ColumnsAndOptions const&...) = delete;

    /// What P2P tasks took since the step was made or positions_changed() was last called, after wait(): the mean over
    /// the workers of this rank that run them, of CPUs or of GPUs. For distributed_tree::rebuild().
    [[nodiscard]] double seconds() const;

  private:
    template <int Dim>
    near_field(starpu::runtime const& starpu, distributed_tree<T, Dim> const& tree,
               starpu::detail::kernel<T> const& k, starpu::detail::step_columns<T> const& columns,
               step_options const& options);
  };

  /// One set of points or two, with one or several right-hand sides.
  template <nearfield::detail::kernel_real T, int Dim, starpu::detail::called_interaction K,
            detail::columns_view Q, detail::columns_view Out>
  near_field(starpu::runtime const&, K const&, distributed_tree<T, Dim> const&, Q const&,
             Out const&, step_options const& = {}) -> near_field<T>;
  /// With parameters of points.
  template <nearfield::detail::kernel_real T, int Dim, starpu::detail::called_interaction K,
            detail::columns_view Parameters, detail::columns_view Q, detail::columns_view Out>
  near_field(starpu::runtime const&, K const&, distributed_tree<T, Dim> const&, Parameters const&,
             Q const&, Out const&, step_options const& = {}) -> near_field<T>;
  /// With parameters of targets and of sources.
  template <nearfield::detail::kernel_real T, int Dim, starpu::detail::called_interaction K,
            detail::columns_view Targets, detail::columns_view Sources, detail::columns_view Q,
            detail::columns_view Out>
  near_field(starpu::runtime const&, K const&, distributed_tree<T, Dim> const&, Targets const&,
             Sources const&, Q const&, Out const&, step_options const& = {}) -> near_field<T>;

  extern template class near_field<float>;
  extern template class near_field<double>;

  /// Divides the GPUs of each machine, or the first `most` of them, among the ranks on it, by StarPU's variables
  /// STARPU_WORKERS_CUDAID and STARPU_NCUDA: call it before StarPU starts. With more ranks than GPUs, several share one,
  /// and its memory (STARPU_LIMIT_CUDA_MEM). A rank's first GPU becomes the current device of the calling thread. Where a
  /// launcher shows each rank GPUs of its own, `most` is that of a rank. Where STARPU_WORKERS_CUDAID is set, it stays.
  /// Collective.
  NEARFIELD_API void share_gpus(MPI_Comm communicator, std::optional<int> most = std::nullopt);

  /// Calls f, and if it throws ends all ranks of the communicator: the rank that failed prints one line, "program: rank
  /// 2: ..." with the message, to the standard error, and calls MPI_Abort(). An exception that all ranks have thrown is
  /// printed by the one where it happened. Otherwise the others would wait for ever for messages of this one.
  ///
  ///     int main(int argc, char** argv)
  ///     {
  ///       MPI_Init_thread(...);
  ///       nearfield::starpu_mpi::end_together(MPI_COMM_WORLD, "program", [&] { ... });
  ///       MPI_Finalize();
  ///     }
  NEARFIELD_API void end_together(MPI_Comm communicator, char const* program,
                                  std::function<void()> const& f);
}
