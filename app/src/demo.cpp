#include "demo.hpp"
#include "commands.hpp"
#include "compute.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "json.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "picture.hpp"
#include "plain_loop.hpp"
#include "task_step.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device.hpp>
#include <nearfield/io/points.hpp>
#include <nearfield/kernels/builtin.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <set>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    // the potential and its gradient
    constexpr val_grad_one_over_r<3> kernel{};
    // large leaves, so that the work of a task outweighs its overhead
    constexpr cut_options cut{.max_leaf_size = 256};
    constexpr std::size_t n_check = 500;

    // Prints a line that the next one overwrites; on a terminal only.
    void show_progress(std::string const& what)
    {
      static bool const is_terminal = ::isatty(STDOUT_FILENO) != 0;
      if (is_terminal) std::cout << "\r\033[K" << what << std::flush;
    }

    void print_row(demo_row const& r)
    {
      using enum std::chars_format;
      app::print_row(r.backend, r.precision,
                     !r.skipped.empty() ? "skipped: " + r.skipped
                                        : right(1e3 * r.step.seconds, 9, fixed, 2) + " ms " +
                                              right(1e-9 * r.rate, 8, fixed, 2) + " G/s " +
                                              right(r.speed_up, 8, fixed, 1) + " x " +
                                              right(r.check.max_relative_error, 10, scientific, 1) +
                                              "   " + (r.check.passed() ? "PASS" : "FAIL"));
    }

    // The near field by run_plain_loop(), as steps give it.
    template <class T>
    step_result plain_near_field(problem<T, 3> const& on, int repetitions)
    {
      auto const order = on.leaves().target_order();
      auto const x = gather(order, on.targets());
      auto const q = gather(order, std::span(on.inputs()[0], on.size()));
      auto const list = on.leaves().interactions();
      auto out = output_columns<T>(on, kernel), delivered = out;
      plain_job<T> const job{
          on.leaves().size(), on.leaves().targets().offsets.data(),
          list.own.data(),    list.offsets.data(),
          list.ranges.data(), {x.view().data()[0], x.view().data()[1], x.view().data()[2]},
          q.data(),           {out[0].data(), out[1].data(), out[2].data(), out[3].data()}};
      step_result result;
      result.report.seconds = quickest(repetitions,
                                       [&]
                                       {
                                         run_plain_loop(job);
                                         for (std::size_t c = 0; c < out.size(); ++c)
                                           scatter(order, out[c], delivered[c]);
                                       });
      result.outputs = in_double(std::move(delivered));
      return result;
    }

    // Measures a plain loop and every back-end in precision T. Returns the outputs of the last one.
    template <class T>
    std::vector<std::vector<double>> measure(problem<T, 3> const& on, int workers, int repetitions,
                                             std::vector<demo_row>& rows)
    {
      run_options options;
      options.interaction.name = kernel.name;
      options.check = n_check;
      options.precision = sizeof(T) == 4 ? precision::f32 : precision::f64;
      std::string const precision_name = name_of(options.precision);
      double const interactions = static_cast<double>(on.leaves().interaction_count());
      std::vector<std::vector<double>> outputs;
      double plain_seconds = 0;

      auto const add_row =
          [&](std::string const& name, step_report const& step, check_report const& check)
      {
        if (plain_seconds == 0) plain_seconds = step.seconds;
        rows.push_back({.backend = name,
                        .precision = precision_name,
                        .step = step,
                        .rate = interactions / step.seconds,
                        .speed_up = plain_seconds / step.seconds,
                        .check = check});
        print_row(rows.back());
      };
      // measures all forms and reports the fastest
      auto const add = [&](std::string const& name, execution_options step,
                           std::initializer_list<pair_form> forms)
      {
        show_progress("  " + name + " " + precision_name + " ...");
        std::optional<run_result> best;
        for (pair_form const form : forms)
        {
          step.form = form;
          auto tried = compute(options, step, on.target_points(), nullptr, cut);
          if (!best || tried.step.seconds < best->step.seconds) best = std::move(tried);
        }
        add_row(name, best->step, *best->check);
        outputs = std::move(best->outputs);
      };
      auto const add_skipped = [&](std::string const& name, std::string const& why)
      {
        rows.push_back({.backend = name, .precision = precision_name, .skipped = why});
        print_row(rows.back());
      };

      constexpr auto one_sided = pair_form::one_sided, mutual = pair_form::mutual;
      std::string const simd_name = "simd " + std::string(nearfield::name_of(selected_isa()));
      execution_options const on_simd{
          .backend = backend::simd, .workers = 0, .repetitions = repetitions};
      show_progress("  plain loop " + precision_name + " ...");
      auto const plain = plain_near_field(on, repetitions);
      add_row("plain loop", plain.report, check_outputs(on, kernel, plain.outputs, n_check));
      add("scalar",
          {.backend = backend::scalar, .workers = 0, .repetitions = std::min(repetitions, 3)},
          {one_sided});
      add(simd_name, on_simd, {one_sided});
      add(simd_name + " mutual", on_simd, {mutual});
      if (starpu_is_built_in)
        add("StarPU, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"),
            {.gpus = 0, .repetitions = repetitions}, {pair_form::automatic});

      if (std::string const why = no_gpu(); why.empty())
        add("CUDA", {.backend = backend::cuda, .workers = 0, .repetitions = repetitions},
            {one_sided, mutual});
      else
        add_skipped("CUDA", why);
      if (std::string const why = no_gpu_tasks(); why.empty())
        add("CPU + GPU", {.repetitions = repetitions}, {pair_form::automatic});
      else
        add_skipped("CPU + GPU", why);
      return outputs;
    }

    std::vector<square> grid_of(tree<3> const& leaves)
    {
      std::set<std::array<double, 3>> seen; // leaves that differ only in z are one square
      std::vector<square> grid;
      for (index_type b = 0; b < leaves.size(); ++b)
      {
        auto const box = leaves.leaf(b);
        if (seen.insert({box.centre[0], box.centre[1], box.half_width}).second)
          grid.push_back({box.centre[0], box.centre[1], box.half_width});
      }
      return grid;
    }

    std::string draw_potential(demo_input const& input, tree<3> const& leaves,
                               std::vector<double> const& potential)
    {
      auto const& positions = input.points.points.positions;
      return draw({positions[0], positions[1], positions[2], potential, grid_of(leaves),
                   input.radius, "Near-field potential: " + input.title,
                   "\u03c6 = \u03a3 q/r over each point's own leaf and the leaves around it; " +
                       std::to_string(leaves.size()) + " leaves (grey), seen along z",
                   "potential \u03c6 (" + input.potential_unit + ")", input.axis_unit});
    }

    constexpr char vtu_name[] = "near_field.vtu", json_name[] = "near_field.json",
                   png_name[] = "near_field.png";

    void write_files(std::filesystem::path const& folder, demo_input& input, tree<3> const& leaves,
                     std::vector<std::vector<double>>&& outputs, std::vector<demo_row> const& rows,
                     std::vector<demo_search_row> const& searches)
    {
      ranks const alone;
      output_files files(alone);
      std::string const picture = draw_potential(input, leaves, outputs[0]);
      point_set& points = input.points.points;
      points.outputs = std::move(outputs);
      points.output_names = {"phi", "gx", "gy", "gz"};
      files.write(folder / vtu_name, [&] { return format_vtu(points); });
      files.write(folder / json_name, [&]
                  { return json_of(input, leaves, kernel.name, starpu_name(), rows, searches); });
      files.write(folder / png_name, [&] { return picture; });
      show_progress("");
      files.commit("written   ");
    }
  }

  void print_row(std::string const& backend, std::string const& reals, std::string const& rest)
  {
    show_progress("");
    std::cout << "  " << std::left << std::setw(22) << backend << ' ' << std::setw(5) << reals
              << ' ' << rest << std::endl;
  }

  std::string right(double value, std::size_t width, std::chars_format format, int digits)
  {
    std::string const text = number_text(value, format, digits);
    return std::string(width - std::min(width, text.size()), ' ') + text;
  }

  exit_status demo(demo_options const& options)
  {
    auto const chosen = selected_isa(); // throws before anything is printed
    std::cout << "machine   " << cpu_name() << ", " << cpu_count() << " logical processors, "
              << nearfield::name_of(chosen) << ", " << std::flush;
    // not kept: idle StarPU workers would slow down the serial rows
    int const workers = session({.gpus = 0}).workers();
    std::cout << starpu_name();
    if (starpu_is_built_in) std::cout << ", " << workers << " workers";
    for (gpu const& device : gpus()) std::cout << ", " << device.name;
    std::cout << std::endl;
    if (std::string const limit = starpu_worker_limit();
        !limit.empty() && !std::getenv("STARPU_NCPU"))
      std::cout << "          " << limit << std::endl;

    std::error_code status;
    std::filesystem::create_directories(options.folder, status);
    if (status)
      throw error("--out: " + options.folder.string() + ": " + status.message() +
                  "; give a directory that can be written");
    for (auto const* name : {vtu_name, json_name, png_name})
      check_writable_place(options.folder / name);

    demo_input input = choose_demo_input();
    std::cout << "input     " << input.description << std::endl;

    auto const start = std::chrono::steady_clock::now();
    problem<double, 3> const f64(input.points, nullptr, cut);
    auto const& leaves =
        profiled("tree", [&]() -> tree<3> const& { return f64.leaves(); }); // built here
    double const tree_seconds = seconds_since(start);
    constexpr auto fixed = std::chars_format::fixed;
    std::cout << "tree      " << leaves.size() << " leaves, depth " << leaves.depth()
              << ", at most " << leaves.largest_leaf() << " points per leaf, "
              << number_text(1e-6 * static_cast<double>(leaves.interaction_count()), fixed, 1)
              << " million interactions, " << number_text(1e3 * tree_seconds, fixed, 1) << " ms"
              << "\ntable     " << kernel.name << ", the best of several runs; error at " << n_check
              << " points against sums in long double\n"
              << "          plain loop: compiled with -O3 -ffast-math for "
              << nearfield::name_of(chosen)
              << ", as -march=native does here; speed-ups are over it\n";
    app::print_row("back-end", "", "        time interactions   speed-up      error");

    std::vector<demo_row> rows;
    measure(problem<float, 3>(input.points, nullptr, cut), workers, options.repetitions, rows);
    auto outputs = measure(f64, workers, options.repetitions, rows);
    auto const searches = search_demo(input);
    show_progress("  drawing ...");
    write_files(options.folder, input, leaves, std::move(outputs), rows, searches);
    return passed(searches) && std::all_of(rows.begin(), rows.end(), [](demo_row const& r)
                                           { return !r.skipped.empty() || r.check.passed(); })
               ? success
               : check_failed;
  }
}
