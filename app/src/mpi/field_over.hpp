#pragma once

#include "compute.hpp"
#include "full_leaf.hpp"
#include "interactions.hpp"
#include "mpi/command.hpp"
#include "mpi/ranks.hpp"
#include "step.hpp"
#include "task_step.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::app
{
  /// StarPU-MPI, running as long as this lives.
  class message_thread
  {
  public:
    message_thread();
    ~message_thread();
    message_thread(message_thread const&) = delete;
    message_thread& operator=(message_thread const&) = delete;
  };

  /// StarPU, StarPU-MPI and the workers that build trees. Collective; throws agreed_error.
  class runtime_over
  {
  public:
    runtime_over(ranks const& all, execution_options const& how)
    {
      all.attempt([&] { running_.emplace(how); });
      all.attempt([&] { messages_.emplace(); });
      workers_ = std::make_shared<starpu::cpu_workers>(running_->runtime());
      if (workers_->workers() > 1) threads_of_tree_ = workers_;
    }
    [[nodiscard]] session const& running() const { return *running_; }
    [[nodiscard]] std::shared_ptr<starpu::cpu_workers> const& workers() const { return workers_; }
    /// Where trees are made: by the workers, or by the calling thread if there is one worker.
    [[nodiscard]] on_threads<simd_backend> place_of_tree() const
    {
      return simd.with(*threads_of_tree_);
    }

  private:
    std::optional<session> running_;
    std::optional<message_thread> messages_;
    std::shared_ptr<starpu::cpu_workers> workers_;
    std::shared_ptr<executor> threads_of_tree_ = std::make_shared<threads>(1);
  };

  /// What a result says of the machine, and of tasks: of all ranks.
  void describe_workers(ranks const& all, session const& running, run_result& result);
  [[nodiscard]] std::vector<worker_tasks> tasks_of_all(ranks const& all,
                                                       std::vector<worker_tasks> const& mine);

  /// The near field of the points of all ranks: a tree and a step. Every function is collective. What any rank finds
  /// wrong all throw, as agreed_error; what one rank alone throws must end all.
  template <class T, int Dim>
  class field_over
  {
  public:
    field_over(ranks const& all, runtime_over const& on, cut_options const& cut,
               execution_options const& how)
        : all_(all), runtime_(on), cut_(cut), how_(how)
    {}

    /// Makes the tree and the step. The points must outlive it. Null sources: one set.
    template <class K>
    void start(named_points const& targets, named_points const* sources, K const& k)
    {
      auto const begin = std::chrono::steady_clock::now();
      auto cut = cut_;
      cut.origin = origin_of(targets, sources);
      on_.emplace(targets, sources, cut, runtime_.workers());
      tree_options<Dim> options;
      all_.attempt([&] { options = on_->options(); });
      if (options.root) options.root->half_width = all_.greatest(options.root->half_width);
      all_.attempt(
          [&]
          {
            starpu_mpi::distribution_options const how{
                .gpu = runtime_.running().runtime().first_gpu()};
            auto const where = runtime_.place_of_tree();
            if (sources)
              tree_.emplace(where, MPI_COMM_WORLD, on_->targets(), on_->sources(), options, how);
            else
              tree_.emplace(where, MPI_COMM_WORLD, on_->targets(), options, how);
          });
      tree_seconds_ = seconds_since(begin);
      all_.attempt(
          [&]
          {
            check_inputs(on_->source_points(), K::name, K::n_in);
            delivered_ = output_columns<T>(*on_, k);
            q_ = on_->input_pointers();
            out_ = pointers<T>(delivered_);
            step_.emplace(
                runtime_.running().runtime(), k, *tree_,
                soa<T const, run_time_columns>(q_, on_->sources().size()),
                soa<T, run_time_columns>(out_, on_->size()),
                starpu_mpi::step_options{
                    .form = how_.form,
                    .backend = how_.backend,
                    .groups = {.leaves_per_group = how_.leaves_per_group.value_or(automatic)}});
          });
      full_leaf const fullest{.targets = tree_->total_points(),
                              .sources = sources ? tree_->total_sources() : 0,
                              .in_leaf = largest_leaf(),
                              .pairs = all_.sum(tree_->interaction_count())};
      if (all_.is_first()) report_full_leaf(cut_, fullest);
    }

    /// The points, as many on each rank, have other positions, which are finite.
    void move(named_points const& points)
    {
      auto const begin = std::chrono::steady_clock::now();
      auto const& positions = points.points.positions;
      auto const origin = origin_of(points, nullptr);
      std::optional<rounded_columns<T>> now;
      std::array<T const*, Dim> x{};
      all_.attempt(
          [&]
          {
            now.emplace(*runtime_.workers(), positions, origin, std::span<double const>());
            check_ranges<T>(positions, origin, now->ranges, points.name, "coordinate",
                            points.first);
            for (std::size_t d = 0; d < Dim; ++d) x[d] = now->columns[d].data();
          });
      all_.attempt(
          [&] { tree_->rebuild(soa<T const, Dim>(x, points.points.size()), step_->seconds()); });
      tree_seconds_ = seconds_since(begin);
      all_.attempt([&] { step_->positions_changed(); });
    }

    /// Computes the outputs of this rank's points.
    void compute()
    {
      auto const start = std::chrono::steady_clock::now();
      try
      {
        step_->submit();
      }
      catch (std::exception const& failure)
      {
        // the others wait for messages of this rank, and its destructor for theirs
        all_.abort(failure.what());
      }
      all_.attempt([&] { step_->wait(); });
      seconds_ = seconds_since(start);
    }

    /// What a result says of all ranks, but the outputs.
    void describe(run_result& result) const
    {
      int depth = cut_.level.value_or(0);
      for (index_type b = tree_->first_leaf(); b < tree_->first_leaf() + tree_->size(); ++b)
        depth = std::max(depth, tree_->cell(b).level);
      result.ranks = all_.size();
      result.points = tree_->total_points();
      result.sources = tree_->total_sources();
      result.leaves = tree_->total_leaves();
      result.depth = static_cast<int>(all_.greatest(std::uint64_t(depth)));
      result.max_leaf = largest_leaf();
      result.interactions = all_.sum(tree_->interaction_count());
      describe_workers(all_, runtime_.running(), result);
      result.step.tasks = tasks_of_all(all_, step_->statistics());
    }

    /// Of this rank, the last time.
    [[nodiscard]] double tree_seconds() const { return tree_seconds_; }
    [[nodiscard]] double seconds() const { return seconds_; }
    [[nodiscard]] std::vector<std::vector<T>> const& outputs() const { return delivered_; }
    [[nodiscard]] problem<T, Dim> const& points() const { return *on_; }
    [[nodiscard]] starpu_mpi::distributed_tree<T, Dim> const& tree() const { return *tree_; }

  private:
    // The largest number of targets, or of sources, in a leaf of any rank.
    [[nodiscard]] std::uint64_t largest_leaf() const
    {
      std::uint64_t largest = 0;
      for (index_type b = tree_->first_leaf(); b < tree_->first_leaf() + tree_->size(); ++b)
        largest = std::max<std::uint64_t>(
            {largest, tree_->known_leaves().count(b), tree_->known_sources().count(b)});
      return all_.greatest(largest);
    }

    [[nodiscard]] std::vector<double> origin_of(named_points const& targets,
                                                named_points const* sources) const
    {
      return cut_.origin
                 ? *cut_.origin
                 : rounding_origins<T>(all_, *runtime_.workers(), targets, sources, cut_.period);
    }

    ranks const& all_;
    runtime_over const& runtime_;
    cut_options cut_;
    execution_options how_;
    std::optional<problem<T, Dim>> on_;
    std::optional<starpu_mpi::distributed_tree<T, Dim>> tree_;
    std::vector<std::vector<T>> delivered_;
    std::vector<T const*> q_;
    std::vector<T*> out_;
    std::optional<starpu_mpi::near_field<T>> step_;
    double tree_seconds_ = 0, seconds_ = 0;
  };
}
