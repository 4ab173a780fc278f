#pragma once

#include "clouds.hpp"
#include "sums.hpp"

#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <any>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace bench
{
  enum class shape
  {
    box,     ///< `size` uniform points in one box
    leaves,  ///< 32^3 boxes (2D: 256^2) of `size` uniform points on average
    uniform, ///< 1e6 uniform points, adaptive tree, at most `size` per leaf
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

  /// The expected number of pairs of a problem, to choose the number of iterations before it is made.
  template <int Dim>
  double expected_pairs(description const& d)
  {
    auto const size = static_cast<double>(d.size);
    if (d.shape == shape::box) return size * size;
    double const n = d.shape == shape::leaves ? size * std::exp2(Dim * leaves_level<Dim>) : 1e6;
    return n * size * std::pow(3, Dim);
  }

  /// Inputs of an interaction, all equal to the charges.
  template <int NIn, class T>
  nearfield::soa<T const, NIn> inputs(std::vector<T> const& q)
  {
    std::array<T const*, NIn> columns;
    columns.fill(q.data());
    return {columns, q.size()};
  }

  /// Points in the order of their boxes, on the host and on the GPU, and their interaction lists.
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
        one_sided_.emplace(nearfield::cuda, tree_->targets(), tree_->interactions(), size());
        mutual_.emplace(nearfield::cuda, tree_->targets(), tree_->half_interactions(), size(),
                        nearfield::pair_form::mutual);
      }
      x_.emplace(points_.positions());
    }

    [[nodiscard]] std::size_t size() const { return points_.q.size(); }
    /// the number of directed pairs
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
    [[nodiscard]] nearfield::soa<T const, Dim> x() const { return x_->view(); }
    /// on the host
    [[nodiscard]] std::vector<T> const& q() const { return points_.q; }

    /// on the host
    [[nodiscard]] nearfield::soa<T const, Dim> positions() const { return points_.positions(); }
    /// Calls f(j) for each source that target i meets.
    template <class F>
    void for_sources(std::size_t i, F const& f) const
    {
      auto const meet = [&](std::size_t begin, std::size_t end)
      {
        for (std::size_t j = begin; j < end; ++j)
          if (j != i) f(j);
      };
      if (!tree_) return meet(0, size());
      auto const list = tree_->interactions();
      auto const box = leaf_of(*tree_, i);
      meet(list.own[box].begin, list.own[box].end);
      for (auto const& range : list.neighbours(box)) meet(range.begin, range.end);
    }

    /// The reference sums of the sampled targets, computed once per interaction.
    template <class K>
    std::vector<plain_sum<K>> const& sums_of(K const& k)
    {
      std::any& kept = sums_[K::name];
      if (!kept.has_value())
      {
        auto const q = inputs<K::n_in>(points_.q);
        std::vector<plain_sum<K>> sums;
        for (std::size_t s = 0; s < n_samples; ++s)
        {
          std::size_t const i = sample(s, size());
          sums.push_back(tree_ ? sum_of_tree(k, i, *tree_, points_.positions(), q)
                               : sum_of_box(k, i, points_.positions(), q));
        }
        kept = std::move(sums);
      }
      return std::any_cast<std::vector<plain_sum<K>> const&>(kept);
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

    cloud<T, Dim> points_;
    std::optional<nearfield::tree<Dim>> tree_;
    std::optional<nearfield::cuda_list> one_sided_, mutual_;
    std::optional<nearfield::device_columns<T, Dim>> x_;
    std::map<std::string_view, std::any> sums_;
  };

  /// The problem, kept until another one is asked for.
  template <class T, int Dim>
  problem<T, Dim>& problem_of(description const& d)
  {
    static description of;
    static std::unique_ptr<problem<T, Dim>> last;
    if (!last || !(of == d))
    {
      last.reset(); // free the memory first
      last = std::make_unique<problem<T, Dim>>(d);
      of = d;
    }
    return *last;
  }
}
