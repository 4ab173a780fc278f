// What only a GPU has: clouds of many items, of many candidates an item and of full cells, lists that are
// built again, and lists as long as a GPU is used for. The other cases are those of the CPU.

#include "search/search_case.hpp"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class cuda_search : public testing::Test
    {};
    TYPED_TEST_SUITE(cuda_search, search_kinds);

    void expect_same(auto const& gpu, auto const& cpu, char const* what)
    {
      ASSERT_EQ(gpu.size(), cpu.size()) << what;
      auto const differ = std::mismatch(gpu.begin(), gpu.end(), cpu.begin());
      EXPECT_TRUE(differ.first == gpu.end())
          << what << ": the first difference is at " << differ.first - gpu.begin() << " of "
          << gpu.size() << ", GPU " << *differ.first << ", CPU " << *differ.second;
    }
  }

  TYPED_TEST(cuda_search, uniform)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::size_t const n = 10000;
    check_search<T, dim>({.x = make_points<T, dim>(cloud::uniform, n),
                          .cutoff = cutoff_for<dim>(110, n),
                          .how_many = outputs::every});
    check_search<T, dim>(
        {.x = make_points<T, dim>(cloud::uniform, n, 3), .cutoff = cutoff_for<dim>(3, n)});
  }

  TYPED_TEST(cuda_search, many_candidates_an_item)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::size_t const n = 4000;
    check_search<T, dim>(
        {.x = make_points<T, dim>(cloud::uniform, n), .cutoff = cutoff_for<dim>(700, n)});
  }

  TYPED_TEST(cuda_search, clusters)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    check_search<T, dim>(
        {.x = make_points<T, dim>(cloud::plummer, 6000), .cutoff = dim == 3 ? 0.03 : 0.01});
  }

  TYPED_TEST(cuda_search, full_cells)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    check_search<T, dim>({.x = make_points<T, dim>(cloud::coincident, 300),
                          .cutoff = 0.05,
                          .how_many = outputs::every});
    // more in one cell than the ranks of atomics are taken for
    check_search<T, dim>({.x = make_points<T, dim>(cloud::coincident, 2600), .cutoff = 0.05});
    check_search<T, dim>({.x = make_points<T, dim>(cloud::all_equal, 1100), .cutoff = 0.05});
  }

  TYPED_TEST(cuda_search, queries_in_clusters)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const queries = make_points<T, dim>(cloud::plummer, 2000, 11);
    auto const set = make_points<T, dim>(cloud::uniform, 3000, 12);
    check_search<T, dim>({.x = queries, .y = set, .one_set = false, .cutoff = 0.06});
    check_search<T, dim>({.x = set, .y = queries, .one_set = false, .cutoff = 0.06});
  }

  TYPED_TEST(cuda_search, rebuilds_with_other_points_and_cutoffs)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    device_columns<T, dim> const first(make_points<T, dim>(cloud::uniform, 5000, 1).view());
    cuda_cell_list<T, dim> cells(cuda, first.view(), T(0.1));
    for (std::size_t const n : {300, 7000, 0, 20})
    {
      auto const set = make_points<T, dim>(cloud::plummer, n, n);
      device_columns<T, dim> const x(set.view());
      T const cutoff = T(0.02) + T(1) / T(n + 10);
      cells.rebuild(x.view(), cutoff);
      brute_force<T, dim> const reference(set.view(), cutoff, {});
      EXPECT_TRUE(same_pairs(reference, reference.list(pairs::half),
                             radius_search(cuda, cells, to_coo{}).to_host()))
          << n << " points";
    }
  }

  TYPED_TEST(cuda_search, repeats_to_the_bit)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const set = make_points<T, dim>(cloud::uniform, 200000, 17);
    device_columns<T, dim> const x(set.view());
    cuda_cell_list<T, dim> cells(cuda, x.view(), T(cutoff_for<dim>(40, set.size())));
    auto const first = radius_search(cuda, cells, to_coo{}).to_host();
    EXPECT_EQ(first.size(), radius_search(cuda, cells, count_pairs{}).total);
    for (int repetition = 0; repetition < 3; ++repetition)
    {
      cells.rebuild(x.view());
      auto const found = radius_search(cuda, cells, to_coo{}).to_host();
      ASSERT_EQ(found.size(), first.size());
      EXPECT_EQ(std::memcmp(found.i.data(), first.i.data(), 4 * first.size()), 0);
      EXPECT_EQ(std::memcmp(found.j.data(), first.j.data(), 4 * first.size()), 0);
    }
  }

  TYPED_TEST(cuda_search, large_lists_are_those_of_the_cpu)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (cloud const shape : {cloud::uniform, cloud::plummer})
      for (bool const periodic : {false, true})
      {
        if (periodic && shape == cloud::plummer) continue; // reaches out of the box
        SCOPED_TRACE(testing::Message() << shape << (periodic ? ", periodic" : ""));
        auto set = make_points<T, dim>(shape, 300000, 19);
        cell_list_options<T, dim> options;
        if (periodic) options.period.fill(T(1));
        wrap<T, dim>(set, options.period); // rounded up
        T const cutoff = shape == cloud::plummer ? T(dim == 3 ? 0.008 : 0.002)
                                                 : T(cutoff_for<dim>(70, set.size()));
        cell_list<T, dim> const on_cpu(set.view(), double(cutoff), options);
        device_columns<T, dim> const x(set.view());
        cuda_cell_list<T, dim> cells(cuda, x.view(), cutoff, options);
        {
          auto const gpu = radius_search(cuda, cells, to_coo{}).to_host();
          auto const cpu = radius_search(simd, on_cpu, to_coo{});
          expect_same(gpu.i, cpu.i, "i of COO");
          expect_same(gpu.j, cpu.j, "j of COO");
        }
        for (pairs const which : {pairs::half, pairs::full})
        {
          to_csr what;
          what.which = which;
          auto const gpu = radius_search(cuda, cells, what).to_host();
          auto const cpu = radius_search(simd, on_cpu, what);
          expect_same(gpu.offsets, cpu.offsets, "offsets of CSR");
          expect_same(gpu.columns, cpu.columns, "columns of CSR");
        }
      }
  }

  /// Gives so many pieces, and no more.
  class scarce_memory final : public device_memory
  {
  public:
    explicit scarce_memory(int pieces) : left_(pieces) {}

    void* allocate(std::size_t bytes, cuda_stream stream) override
    {
      void* memory = nullptr;
      if (left_-- > 0) check_cuda(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync");
      return memory;
    }
    void deallocate(void* memory, std::size_t, cuda_stream stream) noexcept override
    {
      EXPECT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
    }

  private:
    int left_;
  };

  TEST(cuda_search, is_of_nothing_where_a_rebuild_ran_out_of_memory)
  {
    auto const few = make_points<double, 3>(cloud::uniform, 1000);
    auto const many = make_points<double, 3>(cloud::uniform, 50000);
    device_columns<double, 3> const x(few.view()), y(many.view());
    cuda_cell_list<double, 3> cells(cuda, x.view(), 0.1);
    std::uint64_t const expected = radius_search(cuda, cells, count_pairs{}).total;
    int n_refused = 0;
    for (bool is_built = false; !is_built;)
    {
      set_device_memory(std::make_shared<scarce_memory>(n_refused));
      try
      {
        cells.rebuild(y.view(), 0.02);
        is_built = true;
      }
      catch (error const& refused)
      {
        EXPECT_EQ(refused.kind(), error_kind::out_of_memory) << refused.what();
      }
      set_device_memory(nullptr);
      std::uint64_t const found = radius_search(cuda, cells, count_pairs{}).total;
      if (!is_built) EXPECT_EQ(found, 0u) << "after " << n_refused << " pieces";
      ++n_refused;
      cells.rebuild(x.view(), 0.1);
      EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total, expected);
      ASSERT_LT(n_refused, 100);
    }
    EXPECT_GT(n_refused, 1) << "no piece was refused";
  }
}
