#include "mpi/compute_over.hpp"

#include "interactions.hpp"
#include "mpi/check.hpp"
#include "step.hpp"
#include "task_step.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu/runtime.hpp>
#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <sstream>

namespace nearfield::app
{
  namespace
  {
    class message_thread
    {
    public:
      message_thread()
      {
        starpu::check(starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD),
                      "starpu_mpi_init_comm");
      }
      ~message_thread() { starpu_mpi_shutdown(); }
      message_thread(message_thread const&) = delete;
      message_thread& operator=(message_thread const&) = delete;
    };

    template <class T, int Dim>
    void describe(ranks const& all, starpu_mpi::distributed_tree<T, Dim> const& tree,
                  cut_options const& cut, run_result& result)
    {
      int depth = cut.level.value_or(0);
      std::uint64_t largest = 0;
      for (index_type b = tree.first_leaf(); b < tree.first_leaf() + tree.size(); ++b)
      {
        depth = std::max(depth, tree.cell(b).level);
        largest = std::max<std::uint64_t>(largest, tree.known_leaves().count(b));
      }
      result.points = tree.total_points();
      result.leaves = tree.total_leaves();
      result.depth = static_cast<int>(all.greatest(depth));
      result.max_leaf = static_cast<std::uint64_t>(all.greatest(static_cast<double>(largest)));
      result.interactions = all.sum(tree.interaction_count());
    }

    /// Those of all ranks; names of workers begin with that of their rank.
    std::vector<worker_tasks> tasks_of_all(ranks const& all, std::vector<worker_tasks> const& mine)
    {
      std::ostringstream lines;
      for (worker_tasks const& of : mine)
        lines << "rank " << all.rank() << ", " << of.worker << '\t' << of.implementation << '\t'
              << of.tasks << '\n';
      std::istringstream joined(all.join(lines.str()));
      std::vector<worker_tasks> tasks;
      for (worker_tasks of; std::getline(joined, of.worker, '\t') &&
                            std::getline(joined, of.implementation, '\t') && joined >> of.tasks;)
      {
        joined.ignore();
        tasks.push_back(of);
      }
      return tasks;
    }

    /// The GPUs that ranks have; one that several share counts once.
    int gpus_of_all(ranks const& all, int mine)
    {
      std::string lines;
      int const seen = mine > 0 ? static_cast<int>(gpus().size()) : 0;
      for (int device = 0; device < seen; ++device)
        lines +=
            std::to_string(std::hash<std::string>()(nearfield::detail::identity_of(device))) + '\n';
      std::istringstream joined(all.join(lines));
      std::set<std::string> different;
      for (std::string one; std::getline(joined, one);) different.insert(one);
      return static_cast<int>(
          std::min<std::uint64_t>(different.size(), all.sum(static_cast<std::uint64_t>(mine))));
    }

    template <class T, class K>
    void run_step(ranks const& all, session const& running, problem<T, K::dim> const& on,
                  starpu_mpi::distributed_tree<T, K::dim> const& tree, K const& k,
                  execution_options const& how, run_result& result)
    {
      auto delivered = output_columns<T>(on, k);
      auto const q_pointers = on.input_pointers();
      auto const out_pointers = pointers<T>(delivered);
      std::optional<starpu_mpi::near_field<T>> step;
      all.attempt(
          [&]
          {
            step.emplace(
                running.runtime(), tree, k, soa<T const, run_time_columns>(q_pointers, on.size()),
                soa<T, run_time_columns>(out_pointers, on.size()),
                starpu_mpi::step_options{
                    .form = how.form,
                    .backend = how.backend,
                    .groups = {.leaves_per_group = how.leaves_per_group.value_or(automatic)}});
          });
      all.wait_for_all();
      auto const start = std::chrono::steady_clock::now();
      try
      {
        step->submit();
      }
      catch (std::exception const& failure)
      {
        all.abort(
            failure
                .what()); // the others wait for messages of this rank, and its destructor for theirs
      }
      all.attempt([&] { step->wait(); });
      result.step.seconds = all.greatest(seconds_since(start));
      result.step.tasks = tasks_of_all(all, step->statistics());
      step.reset();
      result.outputs = in_double(std::move(delivered));
    }

    template <class T, int Dim>
    run_result compute_in(ranks const& all, named_points const& points,
                          interaction_choice const& interaction, cut_options const& cut,
                          execution_options const& how, std::size_t n_check)
    {
      run_result result;
      result.ranks = all.size();
      std::optional<session> running;
      all.attempt([&] { running.emplace(how); });
      std::optional<message_thread> messages;
      all.attempt([&] { messages.emplace(); });
      auto const workers = std::make_shared<starpu::cpu_workers>(running->runtime());
      result.step.workers =
          static_cast<int>(all.sum(static_cast<std::uint64_t>(running->workers())));
      result.step.gpus = gpus_of_all(all, running->runtime().n_gpus());

      problem<T, Dim> const on(points, nullptr, cut, workers);
      auto const start = std::chrono::steady_clock::now();
      tree_options<Dim> options;
      all.attempt([&] { options = on.options(); });
      if (options.root) options.root->half_width = all.greatest(options.root->half_width);
      std::optional<starpu_mpi::distributed_tree<T, Dim>> tree;
      all.attempt(
          [&]
          {
            tree.emplace(MPI_COMM_WORLD, on.targets(), options,
                         starpu_mpi::distribution_options{.threads = workers.get()});
          });
      result.tree_seconds = all.greatest(seconds_since(start));
      describe(all, *tree, cut, result);

      with_interaction<Dim>(interaction,
                            [&]<class K>(K const& k)
                            {
                              all.attempt([&] { check_inputs(points, K::name, K::n_in); });
                              result.output_names =
                                  output_names(K::name, Dim, on.n_inputs() / K::n_in);
                              run_step(all, *running, on, *tree, k, how, result);
                              if (n_check == 0) return;
                              auto const check_start = std::chrono::steady_clock::now();
                              result.check = check_over(all, on, *tree, k, result.outputs, n_check);
                              result.check_seconds = all.greatest(seconds_since(check_start));
                            });
      return result;
    }
  }

  template <class T>
  run_result compute_over(ranks const& all, named_points const& points,
                          interaction_choice const& interaction, cut_options const& cut,
                          execution_options const& step, std::size_t n_check)
  {
    all.attempt([&] { check_interaction(interaction, points.points.dim); });
    return (points.points.dim == 2 ? &compute_in<T, 2> : &compute_in<T, 3>)(all, points,
                                                                            interaction, cut, step,
                                                                            n_check);
  }

  template run_result compute_over<float>(ranks const&, named_points const&,
                                          interaction_choice const&, cut_options const&,
                                          execution_options const&, std::size_t);
  template run_result compute_over<double>(ranks const&, named_points const&,
                                           interaction_choice const&, cut_options const&,
                                           execution_options const&, std::size_t);
}
