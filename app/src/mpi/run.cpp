#include "run.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "machine.hpp"
#include "mpi/command.hpp"
#include "mpi/compute_over.hpp"
#include "mpi/merged_over.hpp"
#include "mpi/output.hpp"
#include "mpi/ranks.hpp"
#include "mpi/steps_over.hpp"
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

    class host_over final : public run_host
    {
    public:
      explicit host_over(app::ranks const& all) : all_(all) {}

      [[nodiscard]] int ranks() const override { return all_.size(); }
      [[nodiscard]] bool is_first() const override { return all_.is_first(); }
      void attempt(std::function<void()> const& f) const override { all_.attempt(f); }
      [[noreturn]] void rethrow(error const& e, std::string const& before) const override
      {
        if (auto const* const agreed = dynamic_cast<agreed_error const*>(&e))
          throw agreed_error(agreed->rank(), before + agreed->said(), e.kind(), e.code());
        throw; // of this rank alone, and ends all
      }
      [[nodiscard]] bool any(bool here) const override { return all_.sum(std::uint64_t(here)) > 0; }
      void sum(std::span<double> values) const override
      {
        auto const sums = all_.sum(std::vector<long double>(values.begin(), values.end()));
        std::ranges::transform(sums, values.begin(),
                               [](long double x) { return static_cast<double>(x); });
      }
      [[nodiscard]] double slowest(double seconds) const override { return all_.greatest(seconds); }

      void check_early(run_options const& options) const override { check_here(all_, options); }
      [[nodiscard]] named_points read(std::filesystem::path const& path,
                                      part_reader const& read) const override
      {
        require_same_file(all_, path);
        return read_part(all_, read);
      }
      [[nodiscard]] std::vector<double>
      rounding_origins(named_points const& targets, named_points const* sources,
                       std::vector<double> const& period) const override
      {
        threads here(1);
        return app::rounding_origins<float>(all_, here, targets, sources, period);
      }
      [[nodiscard]] std::uint64_t report_merged(named_points const& targets,
                                                named_points const* sources,
                                                std::span<double const> origin) const override
      {
        return report_merged_over(all_, targets, sources, origin);
      }
      void prepare(run_options& options, named_points const& targets, named_points const*,
                   cut_options& cut) override
      {
        options.step = share_machine(all_, options.step);
        cut.costs = &costs_;
        if (!options.level && options.max_leaf_size == automatic)
          all_.attempt([&] { costs_ = leaf_costs_of(options, targets.points.dim); });
      }
      [[nodiscard]] run_result compute(run_options const& options, named_points const& targets,
                                       named_points const* sources,
                                       cut_options const& cut) const override
      {
        return compute_over(all_, options, targets, sources, cut);
      }
      void count_not_finite(run_result& result, std::uint64_t first_here) const override
      {
        run_host::count_not_finite(result, first_here);
        bool const is_here = result.not_finite > 0;
        result.first_not_finite =
            all_.least(is_here ? first_here + result.first_not_finite : result.points);
        result.not_finite = all_.sum(result.not_finite);
      }

      void start_runtime(run_options const& options) override
      {
        runtime_.emplace(all_, options.step);
      }
      [[nodiscard]] std::unique_ptr<motion> start(run_options const& options, named_points& of,
                                                  cut_options const& cut,
                                                  std::vector<double> factors) const override
      {
        return make_motion_over(all_, *runtime_, options, of, cut, std::move(factors));
      }
      [[nodiscard]] std::optional<std::filesystem::path>
      write_frame(std::filesystem::path const& path, point_set const& points,
                  write_options const& how) const override
      {
        output_of_ranks frame;
        frame.write(all_, path, points, how);
        frame.commit(all_);
        return all_.is_first() ? std::optional(file_of_first(path)) : std::nullopt;
      }

      void write(run_options const& options, named_points const& of) override
      {
        if (options.output)
          files_.write(all_, *options.output, of.points, {.precision = of_file(options)});
      }
      void commit(run_options const& options, std::string const& json) override
      {
        files_.write_json(all_, options.json, json);
        files_.commit(all_, "written       ");
      }

    private:
      app::ranks const& all_;
      leaf_costs costs_;
      std::optional<runtime_over> runtime_;
      output_of_ranks files_;
    };
  }

  exit_status run_over_ranks(run_options const& options, std::string const& written)
  {
    check_options(options);
    return on_all_ranks(written,
                        [&](ranks const& all)
                        {
                          host_over host(all);
                          return run(host, options);
                        });
  }
}
