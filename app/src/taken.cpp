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

    // a, b, c, of many the first.
    std::string listed(std::vector<std::string> const& names)
    {
      constexpr std::size_t most = 12;
      std::string text;
      for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
        text += (k == 0 ? "" : ", ") + names[k];
      if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
      return text;
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

    // Why the vectors of a box do not lie along x, y and z.
    std::string shape_of(file_report::periodic_cell const& cell)
    {
      auto const& v = cell.vectors;
      std::size_t n = 0, on_diagonal = 0; // of components that are not 0
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t d = 0; d < 3; ++d)
          if (v[a][d] != 0)
          {
            ++n;
            on_diagonal += a == d;
          }
      if (n == on_diagonal) return "has a negative length";
      std::size_t n_axes = 0; // along which one vector lies
      for (std::size_t d = 0; d < 3; ++d)
        n_axes += std::ranges::count_if(v, [d](auto const& each) { return each[d] != 0; }) == 1;
      bool const is_permuted =
          n == 3 && n_axes == 3 &&
          std::ranges::none_of(v, [](auto const& each) { return each == decltype(each){}; });
      return is_permuted ? "has vectors that do not lie along x, y and z in this order"
                         : "is triclinic";
    }

    // The option that leaves axes open, if the file says that they are.
    std::string open_axes(file_report::periodic_cell const& cell, std::size_t dim)
    {
      if (!cell.periodic) return "";
      std::vector<double> flags;
      for (std::size_t a = 0; a < dim; ++a) flags.push_back((*cell.periodic)[a] ? 1 : 0);
      return std::ranges::all_of(flags, [](double f) { return f == 1; })
                 ? ""
                 : " --pbc " + numbers(flags, ",");
    }

    // `moves`: the points, in open space. `given`: --cell, null if the command does not take boxes of any shape.
    void judge(file_report::periodic_cell const& cell, int dim, std::vector<double> const& periodic,
               std::vector<double> const* given, bool moves, taken_file& file)
    {
      auto const n = static_cast<std::size_t>(dim);
      auto const lengths = cell.lengths();
      std::string const name = "box (" + cell.from + ")";
      std::vector<double> vectors;
      for (std::size_t a = 0; a < n; ++a)
        vectors.insert(vectors.end(), cell.vectors[a].begin(), cell.vectors[a].begin() + dim);
      if (given && !given->empty())
      {
        file.uses_box = are_equal(*given, vectors) ||
                        (lengths && are_equal(*given, {lengths->begin(), lengths->begin() + dim}));
        file.box = name + (file.uses_box ? " is that of --cell"
                                         : " is not used: --cell gives " + numbers(*given, ","));
        return;
      }
      if (!lengths)
      {
        file.box = name + " " + shape_of(cell) +
                   (given ? ", not used: --cell " + numbers(vectors, ",") + open_axes(cell, n) +
                                " repeats it"
                          : ", which nearfield run cannot repeat: it takes boxes along x, y and z");
        return;
      }
      std::vector<double> const period(lengths->begin(), lengths->begin() + dim);
      std::vector<double> size(n), shift;
      for (std::size_t a = 0; a < n; ++a)
      {
        size[a] = cell.vectors[a][a];
        shift.push_back(cell.origin[a] == 0 ? 0 : -cell.origin[a]);
      }
      file.box = "box " + numbers(size, " x ") + " (" + cell.from + ") ";
      if (!periodic.empty())
      {
        file.uses_box = are_equal(periodic, period);
        file.box += file.uses_box ? "is that of --periodic"
                                  : "is not used: --periodic gives " + numbers(periodic, ",");
      }
      else if (std::ranges::all_of(period, [](double length) { return length == 0; }))
        file.box += "has open axes: not used";
      else if (moves)
        file.box += "is not used: --move has open axes";
      else
      {
        file.box += "is not used: --periodic " + numbers(period, ",") + " repeats it";
        if (!given && std::ranges::any_of(shift, [](double s) { return s != 0; }))
          file.box += ", of positions moved by " + numbers(shift, ",");
      }
    }

    taken_file taken(named_points const& from, std::vector<double> const& periodic,
                     std::vector<double> const* cell, bool moves,
                     std::optional<point_set::bounding_box> const& cut)
    {
      taken_file file{.name = from.name, .report = from.report};
      if (from.report.cell)
        judge(*from.report.cell, from.points.dim, periodic, cell, moves, file);
      else if (auto const& box = from.points.box)
      {
        file.uses_box = cut == box;
        file.box = "box of half width " + number_text(box->half_width) + " around " +
                   numbers(box->centre, ",") + (file.uses_box ? " is cut" : " is not used");
      }
      return file;
    }
  }

  taken_files taken_of(run_options const& options, named_points const& targets,
                       named_points const* sources,
                       std::optional<point_set::bounding_box> const& box)
  {
    taken_files files;
    for (auto const* from : {&targets, sources})
    {
      if (!from) continue;
      auto& file = files.emplace_back(
          taken(*from, options.periodic, nullptr, options.motion.has_value(), box));
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
    auto file = taken(from, options.periodic, &options.cell, false, std::nullopt);
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
      if (!box.empty()) std::cout << "; " << box;
      if (!report.left_out.empty()) std::cout << "; left out: " << listed(report.left_out);
      std::cout << "\n";
    }
  }
}
