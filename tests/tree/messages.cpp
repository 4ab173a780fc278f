// Not a test by itself: compiled once for each CASE_..., for what the compiler says.

#include <nearfield/core/boxes.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/permutation.hpp>

#include <vector>

namespace nf = nearfield;

int main()
{
  std::vector<double> const x{0, 1};
  auto const tree = nf::build_tree(nf::soa{x, x});
#if defined(CASE_view_of_gathered)
  auto const sorted = nf::gather(tree.target_order(), nf::soa{x, x}).view();
#elif defined(CASE_boxes_of_a_temporary)
  nf::boxes const boxes{std::vector<nf::index_type>{0, 2}};
#elif defined(CASE_lists_of_a_temporary)
  auto const lists = nf::build_tree(nf::soa{x, x}).interactions();
#elif defined(CASE_cells_of_a_temporary)
  auto const cells = nf::cell_list{nf::soa{x, x}, 0.5}.view();
#else
  auto const sorted = nf::gather(tree.target_order(), nf::soa{x, x});
  nf::soa<double const, 2> const columns = sorted.view();
  nf::boxes const boxes{tree.targets().offsets};
#endif
}
