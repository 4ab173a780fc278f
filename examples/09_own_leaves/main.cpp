// The P2P of an FMM of your own: your octree, your containers, your OpenMP tasks. Points are records in a vector for each
// leaf, the box is periodic, and each way of computing the near field is compared with a plain loop.

// [leaf]
#include <nearfield/p2p/leaf.hpp>
// [leaf]
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/pair_cost.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <random>
#include <vector>

namespace nf = nearfield;

namespace
{
  // [leaf]

  struct particle
  {
    double x, y, z, q, phi;
  };

  struct neighbour
  {
    std::size_t cell;
    std::array<double, 3> shift; // of a periodic image
  };

  /// A leaf of the octree.
  struct cell
  {
    std::array<double, 3> centre;
    double half_width;
    std::vector<particle> points;      // not empty
    std::vector<neighbour> neighbours; // the leaves that touch it
    std::vector<neighbour> upper;      // each pair of leaves once, at the one that comes first
  };

  /// Views of the records of a leaf: nothing is copied.
  auto view(cell& c, std::array<double, 3> const& shift = {})
  {
    std::size_t const n = c.points.size();
    constexpr std::ptrdiff_t stride = sizeof(particle) / sizeof(double);
    return nf::leaf{nf::matrix_columns<3>(&c.points[0].x, n, stride, 1),
                    nf::matrix_columns<1>(&c.points[0].q, n, stride, 1),
                    nf::matrix_columns<1>(&c.points[0].phi, n, stride, 1), shift};
  }
  // [leaf]

  /// The leaves below a cell, of at most `most` points.
  void split(cell const& c, std::size_t most, std::vector<cell>& leaves)
  {
    if (c.points.size() <= most)
    {
      if (!c.points.empty()) leaves.push_back(c);
      return;
    }
    for (int octant = 0; octant < 8; ++octant)
    {
      auto const is_upper = [octant](std::size_t d)
      {
        return (octant >> d) % 2 == 1;
      };
      cell child{c.centre, c.half_width / 2, {}, {}, {}};
      for (std::size_t d = 0; d < 3; ++d)
        child.centre[d] += is_upper(d) ? child.half_width : -child.half_width;
      for (particle const& p : c.points)
        if ((p.x >= c.centre[0]) == is_upper(0) && (p.y >= c.centre[1]) == is_upper(1) &&
            (p.z >= c.centre[2]) == is_upper(2))
          child.points.push_back(p);
      split(child, most, leaves);
    }
  }

  /// Lists the leaves that touch, also through the faces of the periodic box of width 1.
  void find_neighbours(std::vector<cell>& leaves)
  {
    auto const touch = [](cell const& a, cell const& b, std::array<double, 3> const& shift)
    {
      bool close = true;
      for (std::size_t d = 0; d < 3; ++d)
        close = close && std::abs(a.centre[d] - b.centre[d] - shift[d]) <=
                             a.half_width + b.half_width + 1e-12;
      return close;
    };
    for (std::size_t a = 0; a < leaves.size(); ++a)
      for (std::size_t b = a + 1; b < leaves.size(); ++b)
        for (int image = 0; image < 27; ++image)
        {
          std::array<double, 3> const shift{image % 3 - 1., image / 3 % 3 - 1., image / 9 - 1.};
          if (!touch(leaves[a], leaves[b], shift)) continue;
          leaves[a].neighbours.push_back({b, shift});
          leaves[a].upper.push_back({b, shift});
          leaves[b].neighbours.push_back({a, {-shift[0], -shift[1], -shift[2]}});
        }
  }

  // [colours]
  /// A leaf adds to itself and its upper neighbours. No two leaves of one colour add to the same leaf.
  std::vector<std::vector<std::size_t>> colours_of(std::vector<cell> const& leaves)
  {
    std::vector<std::vector<std::size_t>> colours;
    std::vector<std::vector<bool>> is_taken; // by colour and leaf
    for (std::size_t l = 0; l < leaves.size(); ++l)
    {
      auto const is_free = [&](std::vector<bool> const& taken)
      {
        return !taken[l] && std::none_of(leaves[l].upper.begin(), leaves[l].upper.end(),
                                         [&](neighbour const& n) { return taken[n.cell]; });
      };
      auto const found = std::find_if(is_taken.begin(), is_taken.end(), is_free);
      auto const colour = static_cast<std::size_t>(found - is_taken.begin());
      if (colour == colours.size())
      {
        colours.emplace_back();
        is_taken.emplace_back(leaves.size());
      }
      colours[colour].push_back(l);
      is_taken[colour][l] = true;
      for (neighbour const& n : leaves[l].upper) is_taken[colour][n.cell] = true;
    }
    return colours;
  }
  // [colours]

