// Tasks of the caller's that read a list of pairs where it is. Compiled twice, as pair_slabs_test.cpp is.

#include "pair_consumer.hpp"
#include "pair_slab_checks.hpp"

#include <numeric>

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
                          { sum += pair_hash(i, j, column[i], column[j]); },
                          which});
      return sum;
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
      pair_slabs x_list(one_runtime(), x_cells, x_columns.view(),
                        {.backend = where, .candidates = 50000});
      pair_slabs y_list(one_runtime(), y_cells, y_columns.view(),
                        {.which = pairs::full, .backend = where, .candidates = 10000});
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

  TEST(starpu_pair_slabs_in_a_graph, may_go_before_they_are_filled_or_read)
  {
    auto const x = make_points<double, 3>(cloud::uniform, 2000);
    cell_list<double, 3> const cells(x.view(), 0.1);
    column_handles<double, 3> const columns(x);
    for (backend const where : backends)
    {
      pair_slabs const counted(one_runtime(), cells, columns.view(), {.backend = where});
      pair_slabs filled(one_runtime(), cells, columns.view(), {.backend = where});
      filled.fill();
    }
  }
}
