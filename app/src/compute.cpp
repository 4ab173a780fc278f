#include "compute.hpp"
#include "full_leaf.hpp"
#include "gpu_step.hpp"
#include "interactions.hpp"
#include "small_work.hpp"
#include "task_step.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace nearfield::app
{
  namespace detail
  {
    // What one core takes for the pairs, roughly; the tree has been built.
    template <class T, int Dim>
    double seconds_on_a_core(problem<T, Dim> const& on, any_interaction const& k,
                             execution_options const& step)
    {
      auto const form =
          nearfield::detail::choose_form("near_field", step.form, backend::simd,
                                         nearfield::detail::form_case_of(k, !on.has_two_sets()));
      auto const worker =
          nearfield::name_of(step.backend == backend::scalar ? isa::scalar : selected_isa());
      auto const cost = nearfield::detail::table_cost<T>(
          nearfield::detail::cost_subject_of<T>(k, form == pair_form::mutual, worker));
      constexpr double leaf = 64, sources = 27 * leaf;
      return static_cast<double>(on.leaves().interaction_count()) *
             static_cast<double>(std::max<std::size_t>(1, right_hand_sides(on, k))) *
             cost(leaf, sources) / (leaf * sources);
    }

    template <class T, int Dim>
    step_result compute_step(problem<T, Dim> const& on, any_interaction const& k,
                             execution_options const& step, run_result& result)
    {
      std::optional<std::uint64_t> sources;
      if (on.has_two_sets()) sources = on.source_points().points.size();
      if (!is_on_gpu_alone(step))
      {
        result.tree_seconds =
            quickest(1,
                     [&]
                     {
                       profiled("tree", [&]
                                { describe(on.cut(), on.size(), sources, on.leaves(), result); });
                     });
        return near_field_step(on, k,
                               may_be_small(step, on.size())
                                   ? where_it_is_faster(step, seconds_on_a_core(on, k, step), 1)
                                   : step);
      }
      gpu_bus bus;
      rehearsal<T, Dim> const before(bus, on);
      std::optional<gpu_points<T, Dim>> points;
      result.tree_seconds =
          quickest(1, [&] { profiled("tree", [&] { points.emplace(bus, on); }); });
      describe(on.cut(), on.size(), sources, points->leaves(), result);
      auto how = step;
      auto of = nearfield::detail::form_case_of(k, !on.has_two_sets());
      of.n_rhs = static_cast<int>(right_hand_sides(on, k));
      of.points = on.size();
      of.leaves = points->leaves().size();
      how.form = nearfield::detail::choose_form("near_field", step.form, backend::cuda, of);
      before.near_field(bus, k, how);
      return cuda_near_field(bus, on, *points, k, how);
    }

    template <class T, int Dim>
    run_result compute_in(run_options const& options, execution_options const& step,
                          named_points const& targets, named_points const* sources,
                          cut_options const& cut)
    {
      auto const k = interaction_of(options.interaction, Dim);
      check_inputs(sources ? *sources : targets, k.info());
      std::shared_ptr<executor> builder;
      if (is_on_gpu_alone(step))
        builder = std::make_shared<threads>(8);
      else if (may_be_small(step, targets.points.size()))
        builder = std::make_shared<threads>(std::numeric_limits<int>::max());
      else
        builder = tree_builder(step); // StarPU starts here
      problem<T, Dim> const on(targets, sources, cut, builder);
      run_result result;
      auto computed = compute_step(on, k, step, result);
      result.step = std::move(computed.report);
      result.outputs = std::move(computed.outputs);
      result.output_names = output_names(k.info(), right_hand_sides(on, k));
      if (options.check == 0) return result;
      auto const start = std::chrono::steady_clock::now();
      result.check = check_outputs(on, k, result.outputs, options.check);
      result.check_seconds = seconds_since(start);
      return result;
    }
  }

  std::vector<std::string> output_names(interaction_info const& of, std::size_t n_rhs)
  {
    bool const has_value = of.outputs == "potential, gradient";
    if (n_rhs != 1 || !(has_value || of.outputs == "gradient")) return {};
    std::vector<std::string> names;
    if (has_value) names.emplace_back("phi");
    for (int d = 0; d < of.dim; ++d) names.push_back(std::string("g") + "xyz"[d]);
    return names;
  }

  void check_inputs(named_points const& from, interaction_info const& of)
  {
    std::size_t const n = from.points.inputs.size(), n_in = static_cast<std::size_t>(of.n_in);
    if (n == 0 || n % n_in != 0)
      throw error(
          from.name + ": found " + std::to_string(n) +
          (n == 1 ? " input column" : " input columns") + ", expected " + std::to_string(n_in) +
          (n_in == 1 ? " or more for " : ", or a multiple of it, for ") + std::string(of.name) +
          ": " + std::string(of.inputs) + (n == 0 ? "; --columns can name them q" : ""));
  }

  std::optional<execution_options> gpu_alone(execution_options const& asked)
  {
    if (is_on_gpu_alone(asked)) return asked;
    bool const asks_for_tasks = asked.ask_for_tasks() || std::getenv("STARPU_NCUDA") ||
                                std::getenv("STARPU_LIMIT_CUDA_MEM");
    if (asked.backend != backend::automatic || asks_for_tasks) return std::nullopt;
    auto const n = gpus().size();
    if (n == 0 || (n > 1 && starpu_has_cuda())) return std::nullopt;
    auto chosen = asked;
    chosen.backend = backend::cuda;
    chosen.workers = 0;
    return chosen;
  }

  namespace
  {
    template <class T, int Dim>
    double seconds_of_step(named_points const& of, interaction_choice const& interaction,
                           cut_options const& cut, execution_options const& step)
    {
      auto const builder = std::make_shared<threads>(std::numeric_limits<int>::max());
      problem<T, Dim> const on(of, nullptr, cut, builder);
      return detail::seconds_on_a_core(on, interaction_of(interaction, Dim), step);
    }
  }

  execution_options place_of_loop(run_options const& options, named_points const& of,
                                  cut_options const& cut)
  try
  {
    if (gpu_alone(options.step) || !may_be_small(options.step, of.points.size()))
      return options.step;
    double const seconds =
        with_types(options.precision, of.points.dim, [&]<class T, int Dim>()
                   { return seconds_of_step<T, Dim>(of, options.interaction, cut, options.step); });
    return where_it_is_faster(options.step, seconds, options.motion->steps + 1);
  }
  catch (error const&)
  {
    return options.step; // the first step throws it, with its number
  }

  run_result compute(run_options const& options, execution_options const& step,
                     named_points const& targets, named_points const* sources,
                     cut_options const& cut)
  {
    return with_types(options.precision, targets.points.dim, [&]<class T, int Dim>()
                      { return detail::compute_in<T, Dim>(options, step, targets, sources, cut); });
  }
}
