// Builds and searches that a CUDA graph has captured: to the bit those of the CPU, each time that it runs.
#include "batch_lists.hpp"
#include "complains_of.hpp"
#include "graphs.cuh"
#include "points.hpp"
#include "same_lists.hpp"

#include <nearfield/cuda/device.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// Points of systems that move, and their list on the GPU: of one system, it is not given as several.
    template <class T, int Dim>
    struct moving_batch
    {
      own_stream stream;
      cuda_backend where{stream};
      random_numbers random;
      batch<T, Dim> of;
      given_columns<T, Dim> x, y;
      std::optional<cuda_cell_list<T, Dim>> cells;

      moving_batch(std::uint64_t seed, std::size_t n_systems, double skin = 0)
          : random(seed), of(made(seed, n_systems, skin)), x(of.targets.x, stream),
            y(of.sources.x, stream)
      {
        emplace(cells);
      }

      void emplace(std::optional<cuda_cell_list<T, Dim>>& list)
      {
        if (of.targets.alone.size() != 1) return test::emplace(list, where, of, x.view(), y.view());
        auto options = of.options;
        options.cell = of.cell_of(0);
        if (of.one_set)
          list.emplace(where, x.view(), T(of.cutoff(0)), options);
        else
          list.emplace(where, x.view(), y.view(), T(of.cutoff(0)), options);
      }
      void rebuild(cuda_cell_list<T, Dim>& list)
      {
        of.one_set ? list.rebuild(x.view()) : list.rebuild(x.view(), y.view());
      }
      void update(cuda_cell_list<T, Dim>& list)
      {
        of.one_set ? list.update_unchecked(x.view()) : list.update_unchecked(x.view(), y.view());
      }
      [[nodiscard]] std::uint32_t const* needs_rebuild(cuda_cell_list<T, Dim>& list)
      {
        return of.one_set ? list.needs_rebuild(x.view()) : list.needs_rebuild(x.view(), y.view());
      }
      /// Those of the systems on the CPU.
      [[nodiscard]] std::vector<cell_list<T, Dim>> lists() const
      {
        std::vector<cell_list<T, Dim>> made;
        for (std::size_t s = 0; s < of.targets.alone.size(); ++s) made.push_back(of.list(s));
        return made;
      }
      /// Whether any of the lists needs to be built again.
      [[nodiscard]] bool has_left(std::vector<cell_list<T, Dim>> const& then) const
      {
        bool any = false;
        for (std::size_t s = 0; s < then.size(); ++s)
        {
          auto const x_now = of.targets.alone[s].view();
          any |= of.one_set ? then[s].needs_rebuild(x_now)
                            : then[s].needs_rebuild(x_now, of.sources.alone[s].view());
        }
        return any;
      }

      /// By up to `step` cutoffs along each axis.
      void move(double step)
      {
        for (auto* const set : {&of.targets, &of.sources})
          for (std::size_t s = 0; s < set->alone.size(); ++s)
            for (index_type k = 0; k < set->alone[s].size(); ++k)
              for (int a = 0; a < Dim; ++a)
              {
                T& at = set->alone[s].columns[a][k];
                at = static_cast<T>(double(at) + step * of.cutoff(s) * random.uniform(-1, 1));
                set->x.columns[a][set->index(s, k)] = at;
              }
        x.write(of.targets.x);
        y.write(of.sources.x);
      }

      void expect_rows(given_rows const& rows, pairs which) const
      {
        auto const found = rows.to_host();
        auto const& sources = of.one_set ? of.targets : of.sources;
        index_type longest = 0;
        for (std::size_t s = 0; s < of.targets.alone.size() && !testing::Test::HasFailure(); ++s)
        {
          SCOPED_TRACE(testing::Message() << "system " << s);
          auto const expected = radius_search(simd, of.list(s), to_table{which, rows.width});
          for (index_type k = 0; k < expected.size(); ++k)
          {
            index_type const i = of.targets.index(s, k);
            longest = std::max(longest, expected.counts[k]);
            ASSERT_EQ(found.counts[i], expected.counts[k]) << "point " << i;
            std::vector<index_type> row;
            for (index_type const j : expected.row(k)) row.push_back(sources.index(s, j));
            ASSERT_THAT(found.row(i), testing::ElementsAreArray(row)) << "point " << i;
          }
        }
        EXPECT_EQ(found.longest, longest > rows.width ? longest : 0);
      }

    private:
      static batch<T, Dim> made(std::uint64_t seed, std::size_t n_systems, double skin)
      {
        batch<T, Dim> of(seed, n_systems, 900 / (1 + n_systems));
        if (of.cutoffs.size() > 0) of.options.skin = skin * of.cutoffs[0];
        return of;
      }
    };

    template <class Kind>
    class graphs_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(graphs_gpu, batch_kinds);

    // points of few cells may come to need many
    constexpr double enough = 64;

    template <class T, int Dim>
    void check_rebuilds(std::uint64_t seed, std::size_t n_systems)
    {
      moving_batch<T, Dim> of(seed, n_systems);
      auto& cells = *of.cells;
      cells.fix_capacity(enough);
      std::size_t const n = of.of.targets.x.size();
      pairs const which = of.of.one_set && seed % 2 == 0 ? pairs::half : pairs::full;
      given_rows rows(n, 1 + seed % 12, of.stream), counts(n, 0, of.stream);
      graph step(of.stream,
                 [&]
                 {
                   of.rebuild(cells);
                   radius_search(of.where, cells, rows.sink(which));
                   radius_search(of.where, cells, counts.sink(which));
                 });
      for (int k = 0; k < 10 && !testing::Test::HasFailure(); ++k)
      {
        SCOPED_TRACE(testing::Message() << "step " << k);
        of.move(k % 3 == 2 ? 0.1 : 0.02);
        step.run();
        cells.check_capacity();
        of.expect_rows(rows, which);
        EXPECT_EQ(counts.to_host().counts, rows.to_host().counts);
      }
      if (n_systems > 1) return;
      // searches that wait
      auto const list = of.of.list(0);
      for (image_columns const images : {image_columns::none, image_columns::counters})
      {
        to_coo const pairs_of{which, false, true, true, images};
        expect_same(radius_search(of.where, cells, pairs_of).to_host(),
                    radius_search(simd, list, pairs_of));
        to_csr const rows_of{which, seed % 3 == 0, false, true, images};
        expect_same(radius_search(of.where, cells, rows_of).to_host(),
                    radius_search(simd, list, rows_of));
      }
      EXPECT_EQ(cells.grid().cells, list.grid().cells);
      EXPECT_EQ(cells.grid().inverse_width, list.grid().inverse_width);
    }
  }

  TYPED_TEST(graphs_gpu, rebuild_and_search_a_list)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(100) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "list " << seed);
      check_rebuilds<typename TypeParam::real, TypeParam::dim>(seed, 1);
    }
  }

  TYPED_TEST(graphs_gpu, rebuild_and_search_systems)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(50) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "batch " << seed);
      check_rebuilds<typename TypeParam::real, TypeParam::dim>(seed, 2 + seed % 30);
    }
  }

  // those of another list, without a graph
  TYPED_TEST(graphs_gpu, rebuild_and_write_lists_with_images)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "list " << seed);
      moving_batch<T, dim> of(seed, seed % 2 == 0 ? 1 : 2 + seed % 9);
      auto& cells = *of.cells;
      cells.fix_capacity(enough);
      pairs const which = of.of.one_set && seed % 3 == 0 ? pairs::half : pairs::full;
      std::array const orders{pair_order::cells, pair_order::rows, pair_order::sorted};
      pair_order const order = orders[seed % (which == pairs::half ? 2 : 3)];
      std::size_t const room = seed % 5 == 0 ? 300 : 200'000;
      device_array<index_type> i(room, of.stream), j(room, of.stream);
      device_columns<T, dim> d(room, of.stream);
      device_columns<std::int32_t, dim> images(room, of.stream);
      device_array<std::uint64_t> number(1, of.stream);
      to_arrays<T, dim> what{.which = which, .order = order};
      what.i = soa<index_type, 1>({i.data()}, room);
      what.j = soa<index_type, 1>({j.data()}, room);
      what.images = images.view();
      if (seed % 4 == 3) what.displacements = d.view();
      graph step(of.stream,
                 [&]
                 {
                   of.rebuild(cells);
                   radius_search(of.where, cells, what, number.data());
                 });
      for (int k = 0; k < 5 && !this->HasFailure(); ++k)
      {
        SCOPED_TRACE(testing::Message() << "step " << k);
        of.move(0.02);
        step.run();
        cells.check_capacity();
        std::optional<cuda_cell_list<T, dim>> other;
        of.emplace(other);
        auto const all = radius_search(of.where, *other,
                                       to_coo{which, order == pair_order::sorted, false, true,
                                              image_columns::counters})
                             .to_host();
        ASSERT_EQ(on_host(number.data(), of.stream), all.size());
        // sorted lists that do not fit end within a row
        if (all.size() > room && order == pair_order::sorted) continue;
        std::size_t const n = std::min(room, all.size());
        std::vector<std::size_t> places(all.size());
        std::iota(places.begin(), places.end(), std::size_t(0));
        if (order == pair_order::rows)
          std::ranges::stable_sort(places, {}, [&](std::size_t p) { return all.i[p]; });
        std::vector<index_type> found_i(room), found_j(room);
        i.copy_to(found_i);
        j.copy_to(found_j);
        points<T, dim> found_d;
        std::array<std::vector<std::int32_t>, dim> found_images;
        for (int a = 0; a < dim; ++a)
        {
          found_d.columns[a].resize(room);
          found_images[a].resize(room);
          detail::device_copy(found_d.columns[a].data(), d.view()[a], room * sizeof(T), of.stream);
          detail::device_copy(found_images[a].data(), images.view()[a], room * sizeof(std::int32_t),
                              of.stream);
        }
        for (std::size_t p = 0; p < n; ++p)
        {
          std::size_t const from = places[p];
          ASSERT_EQ(found_i[p], all.i[from]) << "pair " << p;
          ASSERT_EQ(found_j[p], all.j[from]) << "pair " << p;
          for (int a = 0; a < dim; ++a)
          {
            ASSERT_EQ(found_images[a][p], all.images[a][from]) << "pair " << p;
            if (seed % 4 == 3)
            {
              ASSERT_EQ(found_d.columns[a][p], all.displacements[a][from]) << "pair " << p;
            }
          }
        }
      }
    }
  }

  // as another list does without a graph
  TYPED_TEST(graphs_gpu, update_a_list_with_a_skin)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    std::uint64_t stayed = 0;
    for (std::uint64_t seed = 0; seed < number_of_cells(60) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "list " << seed);
      moving_batch<T, dim> of(seed, seed % 2 == 0 ? 1 : 2 + seed % 9, 0.5);
      std::optional<cuda_cell_list<T, dim>> other;
      of.emplace(other);
      auto& cells = *of.cells;
      cells.fix_capacity(enough);
      given_rows rows(of.of.targets.x.size(), 12, of.stream);
      std::uint32_t const* needs = nullptr;
      std::vector<cell_list<T, dim>> then;
      graph update(of.stream,
                   [&]
                   {
                     needs = of.needs_rebuild(cells);
                     of.update(cells);
                     radius_search(of.where, cells, rows.sink(pairs::full));
                   });
      graph rebuild(of.stream,
                    [&]
                    {
                      of.rebuild(cells);
                      radius_search(of.where, cells, rows.sink(pairs::full));
                    });
      for (int k = 0; k < 12 && !this->HasFailure(); ++k)
      {
        SCOPED_TRACE(testing::Message() << "step " << k);
        of.move(0.01);
        if (k % 4 == 0)
        {
          rebuild.run();
          of.rebuild(*other);
          then = of.lists();
        }
        else
        {
          update.run();
          of.update(*other);
          bool const has_left = of.has_left(then); // rounding moves points far away by more
          EXPECT_EQ(on_host(needs, of.stream), has_left ? 1u : 0u);
          stayed += has_left ? 0 : 1;
        }
        cells.check_capacity();
        auto const found = rows.to_host();
        auto const expected =
            radius_search(of.where, *other, to_table{pairs::full, rows.width}).to_host();
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
          ASSERT_EQ(found.counts[i], expected.counts[i]) << "point " << i;
          ASSERT_THAT(found.row(i), testing::ElementsAreArray(expected.row(i))) << "point " << i;
        }
        if (k % 4 == 0) of.expect_rows(rows, pairs::full);
      }
      of.move(2);
      update.run();
      EXPECT_EQ(on_host(needs, of.stream), of.has_left(then) ? 1u : 0u);
    }
    EXPECT_GE(stayed, number_of_cells(60));
  }

  // whichever was captured last
  TYPED_TEST(graphs_gpu, leave_their_points_to_searches_outside)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (std::uint64_t seed = 0; seed < number_of_cells(30) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "list " << seed);
      moving_batch<T, dim> of(seed, seed % 2 == 0 ? 1 : 2 + seed % 9, 0.5);
      auto& cells = *of.cells;
      cells.fix_capacity(enough);
      given_rows rows(of.of.targets.x.size(), 12, of.stream);
      auto const search = [&]
      {
        radius_search(of.where, cells, rows.sink(pairs::full));
      };
      std::optional<graph> update, rebuild;
      auto const capture = [&](bool update_last)
      {
        if (!update_last) update.emplace(of.stream, [&] { of.update(cells); });
        rebuild.emplace(of.stream, [&] { of.rebuild(cells); });
        if (update_last) update.emplace(of.stream, [&] { of.update(cells); });
      };
      for (bool const update_last : {true, false})
      {
        SCOPED_TRACE(update_last ? "update" : "rebuild");
        capture(update_last);
        of.move(0.02);
        rebuild->run();
        search();
        of.expect_rows(rows, pairs::full);
        // the order of cells that are kept
        std::optional<cuda_cell_list<T, dim>> other;
        of.emplace(other);
        of.move(0.02);
        update->run();
        of.update(*other);
        search();
        auto const found = rows.to_host();
        auto const expected =
            radius_search(of.where, *other, to_table{pairs::full, rows.width}).to_host();
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
          ASSERT_EQ(found.counts[i], expected.counts[i]) << "point " << i;
          ASSERT_THAT(found.row(i), testing::ElementsAreArray(expected.row(i))) << "point " << i;
        }
      }
    }
  }

  TYPED_TEST(graphs_gpu, tell_what_does_not_fit_and_go_on)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    own_stream const stream;
    cuda_backend const where{stream};
    std::size_t const n = 2000;
    auto const given = make_points<T, dim>(cloud::uniform, n);
    given_columns<T, dim> x(given, stream);
    T const cutoff = T(0.1);
    cuda_cell_list<T, dim> cells(where, x.view(), cutoff);
    EXPECT_EQ(cells.found(), nullptr);
    cells.fix_capacity(1);
    given_rows rows(n, 64, stream);
    graph step(stream,
               [&]
               {
                 cells.rebuild(x.view());
                 radius_search(where, cells, rows.sink(pairs::full));
               });
    auto const expect_list = [&](points<T, dim> const& of)
    {
      x.write(of);
      step.run();
      cell_list<T, dim> const list(of.view(), cutoff);
      auto const expected = radius_search(simd, list, to_table{pairs::full, 64});
      EXPECT_THAT(rows.to_host().counts, testing::ElementsAreArray(expected.counts));
      EXPECT_EQ(on_host(cells.found(), stream).fits, 1u);
      EXPECT_EQ(on_host(cells.found(), stream).bad_system, 1u);
    };
    expect_list(given);
    auto const room = on_host(cells.found(), stream).cells;

    auto wide = given;
    for (auto& column : wide.columns)
      for (T& at : column) at *= 2;
    x.write(wide);
    step.run();
    auto const found = on_host(cells.found(), stream);
    EXPECT_EQ(found.fits, 0u);
    cuda_cell_list<T, dim> exact(where, x.view(), cutoff);
    exact.fix_capacity(1);
    EXPECT_EQ(found.cells, on_host(exact.found(), stream).cells);
    EXPECT_GT(found.cells, room);
    for (index_type const count : rows.to_host().counts) EXPECT_EQ(count, 0u);
    auto const needed = std::to_string(found.cells) + " cells", had = std::to_string(room);
    EXPECT_THAT([&] { cells.check_capacity(); }, complains_of(needed, had, "larger factor"));
    EXPECT_THAT([&] { static_cast<void>(radius_search(where, cells, to_coo{})); },
                complains_of(needed));
    EXPECT_THAT([&] { static_cast<void>(radius_search(where, cells, count_pairs{})); },
                complains_of(needed));
    expect_list(given);

    auto bad = given;
    bad.columns[1][33] = std::numeric_limits<T>::quiet_NaN();
    x.write(bad);
    step.run();
    EXPECT_EQ(on_host(cells.found(), stream).fits, 0u);
    EXPECT_EQ(on_host(cells.found(), stream).bad_system, 0u);
    EXPECT_THAT([&] { cells.check_capacity(); }, complains_of("coordinate 1 of point 33 is nan"));
    for (index_type const count : rows.to_host().counts) EXPECT_EQ(count, 0u);
    expect_list(given);

    // rows that are too short
    given_rows narrow(n, 2, stream);
    radius_search(where, cells, narrow.sink(pairs::full));
    auto const counts = rows.to_host().counts;
    EXPECT_EQ(narrow.to_host().counts, counts);
    EXPECT_EQ(narrow.to_host().longest, *std::max_element(counts.begin(), counts.end()));
  }

  TYPED_TEST(graphs_gpu, refuse_points_that_came_to_be_far)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    own_stream const stream;
    cuda_backend const where{stream};
    auto given = make_points<T, dim>(cloud::uniform, 300);
    given_columns<T, dim> x(given, stream);
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    cuda_cell_list<T, dim> cells(where, x.view(), T(0.1), options);
    cells.fix_capacity();
    auto const expected = radius_search(where, cells, count_pairs{}).total;
    for (T const times : {T(127), T(128)})
    {
      auto moved = given;
      moved.columns[0][7] += times;
      x.write(moved);
      cells.rebuild(x.view());
      if (times == T(127))
        EXPECT_NEAR(double(radius_search(where, cells, count_pairs{}).total), double(expected), 2);
      else
        EXPECT_THAT([&] { cells.check_capacity(); }, complains_of("more boxes away"));
      EXPECT_EQ(on_host(cells.found(), stream).is_far, times == T(127) ? 0u : 1u);
    }
  }

  TYPED_TEST(graphs_gpu, refuse_other_sizes_until_the_capacity_ends)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const given = make_points<T, dim>(cloud::uniform, 300);
    auto const fewer = make_points<T, dim>(cloud::uniform, 299);
    device_columns<T, dim> const x(given.view()), y(fewer.view());
    cuda_cell_list<T, dim> cells(cuda, x.view(), T(0.1));
    for (double const factor : {0.99, -1., std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity()})
      EXPECT_THAT([&] { cells.fix_capacity(factor); }, complains_of("fix_capacity", "1 or more"));
    EXPECT_EQ(cells.found(), nullptr);
    auto const expected = radius_search(cuda, cells, count_pairs{}).total;
    cells.fix_capacity();
    EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total, expected);
    EXPECT_THAT([&] { cells.rebuild(y.view()); }, complains_of("fixed for 300", "299"));
    EXPECT_THAT([&] { cells.rebuild(x.view(), x.view()); }, complains_of("fixed for 300"));
    EXPECT_THAT([&] { cells.update(x.view(), cell<dim>()); }, complains_of("boxes are fixed"));
    EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total, expected);
    cells.fix_capacity(3);
    EXPECT_EQ(cells.n_systems(), 1u);
    EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total, expected);
    EXPECT_THAT(([&] { radius_search(cuda, cells, to_rows{}); }), complains_of("to_rows: .counts"));
    cells.rebuild(y.view(), T(0.1));
    EXPECT_EQ(cells.found(), nullptr);
    EXPECT_EQ(cells.n_targets(), 299u);
    cells.check_capacity();
    cells.rebuild(x.view());
    EXPECT_EQ(radius_search(cuda, cells, count_pairs{}).total, expected);
  }

  TYPED_TEST(graphs_gpu, leave_out_pairs_that_do_not_count)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    own_stream const stream;
    cuda_backend const where{stream};
    std::size_t const n = 1000;
    auto given = make_points<T, dim>(cloud::uniform, n);
    given_columns<T, dim> x(given, stream);
    cuda_cell_list<T, dim> cells(where, x.view(), T(0.2));
    cells.fix_capacity();
    std::vector<index_type> types(n);
    for (std::size_t i = 0; i < n; ++i) types[i] = i % 2;
    std::vector<T> const cutoffs{T(0.2), T(0.1), T(0.1), T(0)};
    pair_filter<T> const which{.types = types, .type_cutoffs = cutoffs};
    cuda_filtered const some(cells, which);
    given_rows rows(n, 40, stream);
    graph step(stream,
               [&]
               {
                 cells.rebuild(x.view());
                 radius_search(where, some, rows.sink(pairs::full));
               });
    for (int k = 0; k < 3; ++k)
    {
      for (T& at : given.columns[k % dim]) at *= T(0.9);
      x.write(given);
      step.run();
      cell_list<T, dim> const list(given.view(), T(0.2));
      auto const expected =
          radius_search(simd, filtered(list, which), to_table{pairs::full, rows.width});
      auto const found = rows.to_host();
      for (std::size_t i = 0; i < n; ++i)
      {
        ASSERT_EQ(found.counts[i], expected.counts[i]) << "point " << i;
        ASSERT_THAT(found.row(i), testing::ElementsAreArray(expected.row(i))) << "point " << i;
      }
    }
  }

  TYPED_TEST(graphs_gpu, need_a_rebuild_where_points_came_to_be_far)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    own_stream const stream;
    cuda_backend const where{stream};
    auto given = make_points<T, dim>(cloud::uniform, 300);
    given_columns<T, dim> x(given, stream);
    cell_list_options<T, dim> options;
    options.period.fill(T(1));
    options.skin = 0.05;
    cuda_cell_list<T, dim> cells(where, x.view(), T(0.1), options);
    cells.fix_capacity();
    EXPECT_EQ(on_host(cells.needs_rebuild(x.view()), stream), 0u);
    for (T const times : {T(127), T(128)})
    {
      auto moved = given;
      moved.columns[0][7] += times;
      x.write(moved);
      EXPECT_EQ(on_host(cells.needs_rebuild(x.view()), stream), times == T(127) ? 0u : 1u);
    }
  }

  TYPED_TEST(graphs_gpu, take_lists_without_points)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    own_stream const stream;
    cuda_backend const where{stream};
    given_columns<T, dim> const x(points<T, dim>{}, stream);
    cuda_cell_list<T, dim> cells(where, x.view(), T(0.1));
    cells.fix_capacity();
    given_rows rows(0, 4, stream);
    graph step(stream,
               [&]
               {
                 cells.rebuild(x.view());
                 radius_search(where, cells, rows.sink(pairs::full));
               });
    step.run();
    cells.check_capacity();
    EXPECT_EQ(rows.to_host().longest, 0u);
    EXPECT_EQ(radius_search(where, cells, to_coo{}).size(), 0u);
  }

  TEST(within_gpu, takes_lists_without_pairs_on_a_stream)
  {
    own_stream const stream;
    cuda_backend const where{stream};
    points<double, 3> far;
    far.push_back({0, 0, 0});
    far.push_back({9, 0, 0});
    given_columns<double, 3> const x(far, stream);
    cuda_cell_list<double, 3> cells(where, x.view(), 1.);
    auto const rows = radius_search(where, cells, to_csr{.distances = true});
    EXPECT_EQ(within(where, rows, .5).size(), 2u);
    auto const pairs_found = radius_search(where, cells, to_coo{.distances = true});
    EXPECT_EQ(within(where, pairs_found, .5).size(), 0u);
  }
}
