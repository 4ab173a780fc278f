#include "time_loop.hpp"

#include "energy.hpp"
#include "frames.hpp"
#include "json.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "stop_request.hpp"
#include "summary.hpp"
#include "taken.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    // The masses of the points, which the file may have in column m. Those of gravity become the inputs.
    std::vector<double> take_masses(force f, named_points& of, bool has_masses)
    {
      auto& points = of.points;
      bool const is_gravity = f == force::gravity;
      auto const refuse = [&](std::string const& what)
      {
        throw error(of.name + ": " + what, error_kind::invalid_data);
      };
      if (of.report.lacks_masses)
        refuse("found momenta, expected the masses of all points beside them, or velocities, for "
               "--move");
      if (of.report.lacks_components)
        refuse("found velocities or momenta without one of their components, expected one for each "
               "coordinate, or none, for --move");
      if (of.report.lacks_types)
        refuse("found a section Masses, expected a column of --columns with the name type, whose "
               "masses they are, for --move");
      if (is_gravity && points.inputs.empty() && has_masses)
      {
        points.inputs.push_back(std::move(points.masses));
        points.input_names = {"m"};
        points.masses = {};
        has_masses = false;
      }
      if (is_gravity && !points.inputs.empty() && has_masses)
        refuse("found columns q and m, and each may be the masses of --move gravity; skip one by "
               "--columns");
      if (points.inputs.size() != 1)
        refuse("found " + std::to_string(points.inputs.size()) +
               (points.inputs.size() == 1 ? " input column" : " input columns") +
               (has_masses ? " beside masses" : "") + ", expected " +
               (is_gravity ? "masses, as the column q or m, for --move gravity"
                           : "one, the charges, for --move charges"));
      auto const masses = is_gravity              ? points.inputs[0]
                          : points.masses.empty() ? std::vector<double>(points.size(), 1)
                                                  : points.masses;
      for (std::size_t i = 0; i < masses.size(); ++i)
        if (!(is_gravity ? masses[i] >= 0 : masses[i] > 0))
          refuse("point " + std::to_string(of.first + i) + " has the mass " +
                 number_text(masses[i]) + "; give " +
                 (is_gravity ? "0 or more" : "a positive one"));
      return masses;
    }

    // From near fields to accelerations.
    std::vector<double> factors(force f, named_points const& of, std::vector<double> const& masses)
    {
      std::vector<double> result(masses.size(), -1);
      if (f == force::charges)
        for (std::size_t i = 0; i < masses.size(); ++i)
          result[i] = of.points.inputs[0][i] / masses[i];
      return result;
    }

    conserved conserved_of(ranks const& all, run_options const& options, point_set const& points,
                           std::vector<double> const& masses)
    {
      conserved result;
      result.momentum = momentum(points, masses);
      for (double& each : result.momentum) each = all.sum(each);
      // the boxes of level 1 all touch: those are all pairs too; of several ranks none has all points
      if (options.level.value_or(2) > 1 || !options.json || all.size() > 1) return result;
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
    void in_step(ranks const& all, std::uint64_t k, F&& f)
    try
    {
      f();
    }
    catch (error const& e)
    {
      all.rethrow(e, "step " + std::to_string(k) + ": ");
    }

    template <class F>
    void timed(double& seconds, F&& f)
    {
      auto const start = std::chrono::steady_clock::now();
      f();
      seconds += seconds_since(start);
    }

    // Takes the steps, until a signal comes, and writes the frames.
    time_loop_result advance(run_host& host, run_options const& options, named_points& of,
                             cut_options const& cut, std::optional<frame_files>& frames,
                             write_options const& how)
    {
      ranks const& all = host.ranks();
      motion_options const& motion = *options.motion;
      point_set& points = of.points;
      std::vector<double> masses;
      bool const has_masses =
          all.any(!points.masses.empty()); // which a rank without points cannot tell
      all.attempt([&] { masses = take_masses(motion.force, of, has_masses); });
      time_loop_result result;
      std::unique_ptr<app::motion> moving;
      auto const write_frame = [&](std::uint64_t k)
      {
        if (!frames || !frames->has_frame(k)) return;
        timed(result.write_seconds,
              [&]
              {
                moving->fetch();
                auto const path = frames->path(k);
                output_files frame(all);
                frame.write(path, points, how);
                frame.commit();
                if (all.is_first())
                  frames->add(static_cast<double>(k) * motion.dt, file_of_first(all, path));
              });
        result.frames = frames->size();
      };
      auto const conserved_now = [&](conserved& to)
      {
        timed(result.energy_seconds,
              [&]
              {
                moving->fetch();
                to = conserved_of(all, options, points, masses);
              });
      };

      in_step(all, 0,
              [&]
              {
                timed(result.setup_seconds,
                      [&]
                      {
                        std::vector<double> to_accelerations;
                        all.attempt([&] { to_accelerations = factors(motion.force, of, masses); });
                        moving = host.start(options, of, cut, std::move(to_accelerations));
                      });
                write_frame(0);
              });
      conserved_now(result.at_first);
      double const before = moving->seconds();
      result.setup_seconds -= before;
      std::optional<progress_bar> progress;
      if (all.is_first()) progress.emplace(motion.steps);
      while (result.steps < motion.steps && !all.any(stop_request::received()))
      {
        std::uint64_t const k = result.steps + 1;
        in_step(all, k,
                [&]
                {
                  timed(result.step_seconds, [&] { moving->step(); });
                  result.steps = k;
                  write_frame(k);
                });
        if (progress) progress->show(k);
      }
      result.interrupted = result.steps < motion.steps;
      result.move_seconds = result.step_seconds - (moving->seconds() - before);
      conserved_now(result.at_last);
      moving->finish();
      result.last = moving->report();
      result.last.setup_seconds = result.setup_seconds;
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
                  << frames->first().string() << "\n";
      if (result.interrupted) std::cout << "interrupted   by a signal\n";
      print_not_kept(options);
    }
  }

  exit_status run_steps(run_host& host, run_options const& options, named_points&& of,
                        cut_options const& cut, double read_seconds, double early_seconds,
                        std::uint64_t merged)
  {
    point_set& points = of.points;
    points.output_names.clear();
    for (int d = 0; d < points.dim; ++d) points.output_names.push_back(std::string("a") + "xyz"[d]);
    write_options const how{.precision = options.written};
    std::optional<frame_files> frames;
    if (options.motion->frames)
      frames.emplace(*options.output, *options.motion->frames, options.motion->steps);

    auto result = [&]
    {
      stop_request const stop; // not while the last state is written: a signal ends that at once
      return advance(host, options, of, cut, frames, how);
    }();
    result.last.setup_seconds += early_seconds;
    result.last.merged = merged;
    output_files files(host.ranks());
    if (options.output)
      timed(result.write_seconds, [&] { files.write(*options.output, points, how); });
    if (host.ranks().is_first())
    {
      print_summary(options, points.dim, result.last);
      print_loop(options, result, frames);
    }
    files.write(options.json,
                [&]
                {
                  auto const taken = taken_of(options, of, nullptr, cut.box);
                  return json_of(options, points.dim, taken, result, read_seconds);
                });
    files.commit("written       ");
    if (result.interrupted) stop_request::pass_on();
    return success;
  }
}
