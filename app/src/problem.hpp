#pragma once

#include "box.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "rounding.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/where.hpp>
#include <nearfield/io/points.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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
    point_set points = {};
    /// the number in the file of the first of them: not 0 for a part
    std::uint64_t first = 0;
    /// what the reader has made of the file
    file_report report = {};
  };

  /// How the tree is cut: a uniform level or a maximal number of points per leaf, and optionally the root box.
  struct cut_options
  {
    std::optional<int> level = std::nullopt;
    int max_leaf_size = 64;
    leaf_costs const* costs = nullptr; ///< of an automatic size
    std::optional<point_set::bounding_box> box = std::nullopt;
    std::vector<double> period = {}; ///< of each axis, 0 for an open one; empty: all are open
    cell_choice cell = {};           ///< instead, a box of any shape
    /// what is subtracted from coordinates before they are rounded to float; none: what rounding_origins() gives
    std::optional<std::vector<double>> origin = std::nullopt;
  };

  /// Pointers to columns, for soa<T, run_time_columns>.
  template <class T, class Columns>
  std::vector<T*> pointers(Columns& columns)
  {
    std::vector<T*> result;
    for (auto& each : columns) result.push_back(each.data());
    return result;
  }

  /// Of each column, what f(c, begin, values) gives for parts of it together, by the workers.
  template <class Found, class F>
  std::vector<Found> over_parts(executor& on, std::vector<std::vector<double>> const& columns,
                                F const& f)
  {
    auto const parts = static_cast<std::size_t>(on.workers());
    std::vector<Found> found(columns.size() * parts), result(columns.size());
    on.run(static_cast<int>(found.size()),
           [&](int p)
           {
             auto const c = static_cast<std::size_t>(p) / parts,
                        part = static_cast<std::size_t>(p) % parts;
             std::span<double const> const values = columns[c];
             std::size_t const begin = values.size() * part / parts,
                               end = values.size() * (part + 1) / parts;
             found[static_cast<std::size_t>(p)] = f(c, begin, values.subspan(begin, end - begin));
           });
    for (std::size_t p = 0; p < found.size(); ++p) result[p / parts].add(found[p]);
    return result;
  }

  inline std::vector<extent> extents_of(point_set::bounding_box const& box)
  {
    std::vector<extent> result;
    for (double const c : box.centre) result.push_back({c - box.half_width, c + box.half_width});
    return result;
  }

  /// rounding_origin() of each axis; 0 of one that repeats, whose points lie in [0, L).
  inline std::vector<double> rounding_origins(std::vector<extent> const& extents,
                                              std::vector<double> const& period)
  {
    std::vector<double> origins;
    for (std::size_t d = 0; d < extents.size(); ++d)
      origins.push_back(d < period.size() && period[d] > 0 ? 0 : rounding_origin(extents[d]));
    return origins;
  }

  /// Those of the points of one or two files, whose differences need one origin, of all ranks in precision T: zeros in
  /// double. Collective.
  template <class T>
  std::vector<double> rounding_origins(ranks const& all, executor& on, named_points const& targets,
                                       named_points const* sources,
                                       std::vector<double> const& period)
  {
    if (std::is_same_v<T, double>) return std::vector<double>(targets.points.positions.size());
    std::vector<extent> extents(targets.points.positions.size());
    for (auto const* of : {&targets, sources})
    {
      if (!of) continue;
      auto const found =
          over_parts<extent>(on, of->points.positions,
                             [](std::size_t, std::size_t, auto part) { return extent_of(part); });
      for (std::size_t d = 0; d < extents.size(); ++d) extents[d].add(found[d]);
    }
    for (extent& each : extents) each = {all.least(each.lower), all.greatest(each.upper)};
    return rounding_origins(extents, period);
  }

  /// The columns of a file minus an origin in precision T: views for double, whose origin is 0; for float rounded copies,
  /// in memory that the workers of `on` touch first. And what their values are like around `centre`; of views without a
  /// centre nothing is asked. Empty: zeros.
  template <class T>
  struct rounded_columns
  {
    std::vector<T const*> columns;
    std::size_t size; ///< of each
    std::vector<value_range> ranges;

    rounded_columns(executor& on, std::vector<std::vector<double>> const& from,
                    std::span<double const> origin, std::span<double const> centre)
        : size(from.empty() ? 0 : from[0].size()), ranges(from.size())
    {
      for (auto const& values : from)
        if constexpr (std::is_same_v<T, double>)
          columns.push_back(values.data());
        else
          columns.push_back(copies_.emplace_back(std::make_unique_for_overwrite<T[]>(size)).get());
      if (std::is_same_v<T, double> && centre.empty()) return; // views, and no box to lie in
      ranges = over_parts<value_range>(
          on, from,
          [&](std::size_t c, std::size_t begin, std::span<double const> part)
          {
            return round_values<T>(part, origin.empty() ? 0 : origin[c],
                                   centre.empty() ? 0 : centre[c],
                                   copies_.empty() ? nullptr : &copies_[c][begin]);
          });
    }

    /// Of positions.
    template <int Dim>
    [[nodiscard]] soa<T const, Dim> view() const
    {
      std::array<T const*, Dim> data;
      std::copy_n(columns.begin(), Dim, data.begin());
      return {data, size};
    }

  private:
    std::vector<std::unique_ptr<T[]>> copies_;
  };

  /// Throws nearfield::error if rounding found a value beyond the range of T. Trees refuse others that are not finite.
  template <class T>
  void check_ranges(std::vector<std::vector<double>> const& columns, std::span<double const> origin,
                    std::span<value_range const> found, std::string const& name, char const* what,
                    std::uint64_t first = 0)
  {
    for (std::size_t c = 0; sizeof(T) < sizeof(double) && c < columns.size(); ++c)
      for (std::size_t i = 0; !found[c].is_finite && i < columns[c].size(); ++i)
        if (!std::isfinite(static_cast<T>(columns[c][i] - (origin.empty() ? 0 : origin[c]))))
          throw error(name + ": point " + std::to_string(first + i) + " has the " + what + " " +
                      number_text(columns[c][i]) +
                      ", which f32 cannot represent; use --precision f64");
  }

  /// The positions of the points of a file, which must outlive them, minus the origin. Throws nearfield::error for a
  /// coordinate beyond the range of T.
  template <class T>
  rounded_columns<T> rounded_positions(executor& on, named_points const& from,
                                       std::span<double const> origin)
  {
    rounded_columns<T> made(on, from.points.positions, origin, {});
    check_ranges<T>(from.points.positions, origin, made.ranges, from.name, "coordinate",
                    from.first);
    return made;
  }

  /// Throws nearfield::error for a period that T cannot represent, and for a point outside [0, L) in T.
  template <class T>
  void check_periodic(std::vector<double> const& period, named_points const& from)
  {
    std::string const in = sizeof(T) == 4 ? " in f32" : "";
    for (std::size_t a = 0; a < period.size(); ++a)
    {
      if (!(period[a] > 0)) continue;
      T const length = static_cast<T>(period[a]);
      if (!std::isnormal(length))
        throw error("--periodic: found " + number_text(period[a]) + " for axis " + "xyz"[a] +
                    ", which underflows or overflows" + in + "; use other units of length");
      auto const& x = from.points.positions[a];
      for (std::size_t i = 0; i < x.size(); ++i)
        if (T const place = static_cast<T>(x[i]); !(place >= 0 && place < length))
          throw error(from.name + ": point " + std::to_string(from.first + i) + " has " + "xyz"[a] +
                      " = " + number_text(x[i]) + ", outside [0, " + number_text(double(length)) +
                      ")" + in + " that --periodic gives; expected it inside");
    }
  }

  /// Throws nearfield::error if rounding found a point outside the given box by more than 4 eps (of T) times its half
  /// width, on an open axis. Enlarges the root if rounding to T has moved a point out of it.
  template <class T, int Dim>
  void fit(tree_options<Dim>& options, cube<Dim> const& given, named_points const& from,
           std::span<value_range const> found)
  {
    double const limit =
        given.half_width * (1 + 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    for (int d = 0; d < Dim; ++d)
    {
      if (options.period[d] > 0) continue;
      auto const& values = from.points.positions[d];
      bool const is_inside = found[d].is_finite && found[d].distance <= limit;
      for (std::size_t i = 0; !is_inside && i < values.size(); ++i)
        if (!(std::abs(values[i] - given.centre[d]) <= limit))
          throw error(from.name + ": point " + std::to_string(from.first + i) + " has " + "xyz"[d] +
                      " = " + number_text(values[i]) + ", outside the box of half width " +
                      number_text(given.half_width) + " around " + number_text(given.centre[d]) +
                      " that the file or --box gives; expected it inside");
      if (found[d].rounded_distance > limit)
        options.root->half_width = std::max(options.root->half_width, found[d].rounded_distance);
    }
  }

  /// The points of files in the precision of the run and in the caller's order, minus an origin, and their tree. Host
  /// copies are made on first use: a run on a GPU alone rounds on the way there. The points must outlive it.
  template <class T, int Dim>
  class problem
  {
  public:
    /// Null sources: the targets are also the sources. Null builder: the calling thread rounds, and builds the tree.
    problem(named_points const& targets, named_points const* sources, cut_options const& cut,
            std::shared_ptr<executor> builder = nullptr)
        : targets_(targets), sources_(sources), cut_(cut),
          builder_(builder ? std::move(builder) : std::make_shared<threads>(1))
    {
      if (std::is_same_v<T, double> || !cut_.origin)
        cut_.origin = rounding_origins<T>(ranks(), *builder_, targets, sources, cut_.period);
    }

    [[nodiscard]] std::size_t size() const { return targets_.points.size(); }
    [[nodiscard]] bool has_two_sets() const { return sources_ != nullptr; }
    [[nodiscard]] cut_options const& cut() const { return cut_; }
    [[nodiscard]] named_points const& target_points() const { return targets_; }
    [[nodiscard]] named_points const& source_points() const
    {
      return sources_ ? *sources_ : targets_;
    }
    /// The number of columns of inputs, of all right-hand sides.
    [[nodiscard]] std::size_t n_inputs() const { return source_points().points.inputs.size(); }

    /// The options of the tree for points whose positions have these ranges around centre(); its root is around
    /// centre() - origin(). Throws nearfield::error
    /// for points outside the given box, or beyond the range of T.
    [[nodiscard]] tree_options<Dim> options(std::span<value_range const> of_targets,
                                            std::span<value_range const> of_sources) const
    {
      tree_options<Dim> result{
          .max_leaf_size = cut_.max_leaf_size, .level = cut_.level, .costs = cut_.costs};
      check_ranges<T>(targets_.points.positions, origin(), of_targets, targets_.name, "coordinate",
                      targets_.first);
      if (sources_)
        check_ranges<T>(sources_->points.positions, origin(), of_sources, sources_->name,
                        "coordinate", sources_->first);
      for (auto const* of : {&targets_, sources_})
        if (of) check_periodic<T>(cut_.period, *of);
      std::ranges::copy(cut_.period, result.period.begin());
      result.cell = box_of<Dim>(cut_.cell, origin());
      if (!cut_.box) return result;
      cube<Dim> given;
      for (int d = 0; d < Dim; ++d) given.centre[d] = cut_.box->centre[d];
      given.half_width = cut_.box->half_width;
      result.root = given;
      for (int d = 0; d < Dim; ++d) result.root->centre[d] -= origin()[static_cast<unsigned>(d)];
      fit<T>(result, given, targets_, of_targets);
      if (sources_) fit<T>(result, given, *sources_, of_sources);
      return result;
    }
    /// Those of the host's tree.
    [[nodiscard]] tree_options<Dim> const& options() const { return on_host().options; }
    /// That of the given box; empty if there is none.
    [[nodiscard]] std::span<double const> centre() const
    {
      return cut_.box ? std::span<double const>(cut_.box->centre) : std::span<double const>();
    }

    /// What is subtracted from all coordinates in double before they are rounded; zeros in double.
    [[nodiscard]] std::span<double const> origin() const { return *cut_.origin; }

    /// The positions of the targets.
    [[nodiscard]] soa<T const, Dim> targets() const { return on_host().targets.positions_view(); }
    /// f(targets) or, of two sets, f(targets, sources): positions, of which trees are made.
    template <class F>
    decltype(auto) with_positions(F&& f) const
    {
      return sources_ ? f(targets(), on_host().sources->positions_view()) : f(targets());
    }
    /// The same of the columns of points that sums take: positions, then parameters.
    template <class F>
    decltype(auto) with_points(F&& f) const
    {
      auto const& [x, y, q, tree] = on_host();
      return y ? f(x.points_view(), y->points_view()) : f(x.points_view());
    }
    /// The same of the parameters alone; f() if the points have none.
    template <class F>
    decltype(auto) with_parameters(F&& f) const
    {
      auto const& [x, y, q, tree] = on_host();
      if (x.parameters.columns.empty()) return f();
      return y ? f(x.parameters_view(), y->parameters_view()) : f(x.parameters_view());
    }
    /// The inputs of the sources, of all right-hand sides.
    [[nodiscard]] soa<T const, run_time_columns> inputs() const
    {
      return {on_host().inputs.columns, on_host().inputs.size};
    }
    [[nodiscard]] tree<Dim> const& leaves() const
    {
      if (!leaves_)
      {
        leaves_ =
            with_positions([&](auto const&... x)
                           { return build_tree(simd.with(*builder_), x..., on_host().options); });
      }
      return *leaves_;
    }

  private:
    struct host_set
    {
      rounded_columns<T> positions, parameters;
      std::vector<T const*> columns; ///< of both

      host_set(executor& on, named_points const& of, problem const& in)
          : positions(on, of.points.positions, in.origin(), in.centre()),
            parameters(on, of.points.parameters, {}, {}), columns(positions.columns)
      {
        check_ranges<T>(of.points.parameters, {}, parameters.ranges, of.name, "parameter",
                        of.first);
        columns.insert(columns.end(), parameters.columns.begin(), parameters.columns.end());
      }
      [[nodiscard]] soa<T const, Dim> positions_view() const
      {
        return positions.template view<Dim>();
      }
      [[nodiscard]] soa<T const, run_time_columns> parameters_view() const
      {
        return {parameters.columns, parameters.size};
      }
      [[nodiscard]] soa<T const, run_time_columns> points_view() const
      {
        return {columns, positions.size};
      }
    };

    struct host_columns
    {
      host_set targets;
      std::optional<host_set> sources;
      rounded_columns<T> inputs;
      tree_options<Dim> options;
    };

    host_columns const& on_host() const
    {
      if (host_) return *host_;
      host_set x(*builder_, targets_, *this);
      std::optional<host_set> y;
      if (sources_) y.emplace(*builder_, *sources_, *this);
      auto const root = options(x.positions.ranges, (y ? *y : x).positions.ranges);
      auto const& from = source_points();
      rounded_columns<T> q(*builder_, from.points.inputs, {}, {});
      check_ranges<T>(from.points.inputs, {}, q.ranges, from.name, "input", from.first);
      return host_.emplace(host_columns{std::move(x), std::move(y), std::move(q), root});
    }

    named_points const& targets_;
    named_points const* sources_;
    cut_options cut_;
    std::shared_ptr<executor> builder_;
    mutable std::optional<host_columns> host_{};
    mutable std::optional<tree<Dim>> leaves_{};
  };
}
