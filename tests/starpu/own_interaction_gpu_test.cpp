// Interactions of a user's own as StarPU tasks on GPUs.

#include "near_field_cases.hpp"
#include "p2p/own_formulas.hpp"

#include <nearfield/p2p/simd.hpp>
#include <nearfield/starpu/p2p.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace
{
  using namespace nearfield;
  using namespace nearfield::test;
  using starpu::handle;
  using testing::Each;
  using testing::Field;
  using testing::HasSubstr;
  using testing::Not;

  template <class T, class K>
  struct own_problem
  {
    points<T, nearfield::detail::point_columns<K>> x = make_points_of<K, T>(cloud::plummer, 3000);
    points<T, K::n_in> q = make_inputs<T, K::n_in>(3000);
    points<T, K::n_out> out = make_columns<T, K::n_out>(3000, T(-7));
    tree<K::dim> leaves = build_tree(coordinates_of<K>(x), {.max_leaf_size = 40});
    leaf_groups<K::dim> groups = group_leaves(leaves, {.leaves_per_group = 20});
  };

  template <class T, class K>
  void expect_steps_on_gpus(K const& k)
  {
    own_problem<T, K> p;
    auto const expected = reference_near_field(k, p.leaves, p.x, p.x, p.q.view());
    for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
    {
      starpu::near_field step{one_runtime(), k, p.groups, p.x.view(), p.q.view(), writable(p.out),
                              {.form = form}};
      step.submit();
      step.wait();
      EXPECT_LE(error_of(writable(p.out), expected), tolerance<T>)
          << K::name << ", form " << int(form);
      EXPECT_THAT(step.statistics(),
                  Each(Field(&starpu::monitor::worker_tasks::implementation, std::string("cuda"))));
    }
  }

  TEST(starpu_own_interaction_on_gpus, with_a_parameter)
  {
    expect_steps_on_gpus<float>(softened{.eps2 = 1e-3});
    expect_steps_on_gpus<double>(softened{.eps2 = 1e-3});
  }

  TEST(starpu_own_interaction_on_gpus, with_several_inputs_and_outputs)
  {
    expect_steps_on_gpus<float>(mixed{});
    expect_steps_on_gpus<double>(mixed{});
  }

  TEST(starpu_own_interaction_on_gpus, with_parameters_of_points)
  {
    expect_steps_on_gpus<double>(dipole{});
    expect_steps_on_gpus<float>(blobs{});
  }

  TEST(starpu_own_interaction_on_gpus, without_has_cuda_stays_on_cpus)
  {
    static_assert(!starpu::has_cuda_codelets<inverse_square>);
    own_problem<double, inverse_square> p;
    starpu::near_field step{one_runtime(), inverse_square{}, p.groups,
                            p.x.view(),    p.q.view(),       writable(p.out)};
    step.submit();
    step.wait();
    EXPECT_LE(error_of(writable(p.out),
                       reference_near_field(inverse_square{}, p.leaves, p.x, p.x, p.q.view())),
              tolerance<double>);
    EXPECT_THAT(step.statistics(), Each(Field(&starpu::monitor::worker_tasks::implementation,
                                              Not(std::string("cuda")))));
    try
    {
      starpu::p2p<inverse_square, double> const p2p(inverse_square{}, {.backend = cuda});
      ADD_FAILURE() << "codelets were made";
    }
    catch (error const& failure)
    {
      EXPECT_THAT(failure.what(), HasSubstr("has_cuda"));
    }
  }

  TEST(starpu_own_interaction_on_gpus, in_a_task_graph_of_ones_own)
  {
    std::size_t const n = 500;
    auto const x = make_points<double, 3>(cloud::uniform, n);
    auto const q = make_inputs<double, 1>(n);
    std::vector<double> packed, charges = q.columns[0], out(n, 0.);
    for (auto const& column : x.columns) packed.insert(packed.end(), column.begin(), column.end());
    softened const k{.eps2 = 0.01};
    {
      auto const hx = handle::of(packed.data(), packed.size());
      auto const hq = handle::of(charges.data(), n), hout = handle::of(out.data(), n);
      starpu::p2p<softened, double> p2p(k, {.backend = cuda});
      p2p.insert_inner({.x = hx, .q = hq, .out = hout});
      p2p.wait();
    }
    EXPECT_LE(error_of(soa{out}, reference(k, x.view(), x.view(), q.view(), other_points)),
              tolerance<double>);
  }
}
