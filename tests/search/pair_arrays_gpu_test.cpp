#include "search/batch_case.hpp"
#include "search/filter_case.hpp"
#include "search/image_lists.hpp"
#include "search/lists_of_both.hpp"
#include "search/search_case.hpp"

#include "complains_of.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

// Lists in device memory of the caller, against those that a CPU writes to the same columns.

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class pair_arrays_on_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(pair_arrays_on_gpu, search_kinds);

    /// Which columns a list has, and how they lie.
    struct array_shape
    {
      pairs which;
      pair_order order;
      std::size_t size; ///< the room
      unsigned wanted;  ///< a bit for each column
      bool in_rows; ///< columns of matrices with a pair in each row; otherwise one after another
      std::size_t skip; ///< values before the first
      std::size_t n_rows;

      enum : unsigned
      {
        i,
        j,
        r2,
        r,
        displacements,
        to_j,
        images,
        packed,
        offsets,
        n_columns
      };
      [[nodiscard]] bool has(unsigned column) const { return wanted >> column & 1; }
      [[nodiscard]] bool is_cut(std::uint64_t n_pairs) const { return n_pairs > size; }
    };

    /// All bytes of an array before a search.
    inline constexpr unsigned char untouched = 0x5a;

    /// An array on the host, and a copy of it on the device.
    template <class V>
    struct array_of_both
    {
      std::vector<V> here;
      device_array<V> there;

      explicit array_of_both(std::size_t n) : here(n)
      {
        if (n == 0) return;
        std::memset(static_cast<void*>(here.data()), untouched, n * sizeof(V));
        there = device_array<V>(std::span<V const>(here));
      }
      [[nodiscard]] std::vector<V> from_device() const
      {
        std::vector<V> found(here.size());
        if (!found.empty()) there.copy_to(found);
        return found;
      }
      [[nodiscard]] testing::AssertionResult is_same() const
      {
        auto const found = from_device();
        for (std::size_t k = 0; k < found.size(); ++k)
          if (std::memcmp(&found[k], &here[k], sizeof(V)) != 0)
            return testing::AssertionFailure() << "value " << k << " of " << found.size() << " is "
                                               << +found[k] << ", on the CPU " << +here[k];
        return testing::AssertionSuccess();
      }
    };

    template <class T, int Dim, class I>
    struct arrays_of_both
    {
      array_shape shape;
      array_of_both<I> ij;
      array_of_both<T> r2, r, d, to_j;
      array_of_both<std::int32_t> images;
      array_of_both<std::uint32_t> packed;
      array_of_both<std::uint64_t> offsets;

      explicit arrays_of_both(array_shape const& s)
          : shape(s), ij(2 * s.size + s.skip), r2(s.size + s.skip), r(s.size + s.skip),
            d(Dim * s.size + s.skip), to_j(Dim * s.size + s.skip), images(Dim * s.size + s.skip),
            packed(s.size + s.skip), offsets(s.n_rows + 1)
      {}

      [[nodiscard]] to_arrays<T, Dim> on(bool gpu)
      {
        auto const first = [&](auto& array)
        {
          return (gpu ? array.there.data() : array.here.data()) + shape.skip;
        };
        auto const one = [&](unsigned column, auto& array)
        {
          return matrix_columns<1>(first(array), shape.has(column) ? shape.size : 0, 1, 1);
        };
        auto const matrix = [&](auto number, bool wanted, auto& array)
        {
          constexpr int n = decltype(number)::value;
          auto const size = static_cast<std::ptrdiff_t>(shape.size);
          return matrix_columns<n>(first(array), wanted ? shape.size : 0, shape.in_rows ? n : 1,
                                   shape.in_rows ? 1 : size);
        };
        std::integral_constant<int, 2> const two;
        std::integral_constant<int, Dim> const dim;
        to_arrays<T, Dim> to;
        to.which = shape.which;
        to.order = shape.order;
        to.i = {matrix(two, shape.has(array_shape::i), ij), 0};
        to.j = {matrix(two, shape.has(array_shape::j), ij), 1};
        to.r2 = one(array_shape::r2, r2);
        to.r = one(array_shape::r, r);
        to.displacements = matrix(dim, shape.has(array_shape::displacements), d);
        to.to_j = matrix(dim, shape.has(array_shape::to_j), to_j);
        to.images = matrix(dim, shape.has(array_shape::images), images);
        to.packed_images = one(array_shape::packed, packed);
        if (shape.has(array_shape::offsets))
          to.offsets = soa<std::uint64_t, 1>({gpu ? offsets.there.data() : offsets.here.data()},
                                             offsets.here.size());
        return to;
      }

      void expect_same() const
      {
        EXPECT_TRUE(ij.is_same()) << "ij";
        EXPECT_TRUE(r2.is_same()) << "r2";
        EXPECT_TRUE(r.is_same()) << "r";
        EXPECT_TRUE(d.is_same()) << "displacements";
        EXPECT_TRUE(to_j.is_same()) << "to_j";
        EXPECT_TRUE(images.is_same()) << "images";
        EXPECT_TRUE(packed.is_same()) << "packed_images";
        EXPECT_TRUE(offsets.is_same()) << "offsets";
      }
    };

    /// How often vectors of the box are added to a point, at most.
    template <class T, int Dim>
    std::int32_t largest_counter(cell_list<T, Dim> const& cells)
    {
      std::int32_t largest = 0;
      auto const take = [&](auto const& images)
      {
        for (auto const& image : images)
          for (std::int32_t const counter : image) largest = std::max(largest, std::abs(counter));
      };
      auto const view = cells.view();
      take(view.target_images);
      take(view.source_images);
      for (auto const& system : view.systems) take(system.images);
      return largest;
    }

    /// `may_refuse`: a search that does not wait cannot know that S fits into words.
    template <class T, int Dim, class I>
    void check_arrays_on_gpu(auto& there, auto const& here, array_shape const& shape,
                             std::uint64_t n_pairs, bool may_refuse)
    {
      SCOPED_TRACE(testing::Message()
                   << (shape.which == pairs::half ? "half" : "full") << ", order "
                   << static_cast<int>(shape.order) << ", columns " << shape.wanted << ", room for "
                   << shape.size << " of " << n_pairs << (shape.in_rows ? ", in rows" : "")
                   << ", skips " << shape.skip);
      arrays_of_both<T, Dim, I> counted(shape), uncounted(shape);
      bool fits = true;
      try
      {
        EXPECT_EQ(radius_search(simd, here, counted.on(false)), n_pairs);
        radius_search(simd, here, uncounted.on(false));
      }
      catch (error const&)
      {
        fits = false;
        EXPECT_TRUE(shape.has(array_shape::packed));
      }
      if (!fits)
      {
        EXPECT_THAT([&] { radius_search(cuda, there, counted.on(true)); },
                    complains_of("-512 to 511"));
        return;
      }
      EXPECT_EQ(radius_search(cuda, there, counted.on(true)), n_pairs);
      counted.expect_same();

      device_array<std::uint64_t> number(1);
      try
      {
        radius_search(cuda, there, uncounted.on(true), number.data());
      }
      catch (error const& refused)
      {
        EXPECT_TRUE(shape.has(array_shape::packed) && may_refuse) << refused.what();
        return;
      }
      std::uint64_t found = 0;
      number.copy_to({&found, 1});
      EXPECT_EQ(found, n_pairs);
      if (shape.order == pair_order::sorted && shape.is_cut(n_pairs))
      {
        // the last row may have others of its pairs
        EXPECT_TRUE(uncounted.offsets.is_same());
        return;
      }
      uncounted.expect_same();
    }

    /// Of some shapes: all would be too many.
    template <class T, int Dim>
    void check_shapes(auto& there, auto const& here, cell_list<T, Dim> const& list, bool has_half,
                      std::uint64_t seed)
    {
      std::size_t const n_rows = list.target_order().size();
      bool const may_refuse = largest_counter(list) > 127;
      random_numbers random(seed);
      for (pairs const which : {pairs::full, pairs::half})
      {
        if (which == pairs::half && !has_half) continue;
        std::uint64_t const n = radius_search(simd, here, count_pairs{which}).total;
        for (pair_order const order : {pair_order::cells, pair_order::rows, pair_order::sorted})
        {
          if (which == pairs::half && order == pair_order::sorted) continue;
          for (std::size_t const size : {n, n + 7, n - n / 3, std::uint64_t(1), std::uint64_t(0)})
          {
            constexpr unsigned all = (1u << array_shape::n_columns) - 1,
                               images = 1u << array_shape::images,
                               packed = 1u << array_shape::packed;
            auto const some = static_cast<unsigned>(random.below(all));
            // S alone, and with indices, has a way of its own
            unsigned wanted =
                std::array{
                    all, all & ~packed, images | (some & 3), packed | (some & 3), images | packed,
                    some}[random.below(6)];
            if (order == pair_order::cells) wanted &= ~(1u << array_shape::offsets);
            array_shape const shape{
                which, order, size, wanted, random.below(2) == 0, random.below(3) == 0 ? 1u : 0u,
                n_rows};
            if (random.below(2) == 0)
              check_arrays_on_gpu<T, Dim, std::int32_t>(there, here, shape, n, may_refuse);
            else
              check_arrays_on_gpu<T, Dim, std::uint64_t>(there, here, shape, n, may_refuse);
          }
        }
      }
    }
  }

  TYPED_TEST(pair_arrays_on_gpu, hold_what_the_cpu_writes)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      bool const is_large = seed % 10 == 0; // several items a cell, and batches an item
      random_case<T, dim> const of(seed, is_large ? 2e5 : 3000, is_large ? 1000 : 60);
      lists_of_both<T, dim> lists(of);
      check_shapes<T, dim>(lists.there, lists.here, lists.here, of.one_set, seed);
    }
  }

  TYPED_TEST(pair_arrays_on_gpu, hold_pairs_that_a_filter_leaves)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(20) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      random_case<T, dim> const of(seed, 20'000, 600);
      filter_case<T> const chosen(of, seed);
      lists_of_both<T, dim> lists(of);
      filtered const here(lists.here, chosen.filter());
      cuda_filtered const there(lists.there, chosen.filter());
      check_shapes<T, dim>(there, here, lists.here, chosen.has_half(), seed);
    }
  }

  TYPED_TEST(pair_arrays_on_gpu, hold_pairs_of_systems)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::uint64_t refused = 0;
    for (std::uint64_t seed = 0; seed < number_of_cells(20) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "case " << seed);
      batch_case<T, dim> const of(seed);
      device_columns<T, dim> const x(of.x.x.view()), y(of.y.x.view());
      auto const here = of.list(simd);
      std::optional<cuda_cell_list<T, dim>> there;
      try
      {
        of.one_set ? there.emplace(cuda, x.view(), of.given(), of.options)
                   : there.emplace(cuda, x.view(), y.view(), of.given(), of.options);
      }
      catch (error const& e) // of which a GPU has no batch
      {
        ASSERT_THAT(e.what(), testing::HasSubstr("2^21 cells"));
        ++refused;
        continue;
      }
      check_shapes<T, dim>(*there, here, here, of.one_set, seed);
    }
    EXPECT_LE(refused, number_of_cells(20) / 2);
  }

  TEST(pair_arrays_on_gpu, of_a_sorted_list_that_does_not_fit_hold_its_whole_rows)
  {
    auto const set = make_points<double, 3>(cloud::uniform, 3000);
    device_columns<double, 3> const x(set.view());
    cell_list<double, 3> const here(set.view(), 0.15);
    cuda_cell_list<double, 3> there(cuda, x.view(), 0.15);
    auto const rows = radius_search(simd, here, to_csr{.sorted = true});
    std::size_t const last = rows.size() / 2, whole = rows.offsets[last], size = whole + 3;
    ASSERT_GT(rows.row(last).size(), 3u);
    array_of_both<std::int32_t> i(size), j(size);
    device_array<std::uint64_t> number(1);
    auto const column = [&](auto& of)
    {
      return soa<std::int32_t, 1>({of.there.data()}, size);
    };
    radius_search(cuda, there, {.order = pair_order::sorted, .i = column(i), .j = column(j)},
                  number.data());
    std::uint64_t n = 0;
    number.copy_to({&n, 1});
    EXPECT_EQ(n, rows.columns.size());
    auto const found_i = i.from_device(), found_j = j.from_device();
    for (std::size_t p = 0; p < whole; ++p) ASSERT_EQ(found_j[p], std::int32_t(rows.columns[p]));
    for (std::size_t row = 0; row <= last; ++row)
      for (std::size_t p = rows.offsets[row]; p < std::min(size, rows.offsets[row + 1]); ++p)
        ASSERT_EQ(found_i[p], std::int32_t(row));
    for (std::size_t p = whole; p < size; ++p)
      EXPECT_THAT(rows.row(last), testing::Contains(index_type(found_j[p])));
  }

  TEST(pair_arrays_on_gpu, are_of_no_points)
  {
    device_columns<float, 2> const x(0);
    cuda_cell_list<float, 2> cells(cuda, x.view(), 1.f);
    for (pair_order const order : {pair_order::cells, pair_order::rows, pair_order::sorted})
    {
      array_of_both<std::uint32_t> i(5);
      array_of_both<std::uint64_t> number(1);
      to_arrays<float, 2> to;
      to.order = order;
      to.i = soa<std::uint32_t, 1>({i.there.data()}, 5);
      EXPECT_EQ(radius_search(cuda, cells, to), 0u);
      radius_search(cuda, cells, to, number.there.data());
      EXPECT_EQ(number.from_device()[0], 0u);
      EXPECT_TRUE(i.is_same());
    }
  }

  TEST(pair_arrays_on_gpu, are_checked)
  {
    auto const x = points_at<2>({{0, 0}, {1, 0}, {2, 0}});
    device_columns<double, 2> const on_device(x.view());
    cuda_cell_list<double, 2> cells(cuda, on_device.view(), 1.5);
    soa<index_type, 1> const null({nullptr}, 4);
    EXPECT_THAT([&] { radius_search(cuda, cells, to_arrays<double, 2>{.i = null}); },
                complains_of(".i is null"));
    device_array<std::uint64_t> number(1);
    EXPECT_THAT([&] { radius_search(cuda, cells, {.i = null}, number.data()); },
                complains_of(".i is null"));
    EXPECT_THAT([&] { radius_search(cuda, cells, to_arrays<double, 2>{}, nullptr); },
                complains_of("n_pairs is null"));
    EXPECT_THAT([&]
                { radius_search(cuda, cells, {.offsets = {{number.data()}, 1}}, number.data()); },
                complains_of(".offsets", "pair_order::rows"));
    EXPECT_EQ(radius_search(cuda, cells, to_arrays<double, 2>{}), 4u); // counted
  }
}
