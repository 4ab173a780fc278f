// What the documents show of GPUs, between markers // [name].

#include "clouds.hpp"

// [cuda_step]
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/permutation.hpp>
// [cuda_step]

// [moving_points]
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>
// [moving_points]

#include <nearfield/cuda/device.hpp>
#include <nearfield/kernels/molecular.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nf = nearfield;

namespace
{
  TEST(docs, cuda_step)
  {
    std::size_t const n = 5000;
    auto const x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3),
               q = nf::test::values(n, 4);
    std::vector<double> phi(n);
    // clang-format off
    // [cuda_step]

    auto const tree  = nf::build_tree(nf::soa{x, y, z}, {.max_leaf_size = 128});
    auto const order = tree.target_order();
    nf::cuda_list const list(nf::cuda, tree.targets(), tree.interactions(), x.size());
    nf::device_columns<double, 3> const points(nf::gather(order, nf::soa{x, y, z}));
    nf::device_columns<double, 1> const charges(nf::gather(order, nf::soa{q}));
    nf::device_columns<double, 1> sums(x.size());

    nf::near_field(nf::cuda, nf::one_over_r<>{}, list, points.view(), charges.view(), sums.view());

    std::vector<double> in_tree_order(x.size());
    sums.copy_to(nf::soa{in_tree_order});          // waits
    nf::scatter(order, in_tree_order, phi);        // phi in the order of x, y, z
    // [cuda_step]
    // clang-format on

