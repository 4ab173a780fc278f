#pragma once

#include "options.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/io/points.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::app
{
  /// The points of a file, and its name for messages.
  struct named_points
  {
    std::string name;
    point_set points;
  };

  /// How the tree is cut: a uniform level or a maximal number of points per leaf, and optionally the root box.
  struct cut_options
  {
    std::optional<int> level = std::nullopt;
    int max_leaf_size = 64;
    std::optional<bounding_box> box = std::nullopt;
  };

  /// A column of a file in the precision of the run: a view for double, a rounded copy for float.
  template <class T>
  using column =
      std::conditional_t<std::is_same_v<T, double>, std::span<double const>, std::vector<T>>;

  /// Pointers to columns, for soa<T, run_time_columns>.
  template <class T, class Columns>
  std::vector<T*> pointers(Columns& columns)
  {
    std::vector<T*> result;
    for (auto& each : columns) result.push_back(each.data());
    return result;
  }

  /// The positions of the points of a file, which must outlive it.
  template <class T, int Dim>
  struct position_columns
  {
    std::array<column<T>, Dim> columns;

    [[nodiscard]] std::size_t size() const { return columns[0].size(); }
    [[nodiscard]] soa<T const, Dim> view() const
    {
      std::array<T const*, Dim> data;
      for (int d = 0; d < Dim; ++d) data[d] = columns[d].data();
      return {data, size()};
    }
  };

  /// The points in the precision of the run and in the caller's order, and their tree. The points of the files
  /// must outlive it.
  template <class T, int Dim>
  class problem
  {
  public:
    using real = T;
    static constexpr int dim = Dim;

    position_columns<T, Dim> targets;
    /// none: the targets are also the sources
    std::optional<position_columns<T, Dim>> sources;
    /// one column per input of the sources
    std::vector<column<T>> inputs;
    tree_options<Dim> cut;
    std::shared_ptr<executor> builder; ///< of the tree; null: the calling thread

    /// Built by the first call: a run on a GPU alone builds its tree there.
    [[nodiscard]] tree<Dim> const& leaves() const
    {
      auto const made = [this](auto&... on)
      {
        return sources ? build_tree(on..., targets.view(), sources->view(), cut)
                       : build_tree(on..., targets.view(), cut);
      };
      if (!leaves_) leaves_ = builder ? made(*builder) : made();
      return *leaves_;
    }
    [[nodiscard]] soa<T const, Dim> source_view() const
    {
      return sources ? sources->view() : targets.view();
    }
    /// The inputs of all right-hand sides, as pointers for soa<T const, run_time_columns>.
    [[nodiscard]] std::vector<T const*> input_pointers() const { return pointers<T const>(inputs); }

  private:
    mutable std::optional<tree<Dim>> leaves_{};
  };

  /// The values in precision T. Throws nearfield::error for a value beyond the range of T.
  template <class T>
  column<T> rounded(std::vector<double> const& values, std::string const& name, char const* what)
  {
    if constexpr (std::is_same_v<T, double>)
      return values;
    else
    {
      std::vector<T> result(values.size());
      for (std::size_t i = 0; i < values.size(); ++i)
      {
        result[i] = static_cast<T>(values[i]);
        if (!std::isfinite(result[i]))
          throw error(name + ": point " + std::to_string(i) + " has the " + what + " " +
                      number_text(values[i]) + ", which f32 cannot represent; use --precision f64");
      }
      return result;
    }
  }

  template <class T>
  std::vector<column<T>> rounded_inputs(named_points const& from)
  {
    std::vector<column<T>> result;
    for (auto const& values : from.points.inputs)
      result.push_back(rounded<T>(values, from.name, "input"));
    return result;
  }

  template <class T, int Dim>
  position_columns<T, Dim> rounded_positions(named_points const& from)
  {
    position_columns<T, Dim> result;
    for (int d = 0; d < Dim; ++d)
      result.columns[d] = rounded<T>(from.points.positions[d], from.name, "coordinate");
    return result;
  }

  /// Throws nearfield::error for a point outside the given box by more than 4 eps (of T) times its half width.
  /// Enlarges the root if rounding to T has moved a point out of it.
  template <class T, int Dim>
  void fit(cube<Dim>& root, cube<Dim> const& given, named_points const& from)
  {
    double const limit =
        given.half_width * (1 + 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    for (int d = 0; d < Dim; ++d)
    {
      auto const& values = from.points.positions[d];
      for (std::size_t i = 0; i < values.size(); ++i)
      {
        if (!(std::abs(values[i] - given.centre[d]) <= limit))
          throw error(from.name + ": point " + std::to_string(i) + " has " + "xyz"[d] + " = " +
                      number_text(values[i]) + ", outside the box of half width " +
                      number_text(given.half_width) + " around " + number_text(given.centre[d]) +
                      " that the file or --box gives; expected it inside");
        double const now =
            std::abs(static_cast<double>(static_cast<T>(values[i])) - given.centre[d]);
        if (now > limit) root.half_width = std::max(root.half_width, now);
      }
    }
  }

  /// Rounds the points to T.
  template <class T, int Dim>
  problem<T, Dim> make_problem(named_points const& targets, named_points const* sources,
                               cut_options const& cut)
  {
    auto target_columns = rounded_positions<T, Dim>(targets);
    std::optional<position_columns<T, Dim>> source_columns;
    if (sources) source_columns = rounded_positions<T, Dim>(*sources);

    tree_options<Dim> options{.max_leaf_size = cut.max_leaf_size, .level = cut.level};
    if (cut.box)
    {
      cube<Dim> given;
      for (int d = 0; d < Dim; ++d) given.centre[d] = cut.box->centre[d];
      given.half_width = cut.box->half_width;
      cube<Dim> root = given;
      fit<T>(root, given, targets);
      if (sources) fit<T>(root, given, *sources);
      options.root = root;
    }
    problem<T, Dim> result;
    result.targets = std::move(target_columns);
    result.sources = std::move(source_columns);
    result.inputs = rounded_inputs<T>(sources ? *sources : targets);
    result.cut = options;
    return result;
  }
}
