// Tasks of the caller's that read a list of pairs where it is. Compiled twice, as pair_slabs_test.cpp is.

#include "moving_points.hpp"
#include "pair_consumer.hpp"
#include "pair_slab_checks.hpp"

#include <numeric>
#include <optional>

namespace nearfield::test
{
  namespace
  {
    /// The sums of pair_hash over the slabs of a list, as tasks; read when these have ended.
    template <class T, int Dim>
    class hashes
    {
    public:
      hashes(pair_slabs<T, Dim> const& list, std::vector<std::uint64_t> const& n_pairs,
             starpu_data_handle_t x)
          : sums_(n_pairs.size(), 0)
      {
        for (std::size_t s = 0; s < n_pairs.size(); ++s)
        {
          handles_.push_back(handle::of(&sums_[s], 1));
          if (n_pairs[s] == 0) continue;
          EXPECT_EQ(starpu_task_insert(&pair_consumer<T>::codelet(), STARPU_R, list.i(s), STARPU_R,
                                       list.j(s), STARPU_R, x, STARPU_W, handles_.back().get(), 0),
                    0);
        }
      }

      /// Waits.
      std::uint64_t sum()
      {
        handles_.clear();
        return std::accumulate(sums_.begin(), sums_.end(), std::uint64_t(0));
      }

    private:
      std::vector<std::uint64_t> sums_;
      std::vector<handle> handles_;
    };

    template <class T, int Dim>
    std::vector<std::uint64_t> sizes_of(pair_slabs<T, Dim>& list)
    {
      std::vector<std::uint64_t> sizes;
      for (std::size_t s = 0; s < list.size(); ++s) sizes.push_back(list.n_pairs(s));
      return sizes;
    }

    template <class T, int Dim>
    std::uint64_t expected_hash(cell_list<T, Dim> const& cells, points<T, Dim> const& x,
                                pairs which)
    {
      std::uint64_t sum = 0;
      auto const& column = x.columns[0];
      radius_search(simd, cells,
                    visit{[&](index_type i, index_type j, T)
                          { sum += pair_hash(i, j, column[i], column[j]); }, which});
      return sum;
    }

