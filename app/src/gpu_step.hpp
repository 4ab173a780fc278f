#pragma once

#include "step.hpp"

#include <nearfield/p2p/cuda.hpp>

namespace nearfield::app
{
  /// The near field on the first GPU, driven by the calling thread. The time excludes the upload, and includes
  /// the download and the scatter into the caller's order.
  template <class T, class K>
  step_result<T> cuda_near_field(problem<T, K::dim> const& on, K const& k,
                                 step_options const& options)
  {
    auto const target_order = on.leaves.target_order();
    auto const source_order = on.leaves.source_order();
    std::size_t const n = target_order.size();
    auto const boxes = on.leaves.targets();
    bool const is_mutual =
        !on.sources &&
        (options.form == pair_form::mutual ||
         (options.form == pair_form::automatic && cuda_mutual_pays(n, boxes.size(), K::n_out)));

    auto const upload = []<int N>(std::span<index_type const> order, soa<T const, N> const& columns)
    {
      return in_range("upload",
                      [&] { return device_columns<T, N>(gather(order, columns).view()); });
    };
    auto const list =
        in_range("upload",
                 [&]
                 {
                   return is_mutual
                              ? cuda_list::mutual(boxes, on.leaves.half_interactions())
                              : cuda_list(boxes, on.leaves.interactions(), source_order.size());
                 });
    auto const x = upload(target_order, on.targets.view());
    std::optional<device_columns<T, K::dim>> y;
    if (on.sources) y.emplace(upload(source_order, on.sources->view()));

    step_result<T> result;
    result.report.gpus = 1;
    device_columns<T, K::n_out> const out(n);
    std::size_t const n_rhs = on.inputs.size() / K::n_in;
    for (std::size_t rhs = 0; rhs < n_rhs; ++rhs)
    {
      auto const q = upload(source_order, on.template input_view<K::n_in>(rhs));
      column_set<T, K::n_out> downloaded, delivered;
      for (int o = 0; o < K::n_out; ++o)
        downloaded.columns[o] = delivered.columns[o] = std::vector<T>(n);

      auto const compute = [&]
      {
        if (y)
          near_field(cuda, k, list, x.view(), y->view(), q.view(), out.view());
        else if (is_mutual)
          near_field_mutual(cuda, k, list, x.view(), q.view(), out.view());
        else
          near_field(cuda, k, list, x.view(), q.view(), out.view());
        synchronize(cuda.stream);
      };
      auto const download = [&]
      {
        out.copy_to(downloaded.view());
        for (int o = 0; o < K::n_out; ++o)
          scatter(target_order, downloaded.columns[o], delivered.columns[o]);
      };
      result.report.seconds += quickest(options.repetitions,
                                        [&]
                                        {
                                          in_range("near field", compute);
                                          in_range("download", download);
                                        });
      for (auto& column : delivered.columns) result.outputs.push_back(std::move(column));
    }
    return result;
  }
}
