// Handles that do not fit: what is said of them, before there is a task or, of a raw one, when it is waited for.

#include "environment.hpp"
#include "own_graph.hpp"

#include <nearfield/p2p/p2p.hpp>
#include <nearfield/p2p/simd.hpp>
#include <nearfield/starpu/p2p.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using starpu::detail::column_handles;
  using testing::AllOf;
  using testing::HasSubstr;

  template <class Handles>
  concept can_lack_outputs =
      requires(column_handles const& columns) { Handles{.x = columns, .q = columns}; };

  struct own_handles_errors : testing::Test
  {
    own_columns<one_over_r<3>, double> a{50, 1}, b{40, 2};
    starpu::p2p<one_over_r<3>, double> p2p;

    std::string inner(column_handles x, column_handles q, column_handles out)
    {
      return message_of([&] { p2p.insert_inner({.x = x, .q = q, .out = out}); });
    }
    void TearDown() override
    {
      EXPECT_NO_THROW(p2p.wait());
      EXPECT_EQ(a.out.columns[0], std::vector<double>(50, 1.)) << "no task has run";
    }
  };

  TEST_F(own_handles_errors, a_task_without_its_outputs_does_not_compile)
  {
    static_assert(can_lack_outputs<starpu::box_handles::sources>);
    static_assert(!can_lack_outputs<starpu::box_handles>);
  }

  TEST_F(own_handles_errors, columns_of_other_lengths)
  {
    EXPECT_THAT(inner({a.hx[0], a.hx[1], b.hx[2]}, {a.hq[0]}, {a.hout[0]}),
                AllOf(HasSubstr("p2p_inner: the columns of x have 50 and 40 values")));
    EXPECT_THAT(inner(a.hx, {b.hq[0]}, {a.hout[0]}),
                AllOf(HasSubstr("q has 40 values"), HasSubstr("x has 50 points")));
    EXPECT_THAT(inner(a.hx, {a.hq[0]}, {b.hout[0]}), HasSubstr("out has 40 values"));
  }

  TEST_F(own_handles_errors, packed_columns_of_other_lengths)
  {
    std::vector<double> values(149), many(150);
    handle const odd = handle::of(values.data(), 149), x = handle::of(many.data(), 150),
                 q = handle::of(values.data(), 75);
    EXPECT_THAT(inner(odd, a.hq[0], a.hout[0]),
                AllOf(HasSubstr("x has 149 values"), HasSubstr("give 3 for each point")));
    EXPECT_THAT(inner(x, q, a.hout[0]), HasSubstr("q has 75 values"));
  }

  TEST_F(own_handles_errors, another_number_of_right_hand_sides)
  {
    std::vector<double> values(150), two(100);
    handle const x = handle::of(values.data(), 150), q = handle::of(two.data(), 100);
    EXPECT_THAT(inner(x, q, a.hout[0]),
                AllOf(HasSubstr("q has 2 right-hand sides"), HasSubstr("out has 1")));
    handle const y = handle::of(values.data(), 120), out = handle::of(two.data(), 100);
    auto const outer = [&](handle const& of_sources, handle const& of_targets)
    {
      return message_of(
          [&] { p2p.insert_outer({.x = x, .out = of_targets}, {.x = y, .q = of_sources}); });
    };
    EXPECT_THAT(outer(b.hq[0], out),
                AllOf(HasSubstr("the targets have 2"), HasSubstr("the sources 1")));
    handle const many_q = handle::of(values.data(), 80);
    EXPECT_THAT(outer(many_q, a.hout[0]),
                AllOf(HasSubstr("the targets have 1"), HasSubstr("the sources 2")));
    EXPECT_THAT(inner(a.hx, {a.hq[0], a.hq[0]}, {a.hout[0]}), HasSubstr("found 6 buffers"));
    // as many handles as two right-hand sides have, and as one has
    EXPECT_THAT(inner(a.hx, {a.hq[0]}, {a.hout[0], b.hout[0], b.hq[0]}),
                AllOf(HasSubstr("q has 1 handles"), HasSubstr("with 7 in all it takes 2")));
    EXPECT_THAT(inner({a.hx[0], a.hx[1]}, {a.hx[2], a.hq[0]}, a.hout),
                AllOf(HasSubstr("x has 2 handles"), HasSubstr("it takes 3")));
  }

  TEST_F(own_handles_errors, another_precision)
  {
    own_columns<one_over_r<3>, float> f(50);
    EXPECT_THAT(inner(f.hx, f.hq, f.hout),
                AllOf(HasSubstr("x has 50 values of 4 bytes"),
                      HasSubstr("give handles of double, or take p2p<K, float>")));
    std::vector<std::byte> bytes(1204);
    starpu_data_handle_t variable;
    starpu_variable_data_register(&variable, STARPU_MAIN_RAM,
                                  reinterpret_cast<uintptr_t>(bytes.data()), bytes.size());
    EXPECT_THAT(inner(variable, a.hq[0], a.hout[0]), HasSubstr("x has 1204 bytes"));
    starpu_data_unregister(variable);
  }

  TEST_F(own_handles_errors, data_of_another_shape)
  {
    std::vector<double> values(150);
    starpu_data_handle_t matrix;
    starpu_matrix_data_register(&matrix, STARPU_MAIN_RAM,
                                reinterpret_cast<uintptr_t>(values.data()), 50, 50, 3,
                                sizeof(double));
    EXPECT_THAT(inner(matrix, a.hq[0], a.hout[0]), HasSubstr("neither a vector nor a variable"));
    starpu_data_unregister(matrix);
    EXPECT_THAT(inner(nullptr, a.hq[0], a.hout[0]),
                AllOf(HasSubstr("handle 0 "), HasSubstr("is null")));
    EXPECT_THAT(inner(std::vector<handle>(), a.hq[0], a.hout[0]), HasSubstr("found 2 buffers"));
  }

  TEST_F(own_handles_errors, an_output_that_is_an_input)
  {
    EXPECT_THAT(inner(a.hx, {a.hq[0]}, {a.hq[0]}),
                AllOf(HasSubstr("out shares its memory"), HasSubstr("a handle of its own")));
    EXPECT_THAT(inner(a.hx, {a.hq[0]}, {a.hx[1]}), HasSubstr("out shares its memory"));
    EXPECT_THAT(message_of([&] { p2p.insert_outer_mutual(a.box(), a.box()); }),
                HasSubstr("x_out shares its memory"));
  }

  TEST_F(own_handles_errors, an_output_in_the_memory_of_an_input)
  {
    std::vector<double> shared(60);
    handle const q = handle::of(shared.data(), 50), out = handle::of(shared.data() + 10, 50);
    EXPECT_THAT(inner(a.hx, {q}, {out}), HasSubstr("out shares its memory"));
  }

  TEST_F(own_handles_errors, of_a_raw_task_reach_wait)
  {
    auto const raw = [&](starpu_data_handle_t q, starpu_data_access_mode how)
    {
      starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R,
                                       a.hx[1].get(), STARPU_R, a.hx[2].get(), STARPU_R, q, how,
                                       b.hout[0].get(), STARPU_CL_ARGS_NFREE, p2p.argument(),
                                       p2p.argument_size(), 0),
                    "starpu_task_insert");
      return message_of([&] { p2p.wait(); });
    };
    EXPECT_THAT(raw(b.hq[0], STARPU_RW), HasSubstr("p2p_inner: q has 40 values"));
    EXPECT_THAT(raw(a.hq[0], STARPU_RW), HasSubstr("p2p_inner: out has 40 values"));

    own_columns<one_over_r<3>, double> c(50);
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, a.hq[0].get(), STARPU_W,
                                     c.hout[0].get(), STARPU_CL_ARGS_NFREE, p2p.argument(),
                                     p2p.argument_size(), 0),
                  "starpu_task_insert");
    EXPECT_THAT(message_of([&] { p2p.wait(); }), HasSubstr("out is not accessed as STARPU_RW"));

    // StarPU gives the task both buffers
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, c.hout[0].get(), STARPU_RW,
                                     c.hout[0].get(), STARPU_CL_ARGS_NFREE, p2p.argument(),
                                     p2p.argument_size(), 0),
                  "starpu_task_insert");
    EXPECT_THAT(message_of([&] { p2p.wait(); }), HasSubstr("out shares its memory"));
  }

  TEST_F(own_handles_errors, an_argument_of_something_else_reaches_the_runtime)
  {
    int const anything = 3;
    own_columns<one_over_r<3>, double> c(50);
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, a.hq[0].get(), STARPU_RW,
                                     c.hout[0].get(), STARPU_VALUE, &anything, sizeof(anything), 0),
                  "starpu_task_insert");
    EXPECT_THAT(
        message_of([] { one_runtime().wait(); }),
        AllOf(HasSubstr("p2p_inner: the task's argument has"), HasSubstr("STARPU_CL_ARGS_NFREE")));
    for (std::size_t const size : {p2p.argument_size() - 8, p2p.argument_size() + 8})
    {
      starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R,
                                       a.hx[1].get(), STARPU_R, a.hx[2].get(), STARPU_R,
                                       a.hq[0].get(), STARPU_RW, c.hout[0].get(),
                                       STARPU_CL_ARGS_NFREE, p2p.argument(), size, 0),
                    "starpu_task_insert");
      EXPECT_THAT(message_of([] { one_runtime().wait(); }),
                  HasSubstr("the task's argument has " + std::to_string(size) + " bytes"));
    }
  }

  TEST_F(own_handles_errors, an_argument_of_another_interaction_reaches_the_runtime)
  {
    starpu::p2p<gaussian<3>, double> other;
    ASSERT_EQ(other.argument_size(), p2p.argument_size());
    own_columns<one_over_r<3>, double> c(50);
    starpu::check(starpu_task_insert(p2p.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, a.hq[0].get(), STARPU_RW,
                                     c.hout[0].get(), STARPU_CL_ARGS_NFREE, other.argument(),
                                     other.argument_size(), 0),
                  "starpu_task_insert");
    EXPECT_THAT(message_of([] { one_runtime().wait(); }),
                HasSubstr("p2p_inner: the task's argument is not that of a p2p of one_over_r"));
  }

  /// A name that no file may have: StarPU keeps models by it.
  struct odd_name
  {
    static constexpr int dim = 3, n_in = 1, n_out = 1, flops = 9;
    static constexpr auto symmetry = parity::even;
    static constexpr auto name = "1/(r + eps)";
    template <class V>
    NEARFIELD_FN auto operator()(vec<V, 3> const& r) const -> mat<V, 1, 1>
    {
      return {{{nearfield::rsqrt(dot(r, r) + V(0.25))}}};
    }
  };

  /// A raw task cannot guess it.
  struct parameter : odd_name
  {
    explicit parameter(double) {}
  };

  TEST_F(own_handles_errors, an_argument_that_is_missing_reaches_the_runtime)
  {
    starpu::p2p<parameter, double> own(parameter(1), {.backend = scalar});
    starpu::check(starpu_task_insert(own.inner(), STARPU_R, a.hx[0].get(), STARPU_R, a.hx[1].get(),
                                     STARPU_R, a.hx[2].get(), STARPU_R, a.hq[0].get(), STARPU_RW,
                                     a.hout[0].get(), 0),
                  "starpu_task_insert");
    EXPECT_THAT(message_of([] { one_runtime().wait(); }),
                AllOf(HasSubstr("p2p_inner: a task without an argument"),
                      HasSubstr("has parameters; pass those of p2p::argument()")));
  }

  TEST_F(own_handles_errors, an_interaction_without_cuda_kernels)
  {
    EXPECT_THAT(message_of([] { starpu::p2p<odd_name, double>({}, {.backend = {simd, cuda}}); }),
                HasSubstr("backend cuda: the interaction 1/(r + eps) has no CUDA kernels"));
  }

  TEST_F(own_handles_errors, are_none_of_an_odd_name)
  {
    own_columns<one_over_r<3>, double> c(50);
    starpu::p2p<odd_name, double> odd({}, {.backend = scalar});
    odd.insert_inner(c.box());
    EXPECT_NO_THROW(odd.wait());
    std::vector<double> expected(50, 1.);
    p2p_inner(scalar, odd_name{}, c.x.view(), c.q.view(), soa{expected});
    c.hout.clear();
    EXPECT_THAT(c.out.columns[0], testing::Pointwise(testing::DoubleNear(1e-12), expected));
    // with dmda, StarPU writes the model when the program ends, and would abort
  }
}
