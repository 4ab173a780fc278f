// Lists with a skin on a GPU: while points move, searches find the pairs of new lists.

#include "complains_of.hpp"
#include "points.hpp"
#include "random_cells.hpp"
#include "search/search_case.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/search/cuda.hpp>
#include <nearfield/search/radius_search.hpp>
#include <nearfield/tree/cell_list.hpp>
#include <nearfield/tree/cuda.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    template <class Kind>
    class skin_gpu : public testing::Test
    {};
    TYPED_TEST_SUITE(skin_gpu, search_kinds);

    /// A pair and its squared distance.
    template <int Dim>
    struct found_pair
    {
      index_type i, j;
      detail::image_counters<Dim> image;
      double r2;

      [[nodiscard]] auto key() const { return std::tie(i, j, image); }
    };

    template <class T, int Dim>
    std::vector<found_pair<Dim>> pairs_of(coo<T, Dim> const& list, pairs which, index_type i_from,
                                          index_type j_from)
    {
      std::vector<found_pair<Dim>> found;
      for (std::size_t p = 0; p < list.i.size(); ++p)
      {
        found_pair<Dim> pair{list.i[p] + i_from, list.j[p] + j_from, {}, double(list.r2[p])};
        for (int a = 0; a < Dim; ++a) pair.image[a] = list.images[a][p];
        // of a pair and its opposite, a half list has the one that its cells say
        if (which == pairs::half &&
            (pair.j < pair.i || (pair.i == pair.j && !detail::is_positive(pair.image))))
        {
          std::swap(pair.i, pair.j);
          for (auto& counter : pair.image) counter = -counter;
        }
        found.push_back(pair);
      }
      std::sort(found.begin(), found.end(),
                [](auto const& a, auto const& b) { return a.key() < b.key(); });
      return found;
    }

    /// The same pairs, but for those at the cutoff, within rounding.
    template <int Dim>
    void expect_same_pairs(std::vector<found_pair<Dim>> const& found,
                           std::vector<found_pair<Dim>> const& expected, double cutoff,
                           double rounding)
    {
      int missing = 0, wrong = 0;
      auto f = found.begin();
      auto const at_cutoff = [&](auto const& pair)
      {
        return std::abs(pair.r2 - cutoff * cutoff) < rounding;
      };
      for (auto const& pair : expected)
      {
        for (; f != found.end() && f->key() < pair.key(); ++f) wrong += !at_cutoff(*f);
        if (f != found.end() && f->key() == pair.key())
        {
          wrong += !(std::abs(f->r2 - pair.r2) < rounding);
          ++f;
        }
        else
          missing += !at_cutoff(pair);
      }
      for (; f != found.end(); ++f) wrong += !at_cutoff(*f);
      EXPECT_EQ(missing, 0) << "of " << expected.size() << " pairs";
      EXPECT_EQ(wrong, 0) << "of " << found.size() << " found";
    }

    /// Points of one or several systems that move in boxes that change.
    template <class T, int Dim>
    struct moving_points
    {
      random_numbers random;
      bool is_batch, one_set;
      double cutoff = 1, step;
      cell_list_options<T, Dim> options;
      std::vector<cell<Dim>> cells;
      points<T, Dim> x, y;
      std::vector<index_type> offsets{0}, query_offsets{0};
      std::vector<double> cutoffs{1};

      moving_points(std::uint64_t seed, std::size_t n_systems)
          : random(seed), is_batch(n_systems > 1), one_set(seed % 3 != 0)
      {
        for (int& k : options.cells_per_cutoff) k = static_cast<int>(random.below(4));
        options.skin = random.uniform(0.05, 0.6);
        options.skin_is = random.below(2) == 0 ? skin_meaning::total : skin_meaning::each;
        step = options.skin * random.uniform(0.02, 0.3);
        for (std::size_t s = 0; s < n_systems; ++s)
        {
          cells.push_back(random_cell<Dim>(random, cutoff));
          detail::cell_frame<Dim> const frame(cells[s]);
          double images = 1;
          for (int a = 0; a < Dim; ++a)
            if (frame.periodic[a]) images *= 1 + 2 * cutoff / frame.thickness[a];
          auto const add = [&](points<T, Dim>& to, std::vector<index_type>& ends)
          {
            std::size_t const n =
                random.below(static_cast<std::size_t>(2 + 60 / std::sqrt(images)));
            for (std::size_t i = 0; i < n; ++i)
            {
              auto at = frame.origin;
              for (int a = 0; a < Dim; ++a)
              {
                double const place =
                    frame.periodic[a] ? random.uniform(-1, 2) : cutoff * random.uniform(-2, 2);
                for (int b = 0; b < Dim; ++b) at[b] += place * frame.vectors[a][b];
              }
              to.push_back(at);
            }
            ends.push_back(static_cast<index_type>(to.size()));
          };
          add(x, one_set ? offsets : query_offsets);
          if (!one_set) add(y, offsets);
        }
        if (!is_batch) options.cell = cells[0];
      }

      void move()
      {
        bool const strained = random.below(3) == 0;
        if (strained)
          for (auto& box : cells)
            for (auto& vector : box.vectors)
              for (double& component : vector) component += step / 10 * random.uniform(-1, 1);
        move(x, one_set ? offsets : query_offsets);
        if (!one_set) move(y, offsets);
      }
      void move(points<T, Dim>& of, std::vector<index_type> const& ends)
      {
        for (std::size_t s = 0; s < cells.size(); ++s)
          for (index_type i = ends[s]; i < ends[s + 1]; ++i)
          {
            std::array<double, Dim> by{};
            for (double& b : by) b = step * random.uniform(-1, 1) / std::sqrt(Dim);
            if (random.below(10) == 0)
              for (int a = 0; a < Dim; ++a)
                if (cells[s].periodic[a])
                {
                  double const times = std::floor(random.uniform(-3, 4));
                  for (int b = 0; b < Dim; ++b) by[b] += times * cells[s].vectors[a][b];
                }
            for (int b = 0; b < Dim; ++b)
              of.columns[b][i] = static_cast<T>(double(of.columns[b][i]) + by[b]);
          }
      }

      [[nodiscard]] systems<Dim> given() const
      {
        return {.offsets = offsets,
                .query_offsets = one_set ? decltype(systems<Dim>::offsets)() : query_offsets,
                .cutoffs = cutoffs,
                .cells = cells,
                .order = {},
                .query_order = {}};
      }
      [[nodiscard]] static points<T, Dim> part(points<T, Dim> const& of, index_type begin,
                                               index_type end)
      {
        points<T, Dim> some;
        for (int a = 0; a < Dim; ++a)
          some.columns[a].assign(of.columns[a].begin() + begin, of.columns[a].begin() + end);
        return some;
      }

      /// Of new lists of the CPU.
      [[nodiscard]] std::vector<found_pair<Dim>> expected(pairs which) const
      {
        std::vector<found_pair<Dim>> all;
        auto now = options;
        now.skin = 0;
        to_coo const what{which, true, true, false, image_columns::counters};
        for (std::size_t s = 0; s < cells.size(); ++s)
        {
          now.cell = cells[s];
          auto const& ends = one_set ? offsets : query_offsets;
          auto const targets = part(x, ends[s], ends[s + 1]);
          auto const sources = one_set ? targets : part(y, offsets[s], offsets[s + 1]);
          auto const list = one_set
                                ? cell_list<T, Dim>(targets.view(), cutoff, now)
                                : cell_list<T, Dim>(targets.view(), sources.view(), cutoff, now);
          auto const found = pairs_of<T, Dim>(radius_search(simd, list, what), which, ends[s],
                                              one_set ? ends[s] : offsets[s]);
          all.insert(all.end(), found.begin(), found.end());
        }
        return all;
      }

      void expect_pairs(cuda_cell_list<T, Dim>& list) const
      {
        double largest = cutoff;
        for (auto const* set : {&x, &y})
          for (auto const& column : set->columns)
            for (T const c : column) largest = std::max(largest, std::abs(double(c)));
        double const rounding =
            64 * double(std::numeric_limits<T>::epsilon()) * cutoff * (cutoff + largest);
        for (pairs const which : {pairs::full, pairs::half})
        {
          if (which == pairs::half && !one_set) continue;
          SCOPED_TRACE(which == pairs::half ? "half" : "full");
          to_coo const what{which, true, true, false, image_columns::counters};
          auto const found = radius_search(cuda, list, what).to_host();
          expect_same_pairs(pairs_of<T, Dim>(found, which, 0, 0), expected(which), cutoff,
                            rounding);
          EXPECT_EQ(radius_search(cuda, list, count_pairs{which}).total, found.i.size());
          auto const rows =
              radius_search(cuda, list, to_csr{which, false, false, false, image_columns::packed})
                  .to_host();
          EXPECT_EQ(rows.columns.size(), found.i.size());
        }
      }
    };

    std::uint32_t on_host(std::uint32_t const* flag)
    {
      std::uint32_t value = 0;
      detail::device_copy(&value, flag, sizeof value, nullptr);
      return value;
    }

    template <class T, int Dim>
    void follow(std::uint64_t seed, std::size_t n_systems, int& n_rebuilt, int& n_kept)
    {
      moving_points<T, Dim> of(seed, n_systems);
      std::optional<device_columns<T, Dim>> x(of.x.view()), y(of.y.view());
      std::optional<cuda_cell_list<T, Dim>> list;
      if (of.is_batch && of.one_set)
        list.emplace(cuda, x->view(), of.given(), of.options);
      else if (of.is_batch)
        list.emplace(cuda, x->view(), y->view(), of.given(), of.options);
      else if (of.one_set)
        list.emplace(cuda, x->view(), T(of.cutoff), of.options);
      else
        list.emplace(cuda, x->view(), y->view(), T(of.cutoff), of.options);
      of.expect_pairs(*list);
      using boxes_now = typename cuda_cell_list<T, Dim>::given_cells;
      for (int step = 0; step < 12 && !testing::Test::HasFailure(); ++step)
      {
        SCOPED_TRACE(testing::Message() << "step " << step);
        of.move();
        x.emplace(of.x.view()); // in other memory
        y.emplace(of.y.view());
        boxes_now const boxes = of.is_batch ? boxes_now(of.cells) : boxes_now(of.cells[0]);
        bool const needs =
            on_host(of.one_set ? list->needs_rebuild(x->view(), boxes)
                               : list->needs_rebuild(x->view(), y->view(), boxes)) != 0;
        bool rebuilt = false;
        if (step % 4 == 3 && !needs)
          of.one_set ? list->update_unchecked(x->view(), boxes)
                     : list->update_unchecked(x->view(), y->view(), boxes);
        else
          rebuilt = of.one_set ? list->update(x->view(), boxes)
                               : list->update(x->view(), y->view(), boxes);
        EXPECT_EQ(rebuilt, needs);
        ++(rebuilt ? n_rebuilt : n_kept);
        of.expect_pairs(*list);
      }
      // in the boxes of now
      of.one_set ? list->rebuild(x->view()) : list->rebuild(x->view(), y->view());
      of.expect_pairs(*list);
    }
  }

  TYPED_TEST(skin_gpu, finds_the_pairs_of_new_lists)
  {
    using T = typename TypeParam::real;
    int rebuilt = 0, kept = 0;
    for (std::uint64_t seed = 0; seed < number_of_cells(100) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "cell " << seed);
      follow<T, TypeParam::dim>(seed, 1, rebuilt, kept);
    }
    EXPECT_GT(rebuilt, 0);
    EXPECT_GT(kept, rebuilt);
  }

  TYPED_TEST(skin_gpu, finds_the_pairs_of_new_lists_in_systems)
  {
    using T = typename TypeParam::real;
    int rebuilt = 0, kept = 0;
    for (std::uint64_t seed = 0; seed < number_of_cells(30) && !this->HasFailure(); ++seed)
    {
      SCOPED_TRACE(testing::Message() << "batch " << seed);
      follow<T, TypeParam::dim>(seed, 2 + seed % 6, rebuilt, kept);
    }
    EXPECT_GT(rebuilt, 0);
    EXPECT_GT(kept, 0);
  }

  TYPED_TEST(skin_gpu, ends_just_beyond_the_limit)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    for (skin_meaning const meaning : {skin_meaning::total, skin_meaning::each})
      for (bool const wrapped : {false, true})
      {
        cell_list_options<T, dim> options;
        options.skin = meaning == skin_meaning::total ? 0.5 : 0.25;
        options.skin_is = meaning;
        options.cell.vectors[0][0] = 4;
        options.cell.periodic[0] = true;
        points<T, dim> x;
        x.push_back({});
        x.push_back({1.5});
        device_columns<T, dim> const then(x.view());
        cuda_cell_list<T, dim> list(cuda, then.view(), T(1.25), options);
        EXPECT_EQ(radius_search(cuda, list, count_pairs{pairs::half}).total, 0u);
        x.columns[0][1] = T(wrapped ? 5.25 : 1.25);
        device_columns<T, dim> const limit(x.view());
        EXPECT_EQ(on_host(list.needs_rebuild(limit.view())), 0u);
        EXPECT_FALSE(list.update(limit.view()));
        EXPECT_EQ(radius_search(cuda, list, count_pairs{pairs::half}).total, 0u); // r2 < R^2
        x.columns[0][1] = std::nextafter(x.columns[0][1], T(0));
        device_columns<T, dim> const beyond(x.view());
        EXPECT_NE(on_host(list.needs_rebuild(beyond.view())), 0u);
        EXPECT_TRUE(list.update(beyond.view()));
        EXPECT_EQ(radius_search(cuda, list, count_pairs{pairs::half}).total, 1u);
      }
  }

  TYPED_TEST(skin_gpu, needs_a_rebuild_where_it_cannot_follow)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto const given = make_points<T, dim>(cloud::uniform, 300);
    device_columns<T, dim> const x(given.view());
    auto const fewer = make_points<T, dim>(cloud::uniform, 299);
    device_columns<T, dim> const y(fewer.view());
    cell_list_options<T, dim> options;
    cuda_cell_list<T, dim> without(cuda, x.view(), T(0.1), options);
    EXPECT_NE(on_host(without.needs_rebuild(x.view())), 0u);
    EXPECT_TRUE(without.update(x.view()));
    options.skin = 0.02;
    options.period.fill(T(1));
    cuda_cell_list<T, dim> list(cuda, x.view(), T(0.1), options);
    EXPECT_FALSE(list.update(x.view()));
    EXPECT_NE(on_host(list.needs_rebuild(y.view())), 0u);
    EXPECT_TRUE(list.update(y.view()));
    EXPECT_EQ(list.n_targets(), 299u);
    EXPECT_TRUE(list.update(y.view(), x.view()));
    EXPECT_FALSE(list.has_one_set());
    auto open = cell<dim>::of_lengths(options.period);
    open.periodic[0] = false;
    EXPECT_TRUE(list.update(y.view(), x.view(), open));
    EXPECT_FALSE(list.grid().wraps[0]);
    EXPECT_FALSE(list.update(y.view(), x.view(), open));
    std::vector<cell<dim>> const boxes(3, open);
    EXPECT_THAT([&] { list.update(y.view(), x.view(), boxes); },
                complains_of("3 boxes for 1 systems"));
  }

  TYPED_TEST(skin_gpu, refuses_what_a_build_refuses_and_changes_nothing)
  {
    using T = typename TypeParam::real;
    constexpr int dim = TypeParam::dim;
    auto given = make_points<T, dim>(cloud::uniform, 300);
    cell_list_options<T, dim> options;
    options.skin = 0.02;
    options.period.fill(T(1));
    device_columns<T, dim> const x(given.view());
    cuda_cell_list<T, dim> list(cuda, x.view(), T(0.1), options);
    EXPECT_FALSE(list.update(x.view()));
    auto const before = radius_search(cuda, list, count_pairs{}).total;
    given.columns[1][33] = std::numeric_limits<T>::quiet_NaN();
    device_columns<T, dim> const bad(given.view());
    EXPECT_THAT([&] { list.update(bad.view()); }, complains_of("coordinate 1 of point 33 is nan"));
    auto flat = cell<dim>::of_lengths(options.period);
    flat.vectors[1] = {};
    EXPECT_THAT([&] { list.update(x.view(), flat); }, complains_of("cell"));
    EXPECT_EQ(radius_search(cuda, list, count_pairs{}).total, before);
    EXPECT_FALSE(list.update(x.view()));
    for (double const skin : {-1., std::numeric_limits<double>::infinity()})
    {
      options.skin = skin;
      EXPECT_THAT([&] { (cuda_cell_list<T, dim>(cuda, x.view(), T(0.1), options)); },
                  complains_of("the skin is"));
    }
  }
}
