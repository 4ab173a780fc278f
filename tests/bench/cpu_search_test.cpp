// The CPU baselines of the radius search against brute force, for every instruction set of this
// machine.

#include "bench/search_cases.hpp"

#include <baselines/cpu_search.hpp>

#include <gtest/gtest.h>

namespace nearfield::test
{
  namespace
  {
    template <class T>
    class cpu_search_baseline : public ::testing::Test
    {
    protected:
      static constexpr T cutoff = T(0.11);

      /// expect_found(functions, points, number of half pairs) for each instruction set and cloud
      template <class F>
      void for_each_case(F expect_found) const
      {
        for (isa const which : available_isas())
          for (cloud const shape : {cloud::uniform, cloud::plummer, cloud::planar, cloud::grid})
          {
            SCOPED_TRACE(testing::Message() << name_of(which) << ", " << shape);
            auto const all = search_points<T>(shape);
            std::size_t const count = count_half_pairs(all, cutoff);
            ASSERT_GT(count, n_search_points);
            expect_found(baseline::cpu_search(which).of<T>(), all, count);
          }
      }

      static baseline::point_columns<T> columns_of(points<T, 3> const& all)
      {
        return {all.columns[0], all.columns[1], all.columns[2]};
      }
    };
    using precisions = ::testing::Types<float, double>;
    TYPED_TEST_SUITE(cpu_search_baseline, precisions);
  }

  TYPED_TEST(cpu_search_baseline, cell_pairs_are_those_of_brute_force)
  {
    baseline::pair_columns pairs; // used again and again
    this->for_each_case(
        [&](auto const& search, auto const& all, std::size_t count)
        {
          for (int const cells_per_cutoff : {1, 2, 3})
          {
            SCOPED_TRACE(cells_per_cutoff);
            auto sorted = this->columns_of(all);
            search.cell_pairs(sorted, this->cutoff, cells_per_cutoff, pairs);
            expect_half_pairs(pairs, sorted.x, sorted.y, sorted.z, this->cutoff, count);
          }
        });
  }

  TYPED_TEST(cpu_search_baseline, nanoflann_pairs_are_those_of_brute_force)
  {
    if (!baseline::cpu_search(isa::scalar).f32.nanoflann_pairs)
      GTEST_SKIP() << "built without nanoflann: install libnanoflann-dev";
    baseline::pair_columns pairs;
    this->for_each_case(
        [&](auto const& search, auto const& all, std::size_t count)
        {
          for (int const leaf_size : {10, 64})
          {
            SCOPED_TRACE(leaf_size);
            auto const points = this->columns_of(all);
            search.nanoflann_pairs(points, this->cutoff, leaf_size, pairs);
            expect_half_pairs(pairs, points.x, points.y, points.z, this->cutoff, count);
          }
        });
  }
}
