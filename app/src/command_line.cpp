#include "arguments.hpp"
#include "build.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "launch.hpp"
#include "run_host.hpp"

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

    // An option that is a whole number, `least` (0 or 1) or more.
    template <class T>
    CLI::Option* add_number(CLI::App* command, std::string const& name, T& value, int least,
                            std::string const& what_for)
    {
      return command->add_option(name, value, what_for)->transform(whole_number(least));
    }

    char const* const formats = "points: .fma .bfma .pqr .data .lmp .lammps .csv .tsv .txt .dat "
                                ".xyz .npy, also with .gz behind";

    // An option whose value is read(text), where read() throws nearfield::error for a text that it does not know.
    template <class Text = std::string, class T, class Read>
    CLI::Option* add(CLI::App* command, std::string const& name, T& value, Read read,
                     std::string const& what_for)
    {
      auto const take = [name, read, &value](Text const& text)
      {
        try
        {
          value = read(text);
        }
        catch (error const& e)
        {
          throw error(name + ": " + e.what());
        }
      };
      return command->add_option_function<Text>(name, take, what_for);
    }

    // The same for the name of one of some values.
    template <class Enum>
    CLI::Option* add(CLI::App* command, std::string const& name, Enum& value,
                     std::initializer_list<Enum> choices, std::string const& what_for)
    {
      auto const read = [known = std::vector(choices)](std::string const& text)
      {
        std::string names;
        for (Enum const each : known)
        {
          if (text == name_of(each)) return each;
          names += (names.empty() ? "" : ", ") + std::string(name_of(each));
        }
        refuse_text(text, "one of " + names);
      };
      return add(command, name, value, read, what_for);
    }

    // How files are read, in which precision, and which axes repeat.
    void add_reading(CLI::App* command, file_options& options)
    {
      command->add_option("--dim", options.dim, "2 or 3; default: as the file says")
          ->check(CLI::IsMember({2, 3}));
      add(command, "--precision", options.precision, {precision::f32, precision::f64}, "f32 or f64")
          ->default_str(name_of(options.precision));
      add(command, "--periodic", options.periodic, read_periods,
          "Lx,Ly[,Lz]: the box [0, L) of an axis that repeats; 0: an open axis");
      add(command, "--cell", options.cell, read_cell,
          "file: the box of INPUT repeats; or a box of any shape by its vectors, ax,ay,bx,by or "
          "ax,ay,az,bx,...,cz, or Lx,Ly[,Lz]; points may lie outside");
      add(command, "--pbc", options.cell.pbc, read_pbc,
          "1,1,0: along which vectors of --cell; default: as the file says, or all");
      add(command, "--columns", options.columns, read_words,
          "the columns of INPUT, left to right: x y z, q or q1 q2 ..., vx vy vz, m, parameters of "
          "points, id type of atoms, _ to skip");
      command->add_option("--atom-style", options.atom_style,
                          "LAMMPS atom style, for a file without a style comment");
      add(command, "--frame", options.frame, read_frame,
          "which of several frames or models, from 0; -1: the last");
      command->add_option("--format", options.format,
                          "fma bfma pqr lammps csv xyz npy, for a file whose name does not say it");
    }

    void add_backend(CLI::App* command, backend& value, std::string const& what_for)
    {
      add(command, "--backend", value,
          {backend::automatic, backend::scalar, backend::simd, backend::cuda}, what_for)
          ->default_str(name_of(value));
    }

    // What `run` and `tune` have in common.
    void add_problem(CLI::App* run, run_options& options)
    {
      run->add_option("INPUT", options.input, formats)->required();
      run->add_option("--sources", options.sources, "a file of sources; INPUT holds the targets");
      run->add_option("--interaction", options.interaction.name,
                      "one of those that 'nearfield info' lists; 'nearfield info NAME' says more")
          ->capture_default_str();
      add<std::vector<std::string>>(
          run, "--param", options.interaction.parameters, read_parameters,
          "NAME=VALUE, such as sigma=0.5; repeat the option for further parameters")
          ->allow_extra_args(false); // one value each: the next word may be INPUT
      add<std::vector<std::string>>(
          run, "--point-param", options.interaction.point_parameters, read_parameters,
          "NAME=VALUE, such as eps=0.01: a parameter of points, for all points of a file without "
          "that column")
          ->allow_extra_args(false);
      add_reading(run, options);
      add(run, "--source-columns", options.source_columns, read_words,
          "those of --sources; default: as --columns, if the extension is the same");
      add_backend(run, options.step.backend,
                  "auto: GPUs where there are some, else the CPU; scalar or simd: the CPU; "
                  "cuda: GPUs only");
      add_number(run, "--leaves-per-group", options.step.leaves_per_group, 1,
                 "leaves per StarPU task; default: chosen from the tree and the workers");
      run->add_option("--scheduler", options.step.scheduler,
                      "StarPU's: lws, eager, dmda, dmdas ...");
      add_number(run, "--workers", options.step.workers, 0,
                 "StarPU's CPU workers; default: STARPU_NCPU, or one per core; 0: the calling "
                 "thread, without StarPU");
      add_number(run, "--gpus", options.step.gpus, 0, "GPUs that compute, 0 or more; default: all");
      add(run, "--box", options.box, read_box,
          "cx,cy[,cz],half: the box that is cut; default: the file's, or the smallest");
    }

    CLI::Option* add_far_field_cost(CLI::App* command, run_options& options)
    {
      return add(command, "--far-field-cost", options.far_field_cost, read_cost,
                 "seconds that your far field takes for each leaf, on one worker");
    }

    void add_run(CLI::App& program, run_options& options)
    {
      auto* run = program.add_subcommand("run", "The near field of the points of a file; with "
                                                "--move, a time loop that moves them");
      add_problem(run, options);
      run->add_option("--json", options.json, "counts, times and the check; -: standard output");
      auto* level = add_number(run, "--level", options.level, 0,
                               "cut the box uniformly, 2^L leaves per axis; 0: the direct sum");
      auto* leaf_size =
          add(run, "--max-leaf-size", options.max_leaf_size, read_leaf_size,
              "cut until no leaf holds more points than this; auto: as 'tune' chooses")
              ->default_str(std::to_string(options.max_leaf_size))
              ->excludes(level);
      add_far_field_cost(run, options)->needs(leaf_size);
      auto* check = add_number(run, "--check", options.check, 1,
                               "compare this many targets with plain sums in long double");
      auto* output = run->add_option("--output", options.output,
                                     "positions, velocities, inputs, outputs: .csv .fma .bfma .vtu "
                                     ".xyz; with --move, the last state");

      motion_options& motion = options.motion.emplace();
      auto* move = add(run, "--move", motion.force, {force::gravity, force::charges},
                       "gravity: the inputs are masses; charges: of masses 1 or column m; --param "
                       "eps=... softens both; velocities: columns vx, vy, vz, or 0")
                       ->excludes(run->get_option("--sources"))
                       ->excludes(run->get_option("--interaction"))
                       ->excludes(run->get_option("--periodic"))
                       ->excludes(run->get_option("--cell"))
                       ->excludes(check);
      auto* steps =
          add_number(run, "--steps", motion.steps, 1, "how many leapfrog steps --move takes")
              ->needs(move);
      auto* dt = add(run, "--dt", motion.dt, read_duration, "the time of a step")->needs(move);
      move->needs(steps)->needs(dt);
      add_number(run, "--frames", motion.frames, 1,
                 "write every so many steps a frame beside --output: NAME_000000.vtu ..., and "
                 "NAME.pvd, which lists them for ParaView")
          ->needs(move)
          ->needs(output);
      run->callback(
          [&options, move]
          {
            if (move->count() == 0) options.motion.reset();
            complete(options);
          });
    }

    void add_tune(CLI::App& program, run_options& options)
    {
      auto* tune = program.add_subcommand(
          "tune", "The leaf size for the points of a file by what pairs cost here, and why");
      options.max_leaf_size = automatic;
      add_problem(tune, options);
      add_far_field_cost(tune, options);
      tune->add_option("--json", options.json, "costs, sizes and the choice; -: standard output");
      tune->callback([&options] { complete(options); });
    }

    void add_search(CLI::App& program, search_options& options)
    {
      auto* search =
          program.add_subcommand("search", "All pairs of points of a file closer than a radius");
      search->add_option("INPUT", options.input, formats)->required();
      add(search, "--radius", options.radius, read_length, "pairs closer than this are listed")
          ->required();
      add(search, "--list", options.list,
          {list_kind::half, list_kind::full, list_kind::count, list_kind::table},
          "half: every pair once; full: (i, j) and (j, i); count: neighbours of every "
          "point; table: counts and neighbours")
          ->default_str(name_of(options.list));
      add_number(
          search, "--width", options.width, 1,
          "neighbours stored per row of --list table; default: the most neighbours of a point");
      add_reading(search, options);
      add_backend(search, options.backend,
                  "auto: a GPU where there is one, else the CPU; scalar or simd: the CPU; "
                  "cuda: a GPU");
      add_number(search, "--workers", options.workers, 0,
                 "StarPU's CPU workers, with --backend simd or auto, which is simd then; 0: the "
                 "calling thread, without StarPU")
          ->capture_default_str();
      add_number(search, "--cells-per-cutoff", options.cells_per_cutoff, 1,
                 "cells of the grid along the radius on every axis; default: 1, and 2 on the "
                 "last axis");
      search->add_flag("--shifts", options.shifts,
                       "also how often each vector of the box is added to j: i,j,sx,sy[,sz]");
      search->add_option("--types", options.pairs.types,
                         "file: INPUT has a column of types; or a file with a type for each point, "
                         "line by line");
      add(search, "--type-cutoffs", options.pairs.cutoffs, read_type_cutoffs,
          "Na:Cl=3,Na:Na=0: the cutoffs of pairs of types, at most --radius, which is that of "
          "others; 0: no pairs");
      search->add_option("--exclude", options.pairs.exclude,
                         "a file of pairs that do not count, such as bonds: two indices a line, "
                         "from 0 on");
      add_number(search, "--max-memory", options.max_memory, 0,
                 "bytes; a list that takes more is refused; default: what is free");
      search->add_option("--output", options.output, "the list: .csv .npy");
      search->add_option("--json", options.json, "counts and times; -: standard output");
      search->callback([&options] { complete(options); });
    }

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

    // CLI11 has a word for all that it did not expect, or none beside what is missing.
    void refuse_unknown_option(CLI::App const& program)
    {
      for (CLI::App const* command : program.get_subcommands())
        for (std::string const& word : command->remaining())
          if (word.starts_with("-"))
            throw error(command->get_name() + ": found the option '" +
                        word.substr(0, word.find('=')) +
                        "', expected one of those that 'nearfield " + command->get_name() +
                        " --help' lists");
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
    run_options run_of, tune_of;
    add_run(program, run_of);
    add_tune(program, tune_of);
    search_options search_of;
    add_search(program, search_of);
    info_options info_of;
    auto* info_command = program.add_subcommand(
        "info", "What is built in, and what this machine has; what an interaction is");
    info_command->add_option("NAME", info_of.names,
                             "interactions: formula, inputs, outputs, parameters, source");
    info_command->add_flag("--interactions", info_of.all_interactions, "the same of all");

    refuse_empty(argc, argv);
    refuse_unknown_command(program, argc, argv);
    try
    {
      program.parse(argc, argv);
    }
    catch (CLI::ParseError const& parse_error)
    {
      if (parse_error.get_exit_code() != 0)
      {
        refuse_unknown_option(program);
        throw error(std::string(parse_error.what()) + " (see nearfield --help-all)");
      }
      if (launched().rank > 0) return success; // the first rank prints
      if (version)
        print_version();
      else
        program.exit(parse_error, std::cout, std::cerr);
      return success;
    }
    if (info_command->parsed()) return launched().rank == 0 ? info(info_of) : success;
    auto const files = {run_of.json, tune_of.json, search_of.json};
    text_aside const aside(std::ranges::any_of(files, [](auto const& json)
                                               { return json && is_standard_output(*json); }));
    auto const* const command = program.get_subcommands().front();
    bool const searches = program.got_subcommand("search");
    auto const compute = [&](run_host& on)
    {
      return searches ? search(on, search_of) : run(on, run_of);
    };
    if (launched().ranks > 1 && (searches || program.got_subcommand("run")))
      return on_all_ranks(command->get_name(), common_lines(*command), compute);
    refuse_ranks(command->get_name());
    if (demo_command->parsed()) return demo(demo_of);
    if (program.got_subcommand("tune")) return tune(tune_of);
    ranks const alone;
    run_host here(alone);
    return compute(here);
  }
}
