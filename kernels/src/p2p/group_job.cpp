#include "group_job.hpp"

#include "excluded.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace nearfield::detail
{
  template <class T>
  void run_group(p2p_function<T> kernel, void const* k, p2p_job<T> const& common,
                 task_head const& head, task_list_view const& list, group_columns<T> const& of,
                 group_exclusions const& excluded)
  {
    auto const pointers =
        [](auto& to, auto const* from, int n, index_type buffer, std::ptrdiff_t first)
    {
      for (int c = 0; c < n; ++c) to.push_back(from[static_cast<int>(buffer) * n + c] + first);
    };
    std::span<source_set const> const sets(list.sets, head.n_sets);
    p2p_strides const& strides = of.strides;
    std::vector<T const*> target_x, source_x, source_q;
    std::vector<T*> source_out;
    source_x.reserve(sets.size() * static_cast<std::size_t>(of.n_x));
    source_q.reserve(sets.size() * static_cast<std::size_t>(of.n_in));
    if (of.halo) source_out.reserve(sets.size() * static_cast<std::size_t>(of.n_out));
    pointers(target_x, of.x, of.n_x, head.target_buffer, head.target_begin * strides.target_x);
    for (source_set const& set : sets)
    {
      pointers(source_x, of.x, of.n_x, set.allocation, set.begin * strides.source_x);
      pointers(source_q, of.q, of.n_in, set.allocation, set.begin * strides.source_q);
      if (!of.halo) continue;
      // set 0 is the group itself
      bool const is_own = &set == sets.data();
      pointers(source_out, is_own ? of.out : of.halo, of.n_out, 0,
               is_own ? 0 : set.halo * strides.source_out);
    }

    p2p_job<T> job = common;
    static_cast<list_view&>(job) = list;
    job.first_box = 0;
    job.last_box = head.n_boxes;
    job.own_is_self = head.target_buffer < head.n_sources;
    job.target_x = target_x.data();
    job.target_out = of.out;
    job.source_x = source_x.data();
    job.source_q = source_q.data();
    if (of.halo)
    {
      job.target_q = source_q.data();
      job.source_out = source_out.data();
    }
    bool const is_packed =
        strides.target_x == 1 && strides.source_q == 1 && strides.target_out == 1;
    job.strides = is_packed ? nullptr : &strides;
    excluded_pairs without{excluded.rows};
    std::vector<index_type> positions;
    if (excluded.rows)
    {
      without.first_target = excluded.positions[head.target_buffer] + head.target_begin;
      for (source_set const& set : sets)
        positions.push_back(excluded.positions[set.allocation] + set.begin);
      without.sets = positions;
    }
    run_kernel(kernel, k, job, of.halo != nullptr, without);
  }

  template void run_group(p2p_function<float>, void const*, p2p_job<float> const&, task_head const&,
                          task_list_view const&, group_columns<float> const&,
                          group_exclusions const&);
  template void run_group(p2p_function<double>, void const*, p2p_job<double> const&,
                          task_head const&, task_list_view const&, group_columns<double> const&,
                          group_exclusions const&);
}
