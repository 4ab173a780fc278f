#pragma once

#include "gpu_bus.hpp"
#include "step.hpp"

#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/tree/cuda_tree.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace nearfield::app
{
  /// The points of a problem on the first GPU, and their tree there.
  template <class T, int Dim>
  class gpu_points
  {
  public:
    gpu_points(gpu_bus& bus, problem<T, Dim> const& on) : targets_(on.size())
    {
      auto const upload = [&](named_points const& from, device_columns<T, Dim>& to)
      {
        return bus.upload<T>(from.points.positions, on.origin(), on.centre(),
                             {to.view().data(), Dim});
      };
      auto const of_targets = upload(on.target_points(), targets_);
      auto of_sources = of_targets;
      if (on.has_two_sets())
        of_sources = upload(on.source_points(), sources_.emplace(on.source_points().points.size()));
      auto const options = on.options(of_targets, of_sources);
      leaves_.emplace(sources_ ? build_tree(cuda, targets(), sources(), options)
                               : build_tree(cuda, targets(), options));
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

  /// The near field on the first GPU. The time includes the upload of the inputs and the download, but no allocation on
  /// the GPU.
  template <class T, class K>
  step_result cuda_near_field(gpu_bus& bus, problem<T, K::dim> const& on,
                              gpu_points<T, K::dim> const& points, K const& k,
                              execution_options const& options)
  {
    auto const x = points.targets(), y = points.sources();
    std::vector<device_array<T>> q, out;
    for (std::size_t c = 0; c < on.n_inputs(); ++c) q.emplace_back(y.size());
    std::vector<std::vector<double>> delivered(on.n_inputs() / K::n_in * K::n_out);
    for (std::size_t c = 0; c < delivered.size(); ++c) out.emplace_back(x.size());
    auto const q_pointers = pointers<T>(q);
    auto const out_pointers = pointers<T>(out);
    soa<T const, run_time_columns> const q_view = soa<T, run_time_columns>(q_pointers, y.size());
    soa<T, run_time_columns> const out_view(out_pointers, x.size());

    auto const upload = [&]
    {
      auto const& from = on.source_points();
      check_ranges<T>(from.points.inputs, {}, bus.upload<T>(from.points.inputs, {}, {}, q_pointers),
                      from.name, "input");
    };
    auto const compute = [&]
    {
      if (on.has_two_sets())
        near_field(cuda, k, points.leaves(), x, y, q_view, out_view);
      else
        near_field(cuda, k, points.leaves(), x, q_view, out_view, {.form = options.form});
      bus.resize(delivered, x.size()); // while the GPU computes
      synchronize(cuda.stream);
    };
    auto const download = [&]
    {
      auto const from = pointers<T const>(out);
      bus.download<T>(from, delivered);
    };
    step_result result;
    result.report.gpus = 1;
    result.report.runtime = "CUDA";
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

  /// A step like the coming one over up to 2^16 made-up points, which loads its kernels before the clock runs.
  template <class T, class K>
  class rehearsal
  {
  public:
    /// Starts CUDA, and builds the tree.
    rehearsal(gpu_bus& bus, problem<T, K::dim> const& like)
        : targets_(cloud(like.target_points())), sources_(cloud(like.source_points())),
          on_(targets_, like.has_two_sets() ? &sources_ : nullptr,
              {.level = like.cut().level, .max_leaf_size = like.cut().max_leaf_size}),
          points_(bus, on_)
    {}

    void near_field(gpu_bus& bus, K const& k, execution_options options) const
    {
      options.repetitions = 1;
      static_cast<void>(cuda_near_field(bus, on_, points_, k, options));
    }

  private:
    // multiples of irrational numbers fill the unit cube
    static named_points cloud(named_points const& of)
    {
      std::size_t const n = std::min<std::size_t>(of.points.size(), 1 << 16);
      named_points made{"", {.dim = K::dim}};
      double const steps[] = {0.8191725134, 0.6710436067, 0.5497004779};
      for (int d = 0; d < K::dim; ++d)
        for (auto& x = made.points.positions.emplace_back(); x.size() < n;)
          x.push_back(std::fmod(steps[d] * static_cast<double>(x.size() + 1), 1.0));
      made.points.inputs.assign(of.points.inputs.size(), std::vector<double>(n, 1));
      return made;
    }

    named_points targets_, sources_;
    problem<T, K::dim> on_;
    gpu_points<T, K::dim> points_;
  };
}
