#pragma once

#include <nearfield/core/soa.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

namespace bench
{
  /// Uniform points in the unit cube with charges in [0.1, 1), the same in every run.
  template <class T, int Dim>
  struct cloud
  {
    std::array<std::vector<T>, Dim> x;
    std::vector<T> q;

    explicit cloud(std::size_t n)
    {
      std::mt19937_64 random(2026);
      std::uniform_real_distribution<double> unit(0, 1);
      for (auto& column : x) column.resize(n);
      q.resize(n);
      for (std::size_t i = 0; i < n; ++i)
      {
        for (auto& column : x) column[i] = static_cast<T>(unit(random));
        q[i] = static_cast<T>(0.1 + 0.9 * unit(random));
      }
    }

    [[nodiscard]] nearfield::soa<T const, Dim> positions() const
    {
      std::array<T const*, Dim> columns;
      for (int d = 0; d < Dim; ++d) columns[d] = x[d].data();
      return {columns, q.size()};
    }
    [[nodiscard]] nearfield::soa<T const, 1> charges() const { return {{q.data()}, q.size()}; }
  };

  /// Maps a uniform cloud to a Plummer sphere of scale length 1, truncated at radius 22.
  /// (H. C. Plummer, MNRAS 71, 460, 1911)
  template <class T>
  void make_plummer(cloud<T, 3>& points)
  {
    for (std::size_t i = 0; i < points.q.size(); ++i)
    {
      double const mass = 1e-9 + 0.997 * double(points.x[0][i]);
      double const radius = 1 / std::sqrt(std::pow(mass, -2. / 3) - 1);
      double const height = 2 * double(points.x[1][i]) - 1;
      double const angle = 2 * std::numbers::pi * double(points.x[2][i]);
      double const across = radius * std::sqrt(std::max(0., 1 - height * height));
      points.x[0][i] = static_cast<T>(across * std::cos(angle));
      points.x[1][i] = static_cast<T>(across * std::sin(angle));
      points.x[2][i] = static_cast<T>(radius * height);
    }
  }

  /// N columns of n zeros.
  template <class T, int N>
  struct outputs
  {
    std::array<std::vector<T>, N> columns;

    explicit outputs(std::size_t n)
    {
      for (auto& column : columns) column.resize(n);
    }
    void clear()
    {
      for (auto& column : columns) std::ranges::fill(column, T(0));
    }
    [[nodiscard]] nearfield::soa<T, N> view()
    {
      std::array<T*, N> pointers;
      for (int c = 0; c < N; ++c) pointers[c] = columns[c].data();
      return {pointers, columns[0].size()};
    }
  };

  template <class T>
  constexpr char const* precision_name = sizeof(T) == 4 ? "f32" : "f64";
}
