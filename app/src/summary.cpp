#include "summary.hpp"

#include <nearfield/core/where.hpp>

#include <iostream>
#include <set>
#include <string>

namespace nearfield::app
{
  namespace
  {
    // "avx512", "scalar" or "cuda"; "avx512 and cuda" of a step that CPU workers and GPUs share.
    std::string implementation(run_options const& options, step_report const& step)
    {
      std::set<std::string> ran;
      for (auto const& of : step.tasks) ran.insert(of.implementation);
      std::string names;
      for (auto const& name : ran) names += (names.empty() ? "" : " and ") + name;
      if (!names.empty()) return names;
      if (step.gpus > 0) return name_of(backend::cuda);
      backend const asked = options.step.backend;
      return asked == backend::automatic || asked == backend::simd
                 ? std::string(nearfield::name_of(selected_isa()))
                 : name_of(asked);
    }

    std::string describe_step(run_options const& options, run_result const& result)
    {
      std::string text = name_of(options.step.backend);
      if (auto const how = implementation(options, result.step); how != text)
        text += " (" + how + ")";
      auto const count = [](int n, std::string const& what)
      {
        return ", " + std::to_string(n) + " " + what + (n == 1 ? "" : "s");
      };
      text += std::string(", ") + name_of(options.precision) + count(result.step.workers, "worker");
      return result.step.gpus > 0 ? text + count(result.step.gpus, "GPU") : text;
    }
  }

  void print_summary(run_options const& options, int dim, run_result const& result)
  {
    constexpr auto general = std::chars_format::general;
    std::cout << "points        " << result.points;
    if (options.sources) std::cout << " targets, " << result.sources << " sources";
    std::cout << ", " << dim << "D";
    if (result.ranks > 1) std::cout << ", on " << result.ranks << " ranks";
    std::cout << "\n"
              << "tree          " << result.leaves << (result.leaves == 1 ? " leaf" : " leaves")
              << ", depth " << result.depth << ", at most " << result.max_leaf
              << (result.max_leaf == 1 ? " point" : " points") << " per leaf, "
              << result.interactions
              << (result.interactions == 1 ? " interaction\n" : " interactions\n")
              << "near field    " << describe_step(options, result) << ": "
              << number_text(result.step.seconds, general, 3) << " s";
    if (double const pairs = static_cast<double>(result.interactions);
        !options.motion && pairs > 0 && result.step.seconds > 0) // pairs are those of the last step
      std::cout << ", " << number_text(pairs / result.step.seconds, general, 3) << " pairs/s";
    std::cout << ", setup " << number_text(result.setup_seconds, general, 3) << " s\n";
    if (!result.step.worker_limit.empty())
      std::cout << "              " << result.step.worker_limit << "\n";
    if (result.check)
      std::cout << "check         " << result.check->targets << " targets, max relative error "
                << number_text(result.check->max_relative_error, general, 3) << ", limit "
                << number_text(result.check->limit, general, 3) << ": "
                << (result.check->passed() ? "PASS" : "FAIL") << "\n";
    if (!options.motion) print_not_kept(options);
  }

  void print_not_kept(run_options const& options)
  {
    if (!options.output) std::cout << "results       not kept: give --output FILE\n";
  }
}
