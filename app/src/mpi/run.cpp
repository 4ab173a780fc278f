#include "run.hpp"
#include "commands.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "json.hpp"
#include "machine.hpp"
#include "mpi/command.hpp"
#include "mpi/compute_over.hpp"
#include "mpi/merged_over.hpp"
#include "mpi/output.hpp"
#include "mpi/ranks.hpp"
#include "mpi/steps_over.hpp"
#include "summary.hpp"
#include "taken.hpp"
#include "tune.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/starpu_mpi/near_field.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    void check_options(run_options const& options)
    {
      if (options.step.workers == 0)
        throw error(
            "--workers 0: not available over ranks of MPI, which compute as StarPU tasks; give "
            "1 or more");
      if (options.step.gpus.value_or(0) > 0 && std::getenv("STARPU_WORKERS_CUDAID"))
        throw error("--gpus: found STARPU_WORKERS_CUDAID, which names the GPUs of each rank; leave "
                    "out one of them");
    }

    // Of this rank, by share_gpus() or by whoever has set StarPU's variable.
    int gpus_here()
    {
      if (!no_gpu_tasks().empty()) return 0;
      char const* const number = std::getenv("STARPU_NCUDA");
      return number ? std::max(0, std::atoi(number)) : static_cast<int>(gpus().size());
    }

    // Each rank computes on its share of the machine's GPUs, and by CPU workers on cores of its own. If it has several, one
    // is for the thread of StarPU-MPI, so that messages need not wait for a worker, and one for each GPU.
    execution_options share_machine(ranks const& all, execution_options step)
    {
      bool const may_use_gpus = !is_of_cpu(step.backend) && step.gpus != 0;
      if (may_use_gpus) starpu_mpi::share_gpus(MPI_COMM_WORLD, step.gpus);
      if (step.gpus > 0) step.gpus = std::nullopt; // of this rank, what it was given
      leave_binding_to_the_launcher();
      if (step.workers || std::getenv("STARPU_NCPU")) return step;
      int const share = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) / all.on_this_machine();
      int const gpus = may_use_gpus ? gpus_here() : 0;
      step.workers = std::max(1, std::min(cpu_count(), share) - 1 - gpus);
      return step;
    }

    // Before StarPU starts, whose workers would take the time of what is measured.
    leaf_costs leaf_costs_of(run_options const& options, int dim)
    {
      bool const on_gpu =
          !is_of_cpu(options.step.backend) && options.step.gpus != 0 && gpus_here() > 0;
      return {.near_field = cost_of_pairs(options, dim, on_gpu),
              .seconds_per_leaf = options.far_field_cost.value_or(0)};
    }

    // The first rank alone writes to files that are not pieces, so that it alone must be able to.
    void check_here(ranks const& all, run_options const& options)
    {
      auto early = options;
      early.output.reset();
      if (early.motion) early.motion->frames.reset();
      if (!all.is_first()) early.json.reset();
      check_early(early);
      if (!options.output) return;
      check_writable_format(*options.output);
      check_motion(options);
      if (all.is_first())
      {
        check_frames(options);
        auto named = options;
        named.output = file_of_first(*options.output);
        check_frames(named);
      }
      if (all.is_first())
        check_output("--output", file_of_first(*options.output),
                     {options.input, options.sources, options.json});
      if (has_pieces(*options.output))
        check_output("--output", piece_of(*options.output, all.rank()),
                     {options.input, options.sources, options.json});
    }

    void count_not_finite(ranks const& all, run_result& result, std::uint64_t first_here)
    {
      count_not_finite(result);
      bool const is_here = result.not_finite > 0;
      result.first_not_finite =
          all.least(is_here ? first_here + result.first_not_finite : result.points);
      result.not_finite = all.sum(result.not_finite);
    }

    exit_status run(ranks const& all, run_options const& asked)
    {
      run_options options = asked;
      auto start = std::chrono::steady_clock::now();
      all.attempt([&] { check_here(all, options); });
      double const early_seconds = seconds_since(start);
      start = std::chrono::steady_clock::now();
      require_same_file(all, options.input);
      if (options.sources) require_same_file(all, *options.sources);
      auto both = read_both(options, [&](part_reader const& read) { return read_part(all, read); });
      auto& mine = both.first; // names that lambdas capture with clang++ 14 too
      named_points const* const sources = both.second ? &*both.second : nullptr;
      point_set const* const source_points = sources ? &sources->points : nullptr;
      double const read_seconds = all.greatest(seconds_since(start));

      leaf_costs costs;
      cut_options cut{.level = options.level,
                      .max_leaf_size = options.max_leaf_size,
                      .costs = &costs,
                      .period = options.periodic};
      all.attempt(
          [&]
          {
            leave_out_velocities(options, mine.points);
            check_axes(options.periodic, mine);
            cut.box = choose_box(options, mine.points, source_points);
          });
      auto const taken = taken_of(options, mine, sources, cut.box);
      if (all.is_first()) print_taken(taken);
      start = std::chrono::steady_clock::now();
      auto const step = share_machine(all, options.step);
      if (!options.level && options.max_leaf_size == automatic)
        all.attempt([&] { costs = leaf_costs_of(options, mine.points.dim); });
      std::uint64_t merged = 0;
      if (options.precision == precision::f32)
      {
        threads here(1);
        auto const origin = rounding_origins<float>(all, here, mine, sources, options.periodic);
        options.has_origin = has_origin(origin);
        merged = report_merged_over(all, mine, sources, origin);
      }
      if (options.motion)
        return run_steps_over(all, options, std::move(mine), cut, step, read_seconds,
                              early_seconds + seconds_since(start), merged);
      auto const compute_in =
          options.precision == precision::f32 ? &compute_over<float> : &compute_over<double>;
      auto result = compute_in(all, mine, sources, options.interaction, cut, step, options.check);
      result.setup_seconds =
          all.greatest(early_seconds + seconds_since(start) - result.tree_seconds -
                       result.step.seconds - result.check_seconds);
      result.merged = merged;
      count_not_finite(all, result, mine.first);

      std::string json;
      if (all.is_first())
      {
        print_summary(options, mine.points, source_points, result);
        if (options.json)
          json = json_of(options, mine.points, source_points, taken, result, read_seconds);
      }
      mine.points.outputs = std::move(result.outputs);
      mine.points.output_names = std::move(result.output_names);
      output_of_ranks files;
      if (options.output)
        files.write(all, *options.output, mine.points, {.precision = of_file(options)});
      files.write_json(all, options.json, json);
      files.commit(all, "written       ");
      if (result.not_finite > 0 && all.is_first()) report_not_finite(options, result);
      if (all.is_first()) report_rounding(options, result);
      bool const passed = result.not_finite == 0 && (!result.check || result.check->passed());
      return passed ? success : check_failed;
    }
  }

  exit_status run_over_ranks(run_options const& options, std::string const& written)
  {
    check_options(options);
    return on_all_ranks(written, [&](ranks const& all) { return run(all, options); });
  }
}
