#include <nearfield/starpu/pair_slabs.hpp>

#include "environment.hpp"
#include "pair_slab_tasks.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/runtime.hpp>

#include <algorithm>
#include <string>

namespace nearfield::starpu
{
  namespace
  {
    template <class Tasks>
    auto& slab_of(Tasks& tasks, std::size_t s)
    {
      if (s < tasks.slabs.size()) return tasks.slabs[s];
      throw error("pair_slabs: found slab " + std::to_string(s) + ", there are " +
                  std::to_string(tasks.slabs.size()) + "; count from 0");
    }

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
      [[nodiscard]] std::size_t size() const { return starpu_vector_get_nx(data_); }
      V const& operator[](std::size_t k) const { return first_[k]; }

    private:
      starpu_data_handle_t data_;
      V const* first_; ///< known once the data is acquired
    };

    template <class T, int Dim>
    void empty_geometry(nearfield::detail::pair_geometry<T, Dim>& list)
    {
      list.r2.resize(0);
      for (auto& column : list.displacements) column.resize(0);
      for (auto& column : list.images) column.resize(0);
      list.packed_images.resize(0);
    }
  }

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& points, double cutoff,
                                 options_type const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(
            starpu, std::vector<starpu_data_handle_t>(points.begin(), points.end()),
            detail::slab_query<T, Dim>{options, cutoff, true}))
  {}

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& queries,
                                 handles const& points, double cutoff, options_type const& options)
  {
    std::vector<starpu_data_handle_t> both(queries.begin(), queries.end());
    both.insert(both.end(), points.begin(), points.end());
    tasks_ = std::make_unique<detail::pair_slab_tasks<T, Dim>>(
        starpu, both, detail::slab_query<T, Dim>{options, cutoff, false});
  }

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(pair_slabs&&) noexcept = default;
  template <class T, int Dim>
  pair_slabs<T, Dim>& pair_slabs<T, Dim>::operator=(pair_slabs&&) noexcept = default;
  template <class T, int Dim>
  pair_slabs<T, Dim>::~pair_slabs() = default;

  template <class T, int Dim>
  void pair_slabs<T, Dim>::recount()
  {
    tasks_->count();
  }

  template <class T, int Dim>
  std::size_t pair_slabs<T, Dim>::size() const
  {
    return tasks_->slabs.size();
  }

  template <class T, int Dim>
  std::uint64_t pair_slabs<T, Dim>::n_pairs(std::size_t s)
  {
    return tasks_->wait_for_count(slab_of(*tasks_, s));
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
    tasks_->fill();
  }

  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::rows(std::size_t s) const
  {
    return slab_of(*tasks_, s).rows;
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::offsets(std::size_t s) const
  {
    return slab_of(*tasks_, s).offsets;
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::i(std::size_t s) const
  {
    auto const& one = slab_of(*tasks_, s);
    return one.is_filled ? one.i.get() : nullptr;
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::j(std::size_t s) const
  {
    auto const& one = slab_of(*tasks_, s);
    return one.is_filled ? one.j.get() : nullptr;
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::wait()
  {
    detail::check_may_wait("pair_slabs");
    tasks_->wait_for_tasks();
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
      if (!j(s)) continue;
      std::uint64_t const n = n_pairs(s);
      std::copy_n(host_values<index_type>(j(s)).begin(), n, list.j.data() + at);
      if (i(s))
        std::copy_n(host_values<index_type>(i(s)).begin(), n, list.i.data() + at);
      else
      {
        host_values<std::uint64_t> const row(offsets(s));
        host_values<index_type> const points(rows(s));
        for (std::size_t r = 0; r < points.size(); ++r)
          std::fill(list.i.data() + at + row[r], list.i.data() + at + row[r + 1], points[r]);
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
    std::size_t const n = tasks_->slabs.empty() ? 0 : tasks_->slabs.back().last;
    list.offsets.resize(n + 1);
    list.offsets[0] = 0;
    list.columns.resize(n_pairs());
    // calls f(begin, end, point) for all rows of slab s: the row's range in j, and its point
    auto const for_rows = [&](std::size_t s, auto const& f)
    {
      host_values<std::uint64_t> const row(offsets(s));
      host_values<index_type> const points(rows(s));
      for (std::size_t r = 0; r < points.size(); ++r) f(row[r], row[r + 1], points[r]);
    };
    for (std::size_t s = 0; s < size(); ++s)
      for_rows(s, [&](std::uint64_t begin, std::uint64_t end, index_type point)
               { list.offsets[point + std::size_t(1)] = end - begin; });
    for (std::size_t k = 0; k < n; ++k) list.offsets[k + 1] += list.offsets[k];
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
  std::vector<monitor::worker_tasks> pair_slabs<T, Dim>::statistics() const
  {
    std::string_view const names[] = {name_of(selected_isa()), "scalar", "cuda"};
    return tasks_->watch.tasks(names);
  }

  template class pair_slabs<float, 2>;
  template class pair_slabs<float, 3>;
  template class pair_slabs<double, 2>;
  template class pair_slabs<double, 3>;
}
