#include "full_leaf.hpp"
#include "gpu_step.hpp"
#include "interactions.hpp"
#include "motion.hpp"

#include "core/src/cuda/scaled_copy.hpp"

#include <algorithm>
#include <utility>

namespace nearfield::app
{
  namespace
  {
    // On the first GPU, where the points stay from step to step. Kicks and drifts give the bits of the host's.
    template <class T, int Dim>
    class gpu_motion final : public motion
    {
    public:
      gpu_motion(run_options const& options, execution_options const& step, named_points& of,
                 cut_options const& cut, std::vector<double>&& factors)
          : motion(options.motion->dt), of_(of), cut_(cut), form_(step.form),
            k_(interaction_of(options.interaction, Dim)), x_(of.points.size()), v_(x_.size()),
            a_(x_.size()), rounded_(is_rounded ? x_.size() : 0), field_(x_.size()), q_(x_.size()),
            factors_(x_.size())
      {
        if (cut.box)
          cut_.origin = rounding_origins(extents_of(*cut.box), {}); // the root is that of all steps
        else if (is_rounded)
        {
          threads here(8);
          cut_.origin = rounding_origins<T>(ranks(), here, of, nullptr, {});
        }
        auto& points = of.points;
        for (auto* own : {&points.velocities, &points.outputs})
          if (own->empty()) own->assign(Dim, std::vector<double>(points.size()));
        // set by the first value that is not finite, which ends the loop
        nearfield::detail::device_clear(not_finite_.data(), sizeof(std::uint32_t), nullptr);
        rehearsal<T, Dim>(bus_, problem<T, Dim>(of, nullptr, cut)).near_field(bus_, k_, step);

        auto const upload =
            [this]<class U>(std::vector<std::vector<double>> const& from, std::vector<U*> const& to)
        {
          return bus_.template upload<U>(from, {}, {}, to);
        };
        upload(points.positions, pointers_of(x_));
        upload(points.velocities, pointers_of(v_));
        upload({std::move(factors)}, std::vector<double*>{factors_.data()});
        check_ranges<T>(points.inputs, {}, upload(points.inputs, std::vector<T*>{q_.data()}),
                        of.name, "input");
        accelerate();
      }

      void fetch() override
      {
        if (is_fetched_) return;
        download(x_, of_.points.positions);
        download(v_, of_.points.velocities);
        download(a_, of_.points.outputs);
        is_fetched_ = true;
      }

    private:
      static constexpr bool is_rounded = !std::is_same_v<T, double>;
      using columns = device_columns<double, Dim>;

      template <class U>
      static std::vector<U*> pointers_of(device_columns<U, Dim>& columns)
      {
        auto const view = columns.view();
        return {view.data(), view.data() + Dim};
      }
      void download(columns const& from, std::vector<std::vector<double>>& to)
      {
        auto const view = from.view();
        bus_.template download<double>(std::span<double const* const>(view.data(), Dim), to);
      }

      // to = h scale from, or +=
      template <class From, class To>
      void combine(double h, device_columns<From, Dim> const& from, device_columns<To, Dim>& to,
                   nearfield::detail::scaled_copy_options const& how)
      {
        nearfield::detail::device_scaled_copy(nullptr, x_.size(), Dim, h, from.view().data(),
                                              to.view().data(), how);
      }
      void kick(double h) override { combine(h, a_, v_, {.accumulate = true}); }
      void drift(double h) override { combine(h, v_, x_, {.accumulate = true}); }

      void accelerate() override
      {
        is_fetched_ = false;
        auto const start = std::chrono::steady_clock::now();
        run_result made;
        if constexpr (is_rounded)
        {
          nearfield::detail::scaled_copy_options how;
          std::ranges::copy(*cut_.origin, how.origin);
          combine(1, x_, rounded_, how);
        }
        profiled("tree", [&] { build(); });
        made.tree_seconds = seconds_since(start);
        describe(cut_, x_.size(), std::nullopt, *leaves_, made);
        made.step.gpus = 1;
        made.step.runtime = "CUDA";
        if (is_rounded && !cut_.box) follow(leaves_->root());
        profiled("near field", [&] { sum(); });
        if (is_fitted_) leaves_.reset(); // the next root does not depend on this one
        count(std::move(made), seconds_since(start));
      }

      [[nodiscard]] soa<T const, Dim> positions() const
      {
        if constexpr (is_rounded)
          return rounded_.view();
        else
          return x_.view();
      }

      void build()
      try
      {
        if (leaves_)
          leaves_->rebuild(positions());
        else
          leaves_.emplace(build_tree(cuda, positions(), options()));
        is_fitted_ = false;
      }
      catch (error const& failure)
      {
        if (failure.kind() == error_kind::out_of_memory || failure.code() != 0) throw;
        // the host's checks know the file, and which box its points left
        download(x_, of_.points.positions);
        check_finite(of_, of_.points.positions, "coordinate");
        auto const fitted = problem<T, Dim>(of_, nullptr, cut_).options();
        leaves_.emplace(build_tree(cuda, positions(), fitted));
        is_fitted_ = true;
      }
      // the origin of the next step, for points that travel
      void follow(cube<Dim> const& root)
      {
        point_set::bounding_box now{{}, root.half_width};
        for (int d = 0; d < Dim; ++d)
          now.centre.push_back(root.centre[d] + (*cut_.origin)[static_cast<unsigned>(d)]);
        cut_.origin = rounding_origins(extents_of(now), {});
      }
      [[nodiscard]] tree_options<Dim> options() const
      {
        std::vector<value_range> const anywhere(Dim);
        return problem<T, Dim>(of_, nullptr, cut_).options(anywhere, anywhere);
      }

      void sum()
      {
        T const* const q[] = {q_.data()};
        auto const out = pointers_of(field_);
        near_field(cuda, k_, *leaves_, positions(), soa<T const, run_time_columns>(q, x_.size()),
                   soa<T, run_time_columns>(out, x_.size()), {.form = form_});
        combine(1, field_, a_, {.scale = factors_.data(), .not_finite = not_finite_.data()});
        std::uint32_t found = 0;
        not_finite_.copy_to({&found, 1}); // waits
        if (found == 0) return;
        download(a_, of_.points.outputs);
        check_finite(of_, of_.points.outputs, "acceleration");
      }

      named_points& of_;
      cut_options cut_;
      pair_form form_;
      any_interaction k_;
      gpu_bus bus_;
      columns x_, v_, a_;
      device_columns<T, Dim> rounded_, field_; // positions for the tree, and the near field at them
      device_array<T> q_;
      device_array<double> factors_;
      device_array<std::uint32_t> not_finite_{1};
      std::optional<cuda_tree<Dim>> leaves_;
      bool is_fitted_ = false; // to points that rounding moved out of the box
      bool is_fetched_ = false;
    };
  }

  std::unique_ptr<motion> make_gpu_motion(run_options const& options, execution_options const& step,
                                          named_points& of, cut_options const& cut,
                                          std::vector<double> factors)
  {
    return with_types(options.precision, of.points.dim,
                      [&]<class T, int Dim>() -> std::unique_ptr<motion>
                      {
                        return std::make_unique<gpu_motion<T, Dim>>(options, step, of, cut,
                                                                    std::move(factors));
                      });
  }
}