    std::vector<double> expected(n);
    nf::near_field(nf::scalar, nf::one_over_r<>{}, tree, nf::soa{x, y, z}, nf::soa{q},
                   nf::soa{expected});
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(phi[i], expected[i], 1e-12 * expected[i]);
  }

  TEST(docs, moving_points)
  {
    std::size_t const n = 3000;
    int const n_steps = 3;
    auto x = nf::test::values(n, 1);
    auto const y = nf::test::values(n, 2), z = nf::test::values(n, 3), q = nf::test::values(n, 4);
    auto const& now = x;
    nf::device_columns<double, 3> points(nf::soa{now, y, z});
    nf::device_columns<double, 1> const charges(nf::soa{q});
    nf::device_columns<double, 1> sums(n);
    std::vector<double> phi(n), expected(n);
    int n_moves = 0;
    // compares the sums, then moves the points along x
    auto const move = [&](nf::device_columns<double, 3>& to, nf::device_columns<double, 1>& of)
    {
      of.copy_to(nf::soa{phi});
      nf::near_field(nf::scalar, nf::one_over_r<>{},
                     nf::build_tree(nf::soa{now, y, z}, {.max_leaf_size = 64}), nf::soa{now, y, z},
                     nf::soa{q}, nf::soa{expected});
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(phi[i], expected[i], 1e-12 * expected[i]);
      for (std::size_t i = 0; i < n; ++i) x[i] += 0.1 * y[i];
      to = nf::device_columns<double, 3>(nf::soa{now, y, z});
      ++n_moves;
    };
    // clang-format off
    // [moving_points]

    auto tree = nf::build_tree(nf::cuda, points.view(), {.max_leaf_size = 64});
    for (int step = 0; step < n_steps; ++step)
    {
      nf::near_field(nf::cuda, nf::one_over_r<>{}, tree, points.view(), charges.view(), sums.view());  // sums =
      move(points, sums);                          // your integrator, a kernel in the same stream
      tree.rebuild(points.view());
    }
    // [moving_points]
    // clang-format on
    EXPECT_EQ(n_moves, 3);
    EXPECT_EQ(tree.size(), nf::build_tree(nf::soa{now, y, z}, {.max_leaf_size = 64}).size());
  }

  TEST(docs, captured_search)
  {
    std::size_t const n = 2000;
    nf::index_type const width = 64;
    auto const x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3);
    double const cutoff = 0.1;
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    {
      nf::device_columns<double, 3> const points(nf::soa{x, y, z}, stream);
      cudaGraph_t graph = nullptr;
      // clang-format off
      // [captured_search]
      nf::cuda_cell_list cells{nf::cuda_backend{stream}, points.view(), cutoff};   // not the default stream
      cells.fix_capacity(1.5);                      // as many points, and room for 1.5 times as many cells
      nf::device_array<nf::index_type> counts(n, stream), rows(n * width, stream), longest(1, stream);
      auto const step = [&]
      {
        cells.rebuild(points.view());
        nf::radius_search(nf::cuda_backend{stream}, cells, nf::to_rows{.width = width,
            .counts = {counts.data(), n}, .columns = {rows.data(), n * width}, .longest = longest.data()});
      };
      step();                                       // loads the kernels
      nf::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
      step();
      nf::check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
      // instantiate it; each launch takes the points as they are then
      // [captured_search]
      // clang-format on
      cudaGraphExec_t executable = nullptr;
      nf::check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
      nf::check_cuda(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
      cells.check_capacity();
      std::vector<nf::index_type> found(n);
      counts.copy_to(found);
      nf::cell_list const list{nf::soa{x, y, z}, cutoff};
      auto const expected = nf::radius_search(nf::simd, list, nf::to_table{.width = width}).counts;
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
      nf::check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
      nf::check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }

  // its kernels are in own_kernel.cu
  TEST(docs, lennard_jones_on_a_gpu)
  {
    std::size_t const n = 400;
    nf::cell<3> const box{.vectors = {{{8.4, 0, 0}, {2.1, 8.4, 0}, {0, 0, 8.4}}},
                          .periodic = {true, true, true}};
    std::vector<double> x(n), y(n), z(n), type(n);
    std::vector<double> const ones(n, 1);
    for (std::size_t i = 0; i < n; ++i) // a lattice, of which most points lie outside the box
    {
      x[i] = 1.05 * double(i % 8) - 9, y[i] = 1.05 * double(i / 8 % 8) + 20;
      z[i] = 1.2 * double(i / 64);
      type[i] = double(i % 2);
    }
    nf::lennard_jones<3, 2> const k(
        {.sigma = {1, 0.9, 0.9, 0.8}, .epsilon = {1, 1.2, 1.2, 0.6}, .cutoff = {2.5, 2.5, 2.5, 2}});
    // clang-format off
    // [lennard_jones_on_a_gpu]
    nf::device_columns<double, 4> const points(nf::soa{x, y, z, type});
    nf::device_columns<double, 1> const inputs(nf::soa{ones});
    nf::device_columns<double, 10> sums(n);       // energy, force, virial
    auto const p = points.view();
    nf::cuda_cell_list cells{nf::cuda, nf::soa<double const, 3>({p[0], p[1], p[2]}, n), k.cutoff(), {.cell = box}};
    nf::near_field(nf::cuda, k, cells, p, inputs.view(), sums.view());
    // [lennard_jones_on_a_gpu]
    // clang-format on
    nf::column_set<double, 10> found, expected;
    for (auto* const set : {&found, &expected})
      for (auto& column : set->columns) column.resize(n);
    sums.copy_to(found.view());
    nf::cell_list const on_host{nf::soa{x, y, z}, k.cutoff(), {.cell = box}};
    nf::near_field(nf::scalar, k, on_host, nf::soa{x, y, z, type}, nf::soa{ones}, expected.view());
    for (std::size_t c = 0; c < 10; ++c)
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(found.columns[c][i], expected.columns[c][i],
                    1e-11 * (1 + std::abs(expected.columns[c][i])))
            << c << " " << i;
  }

  TEST(docs, own_device_memory)
  {
    std::size_t const n = 700;
    auto const host_x = nf::test::values(n, 1), host_y = nf::test::values(n, 2),
               host_z = nf::test::values(n, 3), host_q = nf::test::values(n, 4);
    std::vector<double> host_phi(n), expected(n);
    double* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, 5 * n * sizeof(double)), cudaSuccess);
    double *const x = memory, *const y = x + n, *const z = y + n, *const q = z + n,
                  *const phi = q + n;
    auto const copy = [&](double* to, std::vector<double> const& from)
    {
      ASSERT_EQ(cudaMemcpy(to, from.data(), n * sizeof(double), cudaMemcpyHostToDevice),
                cudaSuccess);
    };
    copy(x, host_x), copy(y, host_y), copy(z, host_z), copy(q, host_q), copy(phi, host_phi);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    // the copies were not on this stream
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    // clang-format off
    // [own_device_memory]
    // x, y, z, q, phi: double* to n values on the device each; stream: a cudaStream_t
    nf::soa<double const, 3> const points({x, y, z}, n);
    nf::soa<double const, 1> const charges({q}, n);
    nf::p2p_inner(nf::cuda_backend{stream}, nf::one_over_r<>{}, points, charges, nf::soa<double, 1>({phi}, n));
    // [own_device_memory]
    // clang-format on
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(host_phi.data(), phi, n * sizeof(double), cudaMemcpyDeviceToHost),
              cudaSuccess);
    cudaStreamDestroy(stream);
    cudaFree(memory);
    nf::p2p_inner(nf::scalar, nf::one_over_r<>{}, nf::soa{host_x, host_y, host_z}, nf::soa{host_q},
                  nf::soa{expected});
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(host_phi[i], expected[i], 1e-12 * expected[n / 2] * 10);
  }

  struct
  {
    std::size_t live = 0, most = 0;

    void* take(std::size_t bytes, nf::cuda_stream stream)
    {
      void* memory = nullptr;
      nf::check_cuda(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync");
      most = std::max(most, live += bytes);
      return memory;
    }
    void give_back(void* memory, std::size_t bytes, nf::cuda_stream stream)
    {
      live -= bytes;
      cudaFreeAsync(memory, stream);
    }
  } arena;

  // clang-format off
  // [own_allocator]
  struct my_memory : nf::device_memory
  {
    void* allocate(std::size_t bytes, nf::cuda_stream stream) override { return arena.take(bytes, stream); }
    void deallocate(void* memory, std::size_t bytes, nf::cuda_stream stream) noexcept override
    {
      arena.give_back(memory, bytes, stream);
    }
  };

  // [own_allocator]
  // clang-format on

  TEST(docs, own_allocator)
  {
    cudaMemPool_t pool = nullptr;
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    // clang-format off
    // [own_allocator]
    nf::set_device_memory(std::make_shared<my_memory>());
    // [own_allocator]
    // clang-format on
    nf::device_array<double> const array(100);
    EXPECT_EQ(arena.live, 800u);
    // clang-format off
    // [own_allocator]
    nf::set_device_memory(nf::device_memory_of(pool));      // or a cudaMemPool_t
    nf::set_device_memory(nullptr);                         // nearfield's pools again
    // [own_allocator]
    // clang-format on
    EXPECT_EQ(nf::device_array<double>(100).size(), 100u);
    EXPECT_EQ(arena.most, 800u);
  }

  TEST(docs, cuda_search)
  {
    std::size_t const n = 500;
    double const cutoff = 0.2;
    auto const x = nf::test::values(n, 1), y = nf::test::values(n, 2), z = nf::test::values(n, 3);
    // clang-format off
    // [cuda_search]
    nf::device_columns<double, 3> const points{nf::soa{x, y, z}};         // a copy on the device
    nf::cuda_cell_list cells{nf::cuda, points.view(), cutoff};
    nf::device_coo const pairs = nf::radius_search(nf::cuda, cells, nf::to_coo{});
    nf::coo const here = pairs.to_host();
    // [cuda_search]
    // [cuda_arrays]
    std::size_t const room = 10'000;
    nf::device_array<std::int64_t> edges(2 * room);                       // (2, room); or memory of your own
    nf::device_array<std::uint64_t> n_found(1);
    nf::radius_search(nf::cuda, cells, {
        .i = nf::soa{std::span(edges.data(), room)}, .j = nf::soa{std::span(edges.data() + room, room)}}, n_found.data());
    // [cuda_arrays]
    // clang-format on

    nf::cell_list const host_cells{nf::soa{x, y, z}, cutoff};
    auto const expected = nf::radius_search(nf::simd, host_cells, nf::to_coo{});
    EXPECT_GT(expected.size(), n);
    EXPECT_TRUE(std::ranges::equal(here.i, expected.i));
    EXPECT_TRUE(std::ranges::equal(here.j, expected.j));

    std::uint64_t number = 0;
    n_found.copy_to({&number, 1});
    std::vector<std::int64_t> both(2 * room);
    edges.copy_to(both);
    auto const full = nf::radius_search(nf::simd, host_cells, nf::to_coo{.which = nf::pairs::full});
    ASSERT_EQ(number, full.size());
    ASSERT_LE(number, room);
    EXPECT_TRUE(std::equal(full.i.begin(), full.i.end(), both.begin()));
    EXPECT_TRUE(
        std::equal(full.j.begin(), full.j.end(), both.begin() + static_cast<std::ptrdiff_t>(room)));
  }
}
