// What a tree lends must not outlive it: a temporary lends nothing.

#include "temporaries.hpp"

#include <nearfield/core/boxes.hpp>
#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

namespace nearfield::test
{
  TEST(temporaries, columns_lend_no_view)
  {
    static_assert(needs_a_name<device_columns<float, 3>>(NEARFIELD_ACCESS(view())));
    using pointers = std::vector<float const*>;
    using at_run_time = soa<float const, run_time_columns>;
    static_assert(std::constructible_from<at_run_time, pointers&, std::size_t>);
    static_assert(!std::constructible_from<at_run_time, pointers, std::size_t>);
  }

  TEST(temporaries, boxes_and_lists_take_no_temporary)
  {
    using offsets = std::vector<index_type>;
    static_assert(std::convertible_to<offsets&, decltype(boxes::offsets)>);
    static_assert(std::convertible_to<offsets const&, decltype(boxes::offsets)>);
    static_assert(std::convertible_to<std::span<index_type const>, decltype(boxes::offsets)>);
    static_assert(!std::convertible_to<offsets, decltype(boxes::offsets)>);
    static_assert(!std::convertible_to<std::array<index_type, 2>, decltype(boxes::offsets)>);
    static_assert(!std::convertible_to<std::vector<interaction_list::range>,
                                       decltype(interaction_list::ranges)>);
  }

  template <class Tree>
  constexpr bool lends_to_names_only()
  {
    return needs_a_name<Tree>(NEARFIELD_ACCESS(target_order())) &&
           needs_a_name<Tree>(NEARFIELD_ACCESS(source_order())) &&
           needs_a_name<Tree>(NEARFIELD_ACCESS(interactions())) &&
           needs_a_name<Tree>(NEARFIELD_ACCESS(half_interactions()));
  }

  TEST(temporaries, trees_and_cell_lists_lend_nothing)
  {
    static_assert(lends_to_names_only<tree<3>>());
    static_assert(needs_a_name<tree<2>>(NEARFIELD_ACCESS(targets())));
    static_assert(needs_a_name<tree<2>>(NEARFIELD_ACCESS(sources())));
    static_assert(needs_a_name<tree<2>>(NEARFIELD_ACCESS(pieces(0))));
    static_assert(needs_a_name<nearfield::detail::interaction_table>(NEARFIELD_ACCESS(view())));

    using cells = cell_list<float, 3>;
    static_assert(lends_to_names_only<cells>());
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(view())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(grid())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(targets())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(sources())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(target_positions())));
    static_assert(needs_a_name<cells>(NEARFIELD_ACCESS(source_positions())));
  }

  TEST(temporaries, trees_on_a_gpu_lend_nothing)
  {
    static_assert(lends_to_names_only<cuda_tree<3>>());
    static_assert(needs_a_name<cuda_tree<2>>(NEARFIELD_ACCESS(pieces(0))));
    static_assert(needs_a_name<cuda_tree<2>>(NEARFIELD_ACCESS(target_offsets())));
    static_assert(needs_a_name<cuda_tree<2>>(NEARFIELD_ACCESS(source_offsets())));
    static_assert(needs_a_name<cuda_tree<2>>(NEARFIELD_ACCESS(cells())));
    static_assert(needs_a_name<cuda_tree<2>>(NEARFIELD_ACCESS(on_device())));
    static_assert(needs_a_name<cuda_cell_list<float, 3>>(NEARFIELD_ACCESS(on_device())));
    // not const: the first call makes the order
    auto const target_order = NEARFIELD_ACCESS(target_order());
    auto const source_order = NEARFIELD_ACCESS(source_order());
    static_assert(std::invocable<decltype(target_order), cuda_cell_list<float, 3>&> &&
                  !std::invocable<decltype(target_order), cuda_cell_list<float, 3>>);
    static_assert(std::invocable<decltype(source_order), cuda_cell_list<float, 3>&> &&
                  !std::invocable<decltype(source_order), cuda_cell_list<float, 3>>);
  }

  TEST(temporaries, serve_a_whole_call)
  {
    std::vector<double> const x{0, 1};
    auto const n_leaves = [](tree<2> const& of)
    {
      return of.targets().size();
    };
    EXPECT_EQ(n_leaves(build_tree(soa{x, x}, {.max_leaf_size = 1})), 2);
  }
}
