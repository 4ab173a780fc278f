#include "arguments.hpp"
#include "build.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "launch.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>

// included only here: it takes seconds to compile
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <streambuf>

namespace nearfield::app
{
  namespace
  {
    // CLI11 would take the next option as the value of `--json=`.
    void refuse_empty(int argc, char** argv)
    {
      for (int i = 1; i < argc; ++i)
      {
        std::string const word = argv[i];
        if (word.empty())
          throw error(std::string(argv[i - 1]) + ": found an empty argument, expected a value");
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
          throw error(word.substr(0, word.size() - 1) +
                      ": found nothing after '=', expected a value");
      }
    }

    // Refuses everything but decimal digits, and numbers below `least`, which is 0 or 1. For transform().
    // CLI11 itself reads 010 as 8, and its message does not say what it expects.
    CLI::Validator whole_number(int least)
    {
      auto const read = [least](std::string& text)
      {
        bool const is_number = text.find_first_not_of("0123456789") == std::string::npos;
        std::string const digits =
            text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
        if (!is_number || (least > 0 && digits == "0"))
          return "found '" + text + "', expected a whole number, " + std::to_string(least) +
                 " or more";
        if (!nearfield::detail::read_number<std::uint64_t>(digits))
          return "found '" + text +
                 "', expected a number below 2^64"; // CLI11 takes the largest there is
        text = digits;
        return std::string();
      };
      return {read, "", ""};
    }

    char const* const formats = "points: .fma .bfma .pqr .data .lmp .lammps .csv .tsv .txt .dat "
                                ".xyz .npy, also with .gz behind";

    // How a file is read.
    template <class Options>
    void add_reading(CLI::App& command, std::string& columns, std::string& frame, Options& options)
    {
      command.add_option(
          "--columns", columns,
          "the columns of INPUT, left to right: x y z, q or q1 q2 ..., vx vy vz, m, id "
          "type of atoms, _ to skip");
      command.add_option("--atom-style", options.atom_style,
                         "LAMMPS atom style, for a file without a style comment");
      command.add_option("--frame", frame,
                         "which of several frames or models, from 0; -1: the last");
      command.add_option("--format", options.format,
                         "fma bfma pqr lammps csv xyz npy, for a file whose name does not say it");
    }

    // What `run` and `tune` have in common.
    void add_problem(CLI::App* run, written_run& written)
    {
      run_options& options = written.options;
      run->add_option("INPUT", options.input, formats)->required();
      run->add_option("--sources", options.sources, "a file of sources; INPUT holds the targets");
      run->add_option("--interaction", options.interaction.name,
                      "one of those that 'nearfield info' lists")
          ->capture_default_str();
      run->add_option("--param", written.parameters,
                      "NAME=VALUE, such as sigma=0.5; repeat the option for further parameters")
          ->allow_extra_args(false); // one value each: the next word may be INPUT
      run->add_option("--dim", options.dim, "2 or 3; default: as the file says")
          ->check(CLI::IsMember({2, 3}));
      run->add_option("--precision", written.precision, "f32 or f64")->capture_default_str();
      run->add_option("--backend", written.backend,
                      "auto: GPUs where there are some, else the CPU; scalar or simd: the CPU; "
                      "cuda: GPUs only")
          ->capture_default_str();
      run->add_option("--leaves-per-group", options.step.leaves_per_group,
                      "leaves per StarPU task; default: chosen from the tree and the workers")
          ->transform(whole_number(1));
      run->add_option("--scheduler", options.step.scheduler,
                      "StarPU's: lws, eager, dmda, dmdas ...");
      run->add_option("--workers", options.step.workers,
                      "StarPU's CPU workers; default: STARPU_NCPU, or one per core; 0: the calling "
                      "thread, without StarPU")
          ->transform(whole_number(0));
      run->add_option("--gpus", options.step.gpus, "GPUs that compute, 0 or more; default: all")
          ->transform(whole_number(0));
      run->add_option("--box", written.box,
                      "cx,cy[,cz],half: the box that is cut; default: the file's, or the smallest");
      run->add_option("--periodic", written.periodic,
                      "Lx,Ly[,Lz]: points lie in [0, L) of an axis that repeats; 0: an open axis");
      add_reading(*run, written.columns, written.frame, options);
      run->add_option("--source-columns", written.source_columns,
                      "those of --sources; default: as --columns, if the extension is the same");
    }

