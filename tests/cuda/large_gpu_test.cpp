// Boxes that are cut into pieces and parts on a GPU: some of their targets against the plain loop.

#include "copied_cuda.hpp"
#include "cuda/sampled.hpp"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <future>

namespace nearfield::test
{
  namespace
  {
    constexpr copied_cuda where;

    template <class K, class T>
    void expect_inner(cloud shape, std::size_t n, std::size_t samples)
    {
      SCOPED_TRACE(testing::Message() << shape << ", " << n << " points");
      K const k = example<K>();
      auto const x = some_points<T, K::dim>(shape, n);
      auto const q = some_values<T, K::n_in>(n);
      guarded<T, K::n_out> out(n, initial_output<T>), again(n, initial_output<T>);
      guarded<T, K::n_out> mutual(n, initial_output<T>);
      p2p_inner(where, k, x.view(), q.view(), out.view());
      p2p_inner(where, k, x.view(), q.view(), again.view());
      p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
      auto const some = sample_of(n, samples);
      EXPECT_LE(error_of_some(some, k, x.view(), x.view(), q.view(), out.view(), other_points,
                              initial_output<T>),
                tolerance<T>)
          << "one-sided";
      EXPECT_LE(error_of_some(some, k, x.view(), x.view(), q.view(), mutual.view(), other_points,
                              initial_output<T>),
                tolerance<T>)
          << "mutual";
      EXPECT_TRUE(out == again) << "the one-sided form repeats to the last bit";
    }

    template <class K, class T>
    void expect_one_sided(std::size_t n, std::size_t samples)
    {
      K const k;
      auto const x = some_points<T, K::dim>(cloud::uniform, n);
      auto const q = some_values<T, K::n_in>(n);
      guarded<T, K::n_out> out(n, initial_output<T>);
      p2p_inner(where, k, x.view(), q.view(), out.view());
      EXPECT_LE(error_of_some(sample_of(n, samples), k, x.view(), x.view(), q.view(), out.view(),
                              other_points, initial_output<T>),
                tolerance<T>);
    }

    /// The first sources are targets too.
    template <class K, class T>
    void expect_outer(std::size_t n, std::size_t m, std::size_t samples)
    {
      SCOPED_TRACE(testing::Message() << n << " targets, " << m << " sources");
      K const k = example<K>();
      auto const x = some_points<T, K::dim>(cloud::plummer, n, 1);
      auto y = some_points<T, K::dim>(cloud::plummer, m, 2);
      for (int d = 0; d < K::dim; ++d)
        for (std::size_t j = 0; j < std::min(n, m / 3); ++j) y.column(d)[j] = x.column(d)[j];
      auto const x_q = some_values<T, K::n_in>(n, 3);
      auto const y_q = some_values<T, K::n_in>(m, 4);
      guarded<T, K::n_out> out(n, initial_output<T>), x_out(n, initial_output<T>);
      guarded<T, K::n_out> y_out(m, initial_output<T>);
      p2p_outer(where, k, x.view(), y.view(), y_q.view(), out.view());
      p2p_outer_mutual(where, k, x.view(), y.view(), x_q.view(), y_q.view(), x_out.view(),
                       y_out.view());
      auto const x_some = sample_of(n, samples), y_some = sample_of(m, samples);
      EXPECT_LE(error_of_some(x_some, k, x.view(), y.view(), y_q.view(), out.view(), all_pairs,
                              initial_output<T>),
                tolerance<T>)
          << "one-sided";
      EXPECT_LE(error_of_some(x_some, k, x.view(), y.view(), y_q.view(), x_out.view(), all_pairs,
                              initial_output<T>),
                tolerance<T>)
          << "mutual, targets";
      EXPECT_LE(error_of_some(y_some, k, y.view(), x.view(), x_q.view(), y_out.view(), all_pairs,
                              initial_output<T>),
                tolerance<T>)
          << "mutual, sources";
    }

    template <class Case>
    class large_box_of : public ::testing::Test
    {};
    TYPED_TEST_SUITE(large_box_of, all_p2p_cases, p2p_case_names);

    template <class Case>
    class larger_box_of : public ::testing::Test
    {};
    using some_cases =
        ::testing::Types<p2p_case<one_over_r<3>, float>, p2p_case<one_over_r<3>, double>,
                         p2p_case<val_grad_one_over_r<3>, float>, p2p_case<gaussian<2>, float>,
                         p2p_case<dipole_tensor<3>, double>>;
    TYPED_TEST_SUITE(larger_box_of, some_cases, p2p_case_names);
  }

