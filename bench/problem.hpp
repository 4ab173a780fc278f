#pragma once

#include "clouds.hpp"
#include "sums.hpp"

#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bench
{
  enum class shape
  {
    box,        ///< `size` uniform points in one box
    few_leaves, ///< 8^3 boxes (2D: 32^2) of `size` uniform points on average
    leaves,     ///< 32^3 of them (2D: 256^2)
    uniform,    ///< 1e6 uniform points, adaptive tree, at most `size` per leaf
    plummer     ///< the same with a Plummer cloud
  };

  inline char const* name_of(shape s)
  {
    constexpr char const* names[] = {"box", "few_leaves", "leaves", "uniform", "plummer"};
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
  template <int Dim>
  constexpr int few_leaves_level = Dim == 3 ? 3 : 5;

  /// Points in the order of their boxes, and who meets whom.
  template <class T, int Dim>
  class problem
  {
  public:
    explicit problem(description const& d) : points_(size_of(d))
    {
      if constexpr (Dim == 3)
        if (d.shape == shape::plummer) make_plummer(points_);
      if (d.shape == shape::box) return;
      if (int const level = level_of(d.shape); level > 0)
        tree_ = nearfield::build_tree(points_.positions(), {.level = level});
      else
        tree_ =
            nearfield::build_tree(points_.positions(), {.max_leaf_size = static_cast<int>(d.size)});
      for (auto& column : points_.x)
        column = nearfield::gather(tree_->target_order(), std::as_const(column));
      points_.q = nearfield::gather(tree_->target_order(), std::as_const(points_.q));
    }

    [[nodiscard]] std::size_t size() const { return points_.q.size(); }
    /// the number of directed pairs
    [[nodiscard]] double pairs() const
    {
      auto const n = static_cast<double>(size());
      return tree_ ? static_cast<double>(tree_->interaction_count()) : n * (n - 1);
    }
    [[nodiscard]] bool is_box() const { return !tree_; }
    /// of a problem of leaves, not of one box
    [[nodiscard]] nearfield::tree<Dim> const& tree() const { return *tree_; }
    [[nodiscard]] std::vector<T> const& q() const { return points_.q; }
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

  private:
    static int level_of(shape s)
    {
      return s == shape::leaves       ? leaves_level<Dim>
             : s == shape::few_leaves ? few_leaves_level<Dim>
                                      : 0;
    }
    static std::size_t size_of(description const& d)
    {
      bool const adaptive = d.shape == shape::uniform || d.shape == shape::plummer;
      return adaptive ? 1'000'000 : d.size << (Dim * level_of(d.shape));
    }

    cloud<T, Dim> points_;
    std::optional<nearfield::tree<Dim>> tree_;
  };

  /// The problem, kept until another one is asked for.
  template <class Problem>
  Problem& problem_of(description const& d)
  {
    static description of;
    static std::unique_ptr<Problem> last;
    if (!last || !(of == d))
    {
      last.reset(); // free the memory first
      last = std::make_unique<Problem>(d);
      of = d;
    }
    return *last;
  }
}