    CLI::Option* add_far_field_cost(CLI::App& command, written_run& written)
    {
      return command.add_option("--far-field-cost", written.far_field_cost,
                                "seconds that your far field takes for each leaf, on one worker");
    }

    void add_run(CLI::App& program, written_run& written)
    {
      run_options& options = written.options;
      auto* run = program.add_subcommand("run", "The near field of the points of a file; with "
                                                "--move, a time loop that moves them");
      add_problem(run, written);
      run->add_option("--json", options.json, "counts, times and the check; -: standard output");
      auto* level = run->add_option("--level", options.level,
                                    "cut the box uniformly, 2^L leaves per axis; 0: the direct sum")
                        ->transform(whole_number(0));
      auto* leaf_size =
          run->add_option("--max-leaf-size", written.max_leaf_size,
                          "cut until no leaf holds more points than this; auto: as 'tune' chooses")
              ->capture_default_str()
              ->excludes(level);
      add_far_field_cost(*run, written)->needs(leaf_size);
      auto* check = run->add_option("--check", options.check,
                                    "compare this many targets with plain sums in long double")
                        ->transform(whole_number(1));
      auto* output = run->add_option("--output", options.output,
                                     "positions, velocities, inputs, outputs: .csv .fma .bfma .vtu "
                                     ".xyz; with --move, the last state");

      auto* move =
          run->add_option(
                 "--move", written.force,
                 "gravity: the inputs are masses; charges: of masses 1 or column m; --param "
                 "eps=... softens both; velocities: columns vx, vy, vz, or 0")
              ->excludes(run->get_option("--sources"))
              ->excludes(run->get_option("--interaction"))
              ->excludes(run->get_option("--periodic"))
              ->excludes(check);
      auto* steps =
          run->add_option("--steps", written.steps, "how many leapfrog steps --move takes")
              ->transform(whole_number(1))
              ->needs(move);
      auto* dt = run->add_option("--dt", written.dt, "the time of a step")->needs(move);
      move->needs(steps)->needs(dt);
      run->add_option("--frames", written.frames,
                      "write every so many steps a frame beside --output: NAME_000000.vtu ..., and "
                      "NAME.pvd, which lists them for ParaView")
          ->transform(whole_number(1))
          ->needs(move)
          ->needs(output);
    }

    void add_tune(CLI::App& program, written_run& written)
    {
      auto* tune = program.add_subcommand(
          "tune", "The leaf size for the points of a file by what pairs cost here, and why");
      written.max_leaf_size = "auto";
      add_problem(tune, written);
      add_far_field_cost(*tune, written);
      tune->add_option("--json", written.options.json,
                       "costs, sizes and the choice; -: standard output");
    }

    void add_search(CLI::App& program, written_search& written)
    {
      search_options& options = written.options;
      auto* search =
          program.add_subcommand("search", "All pairs of points of a file closer than a radius");
      search->add_option("INPUT", options.input, formats)->required();
      search->add_option("--radius", written.radius, "pairs closer than this are listed")
          ->required();
      search
          ->add_option("--list", written.list,
                       "half: every pair once; full: (i, j) and (j, i); count: neighbours of every "
                       "point; table: counts and neighbours")
          ->capture_default_str();
      search
          ->add_option(
              "--width", options.width,
              "neighbours stored per row of --list table; default: the most neighbours of a point")
          ->transform(whole_number(1));
      search->add_option("--dim", options.dim, "2 or 3; default: as the file says")
          ->check(CLI::IsMember({2, 3}));
      search->add_option("--precision", written.precision, "f32 or f64")->capture_default_str();
      search
          ->add_option("--backend", written.backend,
                       "auto: a GPU where there is one, else the CPU; scalar or simd: the CPU; "
                       "cuda: a GPU")
          ->capture_default_str();
      search
          ->add_option(
              "--workers", options.workers,
              "StarPU's CPU workers, with --backend simd or auto, which is simd then; 0: the "
              "calling thread, without StarPU")
          ->transform(whole_number(0))
          ->capture_default_str();
      search
          ->add_option("--cells-per-cutoff", options.cells_per_cutoff,
                       "cells of the grid along the radius on every axis; default: 1, and 2 on the "
                       "last axis")
          ->transform(whole_number(1));
      search->add_option(
          "--periodic", written.periodic,
          "Lx,Ly[,Lz]: points lie in [0, L) of an axis that repeats; 0: an open axis");
      search
          ->add_option("--max-memory", options.max_memory,
                       "bytes; a list that takes more is refused; default: what is free")
          ->transform(whole_number(0));
      add_reading(*search, written.columns, written.frame, options);
      search->add_option("--output", options.output, "the list: .csv .npy");
      search->add_option("--json", options.json, "counts and times; -: standard output");
    }
  }

