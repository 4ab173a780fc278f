// Every built-in interaction by its name over ranks, with the bits of one rank.

#include "by_name.hpp"
#include "near_field_problem.hpp"

#include "starpu/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace nearfield::test
{
  namespace
  {
    using columns = run_time_set<double>;

    /// Some columns of the points [begin, end).
    struct part
    {
      std::vector<double*> pointers;
      std::size_t n;

      part(columns const& of, std::size_t first_column, std::size_t begin, std::size_t end)
          : pointers(of.pointers.begin() + std::ptrdiff_t(first_column), of.pointers.end()),
            n(end - begin)
      {
        for (double*& column : pointers) column += begin;
      }
      template <int Dim>
      [[nodiscard]] soa<double const, Dim> coordinates() const
      {
        std::array<double const*, Dim> first;
        std::copy_n(pointers.begin(), Dim, first.begin());
        return {first, n};
      }
      [[nodiscard]] soa<double, run_time_columns> view() const { return {pointers, n}; }
    };

    class over_ranks : public ::testing::TestWithParam<std::size_t>
    {
    protected:
      static constexpr std::size_t n = 300;

      [[nodiscard]] interaction_info const& info() const { return interaction_infos()[GetParam()]; }
      /// f(integral_constant<int, Dim>); where ranks have no core each, of some interactions only
      template <class F>
      void in_dim(F const& f) const
      {
        if (GetParam() % static_cast<std::size_t>(at_most(5, 1)) != 0) return;
        info().dim == 2 ? f(std::integral_constant<int, 2>()) : f(std::integral_constant<int, 3>());
      }
      void expect_sums(columns const& out, columns const& expected) const
      {
        for (std::size_t c = 0; c < out.memory.size(); ++c)
        {
          auto const& all = expected.memory[c];
          for (std::size_t i = 0; i < out.memory[c].size(); ++i)
            ASSERT_NEAR(out.memory[c][i], all[begin + i],
                        bits<double>() * std::abs(*std::ranges::max_element(
                                             all, {}, [](double x) { return std::abs(x); })))
                << "output " << c << " of point " << i;
        }
      }

      std::vector<std::size_t> const first = first_points(owners::random, n, GetParam());
      std::size_t const begin = first[static_cast<std::size_t>(rank_of_world())],
                        end = first[static_cast<std::size_t>(rank_of_world()) + 1];
      random_numbers random{GetParam()};
      std::size_t const dim = static_cast<std::size_t>(info().dim);
    };
    INSTANTIATE_TEST_SUITE_P(all, over_ranks, ::testing::ValuesIn(built_interactions()),
                             &name_of_interaction);
  }

  TEST_P(over_ranks, has_the_bits_of_one_rank_also_where_points_move)
  {
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const k = example_of(info());
          auto x = points_of<double>(k, n, random);
          auto const q = values<double>(2 * info().n_in, n, random);
          columns out(2 * info().n_out, end - begin, [](int) { return 99; }),
              expected(2 * info().n_out, n, [](int) { return 0; });
          part const here(x, 0, begin, end), parameters(x, dim, begin, end),
              inputs(q, 0, begin, end);
          tree_options<Dim> options{.max_leaf_size = 12};
          starpu_mpi::distributed_tree<double, Dim> tree(MPI_COMM_WORLD, here.coordinates<Dim>(),
                                                         options,
                                                         {.gpu = runtime_of_rank().first_gpu()});
          options.order = leaf_order::morton;
          starpu_mpi::near_field step{
              runtime_of_rank(),
              k,
              tree,
              parameters.view(),
              inputs.view(),
              out.view(),
              {.form = pair_form::one_sided, .groups = {.leaves_per_group = 7}}};
          for (int time = 0; time < 2; ++time)
          {
            if (time > 0)
            {
              for (double& value : x.memory[0]) value *= -2;
              tree.rebuild(here.coordinates<Dim>(), step.seconds());
              step.positions_changed();
            }
            step.submit();
            step.wait();
            auto const one = build_tree(part(x, 0, 0, n).coordinates<Dim>(), options);
            near_field(simd, k, one, x.view(), q.view(), expected.view());
            expect_sums(out, expected);
          }
        });
  }

  TEST_P(over_ranks, has_the_bits_of_one_rank_with_two_sets)
  {
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const k = example_of(info());
          auto const x = points_of<double>(k, n, random), y = points_of<double>(k, n, random);
          auto const q = values<double>(info().n_in, n, random);
          columns out(info().n_out, end - begin, [](int) { return 99; }),
              expected(info().n_out, n, [](int) { return 0; });
          part const targets(x, 0, begin, end), of_targets(x, dim, begin, end),
              sources(y, 0, begin, end), of_sources(y, dim, begin, end), inputs(q, 0, begin, end);
          tree_options<Dim> options{.max_leaf_size = 12};
          starpu_mpi::distributed_tree<double, Dim> const tree(
              MPI_COMM_WORLD, targets.coordinates<Dim>(), sources.coordinates<Dim>(), options);
          starpu_mpi::near_field step{
              runtime_of_rank(), k,         tree, of_targets.view(), of_sources.view(),
              inputs.view(),     out.view()};
          step.submit();
          step.wait();
          options.order = leaf_order::morton;
          auto const one = build_tree(part(x, 0, 0, n).coordinates<Dim>(),
                                      part(y, 0, 0, n).coordinates<Dim>(), options);
          near_field(simd, k, one, x.view(), y.view(), q.view(), expected.view());
          expect_sums(out, expected);
        });
  }

  TEST_P(over_ranks, refuses_other_columns_and_dimensions_on_all_ranks)
  {
    using testing::HasSubstr;
    in_dim(
        [&]<int Dim>(std::integral_constant<int, Dim>)
        {
          auto const k = example_of(info());
          auto const x = points_of<double>(k, n, random), wider = values<double>(5, n, random);
          auto const q = values<double>(info().n_in, n, random);
          columns out(info().n_out, end - begin, [](int) { return 99; }),
              fewer(info().n_out + 1, end - begin, [](int) { return 99; });
          part const here(x, 0, begin, end), inputs(q, 0, begin, end), other(wider, 0, begin, end);
          starpu_mpi::distributed_tree<double, Dim> const tree(MPI_COMM_WORLD,
                                                               here.coordinates<Dim>());
          starpu_mpi::distributed_tree<double, 5 - Dim> const other_tree(
              MPI_COMM_WORLD, other.coordinates<5 - Dim>());
          auto const make = [&](auto const& over, auto const&... views)
          {
            return message_of(
                [&] { starpu_mpi::near_field const step{runtime_of_rank(), k, over, views...}; });
          };
          if (info().point_parameters.empty())
            EXPECT_THAT(make(tree, inputs.view(), out.view()), HasSubstr("nothing"));
          else
            EXPECT_THAT(make(tree, inputs.view(), out.view()),
                        HasSubstr("parameters have 0 columns, and the interaction reads"));
          EXPECT_THAT(make(tree, other.view(), inputs.view(), out.view()),
                      HasSubstr("parameters have 5 columns, and the interaction reads"));
          EXPECT_THAT(make(tree, part(x, dim, begin, end).view(), inputs.view(), fewer.view()),
                      HasSubstr("of outputs; give"));
          EXPECT_THAT(make(other_tree, inputs.view(), out.view()),
                      HasSubstr("the leaves are in " + std::to_string(5 - Dim) + "D"));
        });
  }
}
