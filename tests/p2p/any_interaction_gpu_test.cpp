// Every built-in interaction by its name on a GPU, against plain sums in long double.

#include "any_interactions.hpp"
#include "complains_of.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    INSTANTIATE_TEST_SUITE_P(all, every_interaction, ::testing::ValuesIn(built_interactions()),
                             &name_of_interaction);

    /// Columns of the host in device memory, where they are exactly as long; copied back at the end.
    template <class T>
    class on_device
    {
    public:
      explicit on_device(run_time_set<T>& set) : set_(set)
      {
        for (auto const& column : set.memory)
          pointers_.push_back(columns_.emplace_back(std::span<T const>(column)).data());
      }
      on_device(on_device const&) = delete;
      on_device& operator=(on_device const&) = delete;
      ~on_device()
      {
        for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].copy_to(set_.memory[c]);
      }
      operator soa<T, run_time_columns>() const // NOLINT(google-explicit-constructor)
      {
        return {pointers_, set_.memory[0].size()};
      }
      [[nodiscard]] soa<T, run_time_columns> view() const { return *this; }

    private:
      run_time_set<T>& set_;
      std::deque<device_array<T>> columns_;
      std::vector<T*> pointers_;
    };

    /// Calls f with views of the sets in device memory, and copies all back.
    template <class F, class... T>
    void on_gpu(F const& f, run_time_set<T>&... sets)
    {
      f(on_device<T>(sets).view()...);
    }

    /// f.operator()<T>() in both precisions.
    template <class F>
    void in_both_precisions(F const& f)
    {
      f.template operator()<float>();
      f.template operator()<double>();
    }

    constexpr std::size_t sizes[] = {7, 40, 150};
  }

  TEST_P(every_interaction, sums_over_all_pairs_of_one_set)
  {
    auto const k = example();
    in_both_precisions(
        [&]<class T>()
        {
          for (std::size_t const n : sizes)
            for (int const n_rhs : {1, 3})
            {
              random_numbers random(n);
              auto x = points_of<T>(k, n, random);
              auto q = values<T>(n_rhs * info().n_in, n, random);
              run_time_set<T> out(n_rhs * info().n_out, n, [](int) { return 0.5; }),
                  mutual(n_rhs * info().n_out, n, [](int) { return 0.5; });
              on_gpu([&](auto const&... views) { p2p_inner(cuda, k, views...); }, x, q, out);
              expect_sums(k, x, x, q, out, true, T(0.5));
              if (!info().has_mutual) continue;
              on_gpu([&](auto const&... views) { p2p_inner_mutual(cuda, k, views...); }, x, q,
                     mutual);
              expect_sums(k, x, x, q, mutual, true, T(0.5));
            }
        });
  }

  TEST_P(every_interaction, sums_over_two_sets_and_back)
  {
    auto const k = example();
    in_both_precisions(
        [&]<class T>()
        {
          for (std::size_t const n : sizes)
          {
            random_numbers random(n);
            auto x = points_of<T>(k, n, random), y = points_of<T>(k, n + 4, random);
            auto x_q = values<T>(info().n_in, n, random),
                 y_q = values<T>(info().n_in, n + 4, random);
            run_time_set<T> out(info().n_out, n, [](int) { return 0; });
            on_gpu([&](auto const&... views) { p2p_outer(cuda, k, views...); }, x, y, y_q, out);
            expect_sums(k, x, y, y_q, out, false, T(0));
            if (!info().has_mutual) continue;
            run_time_set<T> x_out(info().n_out, n, [](int) { return 0; }),
                y_out(info().n_out, n + 4, [](int) { return 0; });
            on_gpu([&](auto const&... views) { p2p_outer_mutual(cuda, k, views...); }, x, y, x_q,
                   y_q, x_out, y_out);
            expect_sums(k, x, y, y_q, x_out, false, T(0));
            expect_sums(k, y, x, x_q, y_out, false, T(0));
          }
        });
  }

  TEST_P(every_interaction, sums_over_a_tree)
  {
    auto const k = example();
    auto const in_dim = [&]<int Dim>(std::integral_constant<int, Dim>)
    {
      in_both_precisions(
          [&]<class T>()
          {
            constexpr std::size_t n = 200;
            random_numbers random(4);
            auto x = points_of<T>(k, n, random);
            auto q = values<T>(info().n_in, n, random);
            for (auto const form : {pair_form::one_sided, pair_form::automatic})
            {
              run_time_set<T> out(info().n_out, n, [](int) { return 1; });
              on_gpu(
                  [&](auto const& points, auto const& inputs, auto const& outputs)
                  {
                    std::array<T const*, Dim> coordinates;
                    for (int d = 0; d < Dim; ++d) coordinates[d] = points[d];
                    // leaves that all touch
                    auto const leaves = build_tree(cuda, soa<T const, Dim>(coordinates, n),
                                                   tree_options<Dim>{.level = 1});
                    near_field(cuda, k, leaves, points, inputs, outputs, {.form = form});
                  },
                  x, q, out);
              expect_sums(k, x, x, q, out, true, T(0));
            }
            constexpr int other = 5 - Dim;
            auto const wider = values<T>(other, n, random);
            std::array<T const*, other> columns;
            std::copy_n(wider.pointers.begin(), other, columns.begin());
            device_columns<T, other> const on_device(soa<T const, other>(columns, n));
            auto const leaves = build_tree(cuda, on_device.view());
            run_time_set<T> out(info().n_out, n, [](int) { return 1; });
            on_gpu(
                [&](auto const& points, auto const& inputs, auto const& outputs)
                {
                  EXPECT_THAT((([&] { near_field(cuda, k, leaves, points, inputs, outputs); })),
                              complains_of(std::string(info().name), std::to_string(other) + "D"));
                },
                x, q, out);
          });
    };
    info().dim == 2 ? in_dim(std::integral_constant<int, 2>())
                    : in_dim(std::integral_constant<int, 3>());
  }
}
