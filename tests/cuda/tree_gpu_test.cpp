// Trees on a GPU are those of the CPU, to the bit.

#include "complains_of.hpp"
#include "cuda/device_trees.hpp"
#include "tree/tree_cases.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/permutation.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>
#include <nearfield/tree/permutation.hpp>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Gives memory so many times.
    class little_memory final : public device_memory
    {
    public:
      explicit little_memory(int calls) : left_(calls) {}
      void* allocate(std::size_t bytes, cuda_stream) override
      {
        if (left_-- <= 0) return nullptr;
        void* memory = nullptr;
        return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
      }
      void deallocate(void* memory, std::size_t, cuda_stream) noexcept override
      {
        cudaFree(memory);
      }

    private:
      int left_;
    };

    template <class C>
    class cuda_tree_of : public testing::Test
    {
    protected:
      using columns = device_columns<typename C::real, C::dim>;
      using host_points = points<typename C::real, C::dim>;
      using options = tree_options<C::dim>;

      static columns upload(host_points const& x) { return columns(x.view()); }
      static void expect_one_set(host_points const& x, options const& how)
      {
        auto const on_device = upload(x);
        expect_equal(build_tree(cuda, on_device.view(), how), build_tree(x.view(), how));
      }
      static void expect_two_sets(host_points const& x, host_points const& y, options const& how)
      {
        auto const on_x = upload(x), on_y = upload(y);
        expect_equal(build_tree(cuda, on_x.view(), on_y.view(), how),
                     build_tree(x.view(), y.view(), how));
      }
      /// What build_tree says of the points, here and there.
      static void expect_same_error(host_points const& x, options const& how = {})
      {
        auto const on_device = upload(x);
        std::string expected;
        try
        {
          static_cast<void>(build_tree(x.view(), how));
        }
        catch (error const& e)
        {
          expected = e.what();
        }
        ASSERT_NE(expected, "");
        EXPECT_THAT([&] { static_cast<void>(build_tree(cuda, on_device.view(), how)); },
                    complains_of(expected));
      }
    };
    TYPED_TEST_SUITE(cuda_tree_of, all_coordinates, coordinate_names);
  }

  TYPED_TEST(cuda_tree_of, one_set_is_that_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (auto const& c : tree_cases<dim>())
    {
      SCOPED_TRACE(c.name());
      this->expect_one_set(make_points<T, dim>(c.shape, c.n), c.options);
      if (this->HasFailure()) return;
    }
  }

  TYPED_TEST(cuda_tree_of, two_sets_are_those_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (auto const& c : tree_cases<dim>())
      for (auto const& [shape, n] : {std::pair(cloud::uniform, 0), std::pair(cloud::uniform, 300),
                                     std::pair(cloud::plummer, 700), std::pair(c.shape, 33)})
      {
        SCOPED_TRACE(testing::Message() << c.name() << ", " << n << " sources, " << shape);
        this->expect_two_sets(make_points<T, dim>(c.shape, c.n), make_points<T, dim>(shape, n, 2),
                              c.options);
        if (this->HasFailure()) return;
      }
  }

  // 520 random clouds, each of three shapes and scales, among them points on planes between boxes and close pairs.
  TYPED_TEST(cuda_tree_of, random_clouds_give_the_trees_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(71);
    for (int round = 0; round < 130; ++round)
    {
      auto const draw = [&](std::uint64_t seed)
      {
        points<T, dim> x;
        for (int part = 0; part < 3; ++part)
        {
          auto const shape = random.below(std::size(all_clouds) + 2);
          auto const n = random.below(3000);
          auto const some = shape == std::size(all_clouds) ? on_planes<T, dim>(n, seed + part)
                            : shape > std::size(all_clouds)
                                ? close_pairs<T, dim>(n, seed + part)
                                : make_points<T, dim>(all_clouds[shape], n, seed + part);
          double const scale = std::pow(10., -static_cast<double>(random.below(6)));
          for (std::size_t i = 0; i < some.size(); ++i)
          {
            std::array<double, dim> at;
            for (int d = 0; d < dim; ++d) at[d] = 0.5 + scale * (some[i][d] - 0.5);
            x.push_back(at);
          }
        }
        return x;
      };
      auto const x = draw(3 * round);
      typename TestFixture::options how{.max_leaf_size = 1 + static_cast<int>(random.below(200))};
      if (random.below(4) == 0)
      {
        how.level = static_cast<int>(random.below(8));
        if (random.below(2) == 0) how.order = leaf_order::morton;
      }
      if (random.below(3) == 0) how.root = {{}, 4.};
      SCOPED_TRACE(testing::Message() << "round " << round << ", " << x.size() << " points");
      if (random.below(3) == 0)
        this->expect_two_sets(x, draw(1000 + 3 * round), how);
      else
        this->expect_one_set(x, how);
      if (this->HasFailure()) return;
    }
  }

  // A large leaf beside thousands of small ones: rows too long for a warp.
  TYPED_TEST(cuda_tree_of, a_leaf_may_meet_thousands)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    random_numbers random(3);
    points<T, dim> x;
    for (int i = 0; i < 20000; ++i)
    {
      auto at = uniform_point<dim>(random);
      at[0] = 0.5 - 1e-5 * (1 + random.uniform()); // a sheet
      x.push_back(at);
    }
    std::array<double, dim> far;
    far.fill(1);
    x.push_back(far);
    this->expect_one_set(x, {.max_leaf_size = 1, .root = cube<dim>{.centre = {}, .half_width = 1}});
    this->expect_one_set(x, {.max_leaf_size = 1});
  }

  TYPED_TEST(cuda_tree_of, leaves_may_be_larger_than_the_set_and_as_small_as_a_point)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::plummer, 5000);
    for (int const most : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 1000, 4999, 5000, 5001,
                           std::numeric_limits<int>::max()})
    {
      SCOPED_TRACE(most);
      this->expect_one_set(x, {.max_leaf_size = most});
      this->expect_two_sets(x, make_points<T, dim>(cloud::uniform, 2000), {.max_leaf_size = most});
    }
  }

  TYPED_TEST(cuda_tree_of, coordinates_far_from_zero_and_close_together_are_served)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (double const scale : {1e-30, 1e-3, 1., 1e30})
      for (double const origin : {0., 1., -1e3})
      {
        auto x = make_points<T, dim>(cloud::uniform, 1000);
        for (auto& column : x.columns)
          for (T& value : column) value = static_cast<T>(scale * (value + origin));
        SCOPED_TRACE(testing::Message() << scale << " x (" << origin << " + ...)");
        this->expect_one_set(x, {.max_leaf_size = 20});
      }
  }

  TYPED_TEST(cuda_tree_of, gaps_to_points_far_away_are_cut_as_on_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const y = make_points<T, dim>(cloud::uniform, 4000);
    auto x = make_points<T, dim>(cloud::plummer, 3000);
    for (T const far : {T(-1e13), T(2e13), T(3e37)})
    {
      SCOPED_TRACE(far);
      for (auto& column : x.columns) column.push_back(far);
      auto const tree = build_tree(x.view(), {.max_leaf_size = 16});
      EXPECT_FALSE(tree.pieces(0).empty());
      this->expect_one_set(x, {.max_leaf_size = 16});
      this->expect_two_sets(x, y, {.max_leaf_size = 16});
      this->expect_two_sets(y, x, {.max_leaf_size = 16});
    }
    // what enqueue() does not do
    auto const on_x = this->upload(x), on_y = this->upload(y);
    auto tree = build_tree(cuda, on_x.view(), {.max_leaf_size = 16});
    tree.enqueue(on_x.view());
    tree.finish();
    EXPECT_TRUE(tree.pieces(0).empty());
    EXPECT_GT(tree.largest_leaf(), 1024u);
    tree.rebuild(on_x.view());
    EXPECT_LE(tree.largest_leaf(), 16u);
    tree.rebuild(on_y.view());
    expect_equal(tree, build_tree(y.view(), {.max_leaf_size = 16}));
    // many points at one place
    for (auto& column : x.columns) std::fill_n(column.begin(), 2000, column[0]);
    for (auto& column : x.columns) column.resize(3000);
    this->expect_one_set(x, {.max_leaf_size = 16});
  }

  TYPED_TEST(cuda_tree_of, wrong_points_and_options_are_refused_as_on_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const good = make_points<T, dim>(cloud::uniform, 500);
    for (T const wrong : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    {
      auto x = good;
      x.columns[dim - 1][3] = wrong;
      x.columns[0][400] = wrong;
      this->expect_same_error(x);
      this->expect_same_error(x, {.root = cube<dim>{.centre = {}, .half_width = 2}});
    }
    this->expect_same_error(good, {.root = cube<dim>{.centre = {}, .half_width = 0.5}});
    this->expect_same_error(good, {.root = cube<dim>{.centre = {}, .half_width = -1}});
    this->expect_same_error(good, {.level = max_level<dim> + 1});
    this->expect_same_error(good, {.max_leaf_size = -1});
    this->expect_same_error(good, {.order = leaf_order::row_major});
    if (sizeof(T) == 8)
    {
      auto x = good; // the root's width overflows
      x.columns[0][0] = std::numeric_limits<T>::lowest();
      x.columns[0][1] = std::numeric_limits<T>::max();
      this->expect_same_error(x);
    }
    soa<T, dim> const null({}, 7);
    EXPECT_THAT([&] { static_cast<void>(build_tree(cuda, null)); },
                complains_of("build_tree: column 0 of points is null; give 7 values"));
  }

  // Within rounding of the root's faces.
  TYPED_TEST(cuda_tree_of, points_on_the_faces_of_a_given_root_are_inside)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::grid, 1000);
    x.columns[0][0] = -std::numeric_limits<T>::epsilon();
    x.columns[1][5] = 1 + std::numeric_limits<T>::epsilon();
    cube<dim> root{.half_width = 0.5};
    root.centre.fill(0.5);
    this->expect_one_set(x, {.max_leaf_size = 10, .root = root});
    this->expect_one_set(x, {.level = 3, .root = root});
  }

  TYPED_TEST(cuda_tree_of, a_rebuilt_tree_is_that_of_the_new_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const first = make_points<T, dim>(cloud::uniform, 3000);
    auto const on_first = this->upload(first);
    auto tree = build_tree(cuda, on_first.view(), {.max_leaf_size = 20});
    // more leaves than the arrays of the last build hold, then none, then few
    for (auto const& [shape, n] :
         {std::pair(cloud::plummer, 20000), std::pair(cloud::plummer, 19000),
          std::pair(cloud::uniform, 0), std::pair(cloud::planar, 100)})
    {
      SCOPED_TRACE(testing::Message() << n << " points");
      auto const x = make_points<T, dim>(shape, n);
      auto const on_x = this->upload(x);
      tree.rebuild(on_x.view());
      expect_equal(tree, build_tree(x.view(), {.max_leaf_size = 20}));
      tree.rebuild(on_x.view(), on_first.view());
      expect_equal(tree, build_tree(x.view(), first.view(), {.max_leaf_size = 20}));
    }
    auto moved = std::move(tree);
    expect_equal(moved, build_tree(make_points<T, dim>(cloud::planar, 100).view(), first.view(),
                                   {.max_leaf_size = 20}));
  }

  TYPED_TEST(cuda_tree_of, refused_points_leave_the_tree_as_it_was)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto x = make_points<T, dim>(cloud::uniform, 3000);
    auto const on_x = this->upload(x);
    auto tree = build_tree(cuda, on_x.view(), {.max_leaf_size = 20});
    auto const expected = build_tree(x.view(), {.max_leaf_size = 20});
    x.columns[0][7] = std::numeric_limits<T>::quiet_NaN();
    auto const on_wrong = this->upload(x);
    EXPECT_THROW(tree.rebuild(on_wrong.view()), error);
    expect_equal(tree, expected);
  }

  // While it is rebuilt, the tables of the last tree are there too.
  TYPED_TEST(cuda_tree_of, takes_at_most_60_bytes_a_point_beside_its_lists)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    constexpr std::size_t n = 200'000;
    for (cloud const shape : {cloud::uniform, cloud::plummer})
      for (bool const one_set : {true, false})
      {
        SCOPED_TRACE(testing::Message() << shape << (one_set ? ", one set" : ", two sets"));
        auto const on_x = this->upload(make_points<T, dim>(shape, one_set ? n : n / 2));
        auto const on_y = this->upload(make_points<T, dim>(shape, n / 2, 2));
        synchronize(nullptr);
        std::uint64_t const before = memory_of_pool().used;
        reset_pool_peak();
        auto tree =
            one_set ? build_tree(cuda, on_x.view()) : build_tree(cuda, on_x.view(), on_y.view());
        auto const bytes_of_lists = [&]
        {
          synchronize(nullptr);
          return memory_of_pool().used - before - n * sizeof(index_type);
        };
        std::uint64_t lists = bytes_of_lists();
        EXPECT_LE(memory_of_pool().peak - before, 60 * n + lists);
        for (int round = 0; round < 2; ++round)
        {
          reset_pool_peak();
          if (one_set)
            tree.rebuild(on_x.view());
          else
            tree.rebuild(on_x.view(), on_y.view());
          std::uint64_t const those_before = std::exchange(lists, bytes_of_lists());
          EXPECT_LE(memory_of_pool().peak - before, 60 * n + those_before + lists);
        }
      }
  }

  // A pool that ends before the build does.
  TYPED_TEST(cuda_tree_of, memory_that_ends_leaves_the_tree_as_it_was)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::plummer, 5000);
    auto const on_x = this->upload(x);
    auto tree = build_tree(cuda, on_x.view(), {.max_leaf_size = 20});
    auto const expected = build_tree(x.view(), {.max_leaf_size = 20});
    int refused = 0;
    for (int calls = 0;; ++calls)
    {
      set_device_memory(std::make_shared<little_memory>(calls));
      bool done = true;
      try
      {
        tree.rebuild(on_x.view());
      }
      catch (error const& e)
      {
        EXPECT_EQ(e.kind(), error_kind::out_of_memory);
        done = false;
        ++refused;
      }
      set_device_memory(nullptr);
      if (done) break;
    }
    EXPECT_GT(refused, 10);
    expect_equal(tree, expected);
    set_device_memory(std::make_shared<little_memory>(4));
    EXPECT_THROW(tree.enqueue(on_x.view()), error);
    EXPECT_THAT([&] { tree.finish(); }, complains_of("enqueue() failed"));
    set_device_memory(nullptr);
    tree.rebuild(on_x.view());
    tree.finish();
    expect_equal(tree, expected);
  }

  TYPED_TEST(cuda_tree_of, columns_are_gathered_and_scattered)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const x = make_points<T, dim>(cloud::uniform, 1000);
    auto const on_x = this->upload(x);
    auto const tree = build_tree(cuda, on_x.view());
    auto const on_host = tree.on_host();
    device_columns<T, dim> sorted(x.size()), back(x.size());
    gather(cuda, tree.target_order(), on_x.view(), sorted.view());
    scatter(cuda, tree.target_order(), std::as_const(sorted).view(), back.view());
    column_set<T, dim> found;
    for (auto& column : found.columns) column.resize(x.size());
    sorted.copy_to(found.view());
    EXPECT_EQ(found.columns, gather(on_host.target_order(), x.view()).columns);
    back.copy_to(found.view());
    EXPECT_EQ(found.columns, x.columns);
    device_columns<T, dim> short_one(999);
    EXPECT_THROW(gather(cuda, tree.target_order(), on_x.view(), short_one.view()), error);
  }

  TEST(cuda_tree, of_two_sets_has_no_half_list)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 10);
    device_columns<float, 3> const on_x(x.view());
    auto const tree = build_tree(cuda, on_x.view(), on_x.view());
    EXPECT_THROW(static_cast<void>(tree.half_interactions()), error);
    EXPECT_THROW(static_cast<void>(cuda_list(cuda, tree, pair_form::mutual)), error);
  }

}
