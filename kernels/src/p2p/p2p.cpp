#include <nearfield/p2p/p2p.hpp>

#include <nearfield/core/parallel.hpp>
#include <nearfield/p2p/near_field.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace nearfield::detail
{
  namespace
  {
    // a thread takes some 10 us to start
    constexpr double least_pairs = 1e5, pairs_of_mutual_part = 1e6, most_mutual_parts = 64;

    /// Block p of n of [0, size).
    source_range block(index_type size, int p, int n)
    {
      auto const at = [&](int i)
      {
        return static_cast<index_type>(std::uint64_t(size) * unsigned(i) / unsigned(n));
      };
      return {at(p), at(p + 1)};
    }

    /// Parts begin at a target where the kernel would begin anew itself, so the bits are those of one thread.
    template <class T>
    void run_targets(executor& on, p2p_function<T> kernel, void const* k, p2p_job<T> const& job)
    {
      index_type const n = job.box_offsets[1];
      auto const blocks = static_cast<int>((n - 1) / targets_at_once + 1);
      int const n_parts = std::min(blocks, 8 * workers_of(on));
      auto const first_of = [&](int p)
      {
        std::int64_t const target = blocks * std::int64_t(p) / n_parts * targets_at_once;
        return static_cast<index_type>(std::min<std::int64_t>(n, target));
      };
      on.run(n_parts,
             [&](int p)
             {
               index_type const offsets[2] = {0, first_of(p + 1)};
               p2p_job<T> part = job;
               part.box_offsets = offsets;
               part.first_target = first_of(p);
               kernel(k, part);
             });
    }

    /// A box with itself: its blocks are the boxes of a near field in which each meets all that follow.
    template <class T>
    void run_inner_mutual(executor& on, p2p_function<T> kernel, void const* k,
                          p2p_job<T> const& job, box_shape const& shape, int n_blocks)
    {
      index_type const n = job.box_offsets[1];
      std::vector<index_type> offsets{0}, range_offsets{0};
      std::vector<source_range> own, ranges;
      for (int p = 0; p < n_blocks; ++p)
      {
        own.push_back(block(n, p, n_blocks));
        offsets.push_back(own.back().end);
        if (p + 1 < n_blocks) ranges.push_back({own.back().end, n});
        range_offsets.push_back(static_cast<index_type>(ranges.size()));
      }
      p2p_strides const strides = job.strides ? *job.strides : p2p_strides{};
      auto const columns = [&](auto const* first, int width, std::ptrdiff_t stride)
      {
        using C = std::remove_pointer_t<std::remove_cvref_t<decltype(*first)>>;
        return any_columns<C>(soa<C, run_time_columns>({first, static_cast<std::size_t>(width)}, n),
                              stride);
      };
      near_field_options options;
      options.accumulate = options.ranges_may_coincide = true;
      list_step<T>{&on, kernel, k, job.tests_for_zero, job.n_rhs, true, options}.run(
          {offsets}, {own, range_offsets, ranges, {}},
          columns(job.target_x, shape.dim, strides.target_x),
          columns(job.target_q, shape.n_in, strides.target_q),
          columns(job.target_out, shape.n_out, strides.target_out));
    }

    /// Two boxes: in each turn every block of targets meets another block of sources, so no two write the same.
    template <class T>
    void run_outer_mutual(executor& on, p2p_function<T> kernel, void const* k,
                          p2p_job<T> const& job, int n_blocks)
    {
      for (int turn = 0; turn < n_blocks; ++turn)
        on.run(n_blocks,
               [&](int p)
               {
                 source_range const targets = block(job.box_offsets[1], p, n_blocks);
                 source_range const sources = block(job.own->end, (p + turn) % n_blocks, n_blocks);
                 index_type const offsets[2] = {targets.begin, targets.end};
                 p2p_job<T> part = job;
                 part.box_offsets = offsets;
                 part.own = &sources;
                 kernel(k, part);
               });
    }
  }

  template <class T>
  void run_box(executor& on, p2p_function<T> kernel, void const* k, p2p_job<T> const& job,
               box_shape const& shape)
  {
    double const n = job.box_offsets[1], pairs = n * job.own->end;
    double const most_blocks = std::min({most_mutual_parts, n, double(job.own->end)});
    int const n_blocks = static_cast<int>(
        std::min(most_blocks, pairs / (job.own_is_self ? 2 : 1) / pairs_of_mutual_part));
    if (pairs < least_pairs || (shape.is_mutual && n_blocks < 2)) return kernel(k, job);
    if (!shape.is_mutual)
      run_targets(on, kernel, k, job);
    else if (job.own_is_self)
      run_inner_mutual(on, kernel, k, job, shape, n_blocks);
    else
      run_outer_mutual(on, kernel, k, job, n_blocks);
  }

  template void run_box(executor&, p2p_function<float>, void const*, p2p_job<float> const&,
                        box_shape const&);
  template void run_box(executor&, p2p_function<double>, void const*, p2p_job<double> const&,
                        box_shape const&);
}
