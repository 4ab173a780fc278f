#include "full_leaf.hpp"
#include "interactions.hpp"
#include "mpi/check.hpp"
#include "mpi/host_over.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    /// The near field of the points of all ranks: a tree and a step, which follow points that move. Every function is
    /// collective. What any rank finds wrong all throw, as agreed_error; what one rank alone throws must end all.
    template <class T, int Dim>
    class field_over
    {
    public:
      /// The points must outlive it. Null sources: one set.
      field_over(mpi_ranks const& all, runtime_over const& on, run_options const& options,
                 named_points const& targets, named_points const* sources, cut_options const& cut)
          : all_(all), runtime_(on), options_(options), targets_(targets), sources_(sources),
            cut_(cut)
      {}

      /// Computes the outputs of this rank's points. The times are those of this rank.
      run_result compute()
      {
        run_result result;
        step_ ? move(result) : start(result);
        auto const begin = std::chrono::steady_clock::now();
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
        result.step.seconds = seconds_since(begin);
        all_.attempt([&] { result.outputs = in_double(std::vector(delivered_)); });
        return result;
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
        describe_workers(all_, runtime_.running(), step_->statistics(), result.step);
      }

      [[nodiscard]] problem<T, Dim> const& points() const { return *on_; }
      [[nodiscard]] starpu_mpi::distributed_tree<T, Dim> const& tree() const { return *tree_; }

    private:
      // Makes the tree and the step.
      void start(run_result& result)
      {
        auto const begin = std::chrono::steady_clock::now();
        auto cut = cut_;
        cut.origin = origin();
        on_.emplace(targets_, sources_, cut, runtime_.workers());
        tree_options<Dim> root;
        all_.attempt([&] { root = on_->options(); });
        if (root.root) root.root->half_width = all_.greatest(root.root->half_width);
        all_.attempt(
            [&]
            {
              starpu_mpi::distribution_options const how{
                  .gpu = runtime_.running().runtime().first_gpu()};
              auto const where = runtime_.place_of_tree();
              on_->with_positions([&](auto const&... x)
                                  { tree_.emplace(where, MPI_COMM_WORLD, x..., root, how); });
            });
        result.tree_seconds = seconds_since(begin);
        all_.attempt([&] { make_step(); });
        full_leaf const fullest{.targets = tree_->total_points(),
                                .sources = sources_ ? tree_->total_sources() : 0,
                                .in_leaf = largest_leaf(),
                                .pairs = all_.sum(tree_->interaction_count())};
        if (all_.is_first()) report_full_leaf(cut_, fullest);
      }

      void make_step()
      {
        auto const k = interaction_of(options_.interaction, Dim);
        delivered_ = output_columns<T>(*on_, k);
        out_ = pointers<T>(delivered_);
        auto const& how = options_.step;
        starpu_mpi::step_options const options{
            .form = how.form,
            .backend = how.backend,
            .groups = {.leaves_per_group = how.leaves_per_group.value_or(automatic)}};
        on_->with_parameters(
            [&](auto const&... parameters)
            {
              step_.emplace(runtime_.running().runtime(), k, *tree_, parameters..., on_->inputs(),
                            soa<T, run_time_columns>(out_, on_->size()), options);
            });
      }

      // The points, as many on each rank, have other positions, which are finite.
      void move(run_result& result)
      {
        auto const begin = std::chrono::steady_clock::now();
        auto const from = origin();
        std::optional<rounded_columns<T>> now;
        all_.attempt([&]
                     { now.emplace(rounded_positions<T>(*runtime_.workers(), targets_, from)); });
        all_.attempt([&] { tree_->rebuild(now->template view<Dim>(), step_->seconds()); });
        result.tree_seconds = seconds_since(begin);
        all_.attempt([&] { step_->positions_changed(); });
      }

      // The largest number of targets, or of sources, in a leaf of any rank.
      [[nodiscard]] std::uint64_t largest_leaf() const
      {
        std::uint64_t largest = 0;
        for (index_type b = tree_->first_leaf(); b < tree_->first_leaf() + tree_->size(); ++b)
          largest = std::max<std::uint64_t>(
              {largest, tree_->known_leaves().count(b), tree_->known_sources().count(b)});
        return all_.greatest(largest);
      }

      [[nodiscard]] std::vector<double> origin() const
      {
        return cut_.origin ? *cut_.origin
                           : rounding_origins<T>(all_, *runtime_.workers(), targets_, sources_,
                                                 cut_.period);
      }

      mpi_ranks const& all_;
      runtime_over const& runtime_;
      run_options const& options_;
      named_points const& targets_;
      named_points const* sources_;
      cut_options cut_;
      std::optional<problem<T, Dim>> on_;
      std::optional<starpu_mpi::distributed_tree<T, Dim>> tree_;
      std::vector<std::vector<T>> delivered_;
      std::vector<T*> out_;
      std::optional<starpu_mpi::near_field<T>> step_;
    };

    // The box is that of all steps, so that it must hold what rounding may do to any point in it.
    template <class T>
    cut_options with_room(cut_options cut)
    {
      if (std::is_same_v<T, double> || !cut.box) return cut;
      constexpr double eps = std::numeric_limits<T>::epsilon();
      cut.origin = rounding_origins(extents_of(*cut.box), {});
      double largest = 0;
      for (std::size_t d = 0; d < cut.origin->size(); ++d)
        largest = std::max(largest, std::abs(cut.box->centre[d] - (*cut.origin)[d]));
      double& half = cut.box->half_width;
      half += eps * (largest + 5 * half);
      return cut;
    }

    template <class T, int Dim>
    run_result compute_in(mpi_ranks const& all, run_options const& options,
                          named_points const& targets, named_points const* sources,
                          cut_options const& cut)
    {
      std::optional<any_interaction> chosen;
      all.attempt(
          [&]
          {
            chosen = interaction_of(options.interaction, Dim);
            check_inputs(sources ? *sources : targets, chosen->info());
          });
      any_interaction const& k = *chosen;
      runtime_over const runtime(all, options.step);
      field_over<T, Dim> field(all, runtime, options, targets, sources, cut);
      auto result = field.compute();
      field.describe(result);
      result.tree_seconds = all.greatest(result.tree_seconds);
      result.step.seconds = all.greatest(result.step.seconds);
      result.output_names = output_names(k.info(), right_hand_sides(field.points(), k));
      if (options.check == 0) return result;
      auto const start = std::chrono::steady_clock::now();
      result.check =
          check_over(all, field.points(), field.tree(), k, result.outputs, options.check);
      result.check_seconds = all.greatest(seconds_since(start));
      return result;
    }
  }

  run_result host_over::compute(run_options const& options, named_points const& targets,
                                named_points const* sources, cut_options const& cut) const
  {
    return with_types(options.precision, targets.points.dim, [&]<class T, int Dim>()
                      { return compute_in<T, Dim>(all_, options, targets, sources, cut); });
  }

  std::unique_ptr<motion> host_over::start(run_options const& options, named_points& of,
                                           cut_options const& cut,
                                           std::vector<double> factors) const
  {
    return with_types(options.precision, of.points.dim,
                      [&]<class T, int Dim>()
                      {
                        auto const field = std::make_shared<field_over<T, Dim>>(
                            all_, *runtime_, options, of, nullptr, with_room<T>(cut));
                        return make_host_motion(
                            all_, of, options.motion->dt, std::move(factors),
                            [field] { return field->compute(); },
                            [field](run_result& result) { field->describe(result); });
                      });
  }
}
