#pragma once

#include "check_outputs.hpp"
#include "mpi/mpi_ranks.hpp"

#include <nearfield/starpu_mpi/distributed_tree.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nearfield::app
{
  namespace detail
  {
    /// A point whose outputs are checked.
    template <int Dim>
    struct checked_point
    {
      std::uint64_t number;
      leaf_cell<Dim> leaf;
    };

    /// The m-th of `n` numbers that are evenly spaced below `total`.
    inline std::uint64_t checked_number(std::uint64_t m, std::uint64_t n, std::uint64_t total)
    {
      return static_cast<std::uint64_t>(static_cast<unsigned __int128>(m) * total / n);
    }

    /// Whether the closed cells have a common point, if a is moved by so many periods along each axis.
    template <int Dim>
    bool touch(leaf_cell<Dim> const& a, std::array<int, Dim> const& periods,
               leaf_cell<Dim> const& b)
    {
      int const level = std::max(a.level, b.level);
      for (std::size_t d = 0; d < Dim; ++d)
      {
        auto const lower = [&](leaf_cell<Dim> const& c, int image, int past)
        {
          auto const of_image = std::int64_t(image) * (std::int64_t(1) << c.level);
          return (c.index[d] + of_image + past) * (std::int64_t(1) << (level - c.level));
        };
        if (lower(a, periods[d], 0) > lower(b, 0, 1) || lower(b, 0, 0) > lower(a, periods[d], 1))
          return false;
      }
      return true;
    }

    /// The box itself and the images of it that touch it, by the periods that they are moved along each axis.
    template <int Dim>
    std::vector<std::array<int, Dim>> images_of(std::array<double, Dim> const& period)
    {
      std::vector<std::array<int, Dim>> images{{}};
      for (std::size_t d = 0; d < Dim; ++d)
        if (period[d] > 0)
          for (std::size_t i = 0, n = images.size(); i < n; ++i)
            for (int const step : {-1, 1})
            {
              images.push_back(images[i]);
              images.back()[d] = step;
            }
      return images;
    }

    /// A box of any shape, of points minus an origin; without one, nothing moves.
    template <class T, int Dim>
    class box_of_points
    {
    public:
      box_of_points(cell<Dim> const& box, std::array<double, Dim> const& period,
                    std::span<double const> origin)
          : frame_(box), period_(period), origin_(origin)
      {}

      /// What brings a point of a file into the box.
      [[nodiscard]] std::array<double, Dim> move_of(std::array<double, Dim> const& x) const
      {
        std::array<T, Dim> rounded;
        for (std::size_t d = 0; d < Dim; ++d) rounded[d] = static_cast<T>(x[d] - origin_[d]);
        auto move = frame_.shift(frame_.reduce(rounded).image);
        for (double& each : move) each = 0 - each;
        return move;
      }

      /// What moves points to an image of the box.
      [[nodiscard]] std::array<double, Dim> shift_of(std::array<int, Dim> const& image) const
      {
        auto shift = frame_.shift(frame_.image_of(image));
        bool const is_box = frame_.periodic != std::array<bool, Dim>();
        for (std::size_t d = 0; d < Dim && !is_box; ++d) shift[d] = image[d] * period_[d];
        return shift;
      }

    private:
      nearfield::detail::cell_frame<Dim> frame_;
      std::array<double, Dim> period_;
      std::span<double const> origin_;
    };

    /// Those of n evenly spaced points of all ranks, by number, which every rank gets.
    template <class T, int Dim>
    auto checked_points(mpi_ranks const& all, starpu_mpi::distributed_tree<T, Dim> const& tree,
                        std::uint64_t n)
    {
      using point = checked_point<Dim>;
      std::vector<point> mine;
      for (index_type b = 0; b < tree.size(); ++b)
      {
        auto const leaf = tree.first_leaf() + b;
        auto const known = tree.known_leaves();
        for (index_type i = known.begin(leaf); i < known.end(leaf); ++i)
        {
          index_type const p = i - tree.first_point();
          auto const number = tree.numbers()[p];
          auto const m = static_cast<std::uint64_t>(
              (static_cast<unsigned __int128>(number) * n + tree.total_points() - 1) /
              tree.total_points());
          if (m >= n || checked_number(m, n, tree.total_points()) != number) continue;
          mine.push_back({number, tree.cell(leaf)});
        }
      }
      auto points = all.gather_all<point>(mine).values;
      std::ranges::sort(points, {}, &point::number);
      return points;
    }

    /// A column of the caller's sources as one of own sources.
    template <class U, class T, int Dim>
    std::vector<U> own_column(mpi_ranks const& all,
                              starpu_mpi::distributed_tree<T, Dim> const& tree, U const* column)
    {
      auto const& way = tree.source_way();
      std::vector<U> sent, own(way.received.size());
      for (index_type const i : way.sent) sent.push_back(column[i]);
      auto const arrived = all.exchange<U>(sent, way.sent_offsets).values;
      for (std::size_t j = 0; j < own.size(); ++j) own[way.received[j]] = arrived[j];
      return own;
    }
  }

  /// As check_outputs(): every rank adds what its own sources contribute to each of the sums, by leaves that touch that
  /// of the target, without the lists and messages of the step. `outputs` are those of the caller's points.
  template <class T, int Dim>
  check_report check_over(mpi_ranks const& all, problem<T, Dim> const& on,
                          starpu_mpi::distributed_tree<T, Dim> const& tree,
                          any_interaction const& k, std::vector<std::vector<double>> const& outputs,
                          std::size_t n)
  {
    check_report report;
    report.targets = std::min<std::uint64_t>(n, tree.total_points());
    report.limit = error_limit<T>;
    auto const targets = detail::checked_points(all, tree, report.targets);
    std::vector<std::vector<T>> inputs;
    for (int c = 0; c < on.inputs().width(); ++c)
      inputs.push_back(detail::own_column(all, tree, on.inputs()[c]));
    std::vector<std::vector<double>> y; // of the file
    for (auto const& column : on.source_points().points.positions)
      y.push_back(detail::own_column(all, tree, column.data()));
    named_points own_sources; // their parameters
    for (auto const& column : on.source_points().points.parameters)
      own_sources.points.parameters.push_back(detail::own_column(all, tree, column.data()));
    auto const n_parameters = k.info().point_parameters.size();
    auto const first = on.target_points().first;
    auto const is_here = [&](std::uint64_t number)
    {
      return number >= first && number - first < on.size();
    };
    // positions and parameters, known to the rank that has read them
    std::size_t const n_x = Dim + n_parameters;
    std::vector<long double> x(targets.size() * n_x);
    for (std::size_t m = 0; m < targets.size(); ++m)
    {
      if (!is_here(targets[m].number)) continue;
      auto const i = static_cast<std::size_t>(targets[m].number - first);
      for (std::size_t d = 0; d < Dim; ++d)
        x[m * n_x + d] = on.target_points().points.positions[d][i];
      std::ranges::copy(parameters_of<T>(on.target_points(), i), x.data() + m * n_x + Dim);
    }
    x = all.sum(std::move(x));
    auto const known = tree.known_sources();
    auto const images = detail::images_of<Dim>(tree.period());
    detail::box_of_points<T, Dim> const box(on.options().cell, tree.period(), on.origin());
    std::vector<std::array<double, Dim>> shifts, y_moves;
    for (auto const& image : images) shifts.push_back(box.shift_of(image));
    for (std::size_t j = 0; j < y.front().size(); ++j)
    {
      std::array<double, Dim> at;
      for (std::size_t d = 0; d < Dim; ++d) at[d] = y[d][j];
      y_moves.push_back(box.move_of(at));
    }

    std::vector<long double> sums; // of each target
    for (std::size_t m = 0; m < targets.size(); ++m)
    {
      auto const& target = targets[m];
      auto const* const of_x = &x[m * n_x];
      std::array<double, Dim> at;
      for (std::size_t d = 0; d < Dim; ++d) at[d] = static_cast<double>(of_x[d]);
      auto const x_move = box.move_of(at);
      reference_sums<T> of_target(k, {of_x + Dim, of_x + n_x}, right_hand_sides(on, k));
      for (index_type b = tree.first_leaf(); b < tree.first_leaf() + tree.size(); ++b)
        for (std::size_t image = 0; image < images.size(); ++image)
        {
          if (!detail::touch<Dim>(tree.cell(b), images[image], target.leaf)) continue;
          for (index_type j = known.begin(b) - tree.first_source();
               j < known.end(b) - tree.first_source(); ++j)
          {
            if (tree.has_one_set() && image == 0 && tree.numbers()[j] == target.number) continue;
            auto const from_source = [&](std::size_t d)
            {
              return difference<T>({at[d], x_move[d]}, {y[d][j], y_moves[j][d]}, shifts[image][d],
                                   on.origin()[d]);
            };
            of_target.add(from_source, parameters_of<T>(own_sources, j),
                          [&](std::size_t c) { return inputs[c][j]; });
          }
        }
      sums.insert(sums.end(), of_target.values().begin(), of_target.values().end());
    }
    sums = all.sum(std::move(sums));

    for (std::size_t m = 0, s = 0; m < targets.size(); ++m)
      for (std::size_t c = 0; c < outputs.size(); ++c, s += 3)
        if (auto const number = targets[m].number; is_here(number))
          report.add(outputs[c][number - first], &sums[s]);
    report.max_relative_error = all.greatest(report.max_relative_error);
    report.plain_relative_error = all.greatest(report.plain_relative_error);
    return report;
  }
}
