#pragma once

#include "starpu_mpi_settings.hpp"
#include "sums.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/tree/build_tree.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::mpi
{
  namespace nf = nearfield;
  using K = nf::one_over_r<3>;
  using T = float;

  /// The box of each rank: a range of the Z curve.
  class domain
  {
  public:
    domain(settings const& with, int ranks) : ranks_(ranks)
    {
      if (!std::has_single_bit(unsigned(ranks)))
        throw nf::error("ranks: found " + std::to_string(ranks) + "; start 1, 2, 4, 8 ...");
      int const bits = std::countr_zero(unsigned(ranks));
      per_rank_ = with.is_weak ? with.points : with.points / std::size_t(ranks);
      boxes_.assign(std::size_t(ranks), {});
      for (int r = 0; r < ranks; ++r)
        for (int bit = 0; bit < bits; ++bit)
        {
          // weak: boxes of width 1, the last bit along z; strong: halves of a cube, the first bit along x
          auto& box = boxes_[std::size_t(r)];
          int const axis = with.is_weak ? 2 - bit % 3 : bit % 3;
          bool const upper = r >> (with.is_weak ? bit : bits - 1 - bit) & 1;
          if (with.is_weak)
            box.lower[axis] += upper ? double(1 << bit / 3) : 0;
          else
          {
            box.width[axis] /= 2;
            box.lower[axis] += upper ? box.width[axis] : 0;
          }
        }
      // at most 64 points a leaf
      std::size_t const in_cube = with.is_weak ? per_rank_ : with.points;
      while (in_cube >> (3 * level_) > 64) ++level_;
      int const doublings = with.is_weak ? (bits + 2) / 3 : 0;
      level_ += doublings;
      root_.half_width = 0.5 * (1 << doublings);
      root_.centre.fill(root_.half_width);
    }

    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] std::size_t per_rank() const { return per_rank_; }
    [[nodiscard]] nf::tree_options<3> tree() const
    {
      return {.level = level_, .root = root_, .order = nf::leaf_order::morton};
    }
    /// Coordinates have 20 bits, so that no rounding moves them to another leaf.
    [[nodiscard]] std::array<T, 3> point(int rank, std::size_t i) const
    {
      place const& box = boxes_[std::size_t(rank)];
      std::array<T, 3> x;
      for (int d = 0; d < 3; ++d)
      {
        auto const number = (std::uint64_t(rank) << 40) + 4 * i + std::uint64_t(d);
        x[d] = static_cast<T>(box.lower[d] +
                              box.width[d] * (double(mix(number) >> 44) + 0.5) / (1 << 20));
      }
      return x;
    }
    [[nodiscard]] static T charge(int rank, std::size_t i)
    {
      return static_cast<T>(0.1 + 0.9 * double(mix((std::uint64_t(rank) << 40) + 4 * i + 3) >> 40) /
                                      (1 << 24));
    }
    [[nodiscard]] std::array<int, 3> leaf(std::array<T, 3> const& x) const
    {
      std::array<int, 3> index;
      for (int d = 0; d < 3; ++d)
        index[d] = static_cast<int>(double(x[d]) / root_.width() * (1 << level_));
      return index;
    }

  private:
    struct place
    {
      std::array<double, 3> lower{}, width{1, 1, 1};
    };
    /// splitmix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014)
    static std::uint64_t mix(std::uint64_t z)
    {
      z += 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      return z ^ (z >> 31);
    }

    int ranks_, level_ = 0;
    std::size_t per_rank_ = 0;
    std::vector<place> boxes_;
    nf::cube<3> root_;
  };

  /// The points of ranks [first, last).
  struct problem
  {
    std::array<std::vector<T>, 3> x;
    std::vector<T> q, phi;

    problem(domain const& of, int first, int last)
    {
      for (int r = first; r < last; ++r)
        for (std::size_t i = 0; i < of.per_rank(); ++i)
        {
          auto const at = of.point(r, i);
          for (int d = 0; d < 3; ++d) x[d].push_back(at[d]);
          q.push_back(of.charge(r, i));
        }
      phi.resize(q.size());
    }
    [[nodiscard]] nf::soa<T const, 3> positions() const
    {
      return {{x[0].data(), x[1].data(), x[2].data()}, q.size()};
    }
  };

  /// Compares results with plain sums over the points of ranks [first, last).
  inline void check(domain const& of, problem const& found, int first, int last, char const* what)
  {
    constexpr std::size_t n_samples = 10;
    std::size_t const n = found.q.size();
    std::array<plain_sum<K>, n_samples> sums;
    for (int r = first; r < last; ++r)
      for (std::size_t j = 0; j < of.per_rank(); ++j)
      {
        auto const y = of.point(r, j);
        auto const there = of.leaf(y);
        T const q = of.charge(r, j);
        for (std::size_t s = 0; s < n_samples; ++s)
        {
          std::size_t const i = (2 * s + 1) * n / (2 * n_samples);
          std::array<T, 3> const x{found.x[0][i], found.x[1][i], found.x[2][i]};
          auto const here = of.leaf(x);
          bool touches = true;
          for (int d = 0; d < 3; ++d) touches &= std::abs(here[d] - there[d]) <= 1;
          // points with the place of the target add nothing, itself included
          if (touches)
            sums[s].add(K{}, x, no_self, nf::soa<T const, 3>{{&y[0], &y[1], &y[2]}, 1},
                        nf::soa<T const, 1>{{&q}, 1}, {0, 1});
        }
      }
    for (std::size_t s = 0; s < n_samples; ++s)
      if (double const error = sums[s].error(0, found.phi[(2 * s + 1) * n / (2 * n_samples)]);
          !(error <= tolerance<T>()))
        throw nf::error(std::string(what) + ": a relative error of " + std::to_string(error));
  }
}
