#include "any_step.hpp"
#include "environment.hpp"
#include "list_tasks.hpp"
#include "moving_points.hpp"
#include "p2p_codelet.hpp"
#include "p2p_sides.hpp"
#include "plan.hpp"
#include "reorder.hpp"
#include "task.hpp"

#include <nearfield/core/error.hpp>
#include <nearfield/cuda/device_array.hpp>
#include <nearfield/p2p/cuda.hpp>
#include <nearfield/p2p/tuning.hpp>
#include <nearfield/starpu/near_field.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearfield::starpu::detail
{
  namespace
  {
    template <class T>
    class moving_work;

    template <class T>
    struct moving_argument : p2p_argument
    {
      moving_work<T>* step;
      std::uint64_t round;  ///< of the positions
      std::uint64_t number; ///< of the step, from 0
    };

    /// What the tasks of a step over moving points share: they follow each other, since each writes the outputs.
    template <class T>
    class moving_work
    {
    public:
      explicit moving_work(kernel<T> const& interaction) : k(interaction) {}
      moving_work(moving_work const&) = delete;
      moving_work& operator=(moving_work const&) = delete;
      virtual ~moving_work() = default;

      virtual void run(running_task const& task, moving_argument<T> const& argument,
                       p2p_kernels<T> const* on_cpu, cuda_kernels<T> const* on_gpu) = 0;

      kernel<T> const k;
      monitor watch;
    };

    template <class T>
    class moving_tasks : public p2p_codelet<T>
    {
    public:
      moving_tasks(codelet::description const& what, kernel_type<T> const& of)
          : p2p_codelet<T>(what, of)
      {}

    private:
      [[nodiscard]] std::size_t argument_size() const override
      {
        return sizeof(moving_argument<T>);
      }
      void run(running_task const& task) const override
      {
        auto const& argument = static_cast<moving_argument<T> const&>(task.argument);
        bool const is_on_gpu = task.on == implementation::cuda;
        try
        {
          argument.step->run(task, argument, is_on_gpu ? nullptr : &this->cpu_kernels(task.on),
                             is_on_gpu ? &this->gpu_kernels() : nullptr);
        }
        catch (error const& e)
        {
          throw error("near_field, step " + std::to_string(argument.number) + ": " + e.what(),
                      e.kind(), e.code());
        }
      }
    };

    /// The columns of a task: those of the targets and, of two sets, of the sources.
    template <class T, int Dim>
    struct task_columns
    {
      task_columns(p2p_buffers& from, interaction_shape const& shape, bool one_set)
          : both(one_set ? array_form::inner : array_form::outer, shape, sizeof(T), from),
            n_rhs(both.targets().n_rhs), targets(both.targets(), shape, n_rhs),
            sources(both.sources(), shape, n_rhs), points{one_set,
                                                          positions(targets, both.targets()),
                                                          positions(sources, both.sources())}
      {
        static_cast<void>(both.n_rhs()); // throws if those of q and out differ
      }

      static soa<T const, Dim> positions(side_columns<T> const& columns, side const& of)
      {
        std::array<T const*, Dim> x;
        std::copy_n(columns.x.data(), Dim, x.begin());
        return {x, of.x.size()};
      }
      [[nodiscard]] std::size_t n_targets() const { return both.targets().x.size(); }
      [[nodiscard]] std::size_t n_sources() const { return both.sources().x.size(); }
      [[nodiscard]] soa<T const, run_time_columns> x() const
      {
        return {{targets.x.data(), targets.x.size()}, n_targets()};
      }
      [[nodiscard]] soa<T const, run_time_columns> y() const
      {
        return {{sources.x.data(), sources.x.size()}, n_sources()};
      }
      [[nodiscard]] soa<T const, run_time_columns> q() const
      {
        return {{sources.q.data(), sources.q.size()}, n_sources()};
      }
      [[nodiscard]] soa<T, run_time_columns> out() const
      {
        return {{targets.out.data(), targets.out.size()}, n_targets()};
      }

      sides both;
      int n_rhs;
      side_columns<T> targets, sources;
      points_of_task<T, Dim> points;
    };

    /// n values in the order of a tree, for several columns, in memory that is kept between steps.
    template <class T>
    struct sorted_memory
    {
      columns<T> resize(std::size_t n, int n_columns)
      {
        values.resize(n * static_cast<std::size_t>(n_columns));
        return columns<T>::at(values.data(), static_cast<index_type>(n));
      }
      std::vector<T> values;
    };

    template <class T, int Dim>
    class moving_work_of final : public moving_work<T>
    {
    public:
      moving_work_of(runtime const& s, std::shared_ptr<moving_points<T, Dim>> of,
                     kernel<T> const& interaction, step_options const& how)
          : moving_work<T>(interaction), points(std::move(of)), starpu_(s), options_(how)
      {}

      std::shared_ptr<moving_points<T, Dim>> const points;

      [[nodiscard]] bool has_one_set() const { return !points->y; }
      [[nodiscard]] p2p_buffers::layout layout() const
      {
        auto made = layout_of(has_one_set() ? array_form::inner : array_form::outer, *this->k.type);
        made.overwrites = !options_.accumulate;
        return made;
      }
      /// The form where a GPU does not decide.
      [[nodiscard]] pair_form form_on_cpu() const
      {
        if (options_.form != pair_form::automatic) return options_.form;
        return can_be_mutual() ? pair_form::mutual : pair_form::one_sided;
      }
      [[nodiscard]] bool can_be_mutual() const
      {
        return has_one_set() && this->k.type->has_way_back;
      }

      void run(running_task const& task, moving_argument<T> const& argument,
               p2p_kernels<T> const* on_cpu, cuda_kernels<T> const* on_gpu) override
      {
        p2p_buffers from("near_field", layout(), task.buffers);
        task_columns<T, Dim> const given(from, *this->k.type, has_one_set());
        if (given.n_targets() == 0) return;
        try
        {
          if (on_gpu)
            run_on_gpu(given, argument, *on_gpu, task.stream);
          else
            run_on_cpu(given, argument, *on_cpu);
        }
        catch (...)
        {
          // tasks that follow may read them before the failure is reported
          if (!options_.accumulate) clear(given, on_gpu ? &task.stream : nullptr);
          throw;
        }
      }

    private:
      void clear(task_columns<T, Dim> const& given, cuda_stream const* gpu) const
      {
        for (T* const out : given.targets.out)
          if (gpu)
            nearfield::detail::device_clear(out, given.n_targets() * sizeof(T), *gpu);
          else
            std::fill_n(out, given.n_targets(), T(0));
      }

      void run_on_gpu(task_columns<T, Dim> const& given, moving_argument<T> const& argument,
                      cuda_kernels<T> const& kernels, cuda_stream stream) const
      {
        using nearfield::detail::sorted_columns;
        cuda_backend const where{stream};
        auto const& shape = *this->k.type;
        auto const& tree = points->on_gpu(stream, argument.round, given.points);
        bool const is_mutual =
            options_.form == pair_form::mutual ||
            (options_.form == pair_form::automatic && can_be_mutual() &&
             cuda_mutual_pays(given.n_targets(), tree.size(), shape.n_out, given.n_rhs));
        auto const list = is_mutual ? cuda_list::mutual(where, tree) : cuda_list(where, tree);
        sorted_columns<T> sources(stream, tree.source_order(), given.y());
        sorted_columns<T> q(stream, tree.source_order(), given.q());
        std::optional<sorted_columns<T>> targets;
        if (!has_one_set()) targets.emplace(stream, tree.target_order(), given.x());
        sorted_columns<T> out(stream, tree.target_order(), given.out().width());

        auto const sorted_y = sources.template view<run_time_columns>();
        auto const sorted_x = targets ? targets->template view<run_time_columns>() : sorted_y;
        auto const sorted_q = q.template view<run_time_columns>();
        auto const sums = out.template view<run_time_columns>();
        for (int c = 0; c < sums.width(); ++c)
          nearfield::detail::device_clear(sums[c], given.n_targets() * sizeof(T), stream);
        cuda_job<T> job;
        list.describe_to(job);
        job.singular = argument.is_singular;
        job.stream = stream;
        job.n_rhs = given.n_rhs;
        job.own_is_self = has_one_set();
        job.target_x = sorted_x.data();
        job.source_x = sorted_y.data();
        job.source_q = sorted_q.data();
        job.target_q = is_mutual ? sorted_q.data() : nullptr;
        job.target_out = sums.data();
        if (given.n_sources() > 0)
          check_cuda((is_mutual ? kernels.mutual : kernels.one_sided)(argument.k, job),
                     "near_field");
        out.scatter_to(given.out(), options_.accumulate);
      }

      void run_on_cpu(task_columns<T, Dim> const& given, moving_argument<T> const& argument,
                      p2p_kernels<T> const& kernels)
      {
        cpu_workers on(starpu_);
        auto const& shape = *this->k.type;
        bool const is_mutual = form_on_cpu() == pair_form::mutual;
        if (round_ != argument.round)
        {
          round_ = 0;
          tree_ = points->on_host(on, argument.round, given.points);
          auto const groups = group_leaves(*tree_);
          plan_ = is_mutual ? nearfield::detail::plan_mutual(groups.view(), false, 1, &on)
                            : nearfield::detail::plan_gather(groups.view(), false, 1, &on);
          gather(on, given.y(), tree_->source_order(), sources_.resize(given.n_sources(), Dim));
          if (!has_one_set())
            gather(on, given.x(), tree_->target_order(), targets_.resize(given.n_targets(), Dim));
          round_ = argument.round;
        }
        columns<T> const y = sources_.resize(given.n_sources(), Dim),
                         x = targets_.resize(has_one_set() ? 0 : given.n_targets(), Dim),
                         q = q_.resize(given.n_sources(), given.q().width());
        gather(on, given.q(), tree_->source_order(), q);

        auto const& groups = plan_.groups;
        int const n_out = given.out().width();
        out_.resize(groups.size());
        halo_.resize(groups.size());
        on.run(static_cast<int>(groups.size()),
               [&](int turn)
               {
                 std::size_t const g = plan_.by_priority[static_cast<std::size_t>(turn)];
                 auto const& group = groups[g];
                 list_data<T> data{shape, group.head, {group.head, group.list.data()}, given.n_rhs};
                 data.out = out_[g].resize(group.targets.size(), n_out);
                 if (is_mutual)
                   data.halo = halo_[g].resize(std::max<index_type>(1, group.halo_size), n_out);
                 for (index_type b = 0; b < group.head.n_sources; ++b)
                 {
                   data.x.push_back(columns<T const>::at(y.first, y.n));
                   data.q.push_back(columns<T const>::at(q.first, q.n));
                 }
                 if (!has_one_set()) data.x.push_back(columns<T const>::at(x.first, x.n));
                 run_list(is_mutual ? kernels.mutual : kernels.one_sided, argument, data);
               });
        on.run(static_cast<int>(groups.size()),
               [&](int g)
               {
                 auto const& group = groups[static_cast<std::size_t>(g)];
                 auto const n = group.targets.size();
                 deliver_group<T>(
                     {{},
                      given.out(),
                      tree_->target_order().subspan(group.targets.begin, n),
                      group.pieces,
                      options_.accumulate},
                     columns<T const>::at(out_[static_cast<std::size_t>(g)].values.data(), n),
                     [&](std::size_t h)
                     {
                       std::size_t const from = group.reached_from[h];
                       return columns<T const>::at(halo_[from].values.data(),
                                                   groups[from].halo_size);
                     });
               });
      }

      static void gather(executor& on, soa<T const, run_time_columns> const& from,
                         std::span<index_type const> order, columns<T> const& to)
      {
        constexpr std::size_t part = std::size_t(1) << 15;
        on.run(static_cast<int>((order.size() + part - 1) / part),
               [&](int p)
               {
                 std::size_t const begin = static_cast<std::size_t>(p) * part;
                 gather_columns<T>(from, order.subspan(begin, std::min(part, order.size() - begin)),
                                   to, static_cast<index_type>(begin));
               });
      }

      runtime const& starpu_; ///< of the step, which waits for the tasks
      step_options options_;

      // on CPUs, for the next step
      std::uint64_t round_ = 0; ///< of the next four
      std::shared_ptr<tree<Dim> const> tree_;
      nearfield::detail::step_plan plan_;
      sorted_memory<T> sources_, targets_;
      sorted_memory<T> q_;
      std::vector<sorted_memory<T>> out_, halo_; ///< by group
    };

    template <class T, int Dim>
    class moving_step final : public any_step<T>
    {
    public:
      moving_step(runtime const& s, std::shared_ptr<moving_points<T, Dim>> const& points,
                  kernel<T> const& k, column_handles const& q, column_handles const& out,
                  step_options const& options)
          : starpu_(s), options_(options), q_(q), out_(out),
            where_(choose_backend(s, *k.type, options.backend)),
            codelet_(p2p_codelet<T>::template of<moving_tasks<T>>("near_field", *k.type, where_)),
            work_(std::make_shared<moving_work_of<T, Dim>>(starpu_, points, k, options))
      {
        check_may_wait("near_field"); // its destructor waits
        check_form(work_->has_one_set(), *k.type, options.form);
        std::vector<p2p_handles> roles{{points->x.get()}};
        if (points->y) roles.push_back({points->y->get()});
        roles.push_back({q_.get()});
        roles.push_back({out_.get(), true});
        p2p_buffers from("near_field", work_->layout(), roles);
        sides const both(work_->has_one_set() ? array_form::inner : array_form::outer, *k.type,
                         sizeof(T), from);
        static_cast<void>(both.n_rhs()); // throws if those of q and out differ
        n_targets_ = both.targets().x.size();
        n_rhs_ = both.targets().n_rhs;
      }
      ~moving_step() override
      {
        if (is_running() && starpu_worker_get_id() < 0) work_->watch.wait();
      }

      void submit() override
      {
        auto const& points = *work_->points;
        auto const n = points.x.get().size() + (points.y ? points.y->get().size() : 0) +
                       q_.get().size() + out_.get().size();
        check_address_space(4, 1);
        task one(codelet_, static_cast<unsigned>(n));
        for (starpu_data_handle_t const data : points.x.get()) one.add(data, STARPU_R);
        if (points.y)
          for (starpu_data_handle_t const data : points.y->get()) one.add(data, STARPU_R);
        for (starpu_data_handle_t const data : q_.get()) one.add(data, STARPU_R);
        for (starpu_data_handle_t const data : out_.get())
          one.add(data, options_.accumulate ? STARPU_RW : STARPU_W);
        moving_argument<T> argument{argument_of(work_->k, &work_->watch), work_.get(), points.round,
                                    number_};
        argument.work = static_cast<double>(n_targets_) * n_rhs_;
        one.set_argument_copy(argument);
        one.set_owner({work_, &work_->watch});
        one.submit();
        ++number_;
      }
      void deliver() override {}
      void wait() override
      {
        check_may_wait("wait");
        check_running();
        work_->watch.wait();
        work_->watch.rethrow();
      }
      void wait_for_inputs() override { wait(); }
      void positions_changed() override { ++work_->points->round; }
      void inputs_changed() override {}
      [[nodiscard]] pair_form form() const override
      {
        return where_ == backend::cuda && work_->can_be_mutual() ? options_.form
                                                                 : work_->form_on_cpu();
      }
      [[nodiscard]] std::size_t n_tasks() const override { return 1; }
      [[nodiscard]] std::vector<worker_tasks> statistics() const override
      {
        return statistics_of(work_->watch, *work_->k.type);
      }

    private:
      runtime starpu_;
      step_options options_;
      column_handles q_, out_;
      backend where_;
      starpu_codelet& codelet_;
      std::shared_ptr<moving_work_of<T, Dim>> work_; ///< tasks hold it too
      std::size_t n_targets_ = 0;
      int n_rhs_ = 0;
      std::uint64_t number_ = 0; ///< of the next step
    };
  }
}

