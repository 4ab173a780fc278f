// Near fields over cells on a GPU: those over the cells of the CPU, which are the same.

#include "batches.hpp"
#include "cell_moments.hpp"
#include "complains_of.hpp"
#include "cuda/device_trees.hpp"
#include "exclusions.hpp"
#include "points.hpp"
#include "random_cells.hpp"
#include "search/random_case.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class cell_near_field_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(cell_near_field_gpu, batch_kinds);

    static_assert(detail::has_device_leaves<cuda_cell_list<float, 2>> &&
                  detail::has_device_leaves<cuda_cell_list<double, 3>>);

    /// Whole numbers from -3 to 3.
    template <class T, int N>
    column_set<T, N> whole_numbers(std::size_t n)
    {
      random_numbers random(5);
      column_set<T, N> made;
      for (auto& column : made.columns)
        for (std::size_t i = 0; i < n; ++i) column.push_back(T(random.below(7)) - T(3));
      return made;
    }

    /// Points at whole numbers: `most` from the origin at most, and some of them further away.
    template <class T, int Dim>
    points<T, Dim> points_at_nodes(random_numbers& random, std::size_t n, std::size_t most,
                                   std::size_t farthest = 0)
    {
      points<T, Dim> made;
      for (std::size_t i = 0; i < n; ++i)
      {
        std::size_t const reach = random.below(4) == 0 && farthest > 0 ? farthest : most;
        std::array<double, Dim> at;
        for (double& x : at) x = double(random.below(2 * reach + 1)) - double(reach);
        made.push_back(at);
      }
      return made;
    }

    /// Sums over both lists agree within some tolerances; 0: to the bit. Of all pairs, and without some.
    template <int Rhs = 1, class K, class T, int Dim>
    void expect_same_sums(K const& k, cuda_cell_list<T, Dim> const& on_gpu,
                          cell_list<T, Dim> const& cells, points<T, Dim> const& x,
                          points<T, Dim> const& y, double tolerances)
    {
      constexpr int n_out = Rhs * K::n_out;
      auto const q = whole_numbers<T, Rhs>(cells.has_one_set() ? x.size() : y.size());
      device_columns<T, Dim> const on_x(x.view()), on_y(y.view());
      device_columns<T, Rhs> const on_q(q.view());
      random_numbers random(6);
      bool const one_set = cells.has_one_set();
      exclusions const some(random, x.size(), one_set ? x.size() : y.size(), one_set);
      if (!one_set)
      {
        for (auto const& options : {near_field_options{}, some.options()})
          expect_equal_outputs<T, n_out>(
              x.size(), [&](auto const& out)
              { near_field(cuda, k, on_gpu, on_x.view(), on_y.view(), on_q.view(), out, options); },
              [&](auto const& out)
              { near_field(scalar, k, cells, x.view(), y.view(), q.view(), out, options); },
              tolerances);
        return;
      }
      (void)on_gpu.on_device();
      EXPECT_EQ(on_gpu.size(), cells.size());
      for (auto const form : {pair_form::one_sided, pair_form::automatic})
        expect_equal_outputs<T, n_out>(
            x.size(), [&](auto const& out)
            { near_field(cuda, k, on_gpu, on_x.view(), on_q.view(), out, some.options(form)); },
            [&](auto const& out)
            { near_field(scalar, k, cells, x.view(), q.view(), out, some.options()); }, tolerances);
      for (auto const form : {pair_form::one_sided, pair_form::mutual, pair_form::automatic})
      {
        SCOPED_TRACE(testing::Message() << "form " << static_cast<int>(form));
        near_field_options const options{.accumulate = form == pair_form::mutual, .form = form};
        expect_equal_outputs<T, n_out>(
            x.size(), [&](auto const& out)
            { near_field(cuda, k, on_gpu, on_x.view(), on_q.view(), out, options); },
            [&](auto const& out)
            { near_field(scalar, k, cells, x.view(), q.view(), out, options); }, tolerances);
      }
    }

    /// Over cells of one set and of two.
    template <int Rhs = 1, class K, class T, int Dim>
    void expect_same_sums(K const& k, points<T, Dim> const& x, points<T, Dim> const& y, T cutoff,
                          cell_list_options<T, Dim> const& options, double tolerances)
    {
      device_columns<T, Dim> const on_x(x.view()), on_y(y.view());
      cuda_cell_list<T, Dim> on_gpu(cuda, on_x.view(), cutoff, options);
      {
        SCOPED_TRACE("one set");
        expect_same_sums<Rhs>(k, on_gpu, cell_list<T, Dim>(x.view(), cutoff, options), x, x,
                              tolerances);
      }
      SCOPED_TRACE("two sets");
      on_gpu.rebuild(on_x.view(), on_y.view());
      expect_same_sums<Rhs>(k, on_gpu, cell_list<T, Dim>(x.view(), y.view(), cutoff, options), x, y,
                            tolerances);
    }

    /// Boxes at whole numbers: open, periodic along all axes or some, triclinic, and thinner than the cutoff.
    template <int Dim>
    std::vector<cell<Dim>> boxes_at_nodes()
    {
      std::vector<cell<Dim>> boxes(1);
      for (int const length : {40, 12, 3, 1})
        for (bool const sheared : {false, true})
        {
          cell<Dim> box;
          for (int a = 0; a < Dim; ++a)
          {
            box.vectors[a][a] = length + a;
            for (int b = 0; b < a && sheared; ++b) box.vectors[a][b] = length / 3 - 2 * b;
            box.origin[a] = -a;
          }
          box.periodic.fill(true);
          boxes.push_back(box);
          box.periodic[Dim - 1] = false;
          boxes.push_back(box);
        }
      return boxes;
    }

    template <class T, int Dim>
    using optional_list = std::optional<cuda_cell_list<T, Dim>>;

    /// The lists of a batch, and its sums.
    template <class K, class T, int Dim>
    void expect_sums_of_batch(K const& k, points_of_systems<T, Dim> const& targets,
                              points_of_systems<T, Dim> const& sources, bool one_set,
                              systems<Dim> const& of, cell_list_options<T, Dim> const& options,
                              double tolerances)
    {
      auto const &x = targets.x, &y = sources.x;
      device_columns<T, Dim> const on_x(x.view()), on_y(y.view());
      optional_list<T, Dim> on_gpu;
      std::optional<cell_list<T, Dim>> cells;
      if (one_set)
      {
        on_gpu.emplace(cuda, on_x.view(), of, options);
        cells.emplace(x.view(), of, options);
      }
      else
      {
        on_gpu.emplace(cuda, on_x.view(), on_y.view(), of, options);
        cells.emplace(x.view(), y.view(), of, options);
      }
      expect_same_sums(k, *on_gpu, *cells, x, y, tolerances);
    }
  }

  // The value of the pair across the face, and nothing else.
  TEST(cell_near_field, moves_sources_by_the_shifts_of_images)
  {
    gaussian<2> const k{.sigma = 0.5};
    double const x[] = {0.125, 9.875}, y[] = {5, -95}, q[] = {1, 2};
    soa<double const, 2> const points{x, y};
    device_columns<double, 2> const on_x(points);
    device_columns<double, 1> const on_q(soa<double const, 1>{q});
    cuda_cell_list<double, 2> const cells(cuda, on_x.view(), 1, {.period = {10, 10}});
    double found[2];
    for (auto const form : {pair_form::one_sided, pair_form::mutual})
    {
      device_columns<double, 1> out(soa<double const, 1>{q});
      near_field(cuda, k, cells, on_x.view(), on_q.view(), out.view(), {.form = form});
      out.copy_to(soa{found});
      EXPECT_NEAR(found[0], 2 * std::exp(-0.25), 1e-14);
      EXPECT_NEAR(found[1], std::exp(-0.25), 1e-14);
    }
  }

  TYPED_TEST(cell_near_field_gpu, has_the_pairs_and_images_of_the_cpu_to_the_bit)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(1);
    int number = 0;
    for (auto const& box : boxes_at_nodes<dim>())
    {
      SCOPED_TRACE(testing::Message() << "box " << number++);
      cell_list_options<T, dim> options{.cell = box};
      for (int& k : options.cells_per_cutoff) k = static_cast<int>(random.below(4));
      bool const is_thin = box.is_periodic() && box.vectors[0][0] < 5;
      std::size_t const n = is_thin ? 30 : 300, m = is_thin ? 20 : 200;
      auto const x = points_at_nodes<T, dim>(random, n, 20, 300),
                 y = points_at_nodes<T, dim>(random, m, 20, 300);
      expect_same_sums(moments<dim>{}, x, y, T(4), options, 0);
      if (this->HasFailure()) return;
    }
  }

  TYPED_TEST(cell_near_field_gpu, is_that_of_the_cpu_in_any_cell)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(100) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "cell " << seed);
      bool const is_large = seed % 10 == 0;
      random_case<T, dim> of(seed, is_large ? 2e5 : 3000, is_large ? 1000 : 60);
      if (of.one_set) of.y = points<T, dim>();
      expect_same_sums(gaussian<dim>{.sigma = of.cutoff}, of.x, of.y, T(of.cutoff), of.options, 40);
    }
  }

  TYPED_TEST(cell_near_field_gpu, is_that_of_the_cpu_over_batches)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "batch " << seed);
      batch<T, dim> const of(seed, 1 + seed % 12, 40);
      expect_sums_of_batch(gaussian<dim>{.sigma = of.cutoffs[0]}, of.targets, of.sources,
                           of.one_set, of.given(), of.options, 40);
    }
  }

  // More than 2^16 shifts in all.
  TYPED_TEST(cell_near_field_gpu, has_the_shifts_of_thousands_of_systems)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::size_t const n = dim == 2 ? 8000 : 2600;
    random_numbers random(3);
    points_of_systems<T, dim> x;
    std::vector<cell<dim>> boxes;
    for (std::size_t s = 0; s < n; ++s)
    {
      x.add(points_at_nodes<T, dim>(random, 3, 3));
      std::array<double, dim> lengths;
      for (double& length : lengths) length = 3 + double(random.below(3));
      boxes.push_back(cell<dim>::of_lengths(lengths));
    }
    double const cutoff = 1.5;
    systems<dim> const of{.offsets = x.offsets, .cutoffs = std::span(&cutoff, 1), .cells = boxes};
    expect_sums_of_batch<moments<dim>, T, dim>({}, x, x, true, of, {}, 0);
  }

  TYPED_TEST(cell_near_field_gpu, serves_cells_of_any_number_and_size)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(7);
    moments<dim> const k;
    points<T, dim> const none;
    // many more cells than points
    auto far_apart = points_at_nodes<T, dim>(random, 400, 4000);
    for (std::size_t i = 1; i < far_apart.size(); i += 2)
      for (auto& column : far_apart.columns) column[i] = column[i - 1] + T(i % 5);
    expect_same_sums(k, far_apart, points_at_nodes<T, dim>(random, 300, 4000), T(10), {}, 0);
    // thousands of points a cell
    auto const crowd = points_at_nodes<T, dim>(random, 3000, 4);
    cell<dim> box;
    for (int a = 0; a < dim; ++a) box.vectors[a][a] = 9;
    box.periodic.fill(true);
    expect_same_sums(k, crowd, far_apart, T(4), {.cell = box}, 0);
    expect_same_sums(k, none, crowd, T(4), {.cell = box}, 0);
    expect_same_sums(k, crowd, none, T(4), {.cell = box}, 0);
  }

  TYPED_TEST(cell_near_field_gpu, leaves_points_at_one_place_out)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::coincident, 2000),
               y = make_points<T, dim>(cloud::coincident, 1500);
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    expect_same_sums(val_grad_one_over_r<dim>{}, x, y, T(0.2), options, 20);
  }

  TYPED_TEST(cell_near_field_gpu, takes_several_right_hand_sides)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(9);
    cell_list_options<T, dim> options;
    options.period.fill(T(12));
    expect_same_sums<3>(moments<dim>{}, points_at_nodes<T, dim>(random, 500, 20),
                        points_at_nodes<T, dim>(random, 300, 20), T(4), options, 0);
  }

  TYPED_TEST(cell_near_field_gpu, follows_points_that_move_within_the_skin)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (bool const is_batch : {false, true})
    {
      SCOPED_TRACE(is_batch ? "batch" : "one system");
      random_numbers random(11);
      cell<dim> box;
      for (int a = 0; a < dim; ++a) box.vectors[a][a] = 32;
      box.vectors[1][0] = 8;
      box.periodic.fill(true);
      auto x = points_at_nodes<T, dim>(random, 300, 20, 100);
      std::vector<index_type> const offsets{0, 100, 300};
      double const cutoff = 8;
      systems<dim> const of{
          .offsets = offsets, .cutoffs = std::span(&cutoff, 1), .cells = std::span(&box, 1)};
      cell_list_options<T, dim> options{.skin = 6};
      optional_list<T, dim> on_gpu;
      std::optional<cell_list<T, dim>> cells;
      device_columns<T, dim> on_x(x.view());
      if (is_batch)
      {
        on_gpu.emplace(cuda, on_x.view(), of, options);
        cells.emplace(x.view(), of, options);
      }
      else
      {
        options.cell = box;
        on_gpu.emplace(cuda, on_x.view(), T(cutoff), options);
        cells.emplace(x.view(), cutoff, options);
      }
      expect_same_sums(moments<dim>{}, *on_gpu, *cells, x, x, 0);
      // points of different cells come to one place, some in another image, and the box is strained
      for (std::size_t i = 0; i < x.size(); ++i)
        for (int a = 0; a < dim; ++a)
          x.columns[a][i] += T(i % 3 == 0) - T(i % 5 == 0) + T(i % 7 == 0 && a == 0 ? 32 : 0);
      box.vectors[0][0] += 1. / 16;
      device_columns<T, dim> const moved(x.view());
      ASSERT_FALSE(cells->update(x.view(), box));
      ASSERT_FALSE(on_gpu->update(moved.view(), box));
      expect_same_sums(moments<dim>{}, *on_gpu, *cells, x, x, 0);
      expect_same_sums(val_grad_one_over_r<dim>{}, *on_gpu, *cells, x, x, 40);
    }
  }

  TYPED_TEST(cell_near_field_gpu, takes_lists_with_fixed_capacity)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(12);
    cell_list_options<T, dim> options;
    options.period.fill(T(12));
    for (bool const is_open : {false, true})
    {
      SCOPED_TRACE(is_open ? "open" : "periodic");
      if (is_open) options.period = {};
      auto const x = points_at_nodes<T, dim>(random, 300, 20),
                 y = points_at_nodes<T, dim>(random, 300, 20);
      device_columns<T, dim> const on_x(x.view()), on_y(y.view());
      cuda_cell_list<T, dim> on_gpu(cuda, on_x.view(), T(4), options);
      on_gpu.fix_capacity(2);
      expect_same_sums(moments<dim>{}, on_gpu, cell_list<T, dim>(x.view(), 4, options), x, x, 0);
      on_gpu.rebuild(on_y.view());
      expect_same_sums(moments<dim>{}, on_gpu, cell_list<T, dim>(y.view(), 4, options), y, y, 0);
    }
  }

  // Made once for many steps; columns are in the order of cells.
  TYPED_TEST(cell_near_field_gpu, gives_lists_of_its_own)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(13);
    auto const x = points_at_nodes<T, dim>(random, 400, 20);
    device_columns<T, dim> const on_x(x.view());
    cell_list<T, dim> const cells(x.view(), 4);
    cuda_cell_list<T, dim> const on_gpu(cuda, on_x.view(), T(4));
    device_columns<T, dim> const sorted(cells.target_positions());
    auto const q = whole_numbers<T, 1>(x.size());
    device_columns<T, 1> const on_q(q.view());
    moments<dim> const k;
    for (auto const form : {pair_form::one_sided, pair_form::mutual})
    {
      cuda_list const list(cuda, on_gpu, form);
      expect_equal_outputs<T, 1 + dim>(
          x.size(), [&](auto const& out)
          { near_field(cuda, k, list, sorted.view(), on_q.view(), out, {.form = form}); },
          [&](auto const& out)
          {
            near_field(scalar, k, cells.targets(), cells.interactions(), cells.target_positions(),
                       q.view(), out);
          },
          0);
    }
  }

  TEST(cell_near_field, refuses_what_does_not_fit)
  {
    double const x[] = {0, 1}, q[] = {1, 2, 3};
    device_columns<double, 2> const on_x(soa<double const, 2>{x, x});
    device_columns<double, 1> const on_q(soa<double const, 1>{std::span(q, 2)}),
        more_q(soa<double const, 1>{q});
    device_columns<double, 1> out(soa<double const, 1>{std::span(q, 2)}),
        more_out(soa<double const, 1>{q});
    device_columns<double, 2> const more(soa<double const, 2>{q, q});
    gaussian<2> const k;
    cuda_cell_list<double, 2> cells(cuda, on_x.view(), 1);
    EXPECT_THAT([&] { near_field(cuda, k, cells, more.view(), more_q.view(), more_out.view()); },
                complains_of("2 targets", "found 3"));
    EXPECT_THAT([&]
                { near_field(cuda, k, cells, on_x.view(), on_x.view(), on_q.view(), out.view()); },
                complains_of("one set"));
    std::vector<std::uint64_t> const offsets{0, 1, 1};
    std::vector<index_type> const excluded{1};
    near_field_options const without{
        .form = pair_form::mutual, .excluded_offsets = offsets, .excluded = excluded};
    EXPECT_THAT([&] { near_field(cuda, k, cells, on_x.view(), on_q.view(), out.view(), without); },
                complains_of(".excluded", "mutual"));
    cuda_list const list(cuda, cells, pair_form::mutual);
    EXPECT_THAT([&] { near_field(cuda, k, list, on_x.view(), on_q.view(), out.view(), without); },
                complains_of(".excluded", "cuda_list"));
    cells.rebuild(on_x.view(), on_x.view());
    EXPECT_THAT([&] { near_field(cuda, k, cells, on_x.view(), on_q.view(), out.view()); },
                complains_of("two sets"));
  }
}
