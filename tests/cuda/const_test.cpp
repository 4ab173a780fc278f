// An owner that is const lets nobody write what it owns.

#include <nearfield/core/soa.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/page_array.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace nearfield::test
{
  namespace
  {
    template <class Owner>
    using data_of = decltype(std::declval<Owner&>().data());
    template <class Owner>
    using view_of = decltype(std::declval<Owner&>().view());

    template <class Array>
    constexpr bool is_deep = std::is_same_v<data_of<Array>, double*> &&
                             std::is_same_v<data_of<Array const>, double const*>;
    template <class Columns>
    constexpr bool gives_views = std::is_same_v<view_of<Columns>, soa<double, 3>> &&
                                 std::is_same_v<view_of<Columns const>, soa<double const, 3>>;

    // a search frees memory of the cells, and makes the order inside them
    template <class Cells>
    concept is_searched_on_gpus = requires(Cells& cells) { radius_search(cuda, cells, to_coo{}); };
  }

  TEST(const_owners, give_pointers_and_views_to_const)
  {
    static_assert(is_deep<device_array<double>>);
    static_assert(is_deep<page_array<double>>);
    static_assert(gives_views<device_columns<double, 3>>);
    static_assert(gives_views<column_set<double, 3>>);
    static_assert(is_searched_on_gpus<cuda_cell_list<double, 3>>);
    static_assert(!is_searched_on_gpus<cuda_cell_list<double, 3> const>);
  }
}
