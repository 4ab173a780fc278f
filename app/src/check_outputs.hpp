#pragma once

#include "problem.hpp"
#include "step.hpp"

#include <nearfield/kernels/any_interaction.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace nearfield::app
{
  struct check_report
  {
    std::size_t targets = 0;
    /// max over targets and outputs of |got - ref| / sum_j S_j, from the coordinates of the file; S_j: see term_sizes,
    /// rounding_effect and docs/conventions.md
    double max_relative_error = 0;
    /// The same without rounding_effect: what rounding the coordinates changes counts too.
    double plain_relative_error = 0;
    double limit = 0;

    [[nodiscard]] bool passed() const { return max_relative_error <= limit; }

    /// Whether the check excuses that rounding the coordinates to float changes a sum by more than a hundred times
    /// the limit. Forces between close points of any cloud lose up to half of that.
    [[nodiscard]] bool excuses_rounding() const
    {
      return passed() && plain_relative_error > 100 * limit;
    }

    /// An output, and the three values that reference_sums have of it.
    void add(long double got, long double const* wanted)
    {
      long double const difference = std::abs(got - wanted[0]);
      auto const include = [&](double& largest, long double of)
      {
        auto const relative = static_cast<double>(difference == 0 ? 0 : difference / of);
        // true for NaN too, which must not pass as a small error
        if (!(relative <= largest))
          largest = std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
      };
      include(max_relative_error, wanted[1]);
      include(plain_relative_error, wanted[2]);
    }
  };

  /// The largest permitted error of a run.
  template <class T>
  inline constexpr double error_limit = sizeof(T) == 4 ? 2e-6 : 1e-13;

  /// A coordinate of a file, and by how much a box of any shape has moved the point into it.
  struct moved_coordinate
  {
    double of_file, into_box = 0;
  };

  /// The difference of two coordinates, of which the second is moved on by `image`, and what rounding to T may add to it:
  /// of both coordinates minus the origin, before and after they are moved, of the image and of its shift.
  template <class T>
  std::pair<long double, long double> difference(moved_coordinate x, moved_coordinate y,
                                                 double image, double origin)
  {
    double sizes = 0;
    for (auto const& each : {x, y})
    {
      double const begin = each.of_file - origin;
      if (sizeof(T) < sizeof(double)) sizes += std::abs(begin);
      if (each.into_box != 0) sizes += std::abs(each.into_box) + std::abs(begin + each.into_box);
    }
    if (image != 0) sizes += std::abs(image) + std::abs(y.of_file - origin + y.into_box + image);
    double const half_eps = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    return {static_cast<long double>(x.of_file) - y.of_file + x.into_box - y.into_box - image,
            half_eps * sizes};
  }

  /// The parameters of point i of a file, as the run has them.
  template <class T>
  std::vector<long double> parameters_of(named_points const& from, std::size_t i)
  {
    std::vector<long double> values;
    for (auto const& column : from.points.parameters) values.push_back(static_cast<T>(column[i]));
    return values;
  }

  /// Sums at one target in long double, for each right-hand side and output.
  template <class T>
  class reference_sums
  {
  public:
    using wide = long double;

    /// At a target with these parameters.
    reference_sums(any_interaction const& k, std::vector<wide> target, std::size_t n_rhs)
        : k_(k), is_singular_(is_singular<T>(k)), dim_(static_cast<std::size_t>(k.info().dim)),
          n_in_(static_cast<std::size_t>(k.info().n_in)),
          n_out_(static_cast<std::size_t>(k.info().n_out)), n_rhs_(n_rhs),
          target_(std::move(target)), pair_(n_in_ * n_out_), moved_(pair_.size()),
          changes_(pair_.size()), plain_sizes_(pair_.size()), sizes_(pair_.size()),
          values_(3 * n_rhs * n_out_)
    {}

    /// A source at target minus r, of which difference(d) gives a component, and by how much it may be off, with these
    /// parameters; charge(c) is its input c, of all right-hand sides.
    template <class Difference, class Charge>
    void add(Difference const& difference, std::vector<wide> const& source, Charge const& charge)
    {
      std::array<wide, 3> r{}, errors{};
      for (std::size_t d = 0; d < dim_; ++d) std::tie(r[d], errors[d]) = difference(d);
      if (is_singular_ && r == std::array<wide, 3>()) return;
      source_ = &source;
      entries(r, pair_); // one evaluation of K for all right-hand sides
      find_sizes(r);
      sizes_ = plain_sizes_;
      if (errors != std::array<wide, 3>())
      {
        find_rounding_effect(r, errors);
        for (std::size_t e = 0; e < sizes_.size(); ++e) sizes_[e] += changes_[e] / error_limit<T>;
      }
      for (std::size_t rhs = 0; rhs < n_rhs_; ++rhs)
        for (std::size_t c = 0; c < n_in_; ++c)
        {
          wide const q = charge(rhs * n_in_ + c), size = std::abs(q);
          wide* sums = &values_[3 * rhs * n_out_];
          for (std::size_t e = c; e < pair_.size(); e += n_in_, sums += 3)
          {
            wide const tiny = least * std::max<wide>(size, 1);
            sums[0] += pair_[e] * q;
            sums[1] += std::max(sizes_[e] * size, tiny);
            sums[2] += std::max(plain_sizes_[e] * size, tiny);
          }
        }
    }

    /// Of each output the sum, and the sums of the sizes of its terms, with and without what an error of r changes.
    [[nodiscard]] std::vector<wide> const& values() const { return values_; }

  private:
    using wide_entries = std::vector<wide>; ///< of K, output by output

    void entries(std::array<wide, 3> const& r, wide_entries& to) const
    {
      auto const& of = k_.erased();
      of.type->matrix(of.value, r.data(), target_.data(), source_->data(), to.data());
    }

    /// changes_ = sum_d |K(r + e_d) - K(r)| for every entry, e_d = error(d) along an axis.
    template <class Error>
    void find_changes(std::array<wide, 3> const& r, Error const& error)
    {
      std::fill(changes_.begin(), changes_.end(), wide(0));
      for (std::size_t d = 0; d < dim_; ++d)
      {
        auto moved = r;
        moved[d] += error(d);
        entries(moved, moved_);
        for (std::size_t e = 0; e < pair_.size(); ++e)
          changes_[e] += std::abs(moved_[e] - pair_[e]);
      }
    }

    /// plain_sizes_ = max(|K|, sum_d |r_d dK/dr_d|) for every entry. The second term is the change of K per relative
    /// change of each r_d. It, not |K|, bounds the effect of rounding r for an entry that cancels (a dipole), crosses
    /// zero (a logarithm) or falls steeply (a Gaussian).
    void find_sizes(std::array<wide, 3> const& r)
    {
      constexpr wide step = 0x1p-20L;
      find_changes(r, [&](std::size_t d) { return r[d] * step; });
      for (std::size_t e = 0; e < pair_.size(); ++e)
        plain_sizes_[e] = std::max(changes_[e] / step, std::abs(pair_[e]));
    }

    /// changes_ = what an error of r changes in every entry, errors away from zero, where K is smooth. More than |r| / 64
    /// is not excused: points that rounding brings that close to each other are no longer apart.
    void find_rounding_effect(std::array<wide, 3> const& r, std::array<wide, 3> const& errors)
    {
      wide const most = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / 64;
      find_changes(r,
                   [&](std::size_t d) { return std::copysign(std::min(errors[d], most), r[d]); });
    }

    // K and K q may underflow to zero below the normal numbers of T
    static constexpr wide least = wide(std::numeric_limits<T>::min()) / error_limit<T>;
    any_interaction const& k_;
    bool is_singular_;
    std::size_t dim_, n_in_, n_out_, n_rhs_;
    std::vector<wide> target_;
    std::vector<wide> const* source_ = nullptr; ///< the parameters of the present one
    wide_entries pair_, moved_, changes_, plain_sizes_, sizes_;
    std::vector<wide> values_;
  };

  /// The move of the p-th point of a tree along an axis; none if all points were inside.
  inline double move_of(std::span<std::array<double, 3> const> moves, std::size_t p, std::size_t d)
  {
    return moves.empty() ? 0 : moves[p][d];
  }

  /// Compares the outputs at n targets, evenly spaced in the caller's order, with plain sums in long double over the
  /// same pairs, from the positions of the files, and parameters and inputs rounded to T.
  template <class T, int Dim>
  check_report check_outputs(problem<T, Dim> const& on, any_interaction const& k,
                             std::vector<std::vector<double>> const& outputs, std::size_t n)
  {
    auto const& x = on.target_points().points.positions;
    auto const& y = on.source_points().points.positions;
    auto const inputs = on.inputs();
    auto const list = on.leaves().interactions();
    auto const offsets = on.leaves().targets().offsets;
    auto const source_order = on.leaves().source_order();
    auto const place = inverse(on.leaves().target_order());
    auto const target_moves = on.leaves().target_moves(), source_moves = on.leaves().source_moves();
    bool const one_set = !on.has_two_sets();

    check_report report;
    report.targets = std::min(n, on.size());
    report.limit = error_limit<T>;
    for (std::size_t m = 0; m < report.targets; ++m)
    {
      auto const i =
          static_cast<std::size_t>(static_cast<std::uint64_t>(m) * on.size() / report.targets);
      auto const box = static_cast<index_type>(
          std::upper_bound(offsets.begin(), offsets.end(), place[i]) - offsets.begin() - 1);
      reference_sums<T> sums(k, parameters_of<T>(on.target_points(), i), right_hand_sides(on, k));
      auto const add_range = [&](interaction_list::range const& range)
      {
        for (index_type at = range.begin; at < range.end; ++at)
        {
          index_type const j = source_order[at];
          if (one_set && j == i && range.shift == 0) continue;
          auto const from_source = [&](std::size_t d)
          {
            return difference<T>({x[d][i], move_of(target_moves, place[i], d)},
                                 {y[d][j], move_of(source_moves, at, d)},
                                 range.shift == 0 ? 0 : list.shifts[range.shift][d],
                                 on.origin()[d]);
          };
          sums.add(from_source, parameters_of<T>(on.source_points(), j),
                   [&](std::size_t c) { return inputs.data()[c][j]; });
        }
      };
      add_range(list.own[box]);
      for (interaction_list::range const& range : list.neighbours(box)) add_range(range);

      for (std::size_t c = 0; c < outputs.size(); ++c)
        report.add(outputs[c][i], &sums.values()[3 * c]);
    }
    return report;
  }
}
