#include "leaf_loops.hpp"
#include "plain_loop.hpp"

#include <cmath>

namespace bench
{
  namespace
  {
    /// What a loop reads and adds to: point j of a leaf.
    template <class T>
    struct columns
    {
      T const *x, *y, *z, *q;
      T* phi;
      std::size_t n;

      explicit columns(column_leaf<T>& leaf)
          : x(leaf.x.data()), y(leaf.y.data()), z(leaf.z.data()), q(leaf.q.data()),
            phi(leaf.phi.data()), n(leaf.x.size())
      {}
      struct point
      {
        T x, y, z, q;
      };
      [[nodiscard]] point at(std::size_t j) const { return {x[j], y[j], z[j], q[j]}; }
      void add(std::size_t j, T value) const { phi[j] += value; }
    };

    template <class T>
    struct records
    {
      using record = typename record_leaf<T>::record;
      record const* points;
      T* phi;
      std::size_t n;

      explicit records(record_leaf<T>& leaf)
          : points(leaf.points.data()), phi(leaf.phi.data()), n(leaf.points.size())
      {}
      [[nodiscard]] record const& at(std::size_t j) const { return points[j]; }
      void add(std::size_t j, T value) const { phi[j] += value; }
    };

    /// Adds to point i of `a`, and in the mutual form to the points [begin, end) of `b`.
    template <bool Mutual, class T, class Leaf>
    void meet(Leaf const& a, std::size_t i, Leaf const& b, std::size_t begin, std::size_t end)
    {
      auto const p = a.at(i);
      T const x = p.x, y = p.y, z = p.z, q = p.q;
      T sum = 0;
      NEARFIELD_PLAIN_LOOP
      for (std::size_t j = begin; j < end; ++j)
      {
        auto const& from = b.at(j);
        T const dx = x - from.x, dy = y - from.y, dz = z - from.z;
        T const inv_r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz);
        sum += from.q * inv_r;
        if constexpr (Mutual) b.add(j, q * inv_r);
      }
      a.add(i, sum);
    }

    template <bool Mutual, class T, class Leaf, class Leaves>
    void all(Leaves& leaves)
    {
      for (auto& leaf : leaves)
      {
        Leaf const a(leaf);
        for (std::size_t i = 0; i < a.n; ++i)
        {
          if constexpr (!Mutual) meet<false, T>(a, i, a, 0, i);
          meet<Mutual, T>(a, i, a, i + 1, a.n);
        }
        for (std::size_t const other : Mutual ? leaf.upper : leaf.neighbours)
        {
          Leaf const b(leaves[other]);
          for (std::size_t i = 0; i < a.n; ++i) meet<Mutual, T>(a, i, b, 0, b.n);
        }
      }
    }

    template <class T, class Leaf, class Leaves>
    void choose(Leaves& leaves, bool mutual)
    {
      mutual ? all<true, T, Leaf>(leaves) : all<false, T, Leaf>(leaves);
    }
  }

  void plain_leaves(std::vector<column_leaf<float>>& leaves, bool mutual)
  {
    choose<float, columns<float>>(leaves, mutual);
  }
  void plain_leaves(std::vector<column_leaf<double>>& leaves, bool mutual)
  {
    choose<double, columns<double>>(leaves, mutual);
  }
  void plain_leaves(std::vector<record_leaf<float>>& leaves, bool mutual)
  {
    choose<float, records<float>>(leaves, mutual);
  }
  void plain_leaves(std::vector<record_leaf<double>>& leaves, bool mutual)
  {
    choose<double, records<double>>(leaves, mutual);
  }
}
