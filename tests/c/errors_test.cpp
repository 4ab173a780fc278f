#include "handles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace nearfield::test;

namespace
{
  class c_errors : public testing::Test
  {
  protected:
    std::vector<double> x{0, 0, 0, 1, 1, 1}, q{1, 2}, out{0, 0};
    nf_columns points = nf_rows(nf_float64, x.data(), 2, 3);
    nf_columns inputs = nf_rows(nf_float64, q.data(), 2, 1);
    nf_columns outputs = nf_rows(nf_float64, out.data(), 2, 1);
    std::unique_ptr<nf_interaction, destroy> k =
        made<nf_interaction>(nf_interaction_create, "one_over_r", 3, 0, nullptr, nullptr);
    std::unique_ptr<nf_cells, destroy> cells =
        made<nf_cells>(nf_cells_create, nullptr, points, nullptr, 2.0, nullptr);

    nf_status create(char const* name, int dim, std::vector<char const*> const& names = {},
                     std::vector<double> const& values = {})
    {
      nf_interaction* made_one = reinterpret_cast<nf_interaction*>(this);
      nf_status const status =
          nf_interaction_create(name, dim, static_cast<std::int32_t>(names.size()), names.data(),
                                values.data(), &made_one);
      EXPECT_EQ(made_one == nullptr, status != nf_ok);
      nf_interaction_destroy(made_one);
      return status;
    }
    nf_status inner(nf_columns const& a, nf_columns const& b, nf_columns const& c,
                    nf_place const* where = nullptr)
    {
      return nf_p2p_inner(where, k.get(), a, b, c);
    }
  };

