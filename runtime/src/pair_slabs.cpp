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

    std::vector<starpu_data_handle_t> united(auto const& queries, auto const& points)
    {
      std::vector<starpu_data_handle_t> both(queries.begin(), queries.end());
      both.insert(both.end(), points.begin(), points.end());
      return both;
    }
    std::vector<starpu_data_handle_t> listed(auto const& points)
    {
      return {points.begin(), points.end()};
    }

    template <class Tasks>
    starpu_data_handle_t pairs_of(Tasks& tasks, std::size_t s, std::size_t column)
    {
      auto const& one = slab_of(tasks, s);
      return one.is_filled ? one.pairs[column].get() : nullptr;
    }
    template <class Tasks>
    starpu_data_handle_t pairs_of(Tasks& tasks, std::size_t s, std::size_t first, int axis, int dim)
    {
      if (axis >= 0 && axis < dim)
        return pairs_of(tasks, s, first + static_cast<std::size_t>(axis));
      throw error("pair_slabs: found axis " + std::to_string(axis) + "; give 0 to " +
                  std::to_string(dim - 1));
    }

    /// Copies column `c` of all slabs to `to`, which has room for all pairs, or none if it is not asked for.
    /// ranges(s, f) calls f(begin, end, place) for the pairs [begin, end) of slab s, and their place.
    template <class Tasks, class V, class Ranges>
    void copy_column(Tasks const& tasks, std::size_t c, page_array<V>& to, std::uint64_t total,
                     Ranges const& ranges)
    {
      to.resize(tasks.sizes[c] > 0 ? total : 0);
      for (std::size_t s = 0; s < tasks.slabs.size() && !to.empty(); ++s)
        if (auto const data = pairs_of(tasks, s, c))
        {
          host_values<V> const from(data);
          ranges(s, [&](std::uint64_t begin, std::uint64_t end, std::uint64_t place)
                 { std::copy(from.begin() + begin, from.begin() + end, to.data() + place); });
        }
    }

    template <class Tasks, class T, int Dim, class Ranges>
    void copy_geometry(Tasks const& tasks, nearfield::detail::pair_geometry<T, Dim>& list,
                       std::uint64_t total, Ranges const& ranges)
    {
      using named = detail::pair_column<Dim>;
      copy_column(tasks, named::r2, list.r2, total, ranges);
      for (std::size_t a = 0; a < Dim; ++a)
        copy_column(tasks, named::displacements + a, list.displacements[a], total, ranges);
      for (std::size_t a = 0; a < Dim; ++a)
        copy_column(tasks, named::images + a, list.images[a], total, ranges);
      copy_column(tasks, named::packed_images, list.packed_images, total, ranges);
    }
  }

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& points, double cutoff,
                                 options_type const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(starpu, listed(points), options,
                                                                 cutoff, nullptr))
  {}

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& queries,
                                 handles const& points, double cutoff, options_type const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(starpu, united(queries, points),
                                                                 options, cutoff, nullptr))
  {}

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& points,
                                 systems<Dim> const& batch, options_type const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(starpu, listed(points), options, 0,
                                                                 &batch))
  {}

  template <class T, int Dim>
  pair_slabs<T, Dim>::pair_slabs(runtime const& starpu, handles const& queries,
                                 handles const& points, systems<Dim> const& batch,
                                 options_type const& options)
      : tasks_(std::make_unique<detail::pair_slab_tasks<T, Dim>>(starpu, united(queries, points),
                                                                 options, 0, &batch))
  {}

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
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::i);
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::j(std::size_t s) const
  {
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::j);
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::r2(std::size_t s) const
  {
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::r2);
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::displacements(std::size_t s, int axis) const
  {
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::displacements, axis, Dim);
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::images(std::size_t s, int axis) const
  {
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::images, axis, Dim);
  }
  template <class T, int Dim>
  starpu_data_handle_t pair_slabs<T, Dim>::packed_images(std::size_t s) const
  {
    return pairs_of(*tasks_, s, detail::pair_column<Dim>::packed_images);
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
    using named = detail::pair_column<Dim>;
    fill();
    wait();
    std::vector<std::uint64_t> place{0}; // of the pairs of each slab
    for (std::size_t s = 0; s < size(); ++s) place.push_back(place.back() + n_pairs(s));
    auto const ranges = [&](std::size_t s, auto const& f)
    {
      f(0, place[s + 1] - place[s], place[s]);
    };
    copy_column(*tasks_, named::j, list.j, place.back(), ranges);
    copy_column(*tasks_, named::i, list.i, place.back(), ranges);
    copy_geometry(*tasks_, list, place.back(), ranges);
    if (tasks_->sizes[named::i] > 0) return;
    list.i.resize(place.back());
    for (std::size_t s = 0; s < size(); ++s)
    {
      host_values<std::uint64_t> const row(offsets(s));
      host_values<index_type> const points(rows(s));
      for (std::size_t r = 0; r < points.size(); ++r)
        std::fill(list.i.data() + place[s] + row[r], list.i.data() + place[s] + row[r + 1],
                  points[r]);
    }
  }

  template <class T, int Dim>
  void pair_slabs<T, Dim>::to_host(csr<T, Dim>& list)
  {
    fill();
    wait();
    std::size_t const n = tasks_->slabs.empty() ? 0 : tasks_->slabs.back().last;
    list.offsets.resize(n + 1);
    list.offsets[0] = 0;
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
    auto const ranges = [&](std::size_t s, auto const& f)
    {
      for_rows(s, [&](std::uint64_t begin, std::uint64_t end, index_type point)
               { f(begin, end, list.offsets[point]); });
    };
    copy_column(*tasks_, detail::pair_column<Dim>::j, list.columns, list.offsets[n], ranges);
    copy_geometry(*tasks_, list, list.offsets[n], ranges);
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
