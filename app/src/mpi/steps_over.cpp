#include "mpi/steps_over.hpp"

#include "leapfrog.hpp"

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
                  named_points& of, cut_options const& cut, std::vector<double>&& factors)
          : all_(all), options_(options), of_(of), factors_(std::move(factors)),
            field_(all, on, with_room(cut), options.step),
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
              points.outputs = in_double(std::vector(field_.outputs()));
              scale_to_accelerations(of_, factors_);
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
  }

  std::unique_ptr<motion> make_motion_over(ranks const& all, runtime_over const& on,
                                           run_options const& options, named_points& of,
                                           cut_options const& cut, std::vector<double> factors)
  {
    return with_types(options.precision, of.points.dim,
                      [&]<class T, int Dim>() -> std::unique_ptr<motion> {
                        return std::make_unique<motion_over<T, Dim>>(all, on, options, of, cut,
                                                                     std::move(factors));
                      });
  }
}
