// Searches of several systems at once on a GPU: to the bit the lists of the CPU for each system alone.
#include "batch_lists.hpp"
#include "complains_of.hpp"
#include "points.hpp"
#include "same_lists.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class batch_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(batch_gpu, batch_kinds);

    /// A pair of the list of a system: its place there, and the indices in the arrays of all systems.
    struct batch_pair
    {
      std::size_t system, place;
      index_type i, j;
    };

    /// The columns of the pairs, in this order.
    template <class T, int Dim, class List>
    void gather(detail::pair_geometry<T, Dim>& to, std::vector<List> const& lists,
                std::vector<batch_pair> const& pairs)
    {
      auto const column = [&](auto const& of)
      {
        auto& values = of(to);
        bool wanted = false;
        for (auto const& list : lists) wanted |= !of(list).empty();
        if (!wanted) return;
        values.resize(pairs.size());
        for (std::size_t k = 0; k < pairs.size(); ++k)
          values[k] = of(lists[pairs[k].system])[pairs[k].place];
      };
      column([](auto& list) -> auto& { return list.r2; });
      column([](auto& list) -> auto& { return list.packed_images; });
      for (int a = 0; a < Dim; ++a)
      {
        column([a](auto& list) -> auto& { return list.displacements[a]; });
        column([a](auto& list) -> auto& { return list.images[a]; });
      }
    }

    /// The lists of systems as one.
    template <class T, int Dim>
    coo<T, Dim> united(batch<T, Dim> const& of, std::vector<coo<T, Dim>> const& lists, bool sorted)
    {
      auto const& sources = of.one_set ? of.targets : of.sources;
      std::vector<batch_pair> pairs;
      for (std::size_t s = 0; s < lists.size(); ++s)
        for (std::size_t p = 0; p < lists[s].size(); ++p)
          pairs.push_back(
              {s, p, of.targets.index(s, lists[s].i[p]), sources.index(s, lists[s].j[p])});
      if (sorted) std::ranges::stable_sort(pairs, {}, &batch_pair::i);
      coo<T, Dim> all;
      all.i.resize(pairs.size());
      all.j.resize(pairs.size());
      for (std::size_t p = 0; p < pairs.size(); ++p)
      {
        all.i[p] = pairs[p].i;
        all.j[p] = pairs[p].j;
      }
      gather<T, Dim>(all, lists, pairs);
      return all;
    }
    template <class T, int Dim>
    csr<T, Dim> united(batch<T, Dim> const& of, std::vector<csr<T, Dim>> const& lists, bool)
    {
      auto const& sources = of.one_set ? of.targets : of.sources;
      std::vector<batch_pair> pairs;
      for (std::size_t s = 0; s < lists.size(); ++s)
        for (std::size_t row = 0; row < lists[s].size(); ++row)
          for (auto p = lists[s].offsets[row]; p < lists[s].offsets[row + 1]; ++p)
            pairs.push_back({s, p, of.targets.index(s, static_cast<index_type>(row)),
                             sources.index(s, lists[s].columns[p])});
      std::ranges::stable_sort(pairs, {}, &batch_pair::i);
      csr<T, Dim> all;
      all.offsets.resize(of.targets.x.size() + 1);
      for (std::size_t row = 0, p = 0; row < all.offsets.size(); ++row)
      {
        while (p < pairs.size() && pairs[p].i < row) ++p;
        all.offsets[row] = p;
      }
      all.columns.resize(pairs.size());
      for (std::size_t p = 0; p < pairs.size(); ++p) all.columns[p] = pairs[p].j;
      gather<T, Dim>(all, lists, pairs);
      return all;
    }

    /// Both lists, or both errors.
    template <class T, int Dim, class What>
    void expect_same_list(cuda_cell_list<T, Dim>& on_gpu, batch<T, Dim> const& of,
                          std::vector<cell_list<T, Dim>> const& alone, What const& what)
    {
      std::vector<decltype(radius_search(simd, alone[0], what))> lists;
      try
      {
        for (auto const& list : alone) lists.push_back(radius_search(simd, list, what));
      }
      catch (error const&)
      {
        EXPECT_EQ(what.images, image_columns::packed);
        EXPECT_THAT([&] { (void)radius_search(cuda, on_gpu, what); },
                    complains_of("packed", "-512 to 511"));
        return;
      }
      expect_same(radius_search(cuda, on_gpu, what).to_host(), united(of, lists, what.sorted));
    }

    template <class T, int Dim>
    void expect_same_counts(cuda_cell_list<T, Dim>& on_gpu, batch<T, Dim> const& of,
                            std::vector<cell_list<T, Dim>> const& alone, pairs which)
    {
      auto const counts = radius_search(cuda, on_gpu, count_pairs{which, true}).to_host();
      auto const table = radius_search(cuda, on_gpu, to_table{which, 7}).to_host();
      auto const& sources = of.one_set ? of.targets : of.sources;
      std::uint64_t total = 0;
      for (std::size_t s = 0; s < alone.size(); ++s)
      {
        auto const expected = radius_search(simd, alone[s], count_pairs{which, true});
        auto const rows = radius_search(simd, alone[s], to_table{which, 7});
        total += expected.total;
        for (index_type k = 0; k < rows.size(); ++k)
        {
          index_type const i = of.targets.index(s, k);
          EXPECT_EQ(counts.per_point[i], expected.per_point[k]) << "point " << i;
          EXPECT_EQ(table.counts[i], rows.counts[k]) << "point " << i;
          std::vector<index_type> row;
          for (index_type const j : rows.row(k)) row.push_back(sources.index(s, j));
          EXPECT_THAT(table.row(i), testing::ElementsAreArray(row)) << "point " << i;
        }
      }
      EXPECT_EQ(counts.total, total);
      EXPECT_EQ(radius_search(cuda, on_gpu, count_pairs{which}).total, total);
    }

    template <class T, int Dim>
    void check_lists(batch<T, Dim> const& of)
    {
      device_columns<T, Dim> const x(of.targets.x.view()), y(of.sources.x.view());
      std::optional<cuda_cell_list<T, Dim>> on_gpu;
      emplace(on_gpu, cuda, of, x.view(), y.view());
      std::vector<cell_list<T, Dim>> alone;
      for (std::size_t s = 0; s < of.targets.alone.size(); ++s) alone.push_back(of.list(s));
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !of.one_set) continue;
        SCOPED_TRACE(which == pairs::half ? "half" : "full");
        expect_same_counts(*on_gpu, of, alone, which);
        for (bool const sorted : {false, true})
        {
          SCOPED_TRACE(sorted ? "sorted" : "by position");
          for (auto const images :
               {image_columns::none, image_columns::counters, image_columns::packed})
          {
            expect_same_list(*on_gpu, of, alone,
                             to_coo{.which = which, .sorted = sorted, .images = images});
            expect_same_list(*on_gpu, of, alone,
                             to_csr{.which = which, .sorted = sorted, .images = images});
          }
          expect_same_list(*on_gpu, of, alone,
                           to_coo{which, sorted, true, true, image_columns::counters});
          expect_same_list(*on_gpu, of, alone,
                           to_csr{which, sorted, true, true, image_columns::counters});
        }
      }
    }
  }

  TYPED_TEST(batch_gpu, has_the_lists_of_each_alone)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(200) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "batch " << seed);
      check_lists(batch<typename TypeParam::real, TypeParam::dim>(seed, 1 + seed % 12, 40));
    }
  }

  TYPED_TEST(batch_gpu, has_large_systems_among_small_ones)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (bool const leave : {false, true})
    {
      batch<T, dim> of(7, 0, 1);
      of.one_set = true;
      of.options = {};
      of.cutoffs = {};
      of.cells = {};
      of.targets = {};
      for (std::size_t const n : {100, 0, 1, 3000, 3, 40})
      {
        auto x = make_points<T, dim>(cloud::uniform, n, n + 1);
        for (std::size_t i = 0; leave && i < n; i += 2)
          x.columns[i % dim][i] += static_cast<T>(i % 3 == 0 ? 3 : -100);
        of.targets.add(x);
        of.cutoffs.push_back(n < 1000 ? 0.3 : 0.1);
        std::array<double, dim> lengths{1, 1}; // in three dimensions a layer
        if (n != 40) lengths.fill(1);
        of.cells.push_back(n == 3 ? cell<dim>() : cell<dim>::of_lengths(lengths));
      }
      check_lists(of);
    }
  }

  TYPED_TEST(batch_gpu, may_have_no_pairs)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    batch<T, dim> of(7, 0, 1);
    of.one_set = true;
    of.options = {};
    of.cutoffs = {1e-6};
    of.cells = {};
    of.targets = {};
    for (std::size_t const n : {0, 1, 2, 0}) of.targets.add(make_points<T, dim>(cloud::uniform, n));
    check_lists(of);
  }
}
