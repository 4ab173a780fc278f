#include "build.hpp"
#include "check.hpp"
#include "commands.hpp"
#include "demo_input.hpp"
#include "files.hpp"
#include "json.hpp"
#include "machine.hpp"
#include "picture.hpp"
#include "png.hpp"
#include "task_step.hpp"

#include <nearfield/io/write.hpp>
#include <nearfield/kernels/one_over_r.hpp>
#include <nearfield/p2p/isa.hpp>

#include <cstdio>
#include <iostream>
#include <set>

#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    // the potential and its gradient
    constexpr val_grad_one_over_r<3> kernel{};
    // leaves large enough for a task of each to be worth its start
    constexpr cut_options cut{.max_leaf_size = 256};
    constexpr std::size_t n_check = 2000;

    struct row
    {
      std::string backend, precision;
      step_report step;
      double rate, speed_up; // directed pairs a second; over scalar
      check_report check;
    };

    template <class... Values>
    std::string format(char const* pattern, Values... values)
    {
      char text[256];
      std::snprintf(text, sizeof text, pattern, values...);
      return text;
    }

    // A line that the next one replaces; on a terminal only.
    void show_progress(std::string const& what)
    {
      static bool const is_terminal = ::isatty(STDOUT_FILENO) != 0;
      if (is_terminal) std::cout << "\r\033[K" << what << std::flush;
    }

    void print_row(row const& r)
    {
      show_progress("");
      std::cout << format("  %-22s %-5s %9.2f ms %8.2f G/s %8.1f x %10.1e   %s\n",
                          r.backend.c_str(), r.precision.c_str(), 1e3 * r.step.seconds,
                          1e-9 * r.rate, r.speed_up, r.check.max_relative_error,
                          r.check.passed() ? "PASS" : "FAIL")
                << std::flush;
    }

    // Every back-end in precision T; the outputs are those of the last one.
    template <class T>
    std::vector<std::vector<T>> measure(problem<T, 3> const& on, int workers,
                                        std::vector<row>& rows)
    {
      std::string const precision_name = sizeof(T) == 4 ? "f32" : "f64";
      std::string const isa_name(nearfield::name_of(selected_isa()));
      struct variant
      {
        std::string name;
        step_options options;
      };
      std::vector<variant> variants{
          {"scalar", {.backend = backend::scalar, .mutual = false, .workers = 0, .repetitions = 3}},
          {"simd " + isa_name,
           {.backend = backend::simd, .mutual = false, .workers = 0, .repetitions = 10}},
          {"simd " + isa_name + " mutual",
           {.backend = backend::simd, .mutual = true, .workers = 0, .repetitions = 10}}};
      if (starpu_is_built_in)
        variants.push_back(
            {"StarPU, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers"),
             {.backend = backend::automatic, .repetitions = 10}});

      step_result<T> result;
      double scalar_seconds = 0;
      for (variant const& v : variants)
      {
        show_progress("  " + v.name + " " + precision_name + " ...");
        result = near_field_step(on, kernel, v.options);
        double const seconds = result.report.seconds;
        if (scalar_seconds == 0) scalar_seconds = seconds;
        rows.push_back({v.name, precision_name, result.report,
                        static_cast<double>(on.leaves.interaction_count()) / seconds,
                        scalar_seconds / seconds,
                        check_outputs(on, kernel, result.outputs, n_check)});
        print_row(rows.back());
      }
      return result.outputs;
    }

    std::vector<square> grid_of(tree<3> const& leaves)
    {
      std::set<std::array<double, 3>> seen; // leaves that lie one behind the other are one square
      std::vector<square> grid;
      for (index_type b = 0; b < leaves.size(); ++b)
      {
        auto const box = leaves.leaf(b);
        if (seen.insert({box.centre[0], box.centre[1], box.half_width}).second)
          grid.push_back({box.centre[0], box.centre[1], box.half_width});
      }
      return grid;
    }

    std::string json_of(demo_input const& input, tree<3> const& leaves,
                        std::vector<row> const& rows)
    {
      json_writer json;
      json.begin_object();
      json.key("program").value(std::string("nearfield ") + build.version);
      json.key("commit").value(build.commit);
      json.key("machine").begin_object();
      json.key("cpu").value(cpu_name());
      json.key("processors").value(cpu_count());
      json.key("isa").value(nearfield::name_of(selected_isa()));
      json.key("tasks").value(starpu_name());
      json.end_object();
      json.key("input").value(input.points.name);
      json.key("points").value(std::uint64_t(input.points.points.size()));
      json.key("interaction").value(kernel.name);
      json.key("leaves").value(std::uint64_t(leaves.size()));
      json.key("depth").value(leaves.depth());
      json.key("max_leaf").value(std::uint64_t(leaves.largest_leaf()));
      json.key("interactions").value(leaves.interaction_count());
      json.key("rows").begin_array();
      for (row const& r : rows)
      {
        json.begin_object();
        json.key("backend").value(r.backend);
        json.key("precision").value(r.precision);
        json.key("seconds").value(r.step.seconds);
        json.key("interactions_per_second").value(r.rate);
        json.key("speed_up").value(r.speed_up);
        json.key("workers").value(r.step.workers);
        json.key("max_relative_error").value(r.check.max_relative_error);
        json.key("limit").value(r.check.limit);
        json.key("passed").value(r.check.passed());
        json.end_object();
      }
      json.end_array();
      json.end_object();
      return json.text();
    }

    image draw_potential(demo_input const& input, tree<3> const& leaves,
                         std::vector<double> const& potential)
    {
      auto const& positions = input.points.points.positions;
      std::string const unit = input.length_unit.empty() ? "" : " (e/" + input.length_unit + ")";
      return draw({positions[0], positions[1], positions[2], potential, grid_of(leaves),
                   input.radius, "near-field potential: " + input.title,
                   "sum of q/r over each point's own leaf and the leaves around it; " +
                       std::to_string(leaves.size()) + " leaves, seen along z",
                   "phi" + unit, input.length_unit});
    }

    void write_files(std::filesystem::path const& folder, demo_input& input, tree<3> const& leaves,
                     std::vector<std::vector<double>>&& outputs, std::vector<row> const& rows)
    {
      output_files files;
      auto const write = [&](char const* name, std::string const& bytes)
      {
        files.write(folder / name, bytes);
        std::cout << "written   " << (folder / name).string() << "\n";
      };
      std::string const picture = encode_png(draw_potential(input, leaves, outputs[0]));
      point_set& points = input.points.points;
      points.outputs = std::move(outputs);
      points.output_names = {"phi", "gx", "gy", "gz"};
      write("near_field.vtu", format_vtu(points));
      write("near_field.json", json_of(input, leaves, rows));
      write("near_field.png", picture);
      files.commit();
    }
  }

  exit_status demo(demo_options const& options)
  {
    std::cout << "machine   " << cpu_name() << ", " << cpu_count() << " logical processors, "
              << nearfield::name_of(selected_isa()) << ", " << std::flush;
    // not kept: StarPU's idle workers would take time from the serial rows
    int const workers = session({}).workers();
    std::cout << starpu_name();
    if (starpu_is_built_in) std::cout << ", " << workers << " workers";
    std::cout << std::endl;

    std::error_code status;
    std::filesystem::create_directories(options.folder, status);
    if (status)
      throw error("--out: " + options.folder.string() + ": " + status.message() +
                  "; give a folder that can be written");
    check_writable_place(options.folder / "near_field.json");

    demo_input input = choose_demo_input();
    std::cout << "input     " << input.description << std::endl;

    auto const start = std::chrono::steady_clock::now();
    auto const f64 = make_problem<double, 3>(input.points, nullptr, cut);
    double const tree_seconds = seconds_since(start);
    std::cout << "tree      " << f64.leaves.size() << " leaves, depth " << f64.leaves.depth()
              << ", at most " << f64.leaves.largest_leaf() << " points a leaf, "
              << format("%.1f million interactions, %.1f ms",
                        1e-6 * static_cast<double>(f64.leaves.interaction_count()),
                        1e3 * tree_seconds)
              << "\ntable     " << kernel.name << ", the best of several runs; error at " << n_check
              << " points against sums in long double\n"
              << format("  %-22s %-5s %12s %12s %10s %10s\n", "back-end", "", "time",
                        "interactions", "speed-up", "error")
              << std::flush;

    std::vector<row> rows;
    measure(make_problem<float, 3>(input.points, nullptr, cut), workers, rows);
    auto outputs = measure(f64, workers, rows);
    show_progress("  drawing ...");
    write_files(options.folder, input, f64.leaves, std::move(outputs), rows);
    return std::all_of(rows.begin(), rows.end(), [](row const& r) { return r.check.passed(); })
               ? success
               : check_failed;
  }
}
