#include "mpi/steps_over.hpp"

#include "leapfrog.hpp"
#include "mpi/field_over.hpp"
#include "mpi/output.hpp"
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    /// Points that stay on the ranks that have read them; the near field moves with them.
    template <class T, int Dim>
    class motion_over final : public motion
    {
    public:
      motion_over(ranks const& all, runtime_over const& on, run_options const& options,
                  execution_options const& step, named_points& of, cut_options const& cut,
                  std::vector<double>&& factors)
          : all_(all), options_(options), of_(of), factors_(std::move(factors)),
            field_(all, on, with_room(cut), step),
            loop_(
                of.points, [this](point_set& points) { accelerate(points); }, options.motion->dt)
      {}

      void step() override { loop_.step(); }
      void fetch() override {}
      void finish() override { field_.describe(last()); }

    private:
      // The box is that of all steps, so that it must hold what rounding may do to any point in it.
      static cut_options with_room(cut_options cut)
      {
        if (std::is_same_v<T, double> || !cut.box) return cut;
        constexpr double eps = std::numeric_limits<T>::epsilon();
        cut.origin = rounding_origins(extents_of(*cut.box), {});
        double largest = 0;
        for (std::size_t d = 0; d < Dim; ++d)
          largest = std::max(largest, std::abs(cut.box->centre[d] - (*cut.origin)[d]));
        double& half = cut.box->half_width;
        half += eps * (largest + 5 * half);
        return cut;
      }

      // Sets the outputs of the points.
      void accelerate(point_set& points)
      {
        auto const start = std::chrono::steady_clock::now();
        all_.attempt([&] { check_finite(of_, points.positions, "coordinate"); });
        if (is_first_)
          with_interaction<Dim>(options_.interaction,
                                [&](auto const& k) { field_.start(of_, nullptr, k); });
        else
          field_.move(of_);
        is_first_ = false;
        field_.compute();
        all_.attempt(
            [&]
            {
              auto const& outputs = field_.outputs();
              points.outputs.resize(outputs.size());
              for (std::size_t d = 0; d < outputs.size(); ++d)
              {
                points.outputs[d].resize(points.size());
                for (std::size_t i = 0; i < points.size(); ++i)
                  points.outputs[d][i] = factors_[i] * double(outputs[d][i]);
              }
              check_finite(of_, points.outputs, "acceleration");
            });
        run_result field;
        field.tree_seconds = field_.tree_seconds();
        count(std::move(field), seconds_since(start));
      }

      ranks const& all_;
      run_options const& options_;
      named_points& of_;
      std::vector<double> factors_;
      field_over<T, Dim> field_; // before the loop, which starts at once
      bool is_first_ = true;
      leapfrog loop_;
    };

    class host_over final : public loop_host
    {
    public:
      host_over(app::ranks const& all, execution_options const& step) : all_(all), step_(step) {}

      [[nodiscard]] int ranks() const override { return all_.size(); }
      [[nodiscard]] bool is_first() const override { return all_.is_first(); }
      void attempt(std::function<void()> const& f) const override { all_.attempt(f); }
      [[nodiscard]] bool any(bool here) const override
      {
        return all_.sum(static_cast<std::uint64_t>(here)) > 0;
      }
      void sum(std::span<double> values) const override
      {
        auto const sums = all_.sum(std::vector<long double>(values.begin(), values.end()));
        std::ranges::transform(sums, values.begin(),
                               [](long double x) { return static_cast<double>(x); });
      }

      [[noreturn]] void rethrow(error const& e, std::string const& before) const override
      {
        if (auto const* const agreed = dynamic_cast<agreed_error const*>(&e))
          throw agreed_error(agreed->rank(), before + agreed->said(), e.kind(), e.code());
        throw; // of this rank alone, and ends all
      }

      void prepare(run_options const&) override { runtime_.emplace(all_, step_); }
      std::unique_ptr<motion> start(run_options const& options, named_points& of,
                                    cut_options const& cut, std::vector<double> factors) override
      {
        bool const flat = of.points.dim == 2;
        auto const make = options.precision == precision::f32
                              ? (flat ? &make_motion<float, 2> : &make_motion<float, 3>)
                              : (flat ? &make_motion<double, 2> : &make_motion<double, 3>);
        return make(all_, *runtime_, options, step_, of, cut, std::move(factors));
      }
      [[nodiscard]] std::optional<std::filesystem::path>
      write_frame(std::filesystem::path const& path, point_set const& points,
                  write_options const& how) const override
      {
        output_of_ranks frame;
        frame.write(all_, path, points, how);
        frame.commit(all_);
        return all_.is_first() ? std::optional(file_of_first(path)) : std::nullopt;
      }
      void write_last(run_options const& options, named_points const& of) override
      {
        if (options.output)
          last_.write(all_, *options.output, of.points, {.precision = of_file(options)});
      }
      void commit(run_options const& options, std::string const& json) override
      {
        last_.write_json(all_, options.json, json);
        last_.commit(all_, "written       ");
      }

    private:
      template <class T, int Dim>
      static std::unique_ptr<motion>
      make_motion(app::ranks const& all, runtime_over const& on, run_options const& options,
                  execution_options const& step, named_points& of, cut_options const& cut,
                  std::vector<double>&& factors)
      {
        return std::make_unique<motion_over<T, Dim>>(all, on, options, step, of, cut,
                                                     std::move(factors));
      }

      app::ranks const& all_;
      execution_options step_;
      std::optional<runtime_over> runtime_;
      output_of_ranks last_;
    };
  }

  exit_status run_steps_over(ranks const& all, run_options const& options, named_points&& points,
                             cut_options const& cut, execution_options const& step,
                             double read_seconds, double early_seconds, std::uint64_t merged)
  {
    host_over host(all, step);
    return run_steps(host, options, std::move(points), cut, read_seconds, early_seconds, merged);
  }
}
