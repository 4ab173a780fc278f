#include "handles.hpp"
#include "points.hpp"

#include <nearfield/kernels/builtin.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/p2p.hpp>
#include <nearfield/tree/build_tree.hpp>
#include <nearfield/tree/cell_list.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace nearfield;
using namespace nearfield::test;

namespace
{
  /// Points with a charge each.
  template <class T>
  struct charges
  {
    points<T, 3> x;
    std::vector<T> q;
    c_columns<T const, 3> columns;
    c_columns<T, 1> inputs;

    charges(std::size_t n, std::uint64_t seed)
        : x(make_points<T, 3>(cloud::uniform, n, seed)), q(x.columns[seed % 3]), columns(x.view()),
          inputs(soa{q})
    {}
  };

  /// n_out columns of sums for C++ and for C, which begin with 1.
  template <class T, int N = 4>
  struct sums
  {
    column_set<T, N> cpp, c;
    c_columns<T, N> view;

    explicit sums(std::size_t n) : cpp{filled(n)}, c{cpp}, view(c.view()) {}
    void expect_same() const
    {
      for (int o = 0; o < N; ++o) EXPECT_EQ(c.columns[o], cpp.columns[o]) << "column " << o;
    }

  private:
    static column_set<T, N> filled(std::size_t n)
    {
      column_set<T, N> columns;
      for (auto& column : columns.columns) column.assign(n, 1);
      return columns;
    }
  };

  val_grad_one_over_r<3> const k;

  std::unique_ptr<nf_interaction, destroy> c_kernel()
  {
    return made<nf_interaction>(nf_interaction_create, "val_grad_one_over_r", 3, 0, nullptr,
                                nullptr);
  }

  template <class T>
  class c_sums : public testing::Test
  {};
  using reals = testing::Types<float, double>;
  TYPED_TEST_SUITE(c_sums, reals);

  TYPED_TEST(c_sums, of_arrays_are_those_of_cpp_to_the_bit)
  {
    auto const kernel = c_kernel();
    auto const threads = made<nf_threads>(nf_threads_create, 2);
    auto on_threads = options_with_size<nf_place>(), on_scalar = on_threads;
    on_threads.threads = threads.get();
    on_scalar.backend = nf_scalar;
    nearfield::threads of_cpp(2);
    for (std::size_t const n : {0, 1, 8, 100})
    {
      SCOPED_TRACE(n);
      charges<TypeParam> const a(n, 1), b(n + 3, 2);
      sums<TypeParam> inner(n), mutual(n), outer(n), scalar_sums(n), with_threads(n);

      p2p_inner(simd, k, a.x.view(), soa{a.q}, inner.cpp.view());
      EXPECT_EQ(nf_p2p_inner(nullptr, kernel.get(), a.columns.view, a.inputs.view, inner.view.view),
                nf_ok);
      inner.expect_same();

      p2p_inner_mutual(simd, k, a.x.view(), soa{a.q}, mutual.cpp.view());
      EXPECT_EQ(nf_p2p_inner_mutual(nullptr, kernel.get(), a.columns.view, a.inputs.view,
                                    mutual.view.view),
                nf_ok);
      mutual.expect_same();

      p2p_outer(simd, k, a.x.view(), b.x.view(), soa{b.q}, outer.cpp.view());
      EXPECT_EQ(nf_p2p_outer(nullptr, kernel.get(), a.columns.view, b.columns.view, b.inputs.view,
                             outer.view.view),
                nf_ok);
      outer.expect_same();

      p2p_inner(scalar, k, a.x.view(), soa{a.q}, scalar_sums.cpp.view());
      EXPECT_EQ(nf_p2p_inner(&on_scalar, kernel.get(), a.columns.view, a.inputs.view,
                             scalar_sums.view.view),
                nf_ok);
      scalar_sums.expect_same();

      p2p_inner(simd.with(of_cpp), k, a.x.view(), soa{a.q}, with_threads.cpp.view());
      EXPECT_EQ(nf_p2p_inner(&on_threads, kernel.get(), a.columns.view, a.inputs.view,
                             with_threads.view.view),
                nf_ok);
      with_threads.expect_same();

      sums<TypeParam> there(n), back(n + 3);
      p2p_outer_mutual(simd, k, a.x.view(), b.x.view(), soa{a.q}, soa{b.q}, there.cpp.view(),
                       back.cpp.view());
      EXPECT_EQ(nf_p2p_outer_mutual(nullptr, kernel.get(), a.columns.view, b.columns.view,
                                    a.inputs.view, b.inputs.view, there.view.view, back.view.view),
                nf_ok);
      there.expect_same();
      back.expect_same();
    }
  }

