// The C interface on a GPU: what it computes from device memory, on a stream of the caller, is what it computes on a CPU.

#include "handles.hpp"
#include "points.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  template <class T>
  class c_gpu : public ::testing::Test
  {
  protected:
    static constexpr std::size_t n = 700;

    /// Columns in host memory, and the same in device memory.
    template <int N>
    struct both
    {
      column_set<T, N> values;
      device_columns<T, N> on_device;
      c_columns<T, N> host, device;

      explicit both(column_set<T, N> const& of)
          : values(of), on_device(values), host(values.view()), device(on_device.view())
      {}
      /// Expects in device memory what is in host memory.
      void expect_same(char const* what)
      {
        column_set<T, N> found = values;
        on_device.copy_to(found.view());
        for (int c = 0; c < N; ++c)
        {
          T largest = 0;
          for (T const value : values.columns[c]) largest = std::max(largest, std::abs(value));
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(found.columns[c][i], values.columns[c][i],
                        (sizeof(T) == 4 ? 1e-5 : 1e-13) * largest)
                << what << ", column " << c << " of " << i;
        }
      }
    };

    static constexpr nf_place const* on_cpu = nullptr;
    cudaStream_t stream = nullptr;
    nf_place on_gpu{};
    both<3> x{columns_of<3>(1)}, y{columns_of<3>(2)};
    both<1> q{columns_of<1>(3)};

    c_gpu()
    {
      check_cuda(cudaStreamCreate(&stream), "cudaStreamCreate");
      on_gpu = {.size = sizeof on_gpu, .threads = nullptr, .stream = stream, .backend = nf_cuda};
    }
    ~c_gpu() override { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }

    template <int N>
    static column_set<T, N> columns_of(std::uint64_t seed)
    {
      random_numbers random(seed);
      column_set<T, N> set;
      for (auto& column : set.columns)
        for (std::size_t i = 0; i < n; ++i) column.push_back(static_cast<T>(random.uniform()));
      return set;
    }

    /// Calls f(where, columns...) on a CPU and on the GPU, and compares N sums, which begin with random numbers.
    template <int N, class F>
    void expect_same(char const* what, F const& f)
    {
      both<N> out(columns_of<N>(9));
      ASSERT_EQ(f(on_cpu, x.host.view, y.host.view, q.host.view, out.host.view), nf_ok)
          << nf_last_error();
      ASSERT_EQ(f(&on_gpu, x.device.view, y.device.view, q.device.view, out.device.view), nf_ok)
          << nf_last_error();
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      out.expect_same(what);
    }
  };
  using reals = ::testing::Types<float, double>;
  TYPED_TEST_SUITE(c_gpu, reals);

  TYPED_TEST(c_gpu, sums_are_those_of_a_cpu)
  {
    ASSERT_EQ(nf_has_gpu(), 1) << nf_last_error();
    auto const kernel =
        made<nf_interaction>(nf_interaction_create, "val_grad_one_over_r", 3, 0, nullptr, nullptr);
    auto* const k = kernel.get();
    this->template expect_same<4>("inner",
                                  [&](nf_place const* where, auto& x, auto&, auto& q, auto& out)
                                  { return nf_p2p_inner(where, k, x, q, out); });
    this->template expect_same<4>("inner, mutual",
                                  [&](nf_place const* where, auto& x, auto&, auto& q, auto& out)
                                  { return nf_p2p_inner_mutual(where, k, x, q, out); });
    this->template expect_same<4>("outer",
                                  [&](nf_place const* where, auto& x, auto& y, auto& q, auto& out)
                                  { return nf_p2p_outer(where, k, x, y, q, out); });
    this->template expect_same<4>(
        "over a tree",
        [&](nf_place const* where, auto& x, auto&, auto& q, auto& out)
        {
          auto const tree = made<nf_tree>(nf_tree_create, where, x, nullptr, nullptr);
          return nf_near_field_of_tree(where, k, tree.get(), x, nullptr, q, out, nullptr);
        });
    std::vector<std::int64_t> const offsets{0, 300, 700}, rows{0, 1, 2}, met{1, 0};
    auto options = options_with_size<nf_leaf_list_options>();
    options.n_leaves = 2;
    options.offsets = offsets.data();
    options.neighbour_offsets = rows.data();
    options.neighbours = met.data();
    this->template expect_same<4>(
        "over leaves of the caller",
        [&](nf_place const* where, auto& x, auto&, auto& q, auto& out)
        {
          auto const leaves = made<nf_leaf_list>(nf_leaf_list_create, where, &options);
          return nf_near_field_of_leaves(where, k, leaves.get(), x, nullptr, q, out, nullptr);
        });
    char const* const name = "h";
    double const h = 0.1;
    auto const density =
        made<nf_interaction>(nf_interaction_create, "sph_density", 3, 1, &name, &h);
    this->template expect_same<1>("over cells",
                                  [&](nf_place const* where, auto& x, auto&, auto& q, auto& out)
                                  {
                                    auto const cells = made<nf_cells>(nf_cells_create, where, x,
                                                                      nullptr, 0.2, nullptr);
                                    return nf_near_field_of_cells(where, density.get(), cells.get(),
                                                                  x, nullptr, q, out, nullptr);
                                  });
  }

  TYPED_TEST(c_gpu, pairs_are_those_of_a_cpu)
  {
    using pair = std::tuple<std::int32_t, std::int32_t>;
    auto options = options_with_size<nf_cells_options>();
    for (int a = 0; a < 3; ++a) options.box.vectors[a][a] = options.box.periodic[a] = 1;
    options.box.vectors[1][0] = 0.25;
    auto const counted = [&](nf_place const* where, nf_columns const& x)
    {
      auto cells = made<nf_cells>(nf_cells_create, where, x, nullptr, 0.15, &options);
      std::int64_t n_pairs = 0;
      EXPECT_EQ(nf_count_pairs(where, cells.get(), nf_half, &n_pairs, nullptr), nf_ok)
          << nf_last_error();
      return std::pair(std::move(cells), n_pairs);
    };
    auto const of_cpu = counted(nullptr, this->x.host.view);
    std::int64_t const n_pairs = of_cpu.second;
    auto const of_gpu = counted(&this->on_gpu, this->x.device.view);
    ASSERT_EQ(of_gpu.second, n_pairs);
    auto const size = static_cast<std::size_t>(n_pairs);
    auto const find = [&](nf_place const* where, nf_cells const* in, auto& i, auto& j)
    {
      auto to = options_with_size<nf_pair_columns>();
      to.which = nf_half;
      to.room = n_pairs;
      to.index_bytes = 4;
      to.i = i.data();
      to.j = j.data();
      std::int64_t n_written = 0;
      EXPECT_EQ(nf_find_pairs(where, in, &to, &n_written), nf_ok) << nf_last_error();
      EXPECT_EQ(n_written, n_pairs);
    };
    auto const sorted = [&](auto const& i, auto const& j)
    {
      std::vector<pair> pairs;
      for (std::size_t p = 0; p < size; ++p) pairs.emplace_back(i[p], j[p]);
      std::sort(pairs.begin(), pairs.end());
      return pairs;
    };
    std::vector<std::int32_t> i(size), j(size), found_i(size), found_j(size);
    find(nullptr, of_cpu.first.get(), i, j);
    device_array<std::int32_t> on_device_i(size), on_device_j(size);
    find(&this->on_gpu, of_gpu.first.get(), on_device_i, on_device_j);
    check_cuda(cudaStreamSynchronize(this->stream), "cudaStreamSynchronize");
    on_device_i.copy_to(found_i);
    on_device_j.copy_to(found_j);
    EXPECT_EQ(sorted(found_i, found_j), sorted(i, j));

    std::vector<double> const radii(this->n, 0.06);
    auto filter = options_with_size<nf_filter_options>();
    filter.radii = radii.data();
    auto const filtered_count = [&](nf_place const* where, nf_cells* cells)
    {
      EXPECT_EQ(nf_cells_filter(cells, &filter), nf_ok) << nf_last_error();
      std::int64_t fewer = 0;
      EXPECT_EQ(nf_count_pairs(where, cells, nf_half, &fewer, nullptr), nf_ok) << nf_last_error();
      return fewer;
    };
    std::int64_t const fewer = filtered_count(nullptr, of_cpu.first.get());
    EXPECT_LT(fewer, n_pairs);
    EXPECT_EQ(filtered_count(&this->on_gpu, of_gpu.first.get()), fewer);
  }
}
