// Trees in boxes of any shape on a GPU: those of the CPU to the bit, and near fields over them.

#include "cuda/device_trees.hpp"
#include "random_cells.hpp"
#include "tree/tree_cases.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class C>
    class cuda_tree_in_a_cell : public testing::Test
    {};
    TYPED_TEST_SUITE(cuda_tree_in_a_cell, all_coordinates, coordinate_names);

    /// Points at different places, some of them in other images of the box.
    template <class T, int Dim>
    points<T, Dim> spread_points(random_numbers& random, cell<Dim> const& box, std::size_t n)
    {
      detail::cell_frame<Dim> const frame(box);
      points<T, Dim> x;
      for (std::size_t i = 0; i < n; ++i)
      {
        std::array<double, Dim> at = box.origin;
        bool const is_far = random.below(4) == 0;
        for (int a = 0; a < Dim; ++a)
        {
          double place = random.uniform();
          if (is_far && box.periodic[a]) place += std::round(random.uniform(-9, 9));
          for (int b = 0; b < Dim; ++b) at[b] += place * frame.vectors[a][b];
        }
        x.push_back(at);
      }
      return x;
    }

    template <int Dim>
    tree_options<Dim> options_of(std::uint64_t seed, cell<Dim> const& box)
    {
      tree_options<Dim> options{.max_leaf_size = 30, .cell = box};
      if (seed % 2 == 0) options.level = static_cast<int>(seed / 2 % 4);
      return options;
    }
  }

  TYPED_TEST(cuda_tree_in_a_cell, is_that_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(60); ++seed)
    {
      SCOPED_TRACE(seed);
      random_numbers random(seed);
      auto const box = random_cell<dim>(random, 1);
      detail::cell_frame<dim> const frame(box);
      auto const x = points_around<T, dim>(random, frame, 1, 1 + random.below(2000)),
                 y = points_around<T, dim>(random, frame, 1, 1 + random.below(2000));
      auto const options = options_of(seed, box);
      device_columns<T, dim> const on_x(x.view()), on_y(y.view());
      auto tree = build_tree(cuda, on_x.view(), options);
      expect_equal(tree, build_tree(x.view(), options));
      tree.rebuild(on_x.view(), on_y.view());
      expect_equal(tree, build_tree(x.view(), y.view(), options));
      tree.rebuild(on_y.view());
      tree.enqueue(on_y.view());
      tree.finish();
      expect_equal(tree, build_tree(y.view(), options));
      if (this->HasFailure()) return;
    }
  }

  TYPED_TEST(cuda_tree_in_a_cell, gives_the_sums_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    gaussian<dim> const k{1};
    for (std::uint64_t seed = 0; seed < number_of_cells(60) / 2; ++seed)
    {
      SCOPED_TRACE(seed);
      random_numbers random(seed);
      auto const box = random_cell<dim>(random, 1);
      auto const x = spread_points<T, dim>(random, box, 1 + random.below(1500)),
                 y = spread_points<T, dim>(random, box, 1 + random.below(1500));
      auto const options = options_of(seed, box);
      auto const q = random_columns<T, 1>(x.size()), y_q = random_columns<T, 1>(y.size());
      device_columns<T, dim> const on_x(x.view()), on_y(y.view());
      device_columns<T, 1> const on_q(q.view()), on_y_q(y_q.view());
      auto const host = build_tree(x.view(), options);
      auto const tree = build_tree(cuda, on_x.view(), options);
      for (auto const form : {pair_form::one_sided, pair_form::mutual})
        expect_equal_outputs<T, 1>(
            x.size(), [&](auto const& out)
            { near_field(cuda, k, tree, on_x.view(), on_q.view(), out, {.form = form}); },
            [&](auto const& out) { near_field(simd, k, host, x.view(), q.view(), out); }, 20);
      auto const host_two = build_tree(x.view(), y.view(), options);
      auto const two = build_tree(cuda, on_x.view(), on_y.view(), options);
      expect_equal_outputs<T, 1>(
          x.size(), [&](auto const& out)
          { near_field(cuda, k, two, on_x.view(), on_y.view(), on_y_q.view(), out); },
          [&](auto const& out)
          { near_field(simd, k, host_two, x.view(), y.view(), y_q.view(), out); }, 20);
      if (this->HasFailure()) return;
    }
  }

  TEST(cuda_tree_in_a_cell, refuses_points_as_the_cpu_does)
  {
    cell<2> const box{.vectors = {{{1, 0}, {.5, 1}}}, .periodic = {true, true}};
    double const x[] = {.5, 1e12}, y[] = {.5, .5};
    double const nan[] = {.5, std::nan("")};
    for (soa<double const, 2> const& bad : {soa{x, y}, soa{nan, y}})
    {
      device_columns<double, 2> const on_device(bad);
      auto const complaint_of = [&](auto const& build)
      {
        try
        {
          build();
        }
        catch (error const& e)
        {
          return std::string(e.what());
        }
        return std::string("nothing");
      };
      auto const of_cpu = complaint_of([&] { static_cast<void>(build_tree(bad, {.cell = box})); });
      EXPECT_EQ(complaint_of(
                    [&] { static_cast<void>(build_tree(cuda, on_device.view(), {.cell = box})); }),
                of_cpu);
      EXPECT_NE(of_cpu.find("point 1"), std::string::npos) << of_cpu;
    }
  }
}
