#pragma once

#include "lanes.hpp"
#include "segments.hpp"
#include "table.hpp"

/// \file
/// The loop over pairs: a block of targets of one box against the segments that the box meets, a register
/// of sources at a time. The tests are those of the definition, operation by operation; files that include
/// this are compiled without contraction to fma.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// How displacements become those of an image: a shift, and on minimum image axes the nearest one.
  ///
  /// Where the list gives the image m of a periodic axis, d - m L is what the definition d - L round(d / L)
  /// computes, or both are out: cells that meet do so through one image m only, so a pair that is in is in
  /// through m, and |d - m L| < R <= L / 2 makes round(d / L) = m, also as computed: no number below 1 / 2
  /// rounds to it in the division. Any other image is at |d - m L| >= L / 2 >= R, which is out. By the same
  /// comparison round(d / L) is 1 from d = L / 2 on, -1 down from -L / 2 and 0 between: points lie in
  /// [0, L), so |d| < L.
  template <class L, int Dim>
  struct image
  {
    typename L::reg shift[Dim];
    typename L::reg half[Dim]; // L / 2; infinite on other axes
    typename L::reg period[Dim];

    NEARFIELD_FN typename L::reg apply(int a, typename L::reg d) const
    {
      return L::sub(L::sub(d, L::signed_step(d, half[a], period[a])), shift[a]);
    }
  };

  /// Adds up, or writes, what a block of B targets finds.
  template <class L, int Dim, int B, int Content>
  struct found;

  inline constexpr int counts_only = -1;

  template <class L, int Dim, int B>
  struct found<L, Dim, B, counts_only>
  {
    index_type n[B] = {};
    typename L::sums sums[B];

    NEARFIELD_FN explicit found(search_scratch const*)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b) sums[b] = L::no_sum();
    }
    NEARFIELD_FN index_type total(int b) const { return n[b] + L::total(sums[b]); }
  };

  template <class L, int Dim, int B, int Content>
  struct found
  {
    using T = typename L::real;
    static constexpr int values = Content == 0 ? 0 : Content == 1 ? 1 : 1 + Dim;

    std::size_t n[B] = {};
    index_type* j[B];
    T* value[B];
    std::size_t stride;

    NEARFIELD_FN explicit found(search_scratch const* scratch) : stride(scratch->stride)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        j[b] = scratch->j + b * stride;
        value[b] = static_cast<T*>(scratch->values) + b * values * stride;
      }
    }
    NEARFIELD_FN void add(int b, unsigned mask, index_type const* ids, typename L::reg r2,
                          typename L::reg const* d)
    {
      L::compress(ids, mask, j[b] + n[b]);
      if constexpr (Content > 0) L::compress(r2, mask, value[b] + n[b]);
      if constexpr (Content > 1)
      {
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a) L::compress(d[a], mask, value[b] + (1 + a) * stride + n[b]);
      }
      n[b] += static_cast<unsigned>(L::count(mask));
    }
    NEARFIELD_FN index_type total(int b) const { return static_cast<index_type>(n[b]); }
  };

  template <class L, int Dim, int B>
  struct target_registers
  {
    typename L::reg x[B][Dim];

    NEARFIELD_FN target_registers(soa<typename L::real const, Dim> const& points, index_type first)
    {
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        NEARFIELD_UNROLL
        for (int a = 0; a < Dim; ++a) x[b][a] = L::set(points[a][first + b]);
      }
    }
  };

  /// What a sweep reads.
  template <class L, int Dim>
  struct source_columns
  {
    typename L::real const* x[Dim];
    index_type const* ids;
    typename L::reg cutoff_squared;
  };

  /// One register of sources from position j on. With Masked only the lanes of masks[b] count.
  template <bool Imaged, bool Masked, class L, int Dim, int B, int Content>
  NEARFIELD_FN void meet(source_columns<L, Dim> const& sources,
                         target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                         index_type j, unsigned const* masks, found<L, Dim, B, Content>& result)
  {
    using reg = typename L::reg;
    reg y[Dim];
    NEARFIELD_UNROLL
    for (int a = 0; a < Dim; ++a) y[a] = L::load(sources.x[a] + j);
    NEARFIELD_UNROLL
    for (int b = 0; b < B; ++b)
    {
      reg d[Dim];
      NEARFIELD_UNROLL
      for (int a = 0; a < Dim; ++a)
      {
        d[a] = L::sub(block.x[b][a], y[a]);
        if constexpr (Imaged) d[a] = at->apply(a, d[a]);
      }
      reg r2 = L::mul(d[0], d[0]);
      NEARFIELD_UNROLL
      for (int a = 1; a < Dim; ++a) r2 = L::add(r2, L::mul(d[a], d[a]));
      if constexpr (Content == counts_only)
      {
        if constexpr (Masked)
          result.n[b] +=
              static_cast<index_type>(L::count(L::less(r2, sources.cutoff_squared) & masks[b]));
        else
          result.sums[b] = L::add_less(result.sums[b], r2, sources.cutoff_squared);
      }
      else
      {
        unsigned mask = L::less(r2, sources.cutoff_squared);
        if constexpr (Masked) mask &= masks[b];
        result.add(b, mask, sources.ids + j, r2, d);
      }
    }
  }

  /// The first n lanes, of those that there are.
  template <class L>
  NEARFIELD_FN unsigned first_lanes(index_type n)
  {
    return n < static_cast<index_type>(L::width) ? (1u << n) - 1 : (1u << L::width) - 1;
  }

  /// All sources of [begin, end).
  template <bool Imaged, class L, int Dim, int B, int Content>
  NEARFIELD_FN void meet_all(source_columns<L, Dim> const& sources,
                             target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                             index_type begin, index_type end, found<L, Dim, B, Content>& result)
  {
    constexpr index_type width = L::width;
    index_type j = begin;
    NEARFIELD_NO_UNROLL
    for (; j < end && end - j >= width; j += width)
      meet<Imaged, false>(sources, block, at, j, nullptr, result);
    if (j >= end) return;
    unsigned masks[B];
    NEARFIELD_UNROLL
    for (int b = 0; b < B; ++b) masks[b] = first_lanes<L>(end - j);
    meet<Imaged, true>(sources, block, at, j, masks, result);
  }

  /// The same for sources that the targets from position `first` on are among: j > i, or j != i.
  template <bool Imaged, class L, int Dim, int B, int Content>
  NEARFIELD_FN void meet_own(source_columns<L, Dim> const& sources,
                             target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                             index_type begin, index_type end, index_type first, bool half,
                             found<L, Dim, B, Content>& result)
  {
    constexpr index_type width = L::width;
    index_type j = begin;
    if (half)
      j = first;
    else
    {
      j += (first - begin) / width * width;
      meet_all<Imaged>(sources, block, at, begin, j, result);
    }
    for (; j < end && j < first + B; j += width)
    {
      unsigned masks[B];
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        index_type const i = first + static_cast<index_type>(b);
        unsigned const before = i >= j ? first_lanes<L>(i - j) : 0;
        unsigned const until = i >= j ? first_lanes<L>(i - j + 1) : 0;
        masks[b] = first_lanes<L>(end - j) & (half ? ~until : ~(until & ~before));
      }
      meet<Imaged, true>(sources, block, at, j, masks, result);
    }
    meet_all<Imaged>(sources, block, at, j, end, result);
  }

  template <int Content, int B, class L, int Dim>
  struct block_sweep
  {
    using T = typename L::real;

    /// B targets from position `first` on meet all segments of their box.
    static NEARFIELD_FN void run(search_job<T, Dim> const& job,
                                 source_columns<L, Dim> const& sources, bool has_minimum_images,
                                 index_type box, index_type first,
                                 found<L, Dim, B, Content>& result)
    {
      target_registers<L, Dim, B> const block(job.cells->target_x, first);
      bool const half = job.which == pairs::half;
      segments<T, Dim> all(job, box);
      for (segment s; all.next(s);)
      {
        if (s.shift != 0 || has_minimum_images)
          meet_images(job, sources, block, s, first, half, result);
        else if (s.has_own)
          meet_own<false>(sources, block, static_cast<image<L, Dim> const*>(nullptr), s.begin,
                          s.end, first, half, result);
        else
          meet_all<false>(sources, block, static_cast<image<L, Dim> const*>(nullptr), s.begin,
                          s.end, result);
      }
    }

  private:
    static void meet_images(search_job<T, Dim> const& job, source_columns<L, Dim> const& sources,
                            target_registers<L, Dim, B> const& block, segment const& s,
                            index_type first, bool half, found<L, Dim, B, Content>& result)
    {
      image<L, Dim> at;
      for (int a = 0; a < Dim; ++a)
      {
        bool const nearest = job.cells->grid.axes.data()[a] == grid_axis::minimum_image;
        T const period = nearest ? job.cells->grid.period.data()[a] : T(0);
        at.shift[a] = L::set(
            s.shift ? static_cast<T>(job.cells->full.shifts.data()[s.shift].data()[a]) : T(0));
        at.half[a] = L::set(nearest ? period / 2 : static_cast<T>(__builtin_inf()));
        at.period[a] = L::set(period);
      }
      if (s.has_own)
        meet_own<true>(sources, block, &at, s.begin, s.end, first, half, result);
      else
        meet_all<true>(sources, block, &at, s.begin, s.end, result);
    }
  };

  /// The rows of one block of targets, counted or handed over.
  template <int Content, int B, class L, int Dim, class Deliver>
  [[gnu::noinline]] void sweep_block(search_job<typename L::real, Dim> const& job,
                                     source_columns<L, Dim> const& sources, bool has_minimum_images,
                                     index_type box, index_type first,
                                     search_scratch const* scratch, Deliver& deliver)
  {
    found<L, Dim, B, Content> result(scratch);
    block_sweep<Content, B, L, Dim>::run(job, sources, has_minimum_images, box, first, result);
    for (int b = 0; b < B; ++b) deliver(first + static_cast<index_type>(b), b, result);
  }

  template <int Content, class L, int Dim, class Deliver>
  void sweep_boxes(search_job<typename L::real, Dim> const& job, search_scratch const* scratch,
                   Deliver& deliver)
  {
    cell_view<typename L::real, Dim> const& cells = *job.cells;
    source_columns<L, Dim> sources;
    bool has_minimum_images = false;
    for (int a = 0; a < Dim; ++a)
    {
      sources.x[a] = cells.source_x[a];
      has_minimum_images |= cells.grid.axes.data()[a] == grid_axis::minimum_image;
    }
    sources.ids = cells.source_order.data();
    sources.cutoff_squared = L::set(cells.grid.cutoff_squared());
    for (index_type box = job.first_box; box < job.last_box; ++box)
    {
      index_type const end = cells.targets.end(box);
      index_type i = cells.targets.begin(box);
      for (; end - i >= 4; i += 4)
        sweep_block<Content, 4>(job, sources, has_minimum_images, box, i, scratch, deliver);
      if (end - i == 3)
        sweep_block<Content, 3>(job, sources, has_minimum_images, box, i, scratch, deliver);
      else if (end - i == 2)
        sweep_block<Content, 2>(job, sources, has_minimum_images, box, i, scratch, deliver);
      else if (end - i == 1)
        sweep_block<Content, 1>(job, sources, has_minimum_images, box, i, scratch, deliver);
    }
  }

  template <class L, int Dim>
  struct count_delivery
  {
    index_type const* order;
    index_type* per_point;
    std::uint64_t total = 0;

    template <int B>
    NEARFIELD_FN void operator()(index_type position, int b,
                                 found<L, Dim, B, counts_only> const& result)
    {
      index_type const n = result.total(b);
      total += n;
      if (per_point) per_point[order[position]] = n;
    }
  };

  template <class L, int Dim>
  struct row_delivery
  {
    using T = typename L::real;

    index_type const* order;
    row_function<T, Dim> row;
    void* sink;

    template <int B, int Content>
    NEARFIELD_FN void operator()(index_type position, int b,
                                 found<L, Dim, B, Content> const& result)
    {
      search_row<T, Dim> r{position,    order[position], result.total(b),
                           result.j[b], result.value[b], {}};
      for (int a = 0; a < Dim; ++a) r.d[a] = result.value[b] + (1 + a) * result.stride;
      row(sink, r);
    }
  };

  template <class L, int Dim>
  std::uint64_t count_all(search_job<typename L::real, Dim> const& job, index_type* per_point)
  {
    count_delivery<L, Dim> deliver{job.cells->target_order.data(), per_point};
    sweep_boxes<counts_only, L, Dim>(job, nullptr, deliver);
    return deliver.total;
  }

  template <int Content, class L, int Dim>
  void find_rows(search_job<typename L::real, Dim> const& job, search_scratch const& scratch,
                 row_function<typename L::real, Dim> row, void* sink)
  {
    row_delivery<L, Dim> deliver{job.cells->target_order.data(), row, sink};
    sweep_boxes<Content, L, Dim>(job, &scratch, deliver);
  }

  template <class L, int Dim>
  constexpr search_kernels<typename L::real, Dim> make_search()
  {
    return {&count_all<L, Dim>,
            {&find_rows<0, L, Dim>, &find_rows<1, L, Dim>, &find_rows<2, L, Dim>}};
  }

  template <template <class> class Lanes>
  constexpr search_table make_search_table()
  {
    return {make_search<Lanes<float>, 2>(), make_search<Lanes<float>, 3>(),
            make_search<Lanes<double>, 2>(), make_search<Lanes<double>, 3>()};
  }
}
