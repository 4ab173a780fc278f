// Boxes of any shape on a GPU, hundreds in one list: the pairs of the definition, and the lists of the CPU. With
// NEARFIELD_TEST_CELLS=10000 as many, in seconds.

#include "cuda/batch_lists.hpp"
#include "image_pairs.hpp"
#include "same_lists.hpp"
#include "search/image_lists.hpp"
#include "search/random_case.hpp"

#include <nearfield/core/where.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class many_cells_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(many_cells_gpu, batch_kinds);

    /// The boxes and points of n cases, as one batch.
    template <class T, int Dim>
    batch<T, Dim> batch_of_cases(std::uint64_t first_seed, std::size_t n)
    {
      batch<T, Dim> of(first_seed, 0, 1); // options, and how many sets
      of.cutoffs.clear();
      of.cells.clear();
      of.targets = of.sources = {};
      for (std::size_t s = 0; s < n; ++s)
      {
        random_case<T, Dim> const one(first_seed + s);
        of.cutoffs.push_back(one.cutoff);
        of.cells.push_back(one.options.cell);
        of.targets.add(one.x);
        if (!of.one_set) of.sources.add(one.one_set ? one.x : one.y);
      }
      return of;
    }

    /// The pairs [first, first + n) of a list, which are those of one system, with indices of its own points.
    template <class T, int Dim>
    coo<T, Dim> part_of(coo<T, Dim> const& list, std::size_t first, std::size_t n,
                        index_type first_target, index_type first_source)
    {
      coo<T, Dim> part;
      auto const copy = [&](auto& to, auto const& from, auto before)
      {
        to.resize(n);
        for (std::size_t p = 0; p < n; ++p) to[p] = from[first + p] - before;
      };
      copy(part.i, list.i, first_target);
      copy(part.j, list.j, first_source);
      copy(part.r2, list.r2, T(0));
      for (int a = 0; a < Dim; ++a)
      {
        copy(part.displacements[a], list.displacements[a], T(0));
        copy(part.images[a], list.images[a], 0);
      }
      return part;
    }

    template <class T, int Dim>
    void expect_pairs_of_definition(batch<T, Dim> const& of, std::size_t s,
                                    coo<T, Dim> const& found)
    {
      std::vector<image_pair<Dim>> pairs;
      for (std::size_t p = 0; p < found.size(); ++p)
        pairs.push_back({found.i[p], found.j[p], image_at(found, p)});
      std::ranges::sort(pairs);
      auto const& x = of.targets.alone[s];
      image_definition<T, Dim> const definition(of.cells[s], x,
                                                of.one_set ? x : of.sources.alone[s],
                                                T(of.cutoffs[s]), of.options.closed);
      EXPECT_TRUE(pairs == definition.full());
    }

    template <class T, int Dim>
    void check_cases(threads& on, batch<T, Dim> const& of)
    {
      device_columns<T, Dim> const x(of.targets.x.view()), y(of.sources.x.view());
      std::optional<cuda_cell_list<T, Dim>> on_gpu;
      emplace(on_gpu, cuda, of, x.view(), y.view());
      std::size_t const n = of.cells.size();
      auto const& sources = of.one_set ? of.targets : of.sources;
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !of.one_set) continue;
        to_coo const what{which, false, true, true, image_columns::counters};
        auto const found = radius_search(cuda, *on_gpu, what).to_host();
        std::vector<coo<T, Dim>> alone(n);
        on.run(static_cast<int>(n),
               [&](int s) { alone[s] = radius_search(simd, of.list(s), what); });
        std::vector<std::size_t> first{0};
        for (auto const& list : alone) first.push_back(first.back() + list.size());
        ASSERT_EQ(found.size(), first.back());
        on.run(static_cast<int>(n),
               [&](int s)
               {
                 SCOPED_TRACE(testing::Message()
                              << "system " << s << (which == pairs::half ? ", half" : ", full"));
                 auto const part = part_of(found, first[s], alone[s].size(), of.targets.offsets[s],
                                           sources.offsets[s]);
                 test::expect_same(part, alone[s]); // not that of another file in one unit
                 if (which == pairs::full) expect_pairs_of_definition(of, s, part);
               });
      }
    }
  }

  TYPED_TEST(many_cells_gpu, has_the_pairs_of_the_definition)
  {
    threads on(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    std::uint64_t const wanted = number_of_cells(500);
    constexpr std::uint64_t most = 250; // of a batch
    for (std::uint64_t first = 0; first < wanted && !this->HasFailure(); first += most)
    {
      SCOPED_TRACE(testing::Message() << "cells from " << first << " on");
      check_cases(on, batch_of_cases<typename TypeParam::real, TypeParam::dim>(
                          first, std::min(most, wanted - first)));
    }
  }
}
