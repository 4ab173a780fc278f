#include "motion.hpp"

#include "leapfrog.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    // In the host's memory: near fields of trees of the present positions, by all of the program's back-ends.
    class host_motion final : public motion
    {
    public:
      host_motion(run_options const& options, execution_options const& step, named_points& of,
                  cut_options const& cut, std::vector<double>&& factors)
          : options_(options), step_(step), of_(of), cut_(cut), factors_(std::move(factors)),
            runtime_(keep_running(step)),
            loop_(
                of.points, [this](point_set& points) { accelerate(points); }, options.motion->dt)
      {}

      void step() override { loop_.step(); }
      void fetch() override {}

    private:
      // Sets the outputs of the points.
      void accelerate(point_set& points)
      {
        auto const start = std::chrono::steady_clock::now();
        check_finite(of_, points.positions, "coordinate");
        // the one place that makes a tree and sums over it
        auto field = compute(options_, step_, of_, nullptr, cut_);
        points.outputs = std::move(field.outputs);
        scale_to_accelerations(of_, factors_);
        count(std::move(field), seconds_since(start));
      }

      run_options const& options_;
      execution_options step_;
      named_points& of_;
      cut_options const& cut_;
      std::vector<double> factors_;
      std::shared_ptr<void> runtime_; // before the loop, which starts at once
      leapfrog loop_;
    };
  }

  void motion::count(run_result&& field, double seconds)
  {
    auto tasks = std::move(report_.step.tasks);
    for (auto const& of_worker : field.step.tasks)
    {
      auto const same = std::find_if(tasks.begin(), tasks.end(),
                                     [&](worker_tasks const& t) {
                                       return t.worker == of_worker.worker &&
                                              t.implementation == of_worker.implementation;
                                     });
      if (same == tasks.end())
        tasks.push_back(of_worker);
      else
        same->tasks += of_worker.tasks;
    }
    field.step.seconds = report_.step.seconds + seconds - field.tree_seconds;
    field.tree_seconds += report_.tree_seconds;
    field.step.tasks = std::move(tasks);
    report_ = std::move(field);
    seconds_ += seconds;
  }

  void check_finite(named_points const& of, std::vector<std::vector<double>> const& columns,
                    char const* what)
  {
    for (std::size_t d = 0; d < columns.size(); ++d)
      for (std::size_t i = 0; i < columns[d].size(); ++i)
        if (!std::isfinite(columns[d][i]))
          throw error(of.name + ": point " + std::to_string(of.first + i) + " has the " + what +
                          " " + number_text(columns[d][i]) + " along " + "xyz"[d] +
                          "; give a smaller --dt, soften with --param eps=..., or use other units",
                      error_kind::invalid_data);
  }

  void scale_to_accelerations(named_points& of, std::vector<double> const& factors)
  {
    for (auto& column : of.points.outputs)
      for (std::size_t i = 0; i < column.size(); ++i) column[i] *= factors[i];
    check_finite(of, of.points.outputs, "acceleration");
  }

  std::unique_ptr<motion> make_motion(run_options const& options, execution_options const& step,
                                      named_points& of, cut_options const& cut,
                                      std::vector<double> factors)
  {
    if (step.backend == backend::cuda && gpu_alone(step))
      return make_gpu_motion(options, step, of, cut, std::move(factors));
    return std::make_unique<host_motion>(options, step, of, cut, std::move(factors));
  }
}
