#include "run_host.hpp"

#include "merged.hpp"
#include "run.hpp"
#include "tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nearfield::app
{
  void run_host::check_early(run_options const& options) const
  {
    app::check_early(options);
  }

  std::vector<double> run_host::rounding_origins(named_points const& targets,
                                                 named_points const* sources,
                                                 std::vector<double> const& period) const
  {
    threads all(std::numeric_limits<int>::max());
    return app::rounding_origins(extents_of(all, targets, sources), period);
  }

  std::uint64_t run_host::report_merged(named_points const& targets, named_points const* sources,
                                        std::span<double const> origin) const
  {
    return app::report_merged(targets, sources, origin);
  }

  void run_host::prepare(run_options& options, named_points const& targets,
                         named_points const* sources, cut_options& cut)
  {
    if (!cut.level && cut.max_leaf_size == automatic)
      cut.max_leaf_size =
          tune_leaves(options, targets, sources, cut.box, false).choice.max_leaf_size;
    if (options.motion) options.step = place_of_loop(options, targets, cut);
  }

  run_result run_host::compute(run_options const& options, named_points const& targets,
                               named_points const* sources, cut_options const& cut) const
  {
    return run_where_best(options.step, [&](execution_options const& step)
                          { return app::compute(options, step, targets, sources, cut); });
  }

  void run_host::count_not_finite(run_result& result, std::uint64_t) const
  {
    for (auto const& column : result.outputs)
      for (std::size_t i = 0; i < column.size(); ++i)
        if (!std::isfinite(column[i]))
          result.first_not_finite =
              result.not_finite++ == 0 ? i : std::min(result.first_not_finite, i);
  }

  void run_host::start_runtime(run_options const& options)
  {
    runtime_ = gpu_alone(options.step) ? nullptr : keep_running(options.step);
  }

  std::unique_ptr<motion> run_host::start(run_options const& options, named_points& of,
                                          cut_options const& cut, std::vector<double> factors) const
  {
    return run_where_best(options.step, [&](execution_options const& step)
                          { return make_motion(options, step, of, cut, factors); });
  }

  std::optional<std::filesystem::path> run_host::write_frame(std::filesystem::path const& path,
                                                             point_set const& points,
                                                             write_options const& how) const
  {
    write_points(path, points, how);
    return path;
  }

  void run_host::write(run_options const& options, named_points const& of)
  {
    if (options.output)
      files_.write(*options.output,
                   format_points(*options.output, of.points, {.precision = of_file(options)}));
  }

  void run_host::commit(run_options const& options, std::string const& json)
  {
    if (options.json) files_.write(*options.json, json);
    files_.commit("written       ");
  }
}
