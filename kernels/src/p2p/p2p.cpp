#include <nearfield/p2p/p2p.hpp>

#include <nearfield/core/parallel.hpp>
#include <nearfield/p2p/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

    /// A block of targets with one of sources. It is the box itself with itself if they are one block.
    template <class T>
    void run_blocks(p2p_function<T> kernel, void const* k, p2p_job<T> part,
                    source_range const& targets, source_range const& sources)
    {
      index_type const offsets[2] = {targets.begin, targets.end};
      part.box_offsets = offsets;
      part.own = &sources;
      part.own_is_self = part.own_is_self && targets.begin == sources.begin;
      kernel(k, part);
    }

    /// A box with itself: in the first turn each of an even number of blocks meets itself, then in each another one, as
    /// teams of a league do: the last block stays, the others go round. So no two parts write the same, at no cost of
    /// memory, and sums do not depend on the threads.
    template <class T>
    void run_inner_mutual(executor& on, p2p_function<T> kernel, void const* k,
                          p2p_job<T> const& job, int n_blocks)
    {
      auto const meet = [&](int a, int b)
      {
        index_type const n = job.box_offsets[1];
        run_blocks(kernel, k, job, block(n, a, n_blocks), block(n, b, n_blocks));
      };
      int const last = n_blocks - 1;
      on.run(n_blocks, [&](int p) { meet(p, p); });
      for (int turn = 0; turn < last; ++turn)
        on.run(n_blocks / 2,
               [&](int p) { meet((turn + p) % last, p == 0 ? last : (turn + last - p) % last); });
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
                 run_blocks(kernel, k, job, block(job.box_offsets[1], p, n_blocks),
                            block(job.own->end, (p + turn) % n_blocks, n_blocks));
               });
    }
  }

  template <class T>
  void run_box(executor& on, p2p_function<T> kernel, void const* k, p2p_job<T> const& job,
               bool is_mutual)
  {
    double const n = job.box_offsets[1], pairs = n * job.own->end;
    double const most_blocks = std::min({most_mutual_parts, n, double(job.own->end)});
    int const n_blocks = static_cast<int>(
        std::min(most_blocks, pairs / (job.own_is_self ? 2 : 1) / pairs_of_mutual_part));
    if (pairs < least_pairs || (is_mutual && n_blocks < 2)) return kernel(k, job);
    if (!is_mutual)
      run_targets(on, kernel, k, job);
    else if (job.own_is_self)
      run_inner_mutual(on, kernel, k, job, std::max(4, n_blocks / 2 * 2));
    else
      run_outer_mutual(on, kernel, k, job, n_blocks);
  }

  template void run_box(executor&, p2p_function<float>, void const*, p2p_job<float> const&, bool);
  template void run_box(executor&, p2p_function<double>, void const*, p2p_job<double> const&, bool);
}
