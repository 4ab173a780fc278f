// All pairs of points closer than a cutoff: as a list of pairs, as rows of neighbours, and without a list, as
// callbacks, as a sum per point and as one sum; on one core and, with StarPU, on all cores. Last, in the box of a file.

#include <nearfield/io/points.hpp>
#include <nearfield/kernels/sph.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#if defined(EXAMPLE_WITH_STARPU)
#include <nearfield/starpu/runtime.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

namespace nf = nearfield;

namespace
{
  // as read_points() finds it in a file of that name
  char const* const graphene = R"(2
Lattice="2.46 0.0 0.0 -1.23 2.130422 0.0 0.0 0.0 10.0" Properties=species:S:1:pos:R:3 pbc="T T F"
C 0.0 0.0 0.0
C 0.0 1.420282 0.0
)";

  // Bonds of atoms with images of each other, in a sheared box.
  bool finds_bonds_of_graphene()
  {
    nf::file_report report;
    auto const atoms = nf::parse_xyz(graphene, "graphene.xyz", {}, &report);
    auto const& x = atoms.positions;
    nf::cell_list const cells{nf::soa{x[0], x[1], x[2]}, 1.6, {.cell = report.cell->box()}};
    nf::coo const bonds =
        nf::radius_search(nf::simd, cells, nf::to_coo{.images = nf::image_columns::counters});
    for (std::size_t p = 0; p < bonds.size(); ++p)
      std::cout << "atom " << bonds.i[p] << " is bonded to atom " << bonds.j[p] << " moved by "
                << bonds.images[0][p] << " a and " << bonds.images[1][p] << " b\n";
    return bonds.size() == 3;
  }
}

int main()
{
  std::size_t const n = 20000;
  double const length = 10, cutoff = 0.5;
  std::vector<double> x(n), y(n), z(n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, length);
  for (auto* column : {&x, &y, &z})
    for (double& value : *column)
      value = std::min(uniform(random), 0.999999 * length); // less than the length despite rounding

  // a box that is periodic along x and y
  nf::cell_list const cells{nf::soa{x, y, z}, cutoff, {.period = {length, length, 0}}};

  nf::coo const pairs = nf::radius_search(nf::simd, cells, nf::to_coo{.distances = true});
  std::cout << pairs.size() << " pairs, each once; the first: " << pairs.i[0] << ", " << pairs.j[0]
            << "\n";

  nf::csr const rows = nf::radius_search(nf::simd, cells, nf::to_csr{});
  std::size_t most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) most = std::max(most, rows.row(i).size());
  std::cout << rows.columns.size() << " neighbours, at most " << most << " of one point\n";

  // The density at every point, in three ways. From the list: each pair contributes to two points.
  nf::sph_density<3> const smoothing{.h = cutoff / 2};
  auto const weight = [&](double r2)
  {
    return smoothing(nf::vec<double, 3>{std::sqrt(r2), 0, 0}).to({1})[0];
  };
  std::vector<double> from_list(n), from_calls(n), from_interaction(n);
  for (std::size_t p = 0; p < pairs.size(); ++p)
  {
    from_list[pairs.i[p]] += weight(pairs.r2[p]);
    from_list[pairs.j[p]] += weight(pairs.r2[p]);
  }
  // By callbacks, without a list: the same sum in the same order.
  nf::radius_search(nf::simd, cells,
                    nf::visit{[&](nf::index_type i, nf::index_type j, double r2)
                              {
                                from_calls[i] += weight(r2);
                                from_calls[j] += weight(r2);
                              }});
  // As an interaction with a cutoff: no list, no callbacks, several pairs at once.
  std::vector<double> const masses(n, 1);
  nf::near_field(nf::simd, smoothing, cells, nf::soa{x, y, z}, nf::soa{masses},
                 nf::soa{from_interaction}, {.form = nf::pair_form::automatic});
  double difference = 0;
  for (std::size_t i = 0; i < n; ++i)
    difference = std::max(difference, std::abs(from_interaction[i] - from_list[i]));
  std::cout << "density of point 0: " << from_list[0] << ", by calls " << from_calls[0]
            << ", by the interaction " << from_interaction[0] << "\n";

  // the first function adds a pair to a partial sum, the second adds up partial sums
  nf::reduce const energy{0.0, [](double& sum, nf::index_type, nf::index_type, double r2)
                          { sum += (0.25 - r2) * (0.25 - r2); },
                          [](double& sum, double part)
                          {
                            sum += part;
                          }};
  double const serial = nf::radius_search(nf::simd, cells, energy);
  std::cout << "energy " << serial << "\n";

  bool good = rows.columns.size() == 2 * pairs.size() && from_calls == from_list &&
              difference < 1e-10 * from_list[0];
#if defined(EXAMPLE_WITH_STARPU)
  nf::starpu::runtime starpu;
  nf::starpu::cpu_workers workers(starpu);
  nf::coo const by_tasks =
      nf::radius_search(nf::simd.with(workers), cells, nf::to_coo{.distances = true});
  good = good && std::ranges::equal(by_tasks.i, pairs.i) &&
         std::ranges::equal(by_tasks.j, pairs.j) && std::ranges::equal(by_tasks.r2, pairs.r2);
  // identical to the bit on any number of workers
  good = good && nf::radius_search(nf::simd.with(workers), cells, energy) == serial;
#endif
  good = finds_bonds_of_graphene() && good;
  std::cout << (good ? "all agree\n" : "they differ\n");
  return good ? 0 : 1;
}
