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
    gpu_points(gpu_bus& bus, problem<T, Dim> const& on) : targets_(bus, on, on.target_points())
    {
      if (on.has_two_sets()) sources_.emplace(bus, on, on.source_points());
      auto const& y = sources_ ? *sources_ : targets_;
      auto const options = on.options(targets_.ranges, y.ranges);
      leaves_.emplace(sources_
                          ? build_tree(cuda, targets_.positions.view(), y.positions.view(), options)
                          : build_tree(cuda, targets_.positions.view(), options));
    }

    /// f(targets) or, of two sets, f(targets, sources): positions, then parameters.
    template <class F>
    void with_points(F const& f) const
    {
      sources_ ? f(targets_.view(), sources_->view()) : f(targets_.view());
    }
    [[nodiscard]] cuda_tree<Dim> const& leaves() const { return *leaves_; }

  private:
    struct device_set
    {
      device_columns<T, Dim> positions;
      std::vector<device_array<T>> parameters;
      std::vector<T const*> columns;   ///< of both
      std::vector<value_range> ranges; ///< of the positions

      device_set(gpu_bus& bus, problem<T, Dim> const& on, named_points const& from)
          : positions(from.points.size())
      {
        soa<T, Dim> const view = positions.view();
        std::span<T* const> const x(view.data(), Dim);
        ranges = bus.upload<T>(from.points.positions, on.origin(), on.centre(), x);
        auto const& values = from.points.parameters;
        for (std::size_t p = 0; p < values.size(); ++p) parameters.emplace_back(values[p].size());
        auto const of_parameters = pointers<T>(parameters);
        check_ranges<T>(values, {}, bus.upload<T>(values, {}, {}, of_parameters), from.name,
                        "parameter", from.first);
        columns.assign(x.begin(), x.end());
        columns.insert(columns.end(), of_parameters.begin(), of_parameters.end());
      }
      [[nodiscard]] soa<T const, run_time_columns> view() const
      {
        return {columns, positions.size()};
      }
    };

    device_set targets_;
    std::optional<device_set> sources_;
    std::optional<cuda_tree<Dim>> leaves_;
  };

  /// The near field on the first GPU. The time includes the upload of the inputs and the download, but no allocation on
  /// the GPU.
  template <class T, int Dim>
  step_result cuda_near_field(gpu_bus& bus, problem<T, Dim> const& on,
                              gpu_points<T, Dim> const& points, any_interaction const& k,
                              execution_options const& options)
  {
    std::size_t const n_sources = on.source_points().points.size();
    std::vector<device_array<T>> q, out;
    for (std::size_t c = 0; c < on.n_inputs(); ++c) q.emplace_back(n_sources);
    std::vector<std::vector<double>> delivered(n_outputs(on, k));
    for (std::size_t c = 0; c < delivered.size(); ++c) out.emplace_back(on.size());
    auto const q_pointers = pointers<T>(q);
    auto const out_pointers = pointers<T>(out);
    soa<T const, run_time_columns> const q_view = soa<T, run_time_columns>(q_pointers, n_sources);
    soa<T, run_time_columns> const out_view(out_pointers, on.size());

    auto const upload = [&]
    {
      auto const& from = on.source_points();
      check_ranges<T>(from.points.inputs, {}, bus.upload<T>(from.points.inputs, {}, {}, q_pointers),
                      from.name, "input");
    };
    auto const compute = [&]
    {
      points.with_points(
          [&](auto const&... x)
          {
            near_field(cuda, k, points.leaves(), x..., q_view, out_view, {.form = options.form});
          });
      bus.resize(delivered, on.size()); // while the GPU computes
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
  template <class T, int Dim>
  class rehearsal
  {
  public:
    /// Starts CUDA, and builds the tree.
    rehearsal(gpu_bus& bus, problem<T, Dim> const& like)
        : targets_(cloud(like.target_points())), sources_(cloud(like.source_points())),
          on_(targets_, like.has_two_sets() ? &sources_ : nullptr,
              {.level = like.cut().level, .max_leaf_size = like.cut().max_leaf_size}),
          points_(bus, on_)
    {}

    void near_field(gpu_bus& bus, any_interaction const& k, execution_options options) const
    {
      options.repetitions = 1;
      static_cast<void>(cuda_near_field(bus, on_, points_, k, options));
    }

  private:
    // multiples of irrational numbers fill the unit cube
    static named_points cloud(named_points const& of)
    {
      std::size_t const n = std::min<std::size_t>(of.points.size(), 1 << 16);
      named_points made{"", {.dim = Dim}};
      double const steps[] = {0.8191725134, 0.6710436067, 0.5497004779};
      for (int d = 0; d < Dim; ++d)
        for (auto& x = made.points.positions.emplace_back(); x.size() < n;)
          x.push_back(std::fmod(steps[d] * static_cast<double>(x.size() + 1), 1.0));
      made.points.parameters.assign(of.points.parameters.size(), std::vector<double>(n, 1));
      made.points.inputs.assign(of.points.inputs.size(), std::vector<double>(n, 1));
      return made;
    }

    named_points targets_, sources_;
    problem<T, Dim> on_;
    gpu_points<T, Dim> points_;
  };
}
