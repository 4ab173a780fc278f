// What the search on a GPU refuses, and that nothing is touched then.

#include "complains_of.hpp"
#include "search/search_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class bad_cuda_search : public testing::Test
    {};
    TYPED_TEST_SUITE(bad_cuda_search, search_kinds);
  }

  TYPED_TEST(bad_cuda_search, is_refused_with_the_point_and_the_value)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto set = make_points<T, dim>(cloud::uniform, 1000);
    auto const build = [&](T cutoff, cell_list_options<T, dim> const& options = {})
    {
      device_columns<T, dim> const x(set.view());
      cuda_cell_list<T, dim>(cuda, x.view(), cutoff, options);
    };
    device_columns<T, dim> const points(set.view());
    std::array<T const*, dim> columns{};
    columns[0] = points.view()[0];
    EXPECT_THAT(
        ([&] { cuda_cell_list<T, dim>(cuda, soa<T const, dim>(columns, points.size()), T(0.1)); }),
        complains_of("column 1", "null"));
    T const infinity = std::numeric_limits<T>::infinity();
    for (T const cutoff : {T(0), T(-1), infinity, std::numeric_limits<T>::quiet_NaN()})
      EXPECT_THAT([&] { build(cutoff); }, complains_of("cutoff"));
    cell_list_options<T, dim> periodic;
    periodic.period[1] = T(1e-6);
    EXPECT_THAT([&] { build(T(0.1), periodic); }, complains_of("65535 images"));
    set.columns[dim - 1][345] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_THAT([&] { build(T(0.1)); }, complains_of("point 345", "finite"));
    set.columns[0][12] = -infinity;
    EXPECT_THAT([&] { build(T(0.1)); }, complains_of("point 12", "inf"));
  }

  TYPED_TEST(bad_cuda_search, leaves_a_list_as_it_was_where_a_rebuild_is_refused)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto set = make_points<T, dim>(cloud::uniform, 2000);
    device_columns<T, dim> const x(set.view());
    cuda_cell_list<T, dim> cells(cuda, x.view(), T(0.1));
    std::uint64_t const n = radius_search(cuda, cells, count_pairs{}).total;
    set.columns[0][5] = std::numeric_limits<T>::infinity();
    device_columns<T, dim> const bad(set.view());
    EXPECT_THROW(cells.rebuild(bad.view(), T(0.2)), error);
    EXPECT_THROW(cells.rebuild(x.view(), T(-1)), error);
    EXPECT_EQ(radius_search(cuda, cells, to_coo{}).size(), n);
  }

  TYPED_TEST(bad_cuda_search, names_the_size_of_a_result_that_is_too_large)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const set = make_points<T, dim>(cloud::uniform, 3000);
    device_columns<T, dim> const x(set.view());
    cuda_cell_list<T, dim> cells(cuda, x.view(), T(0.1));
    std::uint64_t const n = radius_search(cuda, cells, count_pairs{}).total;
    EXPECT_EQ(radius_search(cuda, cells, to_coo{.max_bytes = 8 * n}).size(), n);
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_coo{.max_bytes = 8 * n - 1}); },
                complains_of(std::to_string(n), std::to_string(8 * n)));
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_csr{.max_bytes = 1000}); },
                complains_of(std::to_string(2 * n)));
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_table{.max_bytes = 1000}); },
                complains_of("max_bytes"));
  }

  TYPED_TEST(bad_cuda_search, has_no_half_list_of_two_sets)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    device_columns<T, dim> const x(make_points<T, dim>(cloud::uniform, 10).view());
    cuda_cell_list<T, dim> cells(cuda, x.view(), x.view(), T(0.4));
    auto const refused = complains_of("two sets have no half list");
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, count_pairs{}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_coo{}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_csr{pairs::half}); }, refused);
    EXPECT_THAT([&] { (void)radius_search(cuda, cells, to_table{pairs::half}); }, refused);
  }
}
