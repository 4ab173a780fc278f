// Lists of several systems: grids that the device makes, and the order of points, are those of the CPU for each alone.
#include "batch_lists.hpp"
#include "complains_of.hpp"
#include "points.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class systems_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(systems_gpu, batch_kinds);

    std::vector<index_type> on_host(std::span<index_type const> of)
    {
      std::vector<index_type> copy(of.size());
      detail::device_copy(copy.data(), of.data(), of.size_bytes(), nullptr);
      return copy;
    }

    template <class T, int Dim>
    void expect_same_order(std::vector<index_type> const& found,
                           std::span<index_type const> expected,
                           points_of_systems<T, Dim> const& of, std::size_t s)
    {
      int different = 0;
      for (index_type k = 0; k < expected.size(); ++k)
        different += found[of.offsets[s] + k] != of.index(s, expected[k]);
      EXPECT_EQ(different, 0) << "of " << expected.size() << " points";
    }

    template <class T, int Dim>
    void expect_same(cuda_cell_list<T, Dim>& on_gpu, batch<T, Dim> const& of)
    {
      std::size_t const n = of.targets.alone.size();
      ASSERT_EQ(on_gpu.n_systems(), n);
      EXPECT_EQ(on_gpu.n_targets(), of.targets.x.size());
      auto const targets = on_host(on_gpu.target_order()), sources = on_host(on_gpu.source_order());
      for (std::size_t s = 0; s < n && !testing::Test::HasFailure(); ++s)
      {
        SCOPED_TRACE(testing::Message() << "system " << s << " of " << n);
        auto const list = of.list(s);
        auto const &gpu = on_gpu.grid(s), &cpu = list.grid();
        EXPECT_EQ(gpu.cutoff, cpu.cutoff);
        EXPECT_EQ(gpu.cutoff_squared, cpu.cutoff_squared);
        EXPECT_EQ(gpu.cells, cpu.cells);
        EXPECT_EQ(gpu.reach, cpu.reach);
        EXPECT_EQ(gpu.lower, cpu.lower);
        EXPECT_EQ(gpu.inverse_width, cpu.inverse_width);
        EXPECT_EQ(gpu.farthest, cpu.farthest);
        EXPECT_EQ(gpu.wraps, cpu.wraps);
        expect_same_order(targets, list.target_order(), of.targets, s);
        if (!of.one_set) expect_same_order(sources, list.source_order(), of.sources, s);
      }
    }

    /// A list of these systems, anew or in the memory of another one.
    template <class T, int Dim>
    void build(std::optional<cuda_cell_list<T, Dim>>& list, batch<T, Dim> const& of,
               device_columns<T, Dim> const& x, device_columns<T, Dim> const& y)
    {
      if (!list)
        emplace(list, cuda, of, x.view(), y.view());
      else if (of.one_set)
        list->rebuild(x.view(), of.given());
      else
        list->rebuild(x.view(), y.view(), of.given());
    }
    template <class T, int Dim>
    void check_cells(batch<T, Dim> const& of)
    {
      device_columns<T, Dim> const x(of.targets.x.view()), y(of.sources.x.view());
      std::optional<cuda_cell_list<T, Dim>> list;
      build(list, of, x, y);
      expect_same(*list, of);
    }
  }

  TYPED_TEST(systems_gpu, have_the_grids_and_the_order_of_each_alone)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(300) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "batch " << seed);
      check_cells(batch<typename TypeParam::real, TypeParam::dim>(seed, 1 + seed % 40,
                                                                  1000 / (1 + seed % 7)));
    }
  }

  TYPED_TEST(systems_gpu, are_many)
  {
    for (std::uint64_t const n : {1000, 2000, 3000})
      check_cells(batch<typename TypeParam::real, TypeParam::dim>(n, n, 30));
  }

  TYPED_TEST(systems_gpu, take_a_large_one_among_small_ones)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    batch<T, dim> of(7, 0, 1);
    of.one_set = true;
    of.options = {};
    of.cutoffs = {0.04};
    of.cells = {cell<dim>::of_lengths(std::array<double, dim>{1, 1})};
    of.targets = {};
    for (std::size_t const n : {100, 0, 1, 500000, 3, 100000, 0})
    {
      auto x = make_points<T, dim>(cloud::uniform, n, n + 1);
      if (n > 300000) x.columns[1][n / 2] += 7;
      of.targets.add(x);
    }
    check_cells(of);
  }

  TYPED_TEST(systems_gpu, are_rebuilt)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::optional<cuda_cell_list<T, dim>> list;
    for (std::uint64_t const seed : {11, 12, 12, 13})
    {
      batch<T, dim> of(seed, 20, 200);
      of.options = {};
      device_columns<T, dim> const x(of.targets.x.view()), y(of.sources.x.view());
      build(list, of, x, y);
      expect_same(*list, of);
      // the same systems
      of.one_set ? list->rebuild(x.view()) : list->rebuild(x.view(), y.view());
      expect_same(*list, of);
    }
    auto const one = make_points<T, dim>(cloud::uniform, 500);
    device_columns<T, dim> const x(one.view());
    list->rebuild(x.view(), T(0.1));
    EXPECT_EQ(list->n_systems(), 1u);
    cell_list<T, dim> const alone(one.view(), double(T(0.1)));
    EXPECT_EQ(list->grid().cells, alone.grid().cells);
    list->rebuild(x.view());
    EXPECT_EQ(list->n_targets(), 500u);
  }

  TYPED_TEST(systems_gpu, are_none_or_empty)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    device_columns<T, dim> const none{points<T, dim>().view()};
    std::vector<double> const cutoff{1};
    std::vector<index_type> offsets{0};
    cuda_cell_list<T, dim> list(cuda, none.view(),
                                systems<dim>{.offsets = offsets, .cutoffs = cutoff});
    EXPECT_EQ(list.n_systems(), 0u);
    list.rebuild(none.view(), systems<dim>{.offsets = offsets}); // nor any cutoff
    EXPECT_EQ(list.n_systems(), 0u);
    offsets = {0, 0, 0};
    list.rebuild(none.view(), systems<dim>{.offsets = offsets, .cutoffs = cutoff});
    EXPECT_EQ(list.n_systems(), 2u);
    EXPECT_EQ(list.grid(1).cells[0], 1u);
  }

  TYPED_TEST(systems_gpu, that_are_refused_are_named_and_change_nothing)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    batch<T, dim> of(3, 0, 1);
    of.one_set = true;
    of.options = {};
    of.cutoffs = {0.1};
    of.targets = {};
    cell<dim> box;
    for (int a = 0; a < dim; ++a) box.vectors[a][a] = box.periodic[a] = 1;
    for (std::size_t const n : {100, 50, 200, 30})
    {
      of.targets.add(make_points<T, dim>(cloud::uniform, n, n));
      of.cells.push_back(box);
    }
    device_columns<T, dim> const x(of.targets.x.view());
    cuda_cell_list<T, dim> list(cuda, x.view(), of.given());
    auto const refused = [&](auto const& change, auto const& matcher)
    {
      batch<T, dim> bad = of;
      change(bad);
      device_columns<T, dim> const y(bad.targets.x.view());
      EXPECT_THAT([&] { list.rebuild(y.view(), bad.given()); }, matcher);
      expect_same(list, of);
    };
    auto const bad_value = [](auto value)
    {
      return [value](batch<T, dim>& bad)
      {
        bad.targets.x.columns[1][160] = bad.targets.x.columns[1][355] = value;
      };
    };
    refused(bad_value(std::numeric_limits<T>::quiet_NaN()),
            complains_of("system 2: ", "coordinate 1 of point 10 is nan"));
    refused(bad_value(std::numeric_limits<T>::infinity()),
            complains_of("system 2: ", "coordinate 1 of point 10 is inf"));
    refused(bad_value(T(1e12)), complains_of("system 2: ", "point 10, (", "2^29 boxes away"));
    refused(
        [](batch<T, dim>& bad)
        {
          random_numbers random(5);
          bad.targets.mix(random);
          for (index_type const k : {10, 20})
            bad.targets.x.columns[1][bad.targets.index(2, k)] = std::numeric_limits<T>::infinity();
        },
        complains_of("system 2: ", "coordinate 1 of point 10 is inf"));
    refused([](batch<T, dim>& bad) { bad.cells[1].vectors[0][0] = 1e-6; },
            complains_of("system 1: ", "thick along axis 0", "65535 images"));
    refused([](batch<T, dim>& bad) { bad.cells[3].vectors[1] = {}; }, complains_of("system 3: "));
    refused(
        [](batch<T, dim>& bad)
        {
          bad.cells[3].vectors[1][0] = 1.5e9 + 0.25;
          bad.cutoffs = {0.1, 0.1, 0.1, 2.2};
        },
        complains_of("system 3: ", "too sheared"));
    refused(
        [](batch<T, dim>& bad)
        {
          bad.cells = {};
          bad.targets.x.columns[0][120] = 1e9;
        },
        complains_of("system 1: ", "along axis 0", "2^21 cells", "list of its own"));
    refused([](batch<T, dim>& bad) { bad.cutoffs = {1, 1, 0, 1}; },
            complains_of("system 2: ", "the cutoff is 0"));
    refused([](batch<T, dim>& bad) { bad.cutoffs = {1, 1}; },
            complains_of(".cutoffs has 2 for 4 systems", "one for each"));
    refused([](batch<T, dim>& bad) { bad.cells.pop_back(); },
            complains_of(".cells has 3 for 4 systems"));
    refused([](batch<T, dim>& bad) { bad.targets.offsets.back() = 379; },
            complains_of("379 of 380 points"));
    refused([](batch<T, dim>& bad) { bad.targets.offsets[1] = 160; },
            complains_of(".offsets[2] is 150 after 160", "ascending"));
    refused([](batch<T, dim>& bad) { bad.targets.order = {3}; },
            complains_of(".order", "each of 380 points once"));
    refused([](batch<T, dim>& bad) { bad.targets.order.assign(380, 7); },
            complains_of(".order", "each of 380 points once"));
    EXPECT_THAT([&] { (void)list.grid(4); }, complains_of("4 systems", "number 4"));
    cell_list_options<T, dim> boxed;
    boxed.period[0] = 1;
    EXPECT_THAT([&] { (cuda_cell_list<T, dim>(cuda, x.view(), of.given(), boxed)); },
                complains_of(".period", ".cells"));
  }
}
