// What slabs of pairs hold beside indices, filters and batches. Compiled twice, as pair_slabs_test.cpp is.

#include "complains_of.hpp"
#include "pair_slab_checks.hpp"
#include "point_kinds.hpp"
#include "same_lists.hpp"
#include "search/batch_case.hpp"
#include "search/filter_case.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class starpu_pair_columns : public ::testing::Test
    {};
    TYPED_TEST_SUITE(starpu_pair_columns, point_kinds);

    template <class T, int Dim>
    using slab_options = typename pair_slabs<T, Dim>::options_type;

    /// Some columns, in some slabs.
    template <class T, int Dim>
    slab_options<T, Dim> random_options(cell_list_options<T, Dim> const& grid,
                                        random_numbers& random)
    {
      slab_options<T, Dim> options{.grid = grid};
      options.with_i = random.below(2) == 0;
      options.backend = backends[random.below(backends.size())];
      options.slabs = std::array{0, 1, 3, 40}[random.below(4)];
      options.distances = random.below(2) == 0;
      options.displacements = random.below(2) == 0;
      options.images = std::array{image_columns::none, image_columns::counters,
                                  image_columns::packed}[random.below(3)];
      return options;
    }

    /// Whether S of all pairs fits into 10 bits an axis.
    template <class Cells>
    bool can_pack(Cells const& cells)
    {
      auto const list = radius_search(simd, cells, to_csr{.images = image_columns::counters});
      return std::ranges::all_of(list.images,
                                 [](auto const& column)
                                 {
                                   return std::ranges::all_of(column, [](std::int32_t s)
                                                              { return s >= -512 && s < 512; });
                                 });
    }

    /// make(options) makes slabs whose lists must be those of the cells.
    template <class T, int Dim, class Cells, class Make>
    void expect_columns(slab_options<T, Dim> options, Cells const& cells, Make const& make)
    {
      if (options.images == image_columns::packed && !can_pack(cells))
        options.images = image_columns::counters;
      pair_slabs<T, Dim> list = make(options);
      for (int round = 0; round < 2; ++round)
      {
        coo<T, Dim> found;
        list.to_host(found);
        expect_same(found, radius_search(simd, cells,
                                         to_coo{.which = options.which,
                                                .distances = options.distances,
                                                .displacements = options.displacements,
                                                .images = options.images}));
        csr<T, Dim> rows;
        list.to_host(rows);
        expect_same(rows, radius_search(simd, cells,
                                        to_csr{.which = options.which,
                                               .distances = options.distances,
                                               .displacements = options.displacements,
                                               .images = options.images}));
        list.recount();
      }
    }
  }

  TYPED_TEST(starpu_pair_columns, are_those_of_lists_with_and_without_filters)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < 60 && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(seed);
      random_numbers random(seed);
      random_case<T, dim> const of(seed);
      filter_case<T> const chosen(of, seed);
      auto const cells = of.one_set
                             ? cell_list<T, dim>(of.x.view(), of.cutoff, of.options)
                             : cell_list<T, dim>(of.x.view(), of.y.view(), of.cutoff, of.options);
      filtered const some(cells, chosen.filter());
      column_handles<T, dim> const x(of.x), y(of.y);
      auto const make = [&](slab_options<T, dim> const& options)
      {
        return of.one_set
                   ? pair_slabs<T, dim>(one_runtime(), x.view(), of.cutoff, options)
                   : pair_slabs<T, dim>(one_runtime(), x.view(), y.view(), of.cutoff, options);
      };
      auto options = random_options<T, dim>(of.options, random);
      if (!of.one_set || random.below(2) == 0) options.which = pairs::full;
      expect_columns<T, dim>(options, cells, make);
      if (!chosen.has_half()) options.which = pairs::full;
      options.filter = chosen.filter();
      expect_columns<T, dim>(options, some, make);
    }
  }

  TYPED_TEST(starpu_pair_columns, are_those_of_batches)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < 30 && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(seed);
      random_numbers random(seed);
      batch_case<T, dim> const of(seed);
      auto const cells = of.list(simd);
#if defined(NEARFIELD_TEST_CUDA)
      bool is_wide = false; // of such systems a GPU has no batch
      for (std::size_t s = 0; s < cells.n_systems(); ++s)
        for (auto const n : cells.grid(s).cells) is_wide |= n >= max_cells_per_axis;
      if (is_wide) continue;
