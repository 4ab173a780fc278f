#include "tune.hpp"

#include "compute.hpp"
#include "interactions.hpp"
#include "machine.hpp"
#include "task_step.hpp"

#include <nearfield/p2p/cuda.hpp>

#include <iostream>

namespace nearfield::app
{
  namespace
  {
    /// Whether steps with these options run on GPUs.
    bool computes_on_gpus(execution_options const& step)
    {
      if (gpu_alone(step)) return true;
      if (is_of_cpu(step.backend) || step.workers == 0 || step.gpus == 0 || !starpu_has_cuda())
        return step.backend == backend::cuda;
      return !gpus().empty();
    }

    isa isa_of(run_options const& options)
    {
      return options.step.backend == backend::scalar ? isa::scalar : selected_isa();
    }

    template <class T>
    pair_cost measure(run_options const& options, any_interaction const& k, pair_form form,
                      bool on_gpu)
    {
      return on_gpu ? pair_cost_of<T>(cuda, k, form)
                    : pair_cost_of<T>(simd_backend{isa_of(options)}, k, form);
    }

    template <class T, int Dim>
    tuning tune_in(run_options const& options, named_points const& targets,
                   named_points const* sources, std::optional<point_set::bounding_box> const& box,
                   bool counts_groups)
    {
      auto const here = std::make_shared<threads>(cpu_count());
      problem<T, Dim> const on(
          targets, sources, {.box = box, .period = options.periodic, .cell = options.cell}, here);
      auto const k = interaction_of(options.interaction, Dim);
      pair_form const form = on.has_two_sets() ? pair_form::one_sided : options.step.form;
      auto start = std::chrono::steady_clock::now();
      bool const on_gpu = computes_on_gpus(options.step);
      tuning result{.worker = std::string(on_gpu ? "cuda" : nearfield::name_of(isa_of(options))),
                    .form = form,
                    .cost = measure<T>(options, k, form, on_gpu)};
      result.cost_seconds = seconds_since(start);

      start = std::chrono::steady_clock::now();
      auto const where = simd.with(*here);
      leaf_costs const costs{.near_field = result.cost,
                             .seconds_per_leaf = options.far_field_cost.value_or(0)};
      result.choice = on.with_positions(
          [&](auto const&... x) { return choose_leaf_size(where, x..., costs, on.options()); });
      result.choice_seconds = seconds_since(start);
      if constexpr (starpu_is_built_in)
        if (counts_groups && options.step.workers != 0 && !gpu_alone(options.step))
        {
          auto how = on.options();
          how.max_leaf_size = result.choice.max_leaf_size;
          result.groups = number_of_groups(
              options.step,
              on.with_positions([&](auto const&... x) { return build_tree(where, x..., how); }));
        }
      return result;
    }

    std::string padded(std::string text, std::size_t width)
    {
      if (text.size() < width) text.insert(0, width - text.size(), ' ');
      return text;
    }
  }

  pair_cost cost_of_pairs(run_options const& options, int dim, bool on_gpu)
  {
    auto const k = interaction_of(options.interaction, dim);
    pair_form const form = options.sources ? pair_form::one_sided : options.step.form;
    return options.precision == precision::f32 ? measure<float>(options, k, form, on_gpu)
                                               : measure<double>(options, k, form, on_gpu);
  }

  tuning tune_leaves(run_options const& options, named_points const& targets,
                     named_points const* sources, std::optional<point_set::bounding_box> const& box,
                     bool counts_groups)
  {
    return with_types(options.precision, targets.points.dim, [&]<class T, int Dim>()
                      { return tune_in<T, Dim>(options, targets, sources, box, counts_groups); });
  }

  void print_tuning(run_options const& options, point_set const& points, tuning const& found)
  {
    auto const number = [](double value, std::size_t width = 11)
    {
      return padded(number_text(value, std::chars_format::general, 4), width);
    };
    auto const& [worker, form, cost, choice, cost_seconds, choice_seconds, groups] = found;
    char const* const forms[] = {"the faster form", "one-sided", "mutual"};
    char const* const origins[] = {"a table, not measured", "measured before", "measured now"};
    std::cout << "points        " << points.size() << ", " << points.dim << "D\n"
              << "costs         " << options.interaction.name << ", " << name_of(options.precision)
              << ", " << worker << ", " << forms[static_cast<int>(form)] << ": "
              << origins[static_cast<int>(cost.from())] << "\n"
              << "              " << padded("targets", 8) << padded("ns a leaf", 12)
              << padded("ns a source", 13) << padded("G pairs/s", 11) << "\n";
    double const alike = points.dim == 3 ? 27 : 9;
    for (auto const& sample : cost.samples())
      std::cout << "              " << number(sample.targets, 8) << number(sample.seconds * 1e9, 12)
                << number(sample.seconds_per_source * 1e9, 13)
                << number(cost.rate(sample.targets, alike * sample.targets) / 1e9) << "\n";
    std::cout << "leaf sizes    " << padded("at most", 8) << padded("leaves", 12)
              << padded("pairs", 13) << padded("G pairs/s", 11) << padded("near, s", 11)
              << padded("far, s", 11) << padded("sum, s", 11) << "\n";
    for (auto const& tried : choice.tried)
      std::cout << (tried.max_leaf_size == choice.max_leaf_size ? "            * "
                                                                : "              ")
                << number(tried.max_leaf_size, 8) << number(tried.leaves, 12)
                << number(tried.pairs, 13) << number(tried.rate() / 1e9)
                << number(tried.near_seconds) << number(tried.far_seconds)
                << number(tried.seconds()) << "\n";
    std::cout << "chosen        --max-leaf-size " << choice.max_leaf_size << ": "
              << (options.far_field_cost.value_or(0) > 0
                      ? "the least sum"
                      : "no --far-field-cost, so the smallest at 0.8 of the best rate")
              << "\n";
    if (groups > 0)
      std::cout << "groups        " << groups << (groups == 1 ? " task" : " tasks")
                << " of StarPU\n";
  }
}
