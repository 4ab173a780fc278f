// Near fields over trees on a GPU, in steps that wait for nothing, too.

#include "complains_of.hpp"
#include "cuda/device_trees.hpp"
#include "in_mutual_form.hpp"
#include "tree/tree_cases.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace nearfield::test
{
  namespace
  {
    template <class T, class K>
    void expect_near_field(K const& k, cloud shape, int most, near_field_options const& options)
    {
      constexpr int dim = K::dim;
      tree_options<dim> const how{.max_leaf_size = most};
      auto const x = make_points<T, dim>(shape, 6000), y = make_points<T, dim>(shape, 4000, 9);
      auto const q = random_columns<T, K::n_in>(x.size()),
                 y_q = random_columns<T, K::n_in>(y.size());
      device_columns<T, dim> const on_x(x.view()), on_y(y.view());
      device_columns<T, K::n_in> const on_q(q.view()), on_y_q(y_q.view());
      auto const one = build_tree(cuda, on_x.view(), how);
      auto const two = build_tree(cuda, on_x.view(), on_y.view(), how);
      auto const host_one = build_tree(x.view(), how);
      auto const host_two = build_tree(x.view(), y.view(), how);
      using out_view = soa<T, K::n_out>;
      expect_equal_outputs<T, K::n_out>(
          x.size(), [&](out_view const& out)
          { near_field(cuda, k, one, on_x.view(), on_q.view(), out, options); },
          [&](out_view const& out)
          { near_field(scalar, k, host_one, x.view(), q.view(), out, options); });
      expect_equal_outputs<T, K::n_out>(
          x.size(), [&](out_view const& out)
          { near_field(cuda, k, one, on_x.view(), on_q.view(), out, in_mutual_form(options)); },
          [&](out_view const& out)
          { near_field(scalar, k, host_one, x.view(), q.view(), out, in_mutual_form(options)); });
      expect_equal_outputs<T, K::n_out>(
          x.size(), [&](out_view const& out)
          { near_field(cuda, k, two, on_x.view(), on_y.view(), on_y_q.view(), out, options); },
          [&](out_view const& out)
          { near_field(scalar, k, host_two, x.view(), y.view(), y_q.view(), out, options); });
    }

    template <class C>
    device_columns<typename C::real, C::dim> upload(points<typename C::real, C::dim> const& x)
    {
      return device_columns<typename C::real, C::dim>(x.view());
    }

    template <class C>
    class cuda_tree_step_of : public testing::Test
    {};
    TYPED_TEST_SUITE(cuda_tree_step_of, all_coordinates, coordinate_names);
  }

  // Positions change between launches; leaves, lists and results are those of the CPU each time.
  TYPED_TEST(cuda_tree_step_of, a_step_is_captured_in_a_graph)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    using K = std::conditional_t<dim == 3, one_over_r<3>, log_r>;
    K const k;
    std::size_t const n = 5000;
    tree_options<dim> const how{.max_leaf_size = 30};
    auto const q = random_columns<T, K::n_in>(n);
    device_columns<T, K::n_in> const on_q(q.view());
    auto const first = make_points<T, dim>(cloud::uniform, n);
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
    {
      cuda_backend const where{stream};
      device_columns<T, dim> on_x(first.view(), stream);
      device_columns<T, K::n_out> one_sided(n, stream), mutual(n, stream);
      auto tree = build_tree(where, on_x.view(), how);
      tree.reserve(2);
      tree.rebuild(on_x.view());
      auto const step = [&]
      {
        tree.enqueue(on_x.view());
        near_field(where, k, tree, on_x.view(), on_q.view(), one_sided.view());
        near_field(where, k, tree, on_x.view(), on_q.view(), mutual.view(),
                   {.form = pair_form::mutual});
      };
      step(); // loads the kernels
      tree.finish();
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
      step();
      check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
      check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
      for (int round = 0; round < 4; ++round)
      {
        auto const x =
            make_points<T, dim>(round % 2 == 0 ? cloud::plummer : cloud::grid, n, 20 + round);
        for (int d = 0; d < dim; ++d)
          detail::device_copy(on_x.view()[d], x.columns[d].data(), n * sizeof(T), stream);
        check_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
        tree.finish();
        auto const expected = build_tree(x.view(), how);
        expect_equal(tree, expected);
        for (auto* const out : {&one_sided, &mutual})
          expect_equal_outputs<T, K::n_out>(
              n,
              [&](soa<T, K::n_out> const& to)
              {
                for (int o = 0; o < K::n_out; ++o)
                  detail::device_copy(to[o], out->view()[o], n * sizeof(T), stream);
              },
              [&](soa<T, K::n_out> const& to)
              { near_field(scalar, k, expected, x.view(), q.view(), to); });
      }
      check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
      check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }

  TYPED_TEST(cuda_tree_step_of, what_does_not_fit_is_said_when_it_is_known)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const few = make_points<T, dim>(cloud::all_equal, 3000);
    auto const many = make_points<T, dim>(cloud::uniform, 3000);
    auto wrong = few;
    wrong.columns[1][5] = std::numeric_limits<T>::infinity();
    auto const on_few = upload<TypeParam>(few), on_many = upload<TypeParam>(many),
               on_wrong = upload<TypeParam>(wrong);
    auto tree = build_tree(cuda, on_few.view(), {.max_leaf_size = 5});
    tree.reserve(1);
    tree.rebuild(on_few.view());
    // a step over a tree without room has no leaves
    using K = std::conditional_t<dim == 3, one_over_r<3>, log_r>;
    auto const q = random_columns<T, K::n_in>(many.size());
    device_columns<T, K::n_in> const on_q(q.view());
    column_set<T, K::n_out> zeros;
    zeros.columns[0].assign(many.size(), T(0));
    tree.enqueue(on_many.view());
    for (bool const is_mutual : {false, true})
    {
      auto found = random_columns<T, K::n_out>(many.size());
      device_columns<T, K::n_out> out(std::as_const(found).view());
      if (is_mutual)
        near_field(cuda, K(), tree, on_many.view(), on_q.view(), out.view(),
                   {.form = pair_form::mutual});
      else
        near_field(cuda, K(), tree, on_many.view(), on_q.view(), out.view());
      out.copy_to(found.view());
      EXPECT_EQ(found.columns, zeros.columns);
    }
    EXPECT_THAT([&] { tree.finish(); }, complains_of("room", "rebuild"));
    EXPECT_THAT([&] { static_cast<void>(tree.on_host()); }, complains_of("finish()"));
    tree.enqueue(on_wrong.view());
    EXPECT_THAT([&] { tree.finish(); }, complains_of("point 5 of points", "not finite"));
    tree.rebuild(on_many.view());
    expect_equal(tree, build_tree(many.view(), {.max_leaf_size = 5}));
    tree.enqueue(on_few.view());
    tree.finish();
    expect_equal(tree, build_tree(few.view(), {.max_leaf_size = 5}));
    // what an enqueue() still tells is not what a rebuild() waits for
    for (int round = 0; round < 5; ++round)
    {
      tree.enqueue(on_few.view());
      tree.rebuild(on_many.view());
      expect_equal(tree, build_tree(many.view(), {.max_leaf_size = 5}));
      EXPECT_THROW(tree.rebuild(on_wrong.view()), error);
      tree.finish();
      expect_equal(tree, build_tree(many.view(), {.max_leaf_size = 5}));
    }
  }

  TYPED_TEST(cuda_tree_step_of, near_field_takes_and_gives_the_callers_order)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::conditional_t<dim == 3, val_grad_one_over_r<3>, log_r> const k;
    for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::coincident})
      for (int const most : {8, 50, 700})
        for (bool const accumulate : {false, true})
        {
          SCOPED_TRACE(testing::Message() << shape << ", at most " << most);
          expect_near_field<T>(k, shape, most, {.accumulate = accumulate});
        }
  }

  TEST(cuda_tree_step, refuses_steps_of_other_points_and_streams)
  {
    auto const x = make_points<float, 3>(cloud::uniform, 10),
               fewer = make_points<float, 3>(cloud::uniform, 9);
    device_columns<float, 3> const on_x(x.view()), on_fewer(fewer.view());
    device_columns<float, 1> q(10), out(10), less_q(9), less_out(9);
    one_over_r<3> const k;
    auto const tree = build_tree(cuda, on_x.view()),
               two = build_tree(cuda, on_x.view(), on_fewer.view());
    EXPECT_THAT([&] { near_field(cuda, k, tree, on_fewer.view(), less_q.view(), less_out.view()); },
                complains_of("10 targets", "found 9"));
    EXPECT_THAT([&] { near_field(cuda, k, two, on_x.view(), q.view(), out.view()); },
                complains_of("two sets"));
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
    EXPECT_THAT([&]
                { near_field(cuda_backend{stream}, k, tree, on_x.view(), q.view(), out.view()); },
                complains_of("another stream"));
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }

  TEST(cuda_tree_step, serves_several_right_hand_sides)
  {
    std::size_t const n = 3000;
    one_over_r<3> const k;
    auto const x = make_points<double, 3>(cloud::plummer, n);
    auto const q = random_columns<double, 5>(n);
    device_columns<double, 3> const on_x(x.view());
    device_columns<double, 5> const on_q(q.view());
    for (tree_options<3> const& how :
         {tree_options<3>{.max_leaf_size = 40}, tree_options<3>{.level = 2},
          tree_options<3>{.level = 2, .order = leaf_order::morton}})
    {
      auto const tree = build_tree(cuda, on_x.view(), how);
      auto const expected = build_tree(x.view(), how);
      expect_equal_outputs<double, 5>(
          n, [&](soa<double, 5> const& out)
          { near_field(cuda, k, tree, on_x.view(), on_q.view(), out); },
          [&](soa<double, 5> const& out)
          { near_field(scalar, k, expected, x.view(), q.view(), out); });
      expect_equal_outputs<double, 5>(
          n,
          [&](soa<double, 5> const& out)
          {
            near_field(cuda, k, tree, on_x.view(), on_q.view(), out, {.form = pair_form::mutual});
          },
          [&](soa<double, 5> const& out)
          { near_field(scalar, k, expected, x.view(), q.view(), out); });
    }
  }
}
