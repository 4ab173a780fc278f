#pragma once

#include "step.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <array>
#include <optional>

namespace nearfield::app
{
  /// The points of a problem on the first GPU, and their tree there.
  template <class T, int Dim>
  class gpu_points
  {
  public:
    explicit gpu_points(problem<T, Dim> const& on) : targets_(on.targets.view())
    {
      if (on.sources) sources_.emplace(on.sources->view());
      leaves_.emplace(sources_ ? build_tree(cuda, targets(), sources(), on.cut)
                               : build_tree(cuda, targets(), on.cut));
    }

    [[nodiscard]] soa<T const, Dim> targets() const { return targets_.view(); }
    [[nodiscard]] soa<T const, Dim> sources() const
    {
      return sources_ ? sources_->view() : targets_.view();
    }
    [[nodiscard]] cuda_tree<Dim> const& leaves() const { return *leaves_; }

  private:
    device_columns<T, Dim> targets_;
    std::optional<device_columns<T, Dim>> sources_;
    std::optional<cuda_tree<Dim>> leaves_;
  };

  /// Starts CUDA, and loads the kernels that build trees; once in a process, for a loop of steps calls it in each.
  template <class T, int Dim>
  void load_tree_kernels()
  {
    static bool is_loaded = false;
    if (is_loaded) return;
    std::array<T, 1> const zero{};
    std::array<T const*, Dim> columns;
    columns.fill(zero.data());
    device_columns<T, Dim> const x(soa<T const, Dim>(columns, 1));
    static_cast<void>(build_tree(cuda, x.view(), {.max_leaf_size = 1}));
    is_loaded = true;
  }

  /// The near field on the first GPU, driven by the calling thread. The time includes the upload of the inputs and the
  /// download.
  template <class T, class K>
  step_result<T> cuda_near_field(problem<T, K::dim> const& on, gpu_points<T, K::dim> const& points,
                                 K const& k, execution_options const& options)
  {
    auto const& leaves = points.leaves();
    auto const x = points.targets(), y = points.sources();
    int const n_rhs = static_cast<int>(on.inputs.size()) / K::n_in;
    bool const is_mutual =
        !on.sources && (options.form == pair_form::mutual ||
                        (options.form == pair_form::automatic &&
                         cuda_mutual_pays(x.size(), leaves.size(), K::n_out, n_rhs)));

    std::vector<device_array<T>> q, out;
    for (std::size_t c = 0; c < on.inputs.size(); ++c) q.emplace_back(y.size());
    auto delivered = output_columns<T>(on, k);
    for (std::size_t c = 0; c < delivered.size(); ++c) out.emplace_back(x.size());
    auto const q_pointers = pointers<T const>(q);
    auto const out_pointers = pointers<T>(out);
    soa<T const, run_time_columns> const q_view(q_pointers, y.size());
    soa<T, run_time_columns> const out_view(out_pointers, x.size());

    auto const upload = [&]
    {
      for (std::size_t c = 0; c < q.size(); ++c) q[c].copy_from(on.inputs[c]);
    };
    auto const compute = [&]
    {
      if (on.sources)
        near_field(cuda, k, leaves, x, y, q_view, out_view);
      else if (is_mutual)
        near_field_mutual(cuda, k, leaves, x, q_view, out_view);
      else
        near_field(cuda, k, leaves, x, q_view, out_view);
      synchronize(cuda.stream);
    };
    auto const download = [&]
    {
      for (std::size_t c = 0; c < out.size(); ++c) out[c].copy_to(delivered[c]);
    };
    step_result<T> result;
    result.report.gpus = 1;
    result.report.seconds = quickest(options.repetitions,
                                     [&]
                                     {
                                       profiled("upload", upload);
                                       profiled("near field", compute);
                                       profiled("download", download);
                                     });
    result.outputs = std::move(delivered);
    return result;
  }
}