#endif
      column_handles<T, dim> const x(of.x.x), y(of.y.x);
      auto const make = [&](slab_options<T, dim> const& options)
      {
        return of.one_set
                   ? pair_slabs<T, dim>(one_runtime(), x.view(), of.given(), options)
                   : pair_slabs<T, dim>(one_runtime(), x.view(), y.view(), of.given(), options);
      };
      auto options = random_options<T, dim>(of.options, random);
      if (!of.one_set || random.below(2) == 0) options.which = pairs::full;
      expect_columns<T, dim>(options, cells, make);

      std::vector<index_type> types(of.one_set ? of.x.x.size() : of.y.x.size()),
          query_types(of.one_set ? 0 : of.x.x.size());
      for (auto& type : types) type = static_cast<index_type>(random.below(2));
      for (auto& type : query_types) type = static_cast<index_type>(random.below(2));
      T const least = static_cast<T>(*std::ranges::min_element(of.cutoffs));
      std::vector<T> const matrix{least, T(0.7) * least, T(0.7) * least, 0};
      pair_filter<T> const by_type{
          .types = types, .query_types = query_types, .type_cutoffs = matrix};
      filtered const some(cells, by_type);
      options.filter = by_type;
      expect_columns<T, dim>(options, some, make);
    }
  }

  TEST(starpu_pair_slab_columns, are_null_unless_asked_for)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    column_handles<double, 3> const columns(x);
    pair_slabs<double, 3> list(one_runtime(), columns.view(), 0.5,
                               {.slabs = 1, .images = image_columns::counters});
    EXPECT_EQ(list.images(0, 2), nullptr) << "before fill()";
    list.fill();
    EXPECT_NE(list.images(0, 2), nullptr);
    EXPECT_EQ(list.r2(0), nullptr);
    EXPECT_EQ(list.displacements(0, 0), nullptr);
    EXPECT_EQ(list.packed_images(0), nullptr);
    EXPECT_THAT([&] { static_cast<void>(list.images(0, 3)); }, complains_of("axis 3", "0 to 2"));
  }

  TEST(starpu_pair_slab_columns, say_what_does_not_fit)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 100);
    column_handles<double, 3> const columns(x);
    std::vector<index_type> const offsets{0, 40, 100}, short_offsets{0, 40, 99}, types(100, 0);
    std::vector<double> const cutoffs{0.2, 0.3}, one{0.2}, large{0.4};
    auto const make = [&](auto const& of, slab_options<double, 3> const& options = {})
    {
      return [&, options]
      {
        pair_slabs<double, 3> const list(one_runtime(), columns.view(), of, options);
      };
    };
    using batch = systems<3>;
    EXPECT_THAT(make(batch{}), complains_of(".offsets"));
    EXPECT_THAT(make(batch{.offsets = short_offsets, .cutoffs = cutoffs}),
                complains_of("99 of 100 points"));
    EXPECT_THAT(make(batch{.offsets = offsets}), complains_of(".cutoffs"));
    EXPECT_THAT(
        make(batch{.offsets = offsets, .cutoffs = cutoffs}, {.grid = {.period = {1, 1, 1}}}),
        complains_of("give .cells"));
    auto const with = [](pair_filter<double> const& which)
    {
      return slab_options<double, 3>{.filter = which};
    };
    EXPECT_THAT(make(0.2, with({.types = std::span(types).first(99), .type_cutoffs = one})),
                complains_of(".types has 99", "give 100"));
    EXPECT_THAT(make(batch{.offsets = offsets, .cutoffs = cutoffs},
                     with({.types = types, .type_cutoffs = large})),
                complains_of("0.4", "exceeds that of the cell list, 0.2"));
    std::vector<index_type> const rows{0};
    EXPECT_THAT(make(0.2, with({.rows = rows})), complains_of("no half list"));
    // what a task finds
    std::vector<double> const endless{0.2, -1};
    pair_slabs<double, 3> list(one_runtime(), columns.view(),
                               batch{.offsets = offsets, .cutoffs = endless});
    EXPECT_THAT([&] { list.wait(); }, complains_of("system 1: ", "-1"));
  }
}