  TYPED_TEST(c_sums, of_strided_arrays_are_those_of_columns)
  {
    charges<TypeParam> const a(50, 1);
    nf_real const real = a.columns.view.real;
    std::vector<TypeParam> rows(3 * 50), block(3 * 50), out(4 * 50, 1);
    for (std::size_t i = 0; i < 50; ++i)
      for (std::size_t c = 0; c < 3; ++c) rows[3 * i + c] = block[50 * c + i] = a.x.columns[c][i];
    sums<TypeParam> expected(50);
    auto const kernel = c_kernel();
    p2p_inner(simd, k, a.x.view(), soa{a.q}, expected.cpp.view());
    EXPECT_EQ(nf_p2p_inner(nullptr, kernel.get(), nf_one_by_one(real, block.data(), 50, 3),
                           a.inputs.view, expected.view.view),
              nf_ok);
    expected.expect_same();
    EXPECT_EQ(nf_p2p_inner(nullptr, kernel.get(), nf_rows(real, rows.data(), 50, 3), a.inputs.view,
                           nf_rows(real, out.data(), 50, 4)),
              nf_ok);
    for (std::size_t i = 0; i < 50; ++i)
      for (int o = 0; o < 4; ++o)
        EXPECT_EQ(out[4 * i + static_cast<std::size_t>(o)], expected.cpp.columns[o][i]);
  }

  TYPED_TEST(c_sums, over_trees_are_those_of_cpp)
  {
    auto const kernel = c_kernel();
    charges<TypeParam> const a(500, 1), b(300, 2);
    auto tree_options = options_with_size<nf_tree_options>();
    tree_options.max_leaf_size = 20;
    auto const tree =
        made<nf_tree>(nf_tree_create, nullptr, a.columns.view, nullptr, &tree_options);
    auto const of_two =
        made<nf_tree>(nf_tree_create, nullptr, a.columns.view, &b.columns.view, &tree_options);
    auto const cpp_tree = build_tree(a.x.view(), {.max_leaf_size = 20});
    auto const cpp_of_two = build_tree(a.x.view(), b.x.view(), {.max_leaf_size = 20});

    auto info = options_with_size<nf_tree_info>();
    ASSERT_EQ(nf_tree_info_get(tree.get(), &info), nf_ok);
    EXPECT_EQ(info.n_leaves, cpp_tree.size());
    EXPECT_EQ(info.depth, cpp_tree.depth());
    EXPECT_EQ(info.n_interactions, static_cast<std::int64_t>(cpp_tree.interaction_count()));
    EXPECT_TRUE(
        std::equal(info.target_order, info.target_order + 500, cpp_tree.target_order().begin()));

    auto options = options_with_size<nf_near_field_options>();
    for (bool const accumulate : {false, true})
      for (pair_form const form : {pair_form::one_sided, pair_form::mutual})
      {
        sums<TypeParam> out(500);
        options.accumulate = accumulate;
        options.form = form == pair_form::mutual ? nf_mutual : nf_one_sided;
        near_field(simd, k, cpp_tree, a.x.view(), soa{a.q}, out.cpp.view(),
                   {.accumulate = accumulate, .form = form});
        ASSERT_EQ(nf_near_field_of_tree(nullptr, kernel.get(), tree.get(), a.columns.view, nullptr,
                                        a.inputs.view, out.view.view, &options),
                  nf_ok);
        out.expect_same();
      }
    sums<TypeParam> out(500);
    near_field(simd, k, cpp_of_two, a.x.view(), b.x.view(), soa{b.q}, out.cpp.view());
    ASSERT_EQ(nf_near_field_of_tree(nullptr, kernel.get(), of_two.get(), a.columns.view,
                                    &b.columns.view, b.inputs.view, out.view.view, nullptr),
              nf_ok);
    out.expect_same();
  }

