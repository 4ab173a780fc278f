#include "arguments.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "search_arguments.hpp"
#include "shortest.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/io/atomic_file.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>
#include <new>

#include <fcntl.h>
#include <unistd.h>

namespace nearfield::app
{
  namespace
  {
    // CLI11 takes the next option for the value of `--json=`.
    void refuse_empty(int argc, char** argv)
    {
      for (int i = 1; i < argc; ++i)
      {
        std::string const word = argv[i];
        if (word.empty())
          throw error(std::string(argv[i - 1]) +
                      ": found an empty argument behind it, expected a value");
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
          throw error(word.substr(0, word.size() - 1) +
                      ": found nothing after '=', expected a value");
      }
    }

    // Options as they are written, before they become run_options.
    struct written_run
    {
      std::string precision = "f64", backend = "auto", box, columns, source_columns;
      std::vector<std::string> parameters;
      run_options options;
    };

    // Options that would change nothing are mistakes.
    void refuse_idle(written_run const& written)
    {
      run_options const& options = written.options;
      if (!written.source_columns.empty() && !options.sources)
        throw error("--source-columns: found no --sources; give the file, or --columns for INPUT");
      if (options.step.workers != 0) return;
      auto const refuse = [](char const* option)
      {
        throw error(std::string(option) + ": found --workers 0, which runs without StarPU; " +
                    "leave one of them out");
      };
      if (!options.step.scheduler.empty()) refuse("--scheduler");
      if (options.step.leaves_per_group) refuse("--leaves-per-group");
    }

    std::vector<double> parse_box(std::string const& text)
    {
      std::vector<double> box;
      for (std::string const& number : split(text))
      {
        box.push_back(parse_number(number, "--box", "cx,cy[,cz],half"));
        if (!std::isfinite(box.back()))
          throw error("--box: found '" + number + "', expected finite numbers cx,cy[,cz],half");
      }
      if (!(box.back() > 0))
        throw error("--box: found the half width " + shortest(box.back()) +
                    ", expected a positive length");
      return box;
    }

    run_options interpret(written_run const& written)
    {
      refuse_idle(written);
      run_options options = written.options;
      options.precision = choose_precision(written.precision);
      options.step.backend = choose_backend(written.backend);
      for (std::string const& parameter : written.parameters)
      {
        auto const equals = parameter.find('=');
        if (equals == std::string::npos)
          throw error("--param: found '" + parameter + "', expected name=value");
        auto const name = parameter.substr(0, equals);
        for (auto const& known : options.interaction.parameters)
          if (known.first == name)
            throw error("--param: found " + name + " twice; give each parameter once");
        options.interaction.parameters.emplace_back(
            name, parse_number(parameter.substr(equals + 1), "--param", "a number after ="));
      }
      if (!written.box.empty()) options.box = parse_box(written.box);
      if (!written.columns.empty()) options.columns = split(written.columns);
      if (!written.source_columns.empty())
        options.source_columns = split(written.source_columns);
      else if (options.sources && options.sources->extension() == options.input.extension())
        options.source_columns = options.columns;
      return options;
    }