  TEST_F(c_errors, the_interface_has_a_version)
  {
    EXPECT_EQ(nf_abi_version(), NF_ABI_VERSION);
    EXPECT_THAT(nf_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  }

  TEST_F(c_errors, name_what_there_is)
  {
    expect_failure(create("one_over_rr", 3), nf_invalid_argument, "one_over_rr", "one_over_r",
                   "gaussian");
    expect_failure(create("one_over_r", 7), nf_invalid_argument, "7");
    expect_failure(create("gaussian", 3, {"width"}, {1}), nf_invalid_argument, "width", "sigma");
    expect_failure(create("gaussian", 3, {"sigma"}, {-1}), nf_invalid_argument, "sigma", "-1");
    expect_failure(create("gaussian", 3, {nullptr}, {1}), nf_invalid_argument, "null");
    expect_failure(create(nullptr, 3), nf_invalid_argument, "name is null");
    EXPECT_EQ(create("gaussian", 3, {"sigma"}, {2}), nf_ok);
  }

  TEST_F(c_errors, of_null_pointers)
  {
    expect_failure(nf_p2p_inner(nullptr, nullptr, points, inputs, outputs), nf_invalid_argument,
                   "k is null");
    nf_columns none = points;
    none.first = nullptr;
    expect_failure(inner(none, inputs, outputs), nf_invalid_argument, "x", "null");
    expect_failure(nf_cells_create(nullptr, none, nullptr, 1, nullptr, nullptr),
                   nf_invalid_argument, "cells is null");
    std::int64_t n = 0;
    expect_failure(nf_count_pairs(nullptr, nullptr, nf_full, &n, nullptr), nf_invalid_argument,
                   "cells is null");
    expect_failure(nf_count_pairs(nullptr, cells.get(), nf_full, nullptr, nullptr),
                   nf_invalid_argument, "n_pairs is null");
    expect_failure(nf_find_pairs(nullptr, cells.get(), nullptr, &n), nf_invalid_argument,
                   "to is null");
    expect_failure(nf_leaf_list_create(nullptr, nullptr, nullptr), nf_invalid_argument,
                   "leaves is null");
    expect_failure(
        nf_near_field_of_tree(nullptr, k.get(), nullptr, points, nullptr, inputs, outputs, nullptr),
        nf_invalid_argument, "tree is null");
    expect_failure(nf_pair_list_view(nullptr, nullptr), nf_invalid_argument, "view is null");
    expect_failure(nf_threads_create(0, nullptr), nf_invalid_argument, "threads is null");
    for (auto const destroy_null :
         {+[] { nf_tree_destroy(nullptr); }, +[] { nf_cells_destroy(nullptr); },
          +[]
          {
            nf_interaction_destroy(nullptr);
          }})
      destroy_null();
  }

  TEST_F(c_errors, of_structs_of_another_size)
  {
    nf_place where{};
    expect_failure(inner(points, inputs, outputs, &where), nf_invalid_argument, "where",
                   "size is 0", std::to_string(sizeof where));
    nf_cells_options options{};
    options.size = sizeof options + 8;
    nf_cells* made_ones = nullptr;
    expect_failure(nf_cells_create(nullptr, points, nullptr, 1, &options, &made_ones),
                   nf_invalid_argument, "options", "header");
    EXPECT_EQ(made_ones, nullptr);
    nf_interaction_info info{};
    expect_failure(nf_interaction_info_get(0, &info), nf_invalid_argument, "info", "size");
  }

  TEST_F(c_errors, of_columns_that_do_not_match)
  {
    nf_columns wrong = outputs;
    wrong.real = nf_float32;
    expect_failure(inner(points, inputs, wrong), nf_invalid_argument, "out", "one type");
    wrong.real = 0;
    expect_failure(inner(points, inputs, wrong), nf_invalid_argument, "out", "nf_float32");
    wrong = points;
    wrong.real = 9;
    expect_failure(inner(wrong, inputs, outputs), nf_invalid_argument, "x", "9");
    wrong = inputs;
    wrong.n_points = 1;
    expect_failure(inner(points, wrong, outputs), nf_invalid_argument, "q", "1");
    wrong.n_points = -1;
    expect_failure(inner(points, wrong, outputs), nf_invalid_argument, "n_points is -1");
    wrong = points;
    wrong.n_columns = 2;
    expect_failure(inner(wrong, inputs, outputs), nf_invalid_argument, "2", "columns");
    wrong.n_columns = -3;
    expect_failure(inner(wrong, inputs, outputs), nf_invalid_argument, "n_columns is -3");
    wrong = points;
    wrong.stride = 0;
    expect_failure(inner(wrong, inputs, outputs), nf_invalid_argument, "stride is 0");
    expect_failure(inner(points, inputs, inputs), nf_invalid_argument, "overlap");
    wrong.stride = 3;
    wrong.n_columns = 1;
    nf_cells* made_ones = nullptr;
    expect_failure(nf_cells_create(nullptr, wrong, nullptr, 1, nullptr, &made_ones),
                   nf_invalid_argument, "x has 1 columns");
    EXPECT_THAT(out, testing::Each(0)) << "nothing is written";
  }

  TEST_F(c_errors, of_any_struct_of_another_size)
  {
    auto const tree = made<nf_tree>(nf_tree_create, nullptr, points, nullptr, nullptr);
    auto const list = made<nf_pair_list>(nf_pair_list_create);
    nf_tree* made_tree = nullptr;
    nf_leaf_list* leaves = nullptr;
    std::int64_t n = 0;
    // f(struct) with sizes that a program compiled with another header may give
    auto const refuses = [&]<class Options>(Options options, char const* name, auto const& f)
    {
      for (std::size_t const size : {std::size_t(0), sizeof options - 8, sizeof options + 8})
      {
        options.size = size;
        expect_failure(f(&options), nf_invalid_argument, name, "size is " + std::to_string(size),
                       std::to_string(sizeof options));
      }
    };
    refuses(nf_tree_options{}, "options", [&](auto* options)
            { return nf_tree_create(nullptr, points, nullptr, options, &made_tree); });
    refuses(nf_leaf_list_options{}, "options",
            [&](auto* options) { return nf_leaf_list_create(nullptr, options, &leaves); });
    refuses(nf_tree_info{}, "info", [&](auto* info) { return nf_tree_info_get(tree.get(), info); });
    refuses(nf_near_field_options{}, "options",
            [&](auto* options)
            {
              return nf_near_field_of_tree(nullptr, k.get(), tree.get(), points, nullptr, inputs,
                                           outputs, options);
            });
    refuses(nf_pair_columns{}, "to",
            [&](auto* to) { return nf_find_pairs(nullptr, cells.get(), to, &n); });
    refuses(nf_list_options{}, "options", [&](auto* options)
            { return nf_pair_list_fill(nullptr, cells.get(), options, list.get()); });
    refuses(nf_pair_view{}, "view",
            [&](auto* view) { return nf_pair_list_view(list.get(), view); });
    EXPECT_EQ(made_tree, nullptr);
    EXPECT_EQ(leaves, nullptr);
    EXPECT_THAT(out, testing::Each(0)) << "nothing is written";
  }

  TEST_F(c_errors, of_points_that_are_not_those_of_a_handle)
  {
    auto const tree = made<nf_tree>(nf_tree_create, nullptr, points, nullptr, nullptr);
    auto const over_tree = [&](nf_interaction const* of, nf_columns const& a,
                               nf_columns const* other, nf_columns const& b, nf_columns const& c)
    {
      return nf_near_field_of_tree(nullptr, of, tree.get(), a, other, b, c, nullptr);
    };
    std::vector<double> const many(9);
    nf_columns const three = nf_rows(nf_float64, many.data(), 3, 3),
                     three_inputs = nf_rows(nf_float64, many.data(), 3, 1),
                     flat = nf_rows(nf_float64, x.data(), 2, 2);
    expect_failure(over_tree(k.get(), three, nullptr, three_inputs, outputs), nf_invalid_argument,
                   "x has 3 points");
    expect_failure(over_tree(k.get(), points, nullptr, three_inputs, outputs), nf_invalid_argument,
                   "q has 3 points");
    expect_failure(over_tree(k.get(), points, &points, inputs, outputs), nf_invalid_argument);
    expect_failure(over_tree(k.get(), flat, nullptr, inputs, outputs), nf_invalid_argument, "2");
    auto const in_a_plane =
        made<nf_interaction>(nf_interaction_create, "one_over_r", 2, 0, nullptr, nullptr);
    expect_failure(over_tree(in_a_plane.get(), points, nullptr, inputs, outputs),
                   nf_invalid_argument);
    expect_failure(nf_near_field_of_cells(nullptr, k.get(), cells.get(), three, nullptr,
                                          three_inputs, outputs, nullptr),
                   nf_invalid_argument, "3 points");
    expect_failure(nf_cells_rebuild(cells.get(), flat, nullptr), nf_invalid_argument,
                   "x has 2 columns");
    EXPECT_THAT(out, testing::Each(0)) << "nothing is written";
  }

  TEST_F(c_errors, of_columns_that_no_array_has)
  {
    nf_columns wrong = inputs;
    wrong.n_columns = std::numeric_limits<std::int32_t>::max(); // the pointers would take 16 GiB
    expect_failure(inner(points, wrong, outputs), nf_invalid_argument, "q has 2147483647 columns");
    wrong = outputs;
    wrong.n_points = std::int64_t(1) << 40;
    expect_failure(inner(points, inputs, wrong), nf_invalid_argument, "out has 1099511627776");
    for (std::int64_t const stride : {std::int64_t(0), std::int64_t(-1)})
    {
      wrong = points;
      wrong.stride = stride;
      nf_tree* tree = nullptr;
      expect_failure(nf_tree_create(nullptr, wrong, nullptr, nullptr, &tree), nf_invalid_argument,
                     "stride is " + std::to_string(stride));
      expect_failure(nf_cells_rebuild(cells.get(), wrong, nullptr), nf_invalid_argument,
                     "stride is " + std::to_string(stride));
      wrong = outputs;
      wrong.stride = stride;
      expect_failure(inner(points, inputs, wrong), nf_invalid_argument,
                     "stride is " + std::to_string(stride));
    }
    // outputs on top of each other
    auto const gradient =
        made<nf_interaction>(nf_interaction_create, "grad_one_over_r", 3, 0, nullptr, nullptr);
    std::vector<double> sums(6);
    wrong = nf_rows(nf_float64, sums.data(), 2, 3);
    wrong.column_stride = 0;
    expect_failure(nf_p2p_inner(nullptr, gradient.get(), points, inputs, wrong),
                   nf_invalid_argument, "overlap");
    void* const apart[3] = {sums.data(), nullptr, sums.data() + 2};
    expect_failure(
        nf_p2p_inner(nullptr, gradient.get(), points, inputs, nf_apart(nf_float64, apart, 2, 3)),
        nf_invalid_argument, "column 1 is null");
    EXPECT_THAT(out, testing::Each(0)) << "nothing is written";
    EXPECT_THAT(sums, testing::Each(0)) << "nothing is written";
  }

  TEST_F(c_errors, of_places)
  {
    auto where = options_with_size<nf_place>();
    where.backend = 17;
    expect_failure(inner(points, inputs, outputs, &where), nf_invalid_argument, "17", "nf_simd");
    where.backend = nf_simd;
    where.stream = this;
    expect_failure(inner(points, inputs, outputs, &where), nf_invalid_argument, "stream");
    auto const threads = made<nf_threads>(nf_threads_create, 1);
    where = options_with_size<nf_place>();
    where.backend = nf_cuda;
    where.threads = threads.get();
    expect_failure(inner(points, inputs, outputs, &where), nf_invalid_argument, "threads");
    where.threads = nullptr;
    std::int64_t n = 0;
    expect_failure(nf_count_pairs(&where, cells.get(), nf_full, &n, nullptr), nf_invalid_argument,
                   "cells is in host memory");
    expect_failure(nf_threads_create(-1, nullptr), nf_invalid_argument, "threads is null");
  }

  TEST_F(c_errors, of_a_gpu_that_is_not_there)
  {
    if (nf_has_gpu() != 0) GTEST_SKIP() << "there is a GPU";
    EXPECT_STRNE(nf_last_error(), "");
    auto where = options_with_size<nf_place>();
    where.backend = nf_cuda;
    nf_tree* tree = nullptr;
    expect_failure(nf_tree_create(&where, points, nullptr, nullptr, &tree), nf_not_available);
    expect_failure(inner(points, inputs, outputs, &where), nf_not_available);
  }

  TEST_F(c_errors, of_a_library_without_starpu)
  {
    if (nf_has_starpu() != 0) GTEST_SKIP() << "there is StarPU";
    auto* tasks = reinterpret_cast<nf_p2p_tasks*>(this);
    expect_failure(nf_p2p_tasks_create(k.get(), nf_float64, &tasks), nf_not_available,
                   "NEARFIELD_ENABLE_STARPU");
    EXPECT_EQ(tasks, nullptr);
    auto* step = reinterpret_cast<nf_step*>(this);
    expect_failure(
        nf_step_of_cells(k.get(), cells.get(), points, nullptr, inputs, outputs, nullptr, &step),
        nf_not_available, "StarPU");
    EXPECT_EQ(step, nullptr);
    expect_failure(nf_step_submit(nullptr), nf_not_available, "StarPU");
  }

  TEST_F(c_errors, are_one_line_whatever_a_name_has)
  {
    nf_interaction* made_ones = nullptr;
    expect_failure(nf_interaction_create("two\nlines", 3, 0, nullptr, nullptr, &made_ones),
                   nf_invalid_argument, "two lines");
  }

  TEST_F(c_errors, of_searches)
  {
    std::int64_t n = 0;
    expect_failure(nf_count_pairs(nullptr, cells.get(), 5, &n, nullptr), nf_invalid_argument,
                   "which is 5");
    auto to = options_with_size<nf_pair_columns>();
    to.order = 9;
    expect_failure(nf_find_pairs(nullptr, cells.get(), &to, &n), nf_invalid_argument, "order is 9");
    to.order = nf_by_cell;
    std::int32_t i = 0;
    to.i = &i;
    to.room = 1;
    to.index_bytes = 2;
    expect_failure(nf_find_pairs(nullptr, cells.get(), &to, &n), nf_invalid_argument,
                   "index_bytes is 2");
    to.index_bytes = 4;
    to.index_base = 2;
    expect_failure(nf_find_pairs(nullptr, cells.get(), &to, &n), nf_invalid_argument,
                   "index_base is 2");
    to.index_base = 0;
    for (auto const& [stride, of_columns] : {std::pair(3, 0), std::pair(0, 1), std::pair(1, 1)})
    {
      to.vector_stride = stride;
      to.vector_column_stride = of_columns;
      expect_failure(nf_find_pairs(nullptr, cells.get(), &to, &n), nf_invalid_argument,
                     "vector_stride is " + std::to_string(stride));
    }
    to.vector_stride = to.vector_column_stride = 0;
    to.room = -1;
    expect_failure(nf_find_pairs(nullptr, cells.get(), &to, &n), nf_invalid_argument, "room is -1");
    nf_cells* made_ones = nullptr;
    expect_failure(nf_cells_create(nullptr, points, nullptr, -1, nullptr, &made_ones),
                   nf_invalid_argument, "cutoff is -1");
    x[4] = std::nan("");
    expect_failure(nf_cells_rebuild(cells.get(), points, nullptr), nf_invalid_argument, "nan");

    auto const list = made<nf_pair_list>(nf_pair_list_create);
    auto options = options_with_size<nf_list_options>();
    options.max_bytes = 1;
    expect_failure(nf_pair_list_fill(nullptr, cells.get(), &options, list.get()), nf_out_of_memory);
  }

  TEST_F(c_errors, of_leaves)
  {
    std::vector<std::int64_t> offsets{0, 1, 2}, rows{0, 1, 1}, met{7};
    auto options = options_with_size<nf_leaf_list_options>();
    options.n_leaves = 2;
    nf_leaf_list* leaves = nullptr;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument,
                   "offsets is null");
    options.offsets = offsets.data();
    options.neighbour_offsets = rows.data();
    options.neighbours = met.data();
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument, "7");
    met[0] = -1;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument,
                   "neighbours", "-1");
    met[0] = 1;
    offsets = {0, 2, 1};
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument);
    offsets = {0, 1, 2};
    rows = {0, 2, 1};
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument);
    rows = {0, 1, 1};
    options.n_leaves = -1;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument,
                   "n_leaves is -1");
    options.n_leaves = 2;
    std::int32_t shift_of = 3;
    options.shift_of = &shift_of;
    options.n_shifts = 1;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument,
                   "shifts is null");
    double const shifts[1][3] = {};
    options.shifts = shifts;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument, "3");
    shift_of = 65536;
    expect_failure(nf_leaf_list_create(nullptr, &options, &leaves), nf_invalid_argument, "65536");
    shift_of = 0;
    EXPECT_EQ(leaves, nullptr);
    auto const made_list = made<nf_leaf_list>(nf_leaf_list_create, nullptr, &options);
    auto form = options_with_size<nf_near_field_options>();
    form.form = 4;
    expect_failure(nf_near_field_of_leaves(nullptr, k.get(), made_list.get(), points, nullptr,
                                           inputs, outputs, &form),
                   nf_invalid_argument, "form is 4");
  }

  TEST_F(c_errors, belong_to_their_thread)
  {
    expect_failure(create("mine", 3), nf_invalid_argument, "mine");
    std::thread(
        [&]
        {
          EXPECT_STREQ(nf_last_error(), "");
          expect_failure(create("other", 3), nf_invalid_argument, "other");
        })
        .join();
    EXPECT_THAT(nf_last_error(), testing::HasSubstr("mine"));
    EXPECT_THAT(nf_last_error(), testing::Not(testing::HasSubstr("other")));
  }

  TEST_F(c_errors, of_wrappers_are_kept)
  {
    expect_failure(nf_fail(nf_failure, "a wrapper says so"), nf_failure, "a wrapper says so");
    expect_failure(nf_fail(nf_failure, std::string(10'000, 'x').c_str()), nf_failure, "xxx");
  }
}
