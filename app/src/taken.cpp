#include "taken.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace nearfield::app
{
  namespace
  {
    void move_to(std::vector<std::string>& to, std::vector<std::string>& from)
    {
      to.insert(to.end(), from.begin(), from.end());
      from.clear();
    }

    std::string numbers(std::vector<double> const& values, char const* separator)
    {
      std::string text;
      for (double const value : values)
        text += (text.empty() ? "" : separator) + number_text(value);
      return text;
    }

    // Whether they are the same but for the digits that a file may not have.
    bool are_equal(std::vector<double> const& a, std::vector<double> const& b)
    {
      return std::ranges::equal(a, b, [](double x, double y)
                                { return std::abs(x - y) <= 1e-9 * std::abs(x); });
    }

    // `moves`: the points, in open space.
    void judge(file_report::periodic_cell const& cell, int dim, file_options const& options,
               bool moves, taken_file& file)
    {
      auto const n = static_cast<std::size_t>(dim);
      auto const lengths = cell.lengths();
      auto const box = cell.box();
      std::vector<double> vectors, period, size;
      bool is_open = true;
      for (std::size_t a = 0; a < n; ++a)
      {
        vectors.insert(vectors.end(), box.vectors[a].begin(), box.vectors[a].begin() + dim);
        size.push_back(box.vectors[a][a]);
        if (lengths) period.push_back((*lengths)[a]);
        is_open &= !box.periodic[a];
      }
      file.box = "box " + (lengths ? numbers(size, " x ") : numbers(vectors, ",")) + " (" +
                 cell.from + ") ";
      auto const& [of_file, given, flags, origin] = options.cell;
      if (of_file)
      {
        file.uses_box = true;
        file.box += "repeats";
        if (std::ranges::find(flags, false) != flags.end())
          file.box += " as --pbc " + numbers({flags.begin(), flags.end()}, ",") + " says";
      }
      else if (!given.empty())
      {
        file.uses_box = are_equal(given, vectors) || are_equal(given, period);
        file.box += file.uses_box ? "is that of --cell"
                                  : "is not used: --cell gives " + numbers(given, ",");
      }
      else if (auto const& periodic = options.periodic; !periodic.empty())
      {
        file.uses_box = are_equal(periodic, period);
        file.box += file.uses_box ? "is that of --periodic"
                                  : "is not used: --periodic gives " + numbers(periodic, ",");
      }
      else if (is_open)
        file.box += "has open axes: not used";
      else
        file.box +=
            moves ? "is not used: --move has open axes" : "is not used: --cell file repeats it";
    }

    taken_file taken(named_points const& from, file_options const& options, bool moves,
                     std::optional<point_set::bounding_box> const& cut)
    {
      taken_file file{.name = from.name, .report = from.report};
      if (from.report.cell)
        judge(*from.report.cell, from.points.dim, options, moves, file);
      else if (auto const& box = from.points.box)
      {
        file.uses_box = cut == box;
        file.box = "box of half width " + number_text(box->half_width) + " around " +
                   numbers(box->centre, ",") + (file.uses_box ? " is cut" : " is not used");
      }
      return file;
    }
  }

  std::string listed(std::vector<std::string> const& names)
  {
    constexpr std::size_t most = 12;
    std::string text;
    for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
      text += (k == 0 ? "" : ", ") + names[k];
    if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
    return text;
  }

  taken_files taken_of(run_options const& options, named_points const& targets,
                       named_points const* sources,
                       std::optional<point_set::bounding_box> const& box)
  {
    taken_files files;
    for (auto const* from : {&targets, sources})
    {
      if (!from) continue;
      auto& file = files.emplace_back(taken(*from, options, options.motion.has_value(), box));
      auto& report = file.report;
      bool const is_written = from == &targets && options.output;
      if (options.motion && options.motion->force == force::gravity)
        move_to(report.masses, report.inputs); // as take_masses() does
      if (!options.motion && !(is_written && can_hold_velocities(*options.output)))
      {
        move_to(report.left_out, report.velocities);
        move_to(report.left_out, report.masses);
      }
      if (sources && from == &targets && !is_written) move_to(report.left_out, report.inputs);
      move_to(report.left_out, report.outputs); // computed anew
    }
    return files;
  }

  taken_files taken_of(search_options const& options, named_points const& from)
  {
    auto file = taken(from, options, false, std::nullopt);
    auto& report = file.report;
    for (auto* names : {&report.velocities, &report.masses, &report.inputs, &report.outputs})
      move_to(report.left_out, *names);
    return {std::move(file)};
  }

  read_options reading_of(file_options const& options)
  {
    return {.dim = options.dim,
            .columns = options.columns,
            .atom_style = options.atom_style,
            .frame = options.frame,
            .format = options.format};
  }

  named_points read_file(ranks const& all, std::filesystem::path const& path, read_options how)
  {
    if (all.size() > 1)
      how.part = {static_cast<std::uint64_t>(all.rank()), static_cast<std::uint64_t>(all.size())};
    all.require_same_file(path);
    named_points mine{.name = path.string()};
    all.attempt([&] { mine.points = read_points(path, how, &mine.report); });
    mine.first = all.sum_before(mine.points.size());
    auto const n_points = all.sum(std::uint64_t(mine.points.size()));
    all.attempt(
        [&]
        {
          if (n_points == 0 && mine.report.format == "columns of text")
            throw error(mine.name + ": found no rows below the names, expected one for each point",
                        error_kind::invalid_data);
        });
    return mine;
  }

  void print_taken(taken_files const& files)
  {
    for (auto const& [name, report, box, uses_box] : files)
    {
      std::cout << "read          " << std::filesystem::path(name).filename().string() << ": "
                << report.format << "; positions " << listed(report.positions);
      auto const print = [](char const* what, std::vector<std::string> const& names)
      {
        if (!names.empty()) std::cout << "; " << what << " " << listed(names);
      };
      print("inputs", report.inputs);
      print("velocities", report.velocities);
      print("masses", report.masses);
      print("parameters", report.parameters);
      print("types", report.types);
      if (!box.empty()) std::cout << "; " << box;
      if (!report.left_out.empty()) std::cout << "; left out: " << listed(report.left_out);
      std::cout << "\n";
    }
  }
}
