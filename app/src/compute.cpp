#include "compute.hpp"
#include "interactions.hpp"
#include "task_step.hpp"

namespace nearfield::app
{
  namespace detail
  {
    /// phi and gx gy [gz] for a value or a gradient, according to the name of K. Empty (phi1 phi2 ...) for
    /// other interactions and for several right-hand sides.
    template <class K>
    std::vector<std::string> output_names(std::size_t n_rhs)
    {
      std::string const name = K::name;
      bool const has_value = name.starts_with("val_grad_");
      if (n_rhs != 1 || !(has_value || name.starts_with("grad_"))) return {};
      std::vector<std::string> names;
      if (has_value) names.emplace_back("phi");
      for (int d = 0; d < K::dim; ++d) names.push_back(std::string("g") + "xyz"[d]);
      return names;
    }

    template <class T, class K>
    void compute_interaction(problem<T, K::dim> const& on,
                             std::optional<gpu_points<T, K::dim>> const& points, K const& k,
                             std::string const& source_name, execution_options const& step,
                             std::size_t n_check, run_result& result)
    {
      if (on.inputs.empty() || on.inputs.size() % K::n_in != 0)
        throw error(source_name + ": found " + std::to_string(on.inputs.size()) +
                    " input columns, expected " + std::to_string(K::n_in) +
                    (K::n_in == 1 ? " or more for " : ", or a multiple of it, for ") + K::name);
      auto computed = near_field_step(on, k, step, points);
      result.step = std::move(computed.report);
      result.output_names = output_names<K>(on.inputs.size() / K::n_in);
      if (n_check > 0) result.check = check_outputs(on, k, computed.outputs, n_check);
      if constexpr (std::is_same_v<T, double>)
        result.outputs = std::move(computed.outputs);
      else
        for (auto const& column : computed.outputs)
          result.outputs.emplace_back(column.begin(), column.end());
    }

    template <class T, int Dim>
    run_result compute_in(named_points const& targets, named_points const* sources,
                          interaction_choice const& interaction, cut_options const& cut,
                          execution_options const& step, std::size_t n_check)
    {
      run_result result;
      bool const is_on_gpu = is_on_gpu_alone(step);
      // what starts StarPU or CUDA does so before the clock
      auto const builder = is_on_gpu ? nullptr : tree_builder(step);
      if (is_on_gpu) load_tree_kernels<T, Dim>();
      auto const start = std::chrono::steady_clock::now();
      auto const describe = [&](auto const& leaves)
      {
        result.tree_seconds = seconds_since(start);
        result.leaves = leaves.size();
        result.depth = leaves.depth();
        result.max_leaf = leaves.largest_leaf();
        result.interactions = leaves.interaction_count();
      };
      std::optional<gpu_points<T, Dim>> points;
      auto const on = profiled("tree",
                               [&]
                               {
                                 auto made = make_problem<T, Dim>(targets, sources, cut);
                                 made.builder = builder;
                                 if (is_on_gpu)
                                   describe(points.emplace(made).leaves());
                                 else
                                   describe(made.leaves());
                                 return made;
                               });
      with_interaction<Dim>(interaction,
                            [&](auto const& k)
                            {
                              compute_interaction(on, points, k,
                                                  sources ? sources->name : targets.name, step,
                                                  n_check, result);
                            });
      return result;
    }
  }

  std::shared_ptr<void> keep_running(execution_options const& step)
  {
    if (step.workers == 0 || !starpu_is_built_in) return nullptr;
    return std::make_shared<session>(step);
  }

  template <class T>
  run_result compute(named_points const& targets, named_points const* sources,
                     interaction_choice const& interaction, cut_options const& cut,
                     execution_options const& step, std::size_t n_check)
  {
    check_interaction(interaction, targets.points.dim);
    return targets.points.dim == 2
               ? detail::compute_in<T, 2>(targets, sources, interaction, cut, step, n_check)
               : detail::compute_in<T, 3>(targets, sources, interaction, cut, step, n_check);
  }

  template run_result compute<float>(named_points const&, named_points const*,
                                     interaction_choice const&, cut_options const&,
                                     execution_options const&, std::size_t);
  template run_result compute<double>(named_points const&, named_points const*,
                                      interaction_choice const&, cut_options const&,
                                      execution_options const&, std::size_t);
}
