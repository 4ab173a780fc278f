#include "compute.hpp"
#include "interactions.hpp"
#include "task_step.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cstdlib>
#include <iostream>

namespace nearfield::app
{
  namespace detail
  {
    template <class Leaves>
    void describe(Leaves const& leaves, run_result& result)
    {
      result.leaves = leaves.size();
      result.depth = leaves.depth();
      result.max_leaf = leaves.largest_leaf();
      result.interactions = leaves.interaction_count();
    }

    template <class T, class K>
    step_result compute_step(problem<T, K::dim> const& on, K const& k,
                             execution_options const& step, run_result& result)
    {
      if (!is_on_gpu_alone(step))
      {
        result.tree_seconds =
            quickest(1, [&] { profiled("tree", [&] { describe(on.leaves(), result); }); });
        return near_field_step(on, k, step);
      }
      gpu_bus bus;
      rehearsal<T, K> const before(bus, on);
      std::optional<gpu_points<T, K::dim>> points;
      result.tree_seconds =
          quickest(1, [&] { profiled("tree", [&] { points.emplace(bus, on); }); });
      describe(points->leaves(), result);
      auto how = step;
      how.form = form_of<K>(step.form, on.size(), points->leaves().size(), on.n_inputs());
      before.near_field(bus, k, how);
      return cuda_near_field(bus, on, *points, k, how);
    }

    template <class T, class K>
    void compute_interaction(problem<T, K::dim> const& on, K const& k,
                             execution_options const& step, std::size_t n_check, run_result& result)
    {
      check_inputs(on.source_points(), K::name, K::n_in);
      auto computed = compute_step(on, k, step, result);
      result.step = std::move(computed.report);
      result.outputs = std::move(computed.outputs);
      result.output_names = output_names(K::name, K::dim, on.n_inputs() / K::n_in);
      if (n_check == 0) return;
      auto const start = std::chrono::steady_clock::now();
      result.check = check_outputs(on, k, result.outputs, n_check);
      result.check_seconds = seconds_since(start);
    }

    template <class T, int Dim>
    run_result compute_in(named_points const& targets, named_points const* sources,
                          interaction_choice const& interaction, cut_options const& cut,
                          execution_options const& step, std::size_t n_check)
    {
      run_result result;
      // StarPU starts here
      problem<T, Dim> const on(targets, sources, cut,
                               is_on_gpu_alone(step) ? std::make_shared<threads>(8)
                                                     : tree_builder(step));
      with_interaction<Dim>(interaction, [&](auto const& k)
                            { compute_interaction(on, k, step, n_check, result); });
      return result;
    }
  }

  std::vector<std::string> output_names(std::string const& interaction, int dim, std::size_t n_rhs)
  {
    bool const has_value = interaction.starts_with("val_grad_");
    if (n_rhs != 1 || !(has_value || interaction.starts_with("grad_"))) return {};
    std::vector<std::string> names;
    if (has_value) names.emplace_back("phi");
    for (int d = 0; d < dim; ++d) names.push_back(std::string("g") + "xyz"[d]);
    return names;
  }

  void check_inputs(named_points const& from, std::string const& interaction, std::size_t n_in)
  {
    std::size_t const n = from.points.inputs.size();
    if (n == 0 || n % n_in != 0)
      throw error(from.name + ": found " + std::to_string(n) + " input columns, expected " +
                  std::to_string(n_in) +
                  (n_in == 1 ? " or more for " : ", or a multiple of it, for ") + interaction +
                  (n == 0 ? "; --columns can name them q" : ""));
  }

  std::optional<execution_options> gpu_alone(execution_options const& asked)
  {
    if (is_on_gpu_alone(asked)) return asked;
    bool const asks_for_tasks = asked.workers || asked.gpus || asked.leaves_per_group ||
                                !asked.scheduler.empty() || std::getenv("STARPU_NCUDA") ||
                                std::getenv("STARPU_LIMIT_CUDA_MEM");
    if (asked.backend != backend::automatic || asks_for_tasks) return std::nullopt;
    auto const n = gpus().size();
    if (n == 0 || (n > 1 && starpu_has_cuda())) return std::nullopt;
    auto chosen = asked;
    chosen.backend = backend::cuda;
    chosen.workers = 0;
    return chosen;
  }

  bool may_try_tasks(execution_options const& asked, error const& failure)
  {
    if (asked.backend != backend::automatic || !starpu_has_cuda() ||
        failure.kind() != error_kind::out_of_memory)
      return false;
    std::cerr << "nearfield: " << failure.what() << "; trying again as StarPU tasks" << std::endl;
    trim_pool(); // StarPU needs what is held unused
    return true;
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
