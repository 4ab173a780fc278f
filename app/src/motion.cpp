#include "motion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    class host_motion final : public motion
    {
    public:
      host_motion(ranks const& all, named_points& of, double dt, std::vector<double>&& factors,
                  std::function<run_result()>&& near_field,
                  std::function<void(run_result&)>&& finish)
          : motion(dt), all_(all), of_(of), factors_(std::move(factors)),
            near_field_(std::move(near_field)), finish_(std::move(finish))
      {
        auto& points = of.points;
        if (points.velocities.empty())
          points.velocities.assign(points.positions.size(), std::vector<double>(points.size()));
        accelerate();
      }

      void fetch() override {}
      void finish() override
      {
        if (finish_) finish_(last());
      }

    private:
      using columns = std::vector<std::vector<double>>;

      // to += h * rates
      static void add(double h, columns const& rates, columns& to)
      {
        for (std::size_t d = 0; d < to.size(); ++d)
          for (std::size_t i = 0; i < to[d].size(); ++i) to[d][i] += h * rates[d][i];
      }
      void kick(double h) override { add(h, of_.points.outputs, of_.points.velocities); }
      void drift(double h) override { add(h, of_.points.velocities, of_.points.positions); }

      void accelerate() override
      {
        auto const start = std::chrono::steady_clock::now();
        all_.attempt([&] { check_finite(of_, of_.points.positions, "coordinate"); });
        auto field = near_field_();
        all_.attempt(
            [&]
            {
              of_.points.outputs = std::move(field.outputs);
              for (auto& column : of_.points.outputs)
                for (std::size_t i = 0; i < column.size(); ++i) column[i] *= factors_[i];
              check_finite(of_, of_.points.outputs, "acceleration");
            });
        count(std::move(field), seconds_since(start));
      }

      ranks const& all_;
      named_points& of_;
      std::vector<double> factors_;
      std::function<run_result()> near_field_;
      std::function<void(run_result&)> finish_;
    };
  }

  void motion::count(run_result&& field, double seconds)
  {
    auto tasks = std::move(report_.step.tasks);
    for (auto const& of_worker : field.step.tasks)
    {
      auto const same = std::find_if(
          tasks.begin(), tasks.end(), [&](worker_tasks const& t)
          { return t.worker == of_worker.worker && t.implementation == of_worker.implementation; });
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

  std::unique_ptr<motion> make_host_motion(ranks const& all, named_points& of, double dt,
                                           std::vector<double> factors,
                                           std::function<run_result()> near_field,
                                           std::function<void(run_result&)> finish)
  {
    return std::make_unique<host_motion>(all, of, dt, std::move(factors), std::move(near_field),
                                         std::move(finish));
  }
}