  TYPED_TEST(c_sums, over_leaves_of_the_caller_are_those_of_cpp)
  {
    charges<TypeParam> const a(90, 1);
    std::vector<std::int64_t> const offsets{0, 30, 60, 90}, rows{0, 1, 3, 4}, met{1, 2, 0, 1};
    std::vector<std::int32_t> const shift_of{0, 1, 0, 0};
    double const shifts[2][3] = {{0, 0, 0}, {1, 0, 0}};
    auto options = options_with_size<nf_leaf_list_options>();
    options.n_leaves = 3;
    options.offsets = offsets.data();
    options.neighbour_offsets = rows.data();
    options.neighbours = met.data();
    options.shift_of = shift_of.data();
    options.n_shifts = 2;
    options.shifts = shifts;
    auto const leaves = made<nf_leaf_list>(nf_leaf_list_create, nullptr, &options);

    std::vector<index_type> const cpp_offsets{0, 30, 60, 90}, cpp_rows{0, 1, 3, 4},
        cpp_met{1, 2, 0, 1};
    std::vector<std::uint16_t> const cpp_shift_of{0, 1, 0, 0};
    std::vector<std::array<double, 3>> const cpp_shifts{{}, {1, 0, 0}};
    leaf_list const expected({cpp_offsets}, {cpp_rows, cpp_met, cpp_shift_of, cpp_shifts});
    sums<TypeParam> out(90);
    near_field(simd, k, expected, a.x.view(), soa{a.q}, out.cpp.view());
    auto const kernel = c_kernel();
    ASSERT_EQ(nf_near_field_of_leaves(nullptr, kernel.get(), leaves.get(), a.columns.view, nullptr,
                                      a.inputs.view, out.view.view, nullptr),
              nf_ok);
    out.expect_same();
  }

  TYPED_TEST(c_sums, over_cells_are_those_of_cpp)
  {
    charges<TypeParam> const a(200, 1);
    auto const cells =
        made<nf_cells>(nf_cells_create, nullptr, a.columns.view, nullptr, 0.2, nullptr);
    sums<TypeParam, 1> out(200);
    // a Gaussian that has ended at the cutoff but for its last digits
    near_field(simd, gaussian<3>{0.02}, cell_list(a.x.view(), 0.2), a.x.view(), soa{a.q},
               out.cpp.view());
    char const* const name = "sigma";
    double const value = 0.02;
    auto const kernel =
        made<nf_interaction>(nf_interaction_create, "gaussian", 3, 1, &name, &value);
    ASSERT_EQ(nf_near_field_of_cells(nullptr, kernel.get(), cells.get(), a.columns.view, nullptr,
                                     a.inputs.view, out.view.view, nullptr),
              nf_ok);
    out.expect_same();
  }

  TEST(c_interactions, are_described)
  {
    ASSERT_GT(nf_interaction_count(), 5);
    bool has_gaussian = false;
    for (std::int32_t i = 0; i < nf_interaction_count(); ++i)
    {
      auto info = options_with_size<nf_interaction_info>();
      ASSERT_EQ(nf_interaction_info_get(i, &info), nf_ok);
      SCOPED_TRACE(info.name);
      for (char const* text :
           {info.name, info.group, info.formula, info.source, info.inputs, info.outputs})
        EXPECT_NE(text, nullptr);
      EXPECT_TRUE(info.dim == 2 || info.dim == 3);
      for (std::int32_t p = 0; p < info.n_parameters; ++p)
      {
        nf_parameter_info parameter{};
        ASSERT_EQ(nf_parameter_info_get(i, p, &parameter), nf_ok);
        EXPECT_STRNE(parameter.name, "");
        has_gaussian |=
            std::string(info.name) == "gaussian" && std::string(parameter.name) == "sigma";
      }
      for (std::int32_t p = 0; p < info.n_point_parameters; ++p)
      {
        nf_parameter_info parameter{};
        ASSERT_EQ(nf_point_parameter_info_get(i, p, &parameter), nf_ok);
        EXPECT_STRNE(parameter.name, "");
        EXPECT_TRUE(parameter.range > 0 || std::string(parameter.name) != "sigma");
      }
      nf_parameter_info none{};
      expect_failure(nf_point_parameter_info_get(i, info.n_point_parameters, &none),
                     nf_invalid_argument, "column is");
      EXPECT_EQ(none.name, nullptr);
      if (info.is_built != 0)
        made<nf_interaction>(nf_interaction_create, info.name, info.dim, 0, nullptr, nullptr);
    }
    EXPECT_TRUE(has_gaussian);
  }

  TEST(c_interaction, says_where_it_ends)
  {
    char const* const name = "h";
    double const h = 0.05;
    auto const density =
        made<nf_interaction>(nf_interaction_create, "sph_density", 3, 1, &name, &h);
    auto const potential =
        made<nf_interaction>(nf_interaction_create, "one_over_r", 3, 0, nullptr, nullptr);
    double cutoff = -1;
    ASSERT_EQ(nf_interaction_cutoff(density.get(), &cutoff), nf_ok);
    EXPECT_EQ(cutoff, 2 * h);
    ASSERT_EQ(nf_interaction_cutoff(potential.get(), &cutoff), nf_ok);
    EXPECT_EQ(cutoff, 0);
  }
}