namespace nearfield::starpu
{
  template <kernel_real T, int Dim>
  moving_tree<T, Dim>::moving_tree(runtime const& starpu, column_handles const& points,
                                   tree_options<Dim> const& options)
      : starpu_(starpu), points_(std::make_shared<detail::moving_points<T, Dim>>(
                             points, std::optional<column_handles>(), options))
  {}

  template <kernel_real T, int Dim>
  moving_tree<T, Dim>::moving_tree(runtime const& starpu, column_handles const& targets,
                                   column_handles const& sources, tree_options<Dim> const& options)
      : starpu_(starpu),
        points_(std::make_shared<detail::moving_points<T, Dim>>(targets, sources, options))
  {}

  template <kernel_real T, int Dim>
  void moving_tree<T, Dim>::positions_changed()
  {
    ++points_->round;
  }

  template <kernel_real T>
  template <int Dim>
  near_field<T>::near_field(moving_tree<T, Dim> const& tree, detail::kernel<T> const& k,
                            column_handles const& q, column_handles const& out,
                            step_options const& options)
      : step_(std::make_unique<detail::moving_step<T, Dim>>(tree.starpu_, tree.points_, k, q, out,
                                                            options))
  {}

  template class moving_tree<float, 2>;
  template class moving_tree<float, 3>;
  template class moving_tree<double, 2>;
  template class moving_tree<double, 3>;
  template near_field<float>::near_field(moving_tree<float, 2> const&, detail::kernel<float> const&,
                                         column_handles const&, column_handles const&,
                                         step_options const&);
  template near_field<float>::near_field(moving_tree<float, 3> const&, detail::kernel<float> const&,
                                         column_handles const&, column_handles const&,
                                         step_options const&);
  template near_field<double>::near_field(moving_tree<double, 2> const&,
                                          detail::kernel<double> const&, column_handles const&,
                                          column_handles const&, step_options const&);
  template near_field<double>::near_field(moving_tree<double, 3> const&,
                                          detail::kernel<double> const&, column_handles const&,
                                          column_handles const&, step_options const&);
}
