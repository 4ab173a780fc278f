#include "arguments.hpp"

#include "box.hpp"
#include "pair_choice.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/numbers.hpp>
#include <nearfield/tree/cell_grid.hpp>

#include <cmath>
#include <limits>
#include <sstream>

namespace nearfield::app
{
  namespace
  {
    // All of `text` as a finite number for which fits() holds.
    double read_finite(std::string const& text, std::string const& expected, bool (*fits)(double))
    {
      auto const value = nearfield::detail::read_number<double>(text);
      if (!value || !std::isfinite(*value) || !fits(*value)) refuse_text(text, expected);
      return *value;
    }
  }

  void refuse_text(std::string const& text, std::string const& expected)
  {
    throw error("found '" + text + "', expected " + expected);
  }

  double read_length(std::string const& text)
  {
    return read_finite(text, "a positive, finite length", [](double x) { return x > 0; });
  }

  double read_duration(std::string const& text)
  {
    return read_finite(text, "a positive, finite time", [](double x) { return x > 0; });
  }

  double read_cost(std::string const& text)
  {
    return read_finite(text, "seconds of a leaf, finite, 0 or more",
                       [](double x) { return x >= 0; });
  }

  int read_leaf_size(std::string const& text)
  {
    if (text == "auto") return automatic;
    auto const size = nearfield::detail::read_number<int>(text);
    if (!size || *size < 1)
      refuse_text(text, "auto, or a whole number from 1 to " +
                            std::to_string(std::numeric_limits<int>::max()));
    return *size;
  }

  std::int64_t read_frame(std::string const& text)
  {
    auto const frame = nearfield::detail::read_number<std::int64_t>(text);
    if (!frame) refuse_text(text, "a whole number, from 0, or from -1, the last, back");
    return *frame;
  }

  std::vector<std::string> read_words(std::string const& text)
  {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    if (text.empty() || text.back() == ',') words.emplace_back();
    return words;
  }

  std::vector<double> read_box(std::string const& text)
  {
    std::vector<double> box;
    for (std::string const& word : read_words(text))
      box.push_back(
          read_finite(word, "finite numbers cx,cy[,cz],half", [](double) { return true; }));
    if (!(box.back() > 0))
      throw error("found the half width " + number_text(box.back()) +
                  ", expected a positive length");
    return box;
  }

  std::vector<double> read_periods(std::string const& text)
  {
    std::vector<double> lengths;
    for (std::string const& word : read_words(text))
      lengths.push_back(read_finite(word,
                                    "Lx,Ly[,Lz], positive, finite lengths, and 0 for an open axis",
                                    [](double x) { return x >= 0; }));
    if (std::size_t const n = lengths.size(); n != 2 && n != 3)
      throw error("found " + std::to_string(n) + (n == 1 ? " length" : " lengths") +
                  ", expected 2 or 3, one for each axis, 0 for an open one");
    return lengths;
  }

  cell_choice read_cell(std::string const& text)
  {
    cell_choice cell;
    if (text == "file")
    {
      cell.is_of_file = true;
      return cell;
    }
    for (std::string const& word : read_words(text))
      cell.numbers.push_back(
          read_finite(word, "finite numbers, or file", [](double) { return true; }));
    if (std::size_t const n = cell.numbers.size(); n != 2 && n != 3 && n != 4 && n != 9)
      throw error("found " + std::to_string(n) + (n == 1 ? " number" : " numbers") +
                  ", expected 4 in 2D or 9 in 3D, one vector after the other, or a length for each "
                  "axis, 0 for an open one");
    return cell;
  }

  std::vector<bool> read_pbc(std::string const& text)
  {
    std::vector<bool> repeats;
    for (std::string const& word : read_words(text))
    {
      if (word != "0" && word != "1") refuse_text(word, "1 for a vector that repeats, or 0");
      repeats.push_back(word == "1");
    }
    return repeats;
  }

  std::vector<type_cutoff> read_type_cutoffs(std::string const& text)
  {
    std::vector<type_cutoff> cutoffs;
    for (std::string const& word : read_words(text))
    {
      auto const colon = word.find(':'), equals = word.rfind('=');
      if (colon == std::string::npos || equals == std::string::npos || equals < colon)
        refuse_text(word, "A:B=R, the cutoff R of two types A and B");
      cutoffs.push_back({{word.substr(0, colon), word.substr(colon + 1, equals - colon - 1)},
                         read_finite(word.substr(equals + 1),
                                     "a finite length, or 0 for types that form no pairs",
                                     [](double x) { return x >= 0; })});
    }
    return cutoffs;
  }

  std::vector<std::pair<std::string, double>> read_parameters(std::vector<std::string> const& texts)
  {
    std::vector<std::pair<std::string, double>> parameters;
    for (std::string const& text : texts)
    {
      auto const equals = text.find('=');
      if (equals == std::string::npos) refuse_text(text, "name=value");
      auto const name = text.substr(0, equals), number = text.substr(equals + 1);
      for (auto const& known : parameters)
        if (known.first == name) throw error("found " + name + " twice; give each parameter once");
      auto const value = nearfield::detail::read_number<double>(number); // nan and inf too
      if (!value) refuse_text(number, "a number after =");
      parameters.emplace_back(name, *value);
    }
    return parameters;
  }

  void complete(run_options& options)
  {
    if (!options.source_columns.empty() && !options.sources)
      throw error("--source-columns: found no --sources; give the file, or --columns for INPUT");
    for (auto const& [option, is_given] :
         {std::pair("--scheduler", !options.step.scheduler.empty()),
          std::pair("--leaves-per-group", options.step.leaves_per_group.has_value())})
      if (options.step.workers == 0 && is_given)
        throw error(std::string(option) + ": found --workers 0, which runs without StarPU; " +
                    "leave out one of them");
    if (options.far_field_cost && options.max_leaf_size != automatic)
      throw error("--far-field-cost: found --max-leaf-size " +
                  std::to_string(options.max_leaf_size) + ", which it would not change; give auto");
    check_box_options(options);
    if (options.cell.is_given() && !options.box.empty())
      throw error("--box: found --cell too, whose own box is cut; leave out one of them");
    if (options.motion) options.interaction.name = "r_over_r3"; // whose sums are the forces of both
    bool const are_alike =
        options.sources && options.sources->extension() == options.input.extension();
    if (options.source_columns.empty() && are_alike) options.source_columns = options.columns;
  }

  void complete(search_options& options)
  {
    if (options.shifts && options.list != list_kind::half && options.list != list_kind::full)
      throw error("--shifts: found --list " + std::string(name_of(options.list)) +
                  ", which has no pairs; give --list half or full, or leave it out");
    if (options.width && options.list != list_kind::table)
      throw error("--width: found --list " + std::string(name_of(options.list)) +
                  ", which has no width; give --list table, or leave it out");
    if (options.workers > 0 &&
        (options.backend == backend::scalar || options.backend == backend::cuda))
      throw error("--workers: found " + std::to_string(options.workers) + " with --backend " +
                  name_of(options.backend) +
                  ", which runs on the calling thread; leave out one of them");
    if (options.cells_per_cutoff > max_cells_per_cutoff)
      throw error("--cells-per-cutoff: found " + std::to_string(options.cells_per_cutoff) +
                  ", expected 1 to " + std::to_string(max_cells_per_cutoff) +
                  ": more cells cost more than they save; leave it out for the default");
    check_box_options(options);
    check_pair_options(options);
  }
}
