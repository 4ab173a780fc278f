#include "time_loop.hpp"

#include "energy.hpp"
#include "files.hpp"
#include "frames.hpp"
#include "json.hpp"
#include "leapfrog.hpp"
#include "progress.hpp"
#include "stop_request.hpp"
#include "summary.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    [[noreturn]] void fail_at(named_points const& of, std::size_t i, std::string const& what)
    {
      throw error(of.name + ": point " + std::to_string(i) + " has " + what,
                  error_kind::invalid_data);
    }

    // The masses of the points. Those of gravity become the inputs, if the file has them in column m.
    std::vector<double> take_masses(force f, named_points& of)
    {
      auto& points = of.points;
      bool const is_gravity = f == force::gravity;
      if (is_gravity && points.inputs.empty() && !points.masses.empty())
      {
        points.inputs.push_back(std::move(points.masses));
        points.input_names = {"m"};
        points.masses = {};
      }
      if (is_gravity && !points.inputs.empty() && !points.masses.empty())
        throw error(
            of.name +
                ": found columns q and m, and each may be the masses of --move gravity; skip one "
                "by --columns",
            error_kind::invalid_data);
      if (points.inputs.size() != 1)
        throw error(of.name + ": found " + std::to_string(points.inputs.size()) + " input columns" +
                        (points.masses.empty() ? "" : " beside masses") + ", expected " +
                        (is_gravity ? "masses, as the column q or m, for --move gravity"
                                    : "one, the charges, for --move charges"),
                    error_kind::invalid_data);
      auto const masses = is_gravity              ? points.inputs[0]
                          : points.masses.empty() ? std::vector<double>(points.size(), 1)
                                                  : points.masses;
      for (std::size_t i = 0; i < masses.size(); ++i)
        if (!(is_gravity ? masses[i] >= 0 : masses[i] > 0))
          fail_at(of, i,
                  "the mass " + number_text(masses[i]) + "; give " +
                      (is_gravity ? "0 or more" : "a positive one"));
      return masses;
    }

    // The accelerations of points: near fields of trees of their present positions.
    class acceleration
    {
    public:
      acceleration(run_options const& options, named_points const& of, cut_options const& cut,
                   std::vector<double> const& masses)
          : options_(options), of_(of), cut_(cut), factors_(masses.size(), -1.0)
      {
        if (options.motion->force == force::charges)
          for (std::size_t i = 0; i < masses.size(); ++i)
            factors_[i] = of.points.inputs[0][i] / masses[i];
      }

      // Sets the outputs of `points`, which are those of the constructor.
      void operator()(point_set& points)
      {
        auto const start = std::chrono::steady_clock::now();
        check_finite(points.positions, "coordinate");
        auto step = field();
        points.outputs = std::move(step.outputs);
        for (auto& column : points.outputs)
          for (std::size_t i = 0; i < column.size(); ++i) column[i] *= factors_[i];
        check_finite(points.outputs, "acceleration");
        double const seconds = seconds_since(start);
        total_seconds_ += seconds;
        add(std::move(step), seconds);
      }

      // Of the last call; seconds and tasks of all calls.
      [[nodiscard]] run_result const& report() const { return report_; }
      [[nodiscard]] double seconds() const { return total_seconds_; }

    private:
      // sum_j K(x_i - x_j) q_j: the one place that makes a tree and sums over it
      [[nodiscard]] run_result field() const
      {
        auto const compute_in =
            options_.precision == precision::f32 ? &compute<float> : &compute<double>;
        return compute_in(of_, nullptr, options_.interaction, cut_, options_.step, 0);
      }

      void check_finite(std::vector<std::vector<double>> const& columns, char const* what) const
      {
        for (std::size_t d = 0; d < columns.size(); ++d)
          for (std::size_t i = 0; i < columns[d].size(); ++i)
            if (!std::isfinite(columns[d][i]))
              fail_at(of_, i,
                      std::string("the ") + what + " " + number_text(columns[d][i]) + " along " +
                          "xyz"[d] +
                          "; give a smaller --dt, soften with --param eps=..., or use "
                          "other units");
      }

      void add(run_result&& step, double seconds)
      {
        auto tasks = std::move(report_.step.tasks);
        for (auto const& of_worker : step.step.tasks)
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
        step.step.seconds = report_.step.seconds + seconds - step.tree_seconds;
        step.tree_seconds += report_.tree_seconds;
        step.step.tasks = std::move(tasks);
        report_ = std::move(step);
      }

      run_options const& options_;
      named_points const& of_;
      cut_options const& cut_;
      std::vector<double> factors_;
      run_result report_;
      double total_seconds_ = 0;
    };

    conserved conserved_of(run_options const& options, point_set const& points,
                           std::vector<double> const& masses)
    {
      conserved result;
      result.momentum = momentum(points, masses);
      // the boxes of level 1 all touch: those are all pairs too
      if (options.level.value_or(2) > 1 || !options.json) return result;
      double eps = 0;
      for (auto const& [name, value] : options.interaction.parameters) eps = value;
      double const sign = options.motion->force == force::gravity ? -1 : 1;
      double const potential =
          eps == 0 ? virial(points, masses) : sign * pair_energy(points, points.inputs[0], eps);
      result.energy = kinetic_energy(points, masses) + potential;
      return result;
    }

    // f(), with the number of the step in its errors.
    template <class F>
    void in_step(std::uint64_t k, F&& f)
    try
    {
      f();
    }
    catch (error const& e)
    {
      throw error("step " + std::to_string(k) + ": " + e.what(), e.kind(), e.code());
    }

    template <class F>
    void timed(double& seconds, F&& f)
    {
      auto const start = std::chrono::steady_clock::now();
      f();
      seconds += seconds_since(start);
    }

    // Takes the steps, until a signal comes, and writes the frames.
    time_loop_result advance(run_options const& options, named_points& of, cut_options const& cut,
                             std::optional<frame_files>& frames, write_options const& how)
    {
      motion_options const& motion = *options.motion;
      point_set& points = of.points;
      auto const masses = take_masses(motion.force, of);
      auto const runtime = keep_running(options.step);
      time_loop_result result;
      auto const write_frame = [&](std::uint64_t k)
      {
        if (!frames || !frames->has_frame(k)) return;
        timed(result.write_seconds,
              [&] { frames->write(k, static_cast<double>(k) * motion.dt, points, how); });
        result.frames = frames->size();
      };
      auto const conserved_now = [&](conserved& to)
      {
        timed(result.energy_seconds, [&] { to = conserved_of(options, points, masses); });
      };

      acceleration field(options, of, cut, masses);
      std::optional<leapfrog> loop;
      in_step(0,
              [&]
              {
                loop.emplace(
                    points, [&](point_set& moved) { field(moved); }, motion.dt);
                write_frame(0);
              });
      conserved_now(result.at_first);
      double const before = field.seconds();
      progress_bar progress(motion.steps);
      while (result.steps < motion.steps && !stop_request::received())
      {
        std::uint64_t const k = result.steps + 1;
        in_step(k,
                [&]
                {
                  timed(result.step_seconds, [&] { loop->step(); });
                  result.steps = k;
                  write_frame(k);
                });
        progress.show(k);
      }
      result.interrupted = result.steps < motion.steps;
      result.move_seconds = result.step_seconds - (field.seconds() - before);
      conserved_now(result.at_last);
      result.last = field.report();
      return result;
    }

    void print_loop(run_options const& options, time_loop_result const& result,
                    std::optional<frame_files> const& frames)
    {
      constexpr auto general = std::chars_format::general;
      auto const three_digits = [](double value)
      {
        return number_text(value, general, 3);
      };
      motion_options const& motion = *options.motion;
      std::cout << "moved         " << name_of(motion.force) << ", " << result.steps;
      if (result.interrupted) std::cout << " of " << motion.steps;
      std::cout << (motion.steps == 1 ? " step of " : " steps of ") << number_text(motion.dt);
      if (result.steps > 0)
        std::cout << ": " << three_digits(static_cast<double>(result.steps) / result.step_seconds)
                  << " steps/s";
      std::cout << "\n"
                << "seconds       tree " << three_digits(result.last.tree_seconds)
                << ", near field " << three_digits(result.last.step.seconds) << ", move "
                << three_digits(result.move_seconds) << ", write "
                << three_digits(result.write_seconds) << "\n";
      if (result.at_first.energy)
        std::cout << "energy        " << number_text(*result.at_first.energy, general, 10)
                  << " at first, " << number_text(*result.at_last.energy, general, 10)
                  << " at last\n";
      if (frames)
        std::cout << "frames        " << frames->size() << ", the first "
                  << frames->path(0).string() << "\n";
      if (result.interrupted) std::cout << "interrupted   by a signal\n";
    }
  }

  exit_status run_steps(run_options const& options, named_points&& of, cut_options const& cut,
                        double read_seconds)
  {
    point_set& points = of.points;
    points.output_names.clear();
    for (int d = 0; d < points.dim; ++d) points.output_names.push_back(std::string("a") + "xyz"[d]);
    write_options const how{.precision = options.precision == precision::f32 ? file_precision::f32
                                                                             : file_precision::f64};
    std::optional<frame_files> frames;
    if (options.motion->frames)
      frames.emplace(*options.output, *options.motion->frames, options.motion->steps);

    auto result = [&]
    {
      stop_request const stop; // not while the last state is written: a signal ends that at once
      return advance(options, of, cut, frames, how);
    }();
    output_files files;
    if (options.output)
      timed(result.write_seconds,
            [&] { files.write(*options.output, format_points(*options.output, points, how)); });
    print_summary(options, points, nullptr, result.last);
    print_loop(options, result, frames);
    if (options.json) files.write(*options.json, json_of(options, points, result, read_seconds));
    files.commit("written       ");
    if (result.interrupted) stop_request::pass_on();
    return success;
  }
}
