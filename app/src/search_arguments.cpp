#include "search_arguments.hpp"

#include "arguments.hpp"
#include "shortest.hpp"

#include <nearfield/tree/cell_grid.hpp>

#include <cmath>

namespace nearfield::app
{
  namespace
  {
    double parse_radius(std::string const& text)
    {
      char const* const expected = "a positive, finite length";
      double const radius = parse_number(text, "--radius", expected);
      if (!(radius > 0) || !std::isfinite(radius))
        throw error("--radius: found '" + text + "', expected " + expected);
      return radius;
    }

    std::vector<double> parse_periodic(std::string const& text, int dim)
    {
      char const* const expected = "Lx,Ly[,Lz], positive, finite lengths, and 0 for an open axis";
      std::vector<double> lengths;
      for (std::string const& number : split(text))
      {
        lengths.push_back(parse_number(number, "--periodic", expected));
        if (!(lengths.back() >= 0) || !std::isfinite(lengths.back()))
          throw error("--periodic: found '" + number + "', expected " + expected);
      }
      std::size_t const n = lengths.size();
      if (dim != 0 ? n != static_cast<std::size_t>(dim) : n != 2 && n != 3)
        throw error("--periodic: found " + std::to_string(n) + (n == 1 ? " length" : " lengths") +
                    ", expected " + (dim != 0 ? std::to_string(dim) : "2 or 3") +
                    ", one for every axis and 0 for an open one");
      return lengths;
    }
  }

  CLI::App* add_search(CLI::App& program, written_search& written)
  {
    search_options& options = written.options;
    auto* search =
        program.add_subcommand("search", "All pairs of points of a file closer than a radius");
    search
        ->add_option("INPUT", options.input,
                     "points: .fma .bfma .pqr .data .lmp .csv .tsv .txt .dat .xyz")
        ->required();
    search->add_option("--radius", written.radius, "pairs closer than this are listed")->required();
    search
        ->add_option("--list", written.list,
                     "half: every pair once; full: (i, j) and (j, i); count: neighbours of every "
                     "point; table: counts and neighbours")
        ->capture_default_str();
    search
        ->add_option("--width", options.width,
                     "places of a row of --list table; default: the most neighbours of a point")
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
    search->add_option("--periodic", written.periodic,
                       "Lx,Ly[,Lz]: points lie in [0, L) of an axis that repeats; 0: an open axis");
    search
        ->add_option("--max-memory", options.max_memory,
                     "bytes; a list that takes more is refused; default: what is free")
        ->transform(whole_number(0));
    search->add_option("--columns", written.columns,
                       "the columns of INPUT, left to right: x y z, _ to skip");
    search->add_option("--atom-style", options.atom_style,
                       "of a LAMMPS file without a style comment");
    search->add_option("--output", options.output, "the list: .csv .npy");
    search->add_option("--json", options.json, "counts and times");
    return search;
  }

  search_options interpret(written_search const& written)
  {
    search_options options = written.options;
    options.precision = choose_precision(written.precision);
    options.backend = choose_backend(written.backend);
    options.list = choose<list_kind>(written.list, "--list",
                                     {{"half", list_kind::half},
                                      {"full", list_kind::full},
                                      {"count", list_kind::count},
                                      {"table", list_kind::table}});
    // an option that would change nothing is a mistake
    if (options.width && options.list != list_kind::table)
      throw error("--width: found --list " + written.list +
                  ", which has no width; give --list table, or leave it out");
    if (options.workers > 0 &&
        (options.backend == backend::scalar || options.backend == backend::cuda))
      throw error("--workers: found " + std::to_string(options.workers) + " with --backend " +
                  written.backend + ", which the calling thread runs; leave one of them out");
    if (options.cells_per_cutoff > max_cells_per_cutoff)
      throw error("--cells-per-cutoff: found " + std::to_string(options.cells_per_cutoff) +
                  ", expected 1 to " + std::to_string(max_cells_per_cutoff) +
                  ": more cells cost more than they save; leave it out for the default");
    options.radius = parse_radius(written.radius);
    if (!written.periodic.empty()) options.periodic = parse_periodic(written.periodic, options.dim);
    if (!written.columns.empty()) options.columns = split(written.columns);
    return options;
  }
}