    /// Steps of a graph whose points only tasks write and read: the host waits for numbers of pairs, and at the end.
    template <class T, int Dim>
    void expect_steps(typename pair_slabs<T, Dim>::options_type const& options, double cutoff,
                      std::size_t n)
    {
      constexpr int n_steps = 5;
      std::vector<handle> columns;
      std::array<starpu_data_handle_t, Dim> x;
      for (int a = 0; a < Dim; ++a) columns.push_back(handle::of_size<T>(n));
      for (int a = 0; a < Dim; ++a) x[a] = columns[static_cast<std::size_t>(a)];
      std::optional<pair_slabs<T, Dim>> list;
      std::vector<hashes<T, Dim>> found;
      std::vector<std::uint64_t> numbers;
      for (int step = 0; step < n_steps; ++step)
      {
        for (int a = 0; a < Dim; ++a) point_mover<T>::insert(x[a], a, step);
        if (list)
          list->recount();
        else
          list.emplace(one_runtime(), x, cutoff, options);
        list->fill();
        auto const sizes = sizes_of(*list);
        numbers.push_back(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t(0)));
        found.emplace_back(*list, sizes, x[0]);
      }
      for (int step = 0; step < n_steps; ++step)
      {
        SCOPED_TRACE("step " + std::to_string(step));
        auto const moved = moved_points<T, Dim>(n, step);
        cell_list<T, Dim> const cells(moved.view(), cutoff, options.grid);
        auto const at = static_cast<std::size_t>(step);
        EXPECT_EQ(numbers[at], radius_search(simd, cells, count_pairs{options.which}).total);
        EXPECT_EQ(found[at].sum(), expected_hash(cells, moved, options.which));
        if (step == n_steps - 1) expect_lists(*list, cells, options.which);
      }
      list->wait();
    }
  }

  // Two lists and what reads them, of two precisions and cutoffs, are submitted before anything is waited for.
  TEST(starpu_pair_slabs_in_a_graph, are_read_by_tasks_where_they_are)
  {
    auto const x = make_points<double, 3>(cloud::plummer, 5000);
    auto const y = make_points<float, 2>(cloud::uniform, 4000);
    cell_list<double, 3> const x_cells(x.view(), 0.05);
    cell_list<float, 2> const y_cells(y.view(), 0.03);
    column_handles<double, 3> const x_columns(x);
    column_handles<float, 2> const y_columns(y);
    for (backend const where : backends)
    {
      pair_slabs<double, 3> x_list(one_runtime(), x_columns.view(), 0.05,
                                   {.backend = where, .slabs = 5});
      pair_slabs<float, 2> y_list(one_runtime(), y_columns.view(), 0.03,
                                  {.which = pairs::full, .backend = where, .slabs = 4});
      auto const x_sizes = sizes_of(x_list), y_sizes = sizes_of(y_list);
      ASSERT_GT(x_sizes.size(), 3u);
      ASSERT_GT(y_sizes.size(), 3u);
      x_list.fill();
      y_list.fill();
      hashes x_hashes(x_list, x_sizes, x_columns.view()[0]);
      hashes y_hashes(y_list, y_sizes, y_columns.view()[0]);
      EXPECT_EQ(x_hashes.sum(), expected_hash(x_cells, x, pairs::half));
      EXPECT_EQ(y_hashes.sum(), expected_hash(y_cells, y, pairs::full));
      x_list.wait();
      y_list.wait();
    }
  }

  TEST(starpu_pair_slabs_in_a_graph, are_of_points_that_tasks_move)
  {
    for (backend const where : backends)
      for (std::size_t const slabs : {0, 1, 6})
      {
        SCOPED_TRACE("backend " + std::to_string(int(where)) + ", slabs " + std::to_string(slabs));
        expect_steps<double, 3>({.backend = where, .slabs = slabs}, 0.1, 1500);
        expect_steps<float, 3>(
            {.grid = {.period = {1, 1, 1}}, .which = pairs::full, .backend = where, .slabs = slabs},
            0.12, 1000);
        expect_steps<float, 2>({.grid = {.period = {1, 0}}, .backend = where, .slabs = slabs}, 0.05,
                               2000);
      }
  }

  // 4 points at one place have 6 pairs, which is all there is room for, and 3 when one of them is elsewhere.
  TEST(starpu_pair_slabs_in_a_graph, have_the_size_of_the_list_when_pairs_come_and_go)
  {
    auto x = make_points<double, 3>(cloud::all_equal, 4);
    double const here = x.columns[0][1];
    cell_list<double, 3> cells(x.view(), 0.1);
    column_handles<double, 3> const columns(x);
    pair_slabs<double, 3> list(one_runtime(), columns.view(), 0.1, {.slabs = 1});
    for (std::uint64_t const n_pairs : {3, 6, 3, 6})
    {
      starpu_data_acquire(columns.view()[0], STARPU_RW);
      x.columns[0][0] = n_pairs == 6 ? here : here + 1;
      starpu_data_release(columns.view()[0]);
      cells.rebuild(x.view());
      list.recount();
      list.fill();
      EXPECT_EQ(list.n_pairs(), n_pairs);
      for (starpu_data_handle_t const data : {list.i(0), list.j(0)})
      {
        EXPECT_EQ(starpu_vector_get_nx(data), n_pairs);
        EXPECT_EQ(values_of<index_type>(data).size(), n_pairs);
      }
      hashes found(list, {n_pairs}, columns.view()[0]);
      EXPECT_EQ(found.sum(), expected_hash(cells, x, pairs::half));
    }
  }

  TEST(starpu_pair_slabs_in_a_graph, may_go_before_they_are_filled_or_read)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 2000);
    column_handles<double, 3> const columns(x);
    for (backend const where : backends)
    {
      pair_slabs<double, 3> const counted(one_runtime(), columns.view(), 0.1, {.backend = where});
      pair_slabs<double, 3> filled(one_runtime(), columns.view(), 0.1, {.backend = where});
      filled.fill();
    }
  }
}
