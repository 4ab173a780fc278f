#pragma once

#include "clouds.hpp"

#include <nearfield/core/interaction.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench
{
  enum class shape
  {
    box,     ///< `size` uniform points in one box
    leaves,  ///< 32^3 boxes (2D: 256^2) of `size` uniform points on average
    uniform, ///< 1e6 uniform points, adaptive tree, at most `size` a leaf
    plummer  ///< the same with a Plummer cloud
  };

  inline char const* name_of(shape s)
  {
    constexpr char const* names[] = {"box", "leaves", "uniform", "plummer"};
    return names[static_cast<int>(s)];
  }

  struct description
  {
    bench::shape shape;
    std::size_t size;
    friend bool operator==(description const&, description const&) = default;
  };

  template <int Dim>
  constexpr int leaves_level = Dim == 3 ? 5 : 8;

  /// Pairs of a problem, before it is there: to choose how often it runs.
  template <int Dim>
  double expected_pairs(description const& d)
  {
    auto const size = static_cast<double>(d.size);
    if (d.shape == shape::box) return size * size;
    double const n = d.shape == shape::leaves ? size * std::exp2(Dim * leaves_level<Dim>) : 1e6;
    return n * size * std::pow(3, Dim);
  }

  /// Every input of an interaction is the charge.
  template <int NIn, class T>
  nearfield::soa<T const, NIn> inputs(std::vector<T> const& q)
  {
    std::array<T const*, NIn> columns;
    columns.fill(q.data());
    return {columns, q.size()};
  }

  /// Points in the order of their boxes, on the host and on the GPU, and who meets whom.
  template <class T, int Dim>
  class problem
  {
  public:
    explicit problem(description const& d) : points_(points_of(d))
    {
      if (d.shape != shape::box)
      {
        if (d.shape == shape::leaves)
          tree_ = nearfield::build_tree(points_.positions(), {.level = leaves_level<Dim>});
        else
          tree_ = nearfield::build_tree(points_.positions(),
                                        {.max_leaf_size = static_cast<int>(d.size)});
        for (auto& column : points_.x)
          column = nearfield::gather(tree_->target_order(), std::as_const(column));
        points_.q = nearfield::gather(tree_->target_order(), std::as_const(points_.q));
        one_sided_.emplace(tree_->targets(), tree_->interactions(), size());
        mutual_.emplace(nearfield::cuda_list::mutual(tree_->targets(), tree_->half_interactions()));
      }
      x_.emplace(points_.positions());
    }

    [[nodiscard]] std::size_t size() const { return points_.q.size(); }
    /// directed
    [[nodiscard]] double pairs() const
    {
      auto const n = static_cast<double>(size());
      return tree_ ? static_cast<double>(tree_->interaction_count()) : n * (n - 1);
    }
    [[nodiscard]] bool is_box() const { return !tree_; }
    [[nodiscard]] nearfield::index_type n_leaves() const { return tree_->size(); }
    [[nodiscard]] nearfield::cuda_list const& list(bool mutual) const
    {
      return mutual ? *mutual_ : *one_sided_;
    }
    /// on the GPU
    [[nodiscard]] nearfield::soa<T, Dim> x() const { return x_->view(); }
    /// on the host
    [[nodiscard]] std::vector<T> const& q() const { return points_.q; }

    /// The targets that are checked.
    static constexpr std::size_t n_samples = 100;
    [[nodiscard]] std::size_t sample(std::size_t s) const
    {
      return (2 * s + 1) * size() / (2 * n_samples);
    }

    /// Of the samples, computed in double by plain loops: each output, and the sum of the magnitudes of
    /// its terms, which an error is measured by.
    struct reference
    {
      std::vector<double> value, magnitude;
    };
    template <class K>
    reference const& reference_of(K const& k)
    {
      auto const [at, is_new] = references_.try_emplace(K::name);
      if (is_new)
        for (std::size_t s = 0; s < n_samples; ++s) add_reference(k, sample(s), at->second);
      return at->second;
    }

  private:
    static cloud<T, Dim> points_of(description const& d)
    {
      bool const adaptive = d.shape == shape::uniform || d.shape == shape::plummer;
      cloud<T, Dim> points(d.shape == shape::leaves ? d.size << (Dim * leaves_level<Dim>)
                           : adaptive               ? 1'000'000
                                                    : d.size);
      if constexpr (Dim == 3)
        if (d.shape == shape::plummer) make_plummer(points);
      return points;
    }

    template <class K>
    void add_reference(K const& k, std::size_t i, reference& to) const
    {
      std::vector<nearfield::source_range> ranges;
      if (tree_)
      {
        auto const offsets = tree_->targets().offsets;
        auto const b = static_cast<nearfield::index_type>(
            std::upper_bound(offsets.begin(), offsets.end(), i) - offsets.begin() - 1);
        auto const list = tree_->interactions();
        ranges.push_back(list.own[b]);
        for (auto const& range : list.neighbours(b)) ranges.push_back(range);
      }
      else
        ranges.push_back({0, static_cast<nearfield::index_type>(size())});

      bool const singular = nearfield::is_singular(k);
      nearfield::vec<double, K::n_out> value{}, magnitude{};
      for (auto const& range : ranges)
        // short sums, so that rounding does not grow with the number of terms
        for (std::size_t begin = range.begin; begin < range.end; begin += 256)
        {
          nearfield::vec<double, K::n_out> part{}, part_magnitude{};
          std::size_t const end = std::min<std::size_t>(begin + 256, range.end);
          for (std::size_t j = begin; j < end; ++j)
          {
            if (j == i) continue;
            nearfield::vec<double, Dim> r;
            for (int d = 0; d < Dim; ++d) r[d] = double(points_.x[d][i]) - double(points_.x[d][j]);
            nearfield::vec<double, K::n_in> q;
            for (int c = 0; c < K::n_in; ++c) q[c] = points_.q[j];
            // points of f32 may coincide
            if (singular && dot(r, r) == 0) continue;
            auto const term = nearfield::detail::evaluate(k, r).to(q);
            for (int o = 0; o < K::n_out; ++o)
            {
              part[o] += term[o];
              part_magnitude[o] += std::abs(term[o]);
            }
          }
          value += part;
          magnitude += part_magnitude;
        }
      for (int o = 0; o < K::n_out; ++o)
      {
        to.value.push_back(value[o]);
        to.magnitude.push_back(magnitude[o]);
      }
    }

    cloud<T, Dim> points_;
    std::optional<nearfield::tree<Dim>> tree_;
    std::optional<nearfield::cuda_list> one_sided_, mutual_;
    std::optional<nearfield::device_columns<T, Dim>> x_;
    std::map<std::string_view, reference> references_;
  };

  /// The problem, which stays for the rows that follow it.
  template <class T, int Dim>
  problem<T, Dim>& problem_of(description const& d)
  {
    static description of;
    static std::unique_ptr<problem<T, Dim>> last;
    if (!last || !(of == d))
    {
      last.reset(); // the memory of one problem is enough
      last = std::make_unique<problem<T, Dim>>(d);
      of = d;
    }
    return *last;
  }
}
