#pragma once

#include "step.hpp"

#include <nearfield/p2p/cuda.hpp>

namespace nearfield::app
{
  /// The near field on the first GPU, driven by the calling thread. The time excludes the upload, and includes
  /// the download and the scatter into the caller's order.
  template <class T, class K>
  step_result<T> cuda_near_field(problem<T, K::dim> const& on, K const& k,
                                 execution_options const& options)
  {
    auto const target_order = on.leaves.target_order();
    auto const source_order = on.leaves.source_order();
    std::size_t const n = target_order.size();
    auto const boxes = on.leaves.targets();
    int const n_rhs = static_cast<int>(on.inputs.size()) / K::n_in;
    bool const is_mutual = !on.sources && (options.form == pair_form::mutual ||
                                           (options.form == pair_form::automatic &&
                                            cuda_mutual_pays(n, boxes.size(), K::n_out, n_rhs)));

    auto const upload = []<int N>(std::span<index_type const> order, soa<T const, N> const& columns)
    {
      return profiled("upload",
                      [&] { return device_columns<T, N>(gather(order, columns).view()); });
    };
    auto const list =
        profiled("upload",
                 [&]
                 {
                   return is_mutual
                              ? cuda_list::mutual(boxes, on.leaves.half_interactions())
                              : cuda_list(boxes, on.leaves.interactions(), source_order.size());
                 });
    auto const x = upload(target_order, on.targets.view());
    std::optional<device_columns<T, K::dim>> y;
    if (on.sources) y.emplace(upload(source_order, on.sources->view()));

    std::vector<device_array<T>> q, out;
    for (auto const& column : on.inputs)
      profiled("upload", [&] { q.emplace_back(gather(source_order, column)); });
    auto downloaded = output_columns<T>(on, k), delivered = output_columns<T>(on, k);
    for (std::size_t c = 0; c < delivered.size(); ++c) out.emplace_back(n);
    auto const q_pointers = pointers<T const>(q);
    auto const out_pointers = pointers<T>(out);
    soa<T const, run_time_columns> const q_view(q_pointers, source_order.size());
    soa<T, run_time_columns> const out_view(out_pointers, n);

    step_result<T> result;
    result.report.gpus = 1;
    auto const compute = [&]
    {
      if (y)
        near_field(cuda, k, list, x.view(), y->view(), q_view, out_view);
      else if (is_mutual)
        near_field_mutual(cuda, k, list, x.view(), q_view, out_view);
      else
        near_field(cuda, k, list, x.view(), q_view, out_view);
      synchronize(cuda.stream);
    };
    auto const download = [&]
    {
      for (std::size_t c = 0; c < out.size(); ++c)
      {
        out[c].copy_to(downloaded[c]);
        scatter(target_order, downloaded[c], delivered[c]);
      }
    };
    result.report.seconds = quickest(options.repetitions,
                                     [&]
                                     {
                                       profiled("near field", compute);
                                       profiled("download", download);
                                     });
    result.outputs = std::move(delivered);
    return result;
  }
}
