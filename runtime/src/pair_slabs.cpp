#include <nearfield/starpu/pair_slabs.hpp>

#include "environment.hpp"
#include "pair_slab_tasks.hpp"

#include <nearfield/starpu/runtime.hpp>

#include <algorithm>

namespace nearfield::starpu
{
  namespace
  {
    /// The values of a handle in host memory. Waits for the task that writes them; releases the handle at the
    /// end of its life.
    template <class V>
    class host_values
    {
    public:
      explicit host_values(starpu_data_handle_t data) : data_(data)
      {
        detail::acquire_to_read(data, STARPU_MAIN_RAM, "pair_slabs");
        first_ = reinterpret_cast<V const*>(starpu_vector_get_local_ptr(data));
      }
      host_values(host_values const&) = delete;
      host_values& operator=(host_values const&) = delete;
      ~host_values() { starpu_data_release(data_); }

      [[nodiscard]] V const* begin() const { return first_; }
      V const& operator[](std::size_t k) const { return first_[k]; }

    private:
      starpu_data_handle_t data_;
      V const* first_; ///< known once the data is acquired
    };

    template <class T, int Dim>
    void empty_geometry(pair_geometry<T, Dim>& list)
    {
      list.r2.resize(0);
      for (auto& column : list.displacements) column.resize(0);
    }
  }

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
                                 std::type_identity_t<handles> const& points,
                                 pair_slab_options const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(
            starpu, cells.view(), std::vector<starpu_data_handle_t>(points.begin(), points.end()),
            options))
  {}

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, cell_list<T, Dim> const& cells,
                                 std::type_identity_t<handles> const& queries,
                                 std::type_identity_t<handles> const& points,
                                 pair_slab_options const& options)
  {
    std::vector<starpu_data_handle_t> both(queries.begin(), queries.end());
    both.insert(both.end(), points.begin(), points.end());
    tasks_ = std::make_unique<detail::pair_slab_tasks<T, Dim>>(starpu, cells.view(), both, options);
  }

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(pair_slabs&&) noexcept = default;
  template <class T, int Dim>
  pair_slabs<T, Dim>& pair_slabs<T, Dim>::operator=(pair_slabs&&) noexcept = default;
  template <class T, int Dim>
  pair_slabs<T, Dim>::~pair_slabs() = default;

  template <class T, int Dim>
  void pair_slabs<T, Dim>::recount(cell_list<T, Dim> const& cells)
  {
    tasks_->count(cells.view());
  }

  template <class T, int Dim>
  std::size_t pair_slabs<T, Dim>::size() const
  {
    return tasks_->slabs.size();
  }

  template <class T, int Dim>
  std::uint64_t pair_slabs<T, Dim>::n_pairs(std::size_t s)
  {
    return tasks_->wait_for_count(s);
  }

  template <class T, int Dim>
  std::uint64_t pair_slabs<T, Dim>::n_pairs()
  {
    tasks_->rethrow(); // without slabs, no n_pairs(s) would throw it
    std::uint64_t sum = 0;
    for (std::size_t s = 0; s < size(); ++s) sum += n_pairs(s);
    return sum;
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::fill()
  {
    detail::check_may_wait("pair_slabs");
    tasks_->rethrow();
    if (tasks_->is_filled) return;
    tasks_->is_filled = true;
    try
    {
      for (std::size_t s = 0; s < size(); ++s) tasks_->make_pairs(s);
    }
    catch (...)
    {
      tasks_->has_failed = true; // some slabs have no pairs
      throw;
    }
  }

  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::rows(std::size_t s) const
  {
    return tasks_->rows[s];
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::offsets(std::size_t s) const
  {
    return tasks_->offsets[s];
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::i(std::size_t s) const
  {
    return tasks_->i[s];
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::j(std::size_t s) const
  {
    return tasks_->j[s];
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::wait()
  {
    for (std::size_t s = 0; s < size(); ++s)
    {
      detail::wait_for_writers(tasks_->offsets[s], "pair_slabs");
      if (tasks_->j[s]) detail::wait_for_writers(tasks_->j[s], "pair_slabs");
    }
    tasks_->rethrow();
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::to_host(coo<T, Dim>& list)
  {
    fill();
    wait();
    empty_geometry(list);
    std::uint64_t const total = n_pairs();
    list.i.resize(total);
    list.j.resize(total);
    std::uint64_t at = 0;
    for (std::size_t s = 0; s < size(); ++s)
    {
      std::uint64_t const n = tasks_->n_pairs[s];
      if (n == 0) continue;
      std::copy_n(host_values<index_type>(j(s)).begin(), n, list.j.data() + at);
      if (i(s))
        std::copy_n(host_values<index_type>(i(s)).begin(), n, list.i.data() + at);
      else
      {
        host_values<std::uint64_t> const row(offsets(s));
        for (index_type p = tasks_->first(s), r = 0; p + r < tasks_->last(s); ++r)
          std::fill(list.i.data() + at + row[r], list.i.data() + at + row[r + 1],
                    tasks_->cells.target_order[p + r]);
      }
      at += n;
    }
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::to_host(csr<T, Dim>& list)
  {
    fill();
    wait();
    empty_geometry(list);
    auto const order = tasks_->cells.target_order;
    list.offsets.resize(order.size() + 1);
    list.offsets[0] = 0;
    list.columns.resize(n_pairs());
    // calls f(begin, end, point) for all rows of slab s: the row's range in j, and its point
    auto const for_rows = [&](std::size_t s, auto const& f)
    {
      host_values<std::uint64_t> const row(offsets(s));
      for (index_type p = tasks_->first(s), r = 0; p + r < tasks_->last(s); ++r)
        f(row[r], row[r + 1], order[p + r]);
    };
    for (std::size_t s = 0; s < size(); ++s)
      for_rows(s, [&](std::uint64_t begin, std::uint64_t end, index_type point)
               { list.offsets[point + std::size_t(1)] = end - begin; });
    for (std::size_t k = 0; k < order.size(); ++k) list.offsets[k + 1] += list.offsets[k];
    for (std::size_t s = 0; s < size(); ++s)
    {
      if (!j(s)) continue;
      host_values<index_type> const found(j(s));
      for_rows(s,
               [&](std::uint64_t begin, std::uint64_t end, index_type point)
               {
                 std::copy(found.begin() + begin, found.begin() + end,
                           list.columns.data() + list.offsets[point]);
               });
    }
  }

  template <class T, int Dim>
  std::vector<worker_tasks> pair_slabs<T, Dim>::statistics() const
  {
    std::string_view const names[] = {name_of(selected_isa()), "scalar", "cuda"};
    return tasks_->watch.tasks(names);
  }

  template class pair_slabs<float, 2>;
  template class pair_slabs<float, 3>;
  template class pair_slabs<double, 2>;
  template class pair_slabs<double, 3>;
}