    void add_run(CLI::App& program, written_run& written)
    {
      run_options& options = written.options;
      auto* run = program.add_subcommand("run", "The near field of the points of a file");
      run->add_option("INPUT", options.input,
                      "points: .fma .bfma .pqr .data .lmp .csv .tsv .txt .dat .xyz")
          ->required();
      run->add_option("--sources", options.sources, "a file of sources; INPUT holds the targets");
      run->add_option("--interaction", options.interaction.name,
                      "one of those that 'nearfield info' lists")
          ->capture_default_str();
      run->add_option("--param", written.parameters, "sigma=0.5: a parameter of the interaction")
          ->allow_extra_args(false); // one value each time: what comes behind it may be INPUT
      run->add_option("--dim", options.dim, "2 or 3; default: as the file says")
          ->check(CLI::IsMember({2, 3}));
      run->add_option("--precision", written.precision, "f32 or f64")->capture_default_str();
      run->add_option("--backend", written.backend,
                      "auto: GPUs where there are some, else the CPU; scalar or simd: the CPU; "
                      "cuda: GPUs only")
          ->capture_default_str();
      auto* level = run->add_option("--level", options.level,
                                    "cut the box uniformly, 2^L leaves an axis; 0: the direct sum")
                        ->transform(whole_number(0));
      run->add_option("--max-leaf-size", options.max_leaf_size,
                      "cut until no leaf holds more points than this")
          ->transform(whole_number(1))
          ->capture_default_str()
          ->excludes(level);
      run->add_option("--leaves-per-group", options.step.leaves_per_group,
                      "leaves that one StarPU task computes")
          ->transform(whole_number(1));
      run->add_option("--scheduler", options.step.scheduler,
                      "StarPU's: lws, eager, dmda, dmdas ...");
      run->add_option("--workers", options.step.workers,
                      "StarPU's CPU workers; 0: the calling thread, without StarPU")
          ->transform(whole_number(0));
      run->add_option("--gpus", options.step.gpus, "GPUs that compute, 0 or more; default: all")
          ->transform(whole_number(0));
      run->add_option("--box", written.box,
                      "cx,cy[,cz],half: the box that is cut; default: the file's, or the smallest");
      run->add_option("--columns", written.columns,
                      "the columns of INPUT, left to right: x y z, q or q1 q2 ..., _ to skip");
      run->add_option("--source-columns", written.source_columns,
                      "those of --sources; default: as --columns, if the extension is the same");
      run->add_option("--atom-style", options.atom_style,
                      "of a LAMMPS file without a style comment");
      run->add_option("--check", options.check,
                      "compare this many targets with plain sums in long double")
          ->transform(whole_number(1));
      run->add_option("--output", options.output,
                      "positions, inputs, outputs: .csv .fma .bfma .vtu");
      run->add_option("--json", options.json, "counts, times and the check");
    }

    // Where one is closed (>&-) the next file that is opened would be standard output, and receive
    // what is printed. Opened the other way round, it refuses.
    void hold_standard_streams()
    {
      for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(stream, F_GETFD) < 0)
          (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }

    int fail(std::string message)
    {
      for (char& c : message)
        if (c == '\n' || c == '\r') c = ' ';
      std::cerr << "nearfield: " << message << std::endl;
      return failed;
    }

    int parse_and_run(int argc, char** argv)
    {
      CLI::App program{"Near-field interactions of points, checked: P2P kernels over a tree",
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
      demo_command->add_option("--out", demo_of.folder, "the folder to write to")
          ->capture_default_str();
      written_run written;
      add_run(program, written);
      written_search search_of;
      auto* search_command = add_search(program, search_of);
      auto* info_command =
          program.add_subcommand("info", "What is built in, and what this machine has");

      refuse_empty(argc, argv);
      try
      {
        program.parse(argc, argv);
      }
      catch (CLI::ParseError const& parse_error)
      {
        if (version)
          print_version();
        else if (parse_error.get_exit_code() == 0)
          program.exit(parse_error, std::cout, std::cerr);
        else
          return fail(std::string(parse_error.what()) + " (see nearfield --help-all)");
        return success;
      }
      if (info_command->parsed()) return info();
      if (demo_command->parsed()) return demo(demo_of);
      if (search_command->parsed()) return search(interpret(search_of));
      return run(interpret(written));
    }
  }

  int main(int argc, char** argv)
  try
  {
    hold_standard_streams();
    remove_temporaries_on_signal();
    int const status = parse_and_run(argc, argv);
    flush_output();
    return status;
  }
  catch (std::bad_alloc const&)
  {
    return fail("this needs more memory than there is; give fewer points");
  }
  catch (std::exception const& e)
  {
    return fail(e.what());
  }
}
