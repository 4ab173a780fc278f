// Parameters of points, in every way that a near field reads points.

#include "backends.hpp"
#include "image_pairs.hpp"
#include "random_cells.hpp"

#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    /// (2 a_i + a_j) (1 - r^2) within r = 1, in both directions.
    template <int Dim>
    struct weighted
    {
      static constexpr int dim = Dim, n_in = 1, n_out = 1, n_parameters = 1, flops = 10;
      static constexpr auto name = "weighted";
      template <class V>
      struct map
      {
        V there, back_there;
        NEARFIELD_FN vec<V, 1> to(vec<V, 1> const& q) const { return {{there * q[0]}}; }
        NEARFIELD_FN vec<V, 1> back(vec<V, 1> const& q) const { return {{back_there * q[0]}}; }
      };
      template <class V>
      NEARFIELD_FN auto operator()(vec<V, dim> const& r, vec<V, 1> const& target,
                                   vec<V, 1> const& source) const -> map<V>
      {
        V const r2 = dot(r, r), value = keep_less(r2, V(1), V(1) - r2);
        return {(target[0] + target[0] + source[0]) * value,
                (source[0] + source[0] + target[0]) * value};
      }
    };

    /// Points with a parameter and three right-hand sides.
    template <class T, int Dim>
    struct weighted_points
    {
      points<T, Dim> x;
      std::vector<T> a;
      std::array<std::vector<T>, 3> q, out;

      weighted_points(random_numbers& random, detail::cell_frame<Dim> const& frame, std::size_t n)
          : x(points_around<T, Dim>(random, frame, T(1), n)), a(n)
      {
        for (T& value : a) value = static_cast<T>(random.uniform(.5, 2));
        for (auto& column : q)
        {
          column.resize(n);
          for (T& value : column) value = static_cast<T>(random.uniform(.5, 1));
        }
        for (auto& column : out) column.resize(n);
      }
      [[nodiscard]] soa<T const, Dim + 1> view() const
      {
        std::array<T const*, Dim + 1> columns;
        for (int d = 0; d < Dim; ++d) columns[d] = x.columns[d].data();
        columns[Dim] = a.data();
        return {columns, a.size()};
      }
    };

    template <class T, int Dim>
    class weighted_sums
    {
    public:
      weighted_sums(cell<Dim> const& box, weighted_points<T, Dim> const& targets,
                    weighted_points<T, Dim> const& sources)
          : pairs_(box, targets.x, sources.x, T(1))
      {
        for (std::size_t side = 0; side < 3; ++side)
        {
          sums_[side].assign(targets.a.size(), 0);
          for (auto const& p : pairs_.full())
          {
            double r2 = 0;
            for (T const d : pairs_.difference(p.i, p.j, p.image)) r2 += double(d) * double(d);
            sums_[side][p.i] += (2 * double(targets.a[p.i]) + double(sources.a[p.j])) * (1 - r2) *
                                double(sources.q[side][p.j]);
          }
          for (double const sum : sums_[side]) largest_ = std::max(largest_, sum);
        }
      }
      void expect(std::array<std::vector<T>, 3> const& out, std::size_t n_sides) const
      {
        double const enough =
            40 * largest_ * (1e-14 + 1e-5 * (sizeof(T) == 4) + 4 * pairs_.rounding());
        for (std::size_t side = 0; side < n_sides; ++side)
          for (std::size_t i = 0; i < sums_[side].size(); ++i)
            EXPECT_NEAR(out[side][i], sums_[side][i], enough) << side << " " << i;
      }

    private:
      image_definition<T, Dim> pairs_;
      std::array<std::vector<double>, 3> sums_;
      double largest_ = 1;
    };

    template <class T, int Dim>
    void expect_weighted(std::uint64_t seed)
    {
      random_numbers random(seed);
      auto const box = random_cell<Dim>(random, 1);
      detail::cell_frame<Dim> const frame(box);
      weighted_points<T, Dim> x(random, frame, 1 + random.below(40)),
          y(random, frame, 1 + random.below(40));
      weighted_sums<T, Dim> const of_one(box, x, x), of_two(box, x, y);
      weighted<Dim> const k;
      cell_list<T, Dim> const one(x.x.view(), 1, {.cell = box});
      cell_list<T, Dim> const two(x.x.view(), y.x.view(), 1, {.cell = box});
      threads pool(2);
      auto const clear = [&]
      {
        for (auto& column : x.out) std::ranges::fill(column, T(-1));
      };
      for (auto const form : {pair_form::one_sided, pair_form::mutual})
        for (tested_backend const& backend : tested_backends())
          backend.run(
              [&](auto where)
              {
                SCOPED_TRACE(testing::Message()
                             << backend.name << (form == pair_form::mutual ? " mutual" : ""));
                soa const q3{x.q[0], x.q[1], x.q[2]}, out3{x.out[0], x.out[1], x.out[2]};
                clear();
                near_field(where, k, one, x.view(), soa{x.q[0]}, soa{x.out[0]}, {.form = form});
                of_one.expect(x.out, 1);
                clear();
                near_field(where, k, one, x.view(), q3, out3, {.form = form});
                of_one.expect(x.out, 3);
                clear();
                near_field(where.with(pool), k, one, x.view(), q3, out3, {.form = form});
                of_one.expect(x.out, 3);
              });
      clear();
      near_field(simd, k, two, x.view(), y.view(), soa{y.q[0]}, soa{x.out[0]});
      of_two.expect(x.out, 1);

      // records, of which q is a column too
      std::vector<T> records;
      std::size_t const n = x.a.size();
      constexpr int width = Dim + 2;
      for (std::size_t i = 0; i < n; ++i)
      {
        for (auto const& column : x.x.columns) records.push_back(column[i]);
        records.push_back(x.a[i]);
        records.push_back(x.q[0][i]);
      }
      std::array<T const*, Dim + 1> columns;
      for (int c = 0; c < Dim + 1; ++c) columns[c] = records.data() + c;
      strided<T const, Dim + 1> const points(soa<T const, Dim + 1>(columns, n), width);
      strided<T const, 1> const q(soa<T const, 1>({records.data() + Dim + 1}, n), width);
      clear();
      near_field(simd, k, one, points, q, soa{x.out[0]}, {.form = pair_form::mutual});
      of_one.expect(x.out, 1);
    }
  }

  TEST(parameters, of_points_are_read_in_boxes_of_any_shape)
  {
    for (std::uint64_t seed = 0; seed < number_of_cells(10); ++seed)
    {
      SCOPED_TRACE(seed);
      expect_weighted<double, 3>(seed);
      expect_weighted<double, 2>(seed);
      expect_weighted<float, 3>(seed);
      if (::testing::Test::HasFailure()) return;
    }
  }
}