  /// The largest difference from a plain loop, over the largest sum. Clears the sums.
  double error_of(std::vector<cell>& leaves)
  {
    double error = 0, largest = 0;
    for (cell& a : leaves)
      for (particle& p : a.points)
      {
        double phi = 0;
        auto const add = [&](cell const& b, std::array<double, 3> const& shift)
        {
          for (particle const& s : b.points)
            if (&s != &p)
              phi += s.q /
                     std::hypot(p.x - s.x - shift[0], p.y - s.y - shift[1], p.z - s.z - shift[2]);
        };
        add(a, {});
        for (neighbour const& n : a.neighbours) add(leaves[n.cell], n.shift);
        error = std::max(error, std::abs(p.phi - phi));
        largest = std::max(largest, std::abs(phi));
        p.phi = 0;
      }
    return error / largest;
  }
}

int main()
{
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  cell root{{0.5, 0.5, 0.5}, 0.5, {}, {}, {}};
  for (int i = 0; i < 3000; ++i)
  {
    double const z = uniform(random);
    root.points.push_back({uniform(random), uniform(random), z * z, uniform(random) - 0.5, 0});
  }
  std::vector<cell> leaves;
  split(root, 40, leaves);
  find_neighbours(leaves);
  bool good = true;
  auto const report = [&](char const* way)
  {
    double const error = error_of(leaves);
    std::cout << way << ": error " << error << "\n";
    good = good && error < 1e-13;
  };

  // [tasks]
  nf::one_over_r<> const k;
  auto const seen = [&](neighbour const& n)
  {
    return view(leaves[n.cell], n.shift);
  };

#pragma omp parallel
#pragma omp single
#pragma omp taskloop
  for (std::size_t l = 0; l < leaves.size(); ++l)
    nf::p2p_leaf(nf::simd, k, view(leaves[l]), leaves[l].neighbours, {}, seen);
  // [tasks]
  report("a task for each leaf");

  // [mutual]
  for (std::vector<std::size_t> const& colour : colours_of(leaves))
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < colour.size(); ++i)
    {
      cell& leaf = leaves[colour[i]];
      nf::p2p_leaf(nf::simd, k, view(leaf), leaf.upper, {.form = nf::pair_form::mutual}, seen);
    }
  // [mutual]
  report("mutual, by colours");

  // The same points in one array, leaf by leaf, and the lists in CSR.
  std::vector<particle> points;
  // [csr]
  std::vector<nf::index_type> first_point{0}, first_neighbour{0}, neighbours;
  std::vector<std::uint16_t> shift_of;                  // by neighbour
  std::vector<std::array<double, 3>> shifts{{0, 0, 0}}; // by number, the first of which is zero
  // [csr]
  for (cell const& leaf : leaves)
  {
    points.insert(points.end(), leaf.points.begin(), leaf.points.end());
    first_point.push_back(static_cast<nf::index_type>(points.size()));
    for (neighbour const& n : leaf.neighbours)
    {
      auto const at = std::find(shifts.begin(), shifts.end(), n.shift) - shifts.begin();
      if (static_cast<std::size_t>(at) == shifts.size()) shifts.push_back(n.shift);
      neighbours.push_back(static_cast<nf::index_type>(n.cell));
      shift_of.push_back(static_cast<std::uint16_t>(at));
    }
    first_neighbour.push_back(static_cast<nf::index_type>(neighbours.size()));
  }
  auto const to_leaves = [&]
  {
    std::size_t i = 0;
    for (cell& leaf : leaves)
      for (particle& p : leaf.points) p.phi = points[i++].phi;
  };
  auto const x = nf::matrix_columns<3>(&points[0].x, points.size(), 5, 1);
  auto const q = nf::matrix_columns<1>(&points[0].q, points.size(), 5, 1);
  auto const phi = nf::matrix_columns<1>(&points[0].phi, points.size(), 5, 1);

  // [csr]
  nf::leaf_list const list({first_point}, {first_neighbour, neighbours, shift_of, shifts});
  nf::threads threads;
  nf::near_field(nf::simd.with(threads), k, list, x, q, phi, {.form = nf::pair_form::mutual});
  // [csr]
  to_leaves();
  report("a list of leaves, mutual, on threads");

  // [balance]
  auto const cost = nf::pair_cost_of<double>(nf::simd, k, nf::pair_form::one_sided);
  std::vector<double> seconds{0}; // of the leaves before each
  for (nf::index_type l = 0; l < list.targets().size(); ++l)
  {
    auto const n_sources = static_cast<double>(list.interactions().source_count(l));
    seconds.push_back(seconds.back() + cost(list.targets().count(l), n_sources));
  }
  constexpr int n_parts = 8;
  std::vector<nf::index_type> first{0};
  for (int p = 1; p <= n_parts; ++p)
  {
    auto const at = std::lower_bound(seconds.begin(), seconds.end(), seconds.back() * p / n_parts);
    first.push_back(static_cast<nf::index_type>(at - seconds.begin()));
  }

#pragma omp parallel for
  for (int p = 0; p < n_parts; ++p)
    nf::near_field(nf::simd, k, list.leaves(first[p], first[p + 1]), x, q, phi);
  // [balance]
  to_leaves();
  report("parts of equal cost");
  return good ? 0 : 1;
}