  namespace
  {
    // Where standard output is for JSON alone, text goes to stderr.
    class text_aside
    {
    public:
      explicit text_aside(bool is_for_json) : before_(std::cout.rdbuf())
      {
        if (is_for_json) std::cout.rdbuf(std::cerr.rdbuf());
      }
      ~text_aside() { std::cout.rdbuf(before_); }
      text_aside(text_aside const&) = delete;
      text_aside& operator=(text_aside const&) = delete;

    private:
      std::streambuf* before_;
    };

    // CLI11's own message does not name it.
    void refuse_unknown_command(CLI::App const& program, int argc, char** argv)
    {
      if (argc < 2 || argv[1][0] == '-') return;
      std::string known;
      for (CLI::App const* command : program.get_subcommands([](auto const*) { return true; }))
      {
        if (command->get_name() == argv[1]) return;
        known += (known.empty() ? "" : ", ") + command->get_name();
      }
      throw error("found the command '" + std::string(argv[1]) + "', expected one of " + known);
    }

    // What all ranks must have in common: the program, and the options that are not a rank's own business.
    std::string common_lines(CLI::App const& command)
    {
      auto text = "nearfield " + std::string(build.version) + " " + build.commit + "\n" +
                  command.get_name() + "\n";
      for (CLI::Option const* option : command.get_options())
      {
        auto const name = option->get_name();
        bool const is_own = name == "INPUT" || name == "--sources" || name == "--json" ||
                            name == "--workers" || name == "--scheduler";
        if (is_own || option->count() == 0) continue;
        text += name;
        for (auto const& value : option->results()) text += " " + value;
        text += "\n";
      }
      return text;
    }
  }

  exit_status run_command(int argc, char** argv)
  {
    CLI::App program{"Near fields (P2P) and radius searches of points, with built-in checks",
                     "nearfield"};
    program.require_subcommand(1);
    program.set_help_all_flag("--help-all", "Help of every command");
    bool version = false;
    program.add_flag_callback(
        "--version",
        [&]
        {
          version = true;
          throw CLI::Success();
        },
        "Version, commit and instruction sets");

    demo_options demo_of;
    auto* demo_command =
        program.add_subcommand("demo", "The near field of a protein: computed, checked, drawn");
    demo_command->add_option("--out", demo_of.folder, "the directory to write to")
        ->capture_default_str();
    demo_command
        ->add_option("--repetitions", demo_of.repetitions, "runs of each row; the fastest counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    written_run written;
    add_run(program, written);
    written_run tune_of;
    add_tune(program, tune_of);
    written_search search_of;
    add_search(program, search_of);
    auto* info_command =
        program.add_subcommand("info", "What is built in, and what this machine has");

    refuse_empty(argc, argv);
    refuse_unknown_command(program, argc, argv);
    try
    {
      program.parse(argc, argv);
    }
    catch (CLI::ParseError const& parse_error)
    {
      if (parse_error.get_exit_code() != 0)
        throw error(std::string(parse_error.what()) + " (see nearfield --help-all)");
      if (launched().rank > 0) return success; // the first rank prints
      if (version)
        print_version();
      else
        program.exit(parse_error, std::cout, std::cerr);
      return success;
    }
    if (info_command->parsed()) return launched().rank == 0 ? info() : success;
    auto const files = {written.options.json, tune_of.options.json, search_of.options.json};
    text_aside const aside(std::ranges::any_of(files, [](auto const& json)
                                               { return json && is_standard_output(*json); }));
    auto const* const command = program.get_subcommands().front();
    if (launched().ranks > 1 && program.got_subcommand("run"))
      return run_over_ranks(interpret(written), common_lines(*command));
    if (launched().ranks > 1 && program.got_subcommand("search"))
      return search_over_ranks(interpret(search_of), common_lines(*command));
    refuse_ranks(command->get_name());
    if (demo_command->parsed()) return demo(demo_of);
    if (program.got_subcommand("search")) return search(interpret(search_of));
    if (program.got_subcommand("tune")) return tune(interpret(tune_of));
    return run(interpret(written));
  }
}
