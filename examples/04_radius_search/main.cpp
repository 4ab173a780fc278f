// All pairs of points closer than a cutoff: as a list of pairs, as rows of neighbours, as calls,
// and as one sum; on one core and, where StarPU is there, on every core.

#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#if defined(EXAMPLE_WITH_STARPU)
#include <nearfield/starpu/radius_search.hpp>
#endif

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

namespace nf = nearfield;

int main()
{
  std::size_t const n = 20000;
  double const length = 10, cutoff = 0.5;
  std::vector<double> x(n), y(n), z(n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, length);
  for (auto* column : {&x, &y, &z})
    for (double& value : *column)
      value =
          std::min(uniform(random), 0.999999 * length); // below the length, however it is rounded

  // a box that is periodic along x and y
  nf::cell_list const cells{nf::soa{x, y, z}, cutoff, {.period = {length, length, 0}}};

  nf::coo const pairs = nf::radius_search(nf::simd, cells, nf::to_coo{.distances = true});
  std::cout << pairs.size() << " pairs, each once; the first: " << pairs.i[0] << ", " << pairs.j[0]
            << "\n";

  nf::csr const rows = nf::radius_search(nf::simd, cells, nf::to_csr{});
  std::size_t most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) most = std::max(most, rows.row(i).size());
  std::cout << rows.columns.size() << " neighbours, at most " << most << " of one point\n";

  std::uint64_t calls = 0;
  nf::radius_search(nf::simd, cells,
                    nf::visit{[&](nf::index_type, nf::index_type, double)
                              {
                                ++calls;
                              }});

  // f adds a pair to a sum of its own part of the pairs, combine adds such sums
  nf::reduce const energy{0.0,
                          [](double& sum, nf::index_type, nf::index_type, double r2)
                          { sum += (0.25 - r2) * (0.25 - r2); },
                          [](double& sum, double part)
                          {
                            sum += part;
                          }};
  double const serial = nf::radius_search(nf::simd, cells, energy);
  std::cout << "energy " << serial << "\n";

  bool good = rows.columns.size() == 2 * pairs.size() && calls == pairs.size();
#if defined(EXAMPLE_WITH_STARPU)
  nf::starpu::runtime starpu;
  nf::coo const by_tasks = nf::starpu::radius_search(starpu, cells, nf::to_coo{.distances = true});
  good = good && std::ranges::equal(by_tasks.i, pairs.i) &&
         std::ranges::equal(by_tasks.j, pairs.j) && std::ranges::equal(by_tasks.r2, pairs.r2);
  // the same bits on any number of workers
  good = good && nf::starpu::radius_search(starpu, cells, energy) == serial;
#endif
  std::cout << (good ? "all agree\n" : "they differ\n");
  return good ? 0 : 1;
}
