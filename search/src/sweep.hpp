#pragma once

#include "found.hpp"
#include "operands.hpp"
#include "steps.hpp"

/// \file
/// The loop over pairs: a block of targets of one box against the sources that the box meets, a step of one
/// or two registers at a time. The tests are the definition, operation by operation; files that include this
/// are compiled without contraction to fma.

namespace nearfield::detail::inline NEARFIELD_ISA_NAMESPACE
{
  /// One step. If Masked, only the lanes in masks[b] count.
  template <bool Imaged, bool Masked, class L, int Dim, int B, int Content>
  NEARFIELD_FN void meet(source_columns<L, Dim> const& sources,
                         target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                         index_type k, unsigned const* masks, found<L, Dim, B, Content>& result)
  {
    using reg = typename L::reg;
    constexpr int registers = step_registers<L, Content>;
    [[maybe_unused]] unsigned in[B][registers];
    search_step const step = sources.steps[k];
    NEARFIELD_UNROLL
    for (int r = 0; r < registers; ++r)
    {
      std::size_t const j = std::size_t(step.first) + static_cast<std::size_t>(r * L::width);
      reg const cutoff_squared = L::load(sources.cutoff_squared + step.absent + r * L::width);
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
          d[a] = block.x[b][a] - y[a];
          if constexpr (Imaged) d[a] = d[a] - at->shift[a];
        }
        reg r2 = d[0] * d[0];
        NEARFIELD_UNROLL
        for (int a = 1; a < Dim; ++a) r2 = r2 + d[a] * d[a];
        if constexpr (Content == counts_only && !Masked)
          result.sums[b] = L::add_less(result.sums[b], r2, cutoff_squared);
        else if constexpr (Content == 0)
          in[b][r] = L::less(r2, cutoff_squared);
        else
        {
          unsigned mask = L::less(r2, cutoff_squared);
          if constexpr (Masked) mask &= masks[b];
          if constexpr (Content == counts_only)
            result.n[b] += static_cast<index_type>(L::count(mask));
          else
            result.add(b, mask, sources.ids + j, r2, d);
        }
      }
    }
    if constexpr (Content == 0)
    {
      typename L::indices const ids = L::load_indices(sources.ids + step.first);
      NEARFIELD_UNROLL
      for (int b = 0; b < B; ++b)
      {
        unsigned mask = in[b][0];
        if constexpr (registers == 2) mask = L::join(mask, in[b][1]);
        if constexpr (Masked) mask &= masks[b];
        result.add(b, mask, ids);
      }
    }
  }

  template <int Content, int B, class L, int Dim>
  struct block_sweep
  {
    using T = typename L::real;
    static constexpr int width = step_width<L, Content>;
    using steps_type = box_steps<width, T, Dim>;

    search_job<T, Dim> const& job;
    steps_type const& steps;
    source_columns<L, Dim> const& sources;

    /// B targets from position `first` on meet all steps of their box.
    NEARFIELD_FN void run(index_type first, found<L, Dim, B, Content>& result) const
    {
      target_registers<L, Dim, B> const block(job.cells->target_x, first);
      for (step_run const& r : steps)
      {
        if (r.shift != 0)
          meet_images(block, r, first, result);
        else
          meet_run<false>(block, nullptr, r, first, result);
        if constexpr (Content != counts_only)
          if (steps.has_images())
            for (int b = 0; b < B; ++b) steps.end_run(r, b, result.total(b));
      }
    }

  private:
    void meet_images(target_registers<L, Dim, B> const& block, step_run const& r, index_type first,
                     found<L, Dim, B, Content>& result) const
    {
      using reg = typename L::reg;
      image<L, Dim> at;
      for (int a = 0; a < Dim; ++a)
        at.shift[a] = reg(static_cast<T>(steps.system().shifts.data()[r.shift].data()[a]));
      at.is_positive = is_positive(steps.system().images.data()[r.shift]);
      meet_run<true>(block, &at, r, first, result);
    }

    template <bool Imaged>
    NEARFIELD_FN void meet_run(target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                               step_run const& r, index_type first,
                               found<L, Dim, B, Content>& result) const
    {
      index_type k = r.begin;
      if (r.has_own)
      {
        index_type const own = steps_type::own_step(r, first);
        if (job.which == pairs::half)
          k = own;
        else
          meet_steps<Imaged>(block, at, k, own, result);
        k = meet_own<Imaged>(block, at, own, r.end, first, result);
      }
      meet_steps<Imaged>(block, at, k, r.end, result);
    }

    template <bool Imaged>
    NEARFIELD_FN void meet_steps(target_registers<L, Dim, B> const& block, image<L, Dim> const* at,
                                 index_type begin, index_type end,
                                 found<L, Dim, B, Content>& result) const
    {
      // a copy: as far as the compiler knows, hits could be stored over those pointers
      source_columns<L, Dim> const from = sources;
      NEARFIELD_NO_UNROLL
      for (index_type k = begin; k < end; ++k)
        meet<Imaged, false>(from, block, at, k, nullptr, result);
    }

    /// The steps from `own` on that contain the targets themselves: j > i, or j >= i in a positive image, or j != i.
    /// Returns the first step after them.
    template <bool Imaged>
    NEARFIELD_FN index_type meet_own(target_registers<L, Dim, B> const& block,
                                     image<L, Dim> const* at, index_type own, index_type end,
                                     index_type first, found<L, Dim, B, Content>& result) const
    {
      bool const half = job.which == pairs::half;
      bool keeps_self = false;
      if constexpr (Imaged) keeps_self = at->is_positive;
      index_type k = own;
      for (; k < end && sources.steps[k].first < first + B; ++k)
      {
        unsigned masks[B];
        NEARFIELD_UNROLL
        for (int b = 0; b < B; ++b)
        {
          // of the target among the lanes; computed without a branch, which would be mispredicted
          std::int64_t const place = std::int64_t(first) + b - std::int64_t(sources.steps[k].first);
          std::uint64_t const self = place >= 0 ? std::uint64_t(1) << place : 0;
          std::uint64_t const until = place >= 0 ? (keeps_self ? self : 2 * self) - 1 : 0;
          masks[b] = static_cast<unsigned>(~(half ? until : self));
        }
        meet<Imaged, true>(sources, block, at, k, masks, result);
      }
      return k;
    }
  };

  /// Counts or delivers the rows of one block of targets.
  template <int Content, int B, class L, int Dim, class Steps, class Deliver>
  [[gnu::noinline]] void
  sweep_block(search_job<typename L::real, Dim> const& job, source_columns<L, Dim> const& sources,
              Steps const& steps, index_type first, search_scratch const& scratch, Deliver& deliver)
  {
    found<L, Dim, B, Content> result(scratch);
    block_sweep<Content, B, L, Dim>{job, steps, sources}.run(first, result);
    for (int b = 0; b < B; ++b)
      deliver(first + static_cast<index_type>(b), b, result, steps.images(b));
  }

  template <int Content, class L, int Dim, class Deliver>
  void sweep_boxes(search_job<typename L::real, Dim> const& job, search_scratch const& scratch,
                   Deliver& deliver)
  {
    using T = typename L::real;
    cell_view<T, Dim> const& cells = *job.cells;
    constexpr int width = step_width<L, Content>;
    source_columns<L, Dim> sources{};
    sources.ids = cells.source_order.data();
    sources.steps = scratch.steps;
    for (int a = 0; a < Dim; ++a) sources.x[a] = cells.source_x[a];
    cell_system<T, Dim> const* system = cells.systems.data() + scratch.first_system;
    for (index_type box = job.first_box; box < job.last_box; ++system)
    {
      cutoff_window<L> const cutoffs(system->grid.cutoff_squared);
      sources.cutoff_squared = cutoffs.template lanes<width>();
      deliver.images_of_shifts(system->images.data());
      index_type const last = system->last_box < job.last_box ? system->last_box : job.last_box;
      for (; box < last; ++box)
      {
        index_type const end =
            cells.targets.end(box) < job.last ? cells.targets.end(box) : job.last;
        index_type i = cells.targets.begin(box) > job.first ? cells.targets.begin(box) : job.first;
        if (i >= end) continue;
        box_steps<width, T, Dim> const steps(job, *system, scratch, box);
        for (; end - i >= 4; i += 4)
          sweep_block<Content, 4>(job, sources, steps, i, scratch, deliver);
        if (end - i == 3)
          sweep_block<Content, 3>(job, sources, steps, i, scratch, deliver);
        else if (end - i == 2)
          sweep_block<Content, 2>(job, sources, steps, i, scratch, deliver);
        else if (end - i == 1)
          sweep_block<Content, 1>(job, sources, steps, i, scratch, deliver);
      }
    }
  }

  template <class L, int Dim>
  struct count_delivery
  {
    index_type const* order;
    index_type* per_point;
    std::uint64_t total = 0;

    NEARFIELD_FN void images_of_shifts(image_counters<Dim> const*) {}
    template <int B>
    NEARFIELD_FN void operator()(index_type position, int b,
                                 found<L, Dim, B, counts_only> const& result, image_run const*)
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
    image_counters<Dim> const* of_shift = nullptr;

    NEARFIELD_FN void images_of_shifts(image_counters<Dim> const* images) { of_shift = images; }
    template <int B, int Content>
    NEARFIELD_FN void operator()(index_type position, int b,
                                 found<L, Dim, B, Content> const& result, image_run const* images)
    {
      search_row<T, Dim> r{
          position, order[position], result.total(b), result.indices(b), result.values(b, 0),
          {},       images,          of_shift};
      if constexpr (Content > 1)
        for (int a = 0; a < Dim; ++a) r.d[a] = result.values(b, 1 + a);
      row(sink, r);
    }
  };

  template <class L, int Dim>
  std::uint64_t count_all(search_job<typename L::real, Dim> const& job,
                          search_scratch const& scratch, index_type* per_point)
  {
    count_delivery<L, Dim> deliver{job.cells->target_order.data(), per_point};
    sweep_boxes<counts_only, L, Dim>(job, scratch, deliver);
    return deliver.total;
  }

  template <int Content, class L, int Dim>
  void find_rows(search_job<typename L::real, Dim> const& job, search_scratch const& scratch,
                 row_function<typename L::real, Dim> row, void* sink)
  {
    row_delivery<L, Dim> deliver{job.cells->target_order.data(), row, sink};
    sweep_boxes<Content, L, Dim>(job, scratch, deliver);
  }

  template <class L, int Dim>
  constexpr search_kernels<typename L::real, Dim> make_search()
  {
    return {&count_all<L, Dim>,
            {&find_rows<0, L, Dim>, &find_rows<1, L, Dim>, &find_rows<2, L, Dim>}};
  }

  /// Arch: an architecture of xsimd, or void for the scalar back-end.
  template <class Arch>
  constexpr isa_search make_isa_search()
  {
    return {make_search<lanes<float, Arch>, 2>(), make_search<lanes<float, Arch>, 3>(),
            make_search<lanes<double, Arch>, 2>(), make_search<lanes<double, Arch>, 3>()};
  }
}
