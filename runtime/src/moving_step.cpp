#include "any_step.hpp"
#include "environment.hpp"
#include "moving_tasks.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    /// What an interaction reads of points that may have more columns; packed ones have as many as it reads.
    column_handles first_columns(column_handles const& points, std::size_t n)
    {
      auto const all = points.get();
      return all.first(std::min(n, all.size()));
    }

    template <class T, int Dim>
    class moving_step final : public any_step<T>
    {
    public:
      moving_step(runtime const& s, std::shared_ptr<moving_points<T, Dim>> const& points,
                  kernel<T> const& k, column_handles const& q, column_handles const& out,
                  step_options const& options)
          : starpu_(s), where_(choose_backend(s, *k.type, options.backend)),
            codelet_(moving_codelet<T, Dim>(*k.type, where_)),
            work_(std::make_shared<moving_work<T, Dim>>(points, k, options))
      {
        check_may_wait("near_field");            // its destructor waits
        static_cast<void>(work_->form_on_cpu()); // throws if there is none
        if (options.delivery == step_options::on_request)
          throw error("near_field: delivery on_request, but a step over a moving_tree has its "
                      "results in handles, "
                      "where they stay; leave delivery out");
        if (!options.excluded.empty())
          throw error(
              "near_field: .excluded, but a step over a moving_tree meets all pairs; take a "
              "tree or a cell list");
        auto const n_x = static_cast<std::size_t>(k.type->n_x);
        std::vector<column_handles> const x{first_columns(points->x, n_x),
                                            first_columns(points->y.value_or(points->x), n_x)};
        std::vector<column_handles const*> roles{&x[0]};
        if (points->y) roles.push_back(&x[1]);
        roles.insert(roles.end(), {&q, &out});
        sides_.emplace(work_->sides(std::span<column_handles const* const>(roles)));
        pairs_ = points->about_pairs(sides_->targets().n, sides_->sources().n) * sides_->n_rhs();
      }
      ~moving_step() override
      {
        if (is_running() && starpu_worker_get_id() < 0) work_->watch.wait();
      }

      void submit() override
      {
        check_address_space(4, 1);
        task one(codelet_);
        sides_->add_buffers_to(one);
        moving_argument<T, Dim> argument{argument_of(work_->k, &work_->watch), work_.get(),
                                         work_->points->round, number_};
        argument.work = pairs_;
        one.set_argument_copy(argument);
        one.set_owner({work_, &work_->watch});
        one.submit();
        ++number_;
      }
      void deliver() override {}
      void wait() override
      {
        wait_for_inputs();
        work_->watch.rethrow();
      }
      void wait_for_inputs() override
      {
        check_may_wait("wait");
        check_running();
        work_->watch.wait();
      }
      void positions_changed() override { ++work_->points->round; }
      void inputs_changed() override {}
      [[nodiscard]] pair_form form() const override
      {
        pair_form const on_cpu = work_->form_on_cpu();
        bool const may_differ = where_ == backend::cuda && on_cpu == pair_form::mutual;
        return may_differ ? work_->options.form : on_cpu;
      }
      [[nodiscard]] std::size_t n_tasks() const override { return 1; }
      [[nodiscard]] std::vector<monitor::worker_tasks> statistics() const override
      {
        return statistics_of(work_->watch, *work_->k.type);
      }

    private:
      runtime starpu_;
      backend where_;
      starpu_codelet& codelet_;
      std::shared_ptr<moving_work<T, Dim>> work_; ///< tasks hold it too
      std::optional<p2p_sides<T>> sides_;         ///< with the buffers of each task
      double pairs_ = 0;                          ///< of a step, about; for StarPU's models
      std::uint64_t number_ = 0;                  ///< of the next step
    };
  }
}

namespace nearfield::starpu
{
  template <nearfield::detail::kernel_real T, int Dim>
  moving_tree<T, Dim>::moving_tree(runtime const& starpu, detail::column_handles const& points,
                                   tree_options<Dim> const& options)
      : starpu_(starpu), points_(std::make_shared<detail::moving_points<T, Dim>>(
                             points, std::optional<detail::column_handles>(), options))
  {}

  template <nearfield::detail::kernel_real T, int Dim>
  moving_tree<T, Dim>::moving_tree(runtime const& starpu, detail::column_handles const& targets,
                                   detail::column_handles const& sources,
                                   tree_options<Dim> const& options)
      : starpu_(starpu),
        points_(std::make_shared<detail::moving_points<T, Dim>>(targets, sources, options))
  {}

  template <nearfield::detail::kernel_real T, int Dim>
  moving_tree<T, Dim>::~moving_tree() = default;

  template <nearfield::detail::kernel_real T, int Dim>
  void moving_tree<T, Dim>::positions_changed()
  {
    ++points_->round;
  }

  template <nearfield::detail::kernel_real T>
  template <int Dim>
  near_field<T>::near_field(runtime const& starpu, moving_tree<T, Dim> const& tree,
                            detail::kernel<T> const& k, detail::column_handles const& q,
                            detail::column_handles const& out, step_options const& options)
      : step_(
            std::make_unique<detail::moving_step<T, Dim>>(starpu, tree.points_, k, q, out, options))
  {}

  template class moving_tree<float, 2>;
  template class moving_tree<float, 3>;
  template class moving_tree<double, 2>;
  template class moving_tree<double, 3>;
  template near_field<float>::near_field(runtime const&, moving_tree<float, 2> const&,
                                         detail::kernel<float> const&,
                                         detail::column_handles const&,
                                         detail::column_handles const&, step_options const&);
  template near_field<float>::near_field(runtime const&, moving_tree<float, 3> const&,
                                         detail::kernel<float> const&,
                                         detail::column_handles const&,
                                         detail::column_handles const&, step_options const&);
  template near_field<double>::near_field(runtime const&, moving_tree<double, 2> const&,
                                          detail::kernel<double> const&,
                                          detail::column_handles const&,
                                          detail::column_handles const&, step_options const&);
  template near_field<double>::near_field(runtime const&, moving_tree<double, 3> const&,
                                          detail::kernel<double> const&,
                                          detail::column_handles const&,
                                          detail::column_handles const&, step_options const&);
}