  TYPED_TEST(large_box_of, some_targets_are_what_the_plain_loop_finds)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (cloud const shape : {cloud::plummer, cloud::coincident})
      expect_inner<K, T>(shape, 3001, 40);
    // more on a line come so close that a float does not hold |r|^-5
    expect_inner<K, T>(cloud::planar, K::dim == 2 ? 601 : 3001, 40);
    expect_inner<K, T>(cloud::all_equal, 700, 20);
    expect_outer<K, T>(3, 4001, 40);
    expect_outer<K, T>(1500, 130, 40);
    expect_outer<K, T>(2049, 3071, 40);
  }

  // 64 targets a piece in 8 parts, 128 in 8, in 2 and whole
  TYPED_TEST(larger_box_of, some_targets_are_what_the_plain_loop_finds)
  {
    using K = typename TypeParam::interaction;
    using T = typename TypeParam::real;
    for (std::size_t const n : {9001, 20003, 100007, 150001})
      expect_inner<K, T>(cloud::coincident, n, 6);
    expect_outer<K, T>(17, 200001, 6);
    expect_outer<K, T>(200001, 17, 6);
    expect_outer<K, T>(30011, 70001, 6);
  }

  // So many that a piece has as many targets as a tile can hold of its points.
  TEST(large_box, pieces_of_the_largest_size_are_served)
  {
    expect_one_sided<one_over_r<3>, float>(545003, 8);
    expect_one_sided<dipole_tensor<3>, double>(545003, 4);
  }

  // Charges of one sign: no rounding cancels.
  TEST(large_box, sums_of_floats_keep_their_digits)
  {
    std::size_t const n = 60001;
    one_over_r<3> const k;
    auto const x = some_points<float, 3>(cloud::uniform, n);
    guarded<float, 1> const q(n, 1.F);
    guarded<float, 1> out(n), mutual(n);
    p2p_inner(where, k, x.view(), q.view(), out.view());
    p2p_inner_mutual(where, k, x.view(), q.view(), mutual.view());
    auto const some = sample_of(n, 30);
    EXPECT_LE(error_of_some(some, k, x.view(), x.view(), q.view(), out.view(), other_points, 0.F),
              tolerance<float>);
    EXPECT_LE(
        error_of_some(some, k, x.view(), x.view(), q.view(), mutual.view(), other_points, 0.F),
        tolerance<float>);
  }

  // Its work waits behind a function that waits; on the default stream, whose copies wait for nobody, it
  // would be done.
  TEST(cuda_backend, computes_on_the_stream_that_it_is_given)
  {
    std::size_t const n = 300;
    one_over_r<3> const k;
    auto const host_x = some_points<double, 3>(cloud::uniform, n);
    auto const host_q = some_values<double, 1>(n);
    guarded<double, 1> host_out(n);
    device_columns<double, 3> const x(host_x.view());
    device_columns<double, 1> const q(host_q.view());
    device_columns<double, 1> first(host_out.view()), out(host_out.view());
    auto const add = [&](cuda_backend on, device_columns<double, 1>& to)
    {
      nearfield::p2p_inner(on, k, x.view(), q.view(), to.view());
      nearfield::p2p_inner_mutual(on, k, x.view(), q.view(), to.view());
    };
    // a kernel that is launched for the first time is loaded, which may wait for all streams
    add(cuda, first);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    std::promise<void> go;
    std::future<void> gone = go.get_future();
    auto const wait = [](void* future)
    {
      static_cast<std::future<void>*>(future)->wait();
    };
    check_cuda(cudaLaunchHostFunc(stream, wait, &gone), "cudaLaunchHostFunc");
    add({reinterpret_cast<cuda_stream>(stream)}, out);
    out.copy_to(host_out.view());
    EXPECT_EQ(std::ranges::count(host_out.column(0), 0.), std::ptrdiff_t(n))
        << "nothing is there yet";
    go.set_value();
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check_cuda(cudaStreamDestroy(stream), "cudaStreamDestroy");
    out.copy_to(host_out.view());
    auto const sums = reference(k, host_x.view(), host_x.view(), host_q.view(), other_points);
    for (double& value : host_out.column(0)) value /= 2;
    EXPECT_LE(error_of(host_out.view(), sums), tolerance<double>);
  }
}
